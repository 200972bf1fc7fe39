/* SPDX-License-Identifier: Apache-2.0 */
/* The list of all files, by default ten thousand of them. */
#include <errno.h>
#include <stdlib.h>

#include "api/handlers.h"
#include "api/page.h"
#include "api/request.h"
#include "api/slices.h"
#include "api/view_json.h"

/** struct file_list - A list under way, the work of its request */
struct file_list {
	struct slices slices;
	const char *purpose;	/* the query's */
	struct page_writer writer;
};

static void on_each(void *userdata, const struct file_view *file)
{
	struct file_list *list = userdata;

	view_json_file(&list->slices.req->writer, NULL, file);
	page_item(&list->writer, file->id);
	slices_row(&list->slices, file->id);
}

static int read_page(void *userdata, const struct core_page *page,
		     bool *ret_more, struct error *err)
{
	struct file_list *list = userdata;
	struct request *req = list->slices.req;

	return core_file_list(req->core, &req->who, list->purpose, page,
			      on_each, list, ret_more, err);
}

static void close_list(void *userdata)
{
	struct file_list *list = userdata;

	page_end(&list->writer, list->slices.more);
}

int openai_files_list(struct request *req, struct error *err)
{
	struct file_list *list = calloc(1, sizeof(*list));
	int r;

	if (!list)
		return error_set_errno(err, -ENOMEM, "Cannot list files");
	req->work = list;
	req->work_free = free;
	list->slices.req = req;
	list->slices.read = read_page;
	list->slices.close = close_list;
	list->slices.userdata = list;
	r = page_read(req, CORE_FILES_PAGE_MAX, CORE_FILES_PAGE_MAX,
		      &list->slices.rest, err);
	if (r >= 0)
		r = uri_param(&req->uri, "purpose", &list->purpose, err);
	if (r < 0)
		return r;
	page_begin(&list->writer, req);
	return slices_reply(&list->slices, err);
}
