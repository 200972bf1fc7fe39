/* SPDX-License-Identifier: Apache-2.0 */
#include "turn/agent_inputs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "turn/agent_schema.h"

#define GIVEN_PATH "structured_inputs"

struct asked_fields {
	struct json_string description;
	struct json_object *schema;
	bool required;
};

static const struct json_field asked_table[] = {
	JSON_STRING_FIELD("description", struct asked_fields, description),
	JSON_OBJECT_FIELD("schema", struct asked_fields, schema),
	JSON_BOOL_FIELD("required", struct asked_fields, required),
};

static int read_asked(const struct json_object *asked, const char *path,
		      struct asked_fields *ret, struct error *err)
{
	*ret = (struct asked_fields){ .required = false };
	return json_read_fields(asked, path, asked_table,
				sizeof(asked_table) / sizeof(asked_table[0]),
				JSON_UNKNOWN_IGNORED, ret, err);
}

bool agent_input_is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || c == '-';
}

const struct agent_input *agent_inputs_find(const struct agent_inputs *inputs,
					    const char *name, size_t size)
{
	size_t i;

	for (i = 0; i < inputs->count; i++)
		if (strncmp(inputs->list[i].name, name, size) == 0 &&
		    inputs->list[i].name[size] == '\0')
			return &inputs->list[i];
	return NULL;
}

/* ------------------------------------------------------------- the definition */

struct check {
	const char *path;
	size_t count;
	struct error *err;
};

static bool is_name(const char *name)
{
	const char *s;

	for (s = name; agent_input_is_name_char(*s);)
		s++;
	return *s == '\0' && s > name && s - name <= AGENT_INPUT_NAME_MAX;
}

static int on_asked(const char *name, struct json_object *value, void *userdata)
{
	struct check *check = userdata;
	const struct json_object *usual = json_member(value, "default_value");
	char path[ERROR_PARAM_MAX], below[ERROR_PARAM_MAX + 16];
	struct asked_fields fields;
	int r;

	(void)snprintf(path, sizeof(path), "%s.%s", check->path, name);
	if (++check->count > AGENT_INPUTS_MAX)
		return agent_refuse(check->err, check->path, "invalid_value",
				    "there are more than 64 inputs");
	if (!is_name(name))
		return agent_refuse(
			check->err, path, "invalid_value",
			"a name has 1 to 56 letters, digits, '_' and '-'");
	if (json_kind_of(value) != JSON_OBJECT)
		return agent_refuse(check->err, path, "invalid_value",
				    "it must be an object");
	r = read_asked(value, path, &fields, check->err);
	(void)snprintf(below, sizeof(below), "%s.schema", path);
	if (r >= 0)
		r = agent_schema_check(fields.schema, below, check->err);
	(void)snprintf(below, sizeof(below), "%s.default_value", path);
	if (r >= 0 && usual)
		r = agent_schema_apply(fields.schema, usual, below,
				       check->err);
	return r;
}

int agent_inputs_check(const struct json_object *asked, const char *path,
		       struct error *err)
{
	struct check check = { path, 0, err };

	return json_each_member(asked, on_asked, &check);
}

/* ---------------------------------------------------------------- the request */

struct reading {
	const struct json_object *given;
	struct agent_inputs *inputs;
	struct error *err;
};

/* A null is no value, as everywhere. */
static int on_wanted(const char *name, struct json_object *asked,
		     void *userdata)
{
	struct reading *reading = userdata;
	const struct json_object *value = json_member(reading->given, name);
	char path[ERROR_PARAM_MAX];
	struct asked_fields fields;
	int r;

	(void)snprintf(path, sizeof(path), GIVEN_PATH ".%s", name);
	r = read_asked(asked, path, &fields, reading->err);
	if (r >= 0 && value)
		r = agent_schema_apply(fields.schema, value, path,
				       reading->err);
	if (r < 0)
		return r;
	if (!value)
		value = json_member(asked, "default_value");
	if (!value && fields.required) {
		error_set_param(reading->err, "%s", path);
		error_set_reason(reading->err, "missing_required_parameter");
		return error_set(reading->err, ERR_BAD_REQUEST,
				 "The agent needs a value for '%s'", path);
	}
	if (reading->inputs->count == AGENT_INPUTS_MAX)
		return -E2BIG; /* not reached: the definition was checked */
	reading->inputs->list[reading->inputs->count++] =
		(struct agent_input){ name, value };
	return 0;
}

static int on_given(const char *name, struct json_object *value,
		    void *userdata)
{
	struct reading *reading = userdata;

	(void)value;
	if (agent_inputs_find(reading->inputs, name, strlen(name)))
		return 0;
	error_set_param(reading->err, GIVEN_PATH ".%s", name);
	error_set_reason(reading->err, "unknown_parameter");
	return error_set(reading->err, ERR_BAD_REQUEST,
			 "The agent has no structured input '%.64s'", name);
}

int agent_inputs_read(const struct json_object *asked,
		      const struct json_object *given, struct agent_inputs *ret,
		      struct error *err)
{
	struct reading reading = { given, ret, err };
	int r;

	*ret = (struct agent_inputs){ .count = 0 };
	r = json_each_member(asked, on_wanted, &reading);
	return r < 0 ? r : json_each_member(given, on_given, &reading);
}
