/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_core_impl.h"

/* Toolboxes and agents in memory, by tenant, project and name. */

enum { DEFINITIONS_MAX = 16, VERSIONS_MAX = 8 };

static const struct {
	const char *word;
	const char *id;
	const char *version_id;
} kinds[] = {
	[DEFINITION_TOOLBOX] = { "Toolbox", "tbx", "tbxv" },
	[DEFINITION_AGENT] = { "Agent", "agt", "agtv" },
};

struct definition {
	enum definition_kind kind;
	char tenant[CORE_TENANT_MAX + 1];
	char project[CORE_PROJECT_MAX + 1];
	char name[CORE_DEFINITION_NAME_MAX + 1];
	char *text[VERSIONS_MAX + 1]; /* by number; NULL: none */
	bool draft[VERSIONS_MAX + 1];
	uint64_t default_version;
	uint64_t last_version;
	struct definition_state state;
};

struct fake_definitions {
	struct definition list[DEFINITIONS_MAX];
	unsigned count;
};

void fake_definitions_free(struct core *core)
{
	unsigned i, k;

	for (i = 0; core->definitions && i < core->definitions->count; i++)
		for (k = 1; k <= VERSIONS_MAX; k++)
			free(core->definitions->list[i].text[k]);
	free(core->definitions);
}

static bool belongs(const struct definition *d, const struct principal *who,
		    const struct definition_name *of)
{
	return d->kind == of->kind && strcmp(d->tenant, who->tenant) == 0 &&
	       strcmp(d->project, of->project) == 0 && d->name[0];
}

static struct definition *find(struct core *core, const struct principal *who,
			       const struct definition_name *name,
			       struct error *err)
{
	unsigned i;

	for (i = 0; core->definitions && i < core->definitions->count; i++) {
		struct definition *d = &core->definitions->list[i];

		if (belongs(d, who, name) && strcmp(d->name, name->name) == 0)
			return d;
	}
	error_set(err, ERR_NOT_FOUND, "%s '%s' not found",
		  kinds[name->kind].word, name->name);
	return NULL;
}

static struct definition *make(struct core *core, const struct principal *who,
			       const struct definition_name *name)
{
	struct definition *d;

	if (!core->definitions)
		core->definitions = calloc(1, sizeof(*core->definitions));
	if (!core->definitions || core->definitions->count == DEFINITIONS_MAX)
		abort();
	d = &core->definitions->list[core->definitions->count++];
	d->kind = name->kind;
	strcpy(d->tenant, who->tenant);
	strcpy(d->project, name->project);
	strcpy(d->name, name->name);
	return d;
}

static void fill(const struct core *core, const struct definition *d,
		 struct definition_view *ret)
{
	*ret = (struct definition_view){
		.name = d->name,
		.default_version = d->default_version,
		.disabled = d->state.disabled,
		.profile = d->state.profile,
		.created_at = 1790000000,
		.updated_at = 1790000001,
	};
	snprintf(ret->id, sizeof(ret->id), "%s_%td", kinds[d->kind].id,
		 d - core->definitions->list + 1);
}

static int fill_version(const struct core *core, const struct definition *d,
			uint64_t version, struct definition_version_view *ret,
			struct error *err)
{
	ptrdiff_t number = d - core->definitions->list + 1;

	if (version > VERSIONS_MAX || !d->text[version])
		return error_set(err, ERR_NOT_FOUND,
				 "%s '%s' has no version '%llu'",
				 kinds[d->kind].word, d->name,
				 (unsigned long long)version);
	*ret = (struct definition_version_view){
		.name = d->name,
		.version = version,
		.draft = d->draft[version],
		.created_at = 1790000000,
		.text = d->text[version],
	};
	snprintf(ret->id, sizeof(ret->id), "%s_%td_%llu",
		 kinds[d->kind].version_id, number,
		 (unsigned long long)version);
	snprintf(ret->definition_id, sizeof(ret->definition_id), "%s_%td",
		 kinds[d->kind].id, number);
	return 0;
}

int core_definition_get(struct core *core, const struct principal *who,
			const struct definition_name *name,
			struct definition_view *ret, struct error *err)
{
	struct definition *d = find(core, who, name, err);

	if (!d)
		return -ENOENT;
	fill(core, d, ret);
	return 0;
}

int core_definition_version_get(struct core *core, const struct principal *who,
				const struct definition_name *name,
				uint64_t version,
				struct definition_version_view *ret,
				struct error *err)
{
	struct definition *d = find(core, who, name, err);

	if (!d)
		return -ENOENT;
	return fill_version(core, d, version ? version : d->default_version,
			    ret, err);
}

/* Pages are core's; here it is all or one, in the order that is asked for. */
int core_definition_list(struct core *core, const struct principal *who,
			 const struct definition_name *of,
			 const struct core_page *page,
			 void (*each)(void *userdata,
				      const struct definition_view *definition),
			 void *userdata, bool *ret_more, struct error *err)
{
	unsigned count = core->definitions ? core->definitions->count : 0;
	struct definition_view view;
	unsigned i, given = 0;

	(void)err;
	*ret_more = false;
	for (i = 0; i < count; i++) {
		const struct definition *d =
			&core->definitions
				 ->list[page->ascending ? i : count - 1 - i];

		if (!belongs(d, who, of))
			continue;
		if (given++ == page->limit) {
			*ret_more = true;
			break;
		}
		fill(core, d, &view);
		each(userdata, &view);
	}
	return 0;
}

int core_definition_version_list(
	struct core *core, const struct principal *who,
	const struct definition_name *name, bool drafts,
	const struct core_page *page,
	void (*each)(void *userdata,
		     const struct definition_version_view *version),
	void *userdata, bool *ret_more, struct error *err)
{
	struct definition *d = find(core, who, name, err);
	struct definition_version_view view;
	uint64_t i;

	if (!d)
		return -ENOENT;
	*ret_more = false;
	for (i = 1; i <= d->last_version; i++)
		if (fill_version(core, d,
				 page->ascending ? i : d->last_version + 1 - i,
				 &view, NULL) == 0 &&
		    (drafts || !view.draft))
			each(userdata, &view);
	return 0;
}

static int add_version(struct core *core, struct definition *d,
		       const struct definition_spec *spec,
		       struct definition_version_view *ret)
{
	const char *before = d->text[d->default_version];

	if (spec->same && before && spec->same(spec->text, before))
		return fill_version(core, d, d->default_version, ret, NULL);
	if (d->last_version == VERSIONS_MAX)
		abort();
	d->text[++d->last_version] = strdup(spec->text);
	d->draft[d->last_version] = spec->draft;
	if (d->default_version == 0 ||
	    (d->kind == DEFINITION_AGENT &&
	     (!spec->draft || d->draft[d->default_version])))
		d->default_version = d->last_version;
	return fill_version(core, d, d->last_version, ret, NULL);
}

int core_definition_version_create(struct core *core,
				   const struct principal *who,
				   const struct definition_name *name,
				   const struct definition_spec *spec,
				   definition_version_fn done, void *userdata,
				   struct error *err)
{
	struct fake_later *later = fake_core_later(core, userdata);
	struct definition *d = find(core, who, name,
				    spec->need == DEFINITION_THERE
					    ? &later->err
					    : NULL);

	(void)err;
	later->definition_version = done;
	if (d && spec->need == DEFINITION_MISSING) {
		error_set(&later->err, ERR_CONFLICT, "It is there already");
		return 0;
	}
	if (!d && spec->need == DEFINITION_THERE)
		return 0;
	if (!d)
		d = make(core, who, name);
	return add_version(core, d, spec, &later->version_view);
}

int core_definition_promote(struct core *core, const struct principal *who,
			    const struct definition_name *name,
			    uint64_t version, definition_fn done,
			    void *userdata, struct error *err)
{
	struct fake_later *later = fake_core_later(core, userdata);
	struct definition *d = find(core, who, name, &later->err);
	struct definition_version_view view;

	(void)err;
	later->definition = done;
	if (d && fill_version(core, d, version, &view, &later->err) == 0) {
		d->default_version = version;
		fill(core, d, &later->definition_view);
	}
	return 0;
}

int core_definition_edit(struct core *core, const struct principal *who,
			 const struct definition_name *name,
			 definition_edit_fn edit, definition_fn done,
			 void *userdata, struct error *err)
{
	struct fake_later *later = fake_core_later(core, userdata);
	struct definition *d = find(core, who, name, &later->err);

	(void)err;
	later->definition = done;
	if (d && edit(userdata, &d->state, &later->err) == 0)
		fill(core, d, &later->definition_view);
	return 0;
}

/* The newest that is left, drafts last; 0: none. */
static uint64_t newest(const struct definition *d)
{
	uint64_t i, best = 0;

	for (i = 1; i <= d->last_version; i++)
		if (d->text[i] && (best == 0 || !d->draft[i] || d->draft[best]))
			best = i;
	return best;
}

int core_definition_version_delete(struct core *core,
				   const struct principal *who,
				   const struct definition_name *name,
				   uint64_t version, core_done_fn done,
				   void *userdata, struct error *err)
{
	struct fake_later *later = fake_core_later(core, userdata);
	struct definition *d = find(core, who, name, &later->err);
	struct definition_version_view view;

	(void)err;
	later->done = done;
	if (!d || fill_version(core, d, version, &view, &later->err) < 0)
		return 0;
	if (d->kind == DEFINITION_TOOLBOX && version == d->default_version) {
		error_set(&later->err, ERR_BAD_REQUEST, "it is the default");
		return 0;
	}
	free(d->text[version]);
	d->text[version] = NULL;
	if (version == d->default_version)
		d->default_version = newest(d);
	if (d->default_version == 0)
		d->name[0] = '\0';
	return 0;
}

int core_definition_delete(struct core *core, const struct principal *who,
			   const struct definition_name *name,
			   core_done_fn done, void *userdata,
			   struct error *err)
{
	struct fake_later *later = fake_core_later(core, userdata);
	struct definition *d = find(core, who, name, &later->err);

	(void)err;
	later->done = done;
	if (d)
		d->name[0] = '\0';
	return 0;
}
