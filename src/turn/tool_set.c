/* SPDX-License-Identifier: Apache-2.0 */
#include "turn/tool_set.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/json_write.h"

enum { FUNCTION_JSON_MAX = 1 << 20 };

/* What models trained on the hosted service know it as, and what else it may
 * be called where the client has a function of that name. */
static const char *const python_names[] = {
	"python", "code_interpreter", "cupola_python",
};

struct tool_fields {
	struct json_string type;
};

struct function_fields {
	struct json_string name;
	struct json_string description;
	struct json_object *parameters;
	bool strict;
};

static const struct json_field type_table[] = {
	JSON_STRING_FIELD("type", struct tool_fields, type, .required = true),
};

static const struct json_field function_table[] = {
	JSON_STRING_FIELD("name", struct function_fields, name,
			  .required = true, .min = 1, .max = TOOL_NAME_MAX),
	JSON_STRING_FIELD("description", struct function_fields, description),
	JSON_OBJECT_FIELD("parameters", struct function_fields, parameters),
	JSON_BOOL_FIELD("strict", struct function_fields, strict),
};

/* ------------------------------------------------------------ the interpreter */

static int keep_files(const struct container_options *options,
		      struct tool_set *set, const char *path,
		      struct error *err)
{
	char param[2 * ERROR_PARAM_MAX];

	if (options->file_count == 0)
		return 0;
	set->file_ids = calloc(options->file_count, sizeof(*set->file_ids));
	if (!set->file_ids)
		return error_set_errno(err, -ENOMEM, "Cannot take the tools");
	for (size_t i = 0; i < options->file_count; i++) {
		const char *id = options->file_ids[i];

		/* What is no id of a file cannot be one's. */
		if (strlen(id) > ID_MAX) {
			(void)snprintf(param, sizeof(param), "%s.file_ids[%zu]",
				       path, i);
			return error_refuse(
				err, param, "string_above_max_length",
				"A file's id has at most 64 characters");
		}
		strcpy(set->file_ids[i], id);
	}
	set->file_count = options->file_count;
	return 0;
}

static int read_auto(const struct json_object *container, const char *path,
		     struct tool_set *set, struct error *err)
{
	static const char *const types[] = { "auto", NULL };
	static const struct json_field table[] = {
		JSON_STRING_FIELD("type", struct tool_fields, type,
				  .required = true, .choices = types),
	};
	struct tool_fields fields = { { NULL, 0 } };
	struct container_options options;
	int r;

	r = JSON_READ(container, path, table, &fields, err);
	if (r >= 0)
		r = container_options_read(container, path, &options, err);
	if (r < 0)
		return r;
	set->memory = options.memory;
	return keep_files(&options, set, path, err);
}

static int read_container_id(struct json_string id, const char *path,
			     struct tool_set *set, struct error *err)
{
	char message[ERROR_MESSAGE_MAX];

	if (id.length <= ID_MAX && strlen(id.data) == id.length &&
	    id.length > 0) {
		strcpy(set->container, id.data);
		return 0;
	}
	if (id.length <= ID_MAX)
		return error_refuse(err, path, "invalid_value",
				    "A container's id is expected");
	(void)snprintf(message, sizeof(message),
		       "Invalid '%s': string too long. Expected a string with "
		       "maximum length %d, but got a string with length %zu "
		       "instead.", path, ID_MAX, id.length);
	return error_refuse(err, path, "string_above_max_length", "%s",
			    message);
}

static int read_interpreter(const struct json_object *tool, size_t i,
			    struct tool_set *set, struct error *err)
{
	const struct json_object *container = json_member(tool, "container");
	char path[ERROR_PARAM_MAX];

	if (set->has_interpreter) {
		(void)snprintf(path, sizeof(path), "tools[%zu].type", i);
		return error_refuse(err, path, "invalid_value",
				    "There can be one code interpreter only");
	}
	(void)snprintf(path, sizeof(path), "tools[%zu].container", i);
	set->has_interpreter = true;
	set->interpreter = true;
	set->interpreter_index = (unsigned)i;
	switch (json_kind_of(container)) {
	case JSON_NULL:
		return 0; /* as Foundry has it: absent is automatic */
	case JSON_STRING:
		return read_container_id(json_string_of(container), path, set,
					 err);
	case JSON_OBJECT:
		return read_auto(container, path, set, err);
	default:
		return error_refuse(
			err, path, "invalid_type",
			"A container is given by its id, or as an object "
			"of type \"auto\"");
	}
}

/* ------------------------------------------------------------ other functions */

static bool is_function_name(struct json_string name)
{
	for (size_t i = 0; i < name.length; i++)
		if (!isalnum((unsigned char)name.data[i]) &&
		    name.data[i] != '_' && name.data[i] != '-')
			return false;
	return true;
}

static int write_function(const struct function_fields *fields, bool has_strict,
			  struct tool_function *ret)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(FUNCTION_JSON_MAX);
	struct json_writer w = JSON_WRITER_INIT(&text);
	int r;

	json_write_object(&w, NULL);
	json_write_string(&w, "type", "function");
	json_write_string(&w, "name", fields->name.data);
	if (fields->description.data)
		json_write_bytes(&w, "description", fields->description.data,
				 fields->description.length);
	if (fields->parameters)
		json_write_value(&w, "parameters", fields->parameters);
	if (has_strict)
		json_write_bool(&w, "strict", fields->strict);
	json_write_close(&w);
	r = json_write_end(&w);
	if (r < 0)
		return r;
	ret->json = buf_take(&text, &ret->size);
	return ret->json ? 0 : -ENOMEM;
}

static int read_function(const struct json_object *tool, size_t i,
			 struct tool_set *set, struct error *err)
{
	struct tool_function *ret = &set->functions[set->function_count];
	struct function_fields fields = { .strict = false };
	char path[ERROR_PARAM_MAX];
	int r;

	(void)snprintf(path, sizeof(path), "tools[%zu]", i);
	r = JSON_READ(tool, path, function_table, &fields, err);
	if (r < 0)
		return r;
	(void)snprintf(path, sizeof(path), "tools[%zu].name", i);
	if (!is_function_name(fields.name))
		return error_refuse(
			err, path, "invalid_value",
			"A function's name has letters, digits, '_' and "
			"'-' only");
	if (tool_set_function(set, fields.name.data))
		return error_refuse(err, path, "invalid_value",
				    "Two functions have the same name");
	r = write_function(&fields, json_member(tool, "strict") != NULL, ret);
	if (r == -EMSGSIZE)
		return error_refuse(
			err, path, "string_above_max_length",
			"A function's description and parameters have at "
			"most 1 MiB");
	if (r < 0)
		return error_set_errno(err, r, "Cannot take the tools");
	strcpy(ret->name, fields.name.data);
	ret->allowed = true;
	set->function_count++;
	return 0;
}

static int read_tool(const struct json_object *tool, size_t i,
		     struct tool_set *set, struct error *err)
{
	struct tool_fields fields = { { NULL, 0 } };
	char path[ERROR_PARAM_MAX], message[ERROR_MESSAGE_MAX];
	int r;

	(void)snprintf(path, sizeof(path), "tools[%zu]", i);
	if (json_kind_of(tool) != JSON_OBJECT)
		return error_refuse(err, path, "invalid_type",
				    "A tool must be an object");
	r = JSON_READ(tool, path, type_table, &fields, err);
	if (r < 0)
		return r;
	if (strcmp(fields.type.data, "code_interpreter") == 0)
		return read_interpreter(tool, i, set, err);
	if (strcmp(fields.type.data, "function") == 0)
		return read_function(tool, i, set, err);
	(void)snprintf(path, sizeof(path), "tools[%zu].type", i);
	(void)snprintf(message, sizeof(message),
		       "Invalid value: '%.64s'. Supported values are: "
		       "'code_interpreter' and 'function'.", fields.type.data);
	return error_refuse(err, path, "invalid_value", "%s", message);
}

static void name_interpreter(struct tool_set *set)
{
	const size_t count = sizeof(python_names) / sizeof(python_names[0]);
	size_t i = 0;

	while (i < count - 1 && tool_set_function(set, python_names[i]))
		i++;
	set->python = python_names[i];
}

int tool_set_read(const struct json_object *tools,
		  const struct json_object *choice, struct tool_set *ret,
		  struct error *err)
{
	size_t count = json_array_size(tools);
	int r = 0;

	*ret = (struct tool_set){ .memory = MEMORY_1G };
	if (count > 0) {
		ret->functions = calloc(count, sizeof(*ret->functions));
		if (!ret->functions)
			return error_set_errno(err, -ENOMEM,
					       "Cannot take the tools");
	}
	for (size_t i = 0; i < count && r >= 0; i++)
		r = read_tool(json_array_at(tools, i), i, ret, err);
	name_interpreter(ret);
	return r < 0 ? r : tool_choice_read(choice, ret, err);
}

void tool_set_done(struct tool_set *set)
{
	for (size_t i = 0; i < set->function_count; i++)
		free(set->functions[i].json);
	free(set->functions);
	free(set->file_ids);
	*set = (struct tool_set){ .memory = MEMORY_1G };
}

const struct tool_function *tool_set_function(const struct tool_set *set,
					      const char *name)
{
	for (size_t i = 0; i < set->function_count; i++)
		if (strcmp(set->functions[i].name, name) == 0)
			return &set->functions[i];
	return NULL;
}
