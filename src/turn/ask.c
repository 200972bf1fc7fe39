/* SPDX-License-Identifier: Apache-2.0 */
#include "turn/ask.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "turn/metadata.h"

enum {
	OUTPUT_TOKENS_MIN = 16,
	INCLUDES_MAX = 32,
};

struct fields {
	struct json_string model;
	struct json_string instructions;
	struct json_object *tools;
	bool parallel;
	int64_t max_calls;
	struct json_object *include;
	struct json_string previous;
	bool store;
	bool stream;
	struct json_object *stream_options;
	bool background;
	int64_t max_tokens;
	double temperature;
	double top_p;
	int64_t top_logprobs;
	struct json_string truncation;
	struct json_object *text;
	struct json_object *reasoning;
	struct json_object *metadata;
	struct json_string word; /* of those that are only echoed */
};

static const char *const truncations[] = { "auto", "disabled", NULL };

static const struct json_field table[] = {
	JSON_STRING_FIELD("model", struct fields, model, .required = true,
			  .min = 1, .max = ASK_MODEL_MAX),
	JSON_STRING_FIELD("instructions", struct fields, instructions),
	JSON_ARRAY_FIELD("tools", struct fields, tools, .max = TOOLS_MAX),
	JSON_BOOL_FIELD("parallel_tool_calls", struct fields, parallel),
	JSON_INT_FIELD("max_tool_calls", struct fields, max_calls, .min = 0,
		       .max = INT32_MAX),
	JSON_ARRAY_FIELD("include", struct fields, include,
			 .max = INCLUDES_MAX),
	JSON_STRING_FIELD("previous_response_id", struct fields, previous,
			  .min = 1),
	JSON_BOOL_FIELD("store", struct fields, store),
	JSON_BOOL_FIELD("stream", struct fields, stream),
	JSON_OBJECT_FIELD("stream_options", struct fields, stream_options),
	JSON_BOOL_FIELD("background", struct fields, background),
	JSON_INT_FIELD("max_output_tokens", struct fields, max_tokens,
		       .min = OUTPUT_TOKENS_MIN, .max = INT32_MAX),
	JSON_NUMBER_FIELD("temperature", struct fields, temperature, .min = 0,
			  .max = 2),
	JSON_NUMBER_FIELD("top_p", struct fields, top_p, .min = 0, .max = 1),
	JSON_INT_FIELD("top_logprobs", struct fields, top_logprobs, .min = 0,
		       .max = 20),
	JSON_STRING_FIELD("truncation", struct fields, truncation,
			  .choices = truncations),
	JSON_OBJECT_FIELD("text", struct fields, text),
	JSON_OBJECT_FIELD("reasoning", struct fields, reasoning),
	JSON_OBJECT_FIELD("metadata", struct fields, metadata),
	JSON_STRING_FIELD("service_tier", struct fields, word),
	JSON_STRING_FIELD("safety_identifier", struct fields, word),
	JSON_STRING_FIELD("prompt_cache_key", struct fields, word),
	JSON_STRING_FIELD("prompt_cache_retention", struct fields, word),
	JSON_STRING_FIELD("user", struct fields, word),
	JSON_STRING_FIELD("agent_session_id", struct fields, word),
};

/* ------------------------------------------------------------- its members */

struct format_fields {
	struct json_string type;
	struct json_string name;
	struct json_object *schema;
	bool strict;
	struct json_object *format;
	struct json_string verbosity;
};

static int check_text(const struct json_object *text, struct error *err)
{
	static const char *const verbosities[] = { "low", "medium", "high",
						   NULL };
	static const char *const types[] = { "text", "json_object",
					     "json_schema", NULL };
	static const struct json_field text_table[] = {
		JSON_OBJECT_FIELD("format", struct format_fields, format),
		JSON_STRING_FIELD("verbosity", struct format_fields, verbosity,
				  .choices = verbosities),
	};
	static const struct json_field type_table[] = {
		JSON_STRING_FIELD("type", struct format_fields, type,
				  .required = true, .choices = types),
	};
	static const struct json_field schema_table[] = {
		JSON_STRING_FIELD("name", struct format_fields, name,
				  .required = true, .min = 1, .max = 64),
		JSON_OBJECT_FIELD("schema", struct format_fields, schema,
				  .required = true),
		JSON_BOOL_FIELD("strict", struct format_fields, strict),
	};
	struct format_fields fields = { .format = NULL };
	int r;

	r = JSON_READ(text, "text", text_table, &fields, err);
	if (r >= 0 && fields.format)
		r = JSON_READ(fields.format, "text.format", type_table, &fields,
			      err);
	if (r >= 0 && fields.type.data &&
	    strcmp(fields.type.data, "json_schema") == 0)
		r = JSON_READ(fields.format, "text.format", schema_table,
			      &fields, err);
	return r;
}

static int check_objects(const struct fields *fields, struct ask *ret,
			 struct error *err)
{
	static const char *const efforts[] = { "none", "minimal", "low",
					       "medium", "high", "xhigh",
					       NULL };
	static const char *const summaries[] = { "auto", "concise", "detailed",
						 NULL };
	static const struct json_field stream_table[] = {
		JSON_BOOL_FIELD("include_obfuscation", struct fields, stream),
	};
	static const struct json_field reasoning_table[] = {
		JSON_STRING_FIELD("effort", struct fields, model,
				  .choices = efforts),
		JSON_STRING_FIELD("summary", struct fields, word,
				  .choices = summaries),
	};
	struct fields unused = { .word = { .data = NULL } };
	int r;

	r = JSON_READ(fields->stream_options, "stream_options", stream_table,
		      &unused, err);
	if (r >= 0)
		r = JSON_READ(fields->reasoning, "reasoning", reasoning_table,
			      &unused, err);
	ret->summary = unused.word.data != NULL;
	if (r >= 0)
		r = check_text(fields->text, err);
	return r < 0 ? r : metadata_check(fields->metadata, err);
}

/* ---------------------------------------------------------- what was before */

struct conversation_fields {
	struct json_string id;
};

static int read_conversation(const struct json_object *value, struct ask *ret,
			     struct error *err)
{
	static const struct json_field id_table[] = {
		JSON_STRING_FIELD("id", struct conversation_fields, id,
				  .required = true, .min = 1),
	};
	struct conversation_fields fields = { { NULL, 0 } };
	int r;

	switch (json_kind_of(value)) {
	case JSON_NULL:
		return 0;
	case JSON_STRING:
		fields.id = json_string_of(value);
		break;
	case JSON_OBJECT:
		r = JSON_READ(value, "conversation", id_table, &fields, err);
		if (r < 0)
			return r;
		break;
	default:
		return error_refuse(
			err, "conversation", "invalid_type",
			"'conversation' must be an id, or an object with "
			"one");
	}
	if (!fields.id.length || strlen(fields.id.data) != fields.id.length)
		return error_refuse(err, "conversation", "invalid_value",
				    "'conversation' must be the id of one");
	/* A longer one is as unknown as any. */
	(void)snprintf(ret->conversation, sizeof(ret->conversation), "%s",
		       fields.id.data);
	return 0;
}

static int read_history(const struct json_object *body,
			const struct fields *fields, struct ask *ret,
			struct error *err)
{
	int r;

	if (fields->previous.data)
		(void)snprintf(ret->previous, sizeof(ret->previous), "%s",
			       fields->previous.data);
	r = read_conversation(json_member(body, "conversation"), ret, err);
	if (r < 0)
		return r;
	if (ret->conversation[0] && ret->previous[0])
		return error_refuse(
			err, "previous_response_id",
			"mutually_exclusive_parameters",
			"Mutually exclusive parameters: "
			"'previous_response_id' and 'conversation'. "
			"Ensure you are only providing one of them.");
	return 0;
}

static int read_input(struct core *core, const struct principal *who,
		      const struct json_object *body, struct ask *ret,
		      struct error *err)
{
	const struct json_object *input = json_member(body, "input");
	bool empty = !input || (json_kind_of(input) == JSON_ARRAY &&
				json_array_size(input) == 0);

	if (!empty)
		return items_read(core, who, input, "input", CORE_ITEMS_ADD_MAX,
				  &ret->input, err);
	if (ret->conversation[0] || ret->previous[0])
		return 0;
	return error_refuse(err, "input", "missing_required_parameter",
			    "Missing required parameter: 'input'.");
}

/* ------------------------------------------------------------------- the whole */

static int take_fields(const struct fields *fields, struct ask *ret,
		       struct error *err)
{
	strcpy(ret->model, fields->model.data);
	ret->store = fields->store;
	ret->stream = fields->stream;
	ret->background = fields->background;
	ret->max_calls = fields->max_calls;
	ret->max_tokens = fields->max_tokens;
	ret->truncate = fields->truncation.data &&
			strcmp(fields->truncation.data, "auto") == 0;
	if (fields->background && !fields->store)
		return error_refuse(
			err, "background", "invalid_value",
			"'background' needs 'store': the response is "
			"fetched later");
	if (!fields->instructions.data)
		return 0;
	ret->instructions = strdup(fields->instructions.data);
	return ret->instructions ? 0
				 : error_set_errno(err, -ENOMEM,
						   "Cannot take a request");
}

int ask_read(struct core *core, const struct principal *who,
	     const struct json_object *body, const struct agent_applied *agent,
	     struct ask *ret, struct error *err)
{
	struct fields fields = {
		.store = true,
		.max_calls = ASK_CALLS_UNLIMITED,
	};
	int r;

	*ret = (struct ask){ .store = true };
	r = JSON_READ(body, NULL, table, &fields, err);
	if (r >= 0)
		r = check_objects(&fields, ret, err);
	if (r >= 0)
		r = take_fields(&fields, ret, err);
	if (r >= 0 && fields.include)
		r = item_include_read(fields.include, "include", &ret->include,
				      err);
	if (r >= 0)
		r = read_history(body, &fields, ret, err);
	if (r >= 0)
		r = tool_set_read(fields.tools,
				  json_member(body, "tool_choice"),
				  &ret->tools, err);
	if (r >= 0)
		r = read_input(core, who, body, ret, err);
	if (r >= 0)
		r = ask_write_echo(body, agent, ret, err);
	return r < 0 ? r : ask_write_options(body, ret, err);
}

void ask_done(struct ask *ask)
{
	free(ask->instructions);
	free(ask->echo);
	free(ask->options);
	tool_set_done(&ask->tools);
	items_done(&ask->input);
	*ask = (struct ask){ .store = true };
}
