#ifndef CUPOLA_BASE_JSON_H
#define CUPOLA_BASE_JSON_H

/*
 * Strict reading of JSON.
 *
 * json_parse() reads the text by itself and only keeps the outcome as json-c's
 * tree: json-c's own tokener takes the last of two equal keys, broken UTF-8 and
 * infinite numbers for granted. Here is refused, with the offset of the byte:
 *
 *  - text that is not UTF-8, \u escapes of half a surrogate pair, a BOM;
 *  - the same key twice in an object, also when spelt with escapes, and keys
 *    with \u0000 (string values may have it and keep it);
 *  - integers outside of int64, numbers whose double is infinite;
 *  - more than JSON_DEPTH_MAX levels or JSON_VALUES_MAX values, since each
 *    costs up to JSON_VALUE_BYTES of memory however short it is written;
 *  - anything behind the value, and all else that RFC 8259 does not have.
 *
 * A field table then takes what is expected out of an object, checks it, and
 * says which field is wrong as the API's "param" and "code".
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum {
	JSON_DEPTH_MAX = 64,
	JSON_VALUES_MAX = 16384,
	JSON_VALUE_BYTES = 1024,
};

/* json-c's tree. Nobody but base needs to know more of it. */
struct json_object;

/** enum json_kind - What a value is */
enum json_kind {
	JSON_NULL,
	JSON_BOOL,
	JSON_INT,    /* written without fraction and exponent */
	JSON_NUMBER, /* any number; a field of it takes JSON_INT, too */
	JSON_STRING,
	JSON_ARRAY,
	JSON_OBJECT,

	JSON_KIND_COUNT,
};

/**
 * struct json_string - A string value, borrowed from its tree
 * @data:	Valid UTF-8 with a NUL behind it, and maybe some inside; NULL if
 *		the field was absent
 * @length:	Bytes
 */
struct json_string {
	const char *data;
	size_t length;
};

/**
 * json_parse() - Read a text
 * @text:	Bytes, need not end in a NUL
 * @size:	How many
 * @ret_value:	The value, for json_free(); NULL for the text "null"
 * @err:	Says what is wrong at which byte, ERR_BAD_REQUEST, with the path of
 *		the value as param where it is inside one, and reason
 *		"duplicate_key" or "invalid_json"; may be NULL
 *
 * Return: 0, -EINVAL, or -EIO with ERR_INTERNAL when there is no memory
 */
int json_parse(const char *text, size_t size, struct json_object **ret_value,
	       struct error *err);

/**
 * json_parse_counted() - The same, and how many values there are
 * @ret_values:	For estimates of memory; may be NULL
 */
int json_parse_counted(const char *text, size_t size,
		       struct json_object **ret_value, size_t *ret_values,
		       struct error *err);

/** json_free() - Release a tree that json_parse() gave; may be NULL */
void json_free(struct json_object *value);
void json_freep(struct json_object **value);

/** json_kind_of() - What a value is; NULL is JSON_NULL */
enum json_kind json_kind_of(const struct json_object *value);

/** json_kind_name() - As messages have it, as in "an integer" */
const char *json_kind_name(enum json_kind kind);

/** json_member() - An object's member, or NULL if absent, null, or no object */
struct json_object *json_member(const struct json_object *object,
				const char *key);

/** json_has() - Whether an object has a member, be it null */
bool json_has(const struct json_object *object, const char *key);

/** json_array_size() - How many items an array has; 0 if it is none */
size_t json_array_size(const struct json_object *array);

/** json_array_at() - Item @i of an array, below json_array_size() */
struct json_object *json_array_at(const struct json_object *array, size_t i);

/** json_string_of() - A string value; data is NULL if it is none */
struct json_string json_string_of(const struct json_object *value);

/** json_number_of() - A number's value; 0 if it is none */
double json_number_of(const struct json_object *value);

/** json_equal() - Whether two values say the same, in whatever order of keys */
bool json_equal(const struct json_object *a, const struct json_object *b);

/*
 * Making a tree out of parts of others, without copying those: a value may
 * belong to several trees, and goes when the last of them is freed.
 */

/** json_new_object() - An empty one, for json_free(); NULL without memory */
struct json_object *json_new_object(void);

/** json_set() - Set a member to a value that another tree has, too; -ENOMEM */
int json_set(struct json_object *object, const char *key,
	     struct json_object *value);

/** json_set_string() - Set a member to a new string, of UTF-8; -ENOMEM */
int json_set_string(struct json_object *object, const char *key,
		    const char *data, size_t size);

/** json_is_true() - Whether a value is true, and not only something like it */
bool json_is_true(const struct json_object *value);

/**
 * json_each_member() - Call a function for each member of an object
 * @object:	Object; anything else has no members
 * @fn:		Called in the order of the text with key, value and @userdata;
 *		a negative return ends the walk
 * @userdata:	For @fn
 *
 * Return: 0, or what @fn returned
 */
int json_each_member(const struct json_object *object,
		     int (*fn)(const char *key, struct json_object *value,
			       void *userdata),
		     void *userdata);

/**
 * struct json_field - One member that an object may have
 * @name:	Its key
 * @kind:	What it must be
 * @required:	Whether absence (or null) is an error
 * @offset:	Where it goes in the caller's struct, as which type is said at
 *		the macros below
 * @min:	Smallest JSON_INT or JSON_NUMBER; fewest bytes of a JSON_STRING;
 *		fewest items of a JSON_ARRAY
 * @max:	The same for the largest; 0 is no limit for strings and arrays,
 *		and for numbers if @min is 0, too
 * @above_min:	For JSON_NUMBER: @min itself is too small already
 * @choices:	For JSON_STRING: what it may be, NULL at the end; or NULL
 * @text:	For JSON_STRING: it is anybody's text and may hold U+0000, so that
 *		only its length says where it ends. Others end there for who
 *		takes them for C strings, and are refused with one
 */
struct json_field {
	const char *name;
	enum json_kind kind;
	bool required;
	bool above_min;
	bool text;
	size_t offset;
	int64_t min;
	int64_t max;
	const char *const *choices;
};

/* offsetof(), and an error if the member is not of the type that will be
 * written there. */
/* clang-format off */
#define JSON_OFFSET(type, member, member_type)                                 \
	(offsetof(type, member) +                                              \
	 0 * sizeof(char[__builtin_types_compatible_p(                         \
				 __typeof__(((type *)0)->member),              \
				 member_type) ? 1 : -1]))
/* clang-format on */

/*
 * Entries of a table: key, struct type, member, then designated initialisers
 * of struct json_field as needed:
 *
 *	static const struct json_field fields[] = {
 *		JSON_STRING_FIELD("name", struct create, name,
 *				  .required = true, .min = 1, .max = 256),
 *		JSON_INT_FIELD("minutes", struct create, minutes,
 *			       .min = 1, .max = 20),
 *	};
 */
/* clang-format off */
#define JSON_FIELD_(key, kind_, type, member, member_type, ...)                \
	{ .name = (key), .kind = (kind_),                                      \
	  .offset = JSON_OFFSET(type, member, member_type), __VA_ARGS__ }
/* clang-format on */
#define JSON_STRING_FIELD(key, type, member, ...)                       \
	JSON_FIELD_(key, JSON_STRING, type, member, struct json_string, \
		    __VA_ARGS__)
#define JSON_INT_FIELD(key, type, member, ...) \
	JSON_FIELD_(key, JSON_INT, type, member, int64_t, __VA_ARGS__)
#define JSON_NUMBER_FIELD(key, type, member, ...) \
	JSON_FIELD_(key, JSON_NUMBER, type, member, double, __VA_ARGS__)
#define JSON_BOOL_FIELD(key, type, member, ...) \
	JSON_FIELD_(key, JSON_BOOL, type, member, bool, __VA_ARGS__)
#define JSON_ARRAY_FIELD(key, type, member, ...)                         \
	JSON_FIELD_(key, JSON_ARRAY, type, member, struct json_object *, \
		    __VA_ARGS__)
#define JSON_OBJECT_FIELD(key, type, member, ...)                         \
	JSON_FIELD_(key, JSON_OBJECT, type, member, struct json_object *, \
		    __VA_ARGS__)

/** enum json_unknown - What to do with members that the table does not have */
enum json_unknown {
	JSON_UNKNOWN_REFUSED,
	JSON_UNKNOWN_IGNORED,
};

/**
 * json_read_fields() - Take an object's members into a struct
 * @object:	What json_parse() gave; NULL (an empty body, or null) counts as
 *		an empty object
 * @path:	Where the object is in the request, as in "expires_after", for
 *		the error's param; NULL at the top
 * @fields:	Table
 * @count:	How many entries
 * @unknown:	Whether members outside of the table are an error
 * @ret:	The struct; what is absent or null stays as it was. Strings,
 *		arrays and objects are borrowed from @object
 * @err:	ERR_BAD_REQUEST with param and reason:
 *		missing_required_parameter, invalid_type, unknown_parameter,
 *		integer_below_min_value, integer_above_max_value (decimal_… for
 *		JSON_NUMBER), string_below_min_length, string_above_max_length
 *		(array_… for JSON_ARRAY), invalid_value for a choice
 *
 * Return: 0 or -EINVAL; the struct may be partly written then
 */
int json_read_fields(const struct json_object *object, const char *path,
		     const struct json_field *fields, size_t count,
		     enum json_unknown unknown, void *ret, struct error *err);

/* The same with a table that is an array, and what it does not have ignored. */
#define JSON_READ(object, path, table, ret, err)             \
	json_read_fields(object, path, table,                \
			 sizeof(table) / sizeof((table)[0]), \
			 JSON_UNKNOWN_IGNORED, ret, err)

/**
 * json_read_string_item() - Take item @i of an array that must hold strings
 * @array:	Array
 * @path:	Where it is, as in "file_ids"
 * @i:		Which item
 * @ret:	The string, without a U+0000
 * @err:	As json_read_fields(), with param "file_ids[2]"
 *
 * Return: 0 or -EINVAL
 */
int json_read_string_item(const struct json_object *array, const char *path,
			  size_t i, struct json_string *ret, struct error *err);

#endif
