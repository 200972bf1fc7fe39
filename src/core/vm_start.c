/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "base/failpoint.h"
#include "core/container.h"
#include "core/core_priv.h"
#include "core/vm.h"

/*
 * A VM's way from its line in the ledger to a guest that is ready, and the
 * moment it becomes somebody's.
 */

void vm_running(struct vm *vm)
{
	vm_enter(vm, VM_BOOTING);
	timer_set_after(vm->deadline, vm->core->set.boot_timeout);
	vm_dial(vm);
}

static void vm_ask(struct vm *vm);

static void on_committed(void *userdata, int r)
{
	struct vm *vm = userdata;

	vm->committing = false;
	vm_bury(vm);
	if (r >= 0 && vm->state == VM_PLANNED) {
		vm_start(vm);
	} else if (r >= 0 && vm->state == VM_STARTING) {
		vm_ask(vm);
	} else if (vm->state == VM_PLANNED) {
		log_warning(&vm->scope, r, "Cannot note a VM in the ledger");
		vm_forget(vm);
	} else if (vm->state == VM_STARTING) {
		log_warning(&vm->scope, r, "Cannot note a VM in the ledger");
		vm_gone(vm, END_BOOT_FAILED, 0);
	}
}

int vm_commit(struct vm *vm, struct store_batch *batch)
{
	int r;

	r = store_commit(vm->core->store, batch, on_committed, vm);
	if (r >= 0)
		vm->committing = true;
	return r;
}

/* Somebody else on this host has the CID: its line is written anew. */
static void vm_next_cid(struct vm *vm)
{
	struct store_batch *batch = store_batch_new(vm->core->store);
	int r;

	vm->cid = (uint32_t)vm->core->next_cid++;
	/* A line's CID is fixed, so the line is another one. */
	(void)store_batch_delete_vm(batch, vm->id);
	vm_put_row(vm, batch);
	r = vm_commit(vm, batch);
	if (r >= 0)
		return;
	store_batch_free(batch);
	log_warning(&vm->scope, r, "Cannot note another CID");
	vm_gone(vm, END_BOOT_FAILED, 0);
}

static void on_created(int r, const struct vmd_created *created,
		       const struct error *err, void *userdata)
{
	struct vm *vm = userdata;

	vm->creating = false;
	vm_bury(vm);
	(void)failpoint("create-vm-runs");
	if (vm->state != VM_STARTING)
		return; /* vm_stop() came first; destroy tells the end */
	if (r == -ECONNRESET)
		return; /* nobody knows; the next list does */
	if (r == -EADDRINUSE) {
		vm_next_cid(vm);
		return;
	}
	if (r < 0) {
		log_warning(&vm->scope, 0, "Cannot start VM: %s",
			    err ? err->message : strerror(-r));
		vm_gone(vm,
			r == -ENOSPC ? END_HOST_STORAGE_FULL : END_BOOT_FAILED,
			0);
		return;
	}
	boot_trace_created(&vm->trace, created,
			   clock_boot(vm->core->guest_clock));
	vm_running(vm);
}

/* In the kernel's time; vmd ends the VM then if we did not. */
static usec_t vm_last_deadline(const struct vm *vm)
{
	struct core *core = vm->core;
	usec_t left = POOL_VM_LIFE;

	if (vm->hard_boot_usec)
		left = usec_sub(vm->hard_boot_usec, clock_boot(core->clock));
	else if (vm->container)
		left = core->set.boot_timeout * 2 + core->set.hard;
	return clock_boot(core->guest_clock) + left + VM_DEADLINE_MARGIN;
}

static void vm_ask(struct vm *vm)
{
	const struct vmd_hello *hello = vmd_client_hello(vm->core->vmd);
	struct vmd_create create = {
		.generation = hello ? hello->generation : 0,
		.pool = vm->pool->vmd_index,
		.cid = vm->cid,
		.memory_mib = vm->memory_mib,
		.deadline_usec = vm_last_deadline(vm),
	};
	int r;

	(void)failpoint("create-before-vm");
	strcpy(create.vm_id, vm->id); /* both are ID_VM's */
	memcpy(create.nonce, vm->nonce, sizeof(create.nonce));
	r = vmd_client_create(vm->core->vmd, &create, on_created, vm);
	explicit_bzero(create.nonce, sizeof(create.nonce));
	if (r < 0) {
		log_warning(&vm->scope, r, "Cannot ask for a VM");
		vm_gone(vm, END_BOOT_FAILED, 0);
		return;
	}
	vm->creating = true;
}

void vm_start(struct vm *vm)
{
	vm_enter(vm, VM_STARTING);
	boot_trace_committed(&vm->trace, clock_boot(vm->core->guest_clock));
	vm->accelerator = vm->pool->vmd.accelerator;
	timer_set_after(vm->deadline, vm->core->set.boot_timeout);
	vm_ask(vm);
}

static void on_deadline_moved(int r, const struct error *err, void *userdata)
{
	/* Core ends it in time; vmd's deadline is for when there is no core. */
	(void)r;
	(void)err;
	(void)userdata;
}

void vm_assign(struct vm *vm)
{
	struct core *core = vm->core;

	vm->assigned_usec = clock_wall(core->clock);
	vm->assigned_boot_usec = clock_boot(core->clock);
	vm->hard_boot_usec = vm->assigned_boot_usec + core->set.hard;
	(void)vmd_client_set_deadline(core->vmd, vm->id, vm_last_deadline(vm),
				      on_deadline_moved, NULL);
}

void vm_became_ready(struct vm *vm,
		     const uint64_t stages[static WIRE_STAGE_COUNT])
{
	if (vm->state == VM_BOOTING) {
		(void)failpoint("create-guest-ready");
		vm_enter(vm, VM_READY);
		vm->was_ready = true;
		pool_booted(vm->pool, true);
		if (!vm->restored) {
			boot_trace_ready(&vm->trace, stages,
					 clock_boot(vm->core->guest_clock));
			pool_metrics_boot(&vm->pool->metrics, &vm->trace);
			boot_trace_log(&vm->trace, &vm->scope);
		}
	}
	timer_clear(vm->deadline);
	if (vm->container)
		container_vm_ready(vm->container);
	else
		pool_vm_ready(vm->pool, vm);
}

void vm_executed(struct vm *vm, usec_t usec)
{
	/* Of one that an earlier daemon made, nobody knows which is the first. */
	if (vm->restored || vm->executed)
		return;
	vm->executed = true;
	vm->trace.usec[BOOT_FIRST_EXECUTION] = usec;
	pool_metrics_first(&vm->pool->metrics, usec);
}

void vm_relink(struct vm *vm)
{
	log_warning(&vm->scope, 0,
		    "There is no memory to speak to the guest, dialling anew");
	vm_hang_up(vm);
	vm_lost_link(vm);
}

void vm_lost_link(struct vm *vm)
{
	if (vm->state != VM_BOOTING && vm->state != VM_READY)
		return;
	if (timer_deadline(vm->deadline) == USEC_INFINITY)
		timer_set_after(vm->deadline, VM_RELINK_USEC);
	timer_set_after(vm->retry, VM_REDIAL_USEC);
	if (vm->container)
		container_link_lost(vm->container);
}
