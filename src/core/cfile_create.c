/* SPDX-License-Identifier: Apache-2.0 */
#include "core/cfile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/name.h"
#include "core/container.h"
#include "core/file.h"
#include "core/guest_xfer.h"
#include "core/input_type.h"
#include "core/upload.h"
#include "core/vm.h"

/*
 * Files that clients give to containers.
 *
 * A file that a client gives is first a blob. If the guest is there it is put
 * into it, and then its row is committed and the client told: what is listed is
 * visible. If the guest is not there yet, the row is committed first and the
 * file is staged: placing.c.
 *
 * A container's guest gets one file at a time. Were there two, of one name, the
 * guest could rename them in another order than their rows are committed in,
 * and what is listed would not be what is there. And a guest that fifty dial at
 * once refuses most of them.
 */

/** struct cfile_create - A file on its way into a container */
struct cfile_create {
	struct gc_node node;
	TAILQ_ENTRY(cfile_create) in_line; /* until it is in the guest */
	struct core *core;
	struct store_cfile row;
	struct store_batch *batch;
	struct guest_xfer *xfer;
	cfile_fn done;
	void *userdata;
};

static struct container *create_container(const struct cfile_create *cc)
{
	struct container *c =
		map_get(&cc->core->containers, cc->row.container_id);

	return c && !session_state_expired(c->state) ? c : NULL;
}

static void create_end(struct cfile_create *cc, const struct error *err)
{
	struct container *c = create_container(cc);
	struct cfile_view view;

	if (c) {
		c->uploads--;
		reaper_touch(c);
		reaper_check(c);
	}
	cfile_fill_view(&cc->row, &view);
	cc->done(cc->userdata, err ? NULL : &view, err);
	store_batch_free(cc->batch);
	free(cc);
}

static void create_expired(struct cfile_create *cc)
{
	struct principal who = { .scopes = CORE_SCOPE_ALL };
	struct error err = ERROR_INIT;
	struct container *c;

	/* Says when and why, as any later call would. */
	strcpy(who.tenant, cc->row.tenant);
	if (container_find(cc->core, &who, cc->row.container_id, &c, &err) >= 0)
		error_set(&err, ERR_GUEST, "The file could not be placed");
	create_end(cc, &err);
}

static void on_create_committed(void *userdata, int r)
{
	struct cfile_create *cc = userdata;
	struct container *c = create_container(cc);
	struct error err = ERROR_INIT;

	if (r < 0) {
		if (c)
			staged_remove(c, cc->row.id);
		core_store_failed(r, &err);
	}
	create_end(cc, r < 0 ? &err : NULL);
}

static void create_commit(struct cfile_create *cc)
{
	struct container *c = create_container(cc);
	struct error err = ERROR_INIT;
	int r;

	if (!c) {
		create_expired(cc);
		return;
	}
	r = store_commit(cc->core->store, cc->batch, on_create_committed, cc);
	if (r < 0) {
		staged_remove(c, cc->row.id);
		core_store_failed(r, &err);
		create_end(cc, &err);
		return;
	}
	cc->batch = NULL;
}

/* What is in the way will be so the next time: clients need not try again. */
static void refuse_path(const struct cfile_create *cc, const char *why,
			struct error *err)
{
	error_set(err, ERR_BAD_REQUEST, "'%.100s' cannot be written: %s",
		  cc->row.path, why);
	error_set_param(err, "file");
	error_set_reason(err, "invalid_value");
}

static void refuse_folder(const struct cfile_create *cc, struct error *err)
{
	refuse_path(cc,
		    "there is a folder, or something else that is no file, in "
		    "its place, or a file in the place of its folder",
		    err);
}

/* The guest has looked at the name, or at the file, and did not take it. */
static void refused_by_guest(const struct cfile_create *cc,
			     enum wire_file_status status, struct error *err)
{
	switch (status) {
	case WIRE_FILE_NO_SPACE:
		error_set(err, ERR_STORAGE_FULL,
			  "The container's disk has no room for the file");
		error_set_reason(err, "container_storage_full");
		return;
	case WIRE_FILE_NOT_REGULAR:
		refuse_folder(cc, err);
		return;
	case WIRE_FILE_BAD_PATH:
		refuse_path(cc, "the container's file system does not take the "
			    "name", err);
		return;
	case WIRE_FILE_DENIED:
		refuse_path(cc, "its folder may not be written to", err);
		return;
	default:
		error_set(err, ERR_CONFLICT,
			  "The file cannot be written in the container: %s",
			  wire_file_status_name(status));
	}
}

static bool is_the_guests_fault(const struct xfer_end *end)
{
	return end->result == XFER_BROKEN || end->result == XFER_STALLED;
}

/* What was lost on the way, or had no memory here, may be sent once more. */
static void not_placed(const struct xfer_end *end, struct error *err)
{
	error_set(err, is_the_guests_fault(end) ? ERR_GUEST : ERR_HYPERVISOR,
		  "The file could not be placed in the container");
}

static void put_over(struct cfile_create *cc, struct xfer_end *end)
{
	struct container *c = create_container(cc);
	struct error err = ERROR_INIT;

	if (end->result == XFER_OK && c) {
		c->usage.bytes_in += end->bytes;
		create_commit(cc);
		return;
	}
	if (!c) {
		create_expired(cc);
		return;
	}
	if (end->result == XFER_FILE)
		refused_by_guest(cc, end->file_status, &err);
	else
		not_placed(end, &err);
	create_end(cc, &err);
	if (is_the_guests_fault(end))
		vm_fail(c->vm,
			end->result == XFER_BROKEN ? END_GUEST_PROTOCOL_ERROR :
						     END_GUEST_UNRESPONSIVE,
			end->err);
}

static void create_next(struct core *core, const char *container);

static void on_put(void *userdata, struct xfer_end *end)
{
	struct cfile_create *cc = userdata;
	struct core *core = cc->core;
	char container[ID_SIZE];

	strcpy(container, cc->row.container_id);
	cc->xfer = NULL;
	TAILQ_REMOVE(&core->creating, cc, in_line);
	put_over(cc, end);
	create_next(core, container);
}

static int create_put(struct cfile_create *cc, struct container *c)
{
	const struct guest_xfer_config config = vm_xfer_config(
		c->vm, cc->row.path + strlen(CORE_DATA_DIR), on_put, cc);

	return guest_xfer_put(&config, cc->row.sha256, &cc->xfer);
}

static void create_refused(struct cfile_create *cc, int r)
{
	struct error err = ERROR_INIT;

	if (r == -ENOTCONN)
		error_set(&err, ERR_HYPERVISOR,
			  "The container cannot be "
			  "reached now, try again");
	else
		error_set_errno(&err, r, "Cannot place a file");
	create_end(cc, &err);
}

/* Return: the first in a container's line, under way or not; or NULL */
static struct cfile_create *create_first(struct core *core, const char *id)
{
	struct cfile_create *cc;

	TAILQ_FOREACH (cc, &core->creating, in_line)
		if (strcmp(cc->row.container_id, id) == 0)
			return cc;
	return NULL;
}

/* Begin the next of a container; those that cannot be are told so. */
static void create_next(struct core *core, const char *container)
{
	struct cfile_create *cc;
	struct container *c;
	int r;

	while ((cc = create_first(core, container)) && !cc->xfer) {
		c = create_container(cc);
		r = c ? create_put(cc, c) : -ESRCH;
		if (r >= 0)
			return;
		TAILQ_REMOVE(&core->creating, cc, in_line);
		if (c)
			create_refused(cc, r);
		else
			create_expired(cc);
	}
}

/* The bytes are on our disk: into the guest, or into the list of those to be. */
static void create_place(struct cfile_create *cc)
{
	struct container *c = create_container(cc);
	struct error err = ERROR_INIT;
	int r;

	if (!c) {
		create_expired(cc);
		return;
	}
	if (staged_forbids(c, cc->row.path + strlen(CORE_DATA_DIR))) {
		refuse_folder(cc, &err);
		create_end(cc, &err);
		return;
	}
	cc->batch = store_batch_new(cc->core->store);
	r = store_batch_put_cfile(cc->batch, &cc->row);
	if (r >= 0 && c->state == SESSION_VIEW_BOOTING) {
		r = staged_add(c, cc->row.id,
			       cc->row.path + strlen(CORE_DATA_DIR),
			       cc->row.sha256, cc->row.bytes);
		if (r >= 0) {
			create_commit(cc);
			return;
		}
	} else if (r >= 0) {
		TAILQ_INSERT_TAIL(&cc->core->creating, cc, in_line);
		create_next(cc->core, c->id);
		return;
	}
	create_refused(cc, r);
}

static void on_uploaded(void *userdata, const struct blob_info *info,
			const struct error *err)
{
	struct cfile_create *cc = userdata;
	struct error failed = ERROR_INIT;
	int r;

	if (err) {
		create_end(cc, err);
		return;
	}
	cc->row.bytes = info->bytes;
	memcpy(cc->row.sha256, info->sha256, sizeof(cc->row.sha256));
	r = input_type_decide(cc->core, cc->row.path, info->media_type,
			      cc->row.media_type, &failed);
	if (r >= 0)
		r = upload_check_quota(cc->core, cc->row.tenant, info->bytes,
				       &failed);
	if (r < 0)
		create_end(cc, &failed);
	else
		create_place(cc);
}

static int create_new(struct container *c, const char *path, cfile_fn done,
		      void *userdata, struct cfile_create **ret,
		      struct error *err)
{
	struct cfile_create *cc;
	int r;

	r = name_check_path(path, strlen(path), err);
	if (r < 0) {
		error_set_param(err, "file");
		return r;
	}
	cc = calloc(1, sizeof(*cc));
	r = cc ? id_new(ID_CONTAINER_FILE, cc->row.id) : -ENOMEM;
	if (r < 0) {
		free(cc);
		return error_set_errno(err, r, "Cannot take a file");
	}
	cc->core = c->core;
	cc->done = done;
	cc->userdata = userdata;
	strcpy(cc->row.container_id, c->id);
	strcpy(cc->row.tenant, c->tenant->id);
	(void)snprintf(cc->row.path, sizeof(cc->row.path), "%s%s",
		       CORE_DATA_DIR, path);
	strcpy(cc->row.source, "user");
	cc->row.created_usec = clock_wall(c->core->clock);
	*ret = cc;
	return 0;
}

int core_cfile_create(struct core *core, const struct principal *who,
		      const char *container, const char *path,
		      struct core_upload *upload, cfile_fn done, void *userdata,
		      struct error *err)
{
	struct cfile_create *cc;
	struct container *c;
	int r;

	r = container_find(core, who, container, &c, err);
	if (r >= 0)
		r = input_type_check(core, path, NULL, err);
	if (r >= 0)
		r = create_new(c, path, done, userdata, &cc, err);
	if (r < 0)
		return r;
	r = upload_finish(upload, on_uploaded, cc, err);
	if (r < 0) {
		free(cc);
		return r;
	}
	c->uploads++;
	return 0;
}

/* What is in the store already only has to be placed. */
static void copy_place(void *object)
{
	create_place(object);
}

int core_cfile_copy(struct core *core, const struct principal *who,
		    const char *container, const char *file_id,
		    const char *path, cfile_fn done, void *userdata,
		    struct error *err)
{
	struct store_file *file = &core->row_file;
	struct cfile_create *cc;
	struct container *c;
	int r;

	r = container_find(core, who, container, &c, err);
	if (r < 0)
		return r;
	r = file_find(core, who, file_id, file, err);
	if (r < 0) {
		error_set_param(err, "file_id");
		return r;
	}
	r = upload_check_quota(core, who->tenant, file->bytes, err);
	if (r >= 0)
		r = create_new(c, path ? path : file->filename, done, userdata,
			       &cc, err);
	if (r < 0)
		return r;
	cc->row.bytes = file->bytes;
	memcpy(cc->row.sha256, file->sha256, sizeof(cc->row.sha256));
	strcpy(cc->row.media_type, file->media_type);
	c->uploads++;
	/* Not now: a call never calls back from inside. */
	gc_bury(&core->gc, &cc->node, copy_place, cc);
	return 0;
}
