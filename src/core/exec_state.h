/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_EXEC_STATE_H
#define CORE_EXEC_STATE_H

#include <stdbool.h>

/**
 * enum exec_state - Where an execution is between a client and the store
 *
 * What it came to is enum exec_status; this is how far it has got. Only
 * exec_enter() writes it.
 *
 *    QUEUED - Waits for its turn: for the VM, for files to be placed, for the
 *    executions before it
 *        Leaves by: being sent, to RUNNING; the session's end, to SAVING
 *
 *    RUNNING - The guest was told to run it
 *        Timer: the guest's own deadline and then some, after which the guest
 *        is unresponsive and the session ends
 *        Leaves by: DONE, to PULLING; the session's end, to SAVING
 *
 *    PULLING - It is over in the guest, and the files it changed are being
 *    fetched one after the other
 *        Timer: each transfer's own
 *        Leaves by: the last file, to SAVING; the session's end too
 *
 *    SAVING - Result and files are on their way to the disk. Readers are told
 *    it is done at once, or after the commit if it made files
 *        Leaves by: the commit, to OVER. The guest may then forget it
 *
 *    OVER - The record is on the disk; the object lives while somebody watches
 */
enum exec_state {
	EXEC_STATE_QUEUED,
	EXEC_STATE_RUNNING,
	EXEC_STATE_PULLING,
	EXEC_STATE_SAVING,
	EXEC_STATE_OVER,

	EXEC_STATE_COUNT,
};

/** exec_state_may_follow() - Whether the table allows a move */
bool exec_state_may_follow(enum exec_state from, enum exec_state to);

/** exec_state_name() - As the log reads it */
const char *exec_state_name(enum exec_state state);

#endif
