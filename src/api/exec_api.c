/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our own calls for running code in a container. Their fields are ours, so one
 * that we do not know is refused: it was meant to have an effect.
 */
#include <errno.h>
#include <string.h>

#include "api/api_private.h"
#include "api/exec_stream.h"
#include "api/exec_timeout.h"
#include "api/handlers.h"
#include "api/idempotency.h"
#include "api/reply.h"
#include "api/request.h"
#include "api/sse.h"
#include "api/view_json.h"
#include "base/json.h"

struct exec_fields {
	struct json_string code;
	double timeout_s;
	struct json_string stdin_text;
	bool stream;
	struct json_string encoding;
	bool spill;
	bool background;
};

static const char *const encodings[] = { "utf-8", "base64", NULL };

static const struct json_field exec_table[] = {
	JSON_STRING_FIELD("code", struct exec_fields, code, .required = true,
			  .text = true, .min = 1, .max = CORE_CODE_MAX),
	JSON_NUMBER_FIELD("timeout_s", struct exec_fields, timeout_s,
			  .above_min = true, .max = INT64_MAX),
	JSON_STRING_FIELD("stdin", struct exec_fields, stdin_text, .text = true,
			  .max = CORE_STDIN_MAX),
	JSON_BOOL_FIELD("stream", struct exec_fields, stream),
	JSON_STRING_FIELD("encoding", struct exec_fields, encoding,
			  .choices = encodings),
	JSON_BOOL_FIELD("spill", struct exec_fields, spill),
	JSON_BOOL_FIELD("background", struct exec_fields, background),
};

static enum view_output output_of(const char *encoding)
{
	return encoding && strcmp(encoding, "base64") == 0
		       ? VIEW_OUTPUT_BASE64
		       : VIEW_OUTPUT_UTF8;
}

static int read_spec(struct request *req, struct exec_fields *fields,
		     struct exec_spec *spec, struct error *err)
{
	struct json_object *object;
	int r;

	r = request_json(req, &object, err);
	if (r < 0)
		return r;
	r = json_read_fields(object, NULL, exec_table,
			     sizeof(exec_table) / sizeof(exec_table[0]),
			     JSON_UNKNOWN_REFUSED, fields, err);
	if (r < 0)
		return r;
	if (fields->stream && fields->background) {
		error_set(err, ERR_BAD_REQUEST,
			  "'stream' and 'background' exclude each other");
		error_set_param(err, "background");
		return -EINVAL;
	}
	r = exec_timeout_read(req, "timeout_s", fields->timeout_s, 0,
			      &spec->timeout_usec, err);
	if (r < 0)
		return r;
	spec->code = fields->code.data;
	spec->code_len = fields->code.length;
	spec->stdin_data = fields->stdin_text.data;
	spec->stdin_len = fields->stdin_text.length;
	spec->spill = fields->spill;
	spec->request = req->id;
	spec->trace = trace_parent(&req->head.trace);
	return idempotency_read(req, &spec->idempotency, err);
}

/* ----------------------------------------------------------- what is answered */

static int reply_exec(struct request *req, unsigned status,
		      const struct exec_view *exec, enum view_output output,
		      struct error *err)
{
	view_json_exec(reply_writer(req), NULL, exec, output);
	return reply_json(req, status, err);
}

/* Core accepted the execution, or did not; false: the request is dealt with. */
static bool begin_answer(struct request *req, const struct error *err)
{
	if (error_is_set(err)) {
		request_failed(req, err);
		return false;
	}
	req->has_run = true;
	return request_is_paid(req);
}

static void on_background(void *userdata, const struct exec_view *exec,
			  const struct error *err)
{
	struct request *req = userdata;
	struct error failure = ERROR_INIT;

	if (begin_answer(req, err))
		request_finish(req,
			       reply_exec(req, MHD_HTTP_ACCEPTED, exec,
					  req->output, &failure),
			       &failure);
}

static void on_stream(void *userdata, const struct exec_view *exec,
		      const struct error *err)
{
	struct request *req = userdata;
	struct error failure = ERROR_INIT;

	if (begin_answer(req, err))
		request_finish(req,
			       exec_stream_reply(req, exec->container, exec->id,
						 0, req->output, &failure),
			       &failure);
}

static int answer_outcome(struct request *req, const struct exec_view *exec,
			  struct error *err)
{
	return reply_exec(req, MHD_HTTP_OK, exec, req->output, err);
}

static void on_accepted(void *userdata, const struct exec_view *exec,
			const struct error *err)
{
	struct request *req = userdata;

	if (begin_answer(req, err))
		exec_stream_wait(req, exec->container, exec->id, answer_outcome);
}

int exec_api_create(struct request *req, struct error *err)
{
	struct exec_fields fields = { .spill = true };
	struct exec_spec spec = { .code = NULL };
	exec_fn accepted = on_accepted;
	int r;

	r = read_spec(req, &fields, &spec, err);
	if (r < 0)
		return r;
	if (fields.stream)
		accepted = on_stream;
	else if (fields.background)
		accepted = on_background;
	req->output = output_of(fields.encoding.data);
	r = core_exec_start(req->core, &req->who, req->match.param[0], &spec,
			    accepted, req, err);
	return r < 0 ? r : ROUTE_PENDING;
}

static int read_encoding(struct request *req, struct error *err)
{
	const char *encoding;
	int r;

	r = uri_param(&req->uri, "encoding", &encoding, err);
	if (r < 0)
		return r;
	req->output = output_of(encoding);
	return 0;
}

int exec_api_get(struct request *req, struct error *err)
{
	struct exec_view exec;
	int r;

	r = read_encoding(req, err);
	if (r < 0)
		return r;
	r = core_exec_get(req->core, &req->who, req->match.param[0],
			  req->match.param[1], &exec, err);
	if (r < 0)
		return r;
	return reply_exec(req, MHD_HTTP_OK, &exec, req->output, err);
}

int exec_api_events(struct request *req, struct error *err)
{
	uint64_t after = 0;
	bool given;
	int r;

	r = read_encoding(req, err);
	if (r < 0)
		return r;
	r = sse_resume(req, &given, &after, err);
	if (r < 0)
		return r;
	return exec_stream_reply(req, req->match.param[0], req->match.param[1],
				 after, req->output, err);
}

int exec_api_interrupt(struct request *req, struct error *err)
{
	const char *container = req->match.param[0];
	const char *id = req->match.param[1];
	struct exec_view exec;
	int r;

	r = core_exec_interrupt(req->core, &req->who, container, id, err);
	if (r < 0)
		return r;
	r = core_exec_get(req->core, &req->who, container, id, &exec, err);
	if (r < 0)
		return r;
	return reply_exec(req, MHD_HTTP_ACCEPTED, &exec, VIEW_OUTPUT_UTF8, err);
}
