/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GUEST_VISITOR_H
#define GUEST_VISITOR_H

/*
 * Connections that have not proved themselves yet.
 *
 * Nothing is read from them but the proof and OPEN, and they have a deadline;
 * then they are somebody else's, or closed.
 */

#include <stdint.h>

#include "wire/wire.h"

/**
 * visitor_listen() - Take connections
 * @fd:		Listening socket, non-blocking; becomes this module's
 * @nonce:	What both sides must know; copied
 *
 * Return: 0 or -errno
 */
int visitor_listen(int fd, const uint8_t nonce[static WIRE_NONCE_SIZE]);

#endif
