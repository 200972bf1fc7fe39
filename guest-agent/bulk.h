/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GUEST_BULK_H
#define GUEST_BULK_H

/*
 * GET and PUT: a forked child per connection, which may block and has given
 * up all power but over the sandbox user's files (sandbox.h).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire/wire.h"

/* Return: 0 or -errno */
int bulk_init(void);

/**
 * bulk_adopt() - Serve a connection that proved itself
 * @fd:		Closed here
 * @purpose:	WIRE_BULK_GET or WIRE_BULK_PUT
 * @rest:	What the host sent behind OPEN
 * @size:	Its bytes
 */
void bulk_adopt(int fd, enum wire_purpose purpose, const uint8_t *rest,
		size_t size);

/* A child was reaped. Return: whether it was one of these */
bool bulk_reaped(pid_t pid);

#endif
