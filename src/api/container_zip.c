/* SPDX-License-Identifier: Apache-2.0 */
#include "api/container_zip.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/api_private.h"
#include "api/handlers.h"
#include "api/http_conn.h"
#include "api/reply.h"
#include "api/request.h"
#include "api/zip_names.h"
#include "api/zip_writer.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/name.h"

enum {
	/* Read from a file at a time, and sent before the next. */
	PIECE = 64 << 10,

	/* Files begun before what was made is sent: each is looked up. */
	FILES_PER_PIECE = 16,

	/* A file in the directory: fixed fields and extra ones, less than
	 * this, and its name. */
	DIRECTORY_MAX = CONTAINER_ZIP_FILES_MAX * (160 + 2 * NAME_PATH_MAX),
};

struct container_zip {
	LIST_ENTRY(container_zip) all;
	struct request *req;
	char (*ids)[ID_MAX + 1];
	size_t count;
	size_t next;
	struct zip_names *names;
	struct zip_writer *writer;
	struct buf out;			/* waits to be sent */
	int fd;				/* of the file under way, or -1 */
	uint64_t left;			/* of it */
	bool ended;
};

static void zip_free(void *userdata)
{
	struct container_zip *zip = userdata;

	if (!zip)
		return;
	LIST_REMOVE(zip, all);
	zip_writer_free(zip->writer);
	zip_names_free(zip->names);
	buf_done(&zip->out);
	close_fd(&zip->fd);
	free(zip->ids);
	free(zip);
}

static void zip_freep(struct container_zip **zip)
{
	zip_free(*zip);
}

/* ------------------------------------------------------------- the next piece */

static int begin_file(struct container_zip *zip, const char *id,
		      struct error *err)
{
	static const char data[] = "/mnt/data/";
	struct request *req = zip->req;
	const char *path, *name;
	struct cfile_view file;
	int r;

	r = core_cfile_open(req->core, &req->who, req->match.param[0], id,
			    &file, &zip->fd, err);
	if (r < 0)
		return r;
	path = file.path;
	if (strncmp(path, data, strlen(data)) == 0)
		path += strlen(data);
	name = zip_names_add(zip->names, path);
	r = name ? zip_writer_file(zip->writer, name, file.bytes,
				   file.created_at)
		 : -ENOMEM;
	zip->left = file.bytes;
	return r < 0 ? error_set_errno(err, r, "Cannot add a file") : 0;
}

static int copy_piece(struct container_zip *zip, struct error *err)
{
	uint8_t piece[PIECE];
	size_t want = zip->left < PIECE ? zip->left : PIECE;
	ssize_t n = read(zip->fd, piece, want);
	int r = n < 0 ? -errno : n == 0 ? -ENODATA : 0;

	if (r == 0)
		r = zip_writer_data(zip->writer, piece, (size_t)n);
	if (r < 0)
		return error_set_errno(err, r, "Cannot add a file's content");
	zip->left -= (size_t)n;
	return 0;
}

static int make_step(struct container_zip *zip, struct error *err)
{
	int r;

	if (zip->fd >= 0 && zip->left > 0)
		return copy_piece(zip, err);
	close_fd(&zip->fd);
	if (zip->next < zip->count)
		return begin_file(zip, zip->ids[zip->next++], err);
	zip->ended = true;
	r = zip_writer_end(zip->writer);
	return r < 0 ? error_set_errno(err, r, "Cannot end the archive") : 0;
}

static int make_piece(struct container_zip *zip, struct error *err)
{
	size_t stop = zip->next + FILES_PER_PIECE;
	int r = 0;

	while (r == 0 && !zip->ended && zip->out.length < PIECE &&
	       zip->next < stop)
		r = make_step(zip, err);
	return r;
}

static void log_failure(const struct request *req, const struct error *err)
{
	const struct log_scope scope = {
		.request_id = req->id,
		.session_id = req->container,
	};

	log_warning(&scope, 0, "An archive of files ends early: %s",
		    err->message);
}

/* The library's callback when the socket takes more. */
static ssize_t on_read(void *userdata, uint64_t position, char *out,
		       size_t max)
{
	struct container_zip *zip = userdata;
	struct request *req = zip->req;
	struct error err = ERROR_INIT;
	size_t size;

	(void)position;
	if (req->conn->left)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	if (zip->out.length == 0 && make_piece(zip, &err) < 0) {
		log_failure(req, &err);
		return MHD_CONTENT_READER_END_WITH_ERROR;
	}
	size = zip->out.length < max ? zip->out.length : max;
	if (size == 0)
		return MHD_CONTENT_READER_END_OF_STREAM;
	memcpy(out, zip->out.data, size);
	buf_consume(&zip->out, size);
	req->bytes += size;
	return (ssize_t)size;
}

/* ------------------------------------------------------------------ the begin */

static int check_count(const struct request *req, struct error *err)
{
	const struct container_zip *zip;
	unsigned count = 0;

	LIST_FOREACH(zip, &req->api->zips, all)
		count += strcmp(zip->req->who.tenant, req->who.tenant) == 0;
	if (count < CONTAINER_ZIP_TENANT_MAX)
		return 0;
	return error_set(err, ERR_LIMIT,
			 "%d archives are being fetched already; try again "
			 "when one is complete",
			 CONTAINER_ZIP_TENANT_MAX);
}

static void on_each(void *userdata, const struct cfile_view *file)
{
	struct container_zip *zip = userdata;

	(void)snprintf(zip->ids[zip->count++], sizeof(zip->ids[0]), "%s",
		       file->id);
}

/* Oldest first, so that names are the same whenever a container is fetched. */
static int list_files(struct container_zip *zip, struct error *err)
{
	const struct core_page page = { .limit = CONTAINER_ZIP_FILES_MAX,
					.ascending = true };
	struct request *req = zip->req;
	bool more = false;
	int r;

	zip->ids = calloc(CONTAINER_ZIP_FILES_MAX, sizeof(zip->ids[0]));
	if (!zip->ids)
		return error_set_errno(err, -ENOMEM, "Cannot make an archive");
	r = core_cfile_list(req->core, &req->who, req->match.param[0], &page,
			    on_each, zip, &more, err);
	if (r < 0)
		return r;
	if (more)
		return error_set(err, ERR_CONFLICT,
				 "The container has more files than the %d "
				 "that an archive may hold; fetch them one by "
				 "one", CONTAINER_ZIP_FILES_MAX);
	return 0;
}

static int zip_new(struct request *req, struct container_zip **ret,
		   struct error *err)
{
	_cleanup_(zip_freep) struct container_zip *zip = NULL;
	int r;

	zip = calloc(1, sizeof(*zip));
	if (!zip)
		return error_set_errno(err, -ENOMEM, "Cannot make an archive");
	zip->req = req;
	zip->fd = -1;
	zip->out = BUF_INIT(DIRECTORY_MAX + 2 * PIECE);
	LIST_INSERT_HEAD(&req->api->zips, zip, all);
	r = list_files(zip, err);
	if (r < 0)
		return r;
	zip->names = zip_names_new();
	zip->writer = zip_writer_new(&zip->out);
	if (!zip->names || !zip->writer)
		return error_set_errno(err, -ENOMEM, "Cannot make an archive");
	*ret = take_ptr(zip);
	return 0;
}

/* Named after the container; a slash would be no name's. */
static void add_headers(struct request *req, const char *container)
{
	char name[CORE_NAME_MAX + sizeof(".zip")];
	char *slash;

	(void)snprintf(name, sizeof(name), "%.*s.zip", CORE_NAME_MAX,
		       container);
	while ((slash = strchr(name, '/')))
		*slash = '_';
	reply_attachment(req, "application/zip", name);
}

int container_zip_get(struct request *req, struct error *err)
{
	_cleanup_(zip_freep) struct container_zip *zip = NULL;
	struct container_view view;
	int r;

	r = check_count(req, err);
	if (r >= 0)
		r = zip_new(req, &zip, err);
	if (r >= 0)
		r = core_container_get(req->core, &req->who,
				       req->match.param[0], true, &view, err);
	if (r >= 0)
		r = reply_stream(req, PIECE, on_read, zip_free, zip, err);
	if (r < 0)
		return r;
	(void)take_ptr(zip);	/* the response's */
	add_headers(req, view.name);
	return ROUTE_ANSWERED;
}
