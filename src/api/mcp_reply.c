/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "api/api_private.h"
#include "api/header.h"
#include "api/mcp.h"
#include "api/reply.h"
#include "api/request.h"
#include "api/sse.h"
#include "base/log.h"

#define TICK_USEC USEC_PER_SEC
#define SERVER_INFO "io.modelcontextprotocol/serverInfo"

/* How long a client may take lists for true. */
enum { TTL_MSEC = 60000 };

/* ---------------------------------------------------------------------- send */

/* What was written, as the answer or as the last event of it. */
static int send_message(struct mcp_call *call, unsigned status,
			struct error *err)
{
	struct request *req = call->req;
	int r;

	call->over = true;
	if (!call->streaming)
		return reply_json(req, status, err);
	sd_event_source_disable_unref(call->tick);
	call->tick = NULL;
	if (!req->sse)
		return 0;	/* nobody is there any more */
	r = json_write_end(&req->writer);
	if (r >= 0)
		r = buf_add_str(sse_text(req->sse), "event: message\ndata: ");
	if (r >= 0)
		r = buf_add(sse_text(req->sse), req->out.data,
			    req->out.length);
	if (r >= 0)
		r = buf_add_str(sse_text(req->sse), "\n\n");
	sse_end(req->sse);
	sse_wake(req->sse);
	return r < 0 ? error_set_errno(err, r, "Cannot write the answer") : 0;
}

static struct json_writer *begin_message(struct mcp_call *call)
{
	struct json_writer *w = reply_writer(call->req);

	json_write_object(w, NULL);
	json_write_string(w, "jsonrpc", "2.0");
	json_write_value(w, "id", call->message.id);
	return w;
}

/* -------------------------------------------------------------------- faults */

int mcp_fault(struct mcp_call *call, unsigned status, int code,
	      const char *fmt, ...)
{
	va_list args;

	call->fault.status = status;
	call->fault.code = code;
	va_start(args, fmt);
	(void)vsnprintf(call->fault.message, sizeof(call->fault.message), fmt,
			args);
	va_end(args);
	return -EBADMSG;
}

static void write_versions(struct json_writer *w, const char *key)
{
	size_t i;

	json_write_array(w, key);
	for (i = 0; mcp_versions[i]; i++)
		json_write_string(w, NULL, mcp_versions[i]);
	json_write_close(w);
}

int mcp_reply_fault(struct mcp_call *call, struct error *err)
{
	const struct mcp_fault *fault = &call->fault;
	struct json_writer *w = begin_message(call);

	json_write_object(w, "error");
	json_write_int(w, "code", fault->code);
	json_write_string(w, "message", fault->message);
	if (fault->requested) {
		json_write_object(w, "data");
		write_versions(w, "supported");
		json_write_string(w, "requested", fault->requested);
		json_write_close(w);
	}
	json_write_close(w);
	json_write_close(w);
	return send_message(call, fault->status, err);
}

/* ------------------------------------------------------------------- results */

static void write_info(struct json_writer *w, const char *key)
{
	json_write_object(w, key);
	json_write_string(w, "name", MCP_SERVER_NAME);
	json_write_string(w, "version", PACKAGE_VERSION);
	json_write_close(w);
}

struct json_writer *mcp_result(struct mcp_call *call)
{
	struct json_writer *w = begin_message(call);

	json_write_object(w, "result");
	if (!call->modern)
		return w;
	json_write_string(w, "resultType", "complete");
	json_write_object(w, "_meta");
	write_info(w, SERVER_INFO);
	json_write_close(w);
	return w;
}

void mcp_result_cacheable(struct mcp_call *call, struct json_writer *w,
			  bool is_public)
{
	if (!call->modern)
		return;
	json_write_int(w, "ttlMs", is_public ? TTL_MSEC : 0);
	json_write_string(w, "cacheScope", is_public ? "public" : "private");
}

int mcp_reply(struct mcp_call *call, struct error *err)
{
	json_write_close(&call->req->writer);
	json_write_close(&call->req->writer);
	return send_message(call, MHD_HTTP_OK, err);
}

int mcp_tool_failed(struct mcp_call *call, struct error *err)
{
	const struct log_scope scope = { .request_id = call->req->id };
	struct error failure = *err;
	struct json_writer *w;

	error_clear(err);
	if (failure.code == ERR_INTERNAL) {
		log_error(&scope, 0, "A tool failed: %s", failure.message);
		(void)mcp_fault(call, MHD_HTTP_OK, RPC_INTERNAL_ERROR,
				"Internal error, request %s", call->req->id);
		return mcp_reply_fault(call, err);
	}
	w = mcp_result(call);
	json_write_array(w, "content");
	json_write_object(w, NULL);
	json_write_string(w, "type", "text");
	json_write_string(w, "text", failure.message);
	json_write_close(w);
	json_write_close(w);
	json_write_bool(w, "isError", true);
	return mcp_reply(call, err);
}

void mcp_settle(struct mcp_call *call, int r, const struct error *err)
{
	struct request *req = call->req;
	struct error failure = *err;

	if (r == ROUTE_PENDING) {
		request_owes(req);
		return;
	}
	if (r < 0 && call->fault.code) {
		error_clear(&failure);
		r = mcp_reply_fault(call, &failure);
	} else if (r < 0) {
		r = mcp_tool_failed(call, &failure);
	}
	if (!call->streaming)
		request_finish(req, r, &failure);
}

/* -------------------------------------------------------------------- streams */

/* Whether a list of media types names one, whatever its weight. */
static bool accepts(const char *list, const char *type)
{
	size_t size = strlen(type);
	const char *s;

	for (s = list; (s = strcasestr(s, type)); s += size)
		if ((s == list || strchr(", \t", s[-1])) &&
		    (!s[size] || strchr(",; \t", s[size])))
			return true;
	return false;
}

static bool wants_stream(const struct mcp_call *call)
{
	const char *accept = call->req->head.value[FIELD_ACCEPT];

	if (!accept || !accepts(accept, "text/event-stream"))
		return false;
	return json_member(call->message.meta, "progressToken") ||
	       (!accepts(accept, "application/json") &&
		!accepts(accept, "application/*") && !accepts(accept, "*/*"));
}

static void write_progress(struct mcp_call *call, struct buf *text)
{
	struct json_writer w = JSON_WRITER_INIT(text);
	size_t before = text->length;

	call->progress += (double)TICK_USEC / USEC_PER_SEC;
	if (buf_add_str(text, "event: message\ndata: ") < 0)
		return;
	json_write_object(&w, NULL);
	json_write_string(&w, "jsonrpc", "2.0");
	json_write_string(&w, "method", "notifications/progress");
	json_write_object(&w, "params");
	json_write_value(&w, "progressToken",
			 json_member(call->message.meta, "progressToken"));
	json_write_double(&w, "progress", call->progress);
	if (call->heard[0])
		json_write_string(&w, "message", call->heard);
	else
		json_write_string(&w, "message",
				  call->exec[0] ? "Running" : "Starting");
	json_write_close(&w);
	json_write_close(&w);
	if (json_write_end(&w) < 0 || buf_add_str(text, "\n\n") < 0)
		buf_truncate(text, before);	/* half a message is none */
}

static int on_tick(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct mcp_call *call = userdata;

	(void)usec;
	if (!call->req->sse || call->over)
		return 0;
	/* Who does not read gets no more of it. */
	if (sse_text(call->req->sse)->length < SSE_BATCH) {
		write_progress(call, sse_text(call->req->sse));
		sse_wake(call->req->sse);
	}
	(void)sd_event_source_set_time_relative(source, TICK_USEC);
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static int add_tick(struct mcp_call *call)
{
	sd_event *event = call->req->api->config.event;
	int r;

	r = sd_event_add_time_relative(event, &call->tick, CLOCK_MONOTONIC,
				       TICK_USEC, 0, on_tick, call);
	if (r >= 0)
		(void)sd_event_source_set_description(call->tick,
						      "mcp-progress");
	return r;
}

int mcp_stream_begin(struct mcp_call *call, struct error *err)
{
	int r;

	if (!wants_stream(call))
		return 0;
	r = sse_reply(call->req, NULL, NULL, err);
	if (r < 0)
		return r;
	if (json_member(call->message.meta, "progressToken")) {
		r = add_tick(call);
		if (r < 0)
			return error_set_errno(err, r, "Cannot tell progress");
	}
	call->streaming = true;
	return 0;
}
