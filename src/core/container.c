/* SPDX-License-Identifier: Apache-2.0 */
#include "core/container.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/failpoint.h"
#include "base/name.h"
#include "core/budget.h"
#include "core/guest_xfer.h"
#include "core/handle.h"
#include "core/notice.h"
#include "core/pull.h"
#include "core/usage.h"
#include "core/vm.h"

#include <systemd/sd-id128.h>

/*
 * Theory of operation
 *
 *	core_container_create()	room, a VM that is claimed or planned, the rows
 *	container_begin()	they are on the disk
 *	container_vm_ready()	files are placed, then executions are taken
 *	container_end()		the first reason counts: what runs is lost, the
 *				last files are fetched if the reason lets them
 *	container_destroy_vm()	the VM goes
 *	container_vm_gone()	the session has ended; the record says why
 *
 * A container is in memory as long as it has a session. From then on it is rows
 * of the store: see container_read.c.
 */

/* The events that operators script on; in the manual by these ids. */
static const sd_id128_t message_session_opened = SD_ID128_MAKE(
	7c, 1d, 0f, 5a, 35, 5e, 4b, 7e, 9a, 5c, 8e, 1b, 62, 4f, 0a, 11);
static const sd_id128_t message_session_closed = SD_ID128_MAKE(
	7c, 1d, 0f, 5a, 35, 5e, 4b, 7e, 9a, 5c, 8e, 1b, 62, 4f, 0a, 12);

/* The only place that writes c->state. */
static void session_enter(struct container *c, enum session_state_view to)
{
	assert(session_state_may_follow(c->state, to));
	log_debug(&c->scope, "Session %s -> %s", session_state_name(c->state),
		  session_state_name(to));
	c->state = to;
}

void session_set_executing(struct container *c, bool executing)
{
	if (executing && c->state == SESSION_VIEW_RUNNING)
		session_enter(c, SESSION_VIEW_EXECUTING);
	else if (!executing && c->state == SESSION_VIEW_EXECUTING)
		session_enter(c, SESSION_VIEW_RUNNING);
}

void container_free(void *object)
{
	struct container *c = object;

	if (!c)
		return;
	staged_clear(c);
	pull_free(c->harvest);
	timer_free(c->limit);
	timer_free(c->harvest_deadline);
	timer_free(c->pump);
	free(c);
}

static void container_freep(struct container **c)
{
	container_free(*c);
}

static unsigned default_minutes(const struct core *core,
				enum core_dialect dialect)
{
	if (dialect == DIALECT_OPENAI || dialect == DIALECT_MCP)
		return CORE_MINUTES_DEFAULT;
	/* Rounded up: no minute is not a limit. */
	return (unsigned)((core->set.idle[dialect] + USEC_PER_MINUTE - 1) /
			  USEC_PER_MINUTE);
}

static void container_set_idle(struct container *c, unsigned minutes)
{
	unsigned usual = default_minutes(c->core, c->dialect);

	c->idle_minutes = minutes ? minutes : usual;
	if (c->idle_minutes == usual)
		c->idle_usec = c->core->set.idle[c->dialect];
	else
		c->idle_usec = c->idle_minutes * c->core->set.minute;
}

static int container_alloc(struct core *core, struct container **ret)
{
	_cleanup_(container_freep) struct container *c = NULL;
	int r;

	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->core = core;
	c->scope.session_id = c->id;
	c->next_number = 1;
	TAILQ_INIT(&c->queue);
	TAILQ_INIT(&c->unreleased);
	TAILQ_INIT(&c->staged);
	r = reaper_init(c);
	if (r >= 0)
		r = container_init_pump(c);
	if (r < 0)
		return r;
	*ret = take_ptr(c);
	return 0;
}

int container_new(struct core *core, const struct container_spec *spec,
		  const struct principal *who, struct pool *pool,
		  struct container **ret, struct error *err)
{
	_cleanup_(container_freep) struct container *c = NULL;
	int r;

	r = name_check_text(spec->name, strlen(spec->name), CORE_NAME_MAX, err);
	if (r < 0) {
		error_set_param(err, "name");
		return r;
	}
	r = container_alloc(core, &c);
	if (r >= 0)
		r = id_new(ID_CONTAINER, c->id);
	if (r < 0)
		return error_set_errno(err, r, "Cannot make a container");

	c->tenant = tenant_get(core, who->tenant);
	if (!c->tenant)
		return error_set_errno(err, -ENOMEM, "Cannot make a container");
	strcpy(c->key_id, who->key_id);
	strcpy(c->name, spec->name);
	strncpy(c->origin, spec->origin ? spec->origin : CORE_ORIGIN_API,
		sizeof(c->origin) - 1);
	strcpy(c->image, pool->image);
	c->dialect = spec->dialect;
	c->memory = spec->memory;
	c->pool = pool;
	c->state = SESSION_VIEW_ACCEPTED;
	c->created_usec = clock_wall(core->clock);
	c->asked_usec = clock_boot(core->guest_clock);
	c->active_wall = c->created_usec;
	c->active_boot = clock_boot(core->clock);
	container_set_idle(c, spec->idle_minutes);
	*ret = take_ptr(c);
	return 0;
}

static enum session_state_view restored_state(const struct store_container *row)
{
	/* One that was placing its files does it again. */
	if (row->ended_reason[0])
		return SESSION_VIEW_STOPPING;
	if (strcmp(row->state, session_state_name(SESSION_VIEW_RUNNING)) == 0 ||
	    strcmp(row->state, session_state_name(SESSION_VIEW_EXECUTING)) == 0)
		return SESSION_VIEW_RUNNING;
	return SESSION_VIEW_BOOTING;
}

static void restore_usage(struct container *c,
			  const struct store_container *row)
{
	c->usage.executions = row->usage_executions;
	c->usage.bytes_in = row->usage_bytes_in;
	c->usage.bytes_out = row->usage_bytes_out;
	c->executing_usec = row->usage_executing_usec;
	c->cpu_usec = row->usage_cpu_usec;
	c->assigned_usec = row->usage_assigned_usec;
}

int container_restore(struct core *core, const struct store_container *row,
		      struct container **ret)
{
	_cleanup_(container_freep) struct container *c = NULL;
	struct pool *pool = pool_find(core, row->pool);
	usec_t idle_for =
		usec_sub(clock_wall(core->clock), row->last_active_usec);
	int r;

	r = container_alloc(core, &c);
	if (r < 0)
		return r;
	c->tenant = tenant_get(core, row->tenant);
	if (!c->tenant)
		return -ENOMEM;
	strcpy(c->id, row->id);
	strcpy(c->key_id, row->key_id);
	strcpy(c->name, row->name);
	strcpy(c->origin, row->origin);
	strcpy(c->image, row->image);
	c->dialect = dialect_parse(row->dialect);
	c->memory = memory_tier_of_mib(row->memory_mib);
	c->memory_mib = row->vm_memory_mib;
	c->pool = pool ? pool : &core->pools.pool[0];
	c->state = restored_state(row);
	c->reason = end_reason_parse(row->ended_reason);
	c->kernel_epoch = row->kernel_epoch;
	c->created_usec = row->created_usec;
	c->active_wall = row->last_active_usec;
	c->active_boot = usec_sub(clock_boot(core->clock), idle_for);
	c->erased = row->deleted || c->tenant->closed_usec;
	if (c->erased && c->reason == END_NONE) {
		c->state = SESSION_VIEW_STOPPING;
		c->reason = END_DELETED;
	}
	container_set_idle(c, row->idle_minutes);
	restore_usage(c, row);
	r = map_put(&core->containers, &c->node, c->id, c);
	if (r < 0)
		return r;
	if (c->state != SESSION_VIEW_STOPPING)
		r = handle_take(c);
	if (r < 0) {
		map_remove(&core->containers, &c->node);
		return r;
	}
	c->tenant->sessions++;
	*ret = take_ptr(c);
	return 0;
}

/* ------------------------------------------------------------------ begin */

/* A reason that came before the intent was durable. */
static void container_stop(struct container *c);

void container_begin(struct container *c)
{
	session_enter(c, SESSION_VIEW_BOOTING);
	c->core->metrics.sessions_created++;
	log_event(&c->scope, LOG_INFO, message_session_opened,
		  "Session begins on VM '%s', pool '%s'",
		  c->vm ? c->vm->id : "none", c->pool->name);
	notice_opened(c);
	if (c->reason != END_NONE) {
		container_stop(c);
		return;
	}
	if (c->vm->state == VM_PLANNED)
		vm_start(c->vm);
	else if (vm_linked(c->vm))
		container_vm_ready(c);
}

void container_bury(struct container *c)
{
	handle_drop(c);
	owed_drop(c->core, &c->owed);
	container_detach_execs(c);
	map_remove(&c->core->containers, &c->node);
	tenant_give_session(c->core, c->tenant);
	drain_session_over(c->core);
	timer_clear(c->limit);
	timer_clear(c->harvest_deadline);
	timer_clear(c->pump);
	gc_bury(&c->core->gc, &c->buried, container_free, c);
}

void container_forget(struct container *c)
{
	struct vm *vm = take_ptr(c->vm);

	session_enter(c, SESSION_VIEW_ENDED);
	if (vm) {
		vm->container = NULL;
		pool_put(c->pool, vm);
		/* A claimed one is as good as new: nothing was done with it. */
		if (vm->state == VM_PLANNED)
			vm_forget(vm);
	}
	container_bury(c);
}

static void container_assign(struct container *c)
{
	if (c->vm->assigned_usec)
		return;
	vm_assign(c->vm);
	c->kernel_epoch = c->vm->kernel_epoch;
	strcpy(c->image, c->vm->image);
	budget_begin(c);
	container_save_assigned(c);
	reaper_check(c);
}

void container_vm_ready(struct container *c)
{
	if (c->state == SESSION_VIEW_BOOTING) {
		container_assign(c);
		placing_next(c);
	} else if (!session_state_expired(c->state)) {
		container_pump(c);
	}
}

static void count_create(struct container *c)
{
	usec_t now = clock_boot(c->core->guest_clock);

	if (c->asked_usec)
		pool_metrics_create(&c->pool->metrics, c->found,
				    usec_sub(now, c->asked_usec));
	c->asked_usec = 0;
}

void container_placed(struct container *c)
{
	if (c->state != SESSION_VIEW_BOOTING)
		return;
	(void)failpoint("create-files-placed");
	session_enter(c, SESSION_VIEW_RUNNING);
	count_create(c);
	/* The idle clock begins now. */
	c->active_boot = clock_boot(c->core->clock);
	container_save(c);
	container_pump(c);
	reaper_check(c);
}

void container_link_lost(struct container *c)
{
	guest_xfer_cancel(take_ptr(c->placing));
	if (c->state == SESSION_VIEW_STOPPING)
		container_destroy_vm(c);
}

/* -------------------------------------------------------------------- end */

/* Where there is a guest that works, its last files are worth waiting for. */
bool reason_harvests(enum end_reason reason)
{
	return reason == END_IDLE_TIMEOUT || reason == END_HARD_LIMIT ||
	       reason == END_DRAINED || reason == END_BUDGET;
}

static void container_stop(struct container *c)
{
	session_enter(c, SESSION_VIEW_STOPPING);
	handle_drop(c);
	log_info(&c->scope, "Session stops (%s)", end_reason_name(c->reason));
	guest_xfer_cancel(take_ptr(c->placing));
	container_lose_execs(c);
	if (reason_harvests(c->reason)) {
		/* When all that reached a limit with it have stopped, too. */
		timer_set(c->harvest_deadline, 0);
		return;
	}
	(void)failpoint("stop-before-intent");
	container_save(c);
	container_destroy_vm(c);
}

void container_harvest(struct container *c)
{
	(void)failpoint("stop-before-intent");
	container_save(c);
	timer_set_after(c->harvest_deadline, CONTAINER_HARVEST_USEC);
	c->harvest_since = clock_boot(c->core->guest_clock);
	/* An execution whose files are being fetched comes first. */
	if (!c->running && !harvest_start(c))
		container_destroy_vm(c);
}

void container_end(struct container *c, enum end_reason reason)
{
	if (c->reason != END_NONE) {
		/* Whoever deletes, or a guest that fails, ends a harvest. */
		if (c->state == SESSION_VIEW_STOPPING && c->vm)
			container_destroy_vm(c);
		return;
	}
	c->reason = reason;
	if (c->state != SESSION_VIEW_ACCEPTED)
		container_stop(c);
}

static void container_over(struct container *c);

void container_destroy_vm(struct container *c)
{
	harvest_stop(c);
	if (c->running)
		exec_lose(c->running, c->reason);
	if (c->vm)
		vm_stop(c->vm, c->reason);
	else
		container_over(c);
}

static void container_over(struct container *c)
{
	if (c->state == SESSION_VIEW_ENDED)
		return;
	(void)failpoint("stop-before-record");
	session_enter(c, SESSION_VIEW_ENDED);
	c->ended_usec = clock_wall(c->core->clock);
	budget_end(c);
	c->core->metrics.sessions_ended[c->reason]++;
	log_event(&c->scope, LOG_INFO, message_session_closed,
		  "Session has ended (%s)", end_reason_name(c->reason));
	notice_ended(c);
	container_save_end(c);
}

void container_sample(struct container *c, uint64_t cpu_usec)
{
	/* A process that is no child any more is sampled a little late. */
	if (cpu_usec > c->cpu_usec)
		c->cpu_usec = cpu_usec;
}

void container_vm_gone(struct container *c, uint64_t cpu_usec)
{
	struct vm *vm = c->vm;

	harvest_stop(c);
	if (c->running && c->state == SESSION_VIEW_STOPPING)
		exec_lose(c->running, c->reason);
	/* What was sampled before counts where the last word is missing. */
	container_sample(c, cpu_usec);
	c->assigned_usec = usage_assigned(c);
	if (c->state < SESSION_VIEW_STOPPING)
		container_end(c, vm->reason);
	if (c->state == SESSION_VIEW_STOPPING)
		container_over(c);
	c->vm = NULL;
}

static void container_free_one(void *object, void *userdata)
{
	struct container *c = object;
	struct core *core = userdata;

	guest_xfer_cancel(take_ptr(c->placing));
	container_detach_execs(c);
	handle_drop(c);
	owed_drop(core, &c->owed);
	map_remove(&core->containers, &c->node);
	container_free(c);
}

void container_free_all(struct core *core)
{
	map_each(&core->containers, container_free_one, core);
	map_done(&core->containers);
	map_done(&core->handles);
}
