/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/json_write.h"
#include "base/media_type.h"
#include "turn/context.h"

/* The parts of messages. */

/* struct message - One that is being written */
struct message {
	struct context *context;
	struct buf *text;
	struct json_writer *w;
	struct error *err;
};

static void write_text(struct json_writer *w, const char *type,
		       const char *key, struct json_string text)
{
	json_write_object(w, NULL);
	json_write_string(w, "type", type);
	json_write_bytes(w, key, text.data ? text.data : "", text.length);
	json_write_close(w);
}

static void write_note(struct json_writer *w, const char *text)
{
	const struct json_string note = { text, strlen(text) };

	write_text(w, "input_text", "text", note);
}

/* ---------------------------------------------------------------------- files */

/*
 * A file that was there when it was sent may have gone since. What a request
 * names itself has to be there.
 */
static int find_file(struct message *m, const char *id, struct file_view *ret,
		     int *ret_fd)
{
	const struct context_config *config = &m->context->config;
	struct error err = ERROR_INIT;
	int r;

	r = core_file_open(config->core, config->who, id, ret, ret_fd, &err);
	if (r >= 0)
		return 1;
	if (!m->context->fresh && err.code == ERR_NOT_FOUND) {
		write_note(m->w, "[A file that was here has been deleted]");
		return 0;
	}
	error_move_param(&err, "input");
	*m->err = err;
	return r;
}

static int too_large(struct message *m, const struct file_view *file)
{
	error_set(m->err, ERR_BAD_REQUEST,
		  "The file '%.64s' has %llu bytes; a model is given at most %d",
		  file->id, (unsigned long long)file->bytes,
		  CONTEXT_IMAGE_MAX);
	error_set_param(m->err, "input");
	return -EINVAL;
}

/* Its bytes, as "data:TYPE;base64,…". */
static int write_data_url(struct message *m, const char *key, int fd,
			  const struct file_view *file)
{
	_cleanup_(buf_done) struct buf bytes = BUF_INIT(CONTEXT_IMAGE_MAX);
	_cleanup_(buf_done) struct buf url =
		BUF_INIT(BASE64_SIZE(CONTEXT_IMAGE_MAX) + 256);
	const char *type = media_type_of_name(file->filename);
	void *room;
	int r;

	if (file->bytes > CONTEXT_IMAGE_MAX)
		return too_large(m, file);
	r = fs_read_fd(fd, (size_t)file->bytes, &bytes);
	if (r >= 0)
		r = buf_printf(&url, "data:%s;base64,",
			       type ? type : "application/octet-stream");
	if (r >= 0)
		r = buf_reserve(&url, BASE64_SIZE(bytes.length) + 1, &room);
	if (r < 0)
		return r;
	base64_encode(bytes.data, bytes.length, room);
	buf_commit(&url, BASE64_SIZE(bytes.length));
	json_write_bytes(m->w, key, url.data, url.length);
	return 0;
}

static int lower_image(struct message *m, const struct json_object *part)
{
	struct json_string id = json_string_of(json_member(part, "file_id"));
	struct json_string url = json_string_of(json_member(part, "image_url"));
	const struct json_object *detail = json_member(part, "detail");
	_cleanup_close_ int fd = -1;
	struct file_view file;
	int r = 1;

	if (!url.data && id.data)
		r = find_file(m, id.data, &file, &fd);
	if (r <= 0 || (!url.data && !id.data))
		return r < 0 ? r : 0;
	json_write_object(m->w, NULL);
	json_write_string(m->w, "type", "input_image");
	r = 0;
	if (url.data)
		json_write_bytes(m->w, "image_url", url.data, url.length);
	else
		r = write_data_url(m, "image_url", fd, &file);
	if (detail)
		json_write_value(m->w, "detail", detail);
	json_write_close(m->w);
	return r;
}

/* Its bytes are for code, if there is an interpreter, else for the model. */
static int lower_data(struct message *m, const struct json_object *part)
{
	struct json_string name = json_string_of(json_member(part, "filename"));
	struct json_string url = json_string_of(json_member(part, "file_data"));

	if (m->context->config.interpreter && name.data && url.data)
		return context_take_data(m->context, name.data, url.data,
					 m->text, m->w, m->err);
	json_write_value(m->w, NULL, part);
	return 0;
}

static int lower_file(struct message *m, const struct json_object *part)
{
	struct json_string id = json_string_of(json_member(part, "file_id"));
	_cleanup_close_ int fd = -1;
	struct file_view file;
	int r;

	if (!id.data)
		return lower_data(m, part);
	r = find_file(m, id.data, &file, &fd);
	if (r <= 0)
		return r;
	if (m->context->config.interpreter)
		return context_take_upload(m->context, &file, m->text, m->w,
					   m->err);
	json_write_object(m->w, NULL);
	json_write_string(m->w, "type", "input_file");
	json_write_string(m->w, "filename", file.filename);
	r = write_data_url(m, "file_data", fd, &file);
	json_write_close(m->w);
	return r;
}

/* ---------------------------------------------------------------------- parts */

static int lower_part(struct message *m, const struct json_object *part)
{
	struct json_string type = json_string_of(json_member(part, "type"));

	if (!type.data)
		return 0;
	if (strcmp(type.data, "input_text") == 0 ||
	    strcmp(type.data, "output_text") == 0)
		write_text(m->w, type.data, "text",
			   json_string_of(json_member(part, "text")));
	else if (strcmp(type.data, "refusal") == 0)
		write_text(m->w, type.data, "refusal",
			   json_string_of(json_member(part, "refusal")));
	else if (strcmp(type.data, "input_image") == 0)
		return lower_image(m, part);
	else if (strcmp(type.data, "input_file") == 0)
		return lower_file(m, part);
	return 0;
}

int context_add_message(struct context *c, const struct json_object *item,
			struct error *err)
{
	_cleanup_(buf_done) struct buf text = context_begin(c);
	struct json_writer w = JSON_WRITER_INIT(&text);
	struct message m = { c, &text, &w, err };
	const struct json_object *content = json_member(item, "content");
	struct json_string role = json_string_of(json_member(item, "role"));
	int r = 0;

	json_write_object(&w, NULL);
	json_write_string(&w, "type", "message");
	json_write_string(&w, "role", role.data ? role.data : "user");
	json_write_array(&w, "content");
	for (size_t i = 0; i < json_array_size(content) && r >= 0; i++)
		r = lower_part(&m, json_array_at(content, i));
	json_write_close(&w);
	json_write_close(&w);
	return r < 0 ? r : context_add_item(c, &text, json_write_end(&w));
}
