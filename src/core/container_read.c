/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "core/container.h"
#include "core/handle.h"
#include "core/usage.h"
#include "core/vm.h"

/*
 * Looking containers up and showing them, whether they live or are only rows.
 */

static int not_found(const char *id, struct error *err)
{
	return error_set(err, ERR_NOT_FOUND,
			 "Container with id '%s' not found.", id);
}

/* A live object that this principal may see. */
static struct container *find_live(struct core *core,
				   const struct principal *who, const char *id)
{
	struct container *c = map_get(&core->containers, id);

	if (!c || c->erased || c->state == SESSION_VIEW_ACCEPTED ||
	    strcmp(c->tenant->id, who->tenant) != 0)
		return NULL;
	return c;
}

static int find_row(struct core *core, const struct principal *who,
		    const char *id, struct store_container *ret,
		    struct error *err)
{
	struct container *c = map_get(&core->containers, id);
	int r = -ENOENT;

	/* Erased, and its row may still say otherwise. */
	if (c && c->erased)
		return not_found(id, err);
	if (id_is(ID_CONTAINER, id))
		r = store_container_get(core->store, who->tenant, id, ret);
	if (r == -ENOENT || (r >= 0 && ret->deleted))
		return not_found(id, err);
	if (r < 0)
		return error_set_errno(err, r, "Cannot read a container");
	return 0;
}

int container_find(struct core *core, const struct principal *who,
		   const char *id, struct container **ret, struct error *err)
{
	struct container *c = find_live(core, who, id);
	struct store_container *row = &core->row_container;
	int r;

	if (c && !session_state_expired(c->state)) {
		*ret = c;
		return 0;
	}
	if (c)
		return end_reason_tell(id, c->reason, c->ended_usec, err);
	r = find_row(core, who, id, row, err);
	if (r < 0)
		return r;
	return end_reason_tell(id, end_reason_parse(row->ended_reason),
			       row->ended_usec, err);
}

int container_check(struct core *core, const struct principal *who,
		    const char *id, struct error *err)
{
	if (find_live(core, who, id))
		return 0;
	return find_row(core, who, id, &core->row_container, err);
}

/* ------------------------------------------------------------------- views */

static int64_t wall_sec(const struct core *core, usec_t boot)
{
	if (boot == USEC_INFINITY)
		return 0;
	return (int64_t)(clock_wall_of(core->clock, boot) / USEC_PER_SEC);
}

static void fill_limits(const struct container *c, struct container_view *ret)
{
	if (session_state_expired(c->state))
		return;
	ret->idle_expires_at = wall_sec(c->core, reaper_idle_deadline(c));
	ret->hard_expires_at = wall_sec(c->core, reaper_hard_deadline(c));
}

void container_fill_view(const struct container *c, struct container_view *ret)
{
	bool ended = c->state == SESSION_VIEW_ENDED;

	*ret = (struct container_view){
		.name = c->name,
		.tenant = c->tenant->id,
		.key_id = c->key_id,
		.origin = c->origin,
		.dialect = c->dialect,
		.created_at = (int64_t)(c->created_usec / USEC_PER_SEC),
		.last_active_at = (int64_t)(c->active_wall / USEC_PER_SEC),
		.idle_minutes = c->idle_minutes,
		.memory = c->memory,
		.memory_mib = c->memory_mib,
		.expired = session_state_expired(c->state),
		.state = c->state,
		.ended_reason = ended ? end_reason_name(c->reason) : NULL,
		.ended_at = (int64_t)(c->ended_usec / USEC_PER_SEC),
		.pool = c->pool->name,
		.image = c->image,
		.vm = c->vm ? c->vm->id : "",
		.kernel_epoch = c->kernel_epoch,
		.queued = c->queued,
	};
	strcpy(ret->id, c->id);
	if (c->running)
		strcpy(ret->executing, c->running->id);
	usage_fill_view(c, &ret->usage);
	fill_limits(c, ret);
}

void container_view_of_row(const struct store_container *row,
			   struct container_view *ret)
{
	*ret = (struct container_view){
		.name = row->name,
		.tenant = row->tenant,
		.key_id = row->key_id,
		.origin = row->origin,
		.dialect = dialect_parse(row->dialect),
		.created_at = (int64_t)(row->created_usec / USEC_PER_SEC),
		.last_active_at = (int64_t)(row->last_active_usec /
					    USEC_PER_SEC),
		.idle_minutes = row->idle_minutes,
		.memory = memory_tier_of_mib(row->memory_mib),
		.memory_mib = row->vm_memory_mib,
		.expired = true,
		.state = SESSION_VIEW_ENDED,
		.ended_reason = row->deleted ? end_reason_name(END_DELETED) :
					       row->ended_reason,
		.ended_at = (int64_t)(row->ended_usec / USEC_PER_SEC),
		.pool = row->pool,
		.image = row->image,
		.vm = row->vm_id,
		.kernel_epoch = row->kernel_epoch,
	};
	usage_view_of_row(row, &ret->usage);
	strcpy(ret->id, row->id);
}

int core_container_get(struct core *core, const struct principal *who,
		       const char *id, bool touch, struct container_view *ret,
		       struct error *err)
{
	struct container *c = find_live(core, who, id);
	int r;

	if (c) {
		if (touch && !session_state_expired(c->state))
			reaper_touch(c);
		container_fill_view(c, ret);
		return 0;
	}
	r = find_row(core, who, id, &core->row_container, err);
	if (r >= 0)
		container_view_of_row(&core->row_container, ret);
	return r;
}

int core_container_live(struct core *core, const struct principal *who,
			const char *id, struct container_view *ret,
			struct error *err)
{
	struct container *c;
	int r;

	r = container_find(core, who, id, &c, err);
	if (r < 0)
		return r;
	reaper_touch(c);
	container_fill_view(c, ret);
	return 0;
}

int core_container_named(struct core *core, const struct principal *who,
			 enum core_dialect dialect, const char *pool,
			 const char *name, bool touch,
			 struct container_view *ret, struct error *err)
{
	struct container *c = handle_find(core, who, dialect, pool, name);

	if (!c)
		return handle_tell_ended(core, who, dialect, pool, name, err);
	return core_container_get(core, who, c->id, touch, ret, err);
}

/** struct list_each - Rows of the store on their way to whoever asked */
struct list_each {
	struct core *core;
	bool all; /* what is deleted or ended, too */
	void (*each)(void *userdata, const struct container_view *container);
	void *userdata;
};

static void on_row(void *userdata, const struct store_container *row)
{
	struct list_each *list = userdata;
	struct container *c = map_get(&list->core->containers, row->id);
	struct container_view view;

	if (c && c->erased && !list->all)
		return;
	if (c)
		container_fill_view(c, &view);
	else
		container_view_of_row(row, &view);
	list->each(list->userdata, &view);
}

int core_container_list(struct core *core, const struct principal *who,
			const char *name, const struct core_page *page,
			void (*each)(void *userdata,
				     const struct container_view *container),
			void *userdata, bool *ret_more, struct error *err)
{
	struct list_each list = { core, false, each, userdata };
	const struct store_page rows = {
		.after = page->after,
		.limit = page->limit,
		.ascending = page->ascending,
	};
	int r;

	r = store_container_list(core->store, who->tenant, name, &rows, on_row,
				 &list, ret_more);
	return core_list_failed(r, page, err);
}

static void on_live(void *object, void *userdata)
{
	struct container *c = object;
	struct list_each *list = userdata;
	struct container_view view;

	container_fill_view(c, &view);
	list->each(list->userdata, &view);
}

/** struct named_list - Whose containers are asked for, and who asks */
struct named_list {
	const struct principal *who;
	enum core_dialect dialect;
	const char *pool;
	struct list_each list;
};

static void on_named(void *object, void *userdata)
{
	struct container *c = object;
	struct named_list *named = userdata;

	if (c->state != SESSION_VIEW_ACCEPTED && c->dialect == named->dialect &&
	    strcmp(c->tenant->id, named->who->tenant) == 0 &&
	    strcmp(c->key_id, named->who->key_id) == 0 &&
	    strcmp(c->pool->name, named->pool) == 0)
		on_live(c, &named->list);
}

void core_container_named_list(
	struct core *core, const struct principal *who,
	enum core_dialect dialect, const char *pool,
	void (*each)(void *userdata, const struct container_view *container),
	void *userdata)
{
	struct named_list named = {
		who, dialect, pool, { core, false, each, userdata }
	};

	map_each(&core->handles, on_named, &named);
}

int core_admin_containers(struct core *core, bool all,
			  void (*each)(void *userdata,
				       const struct container_view *container),
			  void *userdata, struct error *err)
{
	struct list_each list = { core, true, each, userdata };
	const struct store_page rows = { .limit = STORE_PAGE_MAX };
	int r;

	if (!all) {
		map_each(&core->containers, on_live, &list);
		return 0;
	}
	r = store_container_list(core->store, NULL, NULL, &rows, on_row, &list,
				 NULL);
	return r < 0 ? error_set_errno(err, r, "Cannot list containers") : 0;
}
