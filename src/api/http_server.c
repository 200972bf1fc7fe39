/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http_server.h"

#include <errno.h>
#include <gnutls/abstract.h>
#include <microhttpd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_private.h"
#include "api/http_conn.h"
#include "api/http_linger.h"
#include "api/http_listen.h"
#include "api/http_peer.h"
#include "api/http_tls.h"
#include "api/http_turns.h"
#include "api/penalty.h"
#include "api/request.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/settings.h"

enum {
	/* A connection that was closed to make room still counts for the
	 * library until its next turn. */
	CONNECTIONS_SLACK = 64,
};

struct http_server {
	sd_event *event;
	struct api *api;
	struct http_turns plain;
	struct http_turns secure;	/* without a library if there is no TLS */
	struct http_tls *tls;		/* of TCP listeners; NULL: none */
	unsigned max;			/* connections at a time */
	unsigned per_client;		/* from one network */
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

/* -------------------------------------------------------------- for http_turns */

/* May free the server: to be called last. */
void http_server_check_drained(struct http_server *s)
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
bool http_server_may_be_stuck(const struct http_server *s)
{
	struct http_conn *conn;

	TAILQ_FOREACH(conn, &s->all, all)
		if (conn->state == CONN_BODY && !conn->suspended &&
		    conn->request->head.chunked)
			return true;
	return false;
}

unsigned http_server_calls(const struct http_server *s)
{
	return s->calls;
}

/* ------------------------------------------------------------------ callbacks */

static bool is_secure(const struct http_server *s, const struct http_peer *peer)
{
	return s->tls && !peer->local;
}

static struct http_conn *conn_of(struct MHD_Connection *mhd)
{
	const union MHD_ConnectionInfo *info;

	info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	return info ? info->socket_context : NULL;
}

/* Its certificate is chosen now, before the handshake. */
static int begin_tls(struct http_server *s, struct http_conn *conn)
{
	const union MHD_ConnectionInfo *info;

	conn->turns = is_secure(s, &conn->peer) ? &s->secure : &s->plain;
	if (conn->turns == &s->plain)
		return 0;
	info = MHD_get_connection_info(conn->mhd,
				       MHD_CONNECTION_INFO_GNUTLS_SESSION);
	if (!info)
		return -EINVAL;
	conn->tls = info->tls_session;
	conn->pair = http_tls_begin(s->tls, conn->tls);
	return conn->pair ? 0 : -EINVAL;
}

static void begin_conn(struct http_server *s, struct MHD_Connection *mhd,
		       void **context)
{
	const union MHD_ConnectionInfo *info;
	struct http_conn *conn;

	info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
	conn = http_conn_new(s, s->event, mhd, info->connect_fd, &s->adding);
	if (conn && begin_tls(s, conn) < 0) {
		http_conn_free(conn);
		conn = NULL;
	}
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

static bool is_from(const struct http_conn *conn, uint64_t network)
{
	return !conn->left && (network == 0 || conn->peer.network == network);
}

/*
 * Closes the connection that has waited for longest; failing that the oldest
 * stranger's, or whoever sends heads slowly enough could keep all others out.
 * The newest one is who room is made for.
 * @network: whose it must be; 0: anybody's. Return: false if all are busy
 */
static bool make_room(struct http_server *s, uint64_t network)
{
	const struct http_conn *newest = TAILQ_LAST(&s->all, http_conn_list);
	struct http_conn *conn;

	TAILQ_FOREACH(conn, &s->waiting, waiting)
		if (is_from(conn, network) && conn != newest)
			break;
	if (!conn)
		TAILQ_FOREACH(conn, &s->all, all)
			if (is_from(conn, network) && is_stranger(conn))
				break;
	if (!conn)
		return false;
	http_conn_shut(conn);
	return true;
}

/*
 * One client, however many keys it has, takes no more than its share: for each
 * connection beyond that one of its own closes, this one if all are busy. The
 * count costs some microseconds with all connections in use.
 */
static void keep_share(struct http_server *s, uint64_t network)
{
	struct http_conn *conn;
	unsigned count = 0;

	if (network == 0)
		return;
	TAILQ_FOREACH(conn, &s->all, all)
		count += is_from(conn, network);
	if (count <= s->per_client || make_room(s, network))
		return;
	log_debug(NULL, "A client has all of its %u connections busy",
		  s->per_client);
	conn = TAILQ_LAST(&s->all, http_conn_list);
	if (is_from(conn, network))
		http_conn_shut(conn);
}

static void on_accepted(void *userdata, int fd,
			const struct sockaddr *address, socklen_t size)
{
	struct http_server *s = userdata;
	struct http_turns *turns;

	s->adding = http_peer_of(fd, &s->groups);
	s->adding.network = penalty_network(address, size);
	turns = is_secure(s, &s->adding) ? &s->secure : &s->plain;
	/* Owns the descriptor from here on, also if it fails. */
	if (MHD_add_connection(turns->mhd, fd, address, size) != MHD_YES)
		log_warning(NULL, -errno, "Cannot serve a new connection");
	else
		keep_share(s, s->adding.network);
	if (s->count >= s->max && !make_room(s, 0))
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

/* What a session shows is set when its connection begins; see http_tls.h. */
static int no_certificate(gnutls_session_t session,
			  const gnutls_datum_t *authorities, int count,
			  const gnutls_pk_algorithm_t *algorithms, int length,
			  gnutls_pcert_st **pcert, unsigned *pcert_length,
			  gnutls_privkey_t *key)
{
	(void)session;
	(void)authorities;
	(void)count;
	(void)algorithms;
	(void)length;
	(void)pcert;
	(void)pcert_length;
	(void)key;
	return -1;
}

static int start_library(struct http_server *s, struct http_turns *turns,
			 struct error *err)
{
	struct MHD_OptionItem secure[] = {
		{ MHD_OPTION_HTTPS_CERT_CALLBACK, 0,
		  (void *)(uintptr_t)no_certificate },
		{ MHD_OPTION_HTTPS_PRIORITIES, 0,
		  (void *)(uintptr_t)HTTP_TLS_PRIORITIES },
		{ MHD_OPTION_END, 0, NULL },
	};
	struct MHD_OptionItem plain[] = { { MHD_OPTION_END, 0, NULL } };
	unsigned flags = MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET |
			 MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
	bool is_tls = turns == &s->secure;
	struct MHD_Daemon *mhd;
	int r;

	mhd = MHD_start_daemon(
		flags | (is_tls ? MHD_USE_TLS : 0), 0, NULL, NULL, on_turn, s,
		MHD_OPTION_ARRAY, is_tls ? secure : plain,
		MHD_OPTION_EXTERNAL_LOGGER, on_log, s,
		MHD_OPTION_URI_LOG_CALLBACK, on_target, s,
		MHD_OPTION_UNESCAPE_CALLBACK, on_unescape, s,
		MHD_OPTION_NOTIFY_COMPLETED, on_completed, s,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, s,
		MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)HTTP_SERVER_STALL_SEC,
		MHD_OPTION_CONNECTION_LIMIT,
		s->max + CONNECTIONS_SLACK,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HTTP_SERVER_MEMORY,
		STRICTNESS MHD_OPTION_END);
	if (!mhd)
		return error_set(err, ERR_INTERNAL,
				 "Cannot start the HTTP library%s",
				 is_tls ? " with TLS" : "");
	r = http_turns_begin(turns, s, s->event, mhd);
	return r < 0 ? error_set_errno(err, r, "Cannot start serving") : 0;
}

static void http_server_freep(struct http_server **s)
{
	http_server_free(*s);
}

static unsigned setting(const struct api *api, const char *key)
{
	return (unsigned)settings_uint(api->config.settings, "listen", key);
}

int http_server_new(sd_event *event, struct api *api, struct http_tls *tls,
		    struct http_server **ret, struct error *err)
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
	s->tls = tls;
	s->max = setting(api, "connections");
	s->per_client = setting(api, "connections_per_client");
	TAILQ_INIT(&s->all);
	TAILQ_INIT(&s->waiting);
	s->groups = http_groups_find();
	http_listeners_init(&s->listeners, event, &api->vsock_peers,
			    on_accepted, s);
	r = http_lingers_new(event, &s->lingers);
	if (r < 0)
		return error_set_errno(err, r, "Cannot start serving");
	r = start_library(s, &s->plain, err);
	if (r >= 0 && s->tls)
		r = start_library(s, &s->secure, err);
	if (r < 0)
		return r;
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
	TAILQ_FOREACH(conn, &s->all, all)
		http_conn_shut(conn);
	http_turns_done(&s->plain);
	http_turns_done(&s->secure);
	http_lingers_free(s->lingers);
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
	http_turns_wake(&s->plain);
}
