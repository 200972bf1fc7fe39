/* SPDX-License-Identifier: Apache-2.0 */
#include "api/view_json.h"

#include <assert.h>

#include "base/hex.h"

static const char *const session_states[] = {
	[SESSION_VIEW_ACCEPTED]		= "accepted",
	[SESSION_VIEW_BOOTING]		= "booting",
	[SESSION_VIEW_RUNNING]		= "running",
	[SESSION_VIEW_EXECUTING]	= "executing",
	[SESSION_VIEW_STOPPING]		= "stopping",
	[SESSION_VIEW_ENDED]		= "ended",
};
static_assert(sizeof(session_states) / sizeof(session_states[0]) ==
		      SESSION_VIEW_COUNT,
	      "session_states[] doesn't match enum session_state_view");

static void write_sha256(struct json_writer *w, const uint8_t sha256[32])
{
	char hex[2 * 32 + 1];

	hex_encode(sha256, 32, hex);
	json_write_string(w, "sha256", hex);
}

/* A path that is not UTF-8 has its bytes beside it. */
static void write_path(struct json_writer *w, const char *path,
		       const char *path_b64)
{
	json_write_string(w, "path", path);
	if (path_b64)
		json_write_string(w, "path_b64", path_b64);
}

void view_json_file(struct json_writer *w, const char *key,
		    const struct file_view *file)
{
	json_write_object(w, key);
	json_write_string(w, "id", file->id);
	json_write_string(w, "object", "file");
	json_write_uint(w, "bytes", file->bytes);
	json_write_int(w, "created_at", file->created_at);
	if (file->expires_at > 0)
		json_write_int(w, "expires_at", file->expires_at);
	json_write_string(w, "filename", file->filename);
	json_write_string(w, "purpose", file->purpose);
	json_write_string(w, "status", "processed");
	json_write_null(w, "status_details");
	write_sha256(w, file->sha256);
	json_write_close(w);
}

void view_json_upload(struct json_writer *w, const char *key,
		      const struct parts_view *upload)
{
	json_write_object(w, key);
	json_write_string(w, "id", upload->id);
	json_write_string(w, "object", "upload");
	json_write_uint(w, "bytes", upload->bytes);
	json_write_int(w, "created_at", upload->created_at);
	json_write_int(w, "expires_at", upload->expires_at);
	json_write_string(w, "filename", upload->filename);
	json_write_string(w, "purpose", upload->purpose);
	json_write_string(w, "status", parts_status_name(upload->status));
	if (upload->file)
		view_json_file(w, "file", upload->file);
	else
		json_write_null(w, "file");
	json_write_close(w);
}

/* ---------------------------------------------------------------- containers */

static void write_ended(struct json_writer *w,
			const struct container_view *container)
{
	if (!container->ended_reason) {
		json_write_null(w, "ended");
		return;
	}
	json_write_object(w, "ended");
	json_write_string(w, "reason", container->ended_reason);
	json_write_int(w, "at", container->ended_at);
	json_write_close(w);
}

static void write_session(struct json_writer *w,
			  const struct container_view *container)
{
	json_write_object(w, "session");
	json_write_string(w, "state", session_states[container->state]);
	json_write_time(w, "idle_expires_at", container->idle_expires_at);
	json_write_time(w, "hard_expires_at", container->hard_expires_at);
	write_ended(w, container);
	json_write_string(w, "pool", container->pool);
	json_write_string(w, "image", container->image);
	json_write_uint(w, "memory_mib", container->memory_mib);
	json_write_uint(w, "kernel_epoch", container->kernel_epoch);
	json_write_object(w, "usage");
	core_usage_write(&container->usage, w);
	json_write_close(w);
	json_write_close(w);
}

void view_json_container(struct json_writer *w, const char *key,
			 const struct container_view *container, bool operator)
{
	json_write_object(w, key);
	json_write_string(w, "id", container->id);
	json_write_string(w, "object", "container");
	json_write_string(w, "name", container->name);
	json_write_int(w, "created_at", container->created_at);
	json_write_string(w, "status",
			  container->expired ? "expired" : "running");
	json_write_int(w, "last_active_at", container->last_active_at);
	json_write_object(w, "expires_after");
	json_write_string(w, "anchor", "last_active_at");
	json_write_uint(w, "minutes", container->idle_minutes);
	json_write_close(w);
	json_write_string(w, "memory_limit",
			  container_memory_tiers[container->memory]);
	json_write_object(w, "network_policy");
	json_write_string(w, "type", "disabled");
	json_write_close(w);
	write_session(w, container);
	if (operator) {
		json_write_string(w, "tenant", container->tenant);
		json_write_string(w, "key", container->key_id);
		json_write_string(w, "origin", container->origin);
		json_write_string(w, "vm", container->vm);
	}
	json_write_close(w);
}

void view_json_cfile_members(struct json_writer *w,
			     const struct cfile_view *file)
{
	json_write_string(w, "id", file->id);
	json_write_string(w, "object", "container.file");
	json_write_string(w, "container_id", file->container);
	json_write_int(w, "created_at", file->created_at);
	json_write_uint(w, "bytes", file->bytes);
	write_path(w, file->path, file->path_b64);
	json_write_string(w, "source", file->by_user ? "user" : "assistant");
	write_sha256(w, file->sha256);
	if (file->changed_during_read)
		json_write_bool(w, "changed_during_read", true);
}

void view_json_cfile(struct json_writer *w, const char *key,
		     const struct cfile_view *file)
{
	json_write_object(w, key);
	view_json_cfile_members(w, file);
	json_write_close(w);
}

/* ---------------------------------------------------------------- executions */

void view_json_bytes(struct json_writer *w, const char *key, const void *data,
		     size_t size, enum view_output output)
{
	if (output == VIEW_OUTPUT_BASE64)
		json_write_base64(w, key, data, size);
	else if (output == VIEW_OUTPUT_UTF8)
		json_write_bytes(w, key, data, size);
}

void view_json_result(struct json_writer *w, const char *key,
		      const struct exec_result *result)
{
	size_t i;

	json_write_object(w, key);
	for (i = 0; i < result->count; i++) {
		const struct exec_datum *datum = &result->data[i];

		if (datum->data) {
			json_write_bytes(w, datum->mime, datum->data,
					 datum->data_len);
			continue;
		}
		json_write_object(w, datum->mime);
		json_write_string(w, "file_id", datum->file_id);
		json_write_close(w);
	}
	json_write_close(w);
}

static void write_truncated(struct json_writer *w,
			    const struct exec_view *exec)
{
	json_write_object(w, "truncated");
	json_write_bool(w, "stdout", exec->out_truncated);
	json_write_bool(w, "stderr", exec->err_truncated);
	json_write_uint(w, "total_bytes", exec->total_bytes);
	json_write_uint(w, "omitted_bytes", exec->omitted_bytes);
	json_write_close(w);
}

static void write_error(struct json_writer *w, const struct exec_view *exec)
{
	if (!exec->error_name) {
		json_write_null(w, "error");
		return;
	}
	json_write_object(w, "error");
	json_write_string(w, "name", exec->error_name);
	json_write_string(w, "value",
			  exec->error_value ? exec->error_value : "");
	json_write_string(w, "traceback",
			  exec->error_traceback ? exec->error_traceback : "");
	json_write_close(w);
}

static void write_skipped(struct json_writer *w, const struct exec_view *exec)
{
	size_t i;

	json_write_array(w, "skipped");
	for (i = 0; i < exec->skipped_count; i++) {
		const struct exec_skipped *one = &exec->skipped[i];

		json_write_object(w, NULL);
		write_path(w, one->path, one->path_b64);
		json_write_string(w, "reason", one->reason);
		if (one->bytes > 0)
			json_write_uint(w, "bytes", one->bytes);
		if (one->limit_bytes > 0)
			json_write_uint(w, "limit_bytes", one->limit_bytes);
		if (one->count > 0)
			json_write_uint(w, "count", one->count);
		json_write_close(w);
	}
	json_write_close(w);
	json_write_uint(w, "skipped_count", exec->skipped_total);
}

static void write_products(struct json_writer *w, const struct exec_view *exec)
{
	size_t i;

	json_write_array(w, "results");
	for (i = 0; i < exec->result_count; i++)
		view_json_result(w, NULL, &exec->results[i]);
	json_write_close(w);
	write_error(w, exec);
	json_write_array(w, "artifacts");
	for (i = 0; i < exec->artifact_count; i++)
		view_json_cfile(w, NULL, &exec->artifacts[i]);
	json_write_close(w);
	write_skipped(w, exec);
}

static void write_exec_head(struct json_writer *w, const struct exec_view *exec)
{
	json_write_string(w, "id", exec->id);
	json_write_string(w, "object", "container.execution");
	json_write_string(w, "container_id", exec->container);
	json_write_string(w, "status", exec_status_name(exec->status));
}

void view_json_exec_head(struct json_writer *w, const char *key,
			 const struct exec_view *exec)
{
	json_write_object(w, key);
	write_exec_head(w, exec);
	json_write_uint(w, "execution_count", exec->execution_count);
	json_write_uint(w, "kernel_epoch", exec->kernel_epoch);
	json_write_int(w, "created_at", exec->created_at);
	json_write_close(w);
}

void view_json_exec(struct json_writer *w, const char *key,
		    const struct exec_view *exec, enum view_output output)
{
	json_write_object(w, key);
	write_exec_head(w, exec);
	view_json_bytes(w, "stdout", exec->out, exec->out_len, output);
	view_json_bytes(w, "stderr", exec->err, exec->err_len, output);
	write_truncated(w, exec);
	write_products(w, exec);
	json_write_uint(w, "execution_count", exec->execution_count);
	json_write_uint(w, "kernel_epoch", exec->kernel_epoch);
	json_write_bool(w, "state_lost", exec->state_lost);
	json_write_string(w, "trace_id", exec->trace_id);
	json_write_int(w, "created_at", exec->created_at);
	json_write_uint(w, "duration_ms", exec->duration_msec);
	json_write_uint(w, "cpu_ms", exec->cpu_msec);
	json_write_uint(w, "peak_memory_bytes", exec->peak_memory_bytes);
	json_write_close(w);
}
