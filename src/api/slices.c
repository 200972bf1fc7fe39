/* SPDX-License-Identifier: Apache-2.0 */
#include "api/slices.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "api/http_conn.h"
#include "api/reply.h"
#include "api/request.h"
#include "base/log.h"

enum {
	PIECE = 16 << 10,	/* bytes that the library takes at a time */
};

void slices_row(struct slices *s, const char *id)
{
	(void)snprintf(s->ids[s->count++ % SLICES_ROWS], ID_SIZE, "%s", id);
}

static int read_rows(struct slices *s, unsigned limit, struct error *err)
{
	struct core_page page = s->rest;

	page.limit = limit;
	s->count = 0;
	return s->read(s->userdata, &page, &s->more, err);
}

/* The row that the last slice ended with is gone: go back to one that is not. */
static int read_on(struct slices *s, unsigned limit, struct error *err)
{
	unsigned at = s->count;
	unsigned oldest = at > SLICES_ROWS ? at - SLICES_ROWS : 0;
	int r;

	for (;;) {
		r = read_rows(s, limit, err);
		if (r >= 0 || err->code != ERR_BAD_REQUEST || at == oldest)
			return r;
		error_clear(err);
		memcpy(s->rest.after, s->ids[--at % SLICES_ROWS], ID_SIZE);
	}
}

/*
 * Rows that have expired take part in a slice, but not in the list. Until they
 * are removed, all of a slice may be such, which leaves nothing to go on from:
 * then the rest comes at once.
 */
static int read_slice(struct slices *s, struct error *err)
{
	unsigned limit = s->rest.limit < SLICES_ROWS ? s->rest.limit
						     : SLICES_ROWS;
	int r;

	r = read_on(s, limit, err);
	if (r >= 0 && s->count == 0 && s->more)
		r = read_rows(s, s->rest.limit, err);
	if (r < 0)
		return r;
	s->rest.limit -= s->count;
	if (s->count > 0)
		memcpy(s->rest.after, s->ids[(s->count - 1) % SLICES_ROWS],
		       ID_SIZE);
	return 0;
}

static bool is_complete(const struct slices *s)
{
	return !s->more || s->rest.limit == 0;
}

static int close_text(struct slices *s)
{
	s->close(s->userdata);
	s->closed = true;
	return json_write_end(&s->req->writer);
}

static int make_text(struct slices *s)
{
	const struct log_scope scope = {
		.request_id = s->req->id,
		.session_id = s->req->container,
	};
	struct error err = ERROR_INIT;
	int r;

	if (is_complete(s))
		return close_text(s);
	r = read_slice(s, &err);
	if (r < 0)
		log_warning(&scope, 0, "A list breaks off: %s", err.message);
	return r;
}

/* The library's callback when the socket takes more. */
static ssize_t on_read(void *userdata, uint64_t position, char *out,
		       size_t max)
{
	struct slices *s = userdata;
	struct buf *text = &s->req->out;
	size_t size;

	(void)position;
	if (s->req->conn->left)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	/* A slice may have no row that is shown. */
	while (text->length == 0 && !s->closed)
		if (make_text(s) < 0)
			return MHD_CONTENT_READER_END_WITH_ERROR;
	if (text->length == 0)
		return MHD_CONTENT_READER_END_OF_STREAM;
	size = text->length < max ? text->length : max;
	memcpy(out, text->data, size);
	buf_consume(text, size);
	s->req->bytes += size;
	return (ssize_t)size;
}

int slices_reply(struct slices *s, struct error *err)
{
	int r = read_slice(s, err);

	if (r < 0)
		return r;
	if (is_complete(s)) {
		r = close_text(s);
		return r < 0 ? error_set_errno(err, r, "Cannot write the list")
			     : reply_written(s->req, MHD_HTTP_OK, err);
	}
	r = reply_stream(s->req, PIECE, on_read, NULL, s, err);
	if (r < 0)
		return r;
	reply_header(s->req, MHD_HTTP_HEADER_CONTENT_TYPE, "application/json");
	return ROUTE_ANSWERED;
}
