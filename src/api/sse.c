/* SPDX-License-Identifier: Apache-2.0 */
#include "api/sse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_private.h"
#include "api/http_conn.h"
#include "api/reply.h"
#include "api/request.h"

/* Proxies cut a connection on which nothing moves for a minute or so. */
#define KEEPALIVE_USEC (15 * USEC_PER_SEC)

struct sse {
	struct request *req;
	sse_fill_fn fill;
	void *userdata;
	struct buf text;		/* waits to be sent */
	bool ended;			/* the last event is in @text */
	sd_event_source *keepalive;
};

void sse_free(struct sse *sse)
{
	if (!sse)
		return;
	sd_event_source_disable_unref(sse->keepalive);
	buf_done(&sse->text);
	free(sse);
}

struct buf *sse_text(struct sse *sse)
{
	return &sse->text;
}

bool sse_ended(const struct sse *sse)
{
	return sse->ended;
}

void sse_end(struct sse *sse)
{
	sse->ended = true;
}

/* Nothing to send: the library rests until there is. */
static void wait_for_more(struct sse *sse)
{
	(void)sd_event_source_set_time_relative(sse->keepalive,
						KEEPALIVE_USEC);
	(void)sd_event_source_set_enabled(sse->keepalive, SD_EVENT_ONESHOT);
	http_conn_suspend(sse->req->conn);
}

void sse_wake(struct sse *sse)
{
	(void)sd_event_source_set_enabled(sse->keepalive, SD_EVENT_OFF);
	/* The library may be done already, and the end not yet told. */
	if (sse->req->conn)
		http_conn_resume(sse->req->conn);
}

static int fill(struct sse *sse)
{
	if (!sse->fill || sse->ended || sse->text.length >= SSE_BATCH)
		return 0;
	return sse->fill(sse->userdata, sse);
}

/* The library's callback when the socket takes more. */
static ssize_t on_read(void *userdata, uint64_t position, char *out,
		       size_t max)
{
	struct sse *sse = userdata;
	size_t size;

	(void)position;
	if (sse->req->conn->left || fill(sse) < 0)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	size = sse->text.length < max ? sse->text.length : max;
	if (size == 0 && sse->ended)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (size == 0) {
		wait_for_more(sse);
		return 0;
	}
	memcpy(out, sse->text.data, size);
	buf_consume(&sse->text, size);
	sse->req->bytes += size;
	return (ssize_t)size;
}

static int on_keepalive(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct sse *sse = userdata;

	(void)source;
	(void)usec;
	(void)buf_add_str(&sse->text, ": keepalive\n\n");
	sse_wake(sse);
	return 0;
}

static int add_keepalive(struct sse *sse)
{
	sd_event *event = sse->req->api->config.event;
	int r;

	r = sd_event_add_time(event, &sse->keepalive, CLOCK_MONOTONIC, 0,
			      USEC_PER_SEC, on_keepalive, sse);
	if (r < 0)
		return r;
	(void)sd_event_source_set_description(sse->keepalive, "sse-keepalive");
	return sd_event_source_set_enabled(sse->keepalive, SD_EVENT_OFF);
}

int sse_resume(struct request *req, bool *ret_given, uint64_t *ret_after,
	       struct error *err)
{
	const char *last = req->head.value[FIELD_LAST_EVENT_ID];
	int r;

	r = uri_param_uint(&req->uri, "after", ret_given, ret_after, err);
	if (r < 0 || *ret_given || !last || !*last)
		return r;
	*ret_given = true;
	return uri_uint("Last-Event-ID", last, ret_after, err);
}

int sse_reply(struct request *req, sse_fill_fn fill_fn, void *userdata,
	      struct error *err)
{
	struct sse *sse = calloc(1, sizeof(*sse));
	int r;

	if (!sse)
		return error_set_errno(err, -ENOMEM, "Cannot answer");
	req->sse = sse;
	sse->req = req;
	sse->fill = fill_fn;
	sse->userdata = userdata;
	sse->text = BUF_INIT(2 * REQUEST_REPLY_MAX);
	r = add_keepalive(sse);
	if (r < 0)
		return error_set_errno(err, r, "Cannot answer");
	r = reply_stream(req, SSE_BATCH, on_read, NULL, sse, err);
	if (r < 0)
		return r;
	reply_header(req, MHD_HTTP_HEADER_CONTENT_TYPE,
		     "text/event-stream; charset=utf-8");
	reply_header(req, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache");
	reply_header(req, "X-Accel-Buffering", "no");
	return 0;
}
