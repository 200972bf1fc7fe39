/* SPDX-License-Identifier: Apache-2.0 */
#include "turn/metadata.h"

#include <string.h>

#include "base/json.h"

struct check {
	unsigned count;
	struct error *err;
};

static size_t characters(struct json_string s)
{
	size_t count = 0, i;

	for (i = 0; i < s.length; i++)
		count += ((unsigned char)s.data[i] & 0xc0) != 0x80;
	return count;
}

static int refuse(struct error *err, const char *key, const char *reason,
		  const char *what, int max)
{
	if (key)
		error_set_param(err, "metadata.%s", key);
	else
		error_set_param(err, "metadata");
	error_set_reason(err, reason);
	if (max == 0)
		return error_set(err, ERR_BAD_REQUEST,
				 "Invalid 'metadata': %s", what);
	return error_set(err, ERR_BAD_REQUEST,
			 "Invalid 'metadata': %s, at most %d are allowed", what,
			 max);
}

static int on_pair(const char *key, struct json_object *value, void *userdata)
{
	const struct json_string text = json_string_of(value);
	struct check *check = userdata;

	if (++check->count > METADATA_PAIRS_MAX)
		return refuse(check->err, NULL, "object_above_max_properties",
			      "it has too many pairs", METADATA_PAIRS_MAX);
	if (characters((struct json_string){ key, strlen(key) }) >
	    METADATA_KEY_MAX)
		return refuse(check->err, NULL, "string_above_max_length",
			      "a key has too many characters",
			      METADATA_KEY_MAX);
	if (!text.data)
		return refuse(check->err, key, "invalid_type",
			      "a value is no string", 0);
	if (characters(text) > METADATA_VALUE_MAX)
		return refuse(check->err, key, "string_above_max_length",
			      "a value has too many characters",
			      METADATA_VALUE_MAX);
	return 0;
}

int metadata_check(const struct json_object *metadata, struct error *err)
{
	struct check check = { 0, err };

	if (json_kind_of(metadata) != JSON_OBJECT &&
	    json_kind_of(metadata) != JSON_NULL)
		return refuse(err, NULL, "invalid_type", "it is no object", 0);
	return json_each_member(metadata, on_pair, &check);
}
