/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "core/core.h"

const char *const container_memory_tiers[] = {
	[MEMORY_1G] = "1g",
	[MEMORY_4G] = "4g",
	[MEMORY_16G] = "16g",
	[MEMORY_64G] = "64g",
	[MEMORY_TIER_COUNT] = NULL,
};
static_assert(sizeof(container_memory_tiers) /
			      sizeof(container_memory_tiers[0]) ==
		      MEMORY_TIER_COUNT + 1,
	      "container_memory_tiers[] doesn't match enum memory_tier");

struct fields {
	struct json_object *file_ids;
	struct json_string memory_limit;
	struct json_object *network_policy;
};

struct policy_fields {
	struct json_string type;
};

static const char *const policies[] = { "disabled", NULL };

static const struct json_field table[] = {
	JSON_ARRAY_FIELD("file_ids", struct fields, file_ids,
			 .max = CORE_FILE_IDS_MAX),
	JSON_STRING_FIELD("memory_limit", struct fields, memory_limit,
			  .choices = container_memory_tiers),
	JSON_OBJECT_FIELD("network_policy", struct fields, network_policy),
};

/* A network that the guest does not have must be refused, not ignored. */
static const struct json_field policy_table[] = {
	JSON_STRING_FIELD("type", struct policy_fields, type,
			  .required = true, .choices = policies),
};

#define READ(object, path, table, ret, err)                                    \
	json_read_fields(object, path, table,                                  \
			 sizeof(table) / sizeof((table)[0]),                   \
			 JSON_UNKNOWN_IGNORED, ret, err)

static enum memory_tier tier_of(struct json_string name)
{
	int i;

	for (i = 0; name.data && i < MEMORY_TIER_COUNT; i++)
		if (strcmp(container_memory_tiers[i], name.data) == 0)
			return (enum memory_tier)i;
	return MEMORY_1G;
}

/* "tools[0].container" and "file_ids", or the latter alone. */
static const char *join(const char *path, const char *field,
			char ret[ERROR_PARAM_MAX])
{
	(void)snprintf(ret, ERROR_PARAM_MAX, "%s%s%s", path ? path : "",
		       path ? "." : "", field);
	return ret;
}

static int read_file_ids(const struct json_object *array, const char *path,
			 struct container_options *ret, struct error *err)
{
	struct json_string id;
	size_t i;
	int r;

	ret->file_count = json_array_size(array);
	for (i = 0; i < ret->file_count; i++) {
		r = json_read_string_item(array, path, i, &id, err);
		if (r < 0)
			return r;
		ret->file_ids[i] = id.data;
	}
	return 0;
}

int container_options_read(const struct json_object *object, const char *path,
			   struct container_options *ret, struct error *err)
{
	struct policy_fields policy = { .type = { NULL, 0 } };
	struct fields fields = { .file_ids = NULL };
	char where[ERROR_PARAM_MAX];
	int r;

	*ret = (struct container_options){ .memory = MEMORY_1G };
	r = READ(object, path, table, &fields, err);
	if (r >= 0)
		r = read_file_ids(fields.file_ids, join(path, "file_ids", where),
				  ret, err);
	if (r >= 0 && fields.network_policy)
		r = READ(fields.network_policy,
			 join(path, "network_policy", where), policy_table,
			 &policy, err);
	ret->memory = tier_of(fields.memory_limit);
	return r;
}

void container_options_apply(const struct container_options *options,
			     struct container_spec *spec)
{
	spec->memory = options->memory;
	spec->file_ids = options->file_ids;
	spec->file_count = options->file_count;
}
