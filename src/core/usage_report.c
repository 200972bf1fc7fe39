/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/json_write.h"
#include "core/container.h"
#include "core/usage.h"
#include "store/store_usage.h"

/*
 * What the operator is told of usage: the ledger's sums and, on top, what is not
 * in the ledger yet because the session lives.
 */

#define REPORT_MAX (8 * 1024 * 1024)

struct report {
	struct core *core;
	enum usage_by by;
	struct store_sums_spec spec;
	json_fn done;
	void *userdata;
};

static const struct {
	const char *name;
	enum store_sums_by sums;
} kinds[] = {
	[USAGE_BY_TENANT] = { "tenant", STORE_SUMS_BY_TENANT },
	[USAGE_BY_DAY] = { "day", STORE_SUMS_BY_DAY },
	[USAGE_BY_ORIGIN] = { "origin", STORE_SUMS_BY_ORIGIN },
	[USAGE_BY_KEY] = { "key", STORE_SUMS_BY_KEY },
};
static_assert(sizeof(kinds) / sizeof(kinds[0]) == USAGE_BY_COUNT,
	      "kinds[] doesn't match enum usage_by");

bool usage_by_find(const char *name, enum usage_by *ret)
{
	size_t i;

	for (i = 0; i < USAGE_BY_COUNT; i++) {
		if (strcmp(kinds[i].name, name) != 0)
			continue;
		*ret = (enum usage_by)i;
		return true;
	}
	return false;
}

/* --- what lives --- */

/**
 * struct live - What the sessions of a tenant, or of one of its origins or
 *		 keys, have not closed yet
 * @part:	The origin or key, or ""
 */
struct live {
	const char *tenant;
	const char *part;
	uint64_t sessions;
	struct usage_view usage;
};

/** struct lives - Of all, in order, each once */
struct lives {
	struct live *items;
	size_t count;
	enum usage_by by;
};

static void lives_done(struct lives *lives)
{
	free(lives->items);
}

static void add_live(void *object, void *userdata)
{
	const struct container *c = object;
	struct lives *lives = userdata;
	struct live *live = &lives->items[lives->count];

	if (c->state == SESSION_VIEW_ENDED)
		return;
	lives->count++;
	*live = (struct live){
		.tenant = c->tenant->id,
		.part = lives->by == USAGE_BY_ORIGIN ? c->origin
			: lives->by == USAGE_BY_KEY  ? c->key_id
						     : "",
		.sessions = 1,
	};
	usage_fill_view(c, &live->usage);
}

static int compare_live(const void *left, const void *right)
{
	const struct live *a = left, *b = right;
	int order = strcmp(a->tenant, b->tenant);

	return order ? order : strcmp(a->part, b->part);
}

/* Executions are in the ledger as soon as they have ended. */
static void merge_live(struct live *into, const struct live *other)
{
	into->sessions += other->sessions;
	into->usage.assigned_sec += other->usage.assigned_sec;
	into->usage.cpu_msec += other->usage.cpu_msec;
	into->usage.memory_mib_msec += other->usage.memory_mib_msec;
	into->usage.bytes_in += other->usage.bytes_in;
	into->usage.bytes_out += other->usage.bytes_out;
}

static int collect_lives(struct core *core, struct lives *lives)
{
	size_t i, kept = 0;

	lives->items =
		calloc(core->containers.count + 1, sizeof(*lives->items));
	if (!lives->items)
		return -ENOMEM;
	map_each(&core->containers, add_live, lives);
	qsort(lives->items, lives->count, sizeof(*lives->items), compare_live);
	for (i = 1; i < lives->count; i++)
		if (compare_live(&lives->items[kept], &lives->items[i]) == 0)
			merge_live(&lives->items[kept], &lives->items[i]);
		else
			lives->items[++kept] = lives->items[i];
	lives->count = lives->count ? kept + 1 : 0;
	return 0;
}

static struct live find_live(const struct lives *lives,
			     const struct store_sum *sum)
{
	const struct live key = { .tenant = sum->tenant, .part = sum->part };
	const struct live *found = NULL;

	if (lives->count > 0)
		found = bsearch(&key, lives->items, lives->count, sizeof(key),
				compare_live);
	return found ? *found : key;
}

/* --- the answer --- */

/* "2026-11-29" */
static void write_day(struct json_writer *w, int64_t day)
{
	time_t at = (time_t)(day * (int64_t)(USEC_PER_DAY / USEC_PER_SEC));
	char text[32];
	struct tm tm;

	if (day < 0 || !gmtime_r(&at, &tm) ||
	    strftime(text, sizeof(text), "%Y-%m-%d", &tm) == 0)
		return;
	json_write_string(w, "day", text);
}

static void write_sum(struct json_writer *w, enum usage_by by,
		      const struct store_sum *sum, const struct live *live)
{
	struct usage_view u = {
		.executions = sum->executions,
		.assigned_sec = sum->assigned_usec / USEC_PER_SEC +
				live->usage.assigned_sec,
		.executing_msec = sum->executing_usec / USEC_PER_MSEC,
		.cpu_msec =
			sum->cpu_usec / USEC_PER_MSEC + live->usage.cpu_msec,
		.memory_mib_msec =
			sum->memory_mib_msec + live->usage.memory_mib_msec,
		.bytes_in = sum->bytes_in + live->usage.bytes_in,
		.bytes_out = sum->bytes_out + live->usage.bytes_out,
	};

	json_write_object(w, NULL);
	json_write_string(w, "tenant", sum->tenant[0] ? sum->tenant : NULL);
	write_day(w, sum->day);
	/* What the operator makes himself has no key. */
	if (by == USAGE_BY_ORIGIN || by == USAGE_BY_KEY)
		json_write_string(w, kinds[by].name, sum->part);
	json_write_uint(w, "sessions", sum->sessions);
	json_write_uint(w, "live_sessions", live->sessions);
	core_usage_write(&u, w);
	json_write_uint(w, "responses", sum->responses);
	json_write_uint(w, "input_tokens", sum->tokens_in);
	json_write_uint(w, "output_tokens", sum->tokens_out);
	json_write_uint(w, "tool_calls", sum->tool_calls);
	json_write_uint(w, "held_s", sum->held_usec / USEC_PER_SEC);
	json_write_close(w);
}

/* Of a tenant's days the last is the one that has what lives. */
static int write_sums(struct report *report, struct json_writer *w,
		      const struct store_sum *sums, size_t count)
{
	_cleanup_(lives_done) struct lives lives = {
		.by = report->by,
	};
	const struct live nothing = { .sessions = 0 };
	size_t i;
	int r = collect_lives(report->core, &lives);

	for (i = 0; i < count && r >= 0; i++) {
		bool last = i + 1 == count || sums[i].day < 0 ||
			    strcmp(sums[i].tenant, sums[i + 1].tenant) != 0;
		struct live live = last ? find_live(&lives, &sums[i]) : nothing;

		write_sum(w, report->by, &sums[i], &live);
	}
	return r;
}

static void on_sums(void *userdata, int r, const struct store_sum *sums,
		    size_t count)
{
	struct report *report = userdata;
	_cleanup_(buf_done) struct buf json = BUF_INIT(REPORT_MAX);
	struct json_writer w = JSON_WRITER_INIT(&json);
	struct error err = ERROR_INIT;

	if (r >= 0) {
		json_write_object(&w, NULL);
		json_write_array(&w, "usage");
		r = write_sums(report, &w, sums, count);
		json_write_close(&w);
		json_write_close(&w);
		if (r >= 0)
			r = json_write_end(&w);
	}
	if (r == -E2BIG)
		error_set(&err, ERR_UNPROCESSABLE,
			  "The report has more than %u rows: ask for fewer "
			  "days or one tenant",
			  STORE_SUMS_MAX);
	else if (r < 0)
		error_set_errno(&err, r, "Cannot sum usage up");
	report->done(report->userdata, r < 0 ? NULL : buf_str(&json),
		     json.length, r < 0 ? &err : NULL);
	free(report);
}

int core_admin_usage(struct core *core, int64_t since_day, enum usage_by by,
		     const char *tenant, json_fn done, void *userdata,
		     struct error *err)
{
	struct report *report;
	int r;

	if (tenant && !map_get(&core->tenants, tenant))
		return error_set(err, ERR_NOT_FOUND, "There is no tenant '%s'",
				 tenant);
	report = calloc(1, sizeof(*report));
	if (!report)
		return error_set_errno(err, -ENOMEM, "Cannot sum usage up");
	report->core = core;
	report->spec.since_day = since_day;
	report->by = by;
	report->spec.by = kinds[by].sums;
	if (tenant)
		strcpy(report->spec.tenant, tenant);
	report->done = done;
	report->userdata = userdata;
	r = store_usage_sums(core->store, &report->spec, on_sums, report);
	if (r >= 0)
		return 0;
	free(report);
	if (r != -EBUSY)
		return error_set_errno(err, r, "Cannot sum usage up");
	return error_set(err, ERR_LIMIT, "Another report is being made");
}
