/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_HTTP_SERVER_H
#define API_HTTP_SERVER_H

/*
 * libmicrohttpd inside the daemon's loop.
 *
 * It has its turns by http_turns.c. Sockets are accepted here, because only so
 * the peer's credentials are known and the number of connections can be kept
 * within listen.connections by closing the one that has been idle for longest.
 *
 * The library's own error pages (a head beyond HTTP_SERVER_MEMORY: 431 or 414;
 * a request line, header line or chunk that it cannot read: 400 or 413; another
 * HTTP version: 505) are HTML and cannot be changed: it queues
 * them without asking. They close the connection, and the request, if its line
 * was read, is logged like any other. All that it lets through is judged by us,
 * in JSON.
 */

#include <stdbool.h>
#include <sys/socket.h>
#include <systemd/sd-event.h>

#include "base/error.h"

enum {
	/*
	 * Memory of a connection, for head and buffers. All of it stays in use
	 * once a connection has served a request, and there may be a thousand of
	 * them. Above 32 KiB the library maps it, so that it goes back to the
	 * host with the connection; from malloc() it would not.
	 */
	HTTP_SERVER_MEMORY = 36 << 10,

	/* A connection on which nothing moves for so long is closed. */
	HTTP_SERVER_STALL_SEC = 30,
};

struct api;
struct http_conn;
struct http_server;
struct http_tls;

/**
 * http_server_new() - A server without listeners
 * @api:	Whose requests it serves
 * @tls:	What TCP connections begin with, borrowed; NULL: nothing
 */
int http_server_new(sd_event *event, struct api *api, struct http_tls *tls,
		    struct http_server **ret, struct error *err);

/** http_server_free() - Close everything; requests under way get no answer */
void http_server_free(struct http_server *s);

/** http_server_listen() - Accept on a listening socket, taken over on success */
int http_server_listen(struct http_server *s, int fd, struct error *err);

/** http_server_connections() - How many clients are connected */
unsigned http_server_connections(const struct http_server *s);

/**
 * http_server_drain() - Stop serving TCP, as api_drain() says
 * @done:	Called once when no TCP connection is left
 */
void http_server_drain(struct http_server *s, void (*done)(void *userdata),
		       void *userdata);

/** http_server_draining() - Whether connections should close after the answer */
bool http_server_draining(const struct http_server *s);

/* ---------------------------------------------------------- for http_turns.c */

/** http_server_calls() - How often the library has called; wraps around */
unsigned http_server_calls(const struct http_server *s);

/** http_server_may_be_stuck() - Whether its wish for turns may be in vain */
bool http_server_may_be_stuck(const struct http_server *s);

/** http_server_check_drained() - Tell if a drain is over; may free the server */
void http_server_check_drained(struct http_server *s);

#endif
