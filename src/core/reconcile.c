/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reconcile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/failpoint.h"
#include "core/core_priv.h"
#include "core/vm.h"

/*
 * A list is a snapshot: a VM whose create was answered after it was taken is
 * rightly missing. So before asking, each VM that vmd must know already is
 * marked, and only what was marked and did not come is gone.
 */

static void mark_expected(void *object, void *userdata)
{
	struct vm *vm = object;

	(void)userdata;
	vm->expected = !vm->creating && !vm->committing &&
		       (vm->state != VM_PLANNED || vm->restored);
}

/* What it means that a VM which should be there is not. */
static enum end_reason missing_reason(const struct vm *vm)
{
	if (strcmp(vm->boot_id, vm->core->boot_id) != 0)
		return END_HOST_RESTART;
	/* A create cut short, by whichever process ended in between. */
	if (vm->assigned_usec == 0)
		return END_BOOT_FAILED;
	return END_VM_CRASHED;
}

void reconcile_end_absent(struct vm *vm)
{
	vm_gone(vm, missing_reason(vm), VMD_UNKNOWN);
}

static void end_missing(void *object, void *userdata)
{
	struct vm *vm = object;

	(void)userdata;
	if (vm->expected)
		reconcile_end_absent(vm);
}

static void on_stray_destroyed(int r, const struct error *err, void *userdata)
{
	(void)userdata;
	if (r < 0)
		log_warning(NULL, 0,
			    "Cannot destroy a VM that the ledger "
			    "does not have: %s",
			    err ? err->message : strerror(-r));
}

int reconcile_end_stray(struct core *core, const char *vm_id)
{
	log_warning(NULL, 0, "VM '%s' is not in the ledger, destroying it",
		    vm_id);
	return vmd_client_destroy(core->vmd, vm_id, on_stray_destroyed, NULL);
}

static void on_item(const struct vmd_vm *item, void *userdata)
{
	struct core *core = userdata;
	struct vm *vm = map_get(&core->vms, item->vm_id);

	if (vm) {
		vm_seen(vm, item);
		return;
	}
	if (item->state == VMD_STATE_GONE || item->state == VMD_STATE_STOPPING)
		return;
	(void)failpoint("restart-stray-found");
	(void)reconcile_end_stray(core, item->vm_id);
}

static void on_listed(int r, const struct error *err, void *userdata)
{
	struct core *core = userdata;
	struct reconcile *rec = &core->reconcile;

	rec->listing = false;
	if (r < 0) {
		if (r != -ECONNRESET)
			log_warning(NULL, 0, "Cannot list VMs: %s",
				    err ? err->message : strerror(-r));
		return;
	}
	(void)failpoint("restart-listed");
	map_each(&core->vms, end_missing, NULL);
	if (rec->again) {
		rec->again = false;
		reconcile_now(core);
	}
	if (rec->once)
		return;
	rec->once = true;
	log_info(NULL, "Ledger and VMs are compared, %zu VMs go on",
		 core->vms.count);
	pools_fill(core, !core->stopping && !core->drain.on);
	if (rec->ready)
		rec->ready(rec->userdata);
}

void reconcile_now(struct core *core)
{
	struct reconcile *rec = &core->reconcile;

	if (!core->started)
		return;
	if (rec->listing) {
		rec->again = true;
		return;
	}
	map_each(&core->vms, mark_expected, NULL);
	if (vmd_client_list(core->vmd, on_item, on_listed, core) >= 0)
		rec->listing = true;
}

static void on_due(struct timer *t, void *userdata)
{
	timer_set_after(t, RECONCILE_USEC);
	reconcile_now(userdata);
}

int reconcile_init(struct core *core)
{
	struct reconcile *rec = &core->reconcile;
	int r;

	(void)snprintf(rec->problem, sizeof(rec->problem),
		       "The hypervisor process is starting");
	r = timer_new(core->event, core->guest_clock, "reconcile", on_due, core,
		      &rec->timer);
	if (r >= 0)
		timer_set_after(rec->timer, RECONCILE_USEC);
	return r;
}

void reconcile_done(struct core *core)
{
	timer_free(core->reconcile.timer);
	core->reconcile.timer = NULL;
}

void core_vmd_ready(struct core *core, const struct vmd_hello *hello)
{
	core->reconcile.problem[0] = '\0';
	core->reconcile.listing = false;
	core->reconcile.again = false;
	pools_update(core, hello);
	reconcile_now(core);
}

void core_vmd_changed(struct core *core, const struct vmd_hello *hello)
{
	pools_update(core, hello);
}

void core_vmd_gone(struct core *core, const struct vmd_gone *gone)
{
	struct vm *vm = map_get(&core->vms, gone->vm_id);

	if (vm)
		vm_gone(vm, vm_end_of_vmd(vm, gone->reason), gone->cpu_usec);
}

void core_vmd_lost(struct core *core, const char *why)
{
	(void)snprintf(core->reconcile.problem, sizeof(core->reconcile.problem),
		       "%s",
		       why && why[0] ? why :
				       "The hypervisor process has ended and "
				       "is being started again");
}
