/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "fake_core_impl.h"

struct core_upload {
	struct core *core;
	int fd;
	uint64_t bytes;
	void (*room)(void *userdata);
	void *userdata;
};

/* --------------------------------------------------------------------- uploads */

int core_upload_new(struct core *core, const struct principal *who,
		    const char *container, uint64_t declared,
		    void (*room)(void *userdata), void *userdata,
		    struct core_upload **ret, struct error *err)
{
	struct core_upload *upload;

	(void)who;
	if (container && fake_core_find(core, container, err) < 0)
		return -ENOENT;
	if (declared != UINT64_MAX && declared > core->upload_max)
		return error_set(err, ERR_TOO_LARGE, "larger than allowed");
	upload = calloc(1, sizeof(*upload));
	if (!upload)
		abort();
	upload->core = core;
	upload->fd = memfd_create("upload", MFD_CLOEXEC);
	upload->room = room;
	upload->userdata = userdata;
	core->uploads++;
	*ret = upload;
	return 0;
}

int core_upload_write(struct core_upload *upload, const void *data,
		      size_t size, struct error *err)
{
	struct core *core = upload->core;

	if (core->stall) {
		core->stalled = upload;
		return -EAGAIN;
	}
	if (upload->bytes + size > core->upload_max)
		return error_set(err, ERR_TOO_LARGE, "larger than allowed");
	if (write(upload->fd, data, size) != (ssize_t)size)
		abort();
	upload->bytes += size;
	core->uploaded += size;
	return 0;
}

void core_upload_free(struct core_upload *upload)
{
	if (!upload)
		return;
	upload->core->uploads--;
	if (upload->core->stalled == upload)
		upload->core->stalled = NULL;
	close_fd(&upload->fd);
	free(upload);
}

void fake_core_room(struct core *core)
{
	struct core_upload *upload = take_ptr(core->stalled);

	core->stall = false;
	if (upload)
		upload->room(upload->userdata);
}

/* ----------------------------------------------------------------------- files */

static struct fake_file *find_file(struct core *core,
				   const struct principal *who, const char *id,
				   struct error *err)
{
	unsigned i;

	for (i = 0; i < core->files; i++)
		if (strcmp(core->file[i].view.id, id) == 0 &&
		    strcmp(core->file[i].tenant, who->tenant) == 0)
			return &core->file[i];
	error_set_param(err, "id");
	error_set(err, ERR_NOT_FOUND, "No such File object: %s", id);
	return NULL;
}

static struct fake_file *add_file(struct core *core,
				  const struct principal *who,
				  const char *name, const char *purpose,
				  struct core_upload *upload)
{
	struct fake_file *file = &core->file[core->files];

	if (core->files == FAKE_FILES_MAX)
		abort();
	snprintf(file->view.id, sizeof(file->view.id), "file-%u",
		 ++core->files);
	snprintf(file->name, sizeof(file->name), "%s", name);
	snprintf(file->purpose, sizeof(file->purpose), "%s", purpose);
	snprintf(file->tenant, sizeof(file->tenant), "%s", who->tenant);
	file->view.bytes = upload->bytes;
	file->view.created_at = 1790000000;
	file->view.filename = file->name;
	file->view.purpose = file->purpose;
	memset(file->view.sha256, 0xab, sizeof(file->view.sha256));
	file->fd = dup(upload->fd);
	core_upload_free(upload);
	return file;
}

int core_file_create(struct core *core, const struct principal *who,
		     const struct file_spec *spec, struct core_upload *upload,
		     file_fn done, void *userdata, struct error *err)
{
	struct fake_file *file;
	struct fake_later *later;

	(void)err;
	file = add_file(core, who, spec->filename, spec->purpose, upload);
	if (spec->expires_after_sec)
		file->view.expires_at = file->view.created_at +
					spec->expires_after_sec;
	later = fake_core_later(core, userdata);
	later->file = done;
	later->file_view = file->view;
	return 0;
}

int core_file_get(struct core *core, const struct principal *who,
		  const char *id, struct file_view *ret, struct error *err)
{
	struct fake_file *file = find_file(core, who, id, err);

	if (!file)
		return -ENOENT;
	*ret = file->view;
	return 0;
}

int core_file_open(struct core *core, const struct principal *who,
		   const char *id, struct file_view *ret, int *ret_fd,
		   struct error *err)
{
	struct fake_file *file = find_file(core, who, id, err);
	char path[64];

	if (!file)
		return -ENOENT;
	*ret = file->view;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file->fd);
	*ret_fd = open(path, O_RDONLY | O_CLOEXEC);
	return 0;
}

/* Newest first is all that the tests of the server ask for. */
int core_file_list(struct core *core, const struct principal *who,
		   const char *purpose, const struct core_page *page,
		   void (*each)(void *userdata, const struct file_view *file),
		   void *userdata, bool *ret_more, struct error *err)
{
	bool waiting = page->after[0];
	unsigned i, given = 0;

	core->lists++;
	if (waiting && !find_file(core, who, page->after, NULL)) {
		error_set_param(err, "after");
		return error_set(err, ERR_BAD_REQUEST, "no such row");
	}
	*ret_more = false;
	for (i = core->files; i > 0; i--) {
		struct fake_file *file = &core->file[i - 1];

		if (strcmp(file->tenant, who->tenant) != 0 ||
		    (purpose && strcmp(purpose, file->purpose) != 0))
			continue;
		if (waiting) {
			waiting = strcmp(file->view.id, page->after) != 0;
			continue;
		}
		if (given++ == page->limit) {
			*ret_more = true;
			break;
		}
		each(userdata, &file->view);
	}
	return 0;
}

int core_file_delete(struct core *core, const struct principal *who,
		     const char *id, core_done_fn done, void *userdata,
		     struct error *err)
{
	struct fake_file *file = find_file(core, who, id, err);

	if (!file)
		return -ENOENT;
	file->tenant[0] = '\0';
	fake_core_later(core, userdata)->done = done;
	return 0;
}

/* ------------------------------------------------------------- container files */

struct fake_cfile *fake_core_cfile(struct core *core, const char *path,
				   const void *data, size_t size)
{
	struct fake_cfile *file;

	core->cfile = realloc(core->cfile,
			      (core->cfiles + 1) * sizeof(*core->cfile));
	if (!core->cfile)
		abort();
	file = &core->cfile[core->cfiles++];
	*file = (struct fake_cfile){ .fd = -1, .bytes = size };
	if (asprintf(&file->path, "/mnt/data/%s", path) < 0)
		abort();
	if (size > 0) {
		file->fd = memfd_create("cfile", MFD_CLOEXEC);
		if (write(file->fd, data, size) != (ssize_t)size)
			abort();
	}
	return file;
}

static void fill_cfile(const struct core *core, size_t i,
		       struct cfile_view *ret)
{
	*ret = (struct cfile_view){
		.created_at = 1790000000,
		.bytes = core->cfile[i].bytes,
		.path = core->cfile[i].path,
		.by_user = true,
	};
	snprintf(ret->id, sizeof(ret->id), "cfile_%zu", i + 1);
	strcpy(ret->container, FAKE_CONTAINER);
	memset(ret->sha256, 0xcd, sizeof(ret->sha256));
}

int core_cfile_create(struct core *core, const struct principal *who,
		      const char *container, const char *name,
		      struct core_upload *upload, cfile_fn done,
		      void *userdata, struct error *err)
{
	struct fake_cfile *file;
	struct fake_later *later;

	(void)who;
	if (fake_core_find(core, container, err) < 0)
		return -ENOENT;
	file = fake_core_cfile(core, name, NULL, 0);
	file->bytes = upload->bytes;
	file->fd = dup(upload->fd);
	core_upload_free(upload);
	later = fake_core_later(core, userdata);
	later->cfile = done;
	fill_cfile(core, core->cfiles - 1, &later->cfile_view);
	return 0;
}

bool core_cfile_given(struct core *core, const struct principal *who,
		      const char *container, const char *path,
		      const uint8_t sha256[32])
{
	(void)core;
	(void)who;
	(void)container;
	(void)path;
	(void)sha256;
	return false;
}

int core_digest(const void *data, size_t size, uint8_t ret[32])
{
	(void)data;
	memset(ret, (int)size, 32);
	return 0;
}

int core_cfile_copy(struct core *core, const struct principal *who,
		    const char *container, const char *file_id,
		    const char *path, cfile_fn done, void *userdata,
		    struct error *err)
{
	(void)path;
	(void)done;
	(void)userdata;
	if (fake_core_find(core, container, err) < 0)
		return -ENOENT;
	if (!find_file(core, who, file_id, err))
		return -ENOENT;
	return error_set(err, ERR_CONFLICT, "not in the fake");
}

int core_cfile_get(struct core *core, const struct principal *who,
		   const char *container, const char *id,
		   struct cfile_view *ret, struct error *err)
{
	size_t number = 0;

	(void)who;
	if (fake_core_find(core, container, err) < 0)
		return -ENOENT;
	if (sscanf(id, "cfile_%zu", &number) == 1 && number > 0 &&
	    number <= core->cfiles && !core->cfile[number - 1].deleted) {
		fill_cfile(core, number - 1, ret);
		return 0;
	}
	return error_set(err, ERR_NOT_FOUND, "No such file: %s", id);
}

int core_cfile_content(struct core *core, const struct cfile_view *file,
		       int *ret_fd, struct error *err)
{
	char path[64] = "/dev/null";
	int fd;

	(void)err;
	fd = core->cfile[atoi(file->id + strlen("cfile_")) - 1].fd;
	if (fd >= 0)
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	*ret_fd = open(path, O_RDONLY | O_CLOEXEC);
	return 0;
}

int core_cfile_open(struct core *core, const struct principal *who,
		    const char *container, const char *id,
		    struct cfile_view *ret, int *ret_fd, struct error *err)
{
	if (core_cfile_get(core, who, container, id, ret, err) < 0)
		return -ENOENT;
	return core_cfile_content(core, ret, ret_fd, err);
}

/* Each container has one file, which this name finds. */
int core_cfile_find(struct core *core, const struct principal *who,
		    const char *container, const char *path,
		    struct cfile_view *ret, struct error *err)
{
	size_t i;

	(void)who;
	if (fake_core_find(core, container, err) < 0)
		return -ENOENT;
	for (i = 0; i < core->cfiles; i++)
		if (strcmp(core->cfile[i].path, path) == 0) {
			fill_cfile(core, i, ret);
			return 0;
		}
	if (strcmp(path, "/mnt/data/sub/a\xcc\x81 b") != 0)
		return error_set(err, ERR_NOT_FOUND, "No such file: %s", path);
	*ret = (struct cfile_view){
		.created_at = 1790000000,
		.bytes = 3,
		.path = "/mnt/data/sub/\xef\xbf\xbd b",
		.path_b64 = "c3ViL/8gYg==",
		.changed_during_read = true,
	};
	strcpy(ret->id, "cfile_1");
	strcpy(ret->container, container);
	memset(ret->sha256, 0xab, sizeof(ret->sha256));
	return 0;
}

/* Oldest first, whatever is asked for. */
int core_cfile_list(struct core *core, const struct principal *who,
		    const char *container, const struct core_page *page,
		    void (*each)(void *userdata,
				 const struct cfile_view *file),
		    void *userdata, bool *ret_more, struct error *err)
{
	struct cfile_view view;
	size_t i = 0, end;

	(void)who;
	core->lists++;
	if (fake_core_find(core, container, err) < 0)
		return -ENOENT;
	if (*page->after && sscanf(page->after, "cfile_%zu", &i) != 1)
		return error_set(err, ERR_BAD_REQUEST, "There is no such file");
	end = i + page->limit;
	*ret_more = core->cfiles > end;
	for (; i < core->cfiles && i < end; i++) {
		fill_cfile(core, i, &view);
		each(userdata, &view);
	}
	return 0;
}

int core_cfile_delete(struct core *core, const struct principal *who,
		      const char *container, const char *id,
		      core_done_fn done, void *userdata, struct error *err)
{
	(void)who;
	(void)id;
	if (fake_core_find(core, container, err) < 0)
		return -ENOENT;
	fake_core_later(core, userdata)->done = done;
	return 0;
}

/* ------------------------------------------------------------ files in parts */

const char *parts_status_name(enum parts_status status)
{
	return status == PARTS_COMPLETED ? "completed" :
	       status == PARTS_CANCELLED ? "cancelled" :
					   "pending";
}

static int upload_answer(struct core *core, const char *id, parts_fn done,
			 void *userdata, enum parts_status status,
			 struct error *err)
{
	struct fake_later *later;

	if (strcmp(id, "upload_1") != 0)
		return error_set(err, ERR_NOT_FOUND, "No such Upload object: %s",
				 id);
	later = fake_core_later(core, userdata);
	later->parts = done;
	later->parts_view = (struct parts_view){
		.id = "upload_1",
		.bytes = 3,
		.filename = "a.csv",
		.purpose = "assistants",
		.created_at = 1790000000,
		.expires_at = 1790003600,
		.status = status,
	};
	return 0;
}

int core_parts_begin(struct core *core, const struct principal *who,
		     const struct file_spec *spec, uint64_t bytes,
		     parts_fn done, void *userdata, struct error *err)
{
	(void)who;
	(void)spec;
	(void)bytes;
	return upload_answer(core, "upload_1", done, userdata, PARTS_PENDING,
			     err);
}

int core_parts_add(struct core *core, const struct principal *who,
		   const char *id, struct core_upload *upload, part_fn done,
		   void *userdata, struct error *err)
{
	struct fake_later *later;

	(void)who;
	if (strcmp(id, "upload_1") != 0)
		return error_set(err, ERR_NOT_FOUND, "No such Upload object: %s",
				 id);
	core_upload_free(upload);
	later = fake_core_later(core, userdata);
	later->part = done;
	later->part_view = (struct part_view){
		.id = "part_1",
		.upload_id = "upload_1",
		.created_at = 1790000000,
	};
	return 0;
}

int core_parts_complete(struct core *core, const struct principal *who,
			const char *id, const struct parts_choice *choice,
			parts_fn done, void *userdata, struct error *err)
{
	(void)who;
	if (choice->md5 && choice->md5[0] != 0xab)
		return error_set(err, ERR_BAD_REQUEST, "'md5' is wrong");
	return upload_answer(core, id, done, userdata, PARTS_COMPLETED, err);
}

int core_parts_cancel(struct core *core, const struct principal *who,
		      const char *id, parts_fn done, void *userdata,
		      struct error *err)
{
	(void)who;
	return upload_answer(core, id, done, userdata, PARTS_CANCELLED, err);
}
