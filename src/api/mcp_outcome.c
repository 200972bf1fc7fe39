/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/inline_file.h"
#include "api/mcp.h"
#include "api/mcp_tools.h"
#include "api/request.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/media_type.h"

/*
 * What running code came to, as a tool's result: once for programs
 * (structuredContent), once for models (text, images, links), and, for clients
 * that know no structure, that again as text.
 */

enum {
	/* The structure: two full streams, each byte escaped, and results. */
	STRUCTURE_MAX = 24 << 20,
	/* More is not repeated as text, which escapes it once again. */
	REPEATED_MAX = 4 << 20,
	PRINTED_MAX = 4 << 20,
	/* No further image is put behind so much content. */
	IMAGES_MAX = 16 << 20,
};

/* --------------------------------------------------------------- the structure */

/* The value of the last expression, or what was displayed last; or NULL. */
static const struct exec_datum *last_value(const struct exec_view *exec)
{
	const struct exec_datum *text;

	if (exec->result_count == 0)
		return NULL;
	text = exec_datum_find(&exec->results[exec->result_count - 1],
			       "text/plain");
	return text && text->data ? text : NULL;
}

static void write_error(struct json_writer *w, const struct exec_view *exec)
{
	const char *sentence = exec_status_sentence(exec->status);

	if (!exec->error_name && !sentence) {
		json_write_null(w, "error");
		return;
	}
	json_write_object(w, "error");
	json_write_string(w, "name", exec->error_name
					     ? exec->error_name
					     : exec_status_name(exec->status));
	json_write_string(w, "value", exec->error_value ? exec->error_value
				      : sentence        ? sentence
							: "");
	json_write_string(w, "traceback",
			  exec->error_traceback ? exec->error_traceback : "");
	json_write_close(w);
}

static bool is_given(const struct mcp_call *call, const struct cfile_view *file)
{
	return toolbox_offer_gives(&call->offer, file->path, file->bytes);
}

static void write_skip(struct json_writer *w, const char *path,
		       const char *reason)
{
	json_write_object(w, NULL);
	json_write_string(w, "path", path);
	json_write_string(w, "reason", reason);
	json_write_close(w);
}

static void write_files(struct mcp_call *call, const struct exec_view *exec,
			struct json_writer *w)
{
	size_t i;

	json_write_array(w, "files");
	for (i = 0; i < exec->artifact_count; i++)
		if (is_given(call, &exec->artifacts[i]))
			mcp_write_file(call, w, NULL, &exec->artifacts[i]);
	json_write_close(w);
	json_write_array(w, "skipped");
	for (i = 0; i < exec->skipped_count; i++)
		write_skip(w, exec->skipped[i].path, exec->skipped[i].reason);
	for (i = 0; i < exec->artifact_count; i++)
		if (!is_given(call, &exec->artifacts[i]))
			write_skip(w, exec->artifacts[i].path, "policy");
	json_write_close(w);
}

static void write_exit_code(struct json_writer *w,
			    const struct exec_datum *value)
{
	char *end = NULL;
	long code = value ? strtol(value->data, &end, 10) : 0;

	if (value && end != value->data && !*end)
		json_write_int(w, "exitCode", code);
	else
		json_write_null(w, "exitCode");
}

static int write_structure(struct mcp_call *call, const struct exec_view *exec,
			   struct buf *text)
{
	const struct exec_datum *value = last_value(exec);
	struct json_writer w = JSON_WRITER_INIT(text);

	json_write_object(&w, NULL);
	json_write_string(&w,
			  call->tool->environment ? "environmentId"
						  : "container_id",
			  exec->container);
	if (call->tool->shell)
		write_exit_code(&w, value);
	json_write_string(&w, "execution_id", exec->id);
	json_write_string(&w, "status", exec_status_name(exec->status));
	json_write_bytes(&w, "stdout", exec->out, exec->out_len);
	json_write_bytes(&w, "stderr", exec->err, exec->err_len);
	json_write_bool(&w, "truncated",
			exec->out_truncated || exec->err_truncated);
	if (value)
		json_write_bytes(&w, "result", value->data, value->data_len);
	else
		json_write_null(&w, "result");
	write_error(&w, exec);
	write_files(call, exec, &w);
	json_write_bool(&w, "state_lost", exec->state_lost);
	json_write_uint(&w, "duration_ms", exec->duration_msec);
	json_write_close(&w);
	return json_write_end(&w);
}

/* ----------------------------------------------------------------- the content */

static void add_part(struct buf *text, const void *data, size_t size)
{
	if (size == 0)
		return;
	if (text->length > 0 && text->data[text->length - 1] != '\n')
		(void)buf_add_byte(text, '\n');
	(void)buf_add(text, data, size);
}

static void add_string(struct buf *text, const char *s)
{
	if (s)
		add_part(text, s, strlen(s));
}

/* As a person at a prompt would see it. What does not fit is in the structure. */
static void write_printed(struct json_writer *w, const struct exec_view *exec)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(PRINTED_MAX);
	size_t i;

	add_part(&text, exec->out, exec->out_len);
	for (i = 0; i < exec->result_count; i++) {
		const struct exec_datum *value =
			exec_datum_find(&exec->results[i], "text/plain");

		if (value && value->data)
			add_part(&text, value->data, value->data_len);
	}
	add_part(&text, exec->err, exec->err_len);
	if (exec->error_traceback && *exec->error_traceback)
		add_string(&text, exec->error_traceback);
	else
		add_string(&text, exec->error_value);
	add_string(&text, exec_status_sentence(exec->status));
	if (exec->state_lost)
		add_string(&text, "Its variables are lost.");
	if (buf_check(&text) < 0)
		json_write_fail(w, -ENOMEM);
	if (text.length > 0)
		mcp_write_text(w, &text);
}

static void write_image(struct mcp_call *call, const struct exec_view *exec,
			const struct exec_datum *png, struct json_writer *w)
{
	struct request *req = call->req;
	struct cfile_view file;

	/* One that cannot be shown is still among the files. */
	if (core_cfile_get(req->core, &req->who, exec->container, png->file_id,
			   &file, NULL) < 0 ||
	    file.bytes > INLINE_FILE_MAX || req->out.length > IMAGES_MAX)
		return;
	json_write_object(w, NULL);
	json_write_string(w, "type", "image");
	if (!inline_file_write(req, exec->container, png->file_id, w, "data"))
		json_write_string(w, "data", "");
	json_write_string(w, "mimeType", "image/png");
	json_write_close(w);
}

static void write_images(struct mcp_call *call, const struct exec_view *exec,
			 struct json_writer *w)
{
	size_t i;

	for (i = 0; i < exec->result_count; i++) {
		const struct exec_datum *png =
			exec_datum_find(&exec->results[i], "image/png");

		if (png && !png->data)
			write_image(call, exec, png, w);
	}
}

static void write_link(struct mcp_call *call, const struct cfile_view *file,
		       struct json_writer *w)
{
	_cleanup_(buf_done) struct buf url = BUF_INIT(8192);
	const char *name = strrchr(file->path, '/') + 1;
	const char *type = media_type_of_name(name);

	if (mcp_file_url(call, file, &url) < 0)
		return;
	json_write_object(w, NULL);
	json_write_string(w, "type", "resource_link");
	json_write_string(w, "uri", buf_str(&url));
	json_write_string(w, "name", name);
	json_write_string(w, "mimeType",
			  type ? type : "application/octet-stream");
	json_write_uint(w, "size", file->bytes);
	json_write_close(w);
}

static void write_links(struct mcp_call *call, const struct exec_view *exec,
			struct json_writer *w)
{
	size_t i;

	if (strcmp(call->version, MCP_VERSION_LINKS) < 0)
		return;
	for (i = 0; i < exec->artifact_count; i++)
		if (is_given(call, &exec->artifacts[i]))
			write_link(call, &exec->artifacts[i], w);
}

void mcp_write_text(struct json_writer *w, const struct buf *text)
{
	json_write_object(w, NULL);
	json_write_string(w, "type", "text");
	json_write_bytes(w, "text", text->data, text->length);
	json_write_close(w);
}

int mcp_outcome(struct mcp_call *call, const struct exec_view *exec,
		struct error *err)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(STRUCTURE_MAX);
	struct json_writer *w;
	int r;

	r = write_structure(call, exec, &text);
	if (r < 0)
		return error_set_errno(err, r, "Cannot write a result");
	w = mcp_result(call);
	json_write_array(w, "content");
	write_printed(w, exec);
	write_images(call, exec, w);
	write_links(call, exec, w);
	if (text.length <= REPEATED_MAX)
		mcp_write_text(w, &text);
	json_write_close(w);
	json_write_raw(w, "structuredContent", buf_str(&text), text.length);
	/* An exception is what the code did; the call itself worked. */
	json_write_bool(w, "isError",
			exec->status != EXEC_OK && exec->status != EXEC_ERROR);
	return mcp_reply(call, err);
}
