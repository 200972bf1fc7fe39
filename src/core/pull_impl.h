/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_PULL_IMPL_H
#define CORE_PULL_IMPL_H

/* What the two halves of a pull share. Private to pull*.c. */

#include "core/gc.h"
#include "core/pull.h"
#include "core/skip.h"

struct gc;
struct guest_xfer;
struct timer;

/*
 * So many files may be on their way to the disk while the next one comes: the
 * guest and the disk are both busy then, and a disk that is behind catches up.
 */
#define PULL_WRITING_MAX 4

/**
 * struct pull_entry - A file that the guest told of
 * @skipped:	It is not fetched, because of @reason
 * @changed:	How often it changed while it was read
 * @xfer:	On its way
 * @given:	All of it has come; until @xfer is over the disk may not have it
 * @fetched:	Its path is then @file's
 */
struct pull_entry {
	struct pull *pull;
	struct data_path path;
	uint64_t bytes;
	bool skipped;
	enum skip_reason reason;
	uint64_t limit_bytes;
	unsigned changed;
	struct guest_xfer *xfer;
	bool given;
	bool fetched;
	struct pulled file;
};

/**
 * struct pull - See pull.h
 * @next:	The entry that is fetched, or will be
 * @writing:	How many before it were given, and are not on the disk yet
 * @over:	The last of these, while nobody has taken its connection
 * @fetched_bytes: Of all that was given and did not fail
 */
struct pull {
	struct gc_node buried;
	struct gc *gc; /* its own: the container may go first */
	struct container *container;
	char exec_id[ID_SIZE];
	void (*done)(void *userdata);
	void *userdata;

	struct pull_entry *entries;
	size_t told; /* by the guest; @count of them are listed */
	size_t count;
	size_t next;
	size_t writing;
	struct guest_xfer *over;
	size_t text_bytes;  /* of all paths in answers */
	uint64_t unlisted;  /* files beyond what is listed */
	uint64_t fetched_bytes;
	uint64_t room_bytes; /* left of the tenant's quota */
	struct timer *retry;
	struct timer *deadline; /* of all of it */
	unsigned retries;
	struct store_batch *batch;
};

#endif
