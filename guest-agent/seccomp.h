/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GUEST_SECCOMP_H
#define GUEST_SECCOMP_H

/*
 * The system calls that no process of user code may make.
 *
 * They are those by which an unprivileged process reaches much kernel code, or
 * other processes, without Python having a use for it. The virtual machine is
 * the wall; this keeps what stands before it small. Refused calls fail as on a
 * kernel that lacks them, so that libraries fall back.
 */

/* Bind this process and all it becomes. Return: 0 or -errno */
int seccomp_install(void);

#endif
