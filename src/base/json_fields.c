#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"

/* The place of a value in the request, as the API's "param" has it. */
struct place {
	char path[ERROR_PARAM_MAX];
};

/* What is longer is cut: a path is for people to find the field with. */
__attribute__((format(printf, 1, 2))) static struct place
place_of(const char *fmt, ...)
{
	struct place place;
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(place.path, sizeof(place.path), fmt, ap);
	va_end(ap);
	return place;
}

static struct place place_below(const char *path, const char *name)
{
	return path ? place_of("%s.%s", path, name) : place_of("%s", name);
}

static int fail_type(const struct place *place, enum json_kind wanted,
		     enum json_kind got, struct error *err)
{
	error_set_param(err, "%s", place->path);
	error_set_reason(err, "invalid_type");
	return error_set(
		err, ERR_BAD_REQUEST,
		"Invalid type for '%s': expected %s, but got %s instead",
		place->path,
		wanted == JSON_NUMBER ? "a number" : json_kind_name(wanted),
		json_kind_name(got));
}

/* @what is the kind as in "integer", @bound as in "above maximum value". */
static int fail_bound(const struct place *place, const char *what,
		      const char *bound, const char *reason, int64_t limit,
		      struct error *err)
{
	char code[ERROR_REASON_MAX];

	(void)snprintf(code, sizeof(code), "%s_%s", what, reason);
	error_set_param(err, "%s", place->path);
	error_set_reason(err, code);
	return error_set(err, ERR_BAD_REQUEST, "Invalid '%s': %s %s %" PRId64,
			 place->path, what, bound, limit);
}

static int check_int(const struct json_field *f, const struct place *place,
		     int64_t value, struct error *err)
{
	if (f->min == 0 && f->max == 0)
		return 0;
	if (value < f->min)
		return fail_bound(place, "integer", "is below the minimum of",
				  "below_min_value", f->min, err);
	if (value > f->max)
		return fail_bound(place, "integer", "is above the maximum of",
				  "above_max_value", f->max, err);
	return 0;
}

static int check_number(const struct json_field *f, const struct place *place,
			double value, struct error *err)
{
	if (f->min == 0 && f->max == 0)
		return 0;
	if (f->above_min && value <= (double)f->min)
		return fail_bound(place, "decimal", "must be above",
				  "below_min_value", f->min, err);
	if (value < (double)f->min)
		return fail_bound(place, "decimal", "is below the minimum of",
				  "below_min_value", f->min, err);
	if (value > (double)f->max)
		return fail_bound(place, "decimal", "is above the maximum of",
				  "above_max_value", f->max, err);
	return 0;
}

/* For strings in bytes and arrays in items; no maximum is none. */
static int check_length(const struct json_field *f, const struct place *place,
			size_t length, struct error *err)
{
	const char *what = f->kind == JSON_STRING ? "string" : "array";

	if (f->min > 0 && length < (uint64_t)f->min)
		return fail_bound(place, what,
				  "is shorter than the minimum length of",
				  "below_min_length", f->min, err);
	if (f->max > 0 && length > (uint64_t)f->max)
		return fail_bound(place, what,
				  "is longer than the maximum length of",
				  "above_max_length", f->max, err);
	return 0;
}

static int check_choice(const struct json_field *f, const struct place *place,
			struct json_string value, struct error *err)
{
	char words[256] = "";
	size_t used = 0, i;

	if (!f->choices)
		return 0;
	for (i = 0; f->choices[i]; i++) {
		if (strlen(f->choices[i]) == value.length &&
		    memcmp(f->choices[i], value.data, value.length) == 0)
			return 0;
		if (used < sizeof(words))
			used += (size_t)snprintf(words + used,
						 sizeof(words) - used, "%s'%s'",
						 i ? ", " : "", f->choices[i]);
	}
	error_set_param(err, "%s", place->path);
	error_set_reason(err, "invalid_value");
	return error_set(err, ERR_BAD_REQUEST,
			 "Invalid value for '%s': it must be one of %s",
			 place->path, words);
}

/* What is an id, a name or a word would go on as what stands before it. */
static int check_nul(const struct place *place, struct json_string value,
		     struct error *err)
{
	if (!value.length || !memchr(value.data, '\0', value.length))
		return 0;
	error_set_param(err, "%s", place->path);
	error_set_reason(err, "invalid_value");
	return error_set(err, ERR_BAD_REQUEST,
			 "Invalid value for '%s': it must not hold NUL "
			 "characters",
			 place->path);
}

static int read_string(const struct json_field *f, const struct place *place,
		       struct json_object *value, void *ret, struct error *err)
{
	struct json_string s = json_string_of(value);
	int r = check_length(f, place, s.length, err);

	if (r == 0 && !f->text)
		r = check_nul(place, s, err);
	if (r == 0)
		r = check_choice(f, place, s, err);
	if (r == 0)
		*(struct json_string *)ret = s;
	return r;
}

static int read_int(const struct json_field *f, const struct place *place,
		    struct json_object *value, void *ret, struct error *err)
{
	int64_t n = json_object_get_int64(value);
	int r = check_int(f, place, n, err);

	if (r == 0)
		*(int64_t *)ret = n;
	return r;
}

static int read_number(const struct json_field *f, const struct place *place,
		       struct json_object *value, void *ret, struct error *err)
{
	double n = json_object_get_double(value);
	int r = check_number(f, place, n, err);

	if (r == 0)
		*(double *)ret = n;
	return r;
}

static int read_bool(const struct json_field *f, const struct place *place,
		     struct json_object *value, void *ret, struct error *err)
{
	(void)f;
	(void)place;
	(void)err;
	*(bool *)ret = json_object_get_boolean(value);
	return 0;
}

static int read_nested(const struct json_field *f, const struct place *place,
		       struct json_object *value, void *ret, struct error *err)
{
	int r = 0;

	if (f->kind == JSON_ARRAY)
		r = check_length(f, place, json_array_size(value), err);
	if (r == 0)
		*(struct json_object **)ret = value;
	return r;
}

static int (*const readers[])(const struct json_field *f,
			      const struct place *place,
			      struct json_object *value, void *ret,
			      struct error *err) = {
	[JSON_NULL] = NULL,          [JSON_BOOL] = read_bool,
	[JSON_INT] = read_int,       [JSON_NUMBER] = read_number,
	[JSON_STRING] = read_string, [JSON_ARRAY] = read_nested,
	[JSON_OBJECT] = read_nested,
};
_Static_assert(sizeof(readers) / sizeof(readers[0]) == JSON_KIND_COUNT,
	       "readers[] doesn't match enum json_kind");

static bool kind_fits(enum json_kind wanted, enum json_kind got)
{
	return got == wanted || (wanted == JSON_NUMBER && got == JSON_INT);
}

static int read_field(const struct json_object *object, const char *path,
		      const struct json_field *f, void *ret, struct error *err)
{
	const struct place place = place_below(path, f->name);
	struct json_object *value = json_member(object, f->name);

	if (!value && !f->required)
		return 0;
	if (!value) {
		error_set_param(err, "%s", place.path);
		error_set_reason(err, "missing_required_parameter");
		return error_set(err, ERR_BAD_REQUEST,
				 "Missing required parameter: '%s'",
				 place.path);
	}
	if (!kind_fits(f->kind, json_kind_of(value)))
		return fail_type(&place, f->kind, json_kind_of(value), err);
	return readers[f->kind](f, &place, value, (char *)ret + f->offset, err);
}

static bool is_known(const struct json_field *fields, size_t count,
		     const char *key)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (strcmp(fields[i].name, key) == 0)
			return true;
	return false;
}

static int refuse_unknown(const struct json_object *object, const char *path,
			  const struct json_field *fields, size_t count,
			  struct error *err)
{
	/* Longer than a message, which is cut between characters. */
	char names[2 * ERROR_MESSAGE_MAX] = "";
	struct json_object_iter member;
	unsigned unknown = 0;
	struct place place;
	size_t used = 0;

	json_object_object_foreachC(object, member)
	{
		if (is_known(fields, count, member.key))
			continue;
		place = place_below(path, member.key);
		error_set_param(err, "%s", place.path);
		if (used < ERROR_MESSAGE_MAX)
			used += (size_t)snprintf(names + used,
						 sizeof(names) - used, "%s'%s'",
						 unknown ? ", " : "",
						 place.path);
		unknown++;
	}
	if (unknown == 0)
		return 0;
	error_set_reason(err, "unknown_parameter");
	return error_set(err, ERR_BAD_REQUEST, "Unknown parameter%s: %s",
			 unknown > 1 ? "s" : "", names);
}

int json_read_fields(const struct json_object *object, const char *path,
		     const struct json_field *fields, size_t count,
		     enum json_unknown unknown, void *ret, struct error *err)
{
	const struct place place = place_of("%s", path ? path : "body");
	size_t i;
	int r;

	if (object && json_kind_of(object) != JSON_OBJECT)
		return fail_type(&place, JSON_OBJECT, json_kind_of(object),
				 err);
	if (object && unknown == JSON_UNKNOWN_REFUSED) {
		r = refuse_unknown(object, path, fields, count, err);
		if (r < 0)
			return r;
	}
	for (i = 0; i < count; i++) {
		r = read_field(object, path, &fields[i], ret, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int json_read_string_item(const struct json_object *array, const char *path,
			  size_t i, struct json_string *ret, struct error *err)
{
	const struct json_object *item = json_array_at(array, i);
	const struct place place = place_of("%s[%zu]", path, i);

	if (json_kind_of(item) != JSON_STRING)
		return fail_type(&place, JSON_STRING, json_kind_of(item), err);
	*ret = json_string_of(item);
	return check_nul(&place, *ret, err);
}
