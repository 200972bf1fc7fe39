/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/event.h"
#include "core/core_priv.h"
#include "core/definition_change.h"

/*
 * The line of changes.
 *
 * Which number a version has, and whether one may go, depends on what is there;
 * what is there is known when the change before is on the disk. Changes are
 * rare and small, so they all stand in one line: the first is decided when its
 * turn comes and is over when it is committed.
 */

/* Changes that may stand in the line. */
enum { CHANGES_MAX = 512 };

static void change_free(struct definition_change *change)
{
	free(change->text);
	free(change);
}

/* -------------------------------------------------------------- the answer */

static void change_answer(struct definition_change *change,
			  const struct error *err)
{
	struct definitions *all = &change->core->definitions;
	struct definition_version_view version;
	struct definition_view definition;

	if (change->version_done) {
		definition_version_fill_view(&all->changed, &all->made,
					     &version);
		change->version_done(change->userdata, err ? NULL : &version,
				     err);
	} else if (change->definition_done) {
		definition_fill_view(&all->changed, &definition);
		change->definition_done(change->userdata,
					err ? NULL : &definition, err);
	} else {
		change->done(change->userdata, err);
	}
}

/* The next one has its turn when the loop has unwound. */
static void change_end(struct definition_change *change,
		       const struct error *err)
{
	struct definitions *all = &change->core->definitions;

	TAILQ_REMOVE(&all->changes, change, in_line);
	all->count--;
	change_answer(change, err);
	change_free(change);
	if (!TAILQ_EMPTY(&all->changes))
		(void)sd_event_source_set_enabled(all->next, SD_EVENT_ONESHOT);
}

static void on_committed(void *userdata, int r)
{
	struct error err = ERROR_INIT;

	if (r < 0)
		core_store_failed(r, &err);
	change_end(userdata, r < 0 ? &err : NULL);
}

static void store_batch_freep(struct store_batch **batch)
{
	store_batch_free(*batch);
}

static int change_begin(struct definition_change *change, struct error *err)
{
	struct core *core = change->core;
	_cleanup_(store_batch_freep) struct store_batch *batch = NULL;
	int r;

	batch = store_batch_new(core->store);
	r = change->decide(change, batch, err);
	if (r < 0)
		return r;
	if (r == CHANGE_NOTHING) {
		change_end(change, NULL);
		return 0;
	}
	r = store_commit(core->store, batch, on_committed, change);
	if (r < 0)
		return core_store_failed(r, err);
	batch = NULL;
	return 0;
}

static int on_next(sd_event_source *source, void *userdata)
{
	struct core *core = userdata;
	struct definition_change *change =
		TAILQ_FIRST(&core->definitions.changes);
	struct error err = ERROR_INIT;

	(void)source;
	if (change_begin(change, &err) < 0)
		change_end(change, &err);
	return 0;
}

/* ----------------------------------------------------------------- the line */

static int change_new(struct core *core, const struct principal *who,
		      const struct definition_name *name,
		      definition_decide_fn *decide, void *userdata,
		      struct definition_change **ret, struct error *err)
{
	struct definition_change *change;
	int r;

	r = core_refuse(core, err);
	if (r < 0)
		return r;
	if (core->definitions.count >= CHANGES_MAX)
		return error_set(err, ERR_CAPACITY,
				 "%u changes of toolboxes and agents wait "
				 "already",
				 CHANGES_MAX);
	change = calloc(1, sizeof(*change));
	if (!change)
		return error_set_errno(err, -ENOMEM,
				       "Cannot change a definition");
	change->core = core;
	change->kind = name->kind;
	change->decide = decide;
	change->userdata = userdata;
	strcpy(change->tenant, who->tenant);
	strncpy(change->project, name->project, sizeof(change->project) - 1);
	strncpy(change->name, name->name, sizeof(change->name) - 1);
	*ret = change;
	return 0;
}

static void change_add(struct definition_change *change)
{
	struct definitions *all = &change->core->definitions;

	if (TAILQ_EMPTY(&all->changes))
		(void)sd_event_source_set_enabled(all->next, SD_EVENT_ONESHOT);
	TAILQ_INSERT_TAIL(&all->changes, change, in_line);
	all->count++;
}

int core_definition_version_create(struct core *core,
				   const struct principal *who,
				   const struct definition_name *name,
				   const struct definition_spec *spec,
				   definition_version_fn done, void *userdata,
				   struct error *err)
{
	struct definition_change *change = NULL;
	int r;

	if (strlen(spec->text) > CORE_DEFINITION_MAX)
		return error_set(err, ERR_BAD_REQUEST,
				 "The version has %zu bytes, at most %d are "
				 "allowed",
				 strlen(spec->text), CORE_DEFINITION_MAX);
	r = change_new(core, who, name, definition_decide_create, userdata,
		       &change, err);
	if (r < 0)
		return r;
	change->version_done = done;
	change->draft = spec->draft;
	change->need = spec->need;
	change->same = spec->same;
	change->text = strdup(spec->text);
	if (!change->text) {
		change_free(change);
		return error_set_errno(err, -ENOMEM,
				       "Cannot make a definition");
	}
	change_add(change);
	return 0;
}

int core_definition_promote(struct core *core, const struct principal *who,
			    const struct definition_name *name,
			    uint64_t version, definition_fn done,
			    void *userdata, struct error *err)
{
	struct definition_change *change = NULL;
	int r;

	r = change_new(core, who, name, definition_decide_promote, userdata,
		       &change, err);
	if (r < 0)
		return r;
	change->version = version;
	change->definition_done = done;
	change_add(change);
	return 0;
}

int core_definition_edit(struct core *core, const struct principal *who,
			 const struct definition_name *name,
			 definition_edit_fn edit, definition_fn done,
			 void *userdata, struct error *err)
{
	struct definition_change *change = NULL;
	int r;

	r = change_new(core, who, name, definition_decide_edit, userdata,
		       &change, err);
	if (r < 0)
		return r;
	change->edit = edit;
	change->definition_done = done;
	change_add(change);
	return 0;
}

int core_definition_version_delete(struct core *core,
				   const struct principal *who,
				   const struct definition_name *name,
				   uint64_t version, core_done_fn done,
				   void *userdata, struct error *err)
{
	struct definition_change *change = NULL;
	int r;

	r = change_new(core, who, name, definition_decide_version_delete,
		       userdata, &change, err);
	if (r < 0)
		return r;
	change->version = version;
	change->done = done;
	change_add(change);
	return 0;
}

int core_definition_delete(struct core *core, const struct principal *who,
			   const struct definition_name *name,
			   core_done_fn done, void *userdata,
			   struct error *err)
{
	struct definition_change *change = NULL;
	int r;

	r = change_new(core, who, name, definition_decide_delete, userdata,
		       &change, err);
	if (r < 0)
		return r;
	change->done = done;
	change_add(change);
	return 0;
}

int definitions_init(struct core *core)
{
	TAILQ_INIT(&core->definitions.changes);
	return event_add_defer(core->event, on_next, core, "core-definitions",
			       &core->definitions.next);
}

void definitions_done(struct core *core)
{
	struct definitions *all = &core->definitions;
	struct definition_change *change;
	struct error err = ERROR_INIT;

	all->next = sd_event_source_disable_unref(all->next);
	error_set(&err, ERR_CAPACITY, "The server is stopping");
	/* Never begun, if memory ran out early. */
	while (all->count > 0) {
		change = TAILQ_FIRST(&all->changes);
		TAILQ_REMOVE(&all->changes, change, in_line);
		all->count--;
		change_answer(change, &err);
		change_free(change);
	}
}
