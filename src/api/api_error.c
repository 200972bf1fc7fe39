/* SPDX-License-Identifier: Apache-2.0 */
#include "api/api_error.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/json_write.h"

/*
 * What each kind of failure becomes. The type is the OpenAI envelope's; the word
 * is the Azure envelope's code where the error names no reason of its own.
 * "final" tells clients that repeat a call by themselves not to: what the guest
 * broke may have happened after code had run.
 */
static const struct {
	unsigned status;
	const char *type;
	const char *word;
	unsigned retry_after;
	bool final;
} kinds[] = {
	[ERR_NONE]	= { 500, "server_error", "internal_error", 0, false },
	[ERR_BAD_REQUEST] = { 400, "invalid_request_error", "invalid_request",
			      0, false },
	[ERR_UNAUTHORIZED] = { 401, "invalid_request_error", "unauthorized",
			       0, false },
	[ERR_FORBIDDEN]	= { 403, "invalid_request_error", "forbidden",
			    0, false },
	[ERR_NOT_FOUND]	= { 404, "invalid_request_error", "not_found",
			    0, false },
	[ERR_METHOD]	= { 405, "invalid_request_error", "method_not_allowed",
			    0, false },
	[ERR_TIMEOUT]	= { 408, "invalid_request_error", "timeout", 0, false },
	[ERR_CONFLICT]	= { 409, "invalid_request_error", "conflict",
			    0, false },
	[ERR_BUSY]	= { 409, "invalid_request_error", "busy", 1, false },
	[ERR_TOO_LARGE]	= { 413, "invalid_request_error", "too_large",
			    0, false },
	[ERR_URI_TOO_LONG] = { 414, "invalid_request_error", "uri_too_long",
			       0, false },
	[ERR_MEDIA_TYPE] = { 415, "invalid_request_error",
			     "unsupported_media_type", 0, false },
	[ERR_RANGE]	= { 416, "invalid_request_error", "invalid_range",
			    0, false },
	[ERR_UNPROCESSABLE] = { 422, "invalid_request_error", "unprocessable",
				0, false },
	[ERR_LIMIT]	= { 429, "rate_limit_exceeded", "rate_limit_exceeded",
			    1, false },
	[ERR_HEADERS_TOO_LARGE] = { 431, "invalid_request_error",
				    "headers_too_large", 0, false },
	[ERR_GUEST]	= { 502, "server_error", "guest_failed", 0, true },
	[ERR_CAPACITY]	= { 503, "server_error", "capacity", 5, false },
	[ERR_HYPERVISOR] = { 503, "server_error", "hypervisor_failed",
			     5, false },
	[ERR_UPSTREAM]	= { 502, "server_error", "model_failed", 0, false },
	[ERR_UPSTREAM_TIMEOUT] = { 504, "server_error", "model_timeout",
				   0, false },
	[ERR_STORAGE_FULL] = { 507, "server_error", "host_storage_full",
			       0, false },
	[ERR_INTERNAL]	= { 500, "server_error", "internal_error", 0, false },
};
static_assert(sizeof(kinds) / sizeof(kinds[0]) == ERR_CODE_COUNT,
	      "kinds[] doesn't match enum error_code");

int api_refuse(struct error *err, const char *param, const char *what,
	       const char *reason)
{
	error_set(err, ERR_BAD_REQUEST, "'%s' %s", param, what);
	error_set_param(err, "%s", param);
	if (reason)
		error_set_reason(err, reason);
	return -EINVAL;
}

unsigned api_error_status(enum error_code code)
{
	return kinds[code].status;
}

unsigned api_error_retry_after(const struct error *err)
{
	return err->retry_after_sec ? err->retry_after_sec
				    : kinds[err->code].retry_after;
}

bool api_error_is_final(enum error_code code)
{
	return kinds[code].final;
}

static const char *or_null(const char *s)
{
	return *s ? s : NULL;
}

static void write_message(struct json_writer *w, const struct error *err,
			  const char *request_id)
{
	char text[128];

	if (err->code != ERR_INTERNAL && err->code != ERR_NONE) {
		json_write_string(w, "message", err->message);
		return;
	}
	(void)snprintf(text, sizeof(text), "Internal error, request %s",
		       request_id);
	json_write_string(w, "message", text);
}

/* What JSON-RPC has no number of its own for is one of the server's. */
static int rpc_code(const struct error *err)
{
	if (err->code == ERR_INTERNAL || err->code == ERR_NONE)
		return RPC_INTERNAL_ERROR;
	return strcmp(err->reason, RPC_SESSION_REASON) == 0
		       ? RPC_SESSION_NOT_FOUND
		       : RPC_REFUSED;
}

static int write_rpc(struct json_writer *w, const struct error *err,
		     const char *request_id)
{
	json_write_object(w, NULL);
	json_write_string(w, "jsonrpc", "2.0");
	json_write_object(w, "error");
	json_write_int(w, "code", rpc_code(err));
	write_message(w, err, request_id);
	json_write_close(w);
	json_write_null(w, "id");
	json_write_close(w);
	return json_write_end(w);
}

static void write_openai(struct json_writer *w, const struct error *err,
			 const char *request_id)
{
	write_message(w, err, request_id);
	json_write_string(w, "type", kinds[err->code].type);
	json_write_string(w, "param", or_null(err->param));
	json_write_string(w, "code", or_null(err->reason));
}

/* Its members are strings or not there. */
static void write_azure(struct json_writer *w, const struct error *err,
			const char *request_id)
{
	json_write_string(w, "code",
			  *err->reason ? err->reason : kinds[err->code].word);
	write_message(w, err, request_id);
	json_write_string(w, "type", kinds[err->code].type);
	if (*err->param)
		json_write_string(w, "param", err->param);
}

int api_error_write(struct buf *b, enum api_envelope envelope,
		    const struct error *err, const char *request_id)
{
	struct json_writer w = JSON_WRITER_INIT(b);

	if (envelope == ENVELOPE_RPC)
		return write_rpc(&w, err, request_id);
	json_write_object(&w, NULL);
	json_write_object(&w, "error");
	if (envelope == ENVELOPE_AZURE)
		write_azure(&w, err, request_id);
	else
		write_openai(&w, err, request_id);
	json_write_close(&w);
	json_write_close(&w);
	return json_write_end(&w);
}
