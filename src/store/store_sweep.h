/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUPOLA_STORE_STORE_SWEEP_H
#define CUPOLA_STORE_STORE_SWEEP_H

/* Retention: a part of store.h, whose rules hold here. */

#include "store/store.h"

/**
 * struct store_sweep_spec - What is old
 * @now_usec:	Wall clock: files whose expiry has come, parts of uploads whose
 *		has, uploads and answers a day later
 * @cfiles_before_usec: Files of containers that ended before this
 * @executions_before_usec: Executions that ended before this
 * @containers_before_usec: Containers that ended before this and have no file
 *		or execution any more
 * @talks_before_usec: Conversations and responses that changed last before this
 * @usage_before_usec: Entries of the usage ledger older than this; the sums by
 *		day stay
 *
 * A zero leaves its kind alone.
 */
struct store_sweep_spec {
	usec_t now_usec;
	usec_t cfiles_before_usec;
	usec_t executions_before_usec;
	usec_t containers_before_usec;
	usec_t talks_before_usec;
	usec_t usage_before_usec;
};

/**
 * struct store_swept - What a sweep removed
 * @usage:	Old entries of the ledger
 * @erased:	Rows of closed tenants, of any kind
 * @tenants:	Closed tenants of which nothing was left
 * @more:	A kind reached its bound of STORE_SWEEP_MAX: sweep again soon
 */
struct store_swept {
	unsigned files;
	unsigned parts;
	unsigned uploads;
	unsigned cfiles;
	unsigned executions;
	unsigned containers;
	unsigned answers;
	unsigned conversation_items;
	unsigned conversations;
	unsigned response_items;
	unsigned responses;
	unsigned usage;
	unsigned erased;
	unsigned tenants;
	unsigned blobs;
	bool more;
};

/* Rows of each kind that one sweep removes, so that no batch waits long. */
#define STORE_SWEEP_MAX 500

typedef void store_swept_fn(void *userdata, int r,
			    const struct store_swept *swept);

/**
 * store_sweep() - Remove what is old or a closed tenant's, and unnamed blobs
 * @done:	Called exactly once, later
 *
 * Return: 0, or -EBUSY while another sweep is under way
 */
int store_sweep(struct store *store, const struct store_sweep_spec *spec,
		store_swept_fn *done, void *userdata);

#endif
