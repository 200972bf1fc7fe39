/* SPDX-License-Identifier: Apache-2.0 */
#include "core/definition.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "core/core_priv.h"

/* Looking definitions up. How they change is in definition_change.c. */

static const struct definition_type types[] = {
	[DEFINITION_TOOLBOX] = { "toolbox", ID_TOOLBOX, ID_TOOLBOX_VERSION,
				 false },
	[DEFINITION_AGENT] = { "agent", ID_AGENT, ID_AGENT_VERSION, true },
};
static_assert(sizeof(types) / sizeof(types[0]) == DEFINITION_KIND_COUNT,
	      "types[] doesn't match enum definition_kind");

const struct definition_type *definition_type_of(enum definition_kind kind)
{
	return &types[kind];
}

void definition_fill_view(const struct store_definition *row,
			  struct definition_view *ret)
{
	*ret = (struct definition_view){
		.name = row->name,
		.default_version = row->default_version,
		.disabled = row->disabled,
		.profile = row->profile,
		.created_at = (int64_t)(row->created_usec / USEC_PER_SEC),
		.updated_at = (int64_t)(row->updated_usec / USEC_PER_SEC),
	};
	strcpy(ret->id, row->id);
}

void definition_version_fill_view(
	const struct store_definition *row,
	const struct store_definition_version *version,
	struct definition_version_view *ret)
{
	*ret = (struct definition_version_view){
		.name = row->name,
		.version = version->version,
		.draft = version->draft,
		.created_at = (int64_t)(version->created_usec / USEC_PER_SEC),
		.text = version->text,
	};
	strcpy(ret->id, version->id);
	strcpy(ret->definition_id, version->definition_id);
}

int definition_find(struct core *core, const char *tenant,
		    const struct definition_name *name,
		    struct store_definition *ret, struct error *err)
{
	int r;

	r = store_definition_get(core->store, tenant,
				 definition_type_of(name->kind)->stored,
				 name->project, name->name, ret);
	if (r == -ENOENT)
		return error_set(err, ERR_NOT_FOUND, "%s '%s' not found",
				 definition_word(name->kind), name->name);
	return r < 0 ? error_set_errno(err, r, "Cannot read a definition") : 0;
}

int definition_version_find(struct core *core,
			    const struct definition_name *name,
			    const struct store_definition *row,
			    uint64_t version,
			    struct store_definition_version *ret,
			    struct error *err)
{
	int r;

	r = store_definition_version_get(core->store, row->tenant, row->id,
					 version, ret);
	if (r == -ENOENT)
		return error_set(err, ERR_NOT_FOUND,
				 "%s '%s' has no version '%llu'",
				 definition_word(name->kind),
				 row->name, (unsigned long long)version);
	return r < 0 ? error_set_errno(err, r, "Cannot read a definition") : 0;
}

int core_definition_get(struct core *core, const struct principal *who,
			const struct definition_name *name,
			struct definition_view *ret, struct error *err)
{
	struct store_definition *row = &core->definitions.row;
	int r;

	r = definition_find(core, who->tenant, name, row, err);
	if (r >= 0)
		definition_fill_view(row, ret);
	return r;
}

int core_definition_version_get(struct core *core, const struct principal *who,
				const struct definition_name *name,
				uint64_t version,
				struct definition_version_view *ret,
				struct error *err)
{
	struct store_definition_version *found = &core->definitions.version;
	struct store_definition *row = &core->definitions.row;
	int r;

	r = definition_find(core, who->tenant, name, row, err);
	if (r >= 0)
		r = definition_version_find(core, name, row,
					    version ? version
						    : row->default_version,
					    found, err);
	if (r >= 0)
		definition_version_fill_view(row, found, ret);
	return r;
}

/* ------------------------------------------------------------------- lists */

struct definition_each {
	void (*definition)(void *userdata,
			   const struct definition_view *definition);
	void (*version)(void *userdata,
			const struct definition_version_view *version);
	const struct store_definition *row; /* whose versions */
	void *userdata;
};

static void on_definition(void *userdata, const struct store_definition *row)
{
	const struct definition_each *list = userdata;
	struct definition_view view;

	definition_fill_view(row, &view);
	list->definition(list->userdata, &view);
}

static void on_version(void *userdata,
		       const struct store_definition_version *version)
{
	const struct definition_each *list = userdata;
	struct definition_version_view view;

	definition_version_fill_view(list->row, version, &view);
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

int core_definition_list(struct core *core, const struct principal *who,
			 const struct definition_name *of,
			 const struct core_page *page,
			 void (*each)(void *userdata,
				      const struct definition_view *definition),
			 void *userdata, bool *ret_more, struct error *err)
{
	struct definition_each list = { .definition = each,
					.userdata = userdata };
	const struct store_page rows = store_page_of(page);
	int r;

	r = store_definition_list(core->store, who->tenant,
				  definition_type_of(of->kind)->stored,
				  of->project, &rows, on_definition, &list,
				  ret_more);
	return core_list_failed(r, page, err);
}

int core_definition_version_list(
	struct core *core, const struct principal *who,
	const struct definition_name *name, bool drafts,
	const struct core_page *page,
	void (*each)(void *userdata,
		     const struct definition_version_view *version),
	void *userdata, bool *ret_more, struct error *err)
{
	struct store_definition *row = &core->definitions.row;
	struct definition_each list = { .version = each,
					.row = row,
					.userdata = userdata };
	const struct store_page rows = store_page_of(page);
	int r;

	r = definition_find(core, who->tenant, name, row, err);
	if (r < 0)
		return r;
	r = store_definition_version_list(core->store, who->tenant, row->id,
					  drafts, &rows, on_version, &list,
					  ret_more);
	return core_list_failed(r, page, err);
}
