/* SPDX-License-Identifier: Apache-2.0 */
#include "core/load.h"

#include <errno.h>
#include <string.h>

#include "base/failpoint.h"
#include "core/budget.h"
#include "core/container.h"
#include "core/core_priv.h"
#include "core/vm.h"

/*
 * Taking up what an earlier daemon left.
 *
 * The ledger is read whole: VMs, containers that had not ended, executions that
 * were not over. Which VMs still run is the hypervisor process's to say
 * (reconcile.c); what cannot go on whatever it says ends in core_load_start().
 */

struct loading {
	struct core *core;
	int r;
};

static void keep_failure(struct loading *l, int r)
{
	if (r < 0 && l->r >= 0)
		l->r = r;
}

/* ------------------------------------------------------------------ tenants */

static void on_tenant(void *userdata, const struct store_tenant *row)
{
	struct loading *l = userdata;

	keep_failure(l, tenant_restore(l->core, row));
}

/* --------------------------------------------------------------- containers */

static void on_container(void *userdata, const struct store_container *row)
{
	struct loading *l = userdata;
	struct container *c;

	keep_failure(l, container_restore(l->core, row, &c));
}

static void on_cfile(void *userdata, const struct store_cfile *row)
{
	struct container *c = userdata;

	if (strcmp(row->source, "user") != 0)
		return;
	if (staged_add(c, row->id, row->path + strlen(CORE_DATA_DIR),
		       row->sha256, row->bytes) < 0)
		log_error(&c->scope, -ENOMEM, "Cannot place a file");
}

/* One whose files are not all placed gets them again, oldest first. */
static void load_staged(void *object, void *userdata)
{
	const struct store_page page = {
		.limit = STORE_PAGE_MAX,
		.ascending = true,
	};
	struct container *c = object;
	struct loading *l = userdata;

	if (c->state != SESSION_VIEW_BOOTING)
		return;
	keep_failure(l, store_cfile_list(l->core->store, c->tenant->id, c->id,
					 &page, on_cfile, c, NULL));
}

static void on_last_execution(void *userdata, const struct store_execution *row)
{
	struct container *c = userdata;

	c->next_number = (uint32_t)row->number + 1;
	if (!row->ended_usec)
		return;
	strcpy(c->last_exec, row->id);
	c->last_status = exec_status_parse(row->status);
	c->last_ended_usec = row->ended_usec;
}

static void load_number(void *object, void *userdata)
{
	const struct store_page page = { .limit = 1 };
	struct container *c = object;
	struct loading *l = userdata;

	keep_failure(l,
		     store_execution_list(l->core->store, c->tenant->id, c->id,
					  &page, on_last_execution, c, NULL));
}

/* --------------------------------------------------------------------- VMs */

/*
 * When a session was used last, on the boot clock. The ledger has a date, which
 * somebody may have set anew since; the VM's assignment is there on both clocks,
 * so the time between the two tells it.
 */
static void load_activity(struct container *c)
{
	const struct vm *vm = c->vm;
	usec_t now = clock_boot(c->core->clock);

	if (strcmp(vm->boot_id, c->core->boot_id) != 0)
		return;
	c->active_boot = usec_add(vm->assigned_boot_usec,
				  usec_sub(c->active_wall, vm->assigned_usec));
	if (c->active_boot > now)
		c->active_boot = now;
}

static void on_vm(void *userdata, const struct store_vm *row)
{
	struct loading *l = userdata;
	struct container *c;
	struct vm *vm;
	int r;

	r = vm_restore(l->core, row, &vm);
	keep_failure(l, r);
	if (r < 0)
		return;
	c = row->container_id[0] ?
		    map_get(&l->core->containers, row->container_id) :
		    NULL;
	if (c) {
		vm->container = c;
		c->vm = vm;
		if (vm->assigned_usec) {
			budget_begin(c);
			load_activity(c);
		}
		return;
	}
	pool_put(vm->pool, vm);
	/* Its container has ended, or it was never the pool's to hand out. */
	if (row->container_id[0])
		vm->reason = END_VM_CRASHED;
}

/* -------------------------------------------------------------- executions */

static void on_execution(void *userdata, const struct store_execution *row)
{
	struct loading *l = userdata;
	struct container *c = map_get(&l->core->containers, row->container_id);
	struct exec *e;
	int r;

	if (!c)
		return;
	r = exec_restore(c, row, &e);
	keep_failure(l, r);
	if (r >= 0)
		container_restore_exec(c, e);
}

static void load_waiting(void *object, void *userdata)
{
	struct exec *e = object;

	(void)userdata;
	if (e->state == EXEC_STATE_QUEUED && exec_load_waiting(e) < 0)
		log_warning(&e->scope, 0,
			    "The source of a waiting execution "
			    "is lost");
}

int core_load(struct core *core)
{
	struct loading l = { core, 0 };

	keep_failure(&l, store_tenant_each(core->store, on_tenant, &l));
	keep_failure(&l,
		     store_container_each_live(core->store, on_container, &l));
	keep_failure(&l, store_vm_each(core->store, on_vm, &l));
	map_each(&core->containers, load_staged, &l);
	map_each(&core->containers, load_number, &l);
	keep_failure(&l,
		     store_execution_each_open(core->store, on_execution, &l));
	map_each(&core->execs, load_waiting, NULL);
	return l.r;
}

/* ------------------------------------------------------------------- start */

static void end_lost_source(void *object, void *userdata)
{
	struct exec *e = object;

	(void)userdata;
	if (e->state == EXEC_STATE_QUEUED && !e->code)
		exec_lose(e, END_HOST_RESTART);
}

static enum end_reason lost_reason(const struct container *c)
{
	/* Its VM's line is gone, so the VM is; when, nobody noted. */
	return c->state == SESSION_VIEW_BOOTING ? END_BOOT_FAILED :
						  END_VM_CRASHED;
}

static void settle_container(void *object, void *userdata)
{
	struct container *c = object;

	(void)userdata;
	if (c->state == SESSION_VIEW_STOPPING) {
		container_lose_execs(c);
		container_destroy_vm(c);
	} else if (!c->vm) {
		container_end(c, lost_reason(c));
	} else {
		reaper_check(c);
	}
}

int core_load_lost(struct core *core, const struct store_container *row)
{
	struct container *c;
	int r;

	r = container_restore(core, row, &c);
	if (r < 0)
		return r;
	settle_container(c, NULL);
	return 0;
}

static void settle_vm(void *object, void *userdata)
{
	struct vm *vm = object;

	(void)userdata;
	if (!vm->container && vm->reason != END_NONE)
		vm_stop(vm, vm->reason);
}

void core_load_start(struct core *core)
{
	(void)failpoint("restart-loaded");
	map_each(&core->execs, end_lost_source, NULL);
	map_each(&core->containers, settle_container, NULL);
	map_each(&core->vms, settle_vm, NULL);
}
