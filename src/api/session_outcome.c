/* SPDX-License-Identifier: Apache-2.0 */
#include "api/session_outcome.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/inline_file.h"
#include "api/origin.h"
#include "api/reply.h"
#include "api/request.h"
#include "api/session_value.h"
#include "api/uri.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/name.h"

/* Stderr with a traceback behind it. */
enum { ERRORS_MAX = 4 << 20 };

void session_form_note(const struct session_form *form,
		       char ret[CORE_NOTE_SIZE])
{
	(void)snprintf(ret, CORE_NOTE_SIZE, "%llu%s%s%s",
		       (unsigned long long)form->output_max,
		       form->async ? " async" : "",
		       form->command ? " command" : "",
		       form->jupyter ? " jupyter" : "");
}

void session_form_read(struct session_form *form, const char *note)
{
	form->output_max = strtoull(note, NULL, 10);
	form->async = strstr(note, " async") != NULL;
	form->command = strstr(note, " command") != NULL;
	form->jupyter = strstr(note, " jupyter") != NULL;
}

static void write_stream(struct json_writer *w, const char *key,
			 const char *data, size_t size, uint64_t max)
{
	if (max > 0 && size > max)
		size = utf8_cut(data, size, (size_t)max);
	json_write_bytes(w, key, data, size);
}

/* Stderr, and behind it why the execution failed. */
static void write_stderr(struct json_writer *w, const struct session_form *form,
			 const struct exec_view *exec)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(ERRORS_MAX);
	const char *sentence = exec_status_sentence(exec->status);

	(void)buf_add(&text, exec->err, exec->err_len);
	if (exec->error_traceback && *exec->error_traceback)
		(void)buf_add_str(&text, exec->error_traceback);
	else if (exec->error_name)
		(void)buf_printf(&text, "%s: %s", exec->error_name,
				 exec->error_value ? exec->error_value : "");
	if (sentence)
		(void)buf_printf(&text, "%s%s%s", text.length > 0 ? "\n" : "",
				 sentence,
				 exec->state_lost ? " Its variables are lost."
						  : "");
	if (buf_check(&text) < 0)
		json_write_fail(w, -ENOMEM);
	write_stream(w, "stderr", buf_str(&text), text.length,
		     form->output_max);
}

static void write_image(struct request *req, const struct exec_view *exec,
			const struct exec_datum *png, struct json_writer *w,
			const char *key)
{
	json_write_object(w, key);
	json_write_string(w, "type", "image");
	json_write_string(w, "format", "png");
	if (!inline_file_write(req, exec->container, png->file_id, w,
			       "base64_data"))
		json_write_string(w, "base64_data", "");
	json_write_close(w);
}

/* A displayed object in all its forms, as Jupyter has them in its messages. */
static void write_jupyter(struct request *req, const struct exec_view *exec,
			  const struct exec_result *result,
			  struct json_writer *w, const char *key)
{
	size_t i;

	json_write_object(w, key);
	json_write_object(w, "data");
	for (i = 0; i < result->count; i++) {
		const struct exec_datum *datum = &result->data[i];

		if (datum->data)
			json_write_bytes(w, datum->mime, datum->data,
					 datum->data_len);
		else
			(void)inline_file_write(req, exec->container,
						datum->file_id, w,
						datum->mime);
	}
	json_write_close(w);
	json_write_object(w, "metadata");
	json_write_close(w);
	json_write_close(w);
}

/* The value of the last expression, or the last figure, or null. */
static void write_value(struct request *req, const struct exec_view *exec,
			struct json_writer *w, const char *key)
{
	const struct session_form *form = req->work;
	const struct exec_datum *png, *text;
	const struct exec_result *last;

	if (exec->result_count == 0) {
		json_write_null(w, key);
		return;
	}
	last = &exec->results[exec->result_count - 1];
	png = exec_datum_find(last, "image/png");
	text = exec_datum_find(last, "text/plain");
	if (form->jupyter)
		write_jupyter(req, exec, last, w, key);
	else if (png && !png->data)
		write_image(req, exec, png, w, key);
	else if (text && text->data)
		session_value_write(w, key, text->data, text->data_len);
	else
		json_write_null(w, key);
}

int session_outcome_old(struct request *req, const struct exec_view *exec,
		     struct error *err)
{
	const struct session_form *form = req->work;
	struct json_writer *w = reply_writer(req);

	json_write_object(w, NULL);
	json_write_string(w, "$id", "1");
	json_write_object(w, "properties");
	json_write_string(w, "$id", "2");
	json_write_string(w, "status",
			  exec->status == EXEC_OK ? "Success" : "Failure");
	write_stream(w, "stdout", exec->out, exec->out_len, form->output_max);
	write_stderr(w, form, exec);
	write_value(req, exec, w, "result");
	write_value(req, exec, w, "executionResult");
	json_write_uint(w, "executionTimeInMilliseconds", exec->duration_msec);
	json_write_close(w);
	json_write_close(w);
	return reply_json(req, MHD_HTTP_OK, err);
}

static const char *status_word(const struct exec_view *exec)
{
	switch (exec->status) {
	case EXEC_QUEUED:
		return "NotStarted";
	case EXEC_RUNNING:
		return "Running";
	case EXEC_OK:
		return "Succeeded";
	case EXEC_INTERRUPTED:
		return "Canceled";
	default:
		return "Failed";
	}
}

/* The exit status of a command, if it came so far. */
static void write_status(struct json_writer *w, const struct session_form *form,
			 const struct exec_view *exec)
{
	const struct exec_datum *text = NULL;

	if (form->command && exec->status == EXEC_OK && exec->result_count > 0)
		text = exec_datum_find(&exec->results[exec->result_count - 1],
				  "text/plain");
	if (text && text->data)
		json_write_bytes(w, "status", text->data, text->data_len);
	else
		json_write_string(w, "status", status_word(exec));
}

static void write_failure(struct json_writer *w, const struct exec_view *exec)
{
	const char *sentence = exec_status_sentence(exec->status);

	if (!exec->error_name && !sentence)
		return;
	json_write_object(w, "error");
	json_write_string(w, "code", exec->error_name
					     ? exec->error_name
					     : exec_status_name(exec->status));
	json_write_string(w, "message", sentence ? sentence
				  : exec->error_value ? exec->error_value
						      : "");
	json_write_close(w);
}

static void write_result(struct request *req, const struct exec_view *exec,
			 struct json_writer *w)
{
	const struct session_form *form = req->work;

	json_write_object(w, "result");
	write_stream(w, "stdout", exec->out, exec->out_len, form->output_max);
	write_stderr(w, form, exec);
	write_value(req, exec, w, "executionResult");
	json_write_uint(w, "executionTimeInMilliseconds", exec->duration_msec);
	json_write_close(w);
}

/* Where the execution can be looked at later. */
static void add_location(struct request *req, const struct exec_view *exec,
			 const struct session_form *form)
{
	_cleanup_(buf_done) struct buf url = BUF_INIT(8192);
	const char *version = NULL;

	reply_header(req, "operation-id", exec->id);
	(void)uri_param(&req->uri, "api-version", &version, NULL);
	if (origin_write(req, &url) < 0 ||
	    buf_printf(&url, "/pools/%s/executions/%s?api-version=",
		       req->match.pool, exec->id) < 0 ||
	    uri_escape(version, &url) < 0 ||
	    buf_add_str(&url, "&identifier=") < 0 ||
	    uri_escape(form->identifier, &url) < 0)
		return;
	reply_header(req, "Operation-Location", buf_str(&url));
}

static int reply_new(struct request *req, const struct exec_view *exec,
		     unsigned status, struct error *err)
{
	const struct session_form *form = req->work;
	struct json_writer *w = reply_writer(req);
	bool over = exec->status > EXEC_RUNNING;
	int r;

	json_write_object(w, NULL);
	json_write_string(w, "id", exec->id);
	json_write_string(w, "identifier", form->identifier);
	json_write_string(w, "sessionId", exec->container);
	json_write_string(w, "executionType",
			  form->async ? "Asynchronous" : "Synchronous");
	write_status(w, form, exec);
	if (over) {
		write_result(req, exec, w);
		write_failure(w, exec);
	}
	json_write_close(w);
	r = reply_json(req, status, err);
	if (r >= 0)
		add_location(req, exec, form);
	return r;
}

int session_outcome_new(struct request *req, const struct exec_view *exec,
			struct error *err)
{
	return reply_new(req, exec, MHD_HTTP_OK, err);
}

int session_outcome_later(struct request *req, const struct exec_view *exec,
			  struct error *err)
{
	return reply_new(req, exec, MHD_HTTP_ACCEPTED, err);
}
