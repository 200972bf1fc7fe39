/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "core/cfile.h"

/*
 * The operator's calls about files of containers. They are nobody's activity,
 * and find files by their ids alone.
 */

struct artifact_each {
	void (*each)(void *userdata, const struct cfile_view *file,
		     const char *tenant);
	void *userdata;
};

static void on_row(void *userdata, const struct store_cfile *row)
{
	struct artifact_each *list = userdata;
	struct cfile_view view;

	cfile_fill_view(row, &view);
	list->each(list->userdata, &view, row->tenant);
}

int core_admin_artifacts(struct core *core, const struct core_page *page,
			 void (*each)(void *userdata,
				      const struct cfile_view *file,
				      const char *tenant),
			 void *userdata, bool *ret_more, struct error *err)
{
	struct artifact_each list = { each, userdata };
	const struct store_page rows = {
		.after = page->after,
		.limit = page->limit,
		.ascending = page->ascending,
	};
	int r;

	r = store_cfile_list(core->store, NULL, NULL, &rows, on_row, &list,
			     ret_more);
	return core_list_failed(r, page, err);
}

static int find(struct core *core, const char *id, struct error *err)
{
	int r = -ENOENT;

	if (id_is(ID_CONTAINER_FILE, id))
		r = store_cfile_get(core->store, NULL, NULL, id,
				    &core->row_cfile);
	if (r == -ENOENT)
		return error_set(err, ERR_NOT_FOUND, "There is no artifact '%s'",
				 id);
	return r < 0 ? error_set_errno(err, r, "Cannot read an artifact") : 0;
}

int core_admin_artifact_open(struct core *core, const char *id,
			     struct cfile_view *ret, int *ret_fd,
			     struct error *err)
{
	uint64_t bytes;
	int r;

	r = find(core, id, err);
	if (r < 0)
		return r;
	cfile_fill_view(&core->row_cfile, ret);
	r = blob_open(core->blobs, ret->sha256, ret_fd, &bytes);
	return r < 0 ? error_set_errno(err, r, "Cannot open an artifact") : 0;
}

int core_admin_artifact_delete(struct core *core, const char *id,
			       core_done_fn done, void *userdata,
			       struct error *err)
{
	struct store_batch *batch;
	int r;

	r = find(core, id, err);
	if (r < 0)
		return r;
	batch = store_batch_new(core->store);
	(void)store_batch_delete_cfile(batch, id);
	r = core_commit_for(core, batch, done, userdata, err);
	if (r >= 0)
		cfile_delete_in_guest(core, &core->row_cfile);
	return r;
}
