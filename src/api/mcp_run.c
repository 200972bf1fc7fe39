/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "api/api_private.h"
#include "api/exec_stream.h"
#include "api/exec_timeout.h"
#include "api/mcp.h"
#include "api/request.h"
#include "base/cleanup.h"
#include "base/settings.h"

/* The tools that run something. */

struct run_fields {
	struct json_string code;
	struct json_string container;
	double timeout_s;
};

static const struct json_field python_table[] = {
	JSON_STRING_FIELD("code", struct run_fields, code, .required = true,
			  .text = true, .min = 1, .max = CORE_CODE_MAX),
	JSON_STRING_FIELD("container_id", struct run_fields, container,
			  .min = 1, .max = ID_MAX),
	JSON_NUMBER_FIELD("timeout_s", struct run_fields, timeout_s,
			  .min = 0, .max = 24 * 3600, .above_min = true),
};

/* Pools' tools, whose names are the service's. */
static const struct json_field environment_python_table[] = {
	JSON_STRING_FIELD("pythonCode", struct run_fields, code,
			  .required = true, .text = true, .min = 1,
			  .max = CORE_CODE_MAX),
	JSON_STRING_FIELD("environmentId", struct run_fields, container,
			  .required = true, .min = 1, .max = ID_MAX),
};

static const struct json_field environment_shell_table[] = {
	JSON_STRING_FIELD("shellCommand", struct run_fields, code,
			  .required = true, .min = 1, .max = CORE_CODE_MAX / 8),
	JSON_STRING_FIELD("environmentId", struct run_fields, container,
			  .required = true, .min = 1, .max = ID_MAX),
};

/* ------------------------------------------------------------------------ end */

static void on_event(struct request *req, const struct exec_event *event)
{
	struct mcp_call *call = req->work;
	size_t size = event->data_len, skip = 0;
	const char *data = event->data;

	if (event->type != EXEC_EVENT_OUTPUT)
		return;
	/* The end of it says most of where the program is. */
	if (size >= sizeof(call->heard))
		skip = size - sizeof(call->heard) + 1;
	while (skip > 0 && skip < size && ((unsigned char)data[skip] & 0xc0) ==
						  0x80)
		skip++;
	(void)snprintf(call->heard, sizeof(call->heard), "%.*s",
		       (int)(size - skip), data + skip);
}

static void on_over(struct request *req, const struct exec_view *exec,
		    const struct error *err)
{
	struct mcp_call *call = req->work;
	struct error failure = ERROR_INIT;
	int r;

	call->over = true;
	if (err) {
		failure = *err;
		r = -EIO;
	} else {
		r = mcp_outcome(call, exec, &failure);
	}
	mcp_settle(call, r, &failure);
}

static const struct exec_follower follower = {
	.event = on_event,
	.over = on_over,
};

static void interrupt(struct mcp_call *call)
{
	struct request *req = call->req;

	if (call->exec[0] && !call->over)
		(void)core_exec_interrupt(req->core, &req->who, req->container,
					  call->exec, NULL);
}

void mcp_cancel(struct mcp_call *call)
{
	call->cancelled = true;
	interrupt(call);
}

/*
 * In the legacy era a connection may come and go. In the modern one there is no
 * other way to say that nobody waits.
 */
void mcp_call_gone(struct mcp_call *call)
{
	if (call->modern)
		interrupt(call);
}

/* ---------------------------------------------------------------------- begin */

static void on_accepted(void *userdata, const struct exec_view *exec,
			const struct error *err)
{
	struct request *req = userdata;
	struct mcp_call *call = req->work;
	struct error failure;

	if (error_is_set(err)) {
		if (!request_is_paid(req))
			return;
		failure = *err;
		mcp_settle(call, -EIO, &failure);
		return;
	}
	/* Before it is known whether somebody waits: it may have to end. */
	strcpy(call->exec, exec->id);
	req->has_run = true;
	if (call->cancelled)
		interrupt(call);
	if (request_is_paid(req))
		exec_stream_follow(req, req->container, call->exec, &follower);
}

static int start(struct mcp_call *call, struct error *err)
{
	struct request *req = call->req;
	int r;

	r = core_exec_start(req->core, &req->who, req->container, &call->spec,
			    on_accepted, req, err);
	return r < 0 ? r : ROUTE_PENDING;
}

static usec_t least(usec_t a, usec_t b)
{
	return a == 0 || (b > 0 && b < a) ? b : a;
}

/* For a call that gives no limit; 0 is core's default. */
static usec_t usual_time(const struct mcp_call *call, usec_t policy)
{
	const struct settings *s = call->req->api->config.settings;
	usec_t limit = 0;

	if (!json_member(call->message.meta, "progressToken"))
		limit = MCP_TOOL_USEC;
	if (limit == 0 && policy == 0)
		return 0;
	return least(least(limit, policy),
		     settings_usec(s, "exec", "max_timeout"));
}

static int read_time(const struct mcp_call *call, double asked_s, usec_t *ret,
		     struct error *err)
{
	usec_t policy = (usec_t)call->offer.timeout_s * USEC_PER_SEC;
	int r;

	r = exec_timeout_read(call->req, "timeout_s", asked_s, policy, ret,
			      err);
	if (r >= 0 && *ret == 0)
		*ret = usual_time(call, policy);
	return r;
}

static int read_run(struct mcp_call *call, const struct json_field *table,
		    size_t count, struct run_fields *ret, struct error *err)
{
	int r;

	*ret = (struct run_fields){ .timeout_s = 0 };
	r = json_read_fields(call->arguments, NULL, table, count,
			     JSON_UNKNOWN_IGNORED, ret, err);
	if (r < 0)
		return r;
	call->spec = (struct exec_spec){
		.code = ret->code.data,
		.code_len = ret->code.length,
		.spill = true,
		.request = call->req->id,
		.trace = trace_parent(&call->req->head.trace),
	};
	return read_time(call, ret->timeout_s, &call->spec.timeout_usec, err);
}

#define READ(call, table, ret, err)                                            \
	read_run(call, table, sizeof(table) / sizeof((table)[0]), ret, err)

int mcp_run_python(struct mcp_call *call, struct error *err)
{
	struct run_fields fields;
	int r;

	r = READ(call, python_table, &fields, err);
	return r < 0 ? r
		     : mcp_container_open(call, fields.container.data, start,
					  err);
}

int mcp_run_environment_python(struct mcp_call *call, struct error *err)
{
	struct run_fields fields;
	int r;

	r = READ(call, environment_python_table, &fields, err);
	return r < 0 ? r
		     : mcp_container_open(call, fields.container.data, start,
					  err);
}

/* JSON's strings are Python's, as long as nothing in them is a surrogate. */
static int write_command(struct mcp_call *call, struct json_string command)
{
	struct json_writer w = JSON_WRITER_INIT(&call->code);
	int r;

	call->code = BUF_INIT(CORE_CODE_MAX);
	r = buf_add_str(&call->code,
			"__import__('subprocess').run(['/bin/sh', '-c', ");
	json_write_bytes(&w, NULL, command.data, command.length);
	if (r >= 0)
		r = json_write_end(&w);
	return r < 0 ? r : buf_add_str(&call->code, "]).returncode");
}

int mcp_run_environment_shell(struct mcp_call *call, struct error *err)
{
	struct run_fields fields;
	int r;

	r = READ(call, environment_shell_table, &fields, err);
	if (r < 0)
		return r;
	r = write_command(call, fields.code);
	if (r < 0)
		return error_set_errno(err, r, "Cannot take the command");
	call->spec.code = buf_str(&call->code);
	call->spec.code_len = call->code.length;
	return mcp_container_open(call, fields.container.data, start, err);
}

/* ---------------------------------------------------------------- environments */

/* There is one as soon as there is a container; its VM boots meanwhile. */
static int launched(struct mcp_call *call, struct error *err)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(1024);
	struct json_writer w = JSON_WRITER_INIT(&text), *result;
	int r;

	json_write_object(&w, NULL);
	json_write_string(&w, "environmentId", call->req->container);
	json_write_close(&w);
	r = json_write_end(&w);
	if (r < 0)
		return error_set_errno(err, r, "Cannot write a result");
	result = mcp_result(call);
	json_write_array(result, "content");
	mcp_write_text(result, &text);
	json_write_close(result);
	json_write_raw(result, "structuredContent", buf_str(&text),
		       text.length);
	return mcp_reply(call, err);
}

int mcp_launch_environment(struct mcp_call *call, struct error *err)
{
	return mcp_container_fresh(call, launched, err);
}
