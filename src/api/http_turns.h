/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_HTTP_TURNS_H
#define API_HTTP_TURNS_H

/*
 * One instance of libmicrohttpd inside the daemon's loop.
 *
 * Its epoll descriptor is one source of the loop; each time it is readable, or
 * the library wants it, the library has its turn. There is one instance for
 * what comes in the clear and one for TLS, since the library can do only one of
 * them at a time.
 */

#include <microhttpd.h>
#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "base/clock.h"
#include "base/error.h"

/**
 * struct http_turns - An instance; private but for @mhd
 * @mhd:	NULL until http_turns_begin() takes it over
 * @server:	Whose it is
 */
struct http_turns {
	struct MHD_Daemon *mhd;
	struct http_server *server;
	sd_event *event;
	sd_event_source *io;		/* the library's epoll descriptor */
	sd_event_source *wake;		/* a connection was resumed */
	sd_event_source *again;		/* it has more to do */
	sd_event_source *timer;		/* its next timeout */
	usec_t timer_usec;
};

/**
 * http_turns_begin() - Give the library its turns from here on
 * @mhd:	Started without a thread and with MHD_USE_EPOLL; taken over, also
 *		on failure
 */
int http_turns_begin(struct http_turns *t, struct http_server *server,
		     sd_event *event, struct MHD_Daemon *mhd);

/** http_turns_wake() - Give it one in the next round of the loop */
void http_turns_wake(struct http_turns *t);

/**
 * http_turns_done() - End the library and all of its connections
 *
 * The library wants every connection resumed before.
 */
void http_turns_done(struct http_turns *t);

#endif
