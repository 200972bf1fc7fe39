/* SPDX-License-Identifier: Apache-2.0 */
#include "core/parts.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/name.h"
#include "core/core_priv.h"
#include "core/input_type.h"
#include "core/upload.h"

static const char *const status_names[] = {
	[PARTS_PENDING] = "pending",
	[PARTS_COMPLETED] = "completed",
	[PARTS_CANCELLED] = "cancelled",
	[PARTS_EXPIRED] = "expired",
};
static_assert(sizeof(status_names) / sizeof(status_names[0]) ==
		      PARTS_STATUS_COUNT,
	      "status_names[] doesn't match enum parts_status");

const char *parts_status_name(enum parts_status status)
{
	return status_names[status];
}

static enum parts_status status_of(const struct core *core,
				   const struct store_upload *row)
{
	int status;

	for (status = PARTS_COMPLETED; status < PARTS_STATUS_COUNT; status++)
		if (strcmp(row->status, status_names[status]) == 0)
			return (enum parts_status)status;
	return row->expires_usec <= clock_wall(core->clock) ? PARTS_EXPIRED :
							      PARTS_PENDING;
}

void parts_fill_view(const struct core *core, const struct store_upload *row,
		     struct parts_view *ret)
{
	*ret = (struct parts_view){
		.bytes = row->bytes,
		.filename = row->filename,
		.purpose = row->purpose,
		.created_at = (int64_t)(row->created_usec / USEC_PER_SEC),
		.expires_at = (int64_t)(row->expires_usec / USEC_PER_SEC),
		.status = status_of(core, row),
	};
	strcpy(ret->id, row->id);
}

int parts_find(struct core *core, const struct principal *who, const char *id,
	       struct store_upload *ret, struct error *err)
{
	enum parts_status status;
	int r = -ENOENT;

	if (id_is(ID_UPLOAD, id))
		r = store_upload_get(core->store, who->tenant, id, ret);
	if (r == -ENOENT)
		return error_set(err, ERR_NOT_FOUND, "No such Upload object: %s",
				 id);
	if (r < 0)
		return error_set_errno(err, r, "Cannot read an upload");
	status = status_of(core, ret);
	if (status != PARTS_PENDING)
		return error_set(err, ERR_BAD_REQUEST,
				 "Upload '%s' is %s: begin a new one", id,
				 parts_status_name(status));
	if (parts_are_assembled(core, id))
		return error_set(err, ERR_BAD_REQUEST,
				 "Upload '%s' is being completed", id);
	return 0;
}

/* ----------------------------------------------------------- begin and cancel */

/** struct parts_put - A row on its way to the disk */
struct parts_put {
	struct core *core;
	struct store_upload row;
	parts_fn done;
	void *userdata;
};

static void on_put(void *userdata, int r)
{
	_cleanup_free_ struct parts_put *put = userdata;
	struct error err = ERROR_INIT;
	struct parts_view view;

	if (r < 0)
		core_store_failed(r, &err);
	parts_fill_view(put->core, &put->row, &view);
	put->done(put->userdata, r < 0 ? NULL : &view, r < 0 ? &err : NULL);
}

static int put_row(struct core *core, const struct store_upload *row,
		   parts_fn done, void *userdata, struct error *err)
{
	struct parts_put *put = calloc(1, sizeof(*put));
	struct store_batch *batch;
	int r;

	if (!put)
		return error_set_errno(err, -ENOMEM, "Cannot keep an upload");
	*put = (struct parts_put){ core, *row, done, userdata };
	batch = store_batch_new(core->store);
	(void)store_batch_put_upload(batch, row);
	r = store_commit(core->store, batch, on_put, put);
	if (r < 0) {
		store_batch_free(batch);
		free(put);
		return core_store_failed(r, err);
	}
	return 0;
}

static int check_bytes(const struct core *core, uint64_t bytes,
		       struct error *err)
{
	uint64_t max = core->set.max_file_bytes;

	if (bytes <= max)
		return 0;
	error_set_param(err, "bytes");
	return error_set(err, ERR_TOO_LARGE,
			 "'bytes' is %llu, and a file may have %llu at most",
			 (unsigned long long)bytes, (unsigned long long)max);
}

int core_parts_begin(struct core *core, const struct principal *who,
		     const struct file_spec *spec, uint64_t bytes,
		     parts_fn done, void *userdata, struct error *err)
{
	struct store_upload row = {
		.bytes = bytes,
		.created_usec = clock_wall(core->clock),
		.file_expires_sec = (uint64_t)spec->expires_after_sec,
	};
	int r;

	r = name_check_file(spec->filename, strlen(spec->filename), err);
	if (r < 0) {
		error_set_param(err, "filename");
		return r;
	}
	r = input_type_check(core, spec->filename, spec->purpose, err);
	if (r >= 0)
		r = check_bytes(core, bytes, err);
	if (r >= 0)
		r = upload_check_quota(core, who->tenant, bytes, err);
	if (r < 0)
		return r;
	r = id_new(ID_UPLOAD, row.id);
	if (r < 0)
		return error_set_errno(err, r, "Cannot keep an upload");
	row.expires_usec = row.created_usec + PARTS_KEPT_USEC;
	strcpy(row.tenant, who->tenant);
	strcpy(row.filename, spec->filename);
	strncpy(row.purpose, spec->purpose, sizeof(row.purpose) - 1);
	strcpy(row.status, status_names[PARTS_PENDING]);
	return put_row(core, &row, done, userdata, err);
}

int core_parts_cancel(struct core *core, const struct principal *who,
		      const char *id, parts_fn done, void *userdata,
		      struct error *err)
{
	struct store_upload row;
	int r;

	r = parts_find(core, who, id, &row, err);
	if (r < 0)
		return r;
	strcpy(row.status, status_names[PARTS_CANCELLED]);
	return put_row(core, &row, done, userdata, err);
}

/* --------------------------------------------------------------------- add */

/** struct part_add - A part whose bytes are being finished */
struct part_add {
	struct core *core;
	struct principal who;
	struct store_part row;
	part_fn done;
	void *userdata;
};

static void add_end(struct part_add *add, const struct error *err)
{
	struct part_view view = {
		.created_at = (int64_t)(add->row.created_usec / USEC_PER_SEC),
	};

	strcpy(view.id, add->row.id);
	strcpy(view.upload_id, add->row.upload_id);
	add->done(add->userdata, err ? NULL : &view, err);
	free(add);
}

static void on_added(void *userdata, int r)
{
	struct error err = ERROR_INIT;

	if (r < 0)
		core_store_failed(r, &err);
	add_end(userdata, r < 0 ? &err : NULL);
}

static int add_commit(struct part_add *add, struct error *err)
{
	struct store_batch *batch = store_batch_new(add->core->store);
	int r;

	(void)store_batch_put_part(batch, &add->row);
	r = store_commit(add->core->store, batch, on_added, add);
	if (r < 0) {
		store_batch_free(batch);
		return core_store_failed(r, err);
	}
	return 0;
}

static void on_part(void *userdata, const struct blob_info *info,
		    const struct error *err)
{
	struct part_add *add = userdata;
	struct error failed = ERROR_INIT;
	struct store_upload upload;
	int r;

	if (err) {
		add_end(add, err);
		return;
	}
	add->row.bytes = info->bytes;
	memcpy(add->row.sha256, info->sha256, sizeof(add->row.sha256));
	/* It may have ended while the bytes came. */
	r = parts_find(add->core, &add->who, add->row.upload_id, &upload,
		       &failed);
	if (r >= 0)
		r = upload_check_quota(add->core, add->who.tenant, info->bytes,
				       &failed);
	if (r >= 0)
		r = add_commit(add, &failed);
	if (r < 0)
		add_end(add, &failed);
}

int core_parts_add(struct core *core, const struct principal *who,
		   const char *id, struct core_upload *upload, part_fn done,
		   void *userdata, struct error *err)
{
	_cleanup_free_ struct part_add *add = NULL;
	struct store_upload row;
	int r;

	r = parts_find(core, who, id, &row, err);
	if (r < 0)
		return r;
	add = calloc(1, sizeof(*add));
	if (!add)
		return error_set_errno(err, -ENOMEM, "Cannot take a part");
	add->core = core;
	add->who = *who;
	add->done = done;
	add->userdata = userdata;
	r = id_new(ID_PART, add->row.id);
	if (r < 0)
		return error_set_errno(err, r, "Cannot take a part");
	strcpy(add->row.upload_id, row.id);
	strcpy(add->row.tenant, row.tenant);
	add->row.created_usec = clock_wall(core->clock);
	r = upload_finish(upload, on_part, add, err);
	if (r >= 0)
		(void)take_ptr(add); /* on_part() has it */
	return r;
}
