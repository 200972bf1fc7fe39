/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of all files, by default ten thousand of them.
 *
 * Reading so many rows would keep everybody else waiting for tens of
 * milliseconds. So they are read in slices, and each is made when the client
 * has taken the one before; a list that fits into one is an answer like any
 * other. Files may come and go meanwhile. Where a slice ends is known by the id
 * of its last file, and should that be gone by the id of one before: none is
 * skipped and none comes twice.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/handlers.h"
#include "api/http_conn.h"
#include "api/page.h"
#include "api/reply.h"
#include "api/request.h"
#include "api/view_json.h"
#include "base/log.h"

enum {
	SLICE = 200,		/* rows at a time: less than a millisecond */
	PIECE = 16 << 10,	/* bytes that the library takes at a time */
};

/**
 * struct file_list - A list under way
 * @rest:	What is still wanted; its "after" is where the next slice begins
 * @ids:	Of the last slice, which may be longer: the last of them
 * @closed:	The whole text is made
 */
struct file_list {
	struct request *req;
	const char *purpose;	/* the query's */
	struct core_page rest;
	struct page_writer writer;
	char ids[SLICE][ID_SIZE];
	unsigned count;
	bool more;
	bool closed;
};

static void on_each(void *userdata, const struct file_view *file)
{
	struct file_list *list = userdata;

	view_json_file(&list->req->writer, NULL, file);
	page_item(&list->writer, file->id);
	(void)snprintf(list->ids[list->count++ % SLICE], ID_SIZE, "%s",
		       file->id);
}

static int read_rows(struct file_list *list, unsigned limit, struct error *err)
{
	struct request *req = list->req;
	struct core_page page = list->rest;

	page.limit = limit;
	list->count = 0;
	return core_file_list(req->core, &req->who, list->purpose, &page,
			      on_each, list, &list->more, err);
}

/* The file that the last slice ended with is gone: go back to one that is not. */
static int read_on(struct file_list *list, unsigned limit, struct error *err)
{
	unsigned at = list->count;
	unsigned oldest = at > SLICE ? at - SLICE : 0;
	int r;

	for (;;) {
		r = read_rows(list, limit, err);
		if (r >= 0 || err->code != ERR_BAD_REQUEST || at == oldest)
			return r;
		error_clear(err);
		memcpy(list->rest.after, list->ids[--at % SLICE], ID_SIZE);
	}
}

/*
 * Files that have expired take part in a slice, but not in the list. Until they
 * are removed, all of a slice may be such, which leaves nothing to go on from:
 * then the rest comes at once.
 */
static int read_slice(struct file_list *list, struct error *err)
{
	unsigned limit = list->rest.limit < SLICE ? list->rest.limit : SLICE;
	int r;

	r = read_on(list, limit, err);
	if (r >= 0 && list->count == 0 && list->more)
		r = read_rows(list, list->rest.limit, err);
	if (r < 0)
		return r;
	list->rest.limit -= list->count;
	memcpy(list->rest.after, list->writer.last, ID_SIZE);
	return 0;
}

static bool is_complete(const struct file_list *list)
{
	return !list->more || list->rest.limit == 0;
}

static int make_text(struct file_list *list)
{
	struct request *req = list->req;
	struct error err = ERROR_INIT;
	int r;

	if (is_complete(list)) {
		page_end(&list->writer, list->more);
		list->closed = true;
		return json_write_end(&req->writer);
	}
	r = read_slice(list, &err);
	if (r < 0)
		log_error(NULL, 0, "A list of files breaks off: %s",
			  err.message);
	return r;
}

static ssize_t on_read(void *userdata, uint64_t position, char *out,
		       size_t max)
{
	struct file_list *list = userdata;
	struct buf *text = &list->req->out;
	size_t size;

	(void)position;
	if (list->req->conn->left)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	if (text->length == 0 && list->closed)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (text->length == 0 && make_text(list) < 0)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	size = text->length < max ? text->length : max;
	memcpy(out, text->data, size);
	buf_consume(text, size);
	list->req->bytes += size;
	return (ssize_t)size;
}

static int list_new(struct request *req, struct file_list **ret,
		    struct error *err)
{
	struct file_list *list = calloc(1, sizeof(*list));
	int r;

	if (!list)
		return error_set_errno(err, -ENOMEM, "Cannot list files");
	req->work = list;
	req->work_free = free;
	list->req = req;
	*ret = list;
	r = page_read(req, CORE_FILES_PAGE_MAX, CORE_FILES_PAGE_MAX,
		      &list->rest, err);
	if (r < 0)
		return r;
	return uri_param(&req->uri, "purpose", &list->purpose, err);
}

int openai_files_list(struct request *req, struct error *err)
{
	struct file_list *list = NULL;
	int r;

	r = list_new(req, &list, err);
	if (r < 0)
		return r;
	page_begin(&list->writer, req);
	r = read_slice(list, err);
	if (r < 0)
		return r;
	if (is_complete(list))
		return page_reply(&list->writer, list->more, err);
	r = reply_stream(req, PIECE, on_read, NULL, list, err);
	if (r < 0)
		return r;
	reply_header(req, MHD_HTTP_HEADER_CONTENT_TYPE, "application/json");
	return ROUTE_ANSWERED;
}
