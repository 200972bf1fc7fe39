/* SPDX-License-Identifier: Apache-2.0 */
#include "turn/context.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/json_write.h"
#include "turn/result.h"

/* ---------------------------------------------------------- calls and outputs */

static void wait_for(struct context *c, const char *call_id)
{
	char(*list)[CONTEXT_CALL_ID_MAX + 1];

	/* More than that are not looked after: the model's server will be. */
	if (c->waiting_count == CONTEXT_CALLS_MAX)
		return;
	list = reallocarray(c->waiting, c->waiting_count + 1, sizeof(*list));
	if (!list)
		return;
	c->waiting = list;
	(void)snprintf(list[c->waiting_count++], sizeof(*list), "%s", call_id);
}

/* Return: whether an output for it was waited for */
static bool waited_for(struct context *c, const char *call_id)
{
	for (size_t i = 0; i < c->waiting_count; i++) {
		if (strcmp(c->waiting[i], call_id) != 0)
			continue;
		c->waiting_count--;
		memmove(c->waiting[i], c->waiting[c->waiting_count],
			sizeof(*c->waiting));
		return true;
	}
	return c->waiting_count == CONTEXT_CALLS_MAX;
}

int context_check(const struct context *c, struct error *err)
{
	if (c->waiting_count == 0)
		return 0;
	error_set(err, ERR_BAD_REQUEST,
		  "No tool output found for function call %.*s.",
		  CONTEXT_CALL_ID_MAX, c->waiting[0]);
	error_set_param(err, "input");
	return -EINVAL;
}

static int lower_function(struct context *c, const struct json_object *item)
{
	struct json_string id = json_string_of(json_member(item, "call_id"));
	struct json_string name = json_string_of(json_member(item, "name"));
	struct json_string arguments =
		json_string_of(json_member(item, "arguments"));

	if (!id.data || !name.data || !arguments.data)
		return 0;
	wait_for(c, id.data);
	return context_add_call(c, id.data, name.data, arguments.data,
				arguments.length);
}

/* A string, or the texts among its parts. */
static int lower_output(struct context *c, const struct json_object *item,
			struct error *err)
{
	struct json_string id = json_string_of(json_member(item, "call_id"));
	const struct json_object *output = json_member(item, "output");
	struct json_string text = json_string_of(output);
	_cleanup_(buf_done) struct buf all = context_begin(c);
	int r = 0;

	if (!id.data)
		return 0;
	if (!waited_for(c, id.data)) {
		error_set(err, ERR_BAD_REQUEST,
			  "No tool call found for function call output with "
			  "call_id %.128s.", id.data);
		error_set_param(err, "input");
		return -EINVAL;
	}
	if (text.data)
		return context_add_output(c, id.data, text.data, text.length);
	for (size_t i = 0; i < json_array_size(output) && r >= 0; i++) {
		text = json_string_of(
			json_member(json_array_at(output, i), "text"));
		if (text.data)
			r = buf_add(&all, text.data, text.length);
	}
	return r < 0 ? r : context_add_output(c, id.data, buf_str(&all),
					      all.length);
}

/* ------------------------------------------------------- calls of the interpreter */

/* "Nothing was printed" alone would say that it ran. */
static const char *note_of(const struct json_object *item)
{
	struct json_string status = json_string_of(json_member(item, "status"));

	return !status.data || strcmp(status.data, "completed") == 0
		       ? NULL
		       : "This call was not run, or not to its end.\n";
}

static int write_result(struct context *c, const char *id,
			const struct json_object *item, struct buf *ret)
{
	const struct json_object *outputs = json_member(item, "outputs");
	struct result result = {
		.id = id,
		.secret = c->config.secret,
		.max_bytes = c->config.result_max,
		.unknown = !outputs,
		.notes = note_of(item),
	};

	for (size_t i = 0; i < json_array_size(outputs); i++) {
		const struct json_object *output = json_array_at(outputs, i);
		struct json_string logs =
			json_string_of(json_member(output, "logs"));

		if (logs.data) {
			result.text = logs.data;
			result.size = logs.length;
		} else {
			result.figures++;
		}
	}
	return result_write(&result, ret);
}

static int lower_code(struct context *c, const struct json_object *item)
{
	struct json_string id = json_string_of(json_member(item, "id"));
	struct json_string code = json_string_of(json_member(item, "code"));
	struct json_string container =
		json_string_of(json_member(item, "container_id"));
	_cleanup_(buf_done) struct buf text = context_begin(c);
	int r;

	if (container.data)
		(void)snprintf(c->container, sizeof(c->container), "%s",
			       container.data);
	if (!id.data)
		return 0;
	r = write_result(c, id.data, item, &text);
	if (r >= 0)
		r = context_add_code(c, id.data, code.data ? code.data : "",
				     code.length);
	return r < 0 ? r : context_add_output(c, id.data, buf_str(&text),
					      text.length);
}

/* What a model thought is of use only in the form that its server encrypted. */
static int lower_thought(struct context *c, const struct json_object *item,
			 const char *json, size_t size)
{
	_cleanup_(buf_done) struct buf text = context_begin(c);
	int r;

	if (!json_string_of(json_member(item, "encrypted_content")).data)
		return 0;
	r = buf_add(&text, json, size);
	return context_add_item(c, &text, r);
}

/* ----------------------------------------------------------------------- any */

void context_init(struct context *c, const struct context_config *config)
{
	*c = (struct context){ .config = *config };
}

void context_done(struct context *c)
{
	for (size_t i = 0; i < c->count; i++)
		free((char *)(uintptr_t)c->items[i].json);
	free(c->items);
	free(c->waiting);
	context_files_done(c);
	*c = (struct context){ .count = 0 };
}

void context_fresh(struct context *c)
{
	c->fresh = true;
	c->fresh_at = c->count;
}

int context_lower(struct context *c, const char *json, size_t size,
		  struct error *err)
{
	_cleanup_(json_freep) struct json_object *item = NULL;
	struct json_string type;
	int r;

	r = json_parse(json, size, &item, err);
	if (r < 0)
		return r;
	type = json_string_of(json_member(item, "type"));
	if (!type.data || strcmp(type.data, "message") == 0)
		r = context_add_message(c, item, err);
	else if (strcmp(type.data, "code_interpreter_call") == 0)
		r = lower_code(c, item);
	else if (strcmp(type.data, "function_call") == 0)
		r = lower_function(c, item);
	else if (strcmp(type.data, "function_call_output") == 0)
		r = lower_output(c, item, err);
	else if (strcmp(type.data, "reasoning") == 0)
		r = lower_thought(c, item, json, size);
	return context_failed(c, r, err);
}
