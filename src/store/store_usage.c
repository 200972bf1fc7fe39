/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store_usage.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "store/db.h"
#include "store/impl.h"

/* In the order of struct store_sum; @count is how many an entry stands for. */
#define SUMS(count)                                            \
	" total(" count ") FILTER (WHERE kind = 'created'),"   \
	" total(" count ") FILTER (WHERE kind = 'execution')," \
	" total(amount) FILTER (WHERE kind = 'ended'),"        \
	" total(amount) FILTER (WHERE kind = 'execution'),"    \
	" total(amount) FILTER (WHERE kind = 'cpu'),"          \
	" total(amount) FILTER (WHERE kind = 'memory'),"       \
	" total(amount) FILTER (WHERE kind = 'bytes_in'),"     \
	" total(amount) FILTER (WHERE kind = 'bytes_out'),"    \
	" total(" count ") FILTER (WHERE kind = 'response'),"  \
	" total(amount) FILTER (WHERE kind = 'tokens_in'),"    \
	" total(amount) FILTER (WHERE kind = 'tokens_out'),"   \
	" total(amount) FILTER (WHERE kind = 'tool_calls'),"   \
	" total(amount) FILTER (WHERE kind = 'held')"
#define OF_DAYS " FROM usage_days WHERE day >= ?1 AND (?2 = '' OR tenant = ?2)"
/* Most VM time first, then most tokens. */
#define OF_ENTRIES(column)                                       \
	"SELECT tenant, " column ", -1," SUMS("1") " FROM usage" \
	" WHERE at_usec >= ?1 * 86400000000"                     \
	" AND (?2 = '' OR tenant = ?2)"                          \
	" GROUP BY 1, 2 ORDER BY 1, 6 DESC, 13 DESC, 2"

static const char *const sums_sql[] = {
	[STORE_SUMS_BY_TENANT] = "SELECT tenant, '', -1," SUMS("count") OF_DAYS
	" GROUP BY 1 ORDER BY 1",
	[STORE_SUMS_BY_DAY] = "SELECT tenant, '', day," SUMS("count") OF_DAYS
	" GROUP BY 1, 3 ORDER BY 1, 3",
	[STORE_SUMS_BY_ORIGIN] = OF_ENTRIES("origin"),
	[STORE_SUMS_BY_KEY] = OF_ENTRIES("key_id"),
};
static_assert(sizeof(sums_sql) / sizeof(sums_sql[0]) == STORE_SUMS_BY_COUNT,
	      "sums_sql[] doesn't match enum store_sums_by");

/* total() is a fraction: exact up to 2^53, and never an overflow's failure. */
static uint64_t column_sum(sqlite3_stmt *statement, int column)
{
	double value = sqlite3_column_double(statement, column);

	return value < 0 || value > (double)INT64_MAX ? 0 : (uint64_t)value;
}

static void read_sum(sqlite3_stmt *statement, struct store_sum *ret)
{
	const char *tenant = (const char *)sqlite3_column_text(statement, 0);
	const char *part = (const char *)sqlite3_column_text(statement, 1);

	*ret = (struct store_sum){
		.day = sqlite3_column_int64(statement, 2),
		.sessions = column_sum(statement, 3),
		.executions = column_sum(statement, 4),
		.assigned_usec = column_sum(statement, 5),
		.executing_usec = column_sum(statement, 6),
		.cpu_usec = column_sum(statement, 7),
		.memory_mib_msec = column_sum(statement, 8),
		.bytes_in = column_sum(statement, 9),
		.bytes_out = column_sum(statement, 10),
		.responses = column_sum(statement, 11),
		.tokens_in = column_sum(statement, 12),
		.tokens_out = column_sum(statement, 13),
		.tool_calls = column_sum(statement, 14),
		.held_usec = column_sum(statement, 15),
	};
	if (tenant)
		strncpy(ret->tenant, tenant, sizeof(ret->tenant) - 1);
	if (part)
		strncpy(ret->part, part, sizeof(ret->part) - 1);
}

static int bind_spec(sqlite3_stmt *statement,
		     const struct store_sums_spec *spec)
{
	if (sqlite3_bind_int64(statement, 1, spec->since_day) != SQLITE_OK)
		return -EIO;
	return db_bind_text(statement, 2, spec->tenant);
}

static int collect_sums(sqlite3_stmt *statement, struct sums_job *s)
{
	struct store_sum *grown;
	int r;

	while ((r = db_step(statement)) > 0) {
		if (s->count == STORE_SUMS_MAX)
			return -E2BIG;
		if ((s->count & (s->count - 1)) == 0) {
			grown = realloc(s->sums, (s->count ? 2 * s->count : 1) *
							 sizeof(*s->sums));
			if (!grown)
				return -ENOMEM;
			s->sums = grown;
		}
		read_sum(statement, &s->sums[s->count++]);
	}
	return r;
}

static void sums_run(struct job *job)
{
	struct sums_job *s = JOB_OWNER(job, struct sums_job, asked.job);
	_cleanup_(db_finalizep) sqlite3_stmt *statement = NULL;
	int r;

	r = db_prepare(writer_db(s->asked.writer), sums_sql[s->spec.by], &statement);
	if (r >= 0)
		r = bind_spec(statement, &s->spec);
	if (r >= 0)
		r = collect_sums(statement, s);
	s->asked.result = r;
}

static void sums_done(struct job *job)
{
	struct sums_job *s = JOB_OWNER(job, struct sums_job, asked.job);
	struct store_sum *sums = take_ptr(s->sums);

	s->asked.busy = false;
	s->done(s->asked.userdata, s->asked.result, sums,
		s->asked.result < 0 ? 0 : s->count);
	free(sums);
}

int store_usage_sums(struct store *store, const struct store_sums_spec *spec,
		     store_sums_fn *done, void *userdata)
{
	struct sums_job *s = &store->sums;

	if (s->asked.busy)
		return -EBUSY;
	*s = (struct sums_job){ .spec = *spec, .done = done };
	return store_job_begin(store, &s->asked, sums_run, sums_done, userdata);
}

int store_usage_assigned(struct store *store, const char *tenant, int64_t day,
			 uint64_t *ret_usec)
{
	sqlite3_stmt *statement = store->reads[READ_ASSIGNED];
	int r;

	r = db_bind_text(statement, 1, tenant);
	if (r >= 0 && sqlite3_bind_int64(statement, 2, day) != SQLITE_OK)
		r = -EIO;
	if (r < 0)
		return r;
	r = db_step(statement);
	if (r >= 0)
		*ret_usec =
			r > 0 ? (uint64_t)sqlite3_column_int64(statement, 0) :
				0;
	db_reset(statement);
	return r < 0 ? r : 0;
}
