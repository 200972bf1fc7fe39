/* SPDX-License-Identifier: Apache-2.0 */
#include "api/request.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/admit.h"
#include "api/api_private.h"
#include "api/auth.h"
#include "api/cors.h"
#include "api/exec_stream.h"
#include "api/http_conn.h"
#include "api/http_server.h"
#include "api/reply.h"
#include "api/request_log.h"
#include "api/sse.h"
#include "base/cleanup.h"
#include "base/json.h"

#define TO(state) (1u << (state))

static const unsigned moves[] = {
	[REQUEST_ARRIVED]	= TO(REQUEST_READING) | TO(REQUEST_REFUSED) |
				  TO(REQUEST_ANSWERED),
	[REQUEST_READING]	= TO(REQUEST_REFUSED) | TO(REQUEST_HANDLED),
	[REQUEST_REFUSED]	= TO(REQUEST_ANSWERED),
	[REQUEST_HANDLED]	= TO(REQUEST_ANSWERED),
	[REQUEST_ANSWERED]	= 0,
};
static_assert(sizeof(moves) / sizeof(moves[0]) == REQUEST_STATE_COUNT,
	      "moves[] doesn't match enum request_state");

/* The only place that writes req->state. */
static void enter(struct request *req, enum request_state to)
{
	assert(moves[req->state] & TO(to));
	req->state = to;
}

/* ------------------------------------------------------------------ begin, end */

void request_hide_query(const char *target)
{
	char *query = strchr((char *)(uintptr_t)target, '?');

	if (query && query[1] && MHD_get_version()[0] == '0')
		query[1] = '\0';
}

struct request *request_new(struct api *api, struct http_conn *conn,
			    const char *target)
{
	struct request *req;

	req = calloc(1, sizeof(*req));
	if (!req)
		return NULL;
	req->api = api;
	req->core = api->config.core;
	req->conn = conn;
	req->began_usec = request_log_now();
	req->out = BUF_INIT(REQUEST_REPLY_MAX);
	req->target = strdup(target ? target : "");
	if (!req->target || id_new(ID_REQUEST, req->id) < 0) {
		free(req->target);
		free(req);
		return NULL;
	}
	/* Now: all errors are told as the path has them, this one as well. */
	(void)uri_parse(req->target, &req->uri, &req->failure);
	req->match.envelope = router_envelope(&req->uri, conn->peer.local);
	return req;
}

static void request_free(struct request *req)
{
	if (req->response)
		MHD_destroy_response(req->response);
	if (req->work_free)
		req->work_free(req->work);
	json_free(req->json);
	uri_done(&req->uri);
	buf_done(&req->out);
	free(req->target);
	free(req);
}

void request_gone(struct request *req)
{
	request_log(req);
	req->api->answered[req->status / 100 % API_STATUS_CLASSES]++;
	/* Now: what core still owes may come after the server's end. */
	admit_end(req);
	req->conn = NULL;
	/* Nobody waits for these any more, whether core still answers or not. */
	json_free(take_ptr(req->json));
	body_done(&req->body);
	exec_stream_free(take_ptr(req->stream));
	sse_free(take_ptr(req->sse));
	if (!req->owed)
		request_free(req);
	else if (req->left)
		req->left(req);
}

/* --------------------------------------------------------------------- answers */

/* Deadlines of the container that a call was about, where it has any. */
static void add_container_headers(struct request *req)
{
	struct container_view view;

	if (!req->container[0] ||
	    core_container_get(req->core, &req->who, req->container, false,
			       &view, NULL) < 0)
		return;
	if (view.idle_expires_at > 0)
		reply_header_int(req, "Cupola-Idle-Expires-At",
				 view.idle_expires_at);
	if (view.hard_expires_at > 0)
		reply_header_int(req, "Cupola-Hard-Expires-At",
				 view.hard_expires_at);
}

/* The answer is there and the library has its turn. */
static enum MHD_Result queue_answer(struct request *req)
{
	struct MHD_Response *response = req->response;
	enum MHD_Result r;

	if (!response)
		return MHD_NO;	/* not even an error could be made */
	reply_header(req, "x-request-id", req->id);
	reply_header(req, "X-Content-Type-Options", "nosniff");
	reply_forbid_sharing(req);
	cors_add(req);
	if (req->failure.code == ERR_METHOD || !req->match.route)
		if (req->allow[0])
			reply_header(req, MHD_HTTP_HEADER_ALLOW, req->allow);
	if (req->status < 400)
		add_container_headers(req);
	if (http_server_draining(req->conn->server) && !req->conn->peer.local)
		reply_header(req, MHD_HTTP_HEADER_CONNECTION, "close");
	r = MHD_queue_response(req->conn->mhd, req->status, response);
	req->response = NULL;
	MHD_destroy_response(response);	/* the library has its own reference */
	return r;
}

static enum MHD_Result answer_error(struct request *req,
				    const struct error *err)
{
	if (req->conn->state != CONN_ANSWER)
		http_conn_enter(req->conn, CONN_ANSWER);
	reply_error(req, err);
	enter(req, REQUEST_ANSWERED);
	return queue_answer(req);
}

/*
 * In the middle of a head or body the library takes no answer, so it is written
 * by hand; it is the last thing on this connection.
 */
static void answer_now(struct request *req, const struct error *err)
{
	_cleanup_(buf_done) struct buf body = BUF_INIT(4 * ERROR_MESSAGE_MAX);
	_cleanup_(buf_done) struct buf all = BUF_INIT(8 * ERROR_MESSAGE_MAX);
	unsigned status = api_error_status(err->code);

	req->failure = *err;
	req->status = status;
	if (api_error_write(&body, req->match.envelope, err, req->id) < 0 ||
	    buf_printf(&all,
		       "HTTP/1.1 %u %s\r\n"
		       "Content-Type: application/json\r\n"
		       "Content-Length: %zu\r\n"
		       "Connection: close\r\n"
		       "x-request-id: %s\r\n",
		       status, MHD_get_reason_phrase_for(status), body.length,
		       req->id) < 0 ||
	    cors_write(req, &all) < 0 ||
	    buf_printf(&all, "\r\n%s", buf_str(&body)) < 0)
		return;
	req->bytes = body.length;
	http_conn_answer_now(req->conn, all.data, all.length);
}

/* ------------------------------------------------------------------- the head */

struct head_reader {
	struct http_head *head;
	struct error *err;
	int r;
};

static enum MHD_Result on_field(void *userdata, enum MHD_ValueKind kind,
				const char *name, size_t name_size,
				const char *value, size_t value_size)
{
	struct head_reader *reader = userdata;

	(void)kind;
	reader->r = http_head_add(reader->head, name, name_size,
				  value ? value : "", value_size,
				  reader->err);
	return reader->r < 0 ? MHD_NO : MHD_YES;
}

static int read_head(struct request *req, const char *method,
		     const char *version, struct error *err)
{
	struct head_reader reader = { .head = &req->head, .err = err };
	const union MHD_ConnectionInfo *info;
	int r;

	/* From 1.0 on the library is strict, and may keep strings elsewhere. */
	if (MHD_get_version()[0] == '0') {
		r = http_head_begin(&req->head, method, req->target, version,
				    err);
		if (r < 0)
			return r;
	}
	(void)MHD_get_connection_values_n(req->conn->mhd, MHD_HEADER_KIND,
					  on_field, &reader);
	if (reader.r < 0)
		return reader.r;
	info = MHD_get_connection_info(req->conn->mhd,
				       MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
	r = http_head_check(&req->head, method, version,
			    info ? info->header_size : 0, err);
	if (r < 0 || !error_is_set(&req->failure))
		return r;
	*err = req->failure;
	return -EINVAL;
}

static bool is_options(const struct request *req)
{
	return strcmp(req->method, "OPTIONS") == 0 &&
	       (req->uri.asterisk || req->allow[0]);
}

static enum core_dialect dialect_of(const struct route_match *match)
{
	if (match->route->family == FAMILY_SESSIONS ||
	    match->route->family == FAMILY_POOL)
		return DIALECT_SESSIONS;
	return match->foundry ? DIALECT_FOUNDRY : DIALECT_OPENAI;
}

static int admit(struct request *req, const char *method, struct error *err)
{
	int r;

	r = router_find(&req->uri, method, req->conn->peer.local, &req->match,
			req->allow, err);
	if (is_options(req)) {
		error_clear(err);
		return 0;
	}
	if (r < 0)
		return r;
	req->dialect = dialect_of(&req->match);
	if (req->match.route->container)
		(void)snprintf(req->container, sizeof(req->container), "%s",
			       req->match.param[0]);
	r = auth_check(req, err);
	if (r < 0)
		return r;
	/* Now: afterwards it may be gone. */
	if (req->match.route->audit && req->match.param[0])
		core_admin_owner(req->core, req->match.param[0],
				 req->audit_tenant);
	return body_begin(req, err);
}

/*
 * A small body is read and dropped so that the connection can go on; for a large
 * one, and where the client waits to be told to send it, the answer comes now
 * and the connection closes.
 */
static enum MHD_Result refuse_head(struct request *req,
				   const struct error *err)
{
	if (req->head.content_length > REQUEST_DROP_MAX ||
	    (req->head.value[FIELD_EXPECT] && http_head_has_body(&req->head))) {
		req->conn->linger = true;
		return answer_error(req, err);
	}
	req->failure = *err;
	enter(req, REQUEST_REFUSED);
	return MHD_YES;
}

static enum MHD_Result turn_head(struct request *req, const char *method,
				 const char *version)
{
	struct error err = ERROR_INIT;

	(void)snprintf(req->method, sizeof(req->method), "%s", method);
	http_conn_enter(req->conn, CONN_BODY);
	if (read_head(req, method, version, &err) < 0) {
		/*
		 * Where the next request would begin is not sure, or whom the
		 * client takes us for.
		 */
		req->conn->linger = true;
		return answer_error(req, &err);
	}
	if (admit(req, method, &err) < 0)
		return refuse_head(req, &err);
	enter(req, REQUEST_READING);
	return MHD_YES;
}

/* ------------------------------------------------------------------- the body */

static enum MHD_Result drop_body(struct request *req, size_t *size)
{
	req->dropped += *size;
	*size = 0;
	if (req->dropped <= REQUEST_DROP_MAX)
		return MHD_YES;
	answer_now(req, &req->failure);
	return MHD_NO;
}

static enum MHD_Result refuse_body(struct request *req, size_t *size,
				   const struct error *err)
{
	enter(req, REQUEST_REFUSED);
	req->failure = *err;
	body_done(&req->body);
	if (req->head.chunked ||
	    req->head.content_length - req->received <= REQUEST_DROP_MAX)
		return drop_body(req, size);
	answer_now(req, err);
	return MHD_NO;
}

static enum MHD_Result turn_body(struct request *req, const char *data,
				 size_t *size)
{
	struct error err = ERROR_INIT;
	size_t used = *size;
	int r = 0;

	if (req->state == REQUEST_REFUSED)
		return drop_body(req, size);
	if (req->match.route)
		r = body_feed(req, data, *size, &used, &err);
	req->received += used;
	*size -= used;
	/* A failure may have the same number, but has a sentence as well. */
	if (r == -EAGAIN && !error_is_set(&err)) {
		http_conn_suspend(req->conn);
		return MHD_YES;
	}
	return r < 0 ? refuse_body(req, size, &err) : MHD_YES;
}

bool request_goes_on(struct request *req)
{
	bool enough = req->received - req->received_mark >=
		      REQUEST_PROGRESS_MIN;

	req->received_mark = req->received;
	return req->state == REQUEST_READING && req->body.is_form && enough;
}

void request_timed_out(struct request *req)
{
	struct error err = ERROR_INIT;

	if (req->state != REQUEST_REFUSED)
		error_set(&err, ERR_TIMEOUT,
			  "The request did not arrive in time");
	else
		err = req->failure;
	answer_now(req, &err);
}

void request_check_length(struct request *req)
{
	struct error err = ERROR_INIT;
	const char *value;
	uint64_t length;

	value = MHD_lookup_connection_value(req->conn->mhd, MHD_HEADER_KIND,
					    MHD_HTTP_HEADER_CONTENT_LENGTH);
	if (!value || http_head_length(value, &length) == 0)
		return;
	error_set(&err, ERR_BAD_REQUEST,
		  "Content-Length is not a decimal number");
	answer_now(req, &err);
	http_conn_mute(req->conn);
}

/* ---------------------------------------------------------------- the handling */

static int handle(struct request *req, struct error *err)
{
	int r;

	r = body_end(req, err);
	if (r < 0)
		return r;
	if (!req->match.route)
		return reply_empty(req, MHD_HTTP_NO_CONTENT, err);
	return req->match.route->handle(req, err);
}

static enum MHD_Result turn_handle(struct request *req)
{
	struct error err = ERROR_INIT;
	int r;

	enter(req, REQUEST_HANDLED);
	http_conn_enter(req->conn, CONN_ANSWER);
	r = handle(req, &err);
	if (r < 0)
		return answer_error(req, &err);
	if (r == ROUTE_PENDING || r == ROUTE_WAITING) {
		req->owed = r == ROUTE_PENDING;
		http_conn_suspend(req->conn);
		return MHD_YES;
	}
	enter(req, REQUEST_ANSWERED);
	return queue_answer(req);
}

enum MHD_Result request_turn(struct request *req, const char *method,
			     const char *version, const char *data,
			     size_t *size)
{
	if (req->conn->left)
		return MHD_NO;
	if (req->state == REQUEST_ARRIVED)
		return turn_head(req, method, version);
	if (*size > 0)
		return turn_body(req, data, size);
	switch (req->state) {
	case REQUEST_READING:
		return turn_handle(req);
	case REQUEST_REFUSED:
		return answer_error(req, &req->failure);
	case REQUEST_ANSWERED:
		return queue_answer(req);
	default:
		return MHD_NO;	/* resumed without an answer: a bug of ours */
	}
}

bool request_is_paid(struct request *req)
{
	req->owed = false;
	if (req->conn)
		return true;
	request_free(req);
	return false;
}

void request_owes(struct request *req)
{
	req->owed = true;
}

void request_answered(struct request *req)
{
	if (!request_is_paid(req))
		return;
	enter(req, REQUEST_ANSWERED);
	http_conn_resume(req->conn);
}

void request_failed(struct request *req, const struct error *err)
{
	reply_error(req, err);
	request_answered(req);
}

void request_finish(struct request *req, int r, const struct error *err)
{
	if (r < 0)
		request_failed(req, err);
	else
		request_answered(req);
}
