/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dynamic sessions: running code, in both families.
 *
 * What is asked for becomes Python source in all cases: a shell command is a
 * call of subprocess, whose status is the value of the last expression.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/api_error.h"
#include "api/exec_stream.h"
#include "api/exec_timeout.h"
#include "api/handlers.h"
#include "api/reply.h"
#include "api/request.h"
#include "api/session_outcome.h"
#include "api/sessions.h"
#include "base/base64.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/name.h"

enum { ARGUMENTS_MAX = 256 };

/* How long an execution that is looked at may take to be over in the answer. */
#define GET_PATIENCE_USEC USEC_PER_SEC

struct run_fields {
	struct json_object *properties;
	struct json_string input_type;
	struct json_string execution_type;
	struct json_string code;
	struct json_string identifier;
	struct json_string shell;
	struct json_object *arguments;
	struct json_string stdin_text;
	int64_t timeout;
	int64_t output_max;
	bool empty_kernel;
	bool jupyter;
};

/* clang-format off */
static const struct json_field run_table[] = {
	JSON_OBJECT_FIELD("properties", struct run_fields, properties),
	JSON_STRING_FIELD("codeInputType", struct run_fields, input_type),
	JSON_STRING_FIELD("executionType", struct run_fields, execution_type),
	JSON_STRING_FIELD("code", struct run_fields, code, .text = true,
			  .max = 2 * CORE_CODE_MAX),
	JSON_STRING_FIELD("identifier", struct run_fields, identifier),
	JSON_STRING_FIELD("shellCommand", struct run_fields, shell, .min = 1,
			  .max = CORE_CODE_MAX / 8),
	JSON_ARRAY_FIELD("execCommandAndArgs", struct run_fields, arguments,
			 .min = 1, .max = ARGUMENTS_MAX),
	JSON_STRING_FIELD("stdin", struct run_fields, stdin_text, .text = true,
			  .max = CORE_STDIN_MAX),
	JSON_INT_FIELD("timeoutInSeconds", struct run_fields, timeout,
		       .min = 1, .max = SESSION_TIMEOUT_MAX),
	JSON_INT_FIELD("outputStreamsMaxLength", struct run_fields, output_max,
		       .min = 1, .max = INT64_MAX),
	JSON_BOOL_FIELD("useEmptyKernel", struct run_fields, empty_kernel),
	JSON_BOOL_FIELD("returnJupyterFormatExecutionResult",
			struct run_fields, jupyter),
};
/* clang-format on */

/**
 * struct run - An execution that a request wants
 * @form:	How it is to be answered; first, as session_outcome_…() say
 * @spec:	Borrowed from the request and @code
 * @code:	Source that is not in the request as it is
 * @note:	What the execution is kept with
 */
struct run {
	struct session_form form;
	struct session_call call;
	struct exec_spec spec;
	struct buf code;
	char note[CORE_NOTE_SIZE];
};

static void run_free(void *work)
{
	struct run *run = work;

	buf_done(&run->code);
	free(run);
}

/* --------------------------------------------------------------- what is asked */

/* Clients write enumerations in all kinds of capitals. */
static bool is_one_of(const char *value, const char *const *words)
{
	for (; *words; words++)
		if (strcasecmp(value, *words) == 0)
			return true;
	return false;
}

static int read_types(const struct run_fields *fields, struct run *run,
		      bool *ret_base64, struct error *err)
{
	static const char *const plain[] = { "inline", "inlineText", NULL };
	static const char *const coded[] = { "inlineBase64", NULL };
	static const char *const now[] = { "synchronous", NULL };
	static const char *const later[] = { "asynchronous", NULL };
	const char *input = fields->input_type.data;
	const char *execution = fields->execution_type.data;

	*ret_base64 = input && is_one_of(input, coded);
	if (input && !*ret_base64 && !is_one_of(input, plain))
		return api_refuse(err, "codeInputType",
				  "must be 'Inline' or 'InlineBase64'", NULL);
	run->form.async = execution && !run->form.old && is_one_of(execution, later);
	if (execution && !run->form.async && !is_one_of(execution, now))
		return api_refuse(err, "executionType",
				  run->form.old ? "must be 'synchronous'" :
						  "must be 'Synchronous' or "
						  "'Asynchronous'",
				  NULL);
	return 0;
}

/* Code as base64, which may hold anything that JSON text cannot. */
static int decode_code(struct json_string code, struct run *run,
		       struct error *err)
{
	void *room;
	ssize_t n;
	int r;

	run->code = BUF_INIT(CORE_CODE_MAX);
	r = buf_reserve(&run->code, CORE_CODE_MAX, &room);
	if (r < 0)
		return error_set_errno(err, r, "Cannot take the code");
	n = strlen(code.data) == code.length
		    ? base64_decode(code.data, room, CORE_CODE_MAX)
		    : -EINVAL;
	if (n == -E2BIG)
		return api_refuse(err, "code", "is longer than 524288 bytes",
				  NULL);
	if (n < 0 || !utf8_is_valid(room, (size_t)n))
		return api_refuse(err, "code", "is not UTF-8 text as base64",
				  NULL);
	buf_commit(&run->code, (size_t)n);
	return 0;
}

/* JSON's strings are Python's, as long as nothing in them is a surrogate. */
static void write_command(const struct run_fields *fields,
			  struct json_writer *w)
{
	size_t i;

	json_write_array(w, NULL);
	if (fields->shell.data) {
		json_write_string(w, NULL, "/bin/sh");
		json_write_string(w, NULL, "-c");
		json_write_bytes(w, NULL, fields->shell.data,
				 fields->shell.length);
	}
	for (i = 0; i < json_array_size(fields->arguments); i++)
		json_write_value(w, NULL, json_array_at(fields->arguments, i));
	json_write_close(w);
}

static int read_arguments(const struct run_fields *fields, struct error *err)
{
	struct json_string item;
	size_t i;
	int r;

	for (i = 0; i < json_array_size(fields->arguments); i++) {
		r = json_read_string_item(fields->arguments,
					  "execCommandAndArgs", i, &item, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int write_command_code(const struct run_fields *fields,
			      struct run *run, struct error *err)
{
	struct json_writer w;
	int r;

	r = read_arguments(fields, err);
	if (r < 0)
		return r;
	run->form.command = true;
	run->code = BUF_INIT(CORE_CODE_MAX);
	r = buf_add_str(&run->code, "__import__('subprocess').run(");
	w = JSON_WRITER_INIT(&run->code);
	write_command(fields, &w);
	if (r >= 0)
		r = json_write_end(&w);
	if (r >= 0)
		r = buf_add_str(&run->code, ").returncode");
	if (r == -EMSGSIZE)
		return api_refuse(err, "execCommandAndArgs", "is too long",
				  NULL);
	return r < 0 ? error_set_errno(err, r, "Cannot take the command") : 0;
}

static int read_code(const struct run_fields *fields, struct run *run,
		     bool base64, struct error *err)
{
	int given = !!fields->code.data + !!fields->shell.data +
		    !!fields->arguments;
	int r = 0;

	if (given != 1)
		return api_refuse(err, "code",
				  given == 0 ? "is missing" :
					       "excludes 'shellCommand' and "
					       "'execCommandAndArgs'",
				  NULL);
	if (!fields->code.data)
		r = write_command_code(fields, run, err);
	else if (base64)
		r = decode_code(fields->code, run, err);
	if (r < 0)
		return r;
	run->spec.code = run->code.max ? buf_str(&run->code)
				       : fields->code.data;
	run->spec.code_len = run->code.max ? run->code.length
					   : fields->code.length;
	if (run->spec.code_len == 0)
		return api_refuse(err, "code", "is empty", NULL);
	if (run->spec.code_len > CORE_CODE_MAX)
		return api_refuse(err, "code", "is longer than 524288 bytes",
				  NULL);
	return 0;
}

static int read_fields(struct request *req, struct run_fields *ret,
		       struct error *err)
{
	struct json_object *object;
	int r;

	r = request_json(req, &object, err);
	if (r < 0)
		return r;
	r = json_read_fields(object, NULL, run_table,
			     sizeof(run_table) / sizeof(run_table[0]),
			     JSON_UNKNOWN_IGNORED, ret, err);
	if (r < 0 || !ret->properties)
		return r;
	return json_read_fields(ret->properties, "properties", run_table,
				sizeof(run_table) / sizeof(run_table[0]),
				JSON_UNKNOWN_IGNORED, ret, err);
}

static int run_read(struct request *req, struct run *run,
		    const char *identifier, struct error *err)
{
	struct run_fields fields = { .output_max = 0 };
	bool base64;
	int r;

	r = read_fields(req, &fields, err);
	if (r < 0)
		return r;
	if (!identifier)
		identifier = fields.identifier.data;
	r = session_call_read(req, identifier, &run->call, err);
	if (r >= 0)
		r = read_types(&fields, run, &base64, err);
	if (r >= 0)
		r = read_code(&fields, run, base64, err);
	if (r < 0)
		return r;
	if (fields.empty_kernel)
		return api_refuse(
			err, "useEmptyKernel",
			"cannot be true: a session has one kernel; use "
			"another identifier for a fresh one",
			NULL);
	run->form.identifier = run->call.identifier;
	run->form.jupyter = fields.jupyter;
	run->form.output_max = (uint64_t)fields.output_max;
	if (run->form.output_max == 0 && run->call.cut)
		run->form.output_max = SESSION_OUTPUT_DEFAULT;
	run->spec.stdin_data = fields.stdin_text.data;
	run->spec.stdin_len = fields.stdin_text.length;
	run->spec.spill = true;
	session_form_note(&run->form, run->note);
	run->spec.note = run->note;
	run->spec.request = req->id;
	run->spec.trace = trace_parent(&req->head.trace);
	return exec_timeout_read(req, "timeoutInSeconds",
				 (double)fields.timeout, 0,
				 &run->spec.timeout_usec, err);
}

/* --------------------------------------------------------------------- the run */

static void on_accepted(void *userdata, const struct exec_view *exec,
			const struct error *err)
{
	struct request *req = userdata;
	const struct run *run = req->work;
	struct error failure = ERROR_INIT;

	if (reply_failure(req, err))
		return;
	req->has_run = true;
	if (!request_is_paid(req))
		return;
	if (run->form.async)
		request_finish(req, session_outcome_later(req, exec, &failure),
			       &failure);
	else
		exec_stream_wait(req, exec->container, exec->id,
				 run->form.old ? session_outcome_old
					       : session_outcome_new);
}

static int start(struct request *req, struct error *err)
{
	const struct run *run = req->work;
	int r;

	r = core_exec_start(req->core, &req->who, req->container, &run->spec,
			    on_accepted, req, err);
	return r < 0 ? r : ROUTE_PENDING;
}

static int execute(struct request *req, const char *identifier, bool old,
		   struct error *err)
{
	struct run *run = calloc(1, sizeof(*run));
	int r;

	if (!run)
		return error_set_errno(err, -ENOMEM, "Cannot run code");
	run->form.old = old;
	req->work = run;
	req->work_free = run_free;
	r = run_read(req, run, identifier, err);
	return r < 0 ? r : session_open(req, &run->call, start, err);
}

int sessions_execute(struct request *req, struct error *err)
{
	return execute(req, NULL, true, err);
}

int sessions_execute_by_path(struct request *req, struct error *err)
{
	return execute(req, req->match.param[0], true, err);
}

int sessions_executions_create(struct request *req, struct error *err)
{
	return execute(req, NULL, false, err);
}

int sessions_executions_get(struct request *req, struct error *err)
{
	struct container_view container;
	struct exec_view exec;
	struct run *run;
	int r;

	run = calloc(1, sizeof(*run));
	if (!run)
		return error_set_errno(err, -ENOMEM, "Cannot read");
	req->work = run;
	req->work_free = run_free;
	r = session_call_read(req, NULL, &run->call, err);
	if (r >= 0)
		r = session_find(req, &run->call, false, &container, err);
	if (r >= 0)
		r = core_exec_get(req->core, &req->who, req->container,
				  req->match.param[0], &exec, err);
	if (r < 0)
		return r;
	run->form.identifier = run->call.identifier;
	session_form_read(&run->form, exec.note);
	if (exec.status > EXEC_RUNNING)
		return session_outcome_new(req, &exec, err);
	return exec_stream_hold(req, req->container, exec.id, GET_PATIENCE_USEC,
				session_outcome_new, err);
}
