/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GUEST_KERNEL_H
#define GUEST_KERNEL_H

/*
 * The kernel: the Python process that user code lives in.
 *
 * User code owns that process, so everything that comes from it is data, and
 * what it should do it may not do. What is certain is what Linux says: its
 * process id (from the socket's credentials), its death (as its parent, which
 * the zygote makes us by forking twice) and its control group.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire/message.h"

/**
 * enum kernel_state - Where the kernel is in its life
 *
 *    KERNEL_ABSENT - There is none
 *        Leaves by: the zygote being ready, to FORKING
 *
 *    KERNEL_FORKING - The zygote was asked; nobody has said hello yet
 *        Timer: to ABSENT, and the zygote is replaced
 *        Leaves by: HELLO, to STARTING
 *
 *    KERNEL_STARTING - In its control group, changing its user
 *        Timer: killed
 *        Leaves by: READY, to ALIVE; its death, to ABSENT
 *
 *    KERNEL_ALIVE - Takes executions, one at a time
 *        Leaves by: kernel_kill(), to DYING; its death, to ABSENT
 *
 *    KERNEL_DYING - Killed, which takes Linux a while for a fork bomb
 *        Leaves by: its death, to ABSENT
 *
 * From ABSENT the next one is forked at once.
 */
enum kernel_state {
	KERNEL_ABSENT,
	KERNEL_FORKING,
	KERNEL_STARTING,
	KERNEL_ALIVE,
	KERNEL_DYING,

	KERNEL_STATE_COUNT,
};

/**
 * struct kernel_events - What its user is told
 * @ready:	It takes executions
 * @message:	It sent one; any bytes, at least one
 * @output:	It, or a child, wrote to a stream
 * @died:	It is dead; @status as from waitpid(). Its last output was told
 *		before
 */
struct kernel_events {
	void (*ready)(void);
	void (*message)(const uint8_t *data, size_t size);
	void (*output)(enum wire_stream stream, const uint8_t *data,
		       size_t size);
	void (*died)(int status);
};

void kernel_init(const struct kernel_events *events);

/* The zygote can fork. */
void kernel_want(void);

bool kernel_is_alive(void);

/* Counts kernels from 1; after kernel_kill() that of the next one. */
uint32_t kernel_epoch(void);

/**
 * struct kernel_work - Code to be run
 * @id:		The execution's id
 * @trace:	For its environment, or empty
 * @source:	Must stay as it is until the kernel has it all
 * @stdin_fd:	What it reads, or -1; remains the caller's
 */
struct kernel_work {
	struct bytes id;
	struct bytes trace;
	struct bytes source;
	int stdin_fd;
};

/**
 * kernel_run() - Hand over code
 * @count:	Its number
 *
 * Return: 0, or -errno if the kernel cannot take it; it is killed then
 */
int kernel_run(const struct kernel_work *work, uint32_t count);

/*
 * Behind an execution, once its end has been told: have it put back what user
 * code took away, and know if nobody is left who could do so until the next.
 */
void kernel_settle(void);

/* SIGINT to its process group, as a terminal would, for that execution. */
void kernel_interrupt(uint32_t count);

/* SIGKILL to it and all that it started. */
void kernel_kill(void);

/*
 * A child is dead, and not yet reaped: if it was the new kernel, whose number is
 * only known from its hello, that is taken now. Afterwards the number may be
 * another's, and nothing would tell of this death.
 */
void kernel_before_reaping(void);

/* A child was reaped. Return: whether it was the kernel */
bool kernel_reaped(pid_t pid, int status);

#endif
