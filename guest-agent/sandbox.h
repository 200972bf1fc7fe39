/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GUEST_SANDBOX_H
#define GUEST_SANDBOX_H

/*
 * What a process of the agent's becomes before it runs anything that is not
 * the agent's own code. Called in the forked child; there is no way back.
 */

/* The zygote's user and group; the kernels' are SANDBOX_ID of data.h. */
#define ZYGOTE_ID 990

/**
 * sandbox_enter_zygote() - Give up everything but what forking kernels takes
 *
 * The zygote keeps two capabilities, to change user and group, which the
 * kernel drops with the change. Neither it nor anything it starts can win a
 * privilege again, nor make the calls that seccomp.h refuses.
 *
 * Return: 0 or -errno
 */
int sandbox_enter_zygote(void);

/**
 * sandbox_enter_files() - Become a server of one file
 *
 * Files are made as the sandbox user's, so that what it may not write, its
 * upload may not either; reading is allowed whatever the mode says, since all
 * below the data directory is the user's own. The user id stays root's,
 * powerless, so that user code cannot send it signals.
 *
 * Return: 0 or -errno
 */
int sandbox_enter_files(void);

#endif
