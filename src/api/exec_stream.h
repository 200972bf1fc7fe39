/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_EXEC_STREAM_H
#define API_EXEC_STREAM_H

/*
 * Following an execution: to answer with its outcome, or with each of its
 * events as they come (server-sent events).
 *
 * Events are pulled from core when the client's socket takes them, so a slow
 * reader costs one buffer and delays nobody. One that takes nothing for
 * HTTP_SERVER_STALL_SEC is cut off, and can take the stream up again.
 */

#include <stdint.h>

#include "api/view_json.h"
#include "base/clock.h"
#include "base/error.h"

struct exec_stream;
struct request;

/** exec_outcome_fn - Answers @req with reply_…(); as a handler, 0 or an error */
typedef int (*exec_outcome_fn)(struct request *req,
			       const struct exec_view *exec, struct error *err);

/**
 * exec_stream_wait() - Answer once an execution has ended
 * @req:	Suspended, as by ROUTE_PENDING; core owes it nothing any more
 * @outcome:	Makes the answer of it
 *
 * Whatever happens, the request gets its answer.
 */
void exec_stream_wait(struct request *req, const char *container,
		      const char *id, exec_outcome_fn outcome);

/**
 * exec_stream_hold() - The same for a handler, with a limit to its patience
 * @patience_usec: After so long the answer is made of how it is then
 *
 * A client that asks again and again needs fewer calls that way. If it leaves,
 * nothing stays of the wait.
 *
 * Return: ROUTE_WAITING or a negative errno
 */
int exec_stream_hold(struct request *req, const char *container,
		     const char *id, usec_t patience_usec,
		     exec_outcome_fn outcome, struct error *err);

/**
 * struct exec_follower - Who is told of an execution as it goes on
 * @event:	Of each event but the last; may be NULL
 * @over:	Exactly once, at the end: the execution, or NULL and why it
 *		cannot be followed. It sees to the answer
 */
struct exec_follower {
	void (*event)(struct request *req, const struct exec_event *event);
	void (*over)(struct request *req, const struct exec_view *exec,
		     const struct error *err);
};

/** exec_stream_follow() - The same with a say in between */
void exec_stream_follow(struct request *req, const char *container,
			const char *id, const struct exec_follower *follower);

/**
 * exec_stream_reply() - Answer with the events behind @after
 *
 * Return: 0; ERR_NOT_FOUND
 */
int exec_stream_reply(struct request *req, const char *container,
		      const char *id, uint64_t after, enum view_output output,
		      struct error *err);

/** exec_stream_free() - Stop following; the execution goes on */
void exec_stream_free(struct exec_stream *stream);

#endif
