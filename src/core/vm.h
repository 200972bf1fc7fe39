/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_VM_H
#define CORE_VM_H

/*
 * A VM from the intent to the last of it. What it runs for, a container or the
 * pool, is told of the turns of its life and never asked.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/log.h"
#include "core/boot_trace.h"
#include "core/end_reason.h"
#include "core/gc.h"
#include "core/guest_link.h"
#include "core/guest_xfer.h"
#include "core/map.h"
#include "core/owed.h"
#include "core/vm_state.h"
#include "store/rows.h"
#include "vmd/vmd_proto.h"

struct container;
struct core;
struct pool;
struct store_batch;
struct timer;

/* A READY VM without a link for this long does not answer. */
#define VM_RELINK_USEC (30 * USEC_PER_SEC)

/* Between a connection that was dropped and the next try. */
#define VM_REDIAL_USEC (100 * USEC_PER_MSEC)

/* Between two tries to destroy it; the pause doubles from the first on. */
#define VM_DESTROY_RETRY_USEC (2 * USEC_PER_SEC)
#define VM_DESTROY_RETRY_MAX (60 * USEC_PER_SEC)

/* vmd ends a VM by itself this long after core should have. */
#define VM_DEADLINE_MARGIN (2 * USEC_PER_MINUTE)

struct vm {
	struct core *core;
	struct gc_node buried;
	struct map_node node;
	char id[ID_SIZE];
	struct log_scope scope;

	enum vm_state state;    /* vm_enter() writes it */
	enum end_reason reason; /* why it must end; END_NONE: it need not */
	struct pool *pool;
	TAILQ_ENTRY(vm) in_pool;
	struct container *container; /* NULL: idle, in the pool */

	uint32_t cid;
	uint32_t memory_mib; /* asked for; 0: the pool's */
	uint64_t cost_mib;
	uint8_t nonce[STORE_NONCE_SIZE];
	char image[STORE_IMAGE_SIZE];
	char boot_id[CLOCK_BOOT_ID_SIZE];
	usec_t created_usec;  /* wall */
	usec_t assigned_usec; /* wall; 0: not yet */
	usec_t assigned_boot_usec;
	usec_t hard_boot_usec;
	uint32_t accelerator;

	bool restored;   /* by an earlier daemon */
	bool was_ready;
	bool executed; /* something, at least once */
	bool expected;   /* a list that is under way must have it */
	bool committing; /* its row is on its way to the disk */
	bool creating;   /* vmd owes an answer */
	bool destroying; /* likewise */
	bool striking;   /* its line is to be deleted, and still there */
	struct owed owed;

	struct guest_link *link;
	uint64_t dial;          /* call to cancel; 0: none */
	struct timer *deadline; /* boot, or to be linked again */
	struct timer *retry;    /* dial or destroy again */
	usec_t destroy_pause;   /* before the next try; 0: none failed */
	usec_t pooled_usec;     /* boot clock: idle since */
	uint32_t kernel_epoch;
	uint32_t next_request;
	uint32_t quiesce_call; /* 0: none under way */
	unsigned deletes;      /* DELETEs not answered yet */
	uint32_t first_request;

	struct boot_trace trace;
};

/** vm_new() - Decide on a VM: room is taken, nothing is done */
int vm_new(struct core *core, struct pool *pool, uint32_t memory_mib,
	   struct vm **ret, struct error *err);

/** vm_restore() - A VM that an earlier daemon decided on */
int vm_restore(struct core *core, const struct store_vm *row, struct vm **ret);

/** vm_put_row() - Write its line of the ledger */
void vm_put_row(const struct vm *vm, struct store_batch *batch);

/** vm_forget() - Its intent could not be written: it never was */
void vm_forget(struct vm *vm);

/**
 * vm_commit() - Write its line in a batch of its own, then have it made
 * @batch:	Taken over if the call succeeds
 */
int vm_commit(struct vm *vm, struct store_batch *batch);

/** vm_enter() - The only writer of its state */
void vm_enter(struct vm *vm, enum vm_state to);

/** vm_bury() - Free it, once it is dead and nobody has its address any more */
void vm_bury(struct vm *vm);

/** vm_running() - vmd says that it runs */
void vm_running(struct vm *vm);

/** vm_start() - Its intent is durable: have it made */
void vm_start(struct vm *vm);

/**
 * vm_assign() - Count its session's hard limit from now
 *
 * The row is the caller's to write.
 */
void vm_assign(struct vm *vm);

/** vm_stop() - Destroy it; a second call changes nothing */
void vm_stop(struct vm *vm, enum end_reason reason);

/** vm_fail() - It cannot go on: its container, or the pool's VM, ends */
void vm_fail(struct vm *vm, enum end_reason reason, const struct error *err);

/** vm_end_of_vmd() - What the end (enum vmd_reason) of this VM is called */
enum end_reason vm_end_of_vmd(const struct vm *vm, uint32_t vmd_reason);

/** vm_seen() - vmd's list has it */
void vm_seen(struct vm *vm, const struct vmd_vm *item);

/** vm_gone() - Nothing of it is left; @reason is what vmd says */
void vm_gone(struct vm *vm, enum end_reason reason, uint64_t cpu_usec);

/** vm_free_all() - At the end of core: whatever state they are in */
void vm_free_all(struct core *core);

/* vm_guest.c: the guest's side of a VM */

/** vm_dial() - Get a link, if there is none and none is under way */
void vm_dial(struct vm *vm);

/** vm_hang_up() - Give up link and dialling */
void vm_hang_up(struct vm *vm);

/** vm_request() - A number for a request that the guest has not seen yet */
uint32_t vm_request(struct vm *vm);

/**
 * vm_xfer_config() - What a transfer to or from its guest needs
 *
 * The arguments are those of struct guest_xfer_config. Valid until the VM or
 * @path goes.
 */
struct guest_xfer_config vm_xfer_config(struct vm *vm, const char *path,
					void (*done)(void *userdata,
						     struct xfer_end *end),
					void *userdata);

/** vm_linked() - Whether its guest can be asked right now */
bool vm_linked(const struct vm *vm);

/**
 * vm_became_ready() - READY has come on a fresh link (vm_start.c)
 * @stages:	As the guest tells them
 */
void vm_became_ready(struct vm *vm,
		     const uint64_t stages[static WIRE_STAGE_COUNT]);

/** vm_executed() - An execution took so long; the first of each is counted */
void vm_executed(struct vm *vm, usec_t usec);

/** vm_relink() - What could not be said is said after the next greeting */
void vm_relink(struct vm *vm);

/** vm_lost_link() - The link is gone, the guest may be fine (vm.c) */
void vm_lost_link(struct vm *vm);

#endif
