/* SPDX-License-Identifier: Apache-2.0 */
#include "core/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/name.h"
#include "core/core_priv.h"
#include "core/input_type.h"
#include "core/upload.h"

/* Uploaded files: durable objects that belong to a tenant and no container. */

void file_fill_view(const struct store_file *row, struct file_view *ret)
{
	*ret = (struct file_view){
		.bytes = row->bytes,
		.created_at = (int64_t)(row->created_usec / USEC_PER_SEC),
		.expires_at = (int64_t)(row->expires_usec / USEC_PER_SEC),
		.filename = row->filename,
		.purpose = row->purpose,
	};
	strcpy(ret->id, row->id);
	memcpy(ret->sha256, row->sha256, sizeof(ret->sha256));
}

int file_find(struct core *core, const struct principal *who, const char *id,
	      struct store_file *ret, struct error *err)
{
	int r = -ENOENT;

	if (id_is(ID_FILE, id))
		r = store_file_get(core->store, who->tenant, id, ret);
	/* The sweep removes it soon; it is gone already. */
	if (r >= 0 && ret->expires_usec &&
	    ret->expires_usec <= clock_wall(core->clock))
		r = -ENOENT;
	if (r == -ENOENT)
		return error_set(err, ERR_NOT_FOUND, "No such File object: %s",
				 id);
	return r < 0 ? error_set_errno(err, r, "Cannot read a file") : 0;
}

int core_file_get(struct core *core, const struct principal *who,
		  const char *id, struct file_view *ret, struct error *err)
{
	int r;

	r = file_find(core, who, id, &core->row_file, err);
	if (r >= 0)
		file_fill_view(&core->row_file, ret);
	else
		error_set_param(err, "id");
	return r;
}

int core_file_open(struct core *core, const struct principal *who,
		   const char *id, struct file_view *ret, int *ret_fd,
		   struct error *err)
{
	uint64_t bytes;
	int r;

	r = core_file_get(core, who, id, ret, err);
	if (r < 0)
		return r;
	r = blob_open(core->blobs, ret->sha256, ret_fd, &bytes);
	return r < 0 ? error_set_errno(err, r, "Cannot open a file") : 0;
}

struct file_each {
	usec_t now;
	void (*each)(void *userdata, const struct file_view *file);
	void *userdata;
};

static void on_row(void *userdata, const struct store_file *row)
{
	struct file_each *list = userdata;
	struct file_view view;

	if (row->expires_usec && row->expires_usec <= list->now)
		return;
	file_fill_view(row, &view);
	list->each(list->userdata, &view);
}

int core_file_list(struct core *core, const struct principal *who,
		   const char *purpose, const struct core_page *page,
		   void (*each)(void *userdata, const struct file_view *file),
		   void *userdata, bool *ret_more, struct error *err)
{
	struct file_each list = { clock_wall(core->clock), each, userdata };
	const struct store_page rows = {
		.after = page->after,
		.limit = page->limit,
		.ascending = page->ascending,
	};
	int r;

	r = store_file_list(core->store, who->tenant, purpose, &rows, on_row,
			    &list, ret_more);
	return core_list_failed(r, page, err);
}

/* ------------------------------------------------------------------ create */

/** struct file_create - A file whose bytes are being finished */
struct file_create {
	struct core *core;
	struct store_file row;
	void (*more)(void *userdata, const struct store_file *row,
		     struct store_batch *batch);
	file_fn done;
	void *userdata;
};

static void create_end(struct file_create *fc, const struct error *err)
{
	struct file_view view;

	file_fill_view(&fc->row, &view);
	fc->done(fc->userdata, err ? NULL : &view, err);
	free(fc);
}

static void on_committed(void *userdata, int r)
{
	struct error err = ERROR_INIT;

	if (r < 0)
		core_store_failed(r, &err);
	create_end(userdata, r < 0 ? &err : NULL);
}

/* The blob is on the disk; its row makes it a file. */
static void on_uploaded(void *userdata, const struct blob_info *info,
			const struct error *err)
{
	struct file_create *fc = userdata;
	struct error failed = ERROR_INIT;
	struct store_batch *batch;
	int r;

	if (err) {
		create_end(fc, err);
		return;
	}
	fc->row.bytes = info->bytes;
	memcpy(fc->row.sha256, info->sha256, sizeof(fc->row.sha256));
	r = input_type_decide(fc->core, fc->row.filename, info->media_type,
			      fc->row.media_type, &failed);
	if (r >= 0)
		r = upload_check_quota(fc->core, fc->row.tenant, info->bytes,
				       &failed);
	if (r < 0) {
		create_end(fc, &failed);
		return;
	}
	batch = store_batch_new(fc->core->store);
	(void)store_batch_put_file(batch, &fc->row);
	if (fc->more)
		fc->more(fc->userdata, &fc->row, batch);
	r = store_commit(fc->core->store, batch, on_committed, fc);
	if (r < 0) {
		store_batch_free(batch);
		core_store_failed(r, &failed);
		create_end(fc, &failed);
	}
}

static usec_t file_expiry(const struct core *core, const struct file_spec *spec)
{
	usec_t now = clock_wall(core->clock);

	if (spec->expires_after_sec > 0)
		return now + (usec_t)spec->expires_after_sec * USEC_PER_SEC;
	if (strcmp(spec->purpose, "batch") == 0)
		return now + CORE_BATCH_FILES_KEPT;
	return 0;
}

int file_create(struct core *core, const struct principal *who,
		const struct file_spec *spec, struct core_upload *upload,
		void (*more)(void *userdata, const struct store_file *row,
			     struct store_batch *batch),
		file_fn done, void *userdata, struct error *err)
{
	_cleanup_free_ struct file_create *fc = NULL;
	int r;

	r = name_check_file(spec->filename, strlen(spec->filename), err);
	if (r < 0) {
		error_set_param(err, "file");
		return r;
	}
	r = input_type_check(core, spec->filename, spec->purpose, err);
	if (r < 0)
		return r;
	fc = calloc(1, sizeof(*fc));
	if (!fc)
		return error_set_errno(err, -ENOMEM, "Cannot make a file");
	fc->core = core;
	fc->more = more;
	fc->done = done;
	fc->userdata = userdata;
	r = id_new(ID_FILE, fc->row.id);
	if (r < 0)
		return error_set_errno(err, r, "Cannot make a file");
	strcpy(fc->row.tenant, who->tenant);
	strcpy(fc->row.filename, spec->filename);
	strncpy(fc->row.purpose, spec->purpose, sizeof(fc->row.purpose) - 1);
	fc->row.created_usec = clock_wall(core->clock);
	fc->row.expires_usec = file_expiry(core, spec);
	r = upload_finish(upload, on_uploaded, fc, err);
	if (r >= 0)
		(void)take_ptr(fc); /* on_uploaded() has it */
	return r;
}

int core_file_create(struct core *core, const struct principal *who,
		     const struct file_spec *spec, struct core_upload *upload,
		     file_fn done, void *userdata, struct error *err)
{
	return file_create(core, who, spec, upload, NULL, done, userdata, err);
}

/* ------------------------------------------------------------------ delete */

int core_file_delete(struct core *core, const struct principal *who,
		     const char *id, core_done_fn done, void *userdata,
		     struct error *err)
{
	struct store_batch *batch;
	int r;

	r = file_find(core, who, id, &core->row_file, err);
	if (r < 0) {
		error_set_param(err, "id");
		return r;
	}
	batch = store_batch_new(core->store);
	(void)store_batch_delete_file(batch, id);
	return core_commit_for(core, batch, done, userdata, err);
}
