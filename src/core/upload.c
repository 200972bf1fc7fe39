/* SPDX-License-Identifier: Apache-2.0 */
#include "core/upload.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "core/container.h"

/*
 * Bytes on their way from a client into the blob store.
 *
 * The blob writer may take a part of what it is offered; callers of
 * core_upload_write() have all of it taken or nothing, so the rest is kept here
 * until there is room.
 */

/* What a client may hand over in one piece. */
#define UPLOAD_PIECE_MAX (1024 * 1024)

/* A multipart body is larger than the file in it. */
#define UPLOAD_OVERHEAD_MAX (64 * 1024)

struct core_upload {
	struct core *core;
	struct gc_node buried;
	struct blob_writer *writer;
	struct buf kept;
	char container_id[ID_SIZE]; /* empty: for no container */
	bool counted;               /* in its container's uploads */
	int failed;                 /* what the writer ended with */

	void (*room)(void *userdata);
	void *room_userdata;
	void (*done)(void *userdata, const struct blob_info *info,
		     const struct error *err);
	void *done_userdata;
};

/* The live container it is for, or NULL. */
static struct container *upload_container(const struct core_upload *upload)
{
	if (!upload->container_id[0])
		return NULL;
	return map_get(&upload->core->containers, upload->container_id);
}

/* The idle clock goes on when the last upload is over. */
static void upload_uncount(struct core_upload *u)
{
	struct container *c = upload_container(u);

	if (!u->counted)
		return;
	u->counted = false;
	if (!c)
		return;
	c->uploads--;
	if (session_state_expired(c->state))
		return;
	reaper_touch(c);
	reaper_check(c);
}

static void upload_free_now(void *object)
{
	struct core_upload *u = object;

	if (!u)
		return;
	blob_writer_free(u->writer);
	buf_done(&u->kept);
	free(u);
}

void core_upload_free(struct core_upload *u)
{
	if (!u)
		return;
	upload_uncount(u);
	u->room = NULL;
	u->done = NULL;
	blob_writer_free(take_ptr(u->writer));
	gc_bury(&u->core->gc, &u->buried, upload_free_now, u);
}

static int upload_failed(const struct core_upload *u, int r, struct error *err)
{
	if (r == -EFBIG) {
		r = error_set(err, ERR_TOO_LARGE,
			      "The file is larger than the "
			      "%llu bytes that are allowed",
			      (unsigned long long)u->core->set.max_file_bytes);
		error_set_param(err, "file");
		return r;
	}
	if (r == -ENOSPC) {
		r = error_set(err, ERR_STORAGE_FULL,
			      "The host has no disk space left");
		error_set_reason(err, "host_storage_full");
		return r;
	}
	return error_set_errno(err, r, "Cannot store a file");
}

/* Return: 1 when nothing is kept any more, 0 when there is no room */
static int upload_feed(struct core_upload *u)
{
	ssize_t n;

	if (u->kept.length == 0)
		return 1;
	n = blob_writer_append(u->writer, u->kept.data, u->kept.length);
	if (n < 0)
		return (int)n;
	buf_consume(&u->kept, (size_t)n);
	if (u->kept.length > 0)
		return 0;
	buf_done(&u->kept);
	return 1;
}

static void upload_end(struct core_upload *u, const struct blob_info *info,
		       const struct error *err)
{
	if (!u->done)
		return;
	u->done(u->done_userdata, info, err);
	core_upload_free(u);
}

static void on_room(void *userdata)
{
	struct core_upload *u = userdata;
	int r = upload_feed(u);

	if (r == 0)
		return;
	/* All was handed over, and the last of it has found room. */
	if (r > 0 && u->done)
		r = blob_writer_finish(u->writer);
	else if (u->room)
		u->room(u->room_userdata);
	if (r < 0)
		u->failed = r;
}

static void on_blob_done(void *userdata, int r, const struct blob_info *info)
{
	struct core_upload *u = userdata;
	struct error err = ERROR_INIT;

	if (r >= 0) {
		upload_end(u, info, NULL);
		return;
	}
	u->failed = r;
	upload_failed(u, r, &err);
	if (u->done)
		upload_end(u, NULL, &err);
	else if (u->room)
		u->room(u->room_userdata); /* the next write tells */
}

static int upload_begin(struct core_upload *u, struct error *err)
{
	const struct blob_spec spec = {
		.expected_bytes = BLOB_LENGTH_UNKNOWN,
		.max_bytes = u->core->set.max_file_bytes,
		.room = on_room,
		.done = on_blob_done,
		.userdata = u,
	};
	int r;

	r = blob_writer_new(u->core->blobs, &spec, &u->writer);
	if (r == -EAGAIN) {
		r = error_set(err, ERR_CAPACITY,
			      "Too many files are being uploaded");
		error_set_reason(err, "capacity");
		return r;
	}
	return r < 0 ? upload_failed(u, r, err) : 0;
}

int core_upload_new(struct core *core, const struct principal *who,
		    const char *container, uint64_t declared,
		    void (*room)(void *userdata), void *userdata,
		    struct core_upload **ret, struct error *err)
{
	struct container *c = NULL;
	struct core_upload *u;
	int r;

	if (container) {
		r = container_find(core, who, container, &c, err);
		if (r < 0)
			return r;
	}
	u = calloc(1, sizeof(*u));
	if (!u)
		return error_set_errno(err, -ENOMEM, "Cannot take a file");
	u->core = core;
	u->kept = BUF_INIT(UPLOAD_PIECE_MAX);
	u->room = room;
	u->room_userdata = userdata;
	if (declared != UINT64_MAX &&
	    declared > usec_add(core->set.max_file_bytes, UPLOAD_OVERHEAD_MAX))
		r = upload_failed(u, -EFBIG, err);
	else
		r = upload_begin(u, err);
	if (r < 0) {
		upload_free_now(u);
		return r;
	}
	if (c) {
		strcpy(u->container_id, c->id);
		u->counted = true;
		c->uploads++;
	}
	*ret = u;
	return 0;
}

int core_upload_write(struct core_upload *u, const void *data, size_t size,
		      struct error *err)
{
	ssize_t n;
	int r;

	if (u->failed < 0)
		return upload_failed(u, u->failed, err);
	if (u->kept.length > 0)
		return -EAGAIN;
	n = blob_writer_append(u->writer, data, size);
	if (n < 0)
		return upload_failed(u, (int)n, err);
	r = buf_add(&u->kept, (const char *)data + n, size - (size_t)n);
	return r < 0 ? upload_failed(u, r, err) : 0;
}

int upload_finish(struct core_upload *u,
		  void (*done)(void *userdata, const struct blob_info *info,
			       const struct error *err),
		  void *userdata, struct error *err)
{
	int r = u->failed;

	if (r >= 0 && u->kept.length == 0)
		r = blob_writer_finish(u->writer);
	if (r < 0)
		return upload_failed(u, r, err);
	u->room = NULL;
	u->done = done;
	u->done_userdata = userdata;
	return 0;
}

int upload_check_quota(struct core *core, const char *tenant, uint64_t bytes,
		       struct error *err)
{
	const struct tenant *owner = tenant_find(core, tenant);
	struct store_totals totals;
	uint64_t quota, used;
	int r;

	if (!owner)
		return error_set(err, ERR_NOT_FOUND, "There is no tenant '%s'",
				 tenant);
	quota = tenant_limits_of(core, owner).max_bytes;
	r = store_tenant_totals(core->store, tenant, &totals);
	if (r < 0)
		return error_set_errno(err, r, "Cannot read the quota");
	used = store_totals_bytes(&totals);
	if (quota == 0 || bytes <= usec_sub(quota, used))
		return 0;
	r = error_set(err, ERR_LIMIT,
		      "The quota of %llu bytes is used up: "
		      "%llu are in use, %llu more are needed",
		      (unsigned long long)quota, (unsigned long long)used,
		      (unsigned long long)bytes);
	error_set_reason(err, "quota");
	return r;
}
