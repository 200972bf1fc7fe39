/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_USAGE_H
#define CORE_USAGE_H

/*
 * The usage ledger: what the host measured, appended and never changed. Each
 * entry goes into the batch of what it is about, so that it is there exactly
 * when that is.
 */

#include "base/clock.h"
#include "base/id.h"

struct container;
struct core;
struct exec;
struct principal;
struct response_usage;
struct store_batch;
struct store_container;
struct usage_view;

/** usage_assigned() - How long the session has had its VM */
usec_t usage_assigned(const struct container *c);

/** usage_fill_view(), usage_view_of_row() - Of a live session; of one that ended */
void usage_fill_view(const struct container *c, struct usage_view *ret);
void usage_view_of_row(const struct store_container *row,
		       struct usage_view *ret);

/** usage_add() - @detail: a word on top, or NULL */
void usage_add(const struct container *c, struct store_batch *batch,
	       const char *kind, const char *detail, uint64_t amount);

/** usage_add_exec() - An execution, in microseconds of wall time */
void usage_add_exec(const struct exec *e, struct store_batch *batch);

/** usage_add_response() - What a response used, each figure that is not zero */
void usage_add_response(struct core *core, const struct principal *who,
			const char *id, const struct response_usage *usage,
			struct store_batch *batch);

/** usage_add_end() - Close the session's account */
void usage_add_end(const struct container *c, struct store_batch *batch);

#endif
