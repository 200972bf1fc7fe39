/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GUEST_ZYGOTE_H
#define GUEST_ZYGOTE_H

/*
 * The zygote: a Python that has imported everything and forks kernels.
 *
 * It never runs user code, so what it says is believed; what its children say
 * is not. It lives outside the kernels' control group: when that is killed, a
 * new kernel is only a fork away.
 */

#include <stdbool.h>
#include <sys/types.h>

/**
 * zygote_init() - Say what it is made of
 * @runner:	Descriptor of runner.py
 * @preimport:	Descriptor of the list of modules, one a line
 * @data_path:	What user code calls the data directory; kept
 * @on_ready:	Called when it can fork, again after it had to be replaced
 */
void zygote_init(int runner, int preimport, char *data_path,
		 void (*on_ready)(void));

/* Start it. Return: 0 or -errno */
int zygote_start(void);

bool zygote_is_ready(void);

/**
 * zygote_fork() - Ask for a kernel
 * @control:	Its end of the control socket
 * @out:	Its stdout
 * @err:	Its stderr
 *
 * The descriptors remain the caller's. Return: 0 or -errno
 */
int zygote_fork(int control, int out, int err);

/* Kill it, if it does not do what it should; on_child_exit starts another. */
void zygote_kill(void);

/* A child was reaped. Return: whether it was the zygote */
bool zygote_reaped(pid_t pid);

#endif
