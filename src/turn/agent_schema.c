/* SPDX-License-Identifier: Apache-2.0 */
#include "turn/agent_schema.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/name.h"

/* A path that is too long is cut: it is for people to find the field with. */
#define PATH_SIZE ERROR_PARAM_MAX

/**
 * struct schema_fields - The keywords that bind
 * @type:	A string or an array of strings, which no field can be
 * @has_minimum, @has_maximum: Whether the numbers were given
 */
struct schema_fields {
	const struct json_object *type;
	struct json_object *choices;
	int64_t min_length;
	int64_t max_length;
	double minimum;
	double maximum;
	bool has_minimum;
	bool has_maximum;
	struct json_object *items;
	struct json_object *properties;
	struct json_object *required;
};

static const struct json_field schema_table[] = {
	JSON_ARRAY_FIELD("enum", struct schema_fields, choices, .min = 1),
	JSON_INT_FIELD("minLength", struct schema_fields, min_length,
		       .max = INT64_MAX),
	JSON_INT_FIELD("maxLength", struct schema_fields, max_length,
		       .max = INT64_MAX),
	JSON_NUMBER_FIELD("minimum", struct schema_fields, minimum),
	JSON_NUMBER_FIELD("maximum", struct schema_fields, maximum),
	JSON_OBJECT_FIELD("items", struct schema_fields, items),
	JSON_OBJECT_FIELD("properties", struct schema_fields, properties),
	JSON_ARRAY_FIELD("required", struct schema_fields, required),
};

static const struct {
	const char *name;
	unsigned kinds; /* bits of enum json_kind */
} types[] = {
	{ "string", 1u << JSON_STRING },
	{ "number", 1u << JSON_INT | 1u << JSON_NUMBER },
	{ "integer", 1u << JSON_INT },
	{ "boolean", 1u << JSON_BOOL },
	{ "array", 1u << JSON_ARRAY },
	{ "object", 1u << JSON_OBJECT },
	{ "null", 1u << JSON_NULL },
};

int agent_refuse(struct error *err, const char *path, const char *reason,
		 const char *what)
{
	return error_refuse(err, path, reason, "Invalid '%s': %s", path, what);
}

static void path_below(char ret[PATH_SIZE], const char *path, const char *name)
{
	(void)snprintf(ret, PATH_SIZE, "%s.%s", path, name);
}

static void path_at(char ret[PATH_SIZE], const char *path, size_t i)
{
	(void)snprintf(ret, PATH_SIZE, "%s[%zu]", path, i);
}

static int read_schema(const struct json_object *schema, const char *path,
		       struct schema_fields *ret, struct error *err)
{
	*ret = (struct schema_fields){
		.type = json_member(schema, "type"),
		.max_length = INT64_MAX,
		.has_minimum = json_member(schema, "minimum"),
		.has_maximum = json_member(schema, "maximum"),
	};
	return json_read_fields(schema, path, schema_table,
				sizeof(schema_table) / sizeof(schema_table[0]),
				JSON_UNKNOWN_IGNORED, ret, err);
}

/* ------------------------------------------------------------------ the schema */

/* Return: the kinds that a word stands for, 0 if it is none of ours */
static unsigned kinds_of(struct json_string word)
{
	size_t i;

	for (i = 0; word.data && i < sizeof(types) / sizeof(types[0]); i++)
		if (strcmp(types[i].name, word.data) == 0)
			return types[i].kinds;
	return 0;
}

static int check_type(const struct json_object *type, const char *path,
		      struct error *err)
{
	bool known = !type || kinds_of(json_string_of(type));
	char where[PATH_SIZE];
	size_t i;

	for (i = 0; i < json_array_size(type); i++) {
		known = kinds_of(json_string_of(json_array_at(type, i)));
		if (!known)
			break;
	}
	if (known)
		return 0;
	path_below(where, path, "type");
	return agent_refuse(
		err, where, "invalid_value",
		"it must be 'string', 'number', 'integer', 'boolean', "
		"'array', 'object' or 'null', or an array of those");
}

struct walk {
	const char *path;
	struct error *err;
};

static int on_property(const char *name, struct json_object *schema,
		       void *userdata)
{
	const struct walk *walk = userdata;
	char where[PATH_SIZE];

	path_below(where, walk->path, name);
	if (json_kind_of(schema) != JSON_OBJECT)
		return agent_refuse(walk->err, where, "invalid_type",
				    "it must be an object");
	return agent_schema_check(schema, where, walk->err);
}

static int check_required(const struct json_object *required, const char *path,
			  struct error *err)
{
	struct json_string name;
	char where[PATH_SIZE];
	size_t i;
	int r = 0;

	path_below(where, path, "required");
	for (i = 0; r >= 0 && i < json_array_size(required); i++)
		r = json_read_string_item(required, where, i, &name, err);
	return r;
}

/* As deep as the reader of JSON lets it be. */
int agent_schema_check(const struct json_object *schema, const char *path,
		       struct error *err)
{
	char below[PATH_SIZE];
	struct walk walk = { below, err };
	struct schema_fields fields;
	int r;

	r = read_schema(schema, path, &fields, err);
	if (r >= 0)
		r = check_type(fields.type, path, err);
	if (r >= 0)
		r = check_required(fields.required, path, err);
	path_below(below, path, "properties");
	if (r >= 0)
		r = json_each_member(fields.properties, on_property, &walk);
	path_below(below, path, "items");
	if (r >= 0 && fields.items)
		r = agent_schema_check(fields.items, below, err);
	return r;
}

/* ------------------------------------------------------------------- the value */

static int apply_type(const struct schema_fields *fields,
		      const struct json_object *value, const char *path,
		      struct error *err)
{
	unsigned kinds = kinds_of(json_string_of(fields->type));
	char what[128];
	size_t i;

	for (i = 0; i < json_array_size(fields->type); i++)
		kinds |= kinds_of(json_string_of(
			json_array_at(fields->type, i)));
	if (!fields->type || (kinds & 1u << json_kind_of(value)))
		return 0;
	(void)snprintf(what, sizeof(what),
		       "the agent's schema does not allow %s here",
		       json_kind_name(json_kind_of(value)));
	return agent_refuse(err, path, "invalid_type", what);
}

static int apply_choices(const struct schema_fields *fields,
			 const struct json_object *value, const char *path,
			 struct error *err)
{
	size_t i;

	for (i = 0; i < json_array_size(fields->choices); i++)
		if (json_equal(json_array_at(fields->choices, i), value))
			return 0;
	if (!fields->choices)
		return 0;
	return agent_refuse(err, path, "invalid_value",
			    "it is none of the values in the agent's schema");
}

static int64_t count_characters(struct json_string s)
{
	size_t at = 0;
	int64_t count = 0;
	uint32_t c;

	for (; at < s.length; count++)
		at += utf8_next(s.data + at, s.length - at, &c);
	return count;
}

static int apply_bounds(const struct schema_fields *fields,
			const struct json_object *value, const char *path,
			struct error *err)
{
	enum json_kind kind = json_kind_of(value);
	double number = json_number_of(value);
	int64_t length;

	if (kind == JSON_STRING) {
		length = count_characters(json_string_of(value));
		if (length < fields->min_length)
			return agent_refuse(
				err, path, "string_below_min_length",
				"it is shorter than the agent's schema "
				"allows");
		if (length > fields->max_length)
			return agent_refuse(
				err, path, "string_above_max_length",
				"it is longer than the agent's schema "
				"allows");
	}
	if (kind != JSON_INT && kind != JSON_NUMBER)
		return 0;
	if (fields->has_minimum && number < fields->minimum)
		return agent_refuse(
			err, path, "decimal_below_min_value",
			"it is less than the agent's schema allows");
	if (fields->has_maximum && number > fields->maximum)
		return agent_refuse(
			err, path, "decimal_above_max_value",
			"it is more than the agent's schema allows");
	return 0;
}

static int apply_items(const struct schema_fields *fields,
		       const struct json_object *value, const char *path,
		       struct error *err)
{
	char where[PATH_SIZE];
	size_t i;
	int r = 0;

	for (i = 0; r >= 0 && fields->items && i < json_array_size(value);
	     i++) {
		path_at(where, path, i);
		r = agent_schema_apply(fields->items, json_array_at(value, i),
				       where, err);
	}
	return r;
}

struct object_walk {
	const struct json_object *value;
	const char *path;
	struct error *err;
};

static int on_member_schema(const char *name, struct json_object *schema,
			    void *userdata)
{
	const struct object_walk *walk = userdata;
	const struct json_object *member = json_member(walk->value, name);
	char where[PATH_SIZE];

	path_below(where, walk->path, name);
	return member ? agent_schema_apply(schema, member, where, walk->err)
		      : 0;
}

static int apply_members(const struct schema_fields *fields,
			 const struct json_object *value, const char *path,
			 struct error *err)
{
	struct object_walk walk = { value, path, err };
	struct json_string name;
	char where[PATH_SIZE];
	size_t i;

	if (json_kind_of(value) != JSON_OBJECT)
		return 0;
	for (i = 0; i < json_array_size(fields->required); i++) {
		name = json_string_of(json_array_at(fields->required, i));
		if (json_member(value, name.data))
			continue;
		path_below(where, path, name.data);
		return agent_refuse(err, where, "missing_required_parameter",
				    "the agent's schema requires it");
	}
	return json_each_member(fields->properties, on_member_schema, &walk);
}

int agent_schema_apply(const struct json_object *schema,
		       const struct json_object *value, const char *path,
		       struct error *err)
{
	struct schema_fields fields;
	int r;

	r = read_schema(schema, path, &fields, err);
	if (r >= 0)
		r = apply_type(&fields, value, path, err);
	if (r >= 0)
		r = apply_choices(&fields, value, path, err);
	if (r >= 0)
		r = apply_bounds(&fields, value, path, err);
	if (r >= 0)
		r = apply_items(&fields, value, path, err);
	return r < 0 ? r : apply_members(&fields, value, path, err);
}
