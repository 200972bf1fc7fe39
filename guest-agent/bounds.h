/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GUEST_BOUNDS_H
#define GUEST_BOUNDS_H

/*
 * What Linux lets the kernel do: its soft limits, the processors it may run on,
 * and whether it may use the data directory.
 *
 * User code may lower all of them, for its own execution. They are put back from
 * here, since to look at them takes the runner four times as long: each question
 * passes the system call filter and is answered in objects of Python's. A hard
 * limit that was lowered stays so until the kernel is replaced.
 */

#include <sys/types.h>

/* Note what they are; the kernel has not yet run user code. */
void bounds_survey(pid_t kernel);

/* Put back what is less, or others, than it was. */
void bounds_restore(pid_t kernel);

#endif
