#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/json.h"
#include "base/json_write.h"
#include "base/name.h"

/* Bytes that are encoded at a time: whole groups of three. */
#define BASE64_PIECE 768

/* Flags of a level. */
enum {
	LEVEL_OBJECT = 1 << 0,
	LEVEL_FILLED = 1 << 1,
};

static void put(struct json_writer *w, const void *data, size_t size)
{
	int r;

	if (w->failure < 0)
		return;
	r = buf_add(w->buf, data, size);
	if (r < 0)
		w->failure = r;
}

static void put_str(struct json_writer *w, const char *s)
{
	put(w, s, strlen(s));
}

/* How many bytes from the start can be written as they are. */
static size_t plain_run(const uint8_t *data, size_t size)
{
	size_t i = 0;

	while (i < size && data[i] >= 0x20 && data[i] < 0x7f &&
	       data[i] != '"' && data[i] != '\\')
		i++;
	return i;
}

static void put_escaped(struct json_writer *w, uint32_t c)
{
	static const char names[] = "\"\\nrtbf";
	static const char meanings[] = "\"\\\n\r\t\b\f";
	const char *meaning = c && c < 0x80 ? strchr(meanings, (int)c) : NULL;
	char text[8];

	if (meaning)
		(void)snprintf(text, sizeof(text), "\\%c",
			       names[meaning - meanings]);
	else
		(void)snprintf(text, sizeof(text), "\\u%04x", c);
	put_str(w, text);
}

/*
 * JSON would take all but C0 as it is. But people let terminals show JSON, and
 * DEL, C1 and what reorders text act there as they would in any other text.
 */
static bool steers_terminals(uint32_t c)
{
	return char_is_control(c) || char_reorders(c);
}

/* Writes one character that plain_run() stopped at. Returns its bytes. */
static size_t put_character(struct json_writer *w, const uint8_t *at,
			    size_t size)
{
	uint32_t c;
	size_t n = utf8_next(at, size, &c);

	if (n == 0) {
		put_str(w, "\xef\xbf\xbd");
		return 1;
	}
	if (steers_terminals(c) || c == '"' || c == '\\')
		put_escaped(w, c);
	else
		put(w, at, n);
	return n;
}

static void put_string(struct json_writer *w, const void *data, size_t size)
{
	const uint8_t *at = data;
	size_t n;

	put(w, "\"", 1);
	while (size > 0 && w->failure == 0) {
		n = plain_run(at, size);
		if (n > 0)
			put(w, at, n);
		else
			n = put_character(w, at, size);
		at += n;
		size -= n;
	}
	put(w, "\"", 1);
}

/* What comes in front of every value: the comma, and the key in an object. */
static void begin_value(struct json_writer *w, const char *key)
{
	uint8_t *level = &w->levels[w->depth];

	assert(!!key == !!(*level & LEVEL_OBJECT));
	if (*level & LEVEL_FILLED)
		put(w, ",", 1);
	*level |= LEVEL_FILLED;
	if (!key)
		return;
	put_string(w, key, strlen(key));
	put(w, ":", 1);
}

static void open_level(struct json_writer *w, const char *key, uint8_t flags)
{
	begin_value(w, key);
	assert(w->depth < JSON_WRITER_DEPTH_MAX);
	w->levels[++w->depth] = flags;
	put(w, flags & LEVEL_OBJECT ? "{" : "[", 1);
}

void json_write_object(struct json_writer *w, const char *key)
{
	open_level(w, key, LEVEL_OBJECT);
}

void json_write_array(struct json_writer *w, const char *key)
{
	open_level(w, key, 0);
}

void json_write_close(struct json_writer *w)
{
	assert(w->depth > 0);
	put(w, w->levels[w->depth] & LEVEL_OBJECT ? "}" : "]", 1);
	w->depth--;
}

void json_write_string(struct json_writer *w, const char *key, const char *s)
{
	if (s)
		json_write_bytes(w, key, s, strlen(s));
	else
		json_write_null(w, key);
}

void json_write_bytes(struct json_writer *w, const char *key, const void *data,
		      size_t size)
{
	begin_value(w, key);
	put_string(w, data, size);
}

void json_write_base64(struct json_writer *w, const char *key, const void *data,
		       size_t size)
{
	const uint8_t *at = data;
	char text[BASE64_SIZE(BASE64_PIECE) + 1];
	size_t n;

	begin_value(w, key);
	put(w, "\"", 1);
	for (; size > 0; at += n, size -= n) {
		n = size < BASE64_PIECE ? size : BASE64_PIECE;
		base64_encode(at, n, text);
		put_str(w, text);
	}
	put(w, "\"", 1);
}

void json_write_int(struct json_writer *w, const char *key, int64_t value)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%" PRId64, value);
	begin_value(w, key);
	put_str(w, text);
}

void json_write_uint(struct json_writer *w, const char *key, uint64_t value)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%" PRIu64, value);
	begin_value(w, key);
	put_str(w, text);
}

/* With the fewest digits that give the same double again. */
void json_write_double(struct json_writer *w, const char *key, double value)
{
	char text[32];
	int digits;

	if (!isfinite(value)) {
		json_write_null(w, key);
		return;
	}
	for (digits = 15; digits <= 17; digits++) {
		(void)snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	begin_value(w, key);
	put_str(w, text);
	/* Else it would be read as an integer, and -0.0 lose its sign. */
	if (!strpbrk(text, ".e"))
		put_str(w, ".0");
}

void json_write_time(struct json_writer *w, const char *key, int64_t when)
{
	if (when > 0)
		json_write_int(w, key, when);
	else
		json_write_null(w, key);
}

void json_write_bool(struct json_writer *w, const char *key, bool value)
{
	begin_value(w, key);
	put_str(w, value ? "true" : "false");
}

void json_write_null(struct json_writer *w, const char *key)
{
	begin_value(w, key);
	put_str(w, "null");
}

static void write_members(struct json_writer *w,
			  const struct json_object *object)
{
	struct json_object_iter member;

	json_object_object_foreachC(object, member)
		json_write_value(w, member.key, member.val);
}

static void write_items(struct json_writer *w, const struct json_object *array)
{
	size_t i;

	for (i = 0; i < json_array_size(array); i++)
		json_write_value(w, NULL, json_array_at(array, i));
}

/* Recursion of at most JSON_DEPTH_MAX levels. */
void json_write_value(struct json_writer *w, const char *key,
		      const struct json_object *value)
{
	struct json_string s;

	switch (json_kind_of(value)) {
	case JSON_BOOL:
		json_write_bool(w, key, json_object_get_boolean(value));
		break;
	case JSON_INT:
		json_write_int(w, key, json_object_get_int64(value));
		break;
	case JSON_NUMBER:
		json_write_double(w, key, json_object_get_double(value));
		break;
	case JSON_STRING:
		s = json_string_of(value);
		json_write_bytes(w, key, s.data, s.length);
		break;
	case JSON_ARRAY:
		json_write_array(w, key);
		write_items(w, value);
		json_write_close(w);
		break;
	case JSON_OBJECT:
		json_write_object(w, key);
		write_members(w, value);
		json_write_close(w);
		break;
	case JSON_NULL:
	case JSON_KIND_COUNT:
		json_write_null(w, key);
		break;
	}
}

void json_write_raw(struct json_writer *w, const char *key, const char *text,
		    size_t size)
{
	begin_value(w, key);
	put(w, text, size);
}

void json_write_members(struct json_writer *w, const char *text, size_t size)
{
	uint8_t *level = &w->levels[w->depth];

	assert(*level & LEVEL_OBJECT);
	assert(size >= 2 && text[0] == '{' && text[size - 1] == '}');
	if (size == 2)
		return;
	if (*level & LEVEL_FILLED)
		put(w, ",", 1);
	*level |= LEVEL_FILLED;
	put(w, text + 1, size - 2);
}

void json_write_fail(struct json_writer *w, int r)
{
	if (w->failure == 0)
		w->failure = r;
}

int json_write_end(struct json_writer *w)
{
	assert(w->depth == 0);
	return w->failure;
}
