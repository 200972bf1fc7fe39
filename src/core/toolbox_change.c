/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/event.h"
#include "core/core_priv.h"

/*
 * Changes of toolboxes.
 *
 * Which number a version has, and whether one may go, depends on what is there;
 * what is there is known when the change before is on the disk. Changes are
 * rare and small, so they all stand in one line: the first is decided when its
 * turn comes and is over when it is committed.
 */

/* Changes that may stand in the line. */
enum { CHANGES_MAX = 1024 };

struct toolbox_change;

typedef int decide_fn(struct toolbox_change *change, struct store_batch *batch,
		      struct error *err);

/**
 * struct toolbox_change - A change in the line
 * @decide:	Looks at what is there and fills the batch
 * @definition:	Of a new version; owned
 * @row, @made:	What the change leaves, for its answer
 */
struct toolbox_change {
	TAILQ_ENTRY(toolbox_change) in_line;
	struct core *core;
	decide_fn *decide;
	char tenant[STORE_TENANT_SIZE];
	char project[STORE_PROJECT_SIZE];
	char name[STORE_TOOLBOX_NAME_SIZE];
	uint64_t version;
	char *definition;
	struct store_toolbox row;
	struct store_toolbox_version made;
	toolbox_version_fn version_done;
	toolbox_fn toolbox_done;
	core_done_fn done;
	void *userdata;
};

static void change_free(struct toolbox_change *change)
{
	free(change->definition);
	free(change);
}

/* -------------------------------------------------------------- the answer */

static void change_answer(struct toolbox_change *change,
			  const struct error *err)
{
	struct toolbox_version_view version;
	struct toolbox_view toolbox;

	if (change->version_done) {
		toolbox_version_fill_view(&change->row, &change->made,
					  &version);
		change->version_done(change->userdata, err ? NULL : &version,
				     err);
	} else if (change->toolbox_done) {
		toolbox_fill_view(&change->row, &toolbox);
		change->toolbox_done(change->userdata, err ? NULL : &toolbox,
				     err);
	} else {
		change->done(change->userdata, err);
	}
}

/* The next one has its turn when the loop has unwound. */
static void change_end(struct toolbox_change *change, const struct error *err)
{
	struct toolboxes *boxes = &change->core->toolboxes;

	TAILQ_REMOVE(&boxes->changes, change, in_line);
	boxes->count--;
	change_answer(change, err);
	change_free(change);
	if (!TAILQ_EMPTY(&boxes->changes))
		(void)sd_event_source_set_enabled(boxes->next,
						  SD_EVENT_ONESHOT);
}

static void on_committed(void *userdata, int r)
{
	struct error err = ERROR_INIT;

	if (r < 0)
		core_store_failed(r, &err);
	change_end(userdata, r < 0 ? &err : NULL);
}

static int on_next(sd_event_source *source, void *userdata)
{
	struct core *core = userdata;
	struct toolbox_change *change = TAILQ_FIRST(&core->toolboxes.changes);
	struct store_batch *batch;
	struct error err = ERROR_INIT;
	int r;

	(void)source;
	batch = store_batch_new(core->store);
	r = change->decide(change, batch, &err);
	if (r >= 0) {
		r = store_commit(core->store, batch, on_committed, change);
		if (r < 0)
			core_store_failed(r, &err);
	}
	if (r < 0) {
		store_batch_free(batch);
		change_end(change, &err);
	}
	return 0;
}

/* ------------------------------------------------------------- the decision */

static int find_row(struct toolbox_change *change, struct error *err)
{
	const struct toolbox_name name = { change->project, change->name };

	return toolbox_find(change->core, change->tenant, &name, &change->row,
			    err);
}

static int check_count(struct toolbox_change *change, struct error *err)
{
	uint64_t count;
	int r;

	r = store_toolbox_version_count(change->core->store, change->tenant,
					&count);
	if (r < 0)
		return error_set_errno(err, r, "Cannot read a toolbox");
	if (count < CORE_TOOLBOX_VERSIONS_MAX)
		return 0;
	r = error_set(err, ERR_LIMIT,
		      "This tenant has %u versions of toolboxes; delete some",
		      CORE_TOOLBOX_VERSIONS_MAX);
	error_set_reason(err, "quota");
	return r;
}

static int make_row(struct toolbox_change *change, struct error *err)
{
	struct store_toolbox *row = &change->row;
	int r;

	*row = (struct store_toolbox){
		.default_version = 1,
		.created_usec = clock_wall(change->core->clock),
	};
	r = id_new(ID_TOOLBOX, row->id);
	if (r < 0)
		return error_set_errno(err, r, "Cannot make a toolbox");
	strcpy(row->tenant, change->tenant);
	strcpy(row->project, change->project);
	strcpy(row->name, change->name);
	return 0;
}

static int decide_create(struct toolbox_change *change,
			 struct store_batch *batch, struct error *err)
{
	struct store_toolbox_version *made = &change->made;
	struct store_toolbox *row = &change->row;
	int r;

	r = check_count(change, err);
	if (r < 0)
		return r;
	r = find_row(change, err);
	if (r == -ENOENT) {
		error_clear(err);
		r = make_row(change, err);
	}
	if (r >= 0)
		r = id_new(ID_TOOLBOX_VERSION, made->id);
	if (r < 0)
		return error_set_errno(err, r, "Cannot make a toolbox");
	row->last_version++;
	row->updated_usec = clock_wall(change->core->clock);
	strcpy(made->toolbox_id, row->id);
	strcpy(made->tenant, row->tenant);
	strcpy(made->definition, change->definition);
	made->version = row->last_version;
	made->created_usec = row->updated_usec;
	/* What fails is kept in the batch and told by its commit. */
	(void)store_batch_put_toolbox(batch, row);
	(void)store_batch_put_toolbox_version(batch, made);
	return 0;
}

static int decide_promote(struct toolbox_change *change,
			  struct store_batch *batch, struct error *err)
{
	int r;

	r = find_row(change, err);
	if (r >= 0)
		r = toolbox_version_find(change->core, &change->row,
					 change->version, &change->made, err);
	if (r < 0)
		return r;
	change->row.default_version = change->version;
	change->row.updated_usec = clock_wall(change->core->clock);
	(void)store_batch_put_toolbox(batch, &change->row);
	return 0;
}

static int decide_version_delete(struct toolbox_change *change,
				 struct store_batch *batch, struct error *err)
{
	int r;

	r = find_row(change, err);
	if (r >= 0)
		r = toolbox_version_find(change->core, &change->row,
					 change->version, &change->made, err);
	if (r < 0)
		return r;
	if (change->version == change->row.default_version)
		return error_set(err, ERR_BAD_REQUEST,
				 "Version '%llu' is the default of toolbox "
				 "'%s': promote another one first, or delete "
				 "the toolbox",
				 (unsigned long long)change->version,
				 change->name);
	(void)store_batch_delete_toolbox_version(batch, change->made.id);
	return 0;
}

static int decide_delete(struct toolbox_change *change,
			 struct store_batch *batch, struct error *err)
{
	int r;

	r = find_row(change, err);
	if (r >= 0)
		(void)store_batch_delete_toolbox(batch, change->row.id);
	return r;
}

/* ----------------------------------------------------------------- the line */

static int change_new(struct core *core, const struct principal *who,
		      const struct toolbox_name *name, decide_fn *decide,
		      void *userdata, struct toolbox_change **ret,
		      struct error *err)
{
	struct toolbox_change *change;
	int r;

	r = core_refuse(core, err);
	if (r < 0)
		return r;
	if (core->toolboxes.count >= CHANGES_MAX)
		return error_set(err, ERR_CAPACITY,
				 "%u changes of toolboxes wait already",
				 CHANGES_MAX);
	change = calloc(1, sizeof(*change));
	if (!change)
		return error_set_errno(err, -ENOMEM, "Cannot change a toolbox");
	change->core = core;
	change->decide = decide;
	change->userdata = userdata;
	strcpy(change->tenant, who->tenant);
	strncpy(change->project, name->project, sizeof(change->project) - 1);
	strncpy(change->name, name->name, sizeof(change->name) - 1);
	*ret = change;
	return 0;
}

static void change_add(struct toolbox_change *change)
{
	struct toolboxes *boxes = &change->core->toolboxes;

	if (TAILQ_EMPTY(&boxes->changes))
		(void)sd_event_source_set_enabled(boxes->next,
						  SD_EVENT_ONESHOT);
	TAILQ_INSERT_TAIL(&boxes->changes, change, in_line);
	boxes->count++;
}

int core_toolbox_version_create(struct core *core, const struct principal *who,
				const struct toolbox_name *name,
				const char *definition, toolbox_version_fn done,
				void *userdata, struct error *err)
{
	struct toolbox_change *change = NULL;
	int r;

	if (strlen(definition) > CORE_DEFINITION_MAX)
		return error_set(err, ERR_BAD_REQUEST,
				 "The version has %zu bytes, at most %d are "
				 "allowed",
				 strlen(definition), CORE_DEFINITION_MAX);
	r = change_new(core, who, name, decide_create, userdata, &change, err);
	if (r < 0)
		return r;
	change->version_done = done;
	change->definition = strdup(definition);
	if (!change->definition) {
		change_free(change);
		return error_set_errno(err, -ENOMEM, "Cannot make a toolbox");
	}
	change_add(change);
	return 0;
}

int core_toolbox_promote(struct core *core, const struct principal *who,
			 const struct toolbox_name *name, uint64_t version,
			 toolbox_fn done, void *userdata, struct error *err)
{
	struct toolbox_change *change = NULL;
	int r;

	r = change_new(core, who, name, decide_promote, userdata, &change, err);
	if (r < 0)
		return r;
	change->version = version;
	change->toolbox_done = done;
	change_add(change);
	return 0;
}

int core_toolbox_version_delete(struct core *core, const struct principal *who,
				const struct toolbox_name *name,
				uint64_t version, core_done_fn done,
				void *userdata, struct error *err)
{
	struct toolbox_change *change = NULL;
	int r;

	r = change_new(core, who, name, decide_version_delete, userdata,
		       &change, err);
	if (r < 0)
		return r;
	change->version = version;
	change->done = done;
	change_add(change);
	return 0;
}

int core_toolbox_delete(struct core *core, const struct principal *who,
			const struct toolbox_name *name, core_done_fn done,
			void *userdata, struct error *err)
{
	struct toolbox_change *change = NULL;
	int r;

	r = change_new(core, who, name, decide_delete, userdata, &change, err);
	if (r < 0)
		return r;
	change->done = done;
	change_add(change);
	return 0;
}

int toolboxes_init(struct core *core)
{
	TAILQ_INIT(&core->toolboxes.changes);
	return event_add_defer(core->event, on_next, core, "core-toolboxes",
			       &core->toolboxes.next);
}

void toolboxes_done(struct core *core)
{
	struct toolboxes *boxes = &core->toolboxes;
	struct toolbox_change *change;
	struct error err = ERROR_INIT;

	boxes->next = sd_event_source_disable_unref(boxes->next);
	error_set(&err, ERR_CAPACITY, "The server is stopping");
	/* Never begun, if memory ran out early. */
	while (boxes->count > 0) {
		change = TAILQ_FIRST(&boxes->changes);
		TAILQ_REMOVE(&boxes->changes, change, in_line);
		boxes->count--;
		change_answer(change, &err);
		change_free(change);
	}
}
