/* SPDX-License-Identifier: Apache-2.0 */
#include "api/exec_stream.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_private.h"
#include "api/request.h"
#include "api/sse.h"
#include "base/cleanup.h"

/* Output that goes into one event. */
enum { EVENT_DATA_MAX = 16 << 10 };

struct exec_stream {
	struct request *req;
	struct exec_watch *watch;
	struct exec_follower follower;
	exec_outcome_fn outcome;
	enum view_output output;

	/* Of exec_stream_hold(). */
	sd_event_source *turn;
	usec_t patience_usec;
	char container[ID_SIZE];
	char id[ID_SIZE];
};

void exec_stream_free(struct exec_stream *stream)
{
	if (!stream)
		return;
	sd_event_source_disable_unref(stream->turn);
	exec_watch_free(stream->watch);
	free(stream);
}

/* The stream belongs to the request, which ends it. */
static int stream_new(struct request *req, enum view_output output,
		      struct error *err)
{
	struct exec_stream *stream = calloc(1, sizeof(*stream));

	if (!stream)
		return error_set_errno(err, -ENOMEM, "Cannot follow");
	stream->req = req;
	stream->output = output;
	req->stream = stream;
	return 0;
}

/* ----------------------------------------------------------------- the outcome */

static void on_progress(void *userdata)
{
	struct exec_stream *stream = userdata;
	const struct exec_follower *follower = &stream->follower;
	struct error err = ERROR_INIT;
	struct exec_event event;
	int r;

	for (;;) {
		r = exec_watch_next(stream->watch, EVENT_DATA_MAX, &event);
		if (r == 0)
			return;
		if (r < 0 || event.type == EXEC_EVENT_DONE)
			break;
		if (follower->event)
			follower->event(stream->req, &event);
	}
	/* The stream ends with the request, perhaps in here. */
	if (r > 0) {
		follower->over(stream->req, event.view, NULL);
		return;
	}
	error_set(&err, ERR_INTERNAL, "An execution's events have no end");
	follower->over(stream->req, NULL, &err);
}

void exec_stream_follow(struct request *req, const char *container,
			const char *id, const struct exec_follower *follower)
{
	struct error err = ERROR_INIT;
	int r = 0;

	if (!req->stream)
		r = stream_new(req, VIEW_OUTPUT_NONE, &err);
	if (r == 0) {
		req->stream->follower = *follower;
		r = exec_watch_new(req->core, &req->who, container, id, 0,
				   on_progress, req->stream,
				   &req->stream->watch, &err);
	}
	if (r < 0)
		follower->over(req, NULL, &err);
	else
		on_progress(req->stream);
}

static void answer_outcome(struct request *req, const struct exec_view *exec,
			   const struct error *err)
{
	struct error failure = ERROR_INIT;

	if (err)
		request_failed(req, err);
	else
		request_finish(req, req->stream->outcome(req, exec, &failure),
			       &failure);
}

void exec_stream_wait(struct request *req, const char *container,
		      const char *id, exec_outcome_fn outcome)
{
	static const struct exec_follower follower = { .over = answer_outcome };
	struct error err = ERROR_INIT;

	if (stream_new(req, VIEW_OUTPUT_NONE, &err) < 0) {
		request_failed(req, &err);
		return;
	}
	req->stream->outcome = outcome;
	exec_stream_follow(req, container, id, &follower);
}

static int on_patience_ends(sd_event_source *source, uint64_t usec,
			    void *userdata)
{
	struct exec_stream *stream = userdata;
	struct request *req = stream->req;
	struct error err = ERROR_INIT;
	struct exec_view exec;
	int r;

	(void)source;
	(void)usec;
	r = core_exec_get(req->core, &req->who, stream->container, stream->id,
			  &exec, &err);
	if (r >= 0)
		r = stream->outcome(req, &exec, &err);
	request_finish(req, r, &err);
	return 0;
}

static int add_patience(struct exec_stream *stream)
{
	int r;

	sd_event_source_disable_unref(take_ptr(stream->turn));
	r = sd_event_add_time_relative(stream->req->api->config.event,
				       &stream->turn, CLOCK_MONOTONIC,
				       stream->patience_usec, 0,
				       on_patience_ends, stream);
	if (r >= 0)
		(void)sd_event_source_set_description(stream->turn,
						      "exec-patience");
	return r;
}

/* The handler has returned: from here on there may be an answer. */
static int on_first_turn(sd_event_source *source, void *userdata)
{
	struct exec_stream *stream = userdata;
	struct error err = ERROR_INIT;
	int r;

	(void)source;
	r = add_patience(stream);
	if (r >= 0) {
		on_progress(stream);
		return 0;
	}
	error_set_errno(&err, r, "Cannot wait for an execution");
	request_failed(stream->req, &err);
	return 0;
}

int exec_stream_hold(struct request *req, const char *container,
		     const char *id, usec_t patience_usec,
		     exec_outcome_fn outcome, struct error *err)
{
	struct exec_stream *stream;
	int r;

	r = stream_new(req, VIEW_OUTPUT_NONE, err);
	if (r < 0)
		return r;
	stream = req->stream;
	stream->follower.over = answer_outcome;
	stream->outcome = outcome;
	stream->patience_usec = patience_usec;
	(void)snprintf(stream->container, ID_SIZE, "%s", container);
	(void)snprintf(stream->id, ID_SIZE, "%s", id);
	r = exec_watch_new(req->core, &req->who, container, id, 0, on_progress,
			   stream, &stream->watch, err);
	if (r < 0)
		return r;
	r = sd_event_add_defer(req->api->config.event, &stream->turn,
			       on_first_turn, stream);
	if (r < 0)
		return error_set_errno(err, r, "Cannot wait for an execution");
	(void)sd_event_source_set_description(stream->turn, "exec-first-turn");
	return ROUTE_WAITING;
}

/* ------------------------------------------------------------------ the events */

static const char *const event_names[] = {
	[EXEC_EVENT_STARTED]	= "execution.started",
	[EXEC_EVENT_OUTPUT]	= "execution.output",
	[EXEC_EVENT_RESULT]	= "execution.result",
	[EXEC_EVENT_ARTIFACT]	= "execution.artifact",
	[EXEC_EVENT_DONE]	= "execution.done",
};
static_assert(sizeof(event_names) / sizeof(event_names[0]) ==
		      EXEC_EVENT_TYPE_COUNT,
	      "event_names[] doesn't match enum exec_event_type");

static void write_data(struct exec_stream *stream, struct json_writer *w,
		       const struct exec_event *event)
{
	switch (event->type) {
	case EXEC_EVENT_STARTED:
		view_json_exec_head(w, NULL, event->view);
		break;
	case EXEC_EVENT_OUTPUT:
		json_write_object(w, NULL);
		json_write_string(w, "stream",
				  event->is_stderr ? "stderr" : "stdout");
		view_json_bytes(w, "data", event->data, event->data_len,
				stream->output);
		json_write_close(w);
		break;
	case EXEC_EVENT_RESULT:
		view_json_result(w, NULL, event->result);
		break;
	case EXEC_EVENT_ARTIFACT:
		json_write_object(w, NULL);
		view_json_cfile(w, "file", event->artifact);
		json_write_close(w);
		break;
	default:
		view_json_exec(w, NULL, event->view, VIEW_OUTPUT_NONE);
		break;
	}
}

static int write_event(struct exec_stream *stream, struct buf *text,
		       const struct exec_event *event)
{
	struct json_writer w = JSON_WRITER_INIT(text);
	int r;

	r = buf_printf(text, "id: %llu\nevent: %s\ndata: ",
		       (unsigned long long)event->id,
		       event_names[event->type]);
	if (r < 0)
		return r;
	write_data(stream, &w, event);
	r = json_write_end(&w);
	if (r < 0)
		return r;
	return buf_add_str(text, "\n\n");
}

/* Fetches what there is, up to a batch. */
static int fetch_events(void *userdata, struct sse *sse)
{
	struct exec_stream *stream = userdata;
	struct buf *text = sse_text(sse);
	struct exec_event event;
	int r;

	while (!sse_ended(sse) && text->length < SSE_BATCH) {
		r = exec_watch_next(stream->watch, EVENT_DATA_MAX, &event);
		if (r == 0)
			return 0;
		if (r == -ENODATA) {
			sse_end(sse);
			return 0;
		}
		r = r < 0 ? r : write_event(stream, text, &event);
		if (r < 0)
			return r;
		if (event.type == EXEC_EVENT_DONE)
			sse_end(sse);
	}
	return 0;
}

static void on_wake(void *userdata)
{
	struct exec_stream *stream = userdata;

	sse_wake(stream->req->sse);
}

int exec_stream_reply(struct request *req, const char *container,
		      const char *id, uint64_t after, enum view_output output,
		      struct error *err)
{
	int r;

	r = stream_new(req, output, err);
	if (r < 0)
		return r;
	r = exec_watch_new(req->core, &req->who, container, id, after, on_wake,
			   req->stream, &req->stream->watch, err);
	if (r < 0)
		return r;
	return sse_reply(req, fetch_events, req->stream, err);
}
