/* SPDX-License-Identifier: Apache-2.0 */
#include "api/reply.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/request.h"
#include "base/cleanup.h"

struct json_writer *reply_writer(struct request *req)
{
	buf_clear(&req->out);
	req->writer = JSON_WRITER_INIT(&req->out);
	return &req->writer;
}

void reply_header(struct request *req, const char *name, const char *value)
{
	(void)MHD_add_response_header(req->response, name, value);
}

void reply_header_int(struct request *req, const char *name, int64_t value)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%lld", (long long)value);
	reply_header(req, name, text);
}

void reply_forbid_sharing(struct request *req)
{
	const struct route *route = req->match.route;
	bool file = MHD_get_response_header(req->response,
					    MHD_HTTP_HEADER_ETAG);

	if (!route || (!route->scope && route->family != FAMILY_ADMIN))
		return;
	if (!MHD_get_response_header(req->response,
				     MHD_HTTP_HEADER_CACHE_CONTROL))
		reply_header(req, MHD_HTTP_HEADER_CACHE_CONTROL,
			     file ? "private, no-cache" : "no-store");
	reply_header(req, MHD_HTTP_HEADER_VARY,
		     "Authorization, api-key, x-ms-apikey");
}

/* Makes the answer of a buffer whose memory goes to the library. */
static int reply_buffer(struct request *req, unsigned status, struct buf *b,
			const char *type, struct error *err)
{
	struct MHD_Response *response;
	size_t size;
	char *data;

	data = buf_take(b, &size);
	if (!data)
		return error_set_errno(err, -ENOMEM, "Cannot answer");
	response = MHD_create_response_from_buffer(size, data,
						   MHD_RESPMEM_MUST_FREE);
	if (!response) {
		free(data);
		return error_set_errno(err, -ENOMEM, "Cannot answer");
	}
	req->response = response;
	req->status = status;
	req->bytes = size;
	reply_header(req, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	return 0;
}

int reply_json(struct request *req, unsigned status, struct error *err)
{
	int r;

	r = json_write_end(&req->writer);
	if (r < 0)
		return error_set_errno(err, r, "Cannot write the answer");
	return reply_written(req, status, err);
}

int reply_written(struct request *req, unsigned status, struct error *err)
{
	return reply_buffer(req, status, &req->out, "application/json", err);
}

int reply_text(struct request *req, const char *type, struct buf *text,
	       struct error *err)
{
	return reply_buffer(req, MHD_HTTP_OK, text, type, err);
}

/*
 * To HEAD the library would send the end of the body that it leaves out, which
 * the client takes for the beginning of the next answer. Without chunks there is
 * none; the connection closes.
 */
int reply_stream(struct request *req, size_t piece,
		 MHD_ContentReaderCallback read,
		 MHD_ContentReaderFreeCallback done, void *userdata,
		 struct error *err)
{
	enum MHD_ResponseFlags flags = MHD_RF_NONE;

	if (strcmp(req->method, "HEAD") == 0)
		flags = MHD_RF_HTTP_1_0_COMPATIBLE_STRICT;
	req->response = MHD_create_response_from_callback(
		MHD_SIZE_UNKNOWN, piece, read, userdata, done);
	if (!req->response)
		return error_set_errno(err, -ENOMEM, "Cannot answer");
	(void)MHD_set_response_options(req->response, flags, MHD_RO_END);
	req->status = MHD_HTTP_OK;
	return 0;
}

int reply_empty(struct request *req, unsigned status, struct error *err)
{
	req->response = MHD_create_response_from_buffer(
		0, (char[1]){ 0 }, MHD_RESPMEM_MUST_COPY);
	if (!req->response)
		return error_set_errno(err, -ENOMEM, "Cannot answer");
	req->status = status;
	return 0;
}

bool reply_failure(struct request *req, const struct error *err)
{
	if (!error_is_set(err))
		return false;
	request_failed(req, err);
	return true;
}

void reply_ok(struct request *req)
{
	struct error err = ERROR_INIT;

	request_finish(req, reply_json(req, MHD_HTTP_OK, &err), &err);
}

void reply_deleted(struct request *req, const char *object,
		   const struct error *err)
{
	const struct route_match *match = &req->match;
	struct json_writer *w = reply_writer(req);

	if (reply_failure(req, err))
		return;
	json_write_object(w, NULL);
	json_write_string(w, "id", match->param[match->param[1] ? 1 : 0]);
	json_write_string(w, "object", object);
	json_write_bool(w, "deleted", true);
	json_write_close(w);
	reply_ok(req);
}

void reply_gone(void *request, const struct error *err)
{
	struct request *req = request;
	struct error failure = ERROR_INIT;

	if (error_is_set(err))
		request_failed(req, err);
	else
		request_finish(req,
			       reply_empty(req, MHD_HTTP_NO_CONTENT, &failure),
			       &failure);
}

static void add_error_headers(struct request *req, const struct error *err)
{
	unsigned after = api_error_retry_after(err);
	enum error_code code = err->code;

	if (after > 0)
		reply_header_int(req, MHD_HTTP_HEADER_RETRY_AFTER, after);
	if (api_error_is_final(code) || req->has_run)
		reply_header(req, "x-should-retry", "false");
	if (code == ERR_UNAUTHORIZED)
		reply_header(req, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
}

void reply_error(struct request *req, const struct error *err)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(4 * ERROR_MESSAGE_MAX);
	struct error ignored = ERROR_INIT;

	/* An error instead of an answer that was begun. */
	if (req->response)
		MHD_destroy_response(take_ptr(req->response));
	req->failure = *err;
	if (api_error_write(&b, req->match.envelope, err, req->id) < 0 ||
	    reply_buffer(req, api_error_status(err->code), &b,
			 "application/json", &ignored) < 0)
		return;		/* no memory: the connection is closed */
	add_error_headers(req, err);
}
