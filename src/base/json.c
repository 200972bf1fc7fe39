#include <errno.h>
#include <json-c/json.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistr.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json.h"

/*
 * A recursive descent, of at most JSON_DEPTH_MAX levels. The text was found to
 * be UTF-8 as a whole before, so that the functions below need to know ASCII
 * only. Each parse_ function begins at the first byte of its production and
 * ends behind the last; on failure the error is set and the position is moot.
 */

enum {
	/* Digits of a number; the longest double has fewer than 400. */
	NUMBER_MAX = 512,

	/* More than an error can take, so that it is cut there. */
	PLACE_SIZE = 2 * ERROR_PARAM_MAX,
};

struct parser {
	const char *text;
	const char *at;
	const char *end;
	unsigned depth;
	size_t values;
	struct buf string; /* the string that was decoded last */
	char place[PLACE_SIZE]; /* of what failed, as in "tools[0].name" */
	struct error *err;
};

static int parse_value(struct parser *p, struct json_object **ret);

static int fail(struct parser *p, const char *at, const char *why)
{
	return error_set(p->err, ERR_BAD_REQUEST,
			 "The JSON text is invalid at byte %zu: %s",
			 (size_t)(at - p->text), why);
}

/* Puts what surrounds it in front of the place of a failure, from inside out. */
__attribute__((format(printf, 2, 3)))
static void fail_inside(struct parser *p, const char *fmt, ...)
{
	char inner[PLACE_SIZE];
	size_t used;
	va_list ap;

	memcpy(inner, p->place, sizeof(inner));
	va_start(ap, fmt);
	(void)vsnprintf(p->place, sizeof(p->place), fmt, ap);
	va_end(ap);
	used = strlen(p->place);
	(void)snprintf(p->place + used, sizeof(p->place) - used, "%s%s",
		       inner[0] && inner[0] != '[' ? "." : "", inner);
}

static int fail_memory(struct parser *p)
{
	return error_set(p->err, ERR_INTERNAL, "Out of memory for JSON");
}

static void skip_space(struct parser *p)
{
	while (p->at < p->end && (*p->at == ' ' || *p->at == '\t' ||
				  *p->at == '\n' || *p->at == '\r'))
		p->at++;
}

/* The next byte, or NUL at the end; NUL itself is never allowed outside. */
static char peek(const struct parser *p)
{
	if (p->at == p->end)
		return '\0';
	return *p->at;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static const char *skip_digits(const struct parser *p, const char *at)
{
	while (at < p->end && is_digit(*at))
		at++;
	return at;
}

/* Finds where a number ends and whether it is written as an integer. */
static int scan_number(struct parser *p, const char **ret_end,
		       bool *ret_integer)
{
	const char *at = p->at, *digits;
	bool integer = true;

	if (at < p->end && *at == '-')
		at++;
	digits = at;
	at = skip_digits(p, at);
	if (at == digits)
		return fail(p, at, "a digit is missing");
	if (*digits == '0' && at - digits > 1)
		return fail(p, digits, "a number begins with 0");
	if (at < p->end && *at == '.') {
		digits = ++at;
		at = skip_digits(p, at);
		if (at == digits)
			return fail(p, at, "a digit is missing");
		integer = false;
	}
	if (at < p->end && (*at == 'e' || *at == 'E')) {
		at++;
		if (at < p->end && (*at == '+' || *at == '-'))
			at++;
		digits = at;
		at = skip_digits(p, at);
		if (at == digits)
			return fail(p, at, "a digit is missing");
		integer = false;
	}
	*ret_end = at;
	*ret_integer = integer;
	return 0;
}

static int parse_number(struct parser *p, struct json_object **ret)
{
	char digits[NUMBER_MAX + 1];
	const char *start = p->at, *end = start;
	bool integer = false;
	double value;
	int64_t whole;
	int r;

	r = scan_number(p, &end, &integer);
	if (r < 0)
		return r;
	if (end - start > NUMBER_MAX)
		return fail(p, start, "a number is too long");
	memcpy(digits, start, (size_t)(end - start));
	digits[end - start] = '\0';
	p->at = end;

	/* No program here calls setlocale(), so the point is a point. */
	errno = 0;
	if (integer) {
		whole = strtoll(digits, NULL, 10);
		if (errno == ERANGE)
			return fail(p, start, "an integer is out of range");
		*ret = json_object_new_int64(whole);
	} else {
		value = strtod(digits, NULL);
		if (!isfinite(value))
			return fail(p, start, "a number is out of range");
		*ret = json_object_new_double(value);
	}
	return *ret ? 0 : fail_memory(p);
}

/* Reads the four digits of \uXXXX at p->at. */
static int parse_hex4(struct parser *p, uint32_t *ret)
{
	uint32_t value = 0;
	int i;

	for (i = 0; i < 4; i++, p->at++) {
		char c = peek(p);

		if (is_digit(c))
			value = value << 4 | (uint32_t)(c - '0');
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			value = value << 4 | (uint32_t)((c | 0x20) - 'a' + 10);
		else
			return fail(p, p->at,
				    "four hex digits must follow \\u");
	}
	*ret = value;
	return 0;
}

/* Reads what follows "\u": one code unit, or two that make a pair. */
static int parse_unicode_escape(struct parser *p)
{
	const char *start = p->at - 2;
	uint32_t high = 0, low = 0;
	uint8_t utf8[6];
	int r;

	r = parse_hex4(p, &high);
	if (r < 0)
		return r;
	if (high >= 0xdc00 && high <= 0xdfff)
		return fail(p, start, "half of a surrogate pair");
	if (high >= 0xd800 && high <= 0xdbff) {
		if (p->end - p->at < 2 || memcmp(p->at, "\\u", 2) != 0)
			return fail(p, start, "half of a surrogate pair");
		p->at += 2;
		r = parse_hex4(p, &low);
		if (r < 0)
			return r;
		if (low < 0xdc00 || low > 0xdfff)
			return fail(p, start, "half of a surrogate pair");
		high = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
	}
	r = u8_uctomb(utf8, high, sizeof(utf8));
	if (r < 0 || buf_add(&p->string, utf8, (size_t)r) < 0)
		return fail_memory(p);
	return 0;
}

/* Reads what follows a backslash. */
static int parse_escape(struct parser *p)
{
	static const char names[] = "\"\\/bfnrt";
	static const char meanings[] = "\"\\/\b\f\n\r\t";
	char c = peek(p);
	const char *name;

	if (c == 'u') {
		p->at++;
		return parse_unicode_escape(p);
	}
	name = c ? strchr(names, c) : NULL;
	if (!name)
		return fail(p, p->at, "an unknown escape");
	p->at++;
	if (buf_add_byte(&p->string, (uint8_t)meanings[name - names]) < 0)
		return fail_memory(p);
	return 0;
}

/* Decodes a string into p->string. */
static int parse_string(struct parser *p)
{
	const char *start = p->at++, *run;
	int r;

	buf_clear(&p->string);
	for (;;) {
		run = p->at;
		while (p->at < p->end && *p->at != '"' && *p->at != '\\' &&
		       (unsigned char)*p->at >= 0x20)
			p->at++;
		if (buf_add(&p->string, run, (size_t)(p->at - run)) < 0)
			return fail_memory(p);
		if (p->at == p->end)
			return fail(p, start, "a string does not end");
		if (*p->at == '"')
			break;
		if (*p->at != '\\')
			return fail(p, p->at,
				    "a control character in a string");
		p->at++;
		r = parse_escape(p);
		if (r < 0)
			return r;
	}
	p->at++;
	return 0;
}

static int parse_string_value(struct parser *p, struct json_object **ret)
{
	int r = parse_string(p);

	if (r < 0)
		return r;
	/* The text is shorter than INT_MAX, and no string outgrows it. */
	*ret = json_object_new_string_len(buf_str(&p->string),
					  (int)p->string.length);
	return *ret ? 0 : fail_memory(p);
}

/* Reads the key of a member and the colon. */
static int parse_key(struct parser *p, const struct json_object *object,
		     char **ret_key)
{
	const char *start = p->at;
	int r;

	if (peek(p) != '"')
		return fail(p, p->at, "a key is missing");
	r = parse_string(p);
	if (r < 0)
		return r;
	if (memchr(buf_str(&p->string), '\0', p->string.length))
		return fail(p, start, "a key contains U+0000");
	if (json_object_object_get_ex(object, buf_str(&p->string), NULL)) {
		fail_inside(p, "%s", buf_str(&p->string));
		error_set_reason(p->err, "duplicate_key");
		return fail(p, start, "the same key a second time");
	}
	skip_space(p);
	if (peek(p) != ':')
		return fail(p, p->at, "':' is missing");
	p->at++;
	*ret_key = buf_take(&p->string, NULL);
	return *ret_key ? 0 : fail_memory(p);
}

static int parse_member(struct parser *p, struct json_object *object)
{
	_cleanup_(json_freep) struct json_object *value = NULL;
	_cleanup_free_ char *key = NULL;
	int r;

	skip_space(p);
	r = parse_key(p, object, &key);
	if (r < 0)
		return r;
	skip_space(p);
	r = parse_value(p, &value);
	if (r < 0) {
		fail_inside(p, "%s", key);
		return r;
	}
	if (json_object_object_add_ex(object, key, value,
				      JSON_C_OBJECT_ADD_KEY_IS_NEW) < 0)
		return fail_memory(p);
	(void)take_ptr(value);
	return 0;
}

static int parse_item(struct parser *p, struct json_object *array)
{
	_cleanup_(json_freep) struct json_object *value = NULL;
	int r;

	skip_space(p);
	r = parse_value(p, &value);
	if (r < 0) {
		fail_inside(p, "[%zu]", json_object_array_length(array));
		return r;
	}
	if (json_object_array_add(array, value) < 0)
		return fail_memory(p);
	(void)take_ptr(value);
	return 0;
}

/* Reads an object or array, from its opening to its closing bracket. */
static int parse_container(struct parser *p, struct json_object *container,
			   int (*parse_one)(struct parser *p,
					    struct json_object *container),
			   char close)
{
	int r;

	p->at++;
	skip_space(p);
	if (peek(p) == close) {
		p->at++;
		return 0;
	}
	for (;;) {
		r = parse_one(p, container);
		if (r < 0)
			return r;
		skip_space(p);
		if (peek(p) == close)
			break;
		if (peek(p) != ',')
			return fail(p, p->at,
				    close == '}' ? "',' or '}' is missing" :
						   "',' or ']' is missing");
		p->at++;
	}
	p->at++;
	return 0;
}

static int parse_nested(struct parser *p, struct json_object **ret)
{
	_cleanup_(json_freep) struct json_object *container = NULL;
	const bool object = peek(p) == '{';
	int r;

	if (p->depth == JSON_DEPTH_MAX)
		return fail(p, p->at, "too many levels");
	/* Room for two items: an array of the default size takes 300 bytes. */
	container = object ? json_object_new_object() :
			     json_object_new_array_ext(2);
	if (!container)
		return fail_memory(p);
	p->depth++;
	r = parse_container(p, container, object ? parse_member : parse_item,
			    object ? '}' : ']');
	if (r < 0)
		return r;
	p->depth--;
	*ret = take_ptr(container);
	return 0;
}

static int parse_word(struct parser *p, struct json_object **ret)
{
	static const char *const words[] = { "null", "false", "true" };
	size_t i, length;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		length = strlen(words[i]);
		if ((size_t)(p->end - p->at) < length ||
		    memcmp(p->at, words[i], length) != 0)
			continue;
		p->at += length;
		if (i == 0)
			return 0; /* json-c's null is NULL */
		*ret = json_object_new_boolean(i == 2);
		return *ret ? 0 : fail_memory(p);
	}
	return fail(p, p->at,
		    p->at == p->end ? "it ends early" : "a value is missing");
}

static int parse_value(struct parser *p, struct json_object **ret)
{
	const char c = peek(p);

	if (p->values++ == JSON_VALUES_MAX)
		return fail(p, p->at, "too many values");
	if (c == '{' || c == '[')
		return parse_nested(p, ret);
	if (c == '"')
		return parse_string_value(p, ret);
	if (c == '-' || is_digit(c))
		return parse_number(p, ret);
	return parse_word(p, ret);
}

static int parse_text(struct parser *p, struct json_object **ret)
{
	const size_t size = (size_t)(p->end - p->text);
	const void *bad;
	int r;

	if (size >= INT_MAX)
		return fail(p, p->text, "it is too long");
	bad = size ? u8_check((const uint8_t *)p->text, size) : NULL;
	if (bad)
		return fail(p, bad, "it is not UTF-8");
	skip_space(p);
	r = parse_value(p, ret);
	if (r < 0)
		return r;
	skip_space(p);
	if (p->at != p->end)
		return fail(p, p->at, "something follows the value");
	return 0;
}

int json_parse(const char *text, size_t size, struct json_object **ret_value,
	       struct error *err)
{
	return json_parse_counted(text, size, ret_value, NULL, err);
}

int json_parse_counted(const char *text, size_t size,
		       struct json_object **ret_value, size_t *ret_values,
		       struct error *err)
{
	_cleanup_(json_freep) struct json_object *value = NULL;
	struct parser p = { .text = text,
			    .at = text,
			    /* Nothing may be nowhere. */
			    .end = size > 0 ? text + size : text,
			    .string = BUF_INIT(size),
			    .err = err };
	int r;

	r = parse_text(&p, &value);
	buf_done(&p.string);
	if (r < 0) {
		if (p.place[0])
			error_set_param(err, "%s", p.place);
		if (r == -EINVAL)
			error_set_reason(err, "invalid_json");
		return r;
	}
	*ret_value = take_ptr(value);
	if (ret_values)
		*ret_values = p.values;
	return 0;
}
