/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hex.h"
#include "base/json.h"
#include "base/json_write.h"
#include "core/container.h"
#include "core/exec.h"

/*
 * The record of an execution: written once, read whenever somebody asks for it
 * after the object is gone. Output is kept raw beside it; here is all the rest:
 *
 *	{"parts":"hex","results":[[{"mime","data" or "file"}…]…],
 *	 "error":{"name","value","traceback"} or null,
 *	 "artifacts":…,"skipped":…}	exec_files.c
 *
 * It is read by the strict reader, as something that another version wrote.
 */

static const char *const status_names[] = {
	[EXEC_QUEUED] = "queued",
	[EXEC_RUNNING] = "running",
	[EXEC_OK] = "ok",
	[EXEC_ERROR] = "error",
	[EXEC_TIMEOUT] = "timeout",
	[EXEC_INTERRUPTED] = "interrupted",
	[EXEC_OUTPUT_LIMIT] = "output_limit",
	[EXEC_OOM] = "oom",
	[EXEC_KERNEL_DIED] = "kernel_died",
	[EXEC_SESSION_LOST] = "session_lost",
};
static_assert(sizeof(status_names) / sizeof(status_names[0]) ==
		      EXEC_STATUS_COUNT,
	      "status_names[] doesn't match enum exec_status");

const char *exec_status_name(enum exec_status status)
{
	return status_names[status];
}

enum exec_status exec_status_parse(const char *name)
{
	int status;

	for (status = 0; status < EXEC_STATUS_COUNT; status++)
		if (strcmp(status_names[status], name) == 0)
			return (enum exec_status)status;
	return EXEC_SESSION_LOST;
}

/* ------------------------------------------------------------------ write */

static int write_parts(struct exec *e, struct json_writer *w)
{
	_cleanup_free_ char *hex = malloc(2 * e->parts.length + 1);

	if (!hex)
		return -ENOMEM;
	hex_encode(e->parts.data, e->parts.length, hex);
	json_write_string(w, "parts", hex);
	return 0;
}

static void write_results(const struct exec *e, struct json_writer *w)
{
	size_t i, j;

	json_write_array(w, "results");
	for (i = 0; i < e->result_count; i++) {
		json_write_array(w, NULL);
		for (j = 0; j < e->results[i].count; j++) {
			const struct exec_datum *d = &e->results[i].data[j];

			json_write_object(w, NULL);
			json_write_string(w, "mime", d->mime);
			if (d->data)
				json_write_bytes(w, "data", d->data,
						 d->data_len);
			else
				json_write_string(w, "file", d->file_id);
			json_write_close(w);
		}
		json_write_close(w);
	}
	json_write_close(w);
}

int exec_write_record(struct exec *e, struct buf *ret_json)
{
	struct json_writer w = JSON_WRITER_INIT(ret_json);
	int r;

	r = exec_close_part(e);
	if (r < 0)
		return r;
	json_write_object(&w, NULL);
	r = write_parts(e, &w);
	if (r < 0)
		return r;
	write_results(e, &w);
	if (e->error_name) {
		json_write_object(&w, "error");
		json_write_string(&w, "name", e->error_name);
		json_write_string(&w, "value", e->error_value);
		json_write_string(&w, "traceback", e->error_traceback);
		json_write_close(&w);
	}
	exec_files_write(e, &w);
	json_write_close(&w);
	return json_write_end(&w);
}

/* ------------------------------------------------------------------- read */

struct read_error {
	struct json_string name;
	struct json_string value;
	struct json_string traceback;
};

static const struct json_field error_fields[] = {
	JSON_STRING_FIELD("name", struct read_error, name, .required = true,
			  .text = true),
	JSON_STRING_FIELD("value", struct read_error, value, .text = true),
	JSON_STRING_FIELD("traceback", struct read_error, traceback,
			  .text = true),
};

static int load_error(struct exec *e, const struct json_object *object)
{
	struct read_error read = { { 0 }, { 0 }, { 0 } };
	int r;

	r = json_read_fields(object, "error", error_fields,
			     sizeof(error_fields) / sizeof(error_fields[0]),
			     JSON_UNKNOWN_IGNORED, &read, NULL);
	if (r < 0)
		return r;
	e->error_name = strdup(read.name.data);
	e->error_value = strdup(read.value.data ? read.value.data : "");
	e->error_traceback =
		strdup(read.traceback.data ? read.traceback.data : "");
	return e->error_name && e->error_value && e->error_traceback ? 0 :
								       -ENOMEM;
}

static int load_result(struct exec *e, const struct json_object *result)
{
	size_t i;
	int r = 0;

	for (i = 0; r >= 0 && i < json_array_size(result); i++) {
		struct json_object *d = json_array_at(result, i);
		struct json_string mime =
			json_string_of(json_member(d, "mime"));
		struct json_string data =
			json_string_of(json_member(d, "data"));
		struct json_string file =
			json_string_of(json_member(d, "file"));

		if (!mime.data)
			return -EINVAL;
		r = exec_add_datum(e, i == 0, mime.data, data.data, data.length,
				   file.data);
	}
	return r;
}

static int load_parts(struct exec *e, struct json_string hex)
{
	void *room;
	int r;

	if (!hex.data || hex.length == 0)
		return 0;
	r = buf_reserve(&e->parts, hex.length / 2, &room);
	if (r >= 0)
		r = hex_decode(hex.data, room, hex.length / 2);
	if (r >= 0)
		buf_commit(&e->parts, hex.length / 2);
	return r;
}

static int load_results(struct exec *e, const struct json_object *root)
{
	struct json_object *results = json_member(root, "results");
	size_t i;
	int r = 0;

	for (i = 0; r >= 0 && i < json_array_size(results); i++)
		r = load_result(e, json_array_at(results, i));
	return r;
}

static int load_record(struct exec *e, const struct store_record *record)
{
	_cleanup_(json_freep) struct json_object *root = NULL;
	int r;

	r = json_parse(record->json, record->json_size, &root, NULL);
	if (r >= 0)
		r = load_parts(e, json_string_of(json_member(root, "parts")));
	if (r >= 0)
		r = load_results(e, root);
	if (r >= 0)
		r = exec_files_load(e, root);
	if (r >= 0 && json_member(root, "error"))
		r = load_error(e, json_member(root, "error"));
	if (r >= 0)
		r = buf_add(&e->out[WIRE_STDOUT], record->out,
			    record->out_size);
	if (r >= 0)
		r = buf_add(&e->out[WIRE_STDERR], record->err,
			    record->err_size);
	return r;
}

static void load_row(struct exec *e, const struct store_execution *row)
{
	strcpy(e->container_id, row->container_id);
	strcpy(e->tenant, row->tenant);
	strcpy(e->note, row->note);
	exec_set_trace(e, row->trace);
	e->scope.session_id = e->container_id;
	e->status = exec_status_parse(row->status);
	e->number = (uint32_t)row->number;
	e->created_usec = row->created_usec;
	e->started_usec = row->started_usec;
	e->ended_usec = row->ended_usec;
	e->duration_usec = row->duration_usec;
	e->cpu_usec = row->cpu_usec;
	e->peak_memory_bytes = row->peak_memory_bytes;
	e->total_bytes = row->total_bytes;
	e->omitted_bytes = row->omitted_bytes;
	e->truncated[0] = row->out_truncated;
	e->truncated[1] = row->err_truncated;
	e->execution_count = row->execution_count;
	e->kernel_epoch = row->kernel_epoch;
	e->state_lost = row->state_lost;
	e->told = true;
}

int exec_load(struct core *core, const struct store_execution *row,
	      struct exec **ret)
{
	_cleanup_(buf_done) struct buf buf = BUF_INIT(STORE_RECORD_MAX);
	_cleanup_(exec_freep) struct exec *e = NULL;
	struct store_record record;
	int r;

	r = exec_alloc(core, row->id, &e);
	if (r < 0)
		return r;
	load_row(e, row);
	/* It was over when it was written. */
	e->state = EXEC_STATE_OVER;
	if (row->has_record) {
		r = store_execution_record(core->store, row->id, &buf, &record);
		if (r >= 0)
			r = load_record(e, &record);
		if (r < 0)
			return r;
	}
	*ret = take_ptr(e);
	return 0;
}

struct read_waiting {
	int64_t timeout_usec;
	bool spill;
};

static const struct json_field waiting_fields[] = {
	JSON_INT_FIELD("timeout_usec", struct read_waiting, timeout_usec,
		       .required = true, .min = 1, .max = INT64_MAX),
	JSON_BOOL_FIELD("spill", struct read_waiting, spill),
};

static int load_waiting(struct exec *e, const struct store_record *record)
{
	_cleanup_(json_freep) struct json_object *root = NULL;
	struct read_waiting read = { .spill = true };
	int r;

	r = json_parse(record->json, record->json_size, &root, NULL);
	if (r >= 0)
		r = json_read_fields(root, NULL, waiting_fields,
				     sizeof(waiting_fields) /
					     sizeof(waiting_fields[0]),
				     JSON_UNKNOWN_IGNORED, &read, NULL);
	if (r < 0)
		return r;
	e->timeout_usec = (usec_t)read.timeout_usec;
	e->spill = read.spill;
	return exec_take_source(e, record->out, record->out_size, record->err,
				record->err_size);
}

int exec_load_waiting(struct exec *e)
{
	_cleanup_(buf_done) struct buf buf = BUF_INIT(STORE_RECORD_MAX);
	struct store_record record;
	int r;

	r = store_execution_record(e->core->store, e->id, &buf, &record);
	return r < 0 ? r : load_waiting(e, &record);
}

/* ------------------------------------------------------------------- view */

static void view_artifacts(struct exec *e, struct exec_view *ret)
{
	size_t i;

	for (i = 0; i < e->artifact_count; i++)
		e->artifact_views[i] = e->artifacts[i].view;
	ret->artifacts = e->artifact_views;
	ret->artifact_count = e->artifact_count;
}

static void view_numbers(const struct exec *e, struct exec_view *ret)
{
	ret->out_truncated = e->truncated[0];
	ret->err_truncated = e->truncated[1];
	ret->total_bytes = e->total_bytes;
	ret->omitted_bytes = e->omitted_bytes;
	ret->execution_count = e->execution_count;
	ret->kernel_epoch = e->kernel_epoch;
	ret->state_lost = e->state_lost;
	ret->trace_id = trace_id(&e->trace);
	ret->created_at = (int64_t)(e->created_usec / USEC_PER_SEC);
	ret->duration_msec = e->duration_usec / USEC_PER_MSEC;
	ret->cpu_msec = e->cpu_usec / USEC_PER_MSEC;
	ret->peak_memory_bytes = e->peak_memory_bytes;
}

void exec_fill_view(struct exec *e, struct exec_view *ret)
{
	*ret = (struct exec_view){
		.status = e->told                       ? e->status :
			  e->state == EXEC_STATE_QUEUED ? EXEC_QUEUED :
							  EXEC_RUNNING,
		.out = (const char *)e->out[WIRE_STDOUT].data,
		.out_len = e->out[WIRE_STDOUT].length,
		.err = (const char *)e->out[WIRE_STDERR].data,
		.err_len = e->out[WIRE_STDERR].length,
	};
	strcpy(ret->id, e->id);
	strcpy(ret->container, e->container_id);
	strcpy(ret->note, e->note);
	view_numbers(e, ret);
	/* Figures have their ids, and files are durable, only at the end. */
	if (!e->told)
		return;
	ret->results = e->results;
	ret->result_count = e->result_count;
	ret->error_name = e->error_name;
	ret->error_value = e->error_value;
	ret->error_traceback = e->error_traceback;
	ret->skipped = e->skipped;
	ret->skipped_count = e->skipped_count;
	ret->skipped_total = exec_files_skipped(e);
	view_artifacts(e, ret);
}
