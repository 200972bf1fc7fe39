/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "turn/agent.h"
#include "turn/agent_inputs.h"
#include "turn/tool_set.h"

/*
 * Which definitions are kept.
 *
 * What would make each response fail is refused here, where its author sees it.
 * What depends on the moment (whether the model is configured, whether a file
 * is there) is not looked at. Members that are unknown are kept and given back.
 */

enum {
	MODEL_MAX = 256,
};

struct definition_fields {
	struct json_string kind;
	struct json_string model;
	struct json_string instructions;
	double temperature;
	double top_p;
	struct json_object *reasoning;
	struct json_object *text;
	struct json_object *tools;
	struct json_object *inputs;
};

static const char *const kinds[] = { "prompt", NULL };

static const struct json_field definition_table[] = {
	JSON_STRING_FIELD("kind", struct definition_fields, kind,
			  .required = true, .choices = kinds),
	JSON_STRING_FIELD("model", struct definition_fields, model,
			  .required = true, .min = 1, .max = MODEL_MAX),
	JSON_STRING_FIELD("instructions", struct definition_fields,
			  instructions),
	JSON_NUMBER_FIELD("temperature", struct definition_fields, temperature,
			  .min = 0, .max = 2),
	JSON_NUMBER_FIELD("top_p", struct definition_fields, top_p, .min = 0,
			  .max = 1),
	JSON_OBJECT_FIELD("reasoning", struct definition_fields, reasoning),
	JSON_OBJECT_FIELD("text", struct definition_fields, text),
	JSON_ARRAY_FIELD("tools", struct definition_fields, tools),
	JSON_OBJECT_FIELD("structured_inputs", struct definition_fields,
			  inputs),
};

/* By the reader that the tools of each request go through. */
static int check_tools(const struct json_object *definition, const char *path,
		       struct error *err)
{
	struct tool_set set;
	int r;

	r = tool_set_read(json_member(definition, "tools"),
			  json_member(definition, "tool_choice"), &set, err);
	tool_set_done(&set);
	if (r < 0)
		error_put_param_below(err, path);
	return r;
}

int agent_check(const struct json_object *definition, const char *path,
		struct error *err)
{
	struct definition_fields fields = { .tools = NULL };
	char where[ERROR_PARAM_MAX];
	int r;

	r = json_read_fields(definition, path, definition_table,
			     sizeof(definition_table) /
				     sizeof(definition_table[0]),
			     JSON_UNKNOWN_IGNORED, &fields, err);
	if (r >= 0)
		r = check_tools(definition, path, err);
	(void)snprintf(where, sizeof(where), "%s.structured_inputs", path);
	return r < 0 ? r : agent_inputs_check(fields.inputs, where, err);
}
