/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_PULL_H
#define CORE_PULL_H

/*
 * Fetching the files that a guest says are new or changed, one after the other,
 * under the limits of pool and tenant, into rows of a batch that its owner then
 * commits: either all of them become container files, or none.
 */

#include <stdint.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/id.h"
#include "core/core.h"
#include "core/data_path.h"
#include "wire/message.h"

struct container;
struct pull;

/*
 * All files of one list must be here after a minute, and as long as the most
 * that may come takes at this rate: a guest that gives them byte by byte keeps
 * its session no longer. Emulated guests give several times as much.
 */
#define PULL_BASE_USEC USEC_PER_MINUTE
#define PULL_BYTES_PER_SEC (1024 * 1024)
struct store_batch;

/** struct pulled - A file that was fetched; its row is in the batch */
struct pulled {
	struct cfile_view view;
	struct data_path path; /* what the view points to */
};

/**
 * pull_new() - Begin to collect a list
 * @exec_id:	Who made the files, or NULL
 * @done:	All is fetched or skipped; called once, not from pull_start()
 */
int pull_new(struct container *c, const char *exec_id,
	     void (*done)(void *userdata), void *userdata, struct pull **ret);

/** pull_free() - Stop and forget; NULL is fine, and so is within @done */
void pull_free(struct pull *pull);

/** pull_add() - Entries of a CHANGED; ERR_GUEST if they are too many */
int pull_add(struct pull *pull, struct message_changed *changed,
	     struct error *err);

/** pull_count() - Entries that are listed: answers are bounded */
size_t pull_count(const struct pull *pull);

/** pull_add_unlisted() - Files beyond those that the guest lists */
void pull_add_unlisted(struct pull *pull, uint64_t count);

/** pull_check_count() - ERR_GUEST unless @told is how many were added */
int pull_check_count(const struct pull *pull, uint32_t told,
		     struct error *err);

/** pull_restart() - Forget the entries: the guest tells them all again */
void pull_restart(struct pull *pull);

/** pull_start() - The list is complete: fetch */
void pull_start(struct pull *pull);

/** pull_give_up() - What is not here is skipped; done() does not come */
void pull_give_up(struct pull *pull);

/** pull_batch() - The batch with the rows; the caller's from now on */
struct store_batch *pull_batch(struct pull *pull);

/** pull_each() - What was fetched */
void pull_each(struct pull *pull,
	       void (*each)(void *userdata, struct pulled *file),
	       void *userdata);

/* What pull_each_skipped() may tell beyond the entries. */
#define PULL_SKIPPED_MORE 1

/** pull_each_skipped() - What was not, and why; the strings are the pull's */
void pull_each_skipped(struct pull *pull,
		       void (*each)(void *userdata,
				    const struct exec_skipped *skipped),
		       void *userdata);

#endif
