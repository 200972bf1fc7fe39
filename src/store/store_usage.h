/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUPOLA_STORE_STORE_USAGE_H
#define CUPOLA_STORE_STORE_USAGE_H

/*
 * Sums of the usage ledger. They are kept by day (UTC, counted from 1970) as the
 * ledger grows; what a session used counts on the day on which its account was
 * closed, what an execution or a response used on the day of its end. By origin
 * and by key they are made of the entries, as long as those are kept.
 */

#include "store/store.h"

/* Sums of one report. */
#define STORE_SUMS_MAX 10000

/** enum store_sums_by - What there is a sum for, within each tenant */
enum store_sums_by {
	STORE_SUMS_BY_TENANT,
	STORE_SUMS_BY_DAY,
	STORE_SUMS_BY_ORIGIN,
	STORE_SUMS_BY_KEY,

	STORE_SUMS_BY_COUNT,
};

/**
 * struct store_sum - What a tenant used
 * @tenant:	"" stands for all that were deleted
 * @part:	What made the sessions, or which key; or ""
 * @day:	-1: over all days that were asked for
 * @sessions:	That began
 * @held_usec:	That responses had a session for
 */
struct store_sum {
	char tenant[STORE_TENANT_SIZE];
	char part[STORE_NAME_SIZE];
	int64_t day;
	uint64_t sessions;
	uint64_t executions;
	uint64_t assigned_usec;
	uint64_t executing_usec;
	uint64_t cpu_usec;
	uint64_t memory_mib_msec;
	uint64_t bytes_in;
	uint64_t bytes_out;
	uint64_t responses;
	uint64_t tokens_in;
	uint64_t tokens_out;
	uint64_t tool_calls;
	uint64_t held_usec;
};

/**
 * struct store_sums_spec - What a report is about
 * @since_day:	First day
 * @by:		What there is a sum for
 * @tenant:	"": of all
 */
struct store_sums_spec {
	int64_t since_day;
	enum store_sums_by by;
	char tenant[STORE_TENANT_SIZE];
};

/**
 * store_sums_fn - @sums are valid during the call
 *
 * They come in order of the tenant, and then of the day, or the one with most VM
 * time first.
 */
typedef void store_sums_fn(void *userdata, int r, const struct store_sum *sums,
			   size_t count);

/**
 * store_usage_sums() - Sum the ledger up, on the db worker
 * @done:	Called exactly once, later; r is -E2BIG for more than
 *		STORE_SUMS_MAX sums
 *
 * Return: 0, or -EBUSY while another report is made
 */
int store_usage_sums(struct store *store, const struct store_sums_spec *spec,
		     store_sums_fn *done, void *userdata);

/**
 * store_usage_assigned() - VM time on a day of a tenant's sessions that ended
 *			    on it
 *
 * What they had before that day is in the ledger by itself, as "before".
 */
int store_usage_assigned(struct store *store, const char *tenant, int64_t day,
			 uint64_t *ret_usec);

#endif
