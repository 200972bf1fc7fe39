/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_HTTP_CONN_H
#define API_HTTP_CONN_H

/*
 * One client's connection: who is at the other end, how long it may take, and
 * whether it is still there.
 *
 * libmicrohttpd's timeout is for inactivity only, so that a byte now and then
 * keeps a connection for ever, and while a connection is suspended it notices
 * nothing at all. Nor does it otherwise where the client's last bytes and the
 * end of its stream come at once: it takes a read that gave less than it had room
 * for to have emptied the socket, and waits for an event that has passed. These
 * gaps are closed here.
 */

#include <gnutls/gnutls.h>
#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>
#include <systemd/sd-event.h>

#include "api/http_peer.h"
#include "base/clock.h"

struct http_server;
struct http_tls_pair;
struct http_turns;
struct request;

#define HTTP_CONN_HEAD_USEC (10 * USEC_PER_SEC)
#define HTTP_CONN_BODY_USEC (30 * USEC_PER_SEC)
#define HTTP_CONN_IDLE_USEC (40 * USEC_PER_SEC)

/* How soon to look whether a client that sends nothing more was read out. */
#define HTTP_CONN_LOOK_USEC (50 * USEC_PER_MSEC)

/**
 * enum http_conn_state - What is being waited for
 *
 *    FRESH - Connected; the first request line
 *        Deadline: HEAD_USEC from the connection on, closed without a word
 *        Leaves by: the request line, to HEAD
 *        May be closed to make room
 *
 *    HEAD - The rest of the header
 *        Deadline: HEAD_USEC, from FRESH on or the request line; 408
 *        Leaves by: the handler's first call, to BODY or ANSWER
 *
 *    BODY - The body
 *        Deadline: HTTP_CONN_BODY_USEC at a time, which request_goes_on() may
 *        renew; 408. May be suspended while the disk is behind
 *        Leaves by: the body's end, to ANSWER
 *
 *    ANSWER - Core, or the client's reading of the answer
 *        Deadline: none while suspended, because core always answers; then
 *        the library's, HTTP_SERVER_STALL_SEC without a byte taken
 *        Leaves by: the answer's end, to IDLE
 *
 *    IDLE - The next request line
 *        Deadline: HTTP_CONN_IDLE_USEC, and the library's own for silence
 *        May be closed to make room
 */
enum http_conn_state {
	CONN_FRESH,
	CONN_HEAD,
	CONN_BODY,
	CONN_ANSWER,
	CONN_IDLE,

	CONN_STATE_COUNT,
};

/**
 * struct http_conn - A connection; written by http_conn.c and http_server.c
 * @request:	The one under way; NULL in FRESH and IDLE
 * @ended:	The client has closed, or its sending half: it still gets the
 *		answer to what it has sent, if that need not be waited for
 * @left:	The client has gone, or was given up; nothing can be sent
 * @linger:	Bytes of the client may still come and must not reset the
 *		connection before it has read the answer
 */
struct http_conn {
	TAILQ_ENTRY(http_conn) all;
	TAILQ_ENTRY(http_conn) waiting;
	struct http_server *server;
	struct http_turns *turns;	/* of the library that serves it */
	struct MHD_Connection *mhd;
	gnutls_session_t tls;		/* the library's; NULL: in the clear */
	struct http_tls_pair *pair;	/* what it shows */
	int fd;			/* the library's; it closes it */
	struct http_peer peer;
	enum http_conn_state state;
	struct request *request;
	bool suspended;
	bool ended;
	bool left;
	bool linger;
	usec_t deadline;	/* monotonic */
	sd_event_source *timer;
	sd_event_source *watch;	/* for the end of what the client sends */
};

TAILQ_HEAD(http_conn_list, http_conn);

/** http_conn_new() - For a connection that the library has just taken over */
struct http_conn *http_conn_new(struct http_server *server, sd_event *event,
				struct MHD_Connection *mhd, int fd,
				const struct http_peer *peer);

void http_conn_free(struct http_conn *conn);

/** http_conn_enter() - The only writer of @state; sets the deadline */
void http_conn_enter(struct http_conn *conn, enum http_conn_state to);

/**
 * http_conn_suspend() - Take the connection away from the library
 *
 * To be called in one of its callbacks. From then on a client that leaves is
 * noticed: @left is set and the connection resumed.
 */
void http_conn_suspend(struct http_conn *conn);

/** http_conn_resume() - Give it back; it has its turn in this round of the loop */
void http_conn_resume(struct http_conn *conn);

/**
 * http_conn_answer_now() - Send an answer where the library has no turn for one
 *
 * In the middle of a head or body, nothing of another answer can be on its way.
 * Afterwards the connection can only be closed: @left is set.
 */
void http_conn_answer_now(struct http_conn *conn, const void *data,
			  size_t size);

/** http_conn_mute() - Let nothing more be sent, by the library for example */
void http_conn_mute(struct http_conn *conn);

/** http_conn_shut() - Have the library notice that the connection is over */
void http_conn_shut(struct http_conn *conn);

#endif
