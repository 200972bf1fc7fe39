/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http_server.h"

#include <errno.h>
#include <microhttpd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "api/http_conn.h"
#include "api/http_linger.h"
#include "api/http_listen.h"
#include "api/http_peer.h"
#include "api/penalty.h"
#include "api/request.h"
#include "base/cleanup.h"
#include "base/event.h"
#include "base/limits.h"
#include "base/log.h"

enum {
	/* A connection that was closed to make room still counts for the
	 * library until its next turn. */
	CONNECTIONS_SLACK = 64,

	/* How long to wait before a turn that will probably be in vain. */
	STUCK_MSEC = 5,
};

struct http_server {
	sd_event *event;
	struct api *api;
	struct MHD_Daemon *mhd;
	sd_event_source *io;		/* the library's epoll descriptor */
	sd_event_source *wake;		/* a connection was resumed */
	sd_event_source *again;		/* it has more to do */
	sd_event_source *timer;		/* its next timeout */
	usec_t timer_usec;
	unsigned calls;			/* of the library, to us */
	struct http_groups groups;
	struct http_listeners listeners;
	struct http_lingers *lingers;
	struct http_conn_list all;
	struct http_conn_list waiting;	/* without a request, oldest first */
	unsigned count;
	unsigned tcp_count;
	struct http_peer adding;	/* peer of the connection being added */
	bool draining;
	void (*drained)(void *userdata);
	void *userdata;
};

/* --------------------------------------------------- the library and the loop */

/*
 * Timeouts only ever move on, so a timer that is set too early is left as it
 * is: it costs one turn.
 */
static void set_timer(struct http_server *s, uint64_t wait_msec)
{
	usec_t now = 0, at;
	int enabled = SD_EVENT_OFF;

	(void)sd_event_now(s->event, CLOCK_MONOTONIC, &now);
	at = usec_add(now, usec_add(wait_msec * USEC_PER_MSEC, USEC_PER_MSEC));
	(void)sd_event_source_get_enabled(s->timer, &enabled);
	if (enabled != SD_EVENT_OFF && s->timer_usec <= at)
		return;
	s->timer_usec = at;
	(void)sd_event_source_set_time(s->timer, at);
	(void)sd_event_source_set_enabled(s->timer, SD_EVENT_ONESHOT);
}

/* May free the server: to be called last. */
static void check_drained(struct http_server *s)
{
	void (*drained)(void *userdata) = s->drained;

	if (!s->draining || s->tcp_count > 0 || !drained)
		return;
	s->drained = NULL;
	drained(s->userdata);
}

/*
 * A chunk's header that does not fit into the buffer is neither refused nor
 * given to us: the library asks for turn after turn in which it does nothing.
 * One cannot tell from outside, only that a chunked body does not come on.
 */
static bool may_be_stuck(struct http_server *s)
{
	struct http_conn *conn;

	TAILQ_FOREACH(conn, &s->all, all)
		if (conn->state == CONN_BODY && !conn->suspended &&
		    conn->request->head.chunked)
			return true;
	return false;
}

static void run(struct http_server *s)
{
	MHD_UNSIGNED_LONG_LONG wait_msec;
	unsigned calls = s->calls;

	if (MHD_run(s->mhd) != MHD_YES)
		log_error(NULL, 0, "The HTTP library failed in its turn");
	if (MHD_get_timeout(s->mhd, &wait_msec) == MHD_YES) {
		if (wait_msec > 0)
			set_timer(s, wait_msec);
		else if (s->calls == calls && may_be_stuck(s))
			set_timer(s, STUCK_MSEC);
		else
			(void)sd_event_source_set_enabled(s->again,
							  SD_EVENT_ONESHOT);
	}
	check_drained(s);
}

static int on_io(sd_event_source *source, int fd, uint32_t revents,
		 void *userdata)
{
	(void)source;
	(void)fd;
	(void)revents;
	run(userdata);
	return 0;
}

static int on_turn_due(sd_event_source *source, void *userdata)
{
	(void)source;
	run(userdata);
	return 0;
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	(void)source;
	(void)usec;
	run(userdata);
	return 0;
}

void http_server_wake(struct http_server *s)
{
	(void)sd_event_source_set_enabled(s->wake, SD_EVENT_ONESHOT);
}

/* ------------------------------------------------------------------ callbacks */

static struct http_conn *conn_of(struct MHD_Connection *mhd)
{
	const union MHD_ConnectionInfo *info;

	info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	return info ? info->socket_context : NULL;
}

static void begin_conn(struct http_server *s, struct MHD_Connection *mhd,
		       void **context)
{
	const union MHD_ConnectionInfo *info;
	struct http_conn *conn;

	info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
	conn = http_conn_new(s, s->event, mhd, info->connect_fd, &s->adding);
	*context = conn;
	if (!conn)
		return;		/* its requests will be refused */
	TAILQ_INSERT_TAIL(&s->all, conn, all);
	TAILQ_INSERT_TAIL(&s->waiting, conn, waiting);
	s->count++;
	s->tcp_count += !conn->peer.local;
}

static void end_conn(struct http_server *s, struct http_conn *conn)
{
	if (conn->linger)
		http_linger(s->lingers, conn->fd);
	TAILQ_REMOVE(&s->all, conn, all);
	if (!conn->request)
		TAILQ_REMOVE(&s->waiting, conn, waiting);
	s->count--;
	s->tcp_count -= !conn->peer.local;
	http_conn_free(conn);
	http_listeners_pause(&s->listeners, false);
}

static void on_connection(void *userdata, struct MHD_Connection *mhd,
			  void **context, enum MHD_ConnectionNotificationCode code)
{
	struct http_server *s = userdata;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		begin_conn(s, mhd, context);
	} else if (*context) {
		end_conn(s, *context);
		*context = NULL;
	}
}

/* Called with the request line's target; what it returns is the request. */
static void *on_target(void *userdata, const char *target,
		       struct MHD_Connection *mhd)
{
	struct http_server *s = userdata;
	struct http_conn *conn = conn_of(mhd);

	if (!conn)
		return NULL;
	conn->request = request_new(s->api, conn, target);
	if (!conn->request)
		return NULL;
	request_hide_query(target);
	TAILQ_REMOVE(&s->waiting, conn, waiting);
	http_conn_enter(conn, CONN_HEAD);
	return conn->request;
}

static enum MHD_Result on_turn(void *userdata, struct MHD_Connection *mhd,
			       const char *url, const char *method,
			       const char *version, const char *data,
			       size_t *size, void **context)
{
	struct http_server *s = userdata;

	(void)mhd;
	(void)url;		/* request_new() has it undamaged */
	s->calls++;
	if (!*context)
		return MHD_NO;
	return request_turn(*context, method, version, data, size);
}

static void on_completed(void *userdata, struct MHD_Connection *mhd,
			 void **context, enum MHD_RequestTerminationCode code)
{
	struct http_server *s = userdata;
	struct request *req = *context;
	struct http_conn *conn = conn_of(mhd);

	(void)code;
	*context = NULL;
	if (!req)
		return;
	conn->request = NULL;
	TAILQ_INSERT_TAIL(&s->waiting, conn, waiting);
	http_conn_enter(conn, CONN_IDLE);
	request_gone(req);
	if (s->draining && !conn->peer.local)
		http_conn_shut(conn);
}

/* Paths and queries stay as they came: uri.c decodes them, strictly. */
static size_t on_unescape(void *userdata, struct MHD_Connection *mhd, char *s)
{
	(void)userdata;
	(void)mhd;
	return strlen(s);
}

/*
 * The library reads Content-Length before it asks us anything. One that it
 * cannot read it answers by itself, in HTML and, up to 0.9.75 at least, twice.
 * What it writes into its log just before is the chance to be first. It does
 * not say which connection it means, but every head that has such a length so
 * far will be refused.
 */
static void refuse_bad_lengths(struct http_server *s)
{
	struct http_conn *conn;

	TAILQ_FOREACH(conn, &s->all, all)
		if (conn->state == CONN_HEAD && conn->request && !conn->left)
			request_check_length(conn->request);
}

__attribute__((format(printf, 2, 0)))
static void on_log(void *userdata, const char *fmt, va_list ap)
{
	char text[256];

	(void)vsnprintf(text, sizeof(text), fmt, ap);
	text[strcspn(text, "\n")] = '\0';
	log_debug(NULL, "libmicrohttpd: %s", text);
	if (strstr(text, "Content-Length"))
		refuse_bad_lengths(userdata);
}

/* ------------------------------------------------------------ new connections */

/* Nobody yet, as far as we know: no key was seen, or none that is valid. */
static bool is_stranger(const struct http_conn *conn)
{
	return conn->state == CONN_HEAD ||
	       (conn->request && conn->request->state == REQUEST_REFUSED);
}

/*
 * Closes the connection that has waited for longest; failing that the oldest
 * stranger's, or whoever sends heads slowly enough could keep all others out.
 * The newest one is who room is made for. Return: false if all are busy
 */
static bool make_room(struct http_server *s)
{
	const struct http_conn *newest = TAILQ_LAST(&s->all, http_conn_list);
	struct http_conn *conn;

	TAILQ_FOREACH(conn, &s->waiting, waiting)
		if (!conn->left && conn != newest)
			break;
	if (!conn)
		TAILQ_FOREACH(conn, &s->all, all)
			if (!conn->left && is_stranger(conn))
				break;
	if (!conn)
		return false;
	http_conn_shut(conn);
	return true;
}

static void on_accepted(void *userdata, int fd,
			const struct sockaddr *address, socklen_t size)
{
	struct http_server *s = userdata;

	s->adding = http_peer_of(fd, &s->groups);
	s->adding.network = penalty_network(address, size);
	/* Owns the descriptor from here on, also if it fails. */
	if (MHD_add_connection(s->mhd, fd, address, size) != MHD_YES)
		log_warning(NULL, -errno, "Cannot serve a new connection");
	if (s->count >= LIMIT_CONNECTIONS && !make_room(s))
		http_listeners_pause(&s->listeners, true);
}

int http_server_listen(struct http_server *s, int fd, struct error *err)
{
	return http_listeners_add(&s->listeners, fd, err);
}

/* ----------------------------------------------------------------------- life */

/*
 * Newer libraries refuse by themselves what two servers may read differently,
 * folded fields for one. Level 2 is as strict as any decent client allows.
 */
#if MHD_VERSION >= 0x00097701
#define STRICTNESS MHD_OPTION_CLIENT_DISCIPLINE_LVL, 2,
#else
#define STRICTNESS
#endif

static int start_library(struct http_server *s, struct error *err)
{
	unsigned flags = MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET |
			 MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;

	s->mhd = MHD_start_daemon(
		flags, 0, NULL, NULL, on_turn, s,
		MHD_OPTION_EXTERNAL_LOGGER, on_log, s,
		MHD_OPTION_URI_LOG_CALLBACK, on_target, s,
		MHD_OPTION_UNESCAPE_CALLBACK, on_unescape, s,
		MHD_OPTION_NOTIFY_COMPLETED, on_completed, s,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, s,
		MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)HTTP_SERVER_STALL_SEC,
		MHD_OPTION_CONNECTION_LIMIT,
		(unsigned)(LIMIT_CONNECTIONS + CONNECTIONS_SLACK),
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HTTP_SERVER_MEMORY,
		STRICTNESS MHD_OPTION_END);
	if (!s->mhd)
		return error_set(err, ERR_INTERNAL,
				 "Cannot start the HTTP library");
	return 0;
}

static int add_sources(struct http_server *s)
{
	const union MHD_DaemonInfo *info;
	int r;

	info = MHD_get_daemon_info(s->mhd, MHD_DAEMON_INFO_EPOLL_FD);
	if (!info)
		return -EINVAL;
	r = event_add_io(s->event, info->epoll_fd, EPOLLIN, on_io, s, "http",
			 &s->io);
	if (r < 0)
		return r;
	r = event_add_defer(s->event, on_turn_due, s, "http-wake", &s->wake);
	if (r < 0)
		return r;
	r = event_add_defer(s->event, on_turn_due, s, "http-again",
			    &s->again);
	if (r < 0)
		return r;
	/* Whoever keeps the library busy must not keep others from the loop. */
	r = sd_event_source_set_priority(s->again, SD_EVENT_PRIORITY_IDLE);
	if (r < 0)
		return r;
	r = sd_event_add_time(s->event, &s->timer, CLOCK_MONOTONIC, 0,
			      USEC_PER_MSEC, on_timer, s);
	if (r < 0)
		return r;
	(void)sd_event_source_set_description(s->timer, "http-timeout");
	return sd_event_source_set_enabled(s->timer, SD_EVENT_OFF);
}

static void http_server_freep(struct http_server **s)
{
	http_server_free(*s);
}

int http_server_new(sd_event *event, struct api *api, struct http_server **ret,
		    struct error *err)
{
	_cleanup_(http_server_freep) struct http_server *s = NULL;
	int r;

	/* The library writes to sockets that may be closed; nobody in the
	 * daemon wants to end by that. */
	(void)signal(SIGPIPE, SIG_IGN);
	s = calloc(1, sizeof(*s));
	if (!s)
		return error_set_errno(err, -ENOMEM, "Cannot start serving");
	s->event = sd_event_ref(event);
	s->api = api;
	TAILQ_INIT(&s->all);
	TAILQ_INIT(&s->waiting);
	s->groups = http_groups_find();
	http_listeners_init(&s->listeners, event, on_accepted, s);
	r = http_lingers_new(event, &s->lingers);
	if (r < 0)
		return error_set_errno(err, r, "Cannot start serving");
	r = start_library(s, err);
	if (r < 0)
		return r;
	r = add_sources(s);
	if (r < 0)
		return error_set_errno(err, r, "Cannot start serving");
	*ret = take_ptr(s);
	return 0;
}

/*
 * The library wants every connection resumed before it stops. It then ends
 * them, and calls back for each.
 */
void http_server_free(struct http_server *s)
{
	struct http_conn *conn;

	if (!s)
		return;
	s->drained = NULL;
	http_listeners_done(&s->listeners);
	if (s->mhd) {
		TAILQ_FOREACH(conn, &s->all, all)
			http_conn_shut(conn);
		(void)MHD_run(s->mhd);
		MHD_stop_daemon(s->mhd);
	}
	http_lingers_free(s->lingers);
	sd_event_source_disable_unref(s->io);
	sd_event_source_disable_unref(s->wake);
	sd_event_source_disable_unref(s->again);
	sd_event_source_disable_unref(s->timer);
	sd_event_unref(s->event);
	free(s);
}

unsigned http_server_connections(const struct http_server *s)
{
	return s->count;
}

bool http_server_draining(const struct http_server *s)
{
	return s->draining;
}

void http_server_drain(struct http_server *s, void (*done)(void *userdata),
		       void *userdata)
{
	struct http_conn *conn;

	s->draining = true;
	s->drained = done;
	s->userdata = userdata;
	http_listeners_close_tcp(&s->listeners);
	TAILQ_FOREACH(conn, &s->waiting, waiting)
		if (!conn->peer.local)
			http_conn_shut(conn);
	/* Not from inside the call: the next turn of the library sees it. */
	http_server_wake(s);
}
