/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "core/core_priv.h"
#include "core/definition_change.h"

/* What a change of a definition comes to, decided when its turn has come. */

static struct definition_name name_of(const struct definition_change *change)
{
	return (struct definition_name){ change->kind, change->project,
					 change->name };
}

static int find_row(struct definition_change *change, struct error *err)
{
	const struct definition_name name = name_of(change);

	return definition_find(change->core, change->tenant, &name,
			       &change->core->definitions.changed, err);
}

static int find_version(struct definition_change *change, uint64_t version,
			struct error *err)
{
	struct definitions *all = &change->core->definitions;
	const struct definition_name name = name_of(change);

	return definition_version_find(change->core, &name, &all->changed,
				       version, &all->made, err);
}

static void touch(struct definition_change *change)
{
	struct core *core = change->core;

	core->definitions.changed.updated_usec = clock_wall(core->clock);
}

/* ------------------------------------------------------------ a new version */

static int check_count(struct definition_change *change, struct error *err)
{
	uint64_t count;
	int r;

	r = store_definition_version_count(change->core->store, change->tenant,
					   &count);
	if (r < 0)
		return error_set_errno(err, r, "Cannot read a definition");
	if (count < CORE_DEFINITION_VERSIONS_MAX)
		return 0;
	r = error_set(err, ERR_LIMIT,
		      "This tenant has %u versions of toolboxes and agents; "
		      "delete some",
		      CORE_DEFINITION_VERSIONS_MAX);
	error_set_reason(err, "quota");
	return r;
}

static int make_row(struct definition_change *change, struct error *err)
{
	const struct definition_type *type = definition_type_of(change->kind);
	struct store_definition *row = &change->core->definitions.changed;
	int r;

	*row = (struct store_definition){
		.created_usec = clock_wall(change->core->clock),
	};
	r = id_new(type->id, row->id);
	if (r < 0)
		return error_set_errno(err, r, "Cannot make a definition");
	strcpy(row->tenant, change->tenant);
	strcpy(row->kind, type->stored);
	strcpy(row->project, change->project);
	strcpy(row->name, change->name);
	return 0;
}

static int find_or_make(struct definition_change *change, struct error *err)
{
	int r = find_row(change, err);

	if (r >= 0 && change->need == DEFINITION_MISSING)
		return error_set(err, ERR_CONFLICT, "%s '%s' is there already",
				 definition_word(change->kind),
				 change->name);
	if (r != -ENOENT || change->need == DEFINITION_THERE)
		return r;
	error_clear(err);
	return make_row(change, err);
}

/* Return: 1 if it is to be the default one, 0 if not, or a negative errno */
static int becomes_default(struct definition_change *change, struct error *err)
{
	struct definitions *all = &change->core->definitions;
	int r;

	if (all->changed.default_version == 0)
		return 1;
	if (!definition_type_of(change->kind)->follows)
		return 0;
	if (!change->draft)
		return 1;
	r = find_version(change, all->changed.default_version, err);
	return r < 0 ? r : all->made.draft;
}

/* Return: 1 if the default version says the same and is in made, else 0 */
static int is_said(struct definition_change *change, struct error *err)
{
	struct definitions *all = &change->core->definitions;
	int r;

	if (!change->same || all->changed.default_version == 0)
		return 0;
	r = find_version(change, all->changed.default_version, err);
	return r < 0 ? r : change->same(change->text, all->made.text);
}

static int add_version(struct definition_change *change, bool is_default,
		       struct store_batch *batch, struct error *err)
{
	struct definitions *all = &change->core->definitions;
	struct store_definition_version *made = &all->made;
	struct store_definition *row = &all->changed;
	int r;

	*made = (struct store_definition_version){ .draft = change->draft };
	r = id_new(definition_type_of(change->kind)->version_id, made->id);
	if (r < 0)
		return error_set_errno(err, r, "Cannot make a definition");
	row->last_version++;
	if (is_default)
		row->default_version = row->last_version;
	touch(change);
	strcpy(made->definition_id, row->id);
	strcpy(made->tenant, row->tenant);
	strcpy(made->text, change->text);
	made->version = row->last_version;
	made->created_usec = row->updated_usec;
	(void)store_batch_put_definition(batch, row);
	(void)store_batch_put_definition_version(batch, made);
	return CHANGE_COMMIT;
}

int definition_decide_create(struct definition_change *change,
			     struct store_batch *batch, struct error *err)
{
	int r;

	r = find_or_make(change, err);
	if (r >= 0)
		r = is_said(change, err);
	if (r != 0)
		return r < 0 ? r : CHANGE_NOTHING;
	r = check_count(change, err);
	if (r >= 0)
		r = becomes_default(change, err);
	return r < 0 ? r : add_version(change, r > 0, batch, err);
}

/* -------------------------------------------------------- of the whole thing */

int definition_decide_promote(struct definition_change *change,
			      struct store_batch *batch, struct error *err)
{
	struct store_definition *row = &change->core->definitions.changed;
	int r;

	r = find_row(change, err);
	if (r >= 0)
		r = find_version(change, change->version, err);
	if (r < 0)
		return r;
	row->default_version = change->version;
	touch(change);
	(void)store_batch_put_definition(batch, row);
	return CHANGE_COMMIT;
}

int definition_decide_edit(struct definition_change *change,
			   struct store_batch *batch, struct error *err)
{
	struct store_definition *row = &change->core->definitions.changed;
	struct definition_state state = { .disabled = false };
	int r;

	r = find_row(change, err);
	if (r < 0)
		return r;
	state.disabled = row->disabled;
	strcpy(state.profile, row->profile);
	r = change->edit(change->userdata, &state, err);
	if (r < 0)
		return r;
	if (state.disabled == row->disabled &&
	    strcmp(state.profile, row->profile) == 0)
		return CHANGE_NOTHING;
	row->disabled = state.disabled;
	strcpy(row->profile, state.profile);
	touch(change);
	(void)store_batch_put_definition(batch, row);
	return CHANGE_COMMIT;
}

/* ------------------------------------------------------------------ deletion */

/* The default one goes: another takes its place, or all goes. */
static int replace_default(struct definition_change *change,
			   struct store_batch *batch, struct error *err)
{
	struct definitions *all = &change->core->definitions;
	struct store_definition *row = &all->changed;
	int r;

	if (!definition_type_of(change->kind)->follows)
		return error_set(err, ERR_BAD_REQUEST,
				 "Version '%llu' is the default of toolbox "
				 "'%s': promote another one first, or delete "
				 "the toolbox",
				 (unsigned long long)change->version,
				 change->name);
	r = store_definition_version_newest(change->core->store, row->tenant,
					    row->id, change->version,
					    &all->made);
	if (r == -ENOENT) {
		(void)store_batch_delete_definition(batch, row->id);
		return CHANGE_COMMIT;
	}
	if (r < 0)
		return error_set_errno(err, r, "Cannot read a definition");
	row->default_version = all->made.version;
	touch(change);
	(void)store_batch_put_definition(batch, row);
	return CHANGE_COMMIT;
}

int definition_decide_version_delete(struct definition_change *change,
				     struct store_batch *batch,
				     struct error *err)
{
	struct definitions *all = &change->core->definitions;
	int r;

	r = find_row(change, err);
	if (r >= 0)
		r = find_version(change, change->version, err);
	if (r < 0)
		return r;
	(void)store_batch_delete_definition_version(batch, all->made.id);
	if (change->version != all->changed.default_version)
		return CHANGE_COMMIT;
	return replace_default(change, batch, err);
}

int definition_decide_delete(struct definition_change *change,
			     struct store_batch *batch, struct error *err)
{
	int r;

	r = find_row(change, err);
	if (r < 0)
		return r;
	(void)store_batch_delete_definition(
		batch, change->core->definitions.changed.id);
	return CHANGE_COMMIT;
}
