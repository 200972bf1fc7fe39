/* SPDX-License-Identifier: Apache-2.0 */
#include "turn/upstream_json.h"

#include <string.h>

#include "base/json.h"

const char *upstream_json_text(const struct json_object *object,
			       const char *key)
{
	const char *text = json_string_of(json_member(object, key)).data;

	return text ? text : "";
}

bool upstream_json_is_type(const struct json_object *object, const char *type)
{
	return strcmp(upstream_json_text(object, "type"), type) == 0;
}

uint64_t upstream_json_uint(const struct json_object *object, const char *key)
{
	struct number {
		int64_t value;
	} number = { 0 };
	const struct json_field field = JSON_INT_FIELD(
		key, struct number, value, .max = INT64_MAX);

	if (json_kind_of(object) != JSON_OBJECT ||
	    json_read_fields(object, NULL, &field, 1, JSON_UNKNOWN_IGNORED,
			     &number, NULL) < 0)
		return 0;
	return (uint64_t)number.value;
}
