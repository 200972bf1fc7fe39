/* SPDX-License-Identifier: Apache-2.0 */
#include "core/core.h"

#include "base/json_write.h"

/* GiB seconds of MiB milliseconds. */
#define GIB_SEC (1024.0 * 1000.0)

/* What of its VM time a session did not execute; NULL without any. */
static void write_idle(struct json_writer *w, const struct usage_view *u)
{
	double assigned = (double)u->assigned_sec * 1000;
	double share;

	if (u->assigned_sec == 0) {
		json_write_null(w, "idle_share");
		return;
	}
	share = 1 - (double)u->executing_msec / assigned;
	json_write_double(w, "idle_share", share > 0 ? share : 0);
}

void core_usage_write(const struct usage_view *u, struct json_writer *w)
{
	json_write_uint(w, "executions", u->executions);
	json_write_uint(w, "assigned_s", u->assigned_sec);
	json_write_uint(w, "executing_ms", u->executing_msec);
	json_write_uint(w, "cpu_ms", u->cpu_msec);
	json_write_double(w, "memory_gib_s",
			  (double)u->memory_mib_msec / GIB_SEC);
	json_write_uint(w, "bytes_in", u->bytes_in);
	json_write_uint(w, "bytes_out", u->bytes_out);
	write_idle(w, u);
}
