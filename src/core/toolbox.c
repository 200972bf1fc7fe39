/* SPDX-License-Identifier: Apache-2.0 */
#include "core/toolbox.h"

#include <errno.h>
#include <string.h>

#include "core/core_priv.h"

/* Looking toolboxes up. How they change is in toolbox_change.c. */

void toolbox_fill_view(const struct store_toolbox *row,
		       struct toolbox_view *ret)
{
	*ret = (struct toolbox_view){
		.name = row->name,
		.default_version = row->default_version,
		.created_at = (int64_t)(row->created_usec / USEC_PER_SEC),
		.updated_at = (int64_t)(row->updated_usec / USEC_PER_SEC),
	};
	strcpy(ret->id, row->id);
}

void toolbox_version_fill_view(const struct store_toolbox *row,
			       const struct store_toolbox_version *version,
			       struct toolbox_version_view *ret)
{
	*ret = (struct toolbox_version_view){
		.name = row->name,
		.version = version->version,
		.created_at = (int64_t)(version->created_usec / USEC_PER_SEC),
		.definition = version->definition,
	};
	strcpy(ret->id, version->id);
	strcpy(ret->toolbox_id, version->toolbox_id);
}

int toolbox_find(struct core *core, const char *tenant,
		 const struct toolbox_name *name, struct store_toolbox *ret,
		 struct error *err)
{
	int r;

	r = store_toolbox_get(core->store, tenant, name->project, name->name,
			      ret);
	if (r == -ENOENT)
		return error_set(err, ERR_NOT_FOUND, "Toolbox '%s' not found",
				 name->name);
	return r < 0 ? error_set_errno(err, r, "Cannot read a toolbox") : 0;
}

int toolbox_version_find(struct core *core, const struct store_toolbox *row,
			 uint64_t version, struct store_toolbox_version *ret,
			 struct error *err)
{
	int r;

	r = store_toolbox_version_get(core->store, row->tenant, row->id,
				      version, ret);
	if (r == -ENOENT)
		return error_set(err, ERR_NOT_FOUND,
				 "Toolbox '%s' has no version '%llu'",
				 row->name, (unsigned long long)version);
	return r < 0 ? error_set_errno(err, r, "Cannot read a toolbox") : 0;
}

int core_toolbox_get(struct core *core, const struct principal *who,
		     const struct toolbox_name *name, struct toolbox_view *ret,
		     struct error *err)
{
	struct store_toolbox *row = &core->toolboxes.row;
	int r;

	r = toolbox_find(core, who->tenant, name, row, err);
	if (r >= 0)
		toolbox_fill_view(row, ret);
	return r;
}

int core_toolbox_version_get(struct core *core, const struct principal *who,
			     const struct toolbox_name *name, uint64_t version,
			     struct toolbox_version_view *ret,
			     struct error *err)
{
	struct store_toolbox_version *found = &core->toolboxes.version;
	struct store_toolbox *row = &core->toolboxes.row;
	int r;

	r = toolbox_find(core, who->tenant, name, row, err);
	if (r >= 0)
		r = toolbox_version_find(core, row,
					 version ? version :
						   row->default_version,
					 found, err);
	if (r >= 0)
		toolbox_version_fill_view(row, found, ret);
	return r;
}

/* ------------------------------------------------------------------- lists */

struct toolbox_each {
	void (*toolbox)(void *userdata, const struct toolbox_view *toolbox);
	void (*version)(void *userdata,
			const struct toolbox_version_view *version);
	const struct store_toolbox *row; /* whose versions */
	void *userdata;
};

static void on_toolbox(void *userdata, const struct store_toolbox *row)
{
	const struct toolbox_each *list = userdata;
	struct toolbox_view view;

	toolbox_fill_view(row, &view);
	list->toolbox(list->userdata, &view);
}

static void on_version(void *userdata,
		       const struct store_toolbox_version *version)
{
	const struct toolbox_each *list = userdata;
	struct toolbox_version_view view;

	toolbox_version_fill_view(list->row, version, &view);
	list->version(list->userdata, &view);
}

static struct store_page store_page_of(const struct core_page *page)
{
	return (struct store_page){
		.after = page->after,
		.limit = page->limit,
		.ascending = page->ascending,
	};
}

int core_toolbox_list(struct core *core, const struct principal *who,
		      const char *project, const struct core_page *page,
		      void (*each)(void *userdata,
				   const struct toolbox_view *toolbox),
		      void *userdata, bool *ret_more, struct error *err)
{
	struct toolbox_each list = { .toolbox = each, .userdata = userdata };
	const struct store_page rows = store_page_of(page);
	int r;

	r = store_toolbox_list(core->store, who->tenant, project, &rows,
			       on_toolbox, &list, ret_more);
	return core_list_failed(r, page, err);
}

int core_toolbox_version_list(
	struct core *core, const struct principal *who,
	const struct toolbox_name *name, const struct core_page *page,
	void (*each)(void *userdata,
		     const struct toolbox_version_view *version),
	void *userdata, bool *ret_more, struct error *err)
{
	struct store_toolbox *row = &core->toolboxes.row;
	struct toolbox_each list = { .version = each,
				     .row = row,
				     .userdata = userdata };
	const struct store_page rows = store_page_of(page);
	int r;

	r = toolbox_find(core, who->tenant, name, row, err);
	if (r < 0)
		return r;
	r = store_toolbox_version_list(core->store, who->tenant, row->id, &rows,
				       on_version, &list, ret_more);
	return core_list_failed(r, page, err);
}
