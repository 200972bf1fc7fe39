/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dynamic sessions: files, in both families.
 *
 * The old family knows names only, and everything is in one directory; the new
 * one has a directory in "path". Both are names below /mnt/data here.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/handlers.h"
#include "api/reply.h"
#include "api/request.h"
#include "api/sessions.h"
#include "api/sessions_files.h"
#include "base/cleanup.h"
#include "base/media_type.h"
#include "base/name.h"

/* --------------------------------------------------------------- which file it is */

int session_directory_read(struct request *req, char ret[NAME_PATH_MAX + 1],
			   struct error *err)
{
	const char *path;
	size_t size;
	int r;

	*ret = '\0';
	r = uri_param(&req->uri, "path", &path, err);
	if (r < 0 || !path)
		return r;
	if (strncmp(path, SESSION_DATA_DIR, strlen(SESSION_DATA_DIR)) == 0)
		path += strlen(SESSION_DATA_DIR);
	path += strspn(path, "/");
	if (strcmp(path, ".") == 0)
		path = "";
	size = strlen(path);
	while (size > 0 && path[size - 1] == '/')
		size--;
	if (size == 0)
		return 0;
	r = name_check_path(path, size, err);
	if (r < 0) {
		error_set_param(err, "path");
		return error_wrap(err, r, "'path' is not valid");
	}
	(void)snprintf(ret, NAME_PATH_MAX + 1, "%.*s", (int)size, path);
	return 0;
}

/* The path of a file that a call names, relative to the data directory. */
static int read_path(struct request *req, const char *name,
		     char ret[NAME_PATH_MAX + 1], struct error *err)
{
	char directory[NAME_PATH_MAX + 1];
	const char *base;
	size_t size;
	int r, n;

	r = session_directory_read(req, directory, err);
	if (r < 0)
		return r;
	/* Semantic Kernel names files with their whole path. */
	base = name_base(name, strlen(name), &size);
	r = name_check_file(base, size, err);
	if (r < 0) {
		error_set_param(err, "filename");
		return error_wrap(err, r, "The file name is not valid");
	}
	n = snprintf(ret, NAME_PATH_MAX + 1, "%s%s%.*s", directory,
		     *directory ? "/" : "", (int)size, base);
	if (n <= NAME_PATH_MAX)
		return 0;
	error_set_param(err, "path");
	return error_set(err, ERR_BAD_REQUEST, "The path is too long");
}

static int find_file(struct request *req, struct session_call *call,
		     struct cfile_view *ret, struct error *err)
{
	char path[NAME_PATH_MAX + 1], whole[NAME_PATH_MAX + sizeof(SESSION_DATA_DIR)];
	struct container_view view;
	int r;

	r = session_call_read(req, NULL, call, err);
	if (r >= 0)
		r = read_path(req, req->match.param[0], path, err);
	if (r >= 0)
		r = session_find(req, call, false, &view, err);
	if (r < 0)
		return r;
	(void)snprintf(whole, sizeof(whole), "%s%s", SESSION_DATA_DIR, path);
	r = core_cfile_find(req->core, &req->who, view.id, whole, ret, err);
	if (r == -ENOENT)
		error_set_reason(err, "FileNotFound");
	return r;
}

/* ------------------------------------------------------------------ how it is shown */

void session_file_wrapped(struct json_writer *w, const struct cfile_view *file,
			  unsigned *id)
{
	char time[SESSION_TIME_SIZE], text[16];

	json_write_object(w, NULL);
	(void)snprintf(text, sizeof(text), "%u", ++*id);
	json_write_string(w, "$id", text);
	json_write_object(w, "properties");
	(void)snprintf(text, sizeof(text), "%u", ++*id);
	json_write_string(w, "$id", text);
	json_write_string(w, "filename", file->path + strlen(SESSION_DATA_DIR));
	json_write_uint(w, "size", file->bytes);
	json_write_string(w, "lastModifiedTime",
			  session_time(file->created_at, time));
	json_write_close(w);
	json_write_close(w);
}

void session_file_entry(struct json_writer *w, const struct cfile_view *file)
{
	const char *path = file->path + strlen(SESSION_DATA_DIR);
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	const char *type = media_type_of_name(name);
	char time[SESSION_TIME_SIZE];

	json_write_object(w, NULL);
	json_write_string(w, "name", name);
	json_write_string(w, "type", "file");
	json_write_string(w, "contentType",
			  type ? type : "application/octet-stream");
	json_write_uint(w, "sizeInBytes", file->bytes);
	json_write_string(w, "lastModifiedAt",
			  session_time(file->created_at, time));
	if (slash)
		json_write_bytes(w, "directory", path, (size_t)(slash - path));
	else
		json_write_string(w, "directory", ".");
	json_write_close(w);
}

static int reply_file_entry(struct request *req,
			    const struct session_call *call,
			    const struct cfile_view *file, struct error *err)
{
	struct json_writer *w = reply_writer(req);
	unsigned id = 1;

	if (!call->wrapped) {
		session_file_entry(w, file);
		return reply_json(req, MHD_HTTP_OK, err);
	}
	json_write_object(w, NULL);
	json_write_string(w, "$id", "1");
	json_write_array(w, "value");
	session_file_wrapped(w, file, &id);
	json_write_close(w);
	json_write_close(w);
	return reply_json(req, MHD_HTTP_OK, err);
}

/* ------------------------------------------------------------------ get and delete */

int sessions_files_get(struct request *req, struct error *err)
{
	struct session_call call;
	struct cfile_view file;
	int r;

	r = find_file(req, &call, &file, err);
	return r < 0 ? r : reply_file_entry(req, &call, &file, err);
}

int sessions_files_content(struct request *req, struct error *err)
{
	_cleanup_close_ int fd = -1;
	struct session_call call;
	struct cfile_view file;
	int r;

	r = find_file(req, &call, &file, err);
	if (r >= 0)
		r = core_cfile_content(req->core, &file, &fd, err);
	return r < 0 ? r : reply_cfile(req, &fd, &file, err);
}

int sessions_files_delete(struct request *req, struct error *err)
{
	struct session_call call;
	struct cfile_view file;
	char id[ID_SIZE];
	int r;

	r = find_file(req, &call, &file, err);
	if (r < 0)
		return r;
	strcpy(id, file.id);
	r = core_cfile_delete(req->core, &req->who, req->container, id,
			      reply_gone, req, err);
	return r < 0 ? r : ROUTE_PENDING;
}

/* ------------------------------------------------------------------------- upload */

/* What the service allows besides letters and digits. */
#define NAME_SIGNS " -_.@$&=;,#%^()"

/* Of uploads only: programs name their files as they like. */
static int check_new_name(const char *path, struct error *err)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	int r = name_check_plain(name, strlen(name), NAME_SIGNS, err);

	if (r < 0)
		error_set_param(err, "filename");
	return r;
}

/* struct request's work: where an upload goes. */
struct place {
	struct session_call call;
	char path[NAME_PATH_MAX + 1];
};

static void on_placed(void *userdata, const struct cfile_view *file,
		      const struct error *err)
{
	struct request *req = userdata;
	const struct place *place = req->work;
	struct error failure = ERROR_INIT;

	if (error_is_set(err))
		request_failed(req, err);
	else
		request_finish(req, reply_file_entry(req, &place->call, file,
						     &failure),
			       &failure);
}

static int place(struct request *req, struct error *err)
{
	const struct place *place = req->work;
	int r;

	r = core_cfile_create(req->core, &req->who, req->container,
			      place->path, req->body.upload, on_placed, req,
			      err);
	if (r < 0)
		return r;
	req->body.upload = NULL;	/* core's now */
	return ROUTE_PENDING;
}

int sessions_files_create(struct request *req, struct error *err)
{
	struct place *to = calloc(1, sizeof(*to));
	int r;

	if (!to)
		return error_set_errno(err, -ENOMEM, "Cannot take a file");
	req->work = to;
	req->work_free = free;
	r = session_call_read(req, NULL, &to->call, err);
	if (r < 0)
		return r;
	if (!req->body.filename) {
		error_set_param(err, "file");
		return error_set(err, ERR_BAD_REQUEST,
				 "There is no part 'file' with a file name");
	}
	/* Where the name is in the path it counts, not the form's. */
	r = read_path(req, req->match.param[0] ? req->match.param[0]
					       : req->body.filename,
		      to->path, err);
	if (r >= 0)
		r = check_new_name(to->path, err);
	return r < 0 ? r : session_open(req, &to->call, place, err);
}
