/* SPDX-License-Identifier: Apache-2.0 */
#include "core/vm.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/failpoint.h"
#include "core/container.h"
#include "core/core_priv.h"

/*
 * Theory of operation
 *
 *	vm_new()	room is taken, the caller writes the row
 *	vm_start()	the row is on the disk: vmd makes the VM
 *	vm_dial()	it runs: connect to its guest until that is ready
 *	vm_stop()	vmd destroys it, however often that must be asked
 *	vm_gone()	nothing is left: room is given back, the row goes
 *
 * Which of them belong together after a crash is told by the row and by vmd's
 * list: vm_restore(), vm_seen().
 */

/* The only place that writes vm->state. */
void vm_enter(struct vm *vm, enum vm_state to)
{
	assert(vm_state_may_follow(vm->state, to));
	log_debug(&vm->scope, "VM %s -> %s", vm_state_name(vm->state),
		  vm_state_name(to));

	vm->state = to;
	/* Each state arms its own timers; none outlives its state. */
	timer_clear(vm->deadline);
	timer_clear(vm->retry);
}

static void vm_destroy(struct vm *vm);

static void on_retry(struct timer *t, void *userdata)
{
	struct vm *vm = userdata;

	(void)t;
	if (vm->state == VM_STOPPING)
		vm_destroy(vm);
	else
		vm_dial(vm);
}

static void on_deadline(struct timer *t, void *userdata)
{
	struct vm *vm = userdata;
	struct error err = ERROR_INIT;

	(void)t;
	error_set(&err, ERR_GUEST, "the guest cannot be reached");
	/* One that an earlier daemon gave away has booted. */
	vm_fail(vm,
		vm->state == VM_READY || vm->assigned_usec ?
			END_GUEST_UNRESPONSIVE :
			END_BOOT_FAILED,
		&err);
}

static void vm_free(void *object)
{
	struct vm *vm = object;

	timer_free(vm->deadline);
	timer_free(vm->retry);
	explicit_bzero(vm->nonce, sizeof(vm->nonce));
	free(vm);
}

static void vm_freep(struct vm **vm)
{
	if (*vm)
		vm_free(*vm);
}

static int vm_alloc(struct core *core, struct pool *pool, struct vm **ret)
{
	_cleanup_(vm_freep) struct vm *vm = NULL;
	int r;

	vm = calloc(1, sizeof(*vm));
	if (!vm)
		return -ENOMEM;
	vm->core = core;
	vm->pool = pool;
	vm->state = VM_PLANNED;
	vm->scope.vm_name = vm->id;
	/* Greater than what any daemon before gave this guest. */
	vm->first_request =
		LINK_REQUEST_FIRST |
		(uint32_t)(clock_boot(core->guest_clock) / USEC_PER_MSEC);
	vm->next_request = vm->first_request;
	r = timer_new(core->event, core->guest_clock, "vm-deadline",
		      on_deadline, vm, &vm->deadline);
	if (r >= 0)
		r = timer_new(core->event, core->guest_clock, "vm-retry",
			      on_retry, vm, &vm->retry);
	if (r < 0)
		return r;
	*ret = take_ptr(vm);
	return 0;
}

int vm_new(struct core *core, struct pool *pool, uint32_t memory_mib,
	   struct vm **ret, struct error *err)
{
	_cleanup_(vm_freep) struct vm *vm = NULL;
	int r;

	r = vm_alloc(core, pool, &vm);
	if (r >= 0)
		r = id_new(ID_VM, vm->id);
	if (r >= 0)
		r = random_bytes(vm->nonce, sizeof(vm->nonce));
	if (r < 0)
		return error_set_errno(err, r, "Cannot plan a VM");

	r = admission_take_vm(core, pool,
			      memory_mib ? memory_mib : pool_memory_mib(pool),
			      &vm->cost_mib, err);
	if (r < 0)
		return r;
	r = map_put(&core->vms, &vm->node, vm->id, vm);
	if (r < 0) {
		admission_give_vm(core, pool, vm->cost_mib);
		return error_set_errno(err, r, "Cannot plan a VM");
	}
	vm->memory_mib = memory_mib;
	vm->cid = (uint32_t)core->next_cid++;
	vm->created_usec = clock_wall(core->clock);
	vm->trace.planned = clock_boot(core->guest_clock);
	strcpy(vm->image, pool->image);
	strcpy(vm->boot_id, core->boot_id);
	*ret = take_ptr(vm);
	return 0;
}

int vm_restore(struct core *core, const struct store_vm *row, struct vm **ret)
{
	struct pool *pool = pool_find(core, row->pool);
	_cleanup_(vm_freep) struct vm *vm = NULL;
	int r;

	/* Its pool may be gone from the settings: it still takes room. */
	r = vm_alloc(core, pool ? pool : &core->pools.pool[0], &vm);
	if (r < 0)
		return r;
	vm->restored = true;
	strcpy(vm->id, row->id);
	strcpy(vm->image, row->image);
	strcpy(vm->boot_id, row->boot_id);
	memcpy(vm->nonce, row->nonce, sizeof(vm->nonce));
	vm->cid = row->cid;
	vm->memory_mib = row->memory_mib;
	vm->created_usec = row->created_usec;
	vm->assigned_usec = row->assigned_usec;
	vm->assigned_boot_usec = row->assigned_boot_usec;
	vm->hard_boot_usec = row->hard_deadline_boot_usec;
	r = map_put(&core->vms, &vm->node, vm->id, vm);
	if (r < 0)
		return r;
	vm->cost_mib = admission_restore_vm(
		core, vm->pool,
		vm->memory_mib ? vm->memory_mib : pool_memory_mib(vm->pool));
	*ret = take_ptr(vm);
	return 0;
}

void vm_put_row(const struct vm *vm, struct store_batch *batch)
{
	struct store_vm row = {
		.pool_generation = 0,
		.cid = vm->cid,
		.memory_mib = vm->memory_mib,
		.disk_bytes = vm->pool->vmd.disk_bytes,
		.created_usec = vm->created_usec,
		.assigned_usec = vm->assigned_usec,
		.assigned_boot_usec = vm->assigned_boot_usec,
		.hard_deadline_boot_usec = vm->hard_boot_usec,
	};

	strcpy(row.id, vm->id);
	if (vm->container)
		strcpy(row.container_id, vm->container->id);
	strcpy(row.pool, vm->pool->name);
	strcpy(row.image, vm->image);
	strcpy(row.state, vm_state_name(vm->state));
	strcpy(row.boot_id, vm->boot_id);
	memcpy(row.nonce, vm->nonce, sizeof(row.nonce));
	/* What fails is kept in the batch and told by its commit. */
	(void)store_batch_put_vm(batch, &row);
	(void)store_batch_set_counter(batch, STORE_COUNTER_NEXT_CID,
				      vm->core->next_cid);
	explicit_bzero(row.nonce, sizeof(row.nonce));
}

/* The object goes when nobody has its address any more, vmd's client included. */
void vm_bury(struct vm *vm)
{
	if (vm->state == VM_DEAD && !vm->committing && !vm->creating &&
	    !vm->destroying && !vm->striking)
		gc_bury(&vm->core->gc, &vm->buried, vm_free, vm);
}

/* Off all lists, its room given back. */
static void vm_over(struct vm *vm)
{
	struct core *core = vm->core;

	admission_give_vm(core, vm->pool, vm->cost_mib);
	map_remove(&core->vms, &vm->node);
	vm_bury(vm);
	core_vm_is_gone(core);
}

void vm_forget(struct vm *vm)
{
	vm_enter(vm, VM_DEAD);
	if (!vm->container)
		pool_vm_gone(vm->pool, vm);
	vm_over(vm);
}

/* ------------------------------------------------------------------- end */

static void destroy_later(struct vm *vm)
{
	vm->destroy_pause = vm->destroy_pause ? 2 * vm->destroy_pause :
						VM_DESTROY_RETRY_USEC;
	if (vm->destroy_pause > VM_DESTROY_RETRY_MAX)
		vm->destroy_pause = VM_DESTROY_RETRY_MAX;
	timer_set_after(vm->retry, vm->destroy_pause);
}

static void on_destroyed(int r, const struct error *err, void *userdata)
{
	struct vm *vm = userdata;

	vm->destroying = false;
	vm_bury(vm);
	if (vm->state != VM_STOPPING)
		return;
	if (r >= 0 || r == -ENOENT) {
		vm_gone(vm, END_NONE, VMD_UNKNOWN);
		return;
	}
	if (r == -ECONNRESET)
		return; /* the next list asks again */
	log_warning(&vm->scope, 0, "Cannot destroy VM, trying again: %s",
		    err ? err->message : strerror(-r));
	destroy_later(vm);
}

static void vm_destroy(struct vm *vm)
{
	int r;

	if (vm->destroying)
		return;
	(void)failpoint("stop-before-destroy");
	r = vmd_client_destroy(vm->core->vmd, vm->id, on_destroyed, vm);
	if (r >= 0)
		vm->destroying = true;
	else if (r != -ENOTCONN)
		destroy_later(vm);
}

void vm_stop(struct vm *vm, enum end_reason reason)
{
	if (vm->state >= VM_STOPPING)
		return;
	vm->reason = reason;
	vm_enter(vm, VM_STOPPING);
	vm_hang_up(vm);
	vm_destroy(vm);
}

void vm_fail(struct vm *vm, enum end_reason reason, const struct error *err)
{
	if (vm->state >= VM_STOPPING)
		return;
	log_warning(&vm->scope, 0, "VM is given up (%s): %s",
		    end_reason_name(reason), err ? err->message : "");
	notice_vm_failed(vm, reason, err ? err->message : NULL);
	if (vm->state < VM_READY)
		vm->core->metrics.boots_failed++;
	if (vm->container)
		container_end(vm->container, reason);
	/* A container that cannot end yet leaves it to its commit. */
	vm_stop(vm, reason);
}

static void vm_struck(void *object)
{
	struct vm *vm = object;

	vm->striking = false;
	vm_bury(vm);
}

static void vm_strike(void *object);

static void on_struck(void *userdata, int r)
{
	struct vm *vm = userdata;

	if (r >= 0) {
		vm_struck(vm);
		return;
	}
	log_error(&vm->scope, r, "Cannot delete a VM's line of the ledger");
	owed_add(vm->core, &vm->owed, vm_strike, vm_struck, vm);
}

/* Delete its line of the ledger. */
static void vm_strike(void *object)
{
	struct vm *vm = object;
	struct store_batch *batch = store_batch_new(vm->core->store);
	int r;

	vm->striking = true;
	(void)store_batch_delete_vm(batch, vm->id);
	r = store_commit(vm->core->store, batch, on_struck, vm);
	if (r < 0) {
		store_batch_free(batch);
		on_struck(vm, r);
	}
}

/* Whether it says something about its image, rather than about the host. */
static bool is_failed_boot(const struct vm *vm)
{
	return !vm->was_ready && !vm->restored &&
	       (vm->reason == END_BOOT_FAILED ||
		vm->reason == END_GUEST_PANIC || vm->reason == END_VM_CRASHED);
}

void vm_gone(struct vm *vm, enum end_reason reason, uint64_t cpu_usec)
{
	if (vm->state == VM_DEAD)
		return;
	if (vm->reason == END_NONE) {
		vm->reason = reason == END_NONE ? END_VM_CRASHED : reason;
		notice_vm_failed(vm, vm->reason, NULL);
	}
	vm_hang_up(vm);
	(void)failpoint("stop-vm-gone");
	vm_enter(vm, VM_DEAD);
	log_info(&vm->scope, "VM is gone (%s)", end_reason_name(vm->reason));

	if (is_failed_boot(vm))
		pool_booted(vm->pool, false);
	vm_strike(vm);
	if (vm->container)
		container_vm_gone(vm->container,
				  cpu_usec == VMD_UNKNOWN ? 0 : cpu_usec);
	else
		pool_vm_gone(vm->pool, vm);
	vm_over(vm);
}

/* ------------------------------------------------------------- reconcile */

enum end_reason vm_end_of_vmd(const struct vm *vm, uint32_t vmd_reason)
{
	/* vmd drops a create that it, or the daemon, was killed over. */
	if (vmd_reason == VMD_REASON_ABANDONED && vm->assigned_usec == 0 &&
	    strcmp(vm->boot_id, vm->core->boot_id) == 0)
		return END_BOOT_FAILED;
	/* A kernel that does not find its first program only starts again. */
	if (vmd_reason == VMD_REASON_SHUTDOWN && !vm->was_ready && !vm->restored)
		return END_BOOT_FAILED;
	return end_reason_of_vmd(vmd_reason);
}

void vm_seen(struct vm *vm, const struct vmd_vm *item)
{
	vm->expected = false;
	if (vm->creating || vm->committing)
		return; /* the answer tells */
	if (item->state == VMD_STATE_GONE) {
		vm_gone(vm, vm_end_of_vmd(vm, item->reason), item->cpu_usec);
		return;
	}
	if (vm->state == VM_STOPPING) {
		vm_destroy(vm);
		return;
	}
	vm->accelerator = item->accelerator;
	if (vm->container && item->cpu_usec != VMD_UNKNOWN)
		container_sample(vm->container, item->cpu_usec);
	if (item->state == VMD_STATE_STOPPING) {
		vm_fail(vm, vm_end_of_vmd(vm, item->reason), NULL);
		return;
	}
	if (item->state != VMD_STATE_RUNNING)
		return;
	if (vm->state == VM_PLANNED ||
	    (vm->state == VM_STARTING && !vm->creating))
		vm_running(vm);
	else if (vm_linked(vm) && vm->container)
		container_vm_ready(vm->container);
	else
		vm_dial(vm);
}

static void vm_free_one(void *object, void *userdata)
{
	struct vm *vm = object;
	struct core *core = userdata;

	vm_hang_up(vm);
	map_remove(&core->vms, &vm->node);
	vm_free(vm);
}

void vm_free_all(struct core *core)
{
	map_each(&core->vms, vm_free_one, core);
	map_done(&core->vms);
}
