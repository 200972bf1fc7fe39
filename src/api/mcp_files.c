/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "api/inline_file.h"
#include "api/mcp.h"
#include "api/origin.h"
#include "api/request.h"
#include "api/uri.h"
#include "base/base64.h"
#include "base/cleanup.h"
#include "base/media_type.h"
#include "base/name.h"

#define DATA_DIR "/mnt/data/"

enum {
	/* Files of one list; all of a container are there as resources. */
	FILES_MAX = 1000,
	STRUCTURE_MAX = 16 << 20,
};

struct file_fields {
	struct json_string path;
	struct json_string content;
	struct json_string encoding;
	struct json_string container;
};

static const char *const encodings[] = { "utf-8", "base64", NULL };

static const struct json_field upload_table[] = {
	JSON_STRING_FIELD("path", struct file_fields, path, .required = true,
			  .min = 1),
	JSON_STRING_FIELD("content", struct file_fields, content,
			  .required = true, .text = true),
	JSON_STRING_FIELD("encoding", struct file_fields, encoding,
			  .choices = encodings),
	JSON_STRING_FIELD("container_id", struct file_fields, container,
			  .min = 1, .max = ID_MAX),
};

static const struct json_field list_table[] = {
	JSON_STRING_FIELD("container_id", struct file_fields, container,
			  .min = 1, .max = ID_MAX),
};

static const struct json_field read_table[] = {
	JSON_STRING_FIELD("path", struct file_fields, path, .required = true,
			  .min = 1),
	JSON_STRING_FIELD("container_id", struct file_fields, container,
			  .min = 1, .max = ID_MAX),
};

#define READ(call, table, ret, err)                                            \
	json_read_fields((call)->arguments, NULL, table,                       \
			 sizeof(table) / sizeof((table)[0]),                   \
			 JSON_UNKNOWN_IGNORED, ret, err)

/* ------------------------------------------------------------- how a file is shown */

int mcp_file_url(struct mcp_call *call, const struct cfile_view *file,
		 struct buf *b)
{
	int r = origin_write(call->req, b);

	return r < 0 ? r
		     : buf_printf(b, "/v1/containers/%s/files/%s/content",
				  file->container, file->id);
}

static const char *type_of(const char *path)
{
	const char *type = media_type_of_name(strrchr(path, '/') + 1);

	return type ? type : "application/octet-stream";
}

void mcp_write_file(struct mcp_call *call, struct json_writer *w,
		    const char *key, const struct cfile_view *file)
{
	_cleanup_(buf_done) struct buf url = BUF_INIT(8192);

	(void)mcp_file_url(call, file, &url);
	json_write_object(w, key);
	json_write_string(w, "id", file->id);
	json_write_string(w, "path", file->path);
	json_write_uint(w, "bytes", file->bytes);
	json_write_string(w, "mime_type", type_of(file->path));
	json_write_int(w, "created_at", file->created_at);
	json_write_string(w, "url", buf_str(&url));
	json_write_close(w);
}

/* "sub/a.csv" of "/mnt/data/sub/a.csv", checked. */
static int read_path(struct json_string path, char ret[NAME_PATH_MAX + 1],
		     struct error *err)
{
	const char *data = path.data;
	size_t size = path.length;
	int r;

	if (size > strlen(DATA_DIR) &&
	    memcmp(data, DATA_DIR, strlen(DATA_DIR)) == 0) {
		data += strlen(DATA_DIR);
		size -= strlen(DATA_DIR);
	}
	r = name_check_path(data, size, err);
	if (r < 0)
		return error_wrap(err, r, "'path' is not valid");
	(void)snprintf(ret, NAME_PATH_MAX + 1, "%.*s", (int)size, data);
	return 0;
}

/* ---------------------------------------------------------------------- the answer */

/* Begins the structure that all of these results have. */
static void begin_structure(struct json_writer *w, const char *container)
{
	json_write_object(w, NULL);
	json_write_string(w, "container_id", container);
}

/* The last content, and the structure; @w is within "content". */
static int end_result(struct mcp_call *call, struct json_writer *w,
		      const struct buf *text, struct error *err)
{
	mcp_write_text(w, text);
	json_write_close(w);
	json_write_raw(w, "structuredContent", buf_str(text), text->length);
	return mcp_reply(call, err);
}

static int write_one(struct mcp_call *call, const struct cfile_view *file,
		     struct buf *text, struct error *err)
{
	struct json_writer w = JSON_WRITER_INIT(text);
	int r;

	begin_structure(&w, file->container);
	mcp_write_file(call, &w, "file", file);
	json_write_close(&w);
	r = json_write_end(&w);
	return r < 0 ? error_set_errno(err, r, "Cannot write a result") : 0;
}

/* ------------------------------------------------------------------------- upload */

static void on_created(void *userdata, const struct cfile_view *file,
		       const struct error *err)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(STRUCTURE_MAX);
	struct request *req = userdata;
	struct mcp_call *call = req->work;
	struct error failure = ERROR_INIT;
	struct json_writer *w;
	int r;

	if (!request_is_paid(req))
		return;
	if (error_is_set(err)) {
		failure = *err;
		mcp_settle(call, -EIO, &failure);
		return;
	}
	r = write_one(call, file, &text, &failure);
	if (r >= 0) {
		w = mcp_result(call);
		json_write_array(w, "content");
		r = end_result(call, w, &text, &failure);
	}
	mcp_settle(call, r, &failure);
}

static int place_upload(struct mcp_call *call, struct error *err)
{
	struct request *req = call->req;
	char path[NAME_PATH_MAX + 1];
	struct file_fields fields = { .path = { NULL, 0 } };
	int r;

	r = READ(call, upload_table, &fields, err);
	if (r >= 0)
		r = read_path(fields.path, path, err);
	if (r >= 0)
		r = core_cfile_create(req->core, &req->who, req->container,
				      path, call->upload, on_created, req, err);
	if (r < 0)
		return r;
	call->upload = NULL;	/* core's now */
	return ROUTE_PENDING;
}

/* As much as the disk takes now. Return: 0, -EAGAIN, or an error */
static int feed_upload(struct mcp_call *call, struct error *err)
{
	enum { PIECE = 256 << 10 };
	int r = 0;

	while (r >= 0 && call->sent < call->bytes.length) {
		size_t size = call->bytes.length - call->sent;

		size = size < PIECE ? size : PIECE;
		r = core_upload_write(call->upload,
				      call->bytes.data + call->sent, size,
				      err);
		if (r >= 0)
			call->sent += size;
	}
	return r;
}

static void on_room(void *userdata)
{
	struct mcp_call *call = userdata;
	struct error failure = ERROR_INIT;
	int r;

	if (!request_is_paid(call->req))
		return;
	r = feed_upload(call, &failure);
	if (r >= 0)
		r = place_upload(call, &failure);
	else if (r == -EAGAIN)
		r = ROUTE_PENDING;
	mcp_settle(call, r, &failure);
}

/* While the disk is behind, it is core that owes: it calls when it is not. */
static int begin_upload(struct mcp_call *call, struct error *err)
{
	struct request *req = call->req;
	int r;

	r = core_upload_new(req->core, &req->who, req->container,
			    call->bytes.length, on_room, call, &call->upload,
			    err);
	if (r >= 0)
		r = feed_upload(call, err);
	if (r == -EAGAIN)
		return ROUTE_PENDING;
	return r < 0 ? r : place_upload(call, err);
}

static int decode(struct mcp_call *call, const struct file_fields *fields,
		  struct error *err)
{
	struct json_string content = fields->content;
	void *room;
	ssize_t n;
	int r;

	call->bytes = BUF_INIT(content.length + 1);
	if (!fields->encoding.data || strcmp(fields->encoding.data, "utf-8") ==
					      0) {
		r = buf_add(&call->bytes, content.data, content.length);
		return r < 0 ? error_set_errno(err, r, "Cannot take a file")
			     : 0;
	}
	r = buf_reserve(&call->bytes, content.length + 1, &room);
	if (r < 0)
		return error_set_errno(err, r, "Cannot take a file");
	n = strlen(content.data) == content.length
		    ? base64_decode(content.data, room, content.length)
		    : -EINVAL;
	if (n < 0)
		return mcp_argument_error(err, "content", "is not base64");
	buf_commit(&call->bytes, (size_t)n);
	return 0;
}

int mcp_upload_file(struct mcp_call *call, struct error *err)
{
	struct file_fields fields = { .path = { NULL, 0 } };
	char path[NAME_PATH_MAX + 1];
	int r;

	r = READ(call, upload_table, &fields, err);
	/* Before a container is made for nothing. */
	if (r >= 0)
		r = read_path(fields.path, path, err);
	if (r >= 0)
		r = decode(call, &fields, err);
	return r < 0 ? r
		     : mcp_container_open(call, fields.container.data,
					  begin_upload, err);
}

/* --------------------------------------------------------------------------- list */

struct file_list {
	struct mcp_call *call;
	struct json_writer *w;
	unsigned count;
	char last[ID_SIZE];
};

static void on_each(void *userdata, const struct cfile_view *file)
{
	struct file_list *list = userdata;

	mcp_write_file(list->call, list->w, NULL, file);
	strcpy(list->last, file->id);
	list->count++;
}

static int write_files(struct file_list *list, bool *ret_more,
		       struct error *err)
{
	struct core_page page = { .limit = CORE_PAGE_MAX, .ascending = true };
	struct request *req = list->call->req;
	int r = 0;

	*ret_more = true;
	while (r >= 0 && *ret_more && list->count < FILES_MAX) {
		strcpy(page.after, list->last);
		r = core_cfile_list(req->core, &req->who, req->container, &page,
				    on_each, list, ret_more, err);
	}
	return r;
}

int mcp_list_files(struct mcp_call *call, struct error *err)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(STRUCTURE_MAX);
	struct file_fields fields = { .path = { NULL, 0 } };
	struct json_writer w = JSON_WRITER_INIT(&text), *result;
	struct file_list list = { .call = call, .w = &w };
	bool more = false;
	int r, found;

	r = READ(call, list_table, &fields, err);
	if (r >= 0)
		r = mcp_container_find(call, fields.container.data, err);
	if (r < 0)
		return r;
	found = r;
	begin_structure(&w, found ? call->req->container : NULL);
	json_write_array(&w, "files");
	if (found)
		r = write_files(&list, &more, err);
	json_write_close(&w);
	json_write_bool(&w, "has_more", more);
	json_write_close(&w);
	if (r >= 0)
		r = json_write_end(&w);
	if (r < 0)
		return error_set_errno(err, r, "Cannot list files");
	result = mcp_result(call);
	json_write_array(result, "content");
	return end_result(call, result, &text, err);
}

/* --------------------------------------------------------------------------- read */

static void write_content(struct mcp_call *call, struct json_writer *w,
			  const struct cfile_view *file, const struct buf *bytes)
{
	_cleanup_(buf_done) struct buf url = BUF_INIT(8192);
	const char *type = type_of(file->path);

	if (utf8_is_valid(bytes->data, bytes->length)) {
		mcp_write_text(w, bytes);
		return;
	}
	json_write_object(w, NULL);
	if (strncmp(type, "image/", strlen("image/")) == 0) {
		json_write_string(w, "type", "image");
		json_write_base64(w, "data", bytes->data, bytes->length);
		json_write_string(w, "mimeType", type);
	} else {
		(void)mcp_file_url(call, file, &url);
		json_write_string(w, "type", "resource");
		json_write_object(w, "resource");
		json_write_string(w, "uri", buf_str(&url));
		json_write_string(w, "mimeType", type);
		json_write_base64(w, "blob", bytes->data, bytes->length);
		json_write_close(w);
	}
	json_write_close(w);
}

static int reply_file_content(struct mcp_call *call,
			      const struct cfile_view *file, struct error *err)
{
	_cleanup_(buf_done) struct buf bytes = BUF_INIT(INLINE_FILE_MAX);
	_cleanup_(buf_done) struct buf text = BUF_INIT(STRUCTURE_MAX);
	struct json_writer *w;
	int r;

	r = inline_file_content(call->req, file, &bytes, err);
	if (r >= 0)
		r = write_one(call, file, &text, err);
	if (r < 0)
		return r;
	w = mcp_result(call);
	json_write_array(w, "content");
	write_content(call, w, file, &bytes);
	return end_result(call, w, &text, err);
}

int mcp_read_file(struct mcp_call *call, struct error *err)
{
	char path[NAME_PATH_MAX + 1], whole[NAME_PATH_MAX + sizeof(DATA_DIR)];
	struct file_fields fields = { .path = { NULL, 0 } };
	struct request *req = call->req;
	struct cfile_view file;
	int r;

	r = READ(call, read_table, &fields, err);
	if (r >= 0)
		r = read_path(fields.path, path, err);
	if (r >= 0)
		r = mcp_container_find(call, fields.container.data, err);
	if (r == 0)
		r = error_set(err, ERR_NOT_FOUND,
			      "There is no container yet, and no file: say "
			      "which one by 'container_id'");
	if (r < 0)
		return r;
	(void)snprintf(whole, sizeof(whole), "%s%s", DATA_DIR, path);
	r = core_cfile_find(req->core, &req->who, req->container, whole, &file,
			    err);
	return r < 0 ? r : reply_file_content(call, &file, err);
}
