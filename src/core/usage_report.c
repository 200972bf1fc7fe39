/* SPDX-License-Identifier: Apache-2.0 */
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
	struct store_sums_spec spec;
	json_fn done;
	void *userdata;
};

/** struct live - What a tenant's sessions have not closed yet */
struct live {
	const char *tenant;
	uint64_t sessions;
	struct usage_view usage;
};

static void add_live(void *object, void *userdata)
{
	const struct container *c = object;
	struct live *live = userdata;
	struct usage_view u;

	if (c->state == SESSION_VIEW_ENDED ||
	    strcmp(c->tenant->id, live->tenant) != 0)
		return;
	usage_fill_view(c, &u);
	live->sessions++;
	live->usage.assigned_sec += u.assigned_sec;
	live->usage.cpu_msec += u.cpu_msec;
	live->usage.memory_mib_msec += u.memory_mib_msec;
	live->usage.bytes_in += u.bytes_in;
	live->usage.bytes_out += u.bytes_out;
}

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

static void write_sum(struct json_writer *w, const struct store_sum *sum,
		      const struct live *live)
{
	struct usage_view u = {
		.executions = sum->executions,
		.assigned_sec = sum->assigned_usec / USEC_PER_SEC +
				live->usage.assigned_sec,
		.executing_msec = sum->executing_usec / USEC_PER_MSEC,
		.cpu_msec = sum->cpu_usec / USEC_PER_MSEC +
			    live->usage.cpu_msec,
		.memory_mib_msec =
			sum->memory_mib_msec + live->usage.memory_mib_msec,
		.bytes_in = sum->bytes_in + live->usage.bytes_in,
		.bytes_out = sum->bytes_out + live->usage.bytes_out,
	};

	json_write_object(w, NULL);
	json_write_string(w, "tenant", sum->tenant[0] ? sum->tenant : NULL);
	write_day(w, sum->day);
	json_write_uint(w, "sessions", sum->sessions);
	json_write_uint(w, "live_sessions", live->sessions);
	core_usage_write(&u, w);
	json_write_close(w);
}

/* A tenant's last row is the one that has what lives. */
static void write_sums(struct core *core, struct json_writer *w,
		       const struct store_sum *sums, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		const struct tenant *t = map_get(&core->tenants,
						 sums[i].tenant);
		struct live live = { .tenant = sums[i].tenant };
		bool last = i + 1 == count || strcmp(sums[i].tenant,
						     sums[i + 1].tenant) != 0;

		if (last && t && t->sessions > 0)
			map_each(&core->containers, add_live, &live);
		write_sum(w, &sums[i], &live);
	}
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
		write_sums(report->core, &w, sums, count);
		json_write_close(&w);
		json_write_close(&w);
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

int core_admin_usage(struct core *core, int64_t since_day, bool by_day,
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
	report->spec.by_day = by_day;
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
