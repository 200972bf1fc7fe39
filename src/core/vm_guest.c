/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "core/container.h"
#include "core/core_priv.h"
#include "core/vm.h"

/*
 * The guest's side of a VM: dialling, the link, and who gets its frames.
 */

/* Guests need not be told apart by themselves. */
#define VM_HOSTNAME "sandbox"

static int on_greeted(const struct message_hello *hello, void *userdata,
		      struct error *err)
{
	struct vm *vm = userdata;

	vm->kernel_epoch = hello->kernel_epoch;
	if (vm->container)
		return container_greeted(vm->container, hello, err);
	if (hello->count > 0)
		return error_set(err, ERR_GUEST,
				 "the guest keeps executions "
				 "that nobody gave it");
	return 0;
}

static void on_ready(const struct message_ready *ready, void *userdata)
{
	struct vm *vm = userdata;

	vm->kernel_epoch = ready->kernel_epoch;
	vm_became_ready(vm, ready->stage_usec);
}

static int got_result(struct vm *vm, const struct frame *f, struct error *err)
{
	struct message_result m;
	int r;

	r = message_decode_result(f, &m);
	if (r < 0)
		return r;
	if (vm->deletes == 0 || f->call < vm->first_request ||
	    f->call >= vm->next_request)
		return error_set(err, ERR_GUEST,
				 "the guest answered a question nobody asked");
	/* A file that is not there is as good as one that was removed. */
	vm->deletes--;
	return 0;
}

static int on_frame(const struct frame *f, void *userdata, struct error *err)
{
	struct vm *vm = userdata;

	if (vm->container && f->call < LINK_REQUEST_FIRST)
		return container_exec_frame(vm->container, f, err);
	if (f->type == WIRE_RESULT)
		return got_result(vm, f, err);
	if (vm->container && vm->quiesce_call && f->call == vm->quiesce_call)
		return harvest_frame(vm->container, f, err);
	return error_set(err, ERR_GUEST,
			 "the guest answered a question nobody asked");
}

static void on_ended(enum guest_conn_end why, const struct error *err,
		     void *userdata)
{
	struct vm *vm = userdata;

	guest_link_close(take_ptr(vm->link));
	vm->deletes = 0;
	if (why == GUEST_CONN_BROKEN) {
		vm_fail(vm, END_GUEST_PROTOCOL_ERROR, err);
	} else if (why == GUEST_CONN_STALLED) {
		vm_fail(vm, END_GUEST_UNRESPONSIVE, err);
	} else {
		log_debug(&vm->scope, "Lost the link: %s", err->message);
		vm_lost_link(vm);
	}
}

static const struct guest_link_ops link_ops = {
	.greeted = on_greeted,
	.ready = on_ready,
	.frame = on_frame,
	.ended = on_ended,
};

static int vm_link(struct vm *vm, int fd)
{
	const struct guest_link_config config = {
		.event = vm->core->event,
		.clock = vm->core->guest_clock,
		.wall = vm->core->clock,
		.gc = &vm->core->gc,
		.fd = fd,
		.nonce = vm->nonce,
		.hostname = VM_HOSTNAME,
		.emulated = vm->accelerator == VMD_ACCELERATOR_TCG,
		.ops = &link_ops,
		.userdata = vm,
	};

	return guest_link_new(&config, &vm->link);
}

static void on_dialled(int r, int fd, const struct error *err, void *userdata)
{
	struct vm *vm = userdata;

	vm->dial = 0;
	if (r >= 0)
		r = vm_link(vm, fd);
	if (r >= 0)
		return;
	close_fd(&fd);
	/*
	 * A VM that is gone or ending is announced by vmd, one whose vmd is
	 * gone is dialled after the next list, and a guest that does not answer
	 * has vm->deadline. What else there is may pass.
	 */
	log_debug(&vm->scope, "Cannot dial: %s",
		  err && error_is_set(err) ? err->message : strerror(-r));
	if (r != -ECONNRESET && r != -ENOENT && r != -ECANCELED)
		vm_lost_link(vm);
}

void vm_dial(struct vm *vm)
{
	usec_t deadline = timer_deadline(vm->deadline);
	int r;

	if (vm->link || vm->dial ||
	    (vm->state != VM_BOOTING && vm->state != VM_READY))
		return;
	if (deadline == USEC_INFINITY)
		deadline = clock_boot(vm->core->guest_clock) + VM_RELINK_USEC;
	if (timer_deadline(vm->deadline) == USEC_INFINITY)
		timer_set(vm->deadline, deadline);
	r = vmd_client_dial(vm->core->vmd, vm->id, deadline, on_dialled, vm,
			    &vm->dial);
	/* Without a vmd nobody can be dialled; its next HELLO comes back. */
	if (r < 0 && r != -ENOTCONN)
		timer_set_after(vm->retry, VM_REDIAL_USEC);
}

void vm_hang_up(struct vm *vm)
{
	if (vm->dial)
		vmd_client_cancel_dial(vm->core->vmd, vm->dial);
	vm->dial = 0;
	guest_link_close(take_ptr(vm->link));
}

uint32_t vm_request(struct vm *vm)
{
	if (vm->next_request < LINK_REQUEST_FIRST)
		vm->next_request = vm->first_request = LINK_REQUEST_FIRST;
	return vm->next_request++;
}

bool vm_linked(const struct vm *vm)
{
	return vm && vm->state == VM_READY && guest_link_open(vm->link);
}

struct guest_xfer_config vm_xfer_config(struct vm *vm, const char *path,
					void (*done)(void *userdata,
						     struct xfer_end *end),
					void *userdata)
{
	struct core *core = vm->core;

	return (struct guest_xfer_config){
		.event = core->event,
		.clock = core->guest_clock,
		.gc = &core->gc,
		.blobs = core->blobs,
		.vmd = core->vmd,
		.vm_id = vm->id,
		.nonce = vm->nonce,
		.path = path,
		.done = done,
		.userdata = userdata,
	};
}
