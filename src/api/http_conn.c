/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http_conn.h"

#include <assert.h>
#include <stdlib.h>
#include <linux/sockios.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>

#include "api/http_server.h"
#include "api/http_tls.h"
#include "api/http_turns.h"
#include "api/request.h"
#include "base/event.h"
#include "base/log.h"

#define TO(state) (1u << (state))

static const struct {
	const char *name;
	unsigned next;
	usec_t limit_usec;
} states[] = {
	[CONN_FRESH]	= { "fresh", TO(CONN_HEAD), HTTP_CONN_HEAD_USEC },
	[CONN_HEAD]	= { "head", TO(CONN_BODY) | TO(CONN_ANSWER) |
				    TO(CONN_IDLE), HTTP_CONN_HEAD_USEC },
	[CONN_BODY]	= { "body", TO(CONN_BODY) | TO(CONN_ANSWER) |
				    TO(CONN_IDLE), HTTP_CONN_BODY_USEC },
	[CONN_ANSWER]	= { "answer", TO(CONN_IDLE), USEC_INFINITY },
	[CONN_IDLE]	= { "idle", TO(CONN_HEAD), HTTP_CONN_IDLE_USEC },
};
static_assert(sizeof(states) / sizeof(states[0]) == CONN_STATE_COUNT,
	      "states[] doesn't match enum http_conn_state");

/* Not the clock of sessions: a client's slowness is no matter of test.clock. */
static usec_t now_usec(const struct http_conn *conn)
{
	usec_t now = 0;

	(void)sd_event_now(sd_event_source_get_event(conn->timer),
			   CLOCK_MONOTONIC, &now);
	return now;
}

static void end_by_deadline(struct http_conn *conn)
{
	log_debug(NULL, "A client was too slow in state '%s'",
		  states[conn->state].name);
	if (conn->request)
		request_timed_out(conn->request);
	http_conn_shut(conn);
}

static void arm_timer(struct http_conn *conn, usec_t at)
{
	uint64_t armed = 0;
	int enabled = SD_EVENT_OFF;

	(void)sd_event_source_get_enabled(conn->timer, &enabled);
	(void)sd_event_source_get_time(conn->timer, &armed);
	if (enabled != SD_EVENT_OFF && armed <= at)
		return;
	(void)sd_event_source_set_time(conn->timer, at);
	(void)sd_event_source_set_enabled(conn->timer, SD_EVENT_ONESHOT);
}

static bool is_read_out(const struct http_conn *conn)
{
	int bytes = 0;

	return ioctl(conn->fd, SIOCINQ, &bytes) < 0 || bytes == 0;
}

/*
 * Nothing more will come. That ends whatever waits for more; a client that only
 * closed its sending half may still read an answer that is being sent.
 */
static void look_for_more(struct http_conn *conn)
{
	if (conn->left || conn->state == CONN_ANSWER)
		return;
	if (is_read_out(conn))
		http_conn_shut(conn);
	else
		arm_timer(conn, usec_add(now_usec(conn), HTTP_CONN_LOOK_USEC));
}

/*
 * Deadlines move on with every request, so the timer is not touched for that:
 * when it fires early it is set again, to where the deadline is by then.
 */
static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct http_conn *conn = userdata;

	(void)source;
	(void)usec;
	if (conn->deadline <= now_usec(conn)) {
		if (conn->state == CONN_BODY &&
		    (conn->suspended || request_goes_on(conn->request)))
			http_conn_enter(conn, CONN_BODY);
		else
			end_by_deadline(conn);
		return 0;
	}
	if (conn->ended)
		look_for_more(conn);
	/* In ANSWER there is none: http_conn_enter() arms it. */
	if (conn->deadline != USEC_INFINITY)
		arm_timer(conn, conn->deadline);
	return 0;
}

void http_conn_enter(struct http_conn *conn, enum http_conn_state to)
{
	bool keep = conn->state == CONN_FRESH && to == CONN_HEAD;

	assert(states[conn->state].next & TO(to));
	conn->state = to;
	if (keep)
		return;		/* one deadline for both */
	conn->deadline = usec_add(now_usec(conn), states[to].limit_usec);
	if (conn->ended && to != CONN_ANSWER)
		arm_timer(conn, usec_add(now_usec(conn), HTTP_CONN_LOOK_USEC));
	else if (conn->deadline != USEC_INFINITY)
		arm_timer(conn, conn->deadline);
}

/*
 * While it waits for core, a client that only closes its sending half counts as
 * gone, as in most servers: one cannot tell it from a client that has ended, and
 * the library itself closes when it reads the end of the stream.
 */
static void leave_suspended(struct http_conn *conn)
{
	conn->left = true;
	http_conn_resume(conn);
}

static int on_end(sd_event_source *source, int fd, uint32_t revents,
		  void *userdata)
{
	struct http_conn *conn = userdata;

	(void)source;
	(void)fd;
	(void)revents;
	conn->ended = true;
	if (conn->suspended)
		leave_suspended(conn);
	else
		arm_timer(conn, usec_add(now_usec(conn), HTTP_CONN_LOOK_USEC));
	return 0;
}

struct http_conn *http_conn_new(struct http_server *server, sd_event *event,
				struct MHD_Connection *mhd, int fd,
				const struct http_peer *peer)
{
	struct http_conn *conn;

	conn = calloc(1, sizeof(*conn));
	if (!conn)
		return NULL;
	conn->server = server;
	conn->mhd = mhd;
	conn->fd = fd;
	conn->peer = *peer;
	conn->state = CONN_FRESH;
	if (sd_event_add_time_relative(event, &conn->timer, CLOCK_MONOTONIC,
				       HTTP_CONN_HEAD_USEC,
				       100 * USEC_PER_MSEC, on_timer,
				       conn) < 0 ||
	    event_add_io(event, fd, EPOLLRDHUP, on_end, conn, "http-end",
			 &conn->watch) < 0) {
		http_conn_free(conn);
		return NULL;
	}
	(void)sd_event_source_set_description(conn->timer, "http-deadline");
	/* It happens once, and would be told again and again. */
	(void)sd_event_source_set_enabled(conn->watch, SD_EVENT_ONESHOT);
	conn->deadline = usec_add(now_usec(conn), HTTP_CONN_HEAD_USEC);
	return conn;
}

void http_conn_free(struct http_conn *conn)
{
	if (!conn)
		return;
	sd_event_source_disable_unref(conn->timer);
	sd_event_source_disable_unref(conn->watch);
	http_tls_end(conn->pair);
	free(conn);
}

void http_conn_suspend(struct http_conn *conn)
{
	assert(!conn->suspended);
	conn->suspended = true;
	MHD_suspend_connection(conn->mhd);
	if (conn->ended)
		leave_suspended(conn);
}

void http_conn_resume(struct http_conn *conn)
{
	if (!conn->suspended)
		return;
	conn->suspended = false;
	MHD_resume_connection(conn->mhd);
	/* Driven by somebody else's loop, the library signals nothing. */
	http_turns_wake(conn->turns);
}

void http_conn_answer_now(struct http_conn *conn, const void *data,
			  size_t size)
{
	/* Short, and the socket's buffer is empty; if not, so be it. */
	if (conn->tls)
		(void)gnutls_record_send(conn->tls, data, size);
	else
		(void)send(conn->fd, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
	conn->linger = true;
	conn->left = true;
}

void http_conn_mute(struct http_conn *conn)
{
	(void)shutdown(conn->fd, SHUT_WR);
}

void http_conn_shut(struct http_conn *conn)
{
	conn->left = true;
	/* Both halves: a library that does not read would not see one. */
	(void)shutdown(conn->fd, SHUT_RDWR);
	http_conn_resume(conn);
}
