/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GUEST_EXEC_H
#define GUEST_EXEC_H

/*
 * Executions: one that runs, and finished ones until the host releases them.
 *
 * All of an execution's memory is a static slot: its capped output, its results
 * and how it ended. Whether a host is connected makes no difference to it; the
 * link asks for frames when it can send some.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire/message.h"

/**
 * enum exec_state - Where an execution is in its life
 *
 *    EXEC_FREE - The slot is nobody's
 *        Leaves by: EXEC, to RECEIVING
 *
 *    EXEC_RECEIVING - Source and stdin are on their way
 *        Leaves by: the last INPUT, to WAITING; the link being replaced, to
 *        FREE, because the rest will not come
 *
 *    EXEC_WAITING - The kernel is not there yet
 *        Timer: to FINISHED as kernel_died
 *        Leaves by: the kernel being alive, to RUNNING
 *
 *    EXEC_RUNNING - The kernel has the source
 *        Timer: the deadline: SIGINT; then the grace, to ENDING. The output
 *        limit and INTERRUPT send SIGINT, too; only INTERRUPT alone leaves it
 *        at that, since the deadline is still to come
 *        Leaves by: the runner saying so, or the kernel's death, to FINISHED
 *
 *    EXEC_ENDING - The control group was killed
 *        Timer: to FINISHED, whether Linux has got round to it or not
 *        Leaves by: the kernel's death, to FINISHED
 *
 *    EXEC_FINISHED - Nothing about it changes any more
 *        Leaves by: RELEASE, to FREE
 */
enum exec_state {
	EXEC_FREE,
	EXEC_RECEIVING,
	EXEC_WAITING,
	EXEC_RUNNING,
	EXEC_ENDING,
	EXEC_FINISHED,

	EXEC_STATE_COUNT,
};

/* @on_frames: called when there may be something new to send. */
void exec_init(void (*on_frames)(void));

/* How long a kernel may take to heed SIGINT. */
void exec_set_grace(uint64_t usec);

/* What the host says. @ret_refusal is set if the result is -EBUSY. */
int exec_begin(uint32_t call, const struct message_exec *m,
	       enum wire_refusal *ret_refusal);
int exec_input(uint32_t call, struct bytes data,
	       enum wire_refusal *ret_refusal);
int exec_attach(uint32_t call, const struct message_attach *m,
		enum wire_refusal *ret_refusal);

/* -EPROTO if it has not finished; nothing happens if it is unknown. */
int exec_release(uint32_t call);

void exec_interrupt(uint32_t call);

/* The link was lost or replaced: nothing is sent until ATTACH. */
void exec_detach_all(void);

/* Fill in the executions of HELLO. */
void exec_list(struct message_hello *m);

/**
 * exec_next_frame() - Write the next frame of an attached execution
 * @buf:	Where to
 * @size:	Room there
 *
 * Return: its size, 0 if there is none now, -ENOBUFS if the next frame may
 * need more room than @size
 */
ssize_t exec_next_frame(uint8_t *buf, size_t size);

/* What the kernel and its user code do: for kernel_init(). */
extern const struct kernel_events exec_kernel_events;

#endif
