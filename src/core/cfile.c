/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/name.h"
#include "core/cfile.h"
#include "core/container.h"
#include "core/file.h"
#include "core/guest_xfer.h"
#include "core/input_type.h"
#include "core/upload.h"
#include "core/vm.h"

/*
 * Files of containers, as clients see them.
 *
 * A file that a client gives is first a blob. If the guest is there it is put
 * into it, and then its row is committed and the client told: what is listed is
 * visible. If the guest is not there yet, the row is committed first and the
 * file is staged: placing.c.
 */

/** struct cfile_create - A file on its way into a container */
struct cfile_create {
	struct gc_node node;
	struct core *core;
	struct store_cfile row;
	struct store_batch *batch;
	struct guest_xfer *xfer;
	cfile_fn done;
	void *userdata;
};

void cfile_fill_view(const struct store_cfile *row, struct cfile_view *ret)
{
	*ret = (struct cfile_view){
		.created_at = (int64_t)(row->created_usec / USEC_PER_SEC),
		.bytes = row->bytes,
		.path = row->path,
		.path_b64 = row->path_b64[0] ? row->path_b64 : NULL,
		.by_user = strcmp(row->source, "user") == 0,
		.changed_during_read = row->changed_during_read,
	};
	strcpy(ret->id, row->id);
	strcpy(ret->container, row->container_id);
	memcpy(ret->sha256, row->sha256, sizeof(ret->sha256));
}

/* ------------------------------------------------------------------ create */

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

static void on_put(void *userdata, struct xfer_end *end)
{
	struct cfile_create *cc = userdata;
	struct container *c = create_container(cc);
	struct error err = ERROR_INIT;

	cc->xfer = NULL;
	if (end->result == XFER_OK && c) {
		c->usage.bytes_in += end->bytes;
		create_commit(cc);
		return;
	}
	if (!c) {
		create_expired(cc);
		return;
	}
	if (end->result == XFER_FILE &&
	    end->file_status == WIRE_FILE_NO_SPACE) {
		error_set(&err, ERR_STORAGE_FULL,
			  "The container's disk has no room for the file");
		error_set_reason(&err, "container_storage_full");
	} else if (end->result == XFER_FILE) {
		error_set(&err, ERR_CONFLICT,
			  "The file cannot be written in "
			  "the container: %s",
			  wire_file_status_name(end->file_status));
	} else {
		error_set(&err, ERR_GUEST,
			  "The file could not be placed in "
			  "the container");
	}
	create_end(cc, &err);
	if (end->result == XFER_BROKEN || end->result == XFER_STALLED)
		vm_fail(c->vm,
			end->result == XFER_BROKEN ? END_GUEST_PROTOCOL_ERROR :
						     END_GUEST_UNRESPONSIVE,
			end->err);
}

static int create_put(struct cfile_create *cc, struct container *c)
{
	const struct guest_xfer_config config = vm_xfer_config(
		c->vm, cc->row.path + strlen(CORE_DATA_DIR), on_put, cc);

	return guest_xfer_put(&config, cc->row.sha256, &cc->xfer);
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
		r = create_put(cc, c);
		if (r >= 0)
			return;
	}
	if (r == -ENOTCONN)
		error_set(&err, ERR_HYPERVISOR,
			  "The container cannot be "
			  "reached now, try again");
	else
		error_set_errno(&err, r, "Cannot place a file");
	create_end(cc, &err);
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
		    const char *container, const char *file_id, cfile_fn done,
		    void *userdata, struct error *err)
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
		r = create_new(c, file->filename, done, userdata, &cc, err);
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

/* -------------------------------------------------------------------- read */

static void touch(struct core *core, const char *container)
{
	struct container *c = map_get(&core->containers, container);

	if (c && !session_state_expired(c->state))
		reaper_touch(c);
}

/* What looking a file up came to; @what is how it was named. */
static int found(struct core *core, const char *container, int r,
		 const char *what, const char *name, struct error *err)
{
	if (r == -ENOENT)
		return error_set(err, ERR_NOT_FOUND,
				 "Container file with %s '%s' not found.", what,
				 name);
	if (r < 0)
		return error_set_errno(err, r, "Cannot read a file");
	touch(core, container);
	return 0;
}

static int cfile_find(struct core *core, const struct principal *who,
		      const char *container, const char *id,
		      struct store_cfile *ret, struct error *err)
{
	int r;

	r = container_check(core, who, container, err);
	if (r < 0)
		return r;
	r = -ENOENT;
	if (id_is(ID_CONTAINER_FILE, id))
		r = store_cfile_get(core->store, who->tenant, container, id,
				    ret);
	return found(core, container, r, "id", id, err);
}

int core_cfile_find(struct core *core, const struct principal *who,
		    const char *container, const char *path,
		    struct cfile_view *ret, struct error *err)
{
	int r;

	r = container_check(core, who, container, err);
	if (r < 0)
		return r;
	r = store_cfile_find(core->store, who->tenant, container, path,
			     &core->row_cfile);
	r = found(core, container, r, "path", path, err);
	if (r >= 0)
		cfile_fill_view(&core->row_cfile, ret);
	return r;
}

int core_cfile_get(struct core *core, const struct principal *who,
		   const char *container, const char *id,
		   struct cfile_view *ret, struct error *err)
{
	int r;

	r = cfile_find(core, who, container, id, &core->row_cfile, err);
	if (r >= 0)
		cfile_fill_view(&core->row_cfile, ret);
	return r;
}

int core_cfile_open(struct core *core, const struct principal *who,
		    const char *container, const char *id,
		    struct cfile_view *ret, int *ret_fd, struct error *err)
{
	uint64_t bytes;
	int r;

	r = core_cfile_get(core, who, container, id, ret, err);
	if (r < 0)
		return r;
	r = blob_open(core->blobs, ret->sha256, ret_fd, &bytes);
	return r < 0 ? error_set_errno(err, r, "Cannot open a file") : 0;
}

struct cfile_each {
	void (*each)(void *userdata, const struct cfile_view *file);
	void *userdata;
};

static void on_row(void *userdata, const struct store_cfile *row)
{
	struct cfile_each *list = userdata;
	struct cfile_view view;

	cfile_fill_view(row, &view);
	list->each(list->userdata, &view);
}

int core_cfile_list(struct core *core, const struct principal *who,
		    const char *container, const struct core_page *page,
		    void (*each)(void *userdata, const struct cfile_view *file),
		    void *userdata, bool *ret_more, struct error *err)
{
	struct cfile_each list = { each, userdata };
	const struct store_page rows = {
		.after = page->after,
		.limit = page->limit,
		.ascending = page->ascending,
	};
	int r;

	r = container_check(core, who, container, err);
	if (r < 0)
		return r;
	r = store_cfile_list(core->store, who->tenant, container, &rows, on_row,
			     &list, ret_more);
	if (r >= 0)
		touch(core, container);
	return core_list_failed(r, page, err);
}

/* ------------------------------------------------------------------ delete */

/* Only the newest version of a path is a file in the guest. */
void cfile_delete_in_guest(struct core *core, const struct store_cfile *row)
{
	struct container *c = map_get(&core->containers, row->container_id);
	char path[WIRE_PATH_MAX + 1];

	if (!c || row->superseded || session_state_expired(c->state))
		return;
	staged_remove(c, row->id);
	/* In the order of the connection, so before whatever runs next. */
	if (vm_linked(c->vm) &&
	    data_path_to_guest(row->path, row->path_b64, path) >= 0 &&
	    guest_link_delete(c->vm->link, vm_request(c->vm), path) >= 0)
		c->vm->deletes++;
}

int core_cfile_delete(struct core *core, const struct principal *who,
		      const char *container, const char *id, core_done_fn done,
		      void *userdata, struct error *err)
{
	struct store_cfile *row = &core->row_cfile;
	struct store_batch *batch;
	int r;

	r = cfile_find(core, who, container, id, row, err);
	if (r < 0)
		return r;
	batch = store_batch_new(core->store);
	(void)store_batch_delete_cfile(batch, id);
	r = core_commit_for(core, batch, done, userdata, err);
	if (r >= 0)
		cfile_delete_in_guest(core, row);
	return r;
}
