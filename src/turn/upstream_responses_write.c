/* SPDX-License-Identifier: Apache-2.0 */
/* A round in the terms of the Responses API, of a server that keeps nothing. */
#include <string.h>

#include "base/json.h"
#include "turn/upstream_json.h"
#include "turn/upstream_request.h"

static const char *const same_options[] = {
	"temperature",	"top_p",	 "reasoning",	      "text",
	"user",		"metadata",	 "service_tier",      "truncation",
	"safety_identifier", "prompt_cache_key",
};

/* A member of our item that the server may see as it is. */
static void copy(struct json_writer *w, const struct json_object *from,
		 const char *key)
{
	const struct json_object *value = json_member(from, key);

	if (value)
		json_write_value(w, key, value);
}

/* Files of ours are unknown there; text, images and data go on. */
static void write_part(struct json_writer *w, const struct json_object *part)
{
	static const char *const keys[] = { "type",	 "text",     "refusal",
					    "image_url", "detail",   "filename",
					    "file_data", "file_url" };
	size_t i;

	if (json_member(part, "file_id") && !json_member(part, "image_url") &&
	    !json_member(part, "file_data")) {
		upstream_write_note(w, "input_text", part);
		return;
	}
	json_write_object(w, NULL);
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		copy(w, part, keys[i]);
	/* Citations of our files are not the model's words. */
	if (upstream_json_is_type(part, "output_text")) {
		json_write_array(w, "annotations");
		json_write_close(w);
	}
	json_write_close(w);
}

static void write_content(struct json_writer *w, const char *key,
			  const struct json_object *content)
{
	size_t i;

	if (json_kind_of(content) != JSON_ARRAY) {
		json_write_value(w, key, content);
		return;
	}
	json_write_array(w, key);
	for (i = 0; i < json_array_size(content); i++)
		write_part(w, json_array_at(content, i));
	json_write_close(w);
}

static void write_message(struct json_writer *w, const struct json_object *item)
{
	json_write_object(w, NULL);
	json_write_string(w, "type", "message");
	copy(w, item, "role");
	write_content(w, "content", json_member(item, "content"));
	json_write_close(w);
}

static void write_call(struct json_writer *w, const struct upstream_context *c,
		       const struct upstream_entry *e)
{
	json_write_object(w, NULL);
	json_write_string(w, "type", "function_call");
	json_write_string(w, "call_id", e->call_id);
	json_write_string(w, "name", upstream_json_text(e->item, "name"));
	json_write_string(w, "arguments",
			  upstream_json_text(e->item, "arguments"));
	json_write_close(w);
	if (upstream_context_result(c, e->call_id))
		return;
	json_write_object(w, NULL);
	json_write_string(w, "type", "function_call_output");
	json_write_string(w, "call_id", e->call_id);
	json_write_string(w, "output", "(The result is not known.)");
	json_write_close(w);
}

static void write_result(struct json_writer *w, const struct upstream_entry *e)
{
	json_write_object(w, NULL);
	json_write_string(w, "type", "function_call_output");
	json_write_string(w, "call_id", e->call_id);
	write_content(w, "output", json_member(e->item, "output"));
	json_write_close(w);
}

/* Only what its server encrypted means anything to it, and needs no id. */
static void write_reasoning(struct json_writer *w,
			    const struct json_object *item)
{
	const struct json_object *summary = json_member(item, "summary");

	if (!json_member(item, "encrypted_content"))
		return;
	json_write_object(w, NULL);
	json_write_string(w, "type", "reasoning");
	if (summary) {
		json_write_value(w, "summary", summary);
	} else {
		json_write_array(w, "summary");
		json_write_close(w);
	}
	copy(w, item, "encrypted_content");
	json_write_close(w);
}

static void write_entry(struct json_writer *w, const struct upstream_context *c,
			const struct upstream_entry *e)
{
	if (e->said == UPSTREAM_SAID_MESSAGE)
		write_message(w, e->item);
	else if (e->said == UPSTREAM_SAID_CALL)
		write_call(w, c, e);
	else if (e->said == UPSTREAM_SAID_RESULT)
		write_result(w, e);
	else if (e->said == UPSTREAM_SAID_REASONING)
		write_reasoning(w, e->item);
}

static void write_tools(struct json_writer *w, const struct upstream_context *c)
{
	if (json_array_size(c->tools) == 0)
		return;
	json_write_value(w, "tools", c->tools);
	if (c->choice)
		json_write_value(w, "tool_choice", c->choice);
	upstream_write_option(w, c, "parallel_tool_calls",
			      "parallel_tool_calls");
}

void upstream_responses_write(struct json_writer *w,
			      const struct upstream_context *c)
{
	const char *instructions = c->round->instructions;
	size_t i;

	json_write_bool(w, "store", false);
	if (c->round->encrypted) {
		json_write_array(w, "include");
		json_write_string(w, NULL, "reasoning.encrypted_content");
		json_write_close(w);
	}
	if (instructions && *instructions)
		json_write_string(w, "instructions", instructions);
	json_write_array(w, "input");
	for (i = 0; i < c->count; i++)
		write_entry(w, c, &c->entries[i]);
	json_write_close(w);
	write_tools(w, c);
	for (i = 0; i < sizeof(same_options) / sizeof(same_options[0]); i++)
		upstream_write_option(w, c, same_options[i], same_options[i]);
	if (json_member(c->options, "max_output_tokens"))
		upstream_write_option(w, c, "max_output_tokens",
				      "max_output_tokens");
	else if (c->target->max_output_tokens > 0)
		json_write_uint(w, "max_output_tokens",
				c->target->max_output_tokens);
}
