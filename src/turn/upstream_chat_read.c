/* SPDX-License-Identifier: Apache-2.0 */
/* What a server of Chat Completions says, with what servers make of it. */
#include <string.h>

#include "base/json.h"
#include "turn/upstream_json.h"
#include "turn/upstream_reader.h"

typedef void (*piece_fn)(struct upstream_answer *a, const char *data,
			 size_t size);

static void pass_string(struct upstream_reader *r, piece_fn fn,
			const struct json_object *value)
{
	struct json_string s = json_string_of(value);

	if (s.data)
		fn(r->answer, s.data, s.length);
}

/* A string; or parts, as some servers have them in streams, too. */
static void pass_content(struct upstream_reader *r,
			 const struct json_object *content)
{
	size_t i;

	pass_string(r, upstream_answer_text, content);
	for (i = 0; i < json_array_size(content); i++)
		pass_string(r, upstream_answer_text,
			    json_member(json_array_at(content, i), "text"));
}

static bool read_index(const struct json_object *call, int64_t *ret)
{
	const struct json_object *index = json_member(call, "index");

	if (json_kind_of(index) != JSON_INT)
		return false;
	*ret = (int64_t)upstream_json_uint(call, "index");
	return true;
}

static int pass_call(struct upstream_reader *r, const struct json_object *call,
		     struct error *err)
{
	const struct json_object *function = json_member(call, "function");
	struct json_string arguments =
		json_string_of(json_member(function, "arguments"));
	struct upstream_piece piece = {
		.id = json_string_of(json_member(call, "id")).data,
		.name = json_string_of(json_member(function, "name")).data,
		.arguments = arguments.data,
		.size = arguments.length,
	};

	piece.has_key = read_index(call, &piece.key);
	return upstream_answer_call(r->answer, &piece, err);
}

/* Of a chunk the "delta", of a whole completion the "message". */
static int pass_delta(struct upstream_reader *r,
		      const struct json_object *delta, struct error *err)
{
	const struct json_object *calls = json_member(delta, "tool_calls");
	const struct json_object *thought =
		json_member(delta, "reasoning_content");
	size_t i;
	int n = 0;

	pass_string(r, upstream_answer_reasoning,
		    thought ? thought : json_member(delta, "reasoning"));
	pass_content(r, json_member(delta, "content"));
	pass_string(r, upstream_answer_refusal, json_member(delta, "refusal"));
	for (i = 0; i < json_array_size(calls) && n == 0; i++)
		n = pass_call(r, json_array_at(calls, i), err);
	return n;
}

/* Words that only some servers have all mean that the model has ended. */
static void take_reason(struct upstream_reader *r,
			const struct json_object *reason)
{
	const char *word = json_string_of(reason).data;

	if (!word || !*word)
		return;
	if (strcmp(word, "length") == 0)
		upstream_answer_finish(r->answer, UPSTREAM_LENGTH);
	else if (strcmp(word, "content_filter") == 0)
		upstream_answer_finish(r->answer, UPSTREAM_FILTER);
	else
		upstream_answer_finish(r->answer, UPSTREAM_STOP);
}

static void take_usage(struct upstream_usage *u,
		       const struct json_object *usage)
{
	if (json_kind_of(usage) != JSON_OBJECT)
		return;
	u->input_tokens = upstream_json_uint(usage, "prompt_tokens");
	u->output_tokens = upstream_json_uint(usage, "completion_tokens");
	u->cached_tokens = upstream_json_uint(
		json_member(usage, "prompt_tokens_details"), "cached_tokens");
	u->reasoning_tokens = upstream_json_uint(
		json_member(usage, "completion_tokens_details"),
		"reasoning_tokens");
}

int upstream_chat_read(struct upstream_reader *r,
		       const struct json_object *chunk, struct error *err)
{
	const struct json_object *choices = json_member(chunk, "choices");
	const struct json_object *choice, *delta;
	int n;

	take_usage(&r->answer->usage, json_member(chunk, "usage"));
	if (json_array_size(choices) == 0)
		return 0;
	choice = json_array_at(choices, 0);
	delta = json_member(choice, "delta");
	n = pass_delta(r, delta ? delta : json_member(choice, "message"), err);
	if (n == 0)
		take_reason(r, json_member(choice, "finish_reason"));
	return n;
}
