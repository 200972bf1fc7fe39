/* SPDX-License-Identifier: Apache-2.0 */
#include "core/cfile.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "core/container.h"
#include "core/vm.h"
#include "store/hash.h"

/* Files of containers, as clients see them; how they come is cfile_create.c. */

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

/* -------------------------------------------------------------------- read */

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
	reaper_touch_by_id(core, container);
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

bool core_cfile_given(struct core *core, const struct principal *who,
		      const char *container, const char *path,
		      const uint8_t sha256[32])
{
	return container_check(core, who, container, NULL) >= 0 &&
	       store_cfile_given(core->store, container, path, sha256) >= 0;
}

int core_digest(const void *data, size_t size, uint8_t ret[32])
{
	return hash_sha256(data, size, ret);
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

int core_cfile_content(struct core *core, const struct cfile_view *file,
		       int *ret_fd, struct error *err)
{
	uint64_t bytes;
	int r;

	r = blob_open(core->blobs, file->sha256, ret_fd, &bytes);
	return r < 0 ? error_set_errno(err, r, "Cannot open a file") : 0;
}

int core_cfile_open(struct core *core, const struct principal *who,
		    const char *container, const char *id,
		    struct cfile_view *ret, int *ret_fd, struct error *err)
{
	int r;

	r = core_cfile_get(core, who, container, id, ret, err);
	return r < 0 ? r : core_cfile_content(core, ret, ret_fd, err);
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
		reaper_touch_by_id(core, container);
	return core_list_failed(r, page, err);
}

/* ------------------------------------------------------------------ delete */

void cfile_delete_in_guest(struct core *core, const struct store_cfile *row)
{
	struct container *c = map_get(&core->containers, row->container_id);
	char path[WIRE_PATH_MAX + 1];

	/* Only the newest version of a path is a file in the guest. */
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
