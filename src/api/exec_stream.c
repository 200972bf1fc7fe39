/* SPDX-License-Identifier: Apache-2.0 */
#include "api/exec_stream.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_private.h"
#include "api/http_conn.h"
#include "api/reply.h"
#include "api/request.h"
#include "base/cleanup.h"

enum {
	/* Output that goes into one event. */
	EVENT_DATA_MAX = 16 << 10,

	/* No further event is fetched while so much waits to be sent. */
	BATCH = 32 << 10,
};

/* Proxies cut a connection on which nothing moves for a minute or so. */
#define KEEPALIVE_USEC (15 * USEC_PER_SEC)

struct exec_stream {
	struct request *req;
	struct exec_watch *watch;
	exec_outcome_fn outcome;
	enum view_output output;
	struct buf text;		/* waits to be sent */
	bool ended;			/* the last event is in @text */
	sd_event_source *keepalive;
};

void exec_stream_free(struct exec_stream *stream)
{
	if (!stream)
		return;
	exec_watch_free(stream->watch);
	sd_event_source_disable_unref(stream->keepalive);
	buf_done(&stream->text);
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
	stream->text = BUF_INIT(REQUEST_REPLY_MAX);
	req->stream = stream;
	return 0;
}

/* ----------------------------------------------------------------- the outcome */

static void on_progress(void *userdata)
{
	struct exec_stream *stream = userdata;
	struct error err = ERROR_INIT;
	struct exec_event event;
	int r;

	do {
		r = exec_watch_next(stream->watch, EVENT_DATA_MAX, &event);
	} while (r > 0 && event.type != EXEC_EVENT_DONE);
	if (r == 0)
		return;
	if (r > 0) {
		r = stream->outcome(stream->req, event.view, &err);
		request_finish(stream->req, r, &err);
		return;
	}
	error_set(&err, ERR_INTERNAL, "An execution's events have no end");
	request_failed(stream->req, &err);
}

void exec_stream_wait(struct request *req, const char *container,
		      const char *id, exec_outcome_fn outcome)
{
	struct error err = ERROR_INIT;
	int r;

	r = stream_new(req, VIEW_OUTPUT_NONE, &err);
	if (r == 0) {
		req->stream->outcome = outcome;
		r = exec_watch_new(req->core, &req->who, container, id, 0,
				   on_progress, req->stream,
				   &req->stream->watch, &err);
	}
	if (r < 0)
		request_failed(req, &err);
	else
		on_progress(req->stream);
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

static int write_event(struct exec_stream *stream,
		       const struct exec_event *event)
{
	struct json_writer w = JSON_WRITER_INIT(&stream->text);
	int r;

	r = buf_printf(&stream->text, "id: %llu\nevent: %s\ndata: ",
		       (unsigned long long)event->id,
		       event_names[event->type]);
	if (r < 0)
		return r;
	write_data(stream, &w, event);
	r = json_write_end(&w);
	if (r < 0)
		return r;
	return buf_add_str(&stream->text, "\n\n");
}

/* Fetches what there is, up to a batch. */
static int fetch_events(struct exec_stream *stream)
{
	struct exec_event event;
	int r;

	while (!stream->ended && stream->text.length < BATCH) {
		r = exec_watch_next(stream->watch, EVENT_DATA_MAX, &event);
		if (r == 0)
			return 0;
		if (r == -ENODATA) {
			stream->ended = true;
			return 0;
		}
		r = r < 0 ? r : write_event(stream, &event);
		if (r < 0)
			return r;
		stream->ended = event.type == EXEC_EVENT_DONE;
	}
	return 0;
}

/* Nothing to send: the library rests until there is. */
static void wait_for_more(struct exec_stream *stream)
{
	(void)sd_event_source_set_time_relative(stream->keepalive,
						KEEPALIVE_USEC);
	(void)sd_event_source_set_enabled(stream->keepalive,
					  SD_EVENT_ONESHOT);
	http_conn_suspend(stream->req->conn);
}

static void go_on(struct exec_stream *stream)
{
	(void)sd_event_source_set_enabled(stream->keepalive, SD_EVENT_OFF);
	/* The library may be done already, and the end not yet told. */
	if (stream->req->conn)
		http_conn_resume(stream->req->conn);
}

/* The library's callback when the socket takes more. */
static ssize_t on_read(void *userdata, uint64_t position, char *out,
		       size_t max)
{
	struct exec_stream *stream = userdata;
	size_t size;

	(void)position;
	if (stream->req->conn->left || fetch_events(stream) < 0)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	size = stream->text.length < max ? stream->text.length : max;
	if (size == 0 && stream->ended)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (size == 0) {
		wait_for_more(stream);
		return 0;
	}
	memcpy(out, stream->text.data, size);
	buf_consume(&stream->text, size);
	stream->req->bytes += size;
	return (ssize_t)size;
}

static void on_wake(void *userdata)
{
	go_on(userdata);
}

static int on_keepalive(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct exec_stream *stream = userdata;

	(void)source;
	(void)usec;
	(void)buf_add_str(&stream->text, ": keepalive\n\n");
	go_on(stream);
	return 0;
}

static int add_keepalive(struct exec_stream *stream)
{
	sd_event *event = stream->req->api->config.event;
	int r;

	r = sd_event_add_time(event, &stream->keepalive, CLOCK_MONOTONIC, 0,
			      USEC_PER_SEC, on_keepalive, stream);
	if (r < 0)
		return r;
	(void)sd_event_source_set_description(stream->keepalive,
					      "sse-keepalive");
	return sd_event_source_set_enabled(stream->keepalive, SD_EVENT_OFF);
}

static int make_response(struct request *req, struct error *err)
{
	int r;

	r = reply_stream(req, BATCH, on_read, NULL, req->stream, err);
	if (r < 0)
		return r;
	reply_header(req, MHD_HTTP_HEADER_CONTENT_TYPE,
		     "text/event-stream; charset=utf-8");
	reply_header(req, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache");
	reply_header(req, "X-Accel-Buffering", "no");
	return 0;
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
	r = add_keepalive(req->stream);
	if (r < 0)
		return error_set_errno(err, r, "Cannot follow");
	return make_response(req, err);
}
