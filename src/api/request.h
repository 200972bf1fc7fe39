/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_REQUEST_H
#define API_REQUEST_H

/*
 * One request, from its first line to its line in the log.
 *
 * Two parties use it: libmicrohttpd, until the answer is sent or the client has
 * gone, and core, which may still owe a callback then. It is freed when both
 * are done with it. Handlers see it complete: routed, authenticated, with its
 * body read.
 */

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "api/body.h"
#include "api/http_head.h"
#include "api/router.h"
#include "api/uri.h"
#include "api/view_json.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/id.h"
#include "base/json_write.h"
#include "core/core.h"

struct api;
struct http_conn;
struct exec_stream;
struct sse;

enum {
	/* What is left of a refused body is read and dropped up to here, so
	 * that the connection can go on; beyond it is closed. */
	REQUEST_DROP_MAX = 64 << 10,

	/* The largest JSON answer: two full streams of output, each byte
	 * escaped, and results. */
	REQUEST_REPLY_MAX = 64 << 20,

	/* A form must bring so much in HTTP_CONN_BODY_USEC to be given more
	 * time; any other body has to be complete by then. */
	REQUEST_PROGRESS_MIN = 32 << 10,

	REQUEST_METHOD_MAX = 16,	/* of what is kept for the log */
};

/**
 * enum request_state - How far a request is
 *
 *    ARRIVED - The request line is there
 *        Leaves by: the whole head, to READING or REFUSED, or to ANSWERED when
 *        the connection has to close anyway
 *
 *    READING - The body is being read into the request's sink
 *        Leaves by: its end, to HANDLED; a mistake in it, to REFUSED
 *
 *    REFUSED - The error is known, the rest of the body is dropped
 *        Leaves by: its end, to ANSWERED
 *
 *    HANDLED - A handler has been called; core may owe an answer, meanwhile the
 *    connection is suspended
 *        Leaves by: reply_…() or an error, to ANSWERED
 *
 *    ANSWERED - The answer is made; it is queued at the library's next turn
 */
enum request_state {
	REQUEST_ARRIVED,
	REQUEST_READING,
	REQUEST_REFUSED,
	REQUEST_HANDLED,
	REQUEST_ANSWERED,

	REQUEST_STATE_COUNT,
};

/**
 * struct request - For handlers to read
 * @id:		For the log and the header x-request-id
 * @dialect:	Which limits of idle time apply
 * @match:	Route and the ids in the path
 * @who:	On whose behalf, if the route needs a key
 * @operator:	May use the admin calls
 * @container:	Whose deadlines are to be told in the answer's header; set by
 *		the router where the path names one, by handlers otherwise
 * @audit_object, @audit_tenant: For a route with an audit word: what was acted
 *		upon, if not the path's parameter, and whose it is, if that is known
 * @out:	Where JSON answers are written
 * @writer:	Into @out
 * @stream:	Follows an execution for it; owned
 * @sse:	Its answer, if that is a stream of events; owned
 * @next:	What a handler does when core has answered its first call
 * @work:	What a handler keeps from one call of core to the next
 * @work_free:	Frees it with the request; may be NULL
 * @left:	Called when the client has gone while an answer is owed, for what
 *		is not to go on without it; may be NULL. The answer may come from
 *		inside, and free the request
 * @output:	How the client wants an execution's output
 * @has_run:	Code has run, or will, for this request: clients that repeat a
 *		call by themselves are told not to repeat this one
 */
struct request {
	struct api *api;
	struct core *core;
	char id[ID_SIZE];
	enum core_dialect dialect;
	struct route_match match;
	struct principal who;
	bool operator;
	struct uri uri;
	struct http_head head;
	struct body body;
	char container[ID_SIZE];
	char audit_object[ID_SIZE];
	char audit_tenant[CORE_TENANT_MAX + 1];
	struct buf out;
	struct json_writer writer;
	struct exec_stream *stream;
	struct sse *sse;
	int (*next)(struct request *req, struct error *err);
	void *work;
	void (*work_free)(void *work);
	void (*left)(struct request *req);
	enum view_output output;
	bool has_run;

	/* Private to admit.c. */
	TAILQ_ENTRY(request) in_api;
	bool admitted;

	/* Private to request.c and reply.c. */
	enum request_state state;
	struct http_conn *conn;		/* NULL: the library is done with it */
	char *target;
	char method[REQUEST_METHOD_MAX];
	char allow[ROUTE_ALLOW_MAX];
	bool owed;			/* core will call back */
	uint64_t received;		/* bytes of the body */
	uint64_t received_mark;		/* at the last deadline */
	uint64_t dropped;
	struct error failure;		/* ARRIVED: of the target; REFUSED:
					 * why; else what was told */
	struct json_object *json;
	usec_t began_usec;		/* monotonic */
	struct MHD_Response *response;	/* ANSWERED */
	unsigned status;
	uint64_t bytes;			/* of the answer's body */
};

/* ---------------------------------------------------- for the HTTP server */

/**
 * request_hide_query() - Leave the library no query to take apart
 * @target:	In the library's own buffer, which is written to
 *
 * Before 1.0 the library copies every argument of the query into the
 * connection's memory. Where that is too small it queues an error page, goes on
 * as if it had not, and in the end forgets the request without a word: anybody
 * could make us lose memory for good, and hang until the deadline. The query is
 * uri.c's to read, from the copy that the request has.
 */
void request_hide_query(const char *target);

/** request_new() - The request line was read; NULL without memory */
struct request *request_new(struct api *api, struct http_conn *conn,
			    const char *target);

/** request_turn() - The library's access handler, see microhttpd.h */
enum MHD_Result request_turn(struct request *req, const char *method,
			     const char *version, const char *data,
			     size_t *size);

/** request_goes_on() - Whether the body came on fast enough for more time */
bool request_goes_on(struct request *req);

/** request_timed_out() - Head or body took too long: answer as far as possible */
void request_timed_out(struct request *req);

/**
 * request_check_length() - Answer, if the Content-Length is not readable
 *
 * For a head that the library is about to refuse because of that.
 */
void request_check_length(struct request *req);

/** request_gone() - The library is done with it: log it, free it when core is */
void request_gone(struct request *req);

/* ------------------------------------------------------------ for handlers */

/**
 * request_answered() - Core's callback has made the answer with reply_…()
 *
 * To be called last in the callback that follows ROUTE_PENDING: the request may
 * be freed by it.
 */
void request_answered(struct request *req);

/** request_failed() - The same for a failure */
void request_failed(struct request *req, const struct error *err);

/**
 * request_is_paid() - Core's callback is not the answer yet; core owes no more
 *
 * Return: whether there is still somebody to answer; the request is freed if not
 */
bool request_is_paid(struct request *req);

/**
 * request_owes() - Core has been asked again and will call back
 *
 * To be called behind request_is_paid(), as ROUTE_PENDING is returned by a handler.
 */
void request_owes(struct request *req);

/** request_finish() - The one or the other, as @r, from reply_…(), says */
void request_finish(struct request *req, int r, const struct error *err);

/** request_json_any() - The body's JSON value, whatever it is; NULL for null */
int request_json_any(struct request *req, struct json_object **ret,
		     struct error *err);

/**
 * request_json() - The body's JSON object; NULL if the body is empty
 *
 * Return: 0 or -EINVAL: it is not valid JSON, or no object
 */
int request_json(struct request *req, struct json_object **ret,
		 struct error *err);

#endif
