/* SPDX-License-Identifier: Apache-2.0 */
/* What a server of the Responses API says. */
#include <string.h>

#include "base/json.h"
#include "turn/upstream_json.h"
#include "turn/upstream_reader.h"

static int64_t key_of(const struct json_object *event)
{
	return (int64_t)upstream_json_uint(event, "output_index");
}

static int got_text(struct upstream_reader *r, const struct json_object *event,
		    struct error *err)
{
	struct json_string s = json_string_of(json_member(event, "delta"));

	(void)err;
	upstream_answer_text(r->answer, s.data, s.length);
	return 0;
}

static int got_refusal(struct upstream_reader *r,
		       const struct json_object *event, struct error *err)
{
	struct json_string s = json_string_of(json_member(event, "delta"));

	(void)err;
	upstream_answer_refusal(r->answer, s.data, s.length);
	return 0;
}

static int got_reasoning(struct upstream_reader *r,
			 const struct json_object *event, struct error *err)
{
	struct json_string s = json_string_of(json_member(event, "delta"));

	(void)err;
	upstream_answer_reasoning(r->answer, s.data, s.length);
	return 0;
}

/* Parts of a summary are paragraphs. */
static int got_summary_part(struct upstream_reader *r,
			    const struct json_object *event, struct error *err)
{
	(void)err;
	if (upstream_json_uint(event, "summary_index") > 0)
		upstream_answer_reasoning(r->answer, "\n\n", 2);
	return 0;
}

static void pass_encrypted(struct upstream_reader *r,
			   const struct json_object *item)
{
	struct json_string s =
		json_string_of(json_member(item, "encrypted_content"));

	upstream_answer_encrypted(r->answer, s.data, s.length);
}

static int pass_call(struct upstream_reader *r, int64_t key,
		     const struct json_object *item, struct json_string arguments,
		     struct error *err)
{
	const struct upstream_piece piece = {
		.has_key = true,
		.key = key,
		.id = item ? upstream_json_text(item, "call_id") : NULL,
		.name = item ? upstream_json_text(item, "name") : NULL,
		.arguments = arguments.data,
		.size = arguments.length,
	};

	return upstream_answer_call(r->answer, &piece, err);
}

static int got_item(struct upstream_reader *r, const struct json_object *event,
		    struct error *err)
{
	const struct json_object *item = json_member(event, "item");

	if (!upstream_json_is_type(item, "function_call"))
		return 0;
	return pass_call(r, key_of(event), item, (struct json_string){ 0 },
			 err);
}

static int got_arguments(struct upstream_reader *r,
			 const struct json_object *event, struct error *err)
{
	return pass_call(r, key_of(event), NULL,
			 json_string_of(json_member(event, "delta")), err);
}

/* Whole arguments: told as far as they have not come piece by piece. */
static int pass_rest(struct upstream_reader *r, int64_t key,
		     const struct json_object *item,
		     const struct json_object *arguments, struct error *err)
{
	struct json_string s = json_string_of(arguments);
	size_t had = upstream_answer_call_size(r->answer, key);

	if (!s.data)
		return 0;
	/* If the pieces were others, what follows is whole characters still. */
	while (had < s.length && ((unsigned char)s.data[had] & 0xc0) == 0x80)
		had++;
	if (had > s.length)
		return 0;
	s.data += had;
	s.length -= had;
	return pass_call(r, key, item, s, err);
}

static int got_arguments_done(struct upstream_reader *r,
			      const struct json_object *event,
			      struct error *err)
{
	return pass_rest(r, key_of(event), NULL,
			 json_member(event, "arguments"), err);
}

static int got_item_done(struct upstream_reader *r,
			 const struct json_object *event, struct error *err)
{
	const struct json_object *item = json_member(event, "item");
	int n;

	if (upstream_json_is_type(item, "reasoning"))
		pass_encrypted(r, item);
	if (!upstream_json_is_type(item, "function_call"))
		return 0;
	n = pass_rest(r, key_of(event), item, json_member(item, "arguments"),
		      err);
	return n < 0 ? n : upstream_answer_call_end(r->answer, key_of(event),
						    err);
}

static void take_usage(struct upstream_usage *u,
		       const struct json_object *usage)
{
	u->input_tokens = upstream_json_uint(usage, "input_tokens");
	u->output_tokens = upstream_json_uint(usage, "output_tokens");
	u->cached_tokens = upstream_json_uint(
		json_member(usage, "input_tokens_details"), "cached_tokens");
	u->reasoning_tokens = upstream_json_uint(
		json_member(usage, "output_tokens_details"),
		"reasoning_tokens");
}

static enum upstream_finish finish_of(const struct json_object *response)
{
	const struct json_object *details =
		json_member(response, "incomplete_details");

	if (strcmp(upstream_json_text(response, "status"), "incomplete") != 0)
		return UPSTREAM_STOP;
	return strcmp(upstream_json_text(details, "reason"), "content_filter") == 0
		       ? UPSTREAM_FILTER
		       : UPSTREAM_LENGTH;
}

static int take_end(struct upstream_reader *r,
		    const struct json_object *response)
{
	const char *status = upstream_json_text(response, "status");

	take_usage(&r->answer->usage, json_member(response, "usage"));
	if (strcmp(status, "failed") == 0 || strcmp(status, "cancelled") == 0)
		return upstream_reader_fail(r, json_member(response, "error"));
	upstream_answer_finish(r->answer, finish_of(response));
	r->complete = true;
	return 0;
}

static int got_end(struct upstream_reader *r, const struct json_object *event,
		   struct error *err)
{
	(void)err;
	return take_end(r, json_member(event, "response"));
}

static int got_error(struct upstream_reader *r, const struct json_object *event,
		     struct error *err)
{
	(void)err;
	return upstream_reader_fail(r, event);
}

/* All else tells again what these have told, or is of no use to us. */
static const struct {
	const char *type;
	int (*got)(struct upstream_reader *r, const struct json_object *event,
		   struct error *err);
} events[] = {
	{ "response.output_text.delta", got_text },
	{ "response.refusal.delta", got_refusal },
	{ "response.reasoning_summary_part.added", got_summary_part },
	{ "response.reasoning_summary_text.delta", got_reasoning },
	{ "response.reasoning_text.delta", got_reasoning },
	{ "response.output_item.added", got_item },
	{ "response.function_call_arguments.delta", got_arguments },
	{ "response.function_call_arguments.done", got_arguments_done },
	{ "response.output_item.done", got_item_done },
	{ "response.completed", got_end },
	{ "response.incomplete", got_end },
	{ "response.failed", got_end },
	{ "error", got_error },
};

int upstream_responses_read(struct upstream_reader *r,
			    const struct json_object *event, struct error *err)
{
	const char *type = upstream_json_text(event, "type");
	size_t i;

	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (strcmp(events[i].type, type) == 0)
			return events[i].got(r, event, err);
	return 0;
}

static void pass_parts(struct upstream_reader *r,
		       const struct json_object *content)
{
	size_t i;

	for (i = 0; i < json_array_size(content); i++) {
		const struct json_object *part = json_array_at(content, i);
		struct json_string text =
			json_string_of(json_member(part, "text"));
		struct json_string refusal =
			json_string_of(json_member(part, "refusal"));

		upstream_answer_text(r->answer, text.data, text.length);
		upstream_answer_refusal(r->answer, refusal.data,
					refusal.length);
	}
}

static void pass_thought(struct upstream_reader *r,
			 const struct json_object *item)
{
	const struct json_object *summary = json_member(item, "summary");
	size_t i;

	for (i = 0; i < json_array_size(summary); i++) {
		struct json_string s = json_string_of(
			json_member(json_array_at(summary, i), "text"));

		if (i > 0)
			upstream_answer_reasoning(r->answer, "\n\n", 2);
		upstream_answer_reasoning(r->answer, s.data, s.length);
	}
	pass_encrypted(r, item);
}

int upstream_responses_read_whole(struct upstream_reader *r,
				  const struct json_object *response,
				  struct error *err)
{
	const struct json_object *output = json_member(response, "output");
	size_t i;
	int n = 0;

	for (i = 0; i < json_array_size(output) && n == 0; i++) {
		const struct json_object *item = json_array_at(output, i);

		if (upstream_json_is_type(item, "function_call"))
			n = pass_rest(r, (int64_t)i, item,
				      json_member(item, "arguments"), err);
		else if (upstream_json_is_type(item, "message"))
			pass_parts(r, json_member(item, "content"));
		else if (upstream_json_is_type(item, "reasoning"))
			pass_thought(r, item);
	}
	return n < 0 ? n : take_end(r, response);
}
