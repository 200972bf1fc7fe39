/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dynamic sessions: the list of files, in both families.
 *
 * The old family has no links, so its answer is the whole list, however long
 * it is; the new one's ends after a page.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/handlers.h"
#include "api/reply.h"
#include "api/request.h"
#include "api/sessions.h"
#include "api/sessions_files.h"
#include "api/slices.h"
#include "base/buf.h"
#include "base/cleanup.h"

enum {
	/* Files of one answer that can have a link to the next ones. */
	FILES_PAGE = 1000,
};

/**
 * struct file_list - A list under way, the work of its request
 * @directory:	Files in it are shown, with "recursive" those below it, too
 * @seen:	Directories shown already, each with a NUL
 * @id:		"$id" that was given last
 */
struct file_list {
	struct slices slices;
	struct session_call call;
	char directory[NAME_PATH_MAX + 1];
	bool recursive;
	struct buf seen;
	unsigned id;
};

static void list_free(void *work)
{
	struct file_list *list = work;

	buf_done(&list->seen);
	free(list);
}

/* -------------------------------------------------------------------- its text */

static bool was_seen(const struct buf *seen, const char *name, size_t size)
{
	size_t i = 0;

	while (i < seen->length) {
		const char *one = buf_str(seen) + i;
		size_t length = strlen(one);

		if (length == size && memcmp(one, name, size) == 0)
			return true;
		i += length + 1;
	}
	return false;
}

static void write_directory(struct file_list *list, const char *name,
			    size_t size)
{
	struct json_writer *w = &list->slices.req->writer;

	if (was_seen(&list->seen, name, size) ||
	    buf_add(&list->seen, name, size) < 0 ||
	    buf_add_byte(&list->seen, 0) < 0)
		return;
	json_write_object(w, NULL);
	json_write_bytes(w, "name", name, size);
	json_write_string(w, "type", "directory");
	json_write_string(w, "directory",
			  *list->directory ? list->directory : ".");
	json_write_close(w);
}

static void write_file(struct file_list *list, const struct cfile_view *file)
{
	const char *path = file->path + strlen(SESSION_DATA_DIR);
	struct json_writer *w = &list->slices.req->writer;
	size_t size = strlen(list->directory);
	const char *slash;

	if (list->call.wrapped) {
		session_file_wrapped(w, file, &list->id);
		return;
	}
	if (size > 0) {
		if (strncmp(path, list->directory, size) != 0 ||
		    path[size] != '/')
			return;
		path += size + 1;
	}
	slash = strchr(path, '/');
	if (slash && !list->recursive)
		write_directory(list, path, (size_t)(slash - path));
	else
		session_file_entry(w, file);
}

static void on_each(void *userdata, const struct cfile_view *file)
{
	struct file_list *list = userdata;

	write_file(list, file);
	slices_row(&list->slices, file->id);
}

static int read_page(void *userdata, const struct core_page *page,
		     bool *ret_more, struct error *err)
{
	struct file_list *list = userdata;
	struct request *req = list->slices.req;

	return core_cfile_list(req->core, &req->who, req->container, page,
			       on_each, list, ret_more, err);
}

static void write_next(struct file_list *list)
{
	_cleanup_(buf_done) struct buf link = BUF_INIT(16384);
	struct request *req = list->slices.req;
	const char *version = NULL;

	(void)uri_param(&req->uri, "api-version", &version, NULL);
	if (!list->slices.more ||
	    buf_printf(&link, "/pools/%s/files?api-version=", req->match.pool) <
		    0 ||
	    uri_escape(version, &link) < 0 ||
	    buf_add_str(&link, "&identifier=") < 0 ||
	    uri_escape(list->call.identifier, &link) < 0 ||
	    buf_add_str(&link, "&path=") < 0 ||
	    uri_escape(list->directory, &link) < 0 ||
	    buf_printf(&link, "&recursive=%s&after=%s",
		       list->recursive ? "true" : "false",
		       list->slices.rest.after) < 0)
		json_write_null(&req->writer, "nextLink");
	else
		json_write_string(&req->writer, "nextLink", buf_str(&link));
}

static void close_list(void *userdata)
{
	struct file_list *list = userdata;
	struct json_writer *w = &list->slices.req->writer;

	json_write_close(w);
	if (list->call.wrapped)
		json_write_string(w, "$id", "1");
	else
		write_next(list);
	json_write_close(w);
}

/* ---------------------------------------------------------------- what is asked */

static int read_list(struct file_list *list, struct error *err)
{
	struct request *req = list->slices.req;
	struct core_page *rest = &list->slices.rest;
	const char *recursive, *after;
	int r;

	r = session_call_read(req, NULL, &list->call, err);
	if (r >= 0)
		r = session_directory_read(req, list->directory, err);
	if (r >= 0)
		r = uri_param(&req->uri, "recursive", &recursive, err);
	if (r >= 0)
		r = uri_param(&req->uri, "after", &after, err);
	if (r < 0)
		return r;
	list->recursive = recursive && strcasecmp(recursive, "true") == 0;
	rest->ascending = true;
	rest->limit = list->call.wrapped ? UINT_MAX : FILES_PAGE;
	if (after)
		(void)snprintf(rest->after, sizeof(rest->after), "%s", after);
	return 0;
}

/* A session that there is not has no files, and is not made to say so. */
static int reply_list(struct file_list *list, struct error *err)
{
	struct request *req = list->slices.req;
	struct json_writer *w = reply_writer(req);
	struct container_view view;
	int r;

	json_write_object(w, NULL);
	json_write_array(w, "value");
	r = session_find(req, &list->call, false, &view, err);
	if (r >= 0)
		return slices_reply(&list->slices, err);
	if (r != -ENOENT)
		return r;
	error_clear(err);
	close_list(list);
	return reply_json(req, MHD_HTTP_OK, err);
}

int sessions_files_list(struct request *req, struct error *err)
{
	struct file_list *list = calloc(1, sizeof(*list));
	int r;

	if (!list)
		return error_set_errno(err, -ENOMEM, "Cannot list files");
	req->work = list;
	req->work_free = list_free;
	list->slices.req = req;
	list->slices.read = read_page;
	list->slices.close = close_list;
	list->slices.userdata = list;
	list->seen = BUF_INIT(FILES_PAGE * (NAME_FILE_MAX + 1));
	list->id = 1;
	r = read_list(list, err);
	return r < 0 ? r : reply_list(list, err);
}
