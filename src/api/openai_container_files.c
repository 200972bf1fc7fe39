/* SPDX-License-Identifier: Apache-2.0 */
/* The OpenAI container files API: files that are, or were, in a container. */
#include <errno.h>
#include <string.h>

#include "api/handlers.h"
#include "api/page.h"
#include "api/reply.h"
#include "api/request.h"
#include "api/view_json.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json.h"

enum { PAGE_DEFAULT = 20 };

/* What a path that is not absolute is below of. */
#define DATA_DIR "/mnt/data/"

/* Longer than any target that is let in. */
#define PATH_TEXT_MAX (64 * 1024)

struct copy_fields {
	struct json_string file_id;
};

static const struct json_field copy_table[] = {
	JSON_STRING_FIELD("file_id", struct copy_fields, file_id, .min = 1,
			  .max = ID_MAX),
};

static void on_created(void *userdata, const struct cfile_view *file,
		       const struct error *err)
{
	struct request *req = userdata;

	if (reply_failure(req, err))
		return;
	view_json_cfile(reply_writer(req), NULL, file);
	reply_ok(req);
}

static int refuse_without_file(struct error *err)
{
	return error_refuse(err, "file", "missing_required_parameter",
			    "There is neither a part 'file' with a file name "
			    "nor a 'file_id'");
}

static int create_from_form(struct request *req, struct error *err)
{
	struct body *body = &req->body;
	int r;

	if (!body->filename)
		return refuse_without_file(err);
	r = core_cfile_create(req->core, &req->who, req->match.param[0],
			      body->filename, body->upload, on_created, req,
			      err);
	if (r < 0)
		return r;
	body->upload = NULL;	/* core's now */
	return ROUTE_PENDING;
}

static int create_from_json(struct request *req, struct error *err)
{
	struct copy_fields fields = { .file_id = { NULL, 0 } };
	struct json_object *object;
	int r;

	r = request_json(req, &object, err);
	if (r < 0)
		return r;
	r = json_read_fields(object, NULL, copy_table, 1, JSON_UNKNOWN_IGNORED,
			     &fields, err);
	if (r < 0)
		return r;
	if (!fields.file_id.data)
		return refuse_without_file(err);
	r = core_cfile_copy(req->core, &req->who, req->match.param[0],
			    fields.file_id.data, NULL, on_created, req,
			    err);
	return r < 0 ? r : ROUTE_PENDING;
}

int openai_container_files_create(struct request *req, struct error *err)
{
	return req->body.is_form ? create_from_form(req, err)
				 : create_from_json(req, err);
}

static void on_each(void *userdata, const struct cfile_view *file)
{
	struct page_writer *page = userdata;

	view_json_cfile(&page->req->writer, NULL, file);
	page_item(page, file->id);
}

/* Return: 1 if there is a file of this name in the container, 0 if not */
static int find_file(struct request *req, const char *path,
		     struct cfile_view *ret, struct error *err)
{
	const char *container = req->match.param[0];
	_cleanup_(buf_done) struct buf absolute = BUF_INIT(PATH_TEXT_MAX);
	struct error missing = ERROR_INIT;
	struct container_view view;
	int r = 0;

	if (path[0] != '/')
		r = buf_add_str(&absolute, DATA_DIR);
	if (r >= 0)
		r = buf_add_str(&absolute, path);
	if (r < 0)
		return error_set_errno(err, r, "Cannot look up a file");
	r = core_cfile_find(req->core, &req->who, container, buf_str(&absolute),
			    ret, &missing);
	if (r >= 0)
		return 1;
	if (missing.code == ERR_NOT_FOUND)
		return core_container_get(req->core, &req->who, container, true,
					  &view, err);
	*err = missing;
	return r;
}

/* The list of the one file that has this name, or of none. */
static int list_found(struct request *req, const char *path, struct error *err)
{
	struct page_writer writer;
	struct cfile_view file;
	int r;

	r = find_file(req, path, &file, err);
	if (r < 0)
		return r;
	page_begin(&writer, req);
	if (r > 0)
		on_each(&writer, &file);
	return page_reply(&writer, false, err);
}

int openai_container_files_list(struct request *req, struct error *err)
{
	struct page_writer writer;
	struct core_page page;
	const char *path;
	bool more = false;
	int r;

	r = page_read(req, CORE_PAGE_MAX, PAGE_DEFAULT, &page, err);
	if (r >= 0)
		r = uri_param(&req->uri, "path", &path, err);
	if (r < 0)
		return r;
	if (path)
		return list_found(req, path, err);
	page_begin(&writer, req);
	r = core_cfile_list(req->core, &req->who, req->match.param[0], &page,
			    on_each, &writer, &more, err);
	if (r < 0)
		return r;
	return page_reply(&writer, more, err);
}

int openai_container_files_get(struct request *req, struct error *err)
{
	struct cfile_view file;
	int r;

	r = core_cfile_get(req->core, &req->who, req->match.param[0],
			   req->match.param[1], &file, err);
	if (r < 0)
		return r;
	view_json_cfile(reply_writer(req), NULL, &file);
	return reply_json(req, MHD_HTTP_OK, err);
}

int openai_container_files_content(struct request *req, struct error *err)
{
	_cleanup_close_ int fd = -1;
	struct cfile_view file;
	int r;

	r = core_cfile_open(req->core, &req->who, req->match.param[0],
			    req->match.param[1], &file, &fd, err);
	return r < 0 ? r : reply_cfile(req, &fd, &file, err);
}

static void on_deleted(void *userdata, const struct error *err)
{
	reply_deleted(userdata, "container.file.deleted", err);
}

int openai_container_files_delete(struct request *req, struct error *err)
{
	int r;

	r = core_cfile_delete(req->core, &req->who, req->match.param[0],
			      req->match.param[1], on_deleted, req, err);
	return r < 0 ? r : ROUTE_PENDING;
}
