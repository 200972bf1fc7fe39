/* SPDX-License-Identifier: Apache-2.0 */
/* A round in the terms of Chat Completions. */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "turn/upstream_json.h"
#include "turn/upstream_request.h"

/* Options that have the same name there. */
static const char *const same_options[] = {
	"temperature",	   "top_p",	       "user",
	"service_tier",	   "safety_identifier", "prompt_cache_key",
};

/* ------------------------------------------------------------- messages */

static void add_text(struct buf *text, const struct json_object *part)
{
	struct json_string s = json_string_of(json_member(part, "text"));

	if (!s.data)
		s = json_string_of(json_member(part, "refusal"));
	if (s.data)
		(void)buf_add(text, s.data, s.length);
}

/* All text of a content as one string: for every role but the user's. */
static void write_flat(struct json_writer *w, const char *key,
		       const struct json_object *content)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(UPSTREAM_REQUEST_MAX);
	struct json_string s = json_string_of(content);
	size_t i;

	if (s.data) {
		json_write_bytes(w, key, s.data, s.length);
		return;
	}
	for (i = 0; i < json_array_size(content); i++)
		add_text(&text, json_array_at(content, i));
	if (buf_check(&text) < 0)
		json_write_fail(w, -ENOMEM);
	json_write_bytes(w, key, buf_str(&text), text.length);
}

static void write_image(struct json_writer *w, const struct json_object *part)
{
	const struct json_object *detail = json_member(part, "detail");

	json_write_object(w, NULL);
	json_write_string(w, "type", "image_url");
	json_write_object(w, "image_url");
	json_write_value(w, "url", json_member(part, "image_url"));
	if (detail)
		json_write_value(w, "detail", detail);
	json_write_close(w);
	json_write_close(w);
}

static void write_file(struct json_writer *w, const struct json_object *part)
{
	const struct json_object *name = json_member(part, "filename");

	json_write_object(w, NULL);
	json_write_string(w, "type", "file");
	json_write_object(w, "file");
	if (name)
		json_write_value(w, "filename", name);
	json_write_value(w, "file_data", json_member(part, "file_data"));
	json_write_close(w);
	json_write_close(w);
}

static void write_part(struct json_writer *w, const struct json_object *part)
{
	if (upstream_json_is_type(part, "input_image") && json_member(part, "image_url")) {
		write_image(w, part);
	} else if (upstream_json_is_type(part, "input_file") &&
		   json_member(part, "file_data")) {
		write_file(w, part);
	} else if (json_member(part, "text")) {
		json_write_object(w, NULL);
		json_write_string(w, "type", "text");
		json_write_value(w, "text", json_member(part, "text"));
		json_write_close(w);
	} else {
		upstream_write_note(w, "text", part);
	}
}

/* One text is written as a string, which every server takes. */
static void write_user_content(struct json_writer *w,
			       const struct json_object *content)
{
	size_t i, count = json_array_size(content);

	if (count == 0 ||
	    (count == 1 && json_member(json_array_at(content, 0), "text"))) {
		write_flat(w, "content", content);
		return;
	}
	json_write_array(w, "content");
	for (i = 0; i < count; i++)
		write_part(w, json_array_at(content, i));
	json_write_close(w);
}

static void write_message(struct json_writer *w, const struct json_object *item)
{
	const char *role = upstream_json_text(item, "role");
	const struct json_object *content = json_member(item, "content");

	json_write_object(w, NULL);
	/* "developer" is not known everywhere, "system" is. */
	json_write_string(w, "role",
			  strcmp(role, "developer") == 0 ? "system" : role);
	if (strcmp(role, "user") == 0)
		write_user_content(w, content);
	else
		write_flat(w, "content", content);
	json_write_close(w);
}

/* ---------------------------------------------------------------- calls */

static void write_call(struct json_writer *w, const struct json_object *item)
{
	json_write_object(w, NULL);
	json_write_string(w, "id", upstream_json_text(item, "call_id"));
	json_write_string(w, "type", "function");
	json_write_object(w, "function");
	json_write_string(w, "name", upstream_json_text(item, "name"));
	json_write_string(w, "arguments", upstream_json_text(item, "arguments"));
	json_write_close(w);
	json_write_close(w);
}

/* A call without a result would be refused, whoever lost the result. */
static void write_result(struct json_writer *w,
			 const struct upstream_context *c,
			 const struct upstream_entry *call)
{
	const struct upstream_entry *result =
		upstream_context_result(c, call->call_id);

	json_write_object(w, NULL);
	json_write_string(w, "role", "tool");
	json_write_string(w, "tool_call_id", call->call_id);
	if (result)
		write_flat(w, "content", json_member(result->item, "output"));
	else
		json_write_string(w, "content", "(The result is not known.)");
	json_write_close(w);
}

static bool is_assistant(const struct upstream_entry *e)
{
	return e->said == UPSTREAM_SAID_MESSAGE &&
	       strcmp(upstream_json_text(e->item, "role"), "assistant") == 0;
}

/* The entries of one message of the assistant: calls, and text before them. */
static size_t count_calls(const struct upstream_context *c, size_t at)
{
	size_t i;

	for (i = at; i < c->count; i++)
		if (c->entries[i].said != UPSTREAM_SAID_CALL &&
		    c->entries[i].said != UPSTREAM_SAID_REASONING)
			break;
	while (i > at && c->entries[i - 1].said == UPSTREAM_SAID_REASONING)
		i--;
	return i - at;
}

/* Writes @count entries from @at as a message with calls, and their results. */
static void write_calls(struct json_writer *w, const struct upstream_context *c,
			const struct upstream_entry *text, size_t at,
			size_t count)
{
	size_t i;

	json_write_object(w, NULL);
	json_write_string(w, "role", "assistant");
	if (text)
		write_flat(w, "content", json_member(text->item, "content"));
	else
		json_write_null(w, "content");
	json_write_array(w, "tool_calls");
	for (i = at; i < at + count; i++)
		if (c->entries[i].said == UPSTREAM_SAID_CALL)
			write_call(w, c->entries[i].item);
	json_write_close(w);
	json_write_close(w);
	for (i = at; i < at + count; i++)
		if (c->entries[i].said == UPSTREAM_SAID_CALL)
			write_result(w, c, &c->entries[i]);
}

/* Results are written with their calls, wherever they stand. */
static size_t write_entry(struct json_writer *w,
			  const struct upstream_context *c, size_t at)
{
	const struct upstream_entry *e = &c->entries[at];
	size_t calls;

	if (e->said == UPSTREAM_SAID_CALL) {
		calls = count_calls(c, at);
		write_calls(w, c, NULL, at, calls);
		return calls;
	}
	if (e->said != UPSTREAM_SAID_MESSAGE)
		return 1;
	calls = is_assistant(e) ? count_calls(c, at + 1) : 0;
	if (calls > 0)
		write_calls(w, c, e, at + 1, calls);
	else
		write_message(w, e->item);
	return 1 + calls;
}

static void write_messages(struct json_writer *w,
			   const struct upstream_context *c)
{
	const char *instructions = c->round->instructions;
	size_t i = 0;

	json_write_array(w, "messages");
	if (instructions && *instructions) {
		json_write_object(w, NULL);
		json_write_string(w, "role", "system");
		json_write_string(w, "content", instructions);
		json_write_close(w);
	}
	while (i < c->count)
		i += write_entry(w, c, i);
	json_write_close(w);
}

/* ---------------------------------------------------------------- tools */

static bool list_has(const struct json_object *list, const char *name)
{
	size_t i;

	for (i = 0; i < json_array_size(list); i++)
		if (strcmp(upstream_json_text(json_array_at(list, i), "name"),
			   name) == 0)
			return true;
	return false;
}

/* Few servers know allowed_tools: others are not even shown. */
static bool is_offered(const struct upstream_context *c,
		       const struct json_object *tool)
{
	return !upstream_json_is_type(c->choice, "allowed_tools") ||
	       list_has(json_member(c->choice, "tools"),
			upstream_json_text(tool, "name"));
}

static void write_tool(struct json_writer *w, const struct json_object *tool)
{
	static const char *const keys[] = { "name", "description",
					    "parameters", "strict" };
	const struct json_object *value;
	size_t i;

	json_write_object(w, NULL);
	json_write_string(w, "type", "function");
	json_write_object(w, "function");
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		value = json_member(tool, keys[i]);
		if (value)
			json_write_value(w, keys[i], value);
	}
	json_write_close(w);
	json_write_close(w);
}

static void write_choice(struct json_writer *w,
			 const struct json_object *choice)
{
	if (upstream_json_is_type(choice, "function")) {
		json_write_object(w, "tool_choice");
		json_write_string(w, "type", "function");
		json_write_object(w, "function");
		json_write_string(w, "name", upstream_json_text(choice, "name"));
		json_write_close(w);
		json_write_close(w);
	} else if (upstream_json_is_type(choice, "allowed_tools")) {
		json_write_value(w, "tool_choice", json_member(choice, "mode"));
	} else if (choice) {
		json_write_value(w, "tool_choice", choice);
	}
}

/* Several servers refuse a choice or parallel calls without tools. */
static void write_tools(struct json_writer *w, const struct upstream_context *c)
{
	size_t i, offered = 0;

	for (i = 0; i < json_array_size(c->tools); i++)
		offered += is_offered(c, json_array_at(c->tools, i));
	if (offered == 0)
		return;
	json_write_array(w, "tools");
	for (i = 0; i < json_array_size(c->tools); i++)
		if (is_offered(c, json_array_at(c->tools, i)))
			write_tool(w, json_array_at(c->tools, i));
	json_write_close(w);
	write_choice(w, c->choice);
	upstream_write_option(w, c, "parallel_tool_calls",
			      "parallel_tool_calls");
}

/* -------------------------------------------------------------- options */

static void write_format(struct json_writer *w,
			 const struct json_object *format)
{
	static const char *const keys[] = { "name", "description", "schema",
					    "strict" };
	const struct json_object *value;
	size_t i;

	if (upstream_json_is_type(format, "json_object")) {
		json_write_object(w, "response_format");
		json_write_string(w, "type", "json_object");
		json_write_close(w);
	}
	if (!upstream_json_is_type(format, "json_schema"))
		return;
	json_write_object(w, "response_format");
	json_write_string(w, "type", "json_schema");
	json_write_object(w, "json_schema");
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		value = json_member(format, keys[i]);
		if (value)
			json_write_value(w, keys[i], value);
	}
	json_write_close(w);
	json_write_close(w);
}

static void write_limit(struct json_writer *w, const struct upstream_context *c)
{
	if (json_member(c->options, "max_output_tokens"))
		upstream_write_option(w, c, "max_output_tokens",
				      c->target->limit_field);
	else if (c->target->max_output_tokens > 0)
		json_write_uint(w, c->target->limit_field,
				c->target->max_output_tokens);
}

static int has_member(const char *key, struct json_object *value,
		      void *userdata)
{
	(void)key;
	(void)value;
	*(bool *)userdata = true;
	return -1;
}

static void write_options(struct json_writer *w,
			  const struct upstream_context *c)
{
	const struct json_object *text = json_member(c->options, "text");
	const struct json_object *effort = json_member(
		json_member(c->options, "reasoning"), "effort");
	const struct json_object *verbosity = json_member(text, "verbosity");
	bool any = false;
	size_t i;

	for (i = 0; i < sizeof(same_options) / sizeof(same_options[0]); i++)
		upstream_write_option(w, c, same_options[i], same_options[i]);
	(void)json_each_member(json_member(c->options, "metadata"), has_member,
			       &any);
	if (any)
		upstream_write_option(w, c, "metadata", "metadata");
	if (effort)
		json_write_value(w, "reasoning_effort", effort);
	if (verbosity)
		json_write_value(w, "verbosity", verbosity);
	write_format(w, json_member(text, "format"));
	write_limit(w, c);
}

void upstream_chat_write(struct json_writer *w,
			 const struct upstream_context *c)
{
	json_write_object(w, "stream_options");
	json_write_bool(w, "include_usage", true);
	json_write_close(w);
	write_messages(w, c);
	write_tools(w, c);
	write_options(w, c);
}
