/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_VM_STATE_H
#define CORE_VM_STATE_H

#include <stdbool.h>

/**
 * enum vm_state - Where a VM is in its life
 *
 * A VM only moves forward, and only vm_enter() moves it.
 *
 *    PLANNED - Its row is in the ledger or on its way there; this process has
 *    not asked the hypervisor process for it
 *        Leaves by: the commit, to STARTING; for a VM of an earlier daemon by
 *        the hypervisor process's list, to BOOTING (there), STOPPING (there,
 *        but unwanted) or DEAD (not there)
 *
 *    STARTING - The hypervisor process is creating it
 *        Leaves by: its answer, to BOOTING or DEAD. If the connection is lost
 *        the answer is unknown and the next list decides
 *        Caveat: vm_stop() moves on to STOPPING at once; the create that is
 *        under way then fails, and its answer changes nothing
 *
 *    BOOTING - It runs; its agent has not said READY on a connection of this
 *    process
 *        Timer: boot deadline, to STOPPING
 *        Leaves by: READY, to READY; vm_stop(), to STOPPING
 *
 *    READY - Its kernel takes executions. A lost link is dialled again without
 *    leaving this state
 *        Timer: while there is no link, to STOPPING as unresponsive
 *        Leaves by: vm_stop(), a broken protocol, to STOPPING
 *
 *    STOPPING - The hypervisor process is asked to destroy it, again and again
 *    until it says it is gone
 *        Caveat: memory, CID and quota stay taken until then
 *        Leaves by: the news that it is gone, to DEAD
 *
 *    DEAD - Nothing on the host is left of it. core_gc() frees the object in
 *    the next iteration of the loop
 *
 * From every state the news that the process is gone leads to DEAD.
 */
enum vm_state {
	VM_PLANNED,
	VM_STARTING,
	VM_BOOTING,
	VM_READY,
	VM_STOPPING,
	VM_DEAD,

	VM_STATE_COUNT,
};

/** vm_state_may_follow() - Whether the table allows a move */
bool vm_state_may_follow(enum vm_state from, enum vm_state to);

/** vm_state_name() - As the log and the operator read it */
const char *vm_state_name(enum vm_state state);

#endif
