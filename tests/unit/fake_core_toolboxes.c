/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_core_impl.h"

/* Toolboxes in memory, by tenant, project and name. */

enum { BOXES_MAX = 8, VERSIONS_MAX = 8 };

struct box {
	char tenant[CORE_TENANT_MAX + 1];
	char project[CORE_PROJECT_MAX + 1];
	char name[CORE_TOOLBOX_NAME_MAX + 1];
	char *definition[VERSIONS_MAX + 1]; /* by number; NULL: none */
	uint64_t default_version;
	uint64_t last_version;
};

struct fake_toolboxes {
	struct box box[BOXES_MAX];
	unsigned count;
};

void fake_toolboxes_free(struct core *core)
{
	unsigned i, k;

	for (i = 0; core->toolboxes && i < core->toolboxes->count; i++)
		for (k = 1; k <= VERSIONS_MAX; k++)
			free(core->toolboxes->box[i].definition[k]);
	free(core->toolboxes);
}

static struct box *find(struct core *core, const struct principal *who,
			const struct toolbox_name *name, struct error *err)
{
	unsigned i;

	for (i = 0; core->toolboxes && i < core->toolboxes->count; i++) {
		struct box *box = &core->toolboxes->box[i];

		if (strcmp(box->tenant, who->tenant) == 0 &&
		    strcmp(box->project, name->project) == 0 &&
		    strcmp(box->name, name->name) == 0)
			return box;
	}
	error_set(err, ERR_NOT_FOUND, "Toolbox '%s' not found", name->name);
	return NULL;
}

static struct box *make(struct core *core, const struct principal *who,
			const struct toolbox_name *name)
{
	struct box *box;

	if (!core->toolboxes)
		core->toolboxes = calloc(1, sizeof(*core->toolboxes));
	if (!core->toolboxes || core->toolboxes->count == BOXES_MAX)
		abort();
	box = &core->toolboxes->box[core->toolboxes->count++];
	strcpy(box->tenant, who->tenant);
	strcpy(box->project, name->project);
	strcpy(box->name, name->name);
	box->default_version = 1;
	return box;
}

static void fill_box(const struct core *core, const struct box *box,
		     struct toolbox_view *ret)
{
	*ret = (struct toolbox_view){ .name = box->name,
				      .default_version = box->default_version,
				      .created_at = 1790000000,
				      .updated_at = 1790000001 };
	snprintf(ret->id, sizeof(ret->id), "tbx_%td",
		 box - core->toolboxes->box + 1);
}

static int fill_version(const struct core *core, const struct box *box,
			uint64_t version, struct toolbox_version_view *ret,
			struct error *err)
{
	if (version > VERSIONS_MAX || !box->definition[version])
		return error_set(err, ERR_NOT_FOUND,
				 "Toolbox '%s' has no version '%llu'",
				 box->name, (unsigned long long)version);
	*ret = (struct toolbox_version_view){
		.name = box->name,
		.version = version,
		.created_at = 1790000000,
		.definition = box->definition[version],
	};
	snprintf(ret->id, sizeof(ret->id), "tbxv_%td_%llu",
		 box - core->toolboxes->box + 1, (unsigned long long)version);
	snprintf(ret->toolbox_id, sizeof(ret->toolbox_id), "tbx_%td",
		 box - core->toolboxes->box + 1);
	return 0;
}

int core_toolbox_get(struct core *core, const struct principal *who,
		     const struct toolbox_name *name, struct toolbox_view *ret,
		     struct error *err)
{
	struct box *box = find(core, who, name, err);

	if (!box)
		return -ENOENT;
	fill_box(core, box, ret);
	return 0;
}

int core_toolbox_version_get(struct core *core, const struct principal *who,
			     const struct toolbox_name *name, uint64_t version,
			     struct toolbox_version_view *ret,
			     struct error *err)
{
	struct box *box = find(core, who, name, err);

	if (!box)
		return -ENOENT;
	return fill_version(core, box, version ? version : box->default_version,
			    ret, err);
}

/* Pages are core's; here it is all or one, in the order that is asked for. */
int core_toolbox_list(struct core *core, const struct principal *who,
		      const char *project, const struct core_page *page,
		      void (*each)(void *userdata,
				   const struct toolbox_view *toolbox),
		      void *userdata, bool *ret_more, struct error *err)
{
	unsigned count = core->toolboxes ? core->toolboxes->count : 0;
	struct toolbox_view view;
	unsigned i, given = 0;

	(void)err;
	*ret_more = false;
	for (i = 0; i < count; i++) {
		struct box *box = &core->toolboxes->box[page->ascending
								? i
								: count - 1 - i];

		if (strcmp(box->tenant, who->tenant) != 0 ||
		    strcmp(box->project, project) != 0)
			continue;
		if (given++ == page->limit) {
			*ret_more = true;
			break;
		}
		fill_box(core, box, &view);
		each(userdata, &view);
	}
	return 0;
}

int core_toolbox_version_list(
	struct core *core, const struct principal *who,
	const struct toolbox_name *name, const struct core_page *page,
	void (*each)(void *userdata,
		     const struct toolbox_version_view *version),
	void *userdata, bool *ret_more, struct error *err)
{
	struct box *box = find(core, who, name, err);
	struct toolbox_version_view view;
	uint64_t i;

	if (!box)
		return -ENOENT;
	*ret_more = false;
	for (i = 1; i <= box->last_version; i++)
		if (fill_version(core, box,
				 page->ascending ? i
						 : box->last_version + 1 - i,
				 &view, NULL) == 0)
			each(userdata, &view);
	return 0;
}

int core_toolbox_version_create(struct core *core, const struct principal *who,
				const struct toolbox_name *name,
				const char *definition, toolbox_version_fn done,
				void *userdata, struct error *err)
{
	struct box *box = find(core, who, name, NULL);
	struct fake_later *later;

	(void)err;
	if (!box)
		box = make(core, who, name);
	if (box->last_version == VERSIONS_MAX)
		abort();
	box->definition[++box->last_version] = strdup(definition);
	later = fake_core_later(core, userdata);
	later->toolbox_version = done;
	return fill_version(core, box, box->last_version, &later->version_view,
			    NULL);
}

int core_toolbox_promote(struct core *core, const struct principal *who,
			 const struct toolbox_name *name, uint64_t version,
			 toolbox_fn done, void *userdata, struct error *err)
{
	struct fake_later *later = fake_core_later(core, userdata);
	struct box *box = find(core, who, name, &later->err);
	struct toolbox_version_view view;

	(void)err;
	later->toolbox = done;
	if (box && fill_version(core, box, version, &view, &later->err) == 0) {
		box->default_version = version;
		fill_box(core, box, &later->toolbox_view);
	}
	return 0;
}

int core_toolbox_version_delete(struct core *core, const struct principal *who,
				const struct toolbox_name *name,
				uint64_t version, core_done_fn done,
				void *userdata, struct error *err)
{
	struct fake_later *later = fake_core_later(core, userdata);
	struct box *box = find(core, who, name, &later->err);
	struct toolbox_version_view view;

	(void)err;
	later->done = done;
	if (!box || fill_version(core, box, version, &view, &later->err) < 0)
		return 0;
	if (version == box->default_version) {
		error_set(&later->err, ERR_BAD_REQUEST, "it is the default");
		return 0;
	}
	free(box->definition[version]);
	box->definition[version] = NULL;
	return 0;
}

int core_toolbox_delete(struct core *core, const struct principal *who,
			const struct toolbox_name *name, core_done_fn done,
			void *userdata, struct error *err)
{
	struct fake_later *later = fake_core_later(core, userdata);
	struct box *box = find(core, who, name, &later->err);

	(void)err;
	later->done = done;
	if (box)
		box->name[0] = '\0';
	return 0;
}
