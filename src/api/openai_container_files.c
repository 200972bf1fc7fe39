/* SPDX-License-Identifier: Apache-2.0 */
/* The OpenAI container files API: files that are, or were, in a container. */
#include <errno.h>
#include <string.h>

#include "api/handlers.h"
#include "api/page.h"
#include "api/reply.h"
#include "api/request.h"
#include "api/view_json.h"
#include "base/cleanup.h"
#include "base/json.h"

enum { PAGE_DEFAULT = 20 };

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
	struct error failure = ERROR_INIT;

	if (error_is_set(err)) {
		request_failed(req, err);
		return;
	}
	view_json_cfile(reply_writer(req), NULL, file);
	request_finish(req, reply_json(req, MHD_HTTP_OK, &failure), &failure);
}

static int refuse_without_file(struct error *err)
{
	error_set(err, ERR_BAD_REQUEST,
		  "There is neither a part 'file' with a file name nor a "
		  "'file_id'");
	error_set_param(err, "file");
	error_set_reason(err, "missing_required_parameter");
	return -EINVAL;
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
			    fields.file_id.data, on_created, req, err);
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

int openai_container_files_list(struct request *req, struct error *err)
{
	struct page_writer writer;
	struct core_page page;
	bool more = false;
	int r;

	r = page_read(req, CORE_PAGE_MAX, PAGE_DEFAULT, &page, err);
	if (r < 0)
		return r;
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
	if (r < 0)
		return r;
	r = reply_file(req, fd, file.bytes, strrchr(file.path, '/') + 1,
		       file.sha256, err);
	if (r < 0)
		return r;
	(void)take_fd(fd);
	return ROUTE_ANSWERED;
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
