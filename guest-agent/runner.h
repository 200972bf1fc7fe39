/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GUEST_RUNNER_H
#define GUEST_RUNNER_H

/*
 * What the agent and runner.py say to each other, as messages of a
 * SOCK_SEQPACKET pair. The first byte is the type. runner.py has the same
 * constants.
 *
 * agent -> zygote
 *	FORK			with three descriptors: control, stdout, stderr
 * zygote -> agent
 *	IMPORTED		ready to fork
 * kernel -> agent, through its control socket
 *	HELLO			the kernel tells whose it is (SCM_CREDENTIALS)
 *	READY			it waits for code
 *	DISPLAY flags:1 mime_size:1 mime data
 *	ERROR name_size:2 value_size:4 name value traceback
 *	FINISHED failed:1 count:4
 *				that execution's code has returned, its output
 *				is written
 * agent -> kernel
 *	GO			it is in its control group, and may change user
 *	RUN flags:1 id_size:1 trace_size:1 count:4 source_size:4 id trace source
 *				stdin as a descriptor if there is any; trace is
 *				a traceparent, or empty
 *	MORE source		what did not fit
 *	INTERRUPT count:4	that execution is to stop; SIGINT follows
 *	ALONE, CROWDED		an execution's end has been told, and no other
 *				thread or process of it is left, or some are:
 *				the time to put back what it took away
 *
 * SIGINT alone would not do: it carries no number, and whether one that comes
 * around the beginning of an execution was meant for this or for the one before
 * nobody could tell. So the message says what the signal is for, and comes
 * first: a kernel that has not begun yet finds it when it does.
 */

#include <stdint.h>

enum runner_type {
	RUNNER_FORK = 'f',
	RUNNER_IMPORTED = 'i',
	RUNNER_HELLO = 'h',
	RUNNER_READY = 'r',
	RUNNER_DISPLAY = 'd',
	RUNNER_ERROR = 'e',
	RUNNER_FINISHED = 'x',
	RUNNER_GO = 'g',
	RUNNER_RUN = 'c',
	RUNNER_MORE = 'm',
	RUNNER_INTERRUPT = 'b',
	RUNNER_ALONE = 'o',
	RUNNER_CROWDED = 'n',
};

#define RUNNER_RUN_STDIN	0x01u

#define RUNNER_DISPLAY_FILE	0x01u	/* data is a path */
#define RUNNER_DISPLAY_NEW	0x02u	/* begins a result */

/* Of one message; the runner keeps to it as well. */
#define RUNNER_MESSAGE_MAX	(208u * 1024)

/* Source bytes in one RUN or MORE. */
#define RUNNER_PIECE_MAX	(48u * 1024)

#endif
