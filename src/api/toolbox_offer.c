/* SPDX-License-Identifier: Apache-2.0 */
#include "api/toolbox_offer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "api/api_error.h"

struct definition_fields {
	struct json_object *tools;
	struct json_object *policies;
};

struct tool_fields {
	struct json_string type;
	struct json_string name;
	struct json_string description;
};

struct auto_fields {
	struct json_string type;
};

struct policy_fields {
	struct json_object *keys;
	struct json_object *tenants;
	struct json_string pool;
	struct json_string image;
	struct json_object *file_types;
	int64_t timeout_s;
	int64_t max_artifact_bytes;
};

static const char *const auto_types[] = { "auto", NULL };

static const struct json_field definition_table[] = {
	JSON_ARRAY_FIELD("tools", struct definition_fields, tools,
			 .required = true, .max = TOOLBOX_TOOLS_MAX),
	JSON_OBJECT_FIELD("policies", struct definition_fields, policies),
};

static const struct json_field tool_table[] = {
	JSON_STRING_FIELD("type", struct tool_fields, type, .required = true),
	JSON_STRING_FIELD("name", struct tool_fields, name),
	JSON_STRING_FIELD("description", struct tool_fields, description,
			  .max = 4096),
};

static const struct json_field auto_table[] = {
	JSON_STRING_FIELD("type", struct auto_fields, type, .required = true,
			  .choices = auto_types),
};

static const struct json_field policy_table[] = {
	JSON_ARRAY_FIELD("allowed_keys", struct policy_fields, keys,
			 .max = TOOLBOX_LIST_MAX),
	JSON_ARRAY_FIELD("allowed_tenants", struct policy_fields, tenants,
			 .max = TOOLBOX_LIST_MAX),
	JSON_STRING_FIELD("pool", struct policy_fields, pool, .min = 1,
			  .max = CORE_NAME_MAX),
	JSON_STRING_FIELD("image", struct policy_fields, image),
	JSON_ARRAY_FIELD("file_types", struct policy_fields, file_types,
			 .max = TOOLBOX_LIST_MAX),
	JSON_INT_FIELD("timeout_s", struct policy_fields, timeout_s, .min = 1,
		       .max = 24 * 3600),
	JSON_INT_FIELD("max_artifact_bytes", struct policy_fields,
		       max_artifact_bytes, .min = 1, .max = INT64_MAX),
};

bool toolbox_tool_name_is_valid(const char *name, size_t size)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "abcdefghijklmnopqrstuvwxyz"
				      "0123456789_-.";

	return size > 0 && size <= TOOLBOX_TOOL_NAME_MAX &&
	       strspn(name, allowed) == size;
}

/* ------------------------------------------------------------------- the tools */

/* The id of a container, or how one is to be made; absent is "auto". */
static int read_container(const struct json_object *entry, const char *path,
			  struct toolbox_tool *tool, struct error *err)
{
	struct json_object *container = json_member(entry, "container");
	struct auto_fields fields = { .type = { NULL, 0 } };
	char where[ERROR_PARAM_MAX];
	struct json_string id;
	int r;

	(void)snprintf(where, sizeof(where), "%s.container", path);
	switch (json_kind_of(container)) {
	case JSON_NULL:
		return 0;
	case JSON_STRING:
		id = json_string_of(container);
		if (id.length == 0 || id.length > ID_MAX ||
		    strlen(id.data) != id.length)
			return api_refuse(err, where,
					  "is not the id of a container",
					  "invalid_value");
		tool->container = id.data;
		return 0;
	case JSON_OBJECT:
		r = JSON_READ(container, where, auto_table, &fields, err);
		return r < 0 ? r
			     : container_options_read(container, where,
						      &tool->options, err);
	default:
		return api_refuse(
			err, where,
			"must be the id of a container or an object of "
			"type 'auto'",
			"invalid_value");
	}
}

static int check_name(const struct toolbox_offer *offer,
		      const struct toolbox_tool *tool, const char *path,
		      struct error *err)
{
	char where[ERROR_PARAM_MAX];
	size_t i;

	(void)snprintf(where, sizeof(where), "%s.name", path);
	for (i = 0; i < offer->tools; i++)
		if (strcmp(offer->tool[i].name, tool->name) == 0)
			return api_refuse(err, where,
					  "is the name of another tool, too",
					  "invalid_value");
	return 0;
}

static int read_tool(const struct json_object *entry, const char *path,
		     struct toolbox_offer *ret, struct error *err)
{
	struct toolbox_tool *tool = &ret->tool[ret->tools];
	struct tool_fields fields = { .type = { NULL, 0 } };
	char where[ERROR_PARAM_MAX];
	int r;

	if (json_kind_of(entry) != JSON_OBJECT)
		return api_refuse(err, path, "must be an object",
				  "invalid_value");
	r = JSON_READ(entry, path, tool_table, &fields, err);
	if (r < 0)
		return r;
	(void)snprintf(where, sizeof(where), "%s.type", path);
	if (strcmp(fields.type.data, TOOLBOX_TYPE) != 0)
		return api_refuse(err, where,
				  "must be '" TOOLBOX_TYPE
				  "': tools of other types "
				  "are not served here",
				  "invalid_value");
	(void)snprintf(where, sizeof(where), "%s.name", path);
	if (fields.name.data &&
	    !toolbox_tool_name_is_valid(fields.name.data, fields.name.length))
		return api_refuse(
			err, where,
			"must be 1 to 128 letters, digits, '_', '-' and "
			"'.'",
			"invalid_value");
	tool->name = fields.name.data ? fields.name.data : TOOLBOX_TYPE;
	tool->description = fields.description.data;
	r = check_name(ret, tool, path, err);
	if (r >= 0)
		r = read_container(entry, path, tool, err);
	ret->tools += r >= 0;
	return r;
}

/* ---------------------------------------------------------------- the policies */

static int check_strings(const struct json_object *array, const char *path,
			 struct error *err)
{
	struct json_string item;
	size_t i;
	int r;

	for (i = 0; i < json_array_size(array); i++) {
		r = json_read_string_item(array, path, i, &item, err);
		if (r < 0)
			return r;
		if (item.length == 0)
			return api_refuse(err, path,
					  "has an item that is no name",
					  "invalid_value");
	}
	return 0;
}

static int read_policies(const struct json_object *object,
			 struct toolbox_offer *ret, struct error *err)
{
	struct policy_fields fields = { .keys = NULL };
	int r;

	r = JSON_READ(object, "policies", policy_table, &fields, err);
	if (r >= 0)
		r = check_strings(fields.keys, "policies.allowed_keys", err);
	if (r >= 0)
		r = check_strings(fields.tenants, "policies.allowed_tenants",
				  err);
	if (r >= 0)
		r = check_strings(fields.file_types, "policies.file_types",
				  err);
	if (r >= 0 && fields.image.data && !core_image_is_pin(fields.image.data))
		r = api_refuse(err, "policies.image",
			       "must be the name of an image, '@' and the first "
			       "12 digits of its digest",
			       "invalid_value");
	ret->pool = fields.pool.data;
	ret->image = fields.image.data;
	ret->timeout_s = fields.timeout_s;
	ret->max_artifact_bytes = fields.max_artifact_bytes;
	ret->file_types = fields.file_types;
	ret->keys = fields.keys;
	ret->tenants = fields.tenants;
	return r;
}

int toolbox_offer_read(const struct json_object *definition,
		       struct toolbox_offer *ret, struct error *err)
{
	struct definition_fields fields = { .tools = NULL };
	char path[32];
	size_t i;
	int r;

	*ret = (struct toolbox_offer){ .tools = 0 };
	r = JSON_READ(definition, NULL, definition_table, &fields, err);
	for (i = 0; r >= 0 && i < json_array_size(fields.tools); i++) {
		(void)snprintf(path, sizeof(path), "tools[%zu]", i);
		r = read_tool(json_array_at(fields.tools, i), path, ret, err);
	}
	return r < 0 ? r : read_policies(fields.policies, ret, err);
}

/* -------------------------------------------------------------- what it allows */

static bool has(const struct json_object *array, const char *word,
		int (*compare)(const char *a, const char *b))
{
	size_t i;

	for (i = 0; i < json_array_size(array); i++)
		if (compare(json_string_of(json_array_at(array, i)).data,
			    word) == 0)
			return true;
	return false;
}

bool toolbox_offer_admits(const struct toolbox_offer *offer,
			  const struct principal *who)
{
	if (!offer->keys && !offer->tenants)
		return true;
	return has(offer->keys, who->key_id, strcmp) ||
	       has(offer->tenants, who->tenant, strcmp);
}

/* With or without the dot that begins an extension. */
static int compare_type(const char *a, const char *b)
{
	return strcasecmp(*a == '.' ? a + 1 : a, b);
}

bool toolbox_offer_gives(const struct toolbox_offer *offer, const char *path,
			 uint64_t bytes)
{
	const char *base = strrchr(path, '/');
	const char *dot = strrchr(base ? base : path, '.');

	if (offer->max_artifact_bytes > 0 &&
	    bytes > (uint64_t)offer->max_artifact_bytes)
		return false;
	return !offer->file_types ||
	       (dot && has(offer->file_types, dot + 1, compare_type));
}
