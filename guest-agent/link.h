/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GUEST_LINK_H
#define GUEST_LINK_H

/*
 * The control connection. There is one at most; one that proves itself later
 * takes the place of the one before, whose host has died or lost it.
 *
 * Nothing is queued for it but short answers: when the connection can take
 * bytes, the next frame is asked of whoever has one. So a slow host costs no
 * memory, and no host at all costs nothing.
 */

#include <stddef.h>
#include <stdint.h>

/**
 * link_adopt() - Go on with a connection that proved itself and said OPEN
 * @fd:		Becomes the link's
 * @version:	The host's
 * @rest:	What it sent behind OPEN
 * @size:	Its bytes, few
 */
void link_adopt(int fd, uint16_t version, const uint8_t *rest, size_t size);

/* Somebody may have something to send. */
void link_wake(void);

#endif
