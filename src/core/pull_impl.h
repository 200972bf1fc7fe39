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

/**
 * struct pull_entry - A file that the guest told of
 * @skipped:	It is not fetched, because of @reason
 * @changed:	How often it changed while it was read
 * @fetched:	Its path is then @file's
 */
struct pull_entry {
	struct data_path path;
	uint64_t bytes;
	bool skipped;
	enum skip_reason reason;
	uint64_t limit_bytes;
	unsigned changed;
	bool fetched;
	struct pulled file;
};

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
	size_t text_bytes;  /* of all paths in answers */
	uint64_t unlisted;  /* files beyond what is listed */
	uint64_t fetched_bytes;
	uint64_t room_bytes; /* left of the tenant's quota */
	struct guest_xfer *xfer;
	struct timer *retry;
	struct timer *deadline; /* of all of it */
	unsigned retries;
	struct store_batch *batch;
};

#endif
