/* SPDX-License-Identifier: Apache-2.0 */
/* The operator's calls about what programs left. */
#include <errno.h>
#include <string.h>

#include "api/handlers.h"
#include "api/page.h"
#include "api/reply.h"
#include "api/request.h"
#include "api/view_json.h"
#include "base/cleanup.h"

enum { PAGE_DEFAULT = 100 };

static void on_artifact(void *userdata, const struct cfile_view *file,
			const char *tenant)
{
	struct page_writer *page = userdata;
	struct json_writer *w = &page->req->writer;

	json_write_object(w, NULL);
	json_write_string(w, "tenant", tenant);
	view_json_cfile_members(w, file);
	json_write_close(w);
	page_item(page, file->id);
}

int admin_artifacts_list(struct request *req, struct error *err)
{
	struct page_writer writer;
	struct core_page page;
	bool more = false;
	int r;

	r = page_read(req, CORE_PAGE_MAX, PAGE_DEFAULT, &page, err);
	if (r < 0)
		return r;
	page_begin(&writer, req);
	r = core_admin_artifacts(req->core, &page, on_artifact, &writer, &more,
				 err);
	return r < 0 ? r : page_reply(&writer, more, err);
}

int admin_artifacts_content(struct request *req, struct error *err)
{
	_cleanup_close_ int fd = -1;
	struct cfile_view file;
	int r;

	r = core_admin_artifact_open(req->core, req->match.param[0], &file, &fd,
				     err);
	return r < 0 ? r : reply_cfile(req, &fd, &file, err);
}

static void on_deleted(void *userdata, const struct error *err)
{
	reply_deleted(userdata, "container.file", err);
}

int admin_artifacts_delete(struct request *req, struct error *err)
{
	int r;

	r = core_admin_artifact_delete(req->core, req->match.param[0],
				       on_deleted, req, err);
	return r < 0 ? r : ROUTE_PENDING;
}
