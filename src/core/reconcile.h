/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_RECONCILE_H
#define CORE_RECONCILE_H

/*
 * Comparing what there is with what there should be.
 *
 * The ledger says which VMs there may be, the hypervisor process which there
 * are. The list is asked for at the start, after each reconnection, and every
 * RECONCILE_USEC: a VM that should be there and is not has ended; one that is
 * there and should not be is destroyed; one that nobody has a link to is
 * dialled.
 */

#include <stdbool.h>

#include "base/clock.h"

struct core;
struct timer;
struct vm;

#define RECONCILE_USEC (15 * USEC_PER_SEC)

struct reconcile {
	struct timer *timer;
	bool listing;
	bool again;        /* asked for while one was under way */
	bool once;         /* the first comparison is over */
	char problem[512]; /* why there is no vmd, or empty */
	void (*ready)(void *userdata);
	void *userdata;
};

int reconcile_init(struct core *core);
void reconcile_done(struct core *core);

/** reconcile_now() - Ask for a list, if there is somebody to ask */
void reconcile_now(struct core *core);

/** reconcile_end_absent() - A VM that vmd does not know: it has ended */
void reconcile_end_absent(struct vm *vm);

/** reconcile_end_stray() - A VM that the ledger does not have is destroyed */
int reconcile_end_stray(struct core *core, const char *vm_id);

#endif
