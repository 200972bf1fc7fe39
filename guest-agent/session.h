/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GUEST_SESSION_H
#define GUEST_SESSION_H

/* What concerns the guest as a whole: CONFIGURE, STAT and SHUTDOWN. */

#include <stdbool.h>

#include "wire/message.h"

/*
 * Apply CONFIGURE. What fails is reported and the rest is done: the host
 * can do nothing about it, and no limit of the guest's is what isolates it.
 */
void session_configure(const struct message_configure *m);

/* The zygote is ready: what memory is left is what kernels may have. */
void session_measure(void);

bool session_is_configured(void);

void session_status(struct message_status *ret);

/* Power off; returns only if Linux refuses. */
void session_shutdown(void);

#endif
