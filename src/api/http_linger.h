/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_HTTP_LINGER_H
#define API_HTTP_LINGER_H

/*
 * Closing a connection whose client is still sending.
 *
 * When a socket is closed with bytes unread, or bytes arrive after that, the
 * kernel resets the connection, and the reset may overtake the answer that said
 * why the body was refused. So such a socket is kept for a moment, and what
 * comes is read and thrown away.
 */

#include <systemd/sd-event.h>

struct http_lingers;

int http_lingers_new(sd_event *event, struct http_lingers **ret);
void http_lingers_free(struct http_lingers *l);

/**
 * http_linger() - Keep a socket that is about to be closed
 * @fd:		Duplicated; its sending half has been shut down
 *
 * If there are too many already, or no descriptor, it is closed at once.
 */
void http_linger(struct http_lingers *l, int fd);

#endif
