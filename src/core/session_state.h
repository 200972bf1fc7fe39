/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_SESSION_STATE_H
#define CORE_SESSION_STATE_H

#include <stdbool.h>

#include "core/core.h"

/*
 * Where a session is: the values are those of enum session_state_view, since
 * clients see each of them. Only session_enter() in container.c writes one.
 *
 *    ACCEPTED - Admission has reserved its room; its intent is on its way to
 *    the disk. Nobody knows its id yet
 *        Leaves by: the commit, to BOOTING, or to ENDED if the disk refused
 *
 *    BOOTING - It has a VM of its own or one from the pool, which is not ready
 *    for it yet
 *        The idle clock stands still; the VM has the boot deadline
 *        Leaves by: the VM being ready, to RUNNING; anything that ends a
 *        session, to STOPPING
 *
 *    RUNNING - Its kernel is idle and takes an execution
 *        Timers: idle limit and hard limit, to STOPPING
 *        Leaves by: an execution, to EXECUTING
 *
 *    EXECUTING - An execution runs or its artifacts are being fetched
 *        Timer: hard limit, to STOPPING. The idle clock stands still
 *        Leaves by: the end of the execution, to RUNNING
 *
 *    STOPPING - It has an end reason and counts as expired for every call. A
 *    last harvest may run, then its VM is destroyed
 *        Timer: the harvest's; destroying has none and is retried for ever
 *        Leaves by: the VM seen dead and all files stored, to ENDED
 *
 *    ENDED - Only the record is left; core_gc() frees the object once that is
 *    on the disk
 */

/** session_state_may_follow() - Whether the table allows a move */
bool session_state_may_follow(enum session_state_view from,
			      enum session_state_view to);

/** session_state_name() - As clients read it */
const char *session_state_name(enum session_state_view state);

/** session_state_expired() - Whether it counts as expired from here on */
bool session_state_expired(enum session_state_view state);

#endif
