/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/json_write.h"
#include "turn/tool_set.h"

/* What of the tools a model has to use, and how it is told. */

#define DESCRIPTION                                                            \
	"Runs Python in a stateful Jupyter-like session: variables, imports "  \
	"and files stay from call to call. Files that the user gave, and all "  \
	"that you make for the user, are in /mnt/data. What is printed and "    \
	"the value of the last expression come back; show figures with "        \
	"plt.show(). To hand a file to the user, write a link such as "         \
	"[table.csv](sandbox:/mnt/data/table.csv) in your answer. There is no " \
	"network: nothing can be downloaded or installed."

struct choice_fields {
	struct json_string type;
	struct json_string name;
	struct json_string mode;
	struct json_object *tools;
};

static const char *const modes[] = { "auto", "required", NULL };

static const struct json_field type_table[] = {
	JSON_STRING_FIELD("type", struct choice_fields, type, .required = true),
};

static const struct json_field function_table[] = {
	JSON_STRING_FIELD("name", struct choice_fields, name, .required = true),
};

static const struct json_field allowed_table[] = {
	JSON_STRING_FIELD("mode", struct choice_fields, mode, .required = true,
			  .choices = modes),
	JSON_ARRAY_FIELD("tools", struct choice_fields, tools,
			 .required = true, .min = 1, .max = TOOLS_MAX),
};

static int refused(struct error *err, const char *path)
{
	error_set_param(err, "%s", path);
	error_set_reason(err, "invalid_value");
	return -EINVAL;
}

static int read_word(struct json_string word, struct tool_set *ret,
		     struct error *err)
{
	if (strcmp(word.data, "auto") == 0)
		ret->choice = CHOICE_AUTO;
	else if (strcmp(word.data, "none") == 0)
		ret->choice = CHOICE_NONE;
	else if (strcmp(word.data, "required") == 0)
		ret->choice = CHOICE_REQUIRED;
	else {
		error_set(err, ERR_BAD_REQUEST,
			  "Invalid value: '%.64s'. Supported values are: "
			  "'auto', 'none' and 'required'.", word.data);
		return refused(err, "tool_choice");
	}
	return 0;
}

static int not_there(struct error *err, const char *path, const char *name)
{
	error_set(err, ERR_BAD_REQUEST,
		  "Tool choice '%.64s' not found in 'tools' parameter.", name);
	return refused(err, path);
}

/*
 * The tool that an object names, as the function that stands for it: NULL for
 * the interpreter.
 */
static int find_tool(const struct json_object *object, const char *path,
		     struct tool_set *set, struct tool_function **ret_function,
		     struct error *err)
{
	struct choice_fields fields = { .tools = NULL };
	int r;

	r = JSON_READ(object, path, type_table, &fields, err);
	if (r < 0)
		return r;
	*ret_function = NULL;
	if (strcmp(fields.type.data, "code_interpreter") == 0) {
		if (set->has_interpreter)
			return 0;
		return not_there(err, path, "code_interpreter");
	}
	if (strcmp(fields.type.data, "function") != 0) {
		error_set(err, ERR_BAD_REQUEST,
			  "Invalid type: '%.64s'. Supported are "
			  "'code_interpreter' and 'function'.",
			  fields.type.data);
		return refused(err, path);
	}
	r = JSON_READ(object, path, function_table, &fields, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < set->function_count; i++)
		if (strcmp(set->functions[i].name, fields.name.data) == 0)
			*ret_function = &set->functions[i];
	return *ret_function ? 0 : not_there(err, path, fields.name.data);
}

static int read_allowed(const struct json_object *choice, struct tool_set *ret,
			struct error *err)
{
	struct choice_fields fields = { .tools = NULL };
	struct tool_function *function;
	char path[ERROR_PARAM_MAX];
	int r;

	r = JSON_READ(choice, "tool_choice", allowed_table, &fields, err);
	if (r < 0)
		return r;
	ret->choice = strcmp(fields.mode.data, "required") == 0
			      ? CHOICE_REQUIRED
			      : CHOICE_AUTO;
	ret->interpreter = false;
	for (size_t i = 0; i < ret->function_count; i++)
		ret->functions[i].allowed = false;
	for (size_t i = 0; i < json_array_size(fields.tools); i++) {
		(void)snprintf(path, sizeof(path), "tool_choice.tools[%zu]", i);
		r = find_tool(json_array_at(fields.tools, i), path, ret,
			      &function, err);
		if (r < 0)
			return r;
		if (function)
			function->allowed = true;
		else
			ret->interpreter = true;
	}
	return 0;
}

static int read_object(const struct json_object *choice, struct tool_set *ret,
		       struct error *err)
{
	struct json_string type = json_string_of(json_member(choice, "type"));
	struct tool_function *function;
	int r;

	if (type.data && strcmp(type.data, "allowed_tools") == 0)
		return read_allowed(choice, ret, err);
	r = find_tool(choice, "tool_choice", ret, &function, err);
	if (r < 0)
		return r;
	ret->choice = CHOICE_TOOL;
	strcpy(ret->choice_name, function ? function->name : ret->python);
	return 0;
}

int tool_choice_read(const struct json_object *choice, struct tool_set *ret,
		     struct error *err)
{
	int r = 0;

	switch (json_kind_of(choice)) {
	case JSON_NULL:
		break;
	case JSON_STRING:
		r = read_word(json_string_of(choice), ret, err);
		break;
	case JSON_OBJECT:
		r = read_object(choice, ret, err);
		break;
	default:
		error_set(err, ERR_BAD_REQUEST,
			  "'tool_choice' must be a string or an object");
		error_set_param(err, "tool_choice");
		error_set_reason(err, "invalid_type");
		return -EINVAL;
	}
	if (r >= 0 && ret->choice == CHOICE_REQUIRED && !ret->interpreter &&
	    ret->function_count == 0) {
		error_set(err, ERR_BAD_REQUEST,
			  "Tool choice 'required' must be specified with "
			  "'tools' parameter.");
		return refused(err, "tool_choice");
	}
	return r;
}

/* ------------------------------------------------------------ to the model */

static void write_python(const struct tool_set *set, struct json_writer *w)
{
	json_write_object(w, NULL);
	json_write_string(w, "type", "function");
	json_write_string(w, "name", set->python);
	json_write_string(w, "description", DESCRIPTION);
	json_write_object(w, "parameters");
	json_write_string(w, "type", "object");
	json_write_object(w, "properties");
	json_write_object(w, "code");
	json_write_string(w, "type", "string");
	json_write_string(w, "description", "Python source to run");
	json_write_close(w);
	json_write_close(w);
	json_write_array(w, "required");
	json_write_string(w, NULL, "code");
	json_write_close(w);
	json_write_bool(w, "additionalProperties", false);
	json_write_close(w);
	json_write_bool(w, "strict", false);
	json_write_close(w);
}

size_t tool_set_write(const struct tool_set *set, bool python,
		      struct json_writer *w)
{
	size_t count = 0;

	json_write_array(w, NULL);
	if (python) {
		write_python(set, w);
		count++;
	}
	for (size_t i = 0; i < set->function_count; i++) {
		if (!set->functions[i].allowed)
			continue;
		json_write_raw(w, NULL, set->functions[i].json,
			       set->functions[i].size);
		count++;
	}
	json_write_close(w);
	return count;
}

void tool_set_write_choice(const struct tool_set *set, bool python, bool first,
			   struct json_writer *w)
{
	if (set->choice == CHOICE_REQUIRED && first) {
		json_write_string(w, NULL, "required");
	} else if (set->choice == CHOICE_TOOL && first &&
		   (python || strcmp(set->choice_name, set->python) != 0)) {
		json_write_object(w, NULL);
		json_write_string(w, "type", "function");
		json_write_string(w, "name", set->choice_name);
		json_write_close(w);
	} else {
		json_write_string(w, NULL, "auto");
	}
}
