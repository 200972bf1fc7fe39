#include <assert.h>
#include <errno.h>
#include <json-c/json.h>
#include <limits.h>

#include "base/json.h"

/*
 * Looking into a tree. json-c converts whatever it is asked for; here a value
 * is what it was written as, and nothing else.
 */

static const char *const kind_names[] = {
	[JSON_NULL] = "null",        [JSON_BOOL] = "a boolean",
	[JSON_INT] = "an integer",   [JSON_NUMBER] = "a decimal number",
	[JSON_STRING] = "a string",  [JSON_ARRAY] = "an array",
	[JSON_OBJECT] = "an object",
};
_Static_assert(sizeof(kind_names) / sizeof(kind_names[0]) == JSON_KIND_COUNT,
	       "kind_names[] doesn't match enum json_kind");

void json_free(struct json_object *value)
{
	(void)json_object_put(value);
}

void json_freep(struct json_object **value)
{
	json_free(*value);
}

enum json_kind json_kind_of(const struct json_object *value)
{
	switch (json_object_get_type(value)) {
	case json_type_boolean:
		return JSON_BOOL;
	case json_type_int:
		return JSON_INT;
	case json_type_double:
		return JSON_NUMBER;
	case json_type_string:
		return JSON_STRING;
	case json_type_array:
		return JSON_ARRAY;
	case json_type_object:
		return JSON_OBJECT;
	case json_type_null:
		break;
	}
	return JSON_NULL;
}

const char *json_kind_name(enum json_kind kind)
{
	assert(kind >= JSON_NULL && kind < JSON_KIND_COUNT);
	return kind_names[kind];
}

struct json_object *json_member(const struct json_object *object,
				const char *key)
{
	struct json_object *value;

	if (json_kind_of(object) != JSON_OBJECT ||
	    !json_object_object_get_ex(object, key, &value))
		return NULL;
	return value;
}

bool json_has(const struct json_object *object, const char *key)
{
	return json_kind_of(object) == JSON_OBJECT &&
	       json_object_object_get_ex(object, key, NULL);
}

size_t json_array_size(const struct json_object *array)
{
	return json_kind_of(array) == JSON_ARRAY ?
		       json_object_array_length(array) :
		       0;
}

struct json_object *json_array_at(const struct json_object *array, size_t i)
{
	assert(i < json_array_size(array));
	return json_object_array_get_idx(array, i);
}

/* json-c would have its arguments writable, and only reads them. */
union readable {
	const struct json_object *in;
	struct json_object *out;
};

bool json_is_true(const struct json_object *value)
{
	return json_kind_of(value) == JSON_BOOL &&
	       json_object_get_boolean(value);
}

struct json_string json_string_of(const struct json_object *value)
{
	/* It would print other kinds into the value. */
	union readable string = { .in = value };

	if (json_kind_of(value) != JSON_STRING)
		return (struct json_string){ NULL, 0 };
	return (struct json_string){
		.data = json_object_get_string(string.out),
		.length = (size_t)json_object_get_string_len(value),
	};
}

double json_number_of(const struct json_object *value)
{
	enum json_kind kind = json_kind_of(value);

	return kind == JSON_INT || kind == JSON_NUMBER ?
		       json_object_get_double(value) :
		       0;
}

bool json_equal(const struct json_object *a, const struct json_object *b)
{
	union readable left = { .in = a }, right = { .in = b };

	return json_object_equal(left.out, right.out);
}

struct json_object *json_new_object(void)
{
	return json_object_new_object();
}

int json_set(struct json_object *object, const char *key,
	     struct json_object *value)
{
	struct json_object *shared = json_object_get(value);

	if (json_object_object_add(object, key, shared) == 0)
		return 0;
	json_object_put(shared);
	return -ENOMEM;
}

int json_set_string(struct json_object *object, const char *key,
		    const char *data, size_t size)
{
	struct json_object *string;

	if (size > INT_MAX)
		return -ENOMEM;
	string = json_object_new_string_len(data, (int)size);
	if (!string)
		return -ENOMEM;
	if (json_object_object_add(object, key, string) == 0)
		return 0;
	json_object_put(string);
	return -ENOMEM;
}

int json_each_member(const struct json_object *object,
		     int (*fn)(const char *key, struct json_object *value,
			       void *userdata),
		     void *userdata)
{
	struct json_object_iter member;
	int r;

	if (json_kind_of(object) != JSON_OBJECT)
		return 0;
	json_object_object_foreachC(object, member)
	{
		r = fn(member.key, member.val, userdata);
		if (r < 0)
			return r;
	}
	return 0;
}
