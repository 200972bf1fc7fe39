/* SPDX-License-Identifier: Apache-2.0 */
#include "turn/code_arguments.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>


/**
 * enum state - Where in the arguments the decoder is
 *
 *    BEGIN - Only white space so far
 *    PLAIN - They are no JSON object: all of it is code
 *    KEY_WANTED, KEY, COLON - Around the name of a member
 *    VALUE - In front of a member's value
 *    SKIP - In a value that does not matter
 *    CODE - In the code's string
 *    ESCAPE, UNICODE - In an escape in there
 *    BEHIND - Behind a value
 *    END - The object is over
 *    BROKEN - It is no JSON; what of the code was found stands
 */
enum state {
	STATE_BEGIN,
	STATE_PLAIN,
	STATE_KEY_WANTED,
	STATE_KEY,
	STATE_COLON,
	STATE_VALUE,
	STATE_SKIP,
	STATE_CODE,
	STATE_ESCAPE,
	STATE_UNICODE,
	STATE_BEHIND,
	STATE_END,
	STATE_BROKEN,

	STATE_COUNT,
};

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static int add_char(struct buf *code, uint32_t c)
{
	uint8_t bytes[4];
	size_t size;

	if (c < 0x80) {
		bytes[0] = (uint8_t)c;
		size = 1;
	} else if (c < 0x800) {
		bytes[0] = (uint8_t)(0xc0 | c >> 6);
		size = 2;
	} else if (c < 0x10000) {
		bytes[0] = (uint8_t)(0xe0 | c >> 12);
		size = 3;
	} else {
		bytes[0] = (uint8_t)(0xf0 | c >> 18);
		size = 4;
	}
	for (size_t i = 1; i < size; i++)
		bytes[i] = (uint8_t)(0x80 | (c >> 6 * (size - 1 - i) & 0x3f));
	return buf_add(code, bytes, size);
}

/* A half of a surrogate pair whose other half never came. */
static int drop_half(struct code_arguments *a, struct buf *code)
{
	if (a->high == 0)
		return 0;
	a->high = 0;
	return add_char(code, 0xfffd);
}

static int in_begin(struct code_arguments *a, char c, struct buf *code)
{
	(void)code;
	if (c == '{')
		a->state = STATE_KEY_WANTED;
	else if (!is_space(c))
		a->state = STATE_PLAIN;
	return 0;
}

static int in_key_wanted(struct code_arguments *a, char c, struct buf *code)
{
	(void)code;
	if (c == '"') {
		a->state = STATE_KEY;
		a->key_size = 0;
		a->key_over = false;
	} else if (c == '}') {
		a->state = STATE_END;
	} else if (!is_space(c)) {
		a->state = STATE_BROKEN;
	}
	return 0;
}

static int in_key(struct code_arguments *a, char c, struct buf *code)
{
	(void)code;
	if (c == '"') {
		a->key[a->key_size] = '\0';
		a->state = STATE_COLON;
	} else if (c == '\\' || a->key_size == CODE_KEY_MAX) {
		/* The key that counts needs no escape. */
		a->key_over = true;
	} else {
		a->key[a->key_size++] = c;
	}
	return 0;
}

static int in_colon(struct code_arguments *a, char c, struct buf *code)
{
	(void)code;
	if (c == ':')
		a->state = STATE_VALUE;
	else if (!is_space(c))
		a->state = STATE_BROKEN;
	return 0;
}

/* Objects and arrays are only counted: that they fit is nothing to us. */
static int in_skip(struct code_arguments *a, char c, struct buf *code)
{
	(void)code;
	if (a->quoted) {
		if (a->escaped)
			a->escaped = false;
		else if (c == '\\')
			a->escaped = true;
		else if (c == '"')
			a->quoted = false;
	} else if (c == '"') {
		a->quoted = true;
	} else if (c == '{' || c == '[') {
		a->depth++;
	} else if (a->depth > 0 && (c == '}' || c == ']')) {
		a->depth--;
	} else if (a->depth == 0 && c == ',') {
		a->state = STATE_KEY_WANTED;
	} else if (a->depth == 0 && c == '}') {
		a->state = STATE_END;
	}
	return 0;
}

static int in_value(struct code_arguments *a, char c, struct buf *code)
{
	if (is_space(c))
		return 0;
	if (c == '"' && !a->key_over && !a->found &&
	    strcmp(a->key, "code") == 0) {
		a->state = STATE_CODE;
		a->found = true;
		return 0;
	}
	a->state = STATE_SKIP;
	a->depth = 0;
	a->quoted = false;
	a->escaped = false;
	return in_skip(a, c, code);
}

static int in_code(struct code_arguments *a, char c, struct buf *code)
{
	int r;

	if (c == '\\') {
		a->state = STATE_ESCAPE;
		return 0;
	}
	r = drop_half(a, code);
	if (r < 0)
		return r;
	if (c == '"') {
		a->state = STATE_BEHIND;
		return 0;
	}
	return buf_add_byte(code, (uint8_t)c);
}

static int in_escape(struct code_arguments *a, char c, struct buf *code)
{
	static const char names[] = "\"\\/nrtbf";
	static const char meanings[] = "\"\\/\n\r\t\b\f";
	const char *name = c ? strchr(names, c) : NULL;
	int r;

	if (c == 'u') {
		a->state = STATE_UNICODE;
		a->unit = 0;
		a->digits = 0;
		return 0;
	}
	a->state = STATE_CODE;
	r = drop_half(a, code);
	if (r < 0 || name)
		return r < 0 ? r
			     : buf_add_byte(code,
					    (uint8_t)meanings[name - names]);
	/* As in "\d": JSON has no such thing, and the model meant both. */
	r = buf_add_byte(code, '\\');
	return r < 0 ? r : buf_add_byte(code, (uint8_t)c);
}

static int add_unit(struct code_arguments *a, struct buf *code)
{
	uint32_t high = a->high;
	int r;

	a->state = STATE_CODE;
	if (high && a->unit >= 0xdc00 && a->unit <= 0xdfff) {
		a->high = 0;
		return add_char(code, 0x10000 + ((high - 0xd800) << 10) +
					      (a->unit - 0xdc00));
	}
	r = drop_half(a, code);
	if (r < 0)
		return r;
	if (a->unit >= 0xd800 && a->unit <= 0xdbff) {
		a->high = a->unit;
		return 0;
	}
	return add_char(code, a->unit >= 0xdc00 && a->unit <= 0xdfff
				      ? 0xfffd
				      : a->unit);
}

static int in_unicode(struct code_arguments *a, char c, struct buf *code)
{
	int r;

	if (!isxdigit((unsigned char)c)) {
		a->state = STATE_CODE;
		a->high = 0;
		r = add_char(code, 0xfffd);
		return r < 0 ? r : in_code(a, c, code);
	}
	a->unit = a->unit << 4 |
		  (uint32_t)(isdigit((unsigned char)c)
				     ? c - '0'
				     : (c | 0x20) - 'a' + 10);
	return ++a->digits == 4 ? add_unit(a, code) : 0;
}

static int in_behind(struct code_arguments *a, char c, struct buf *code)
{
	(void)code;
	if (c == ',')
		a->state = STATE_KEY_WANTED;
	else if (c == '}')
		a->state = STATE_END;
	else if (!is_space(c))
		a->state = STATE_BROKEN;
	return 0;
}

static int in_end(struct code_arguments *a, char c, struct buf *code)
{
	(void)code;
	if (!is_space(c))
		a->state = STATE_BROKEN;
	return 0;
}

static int in_broken(struct code_arguments *a, char c, struct buf *code)
{
	(void)a;
	(void)c;
	(void)code;
	return 0;
}

typedef int (*state_fn)(struct code_arguments *a, char c, struct buf *code);

static const state_fn states[] = {
	[STATE_BEGIN] = in_begin,
	[STATE_PLAIN] = in_broken, /* whole pieces are taken, not characters */
	[STATE_KEY_WANTED] = in_key_wanted,
	[STATE_KEY] = in_key,
	[STATE_COLON] = in_colon,
	[STATE_VALUE] = in_value,
	[STATE_SKIP] = in_skip,
	[STATE_CODE] = in_code,
	[STATE_ESCAPE] = in_escape,
	[STATE_UNICODE] = in_unicode,
	[STATE_BEHIND] = in_behind,
	[STATE_END] = in_end,
	[STATE_BROKEN] = in_broken,
};
static_assert(sizeof(states) / sizeof(states[0]) == STATE_COUNT,
	      "states[] doesn't match enum state");

/* White space in front belongs to the code as well: it may be an indent. */
static int take_plain(struct code_arguments *a, const char *all, size_t size,
		      struct buf *code)
{
	size_t had = code->length;
	int r;

	r = buf_add(code, all + had, size - had);
	if (r < 0)
		return r;
	a->at = size;
	return 0;
}

int code_arguments_feed(struct code_arguments *a, const char *all, size_t size,
			struct buf *code)
{
	int r;

	while (a->at < size && a->state != STATE_PLAIN) {
		r = states[a->state](a, all[a->at], code);
		if (r < 0)
			return r;
		a->at++;
	}
	return a->state == STATE_PLAIN ? take_plain(a, all, size, code) : 0;
}

int code_arguments_end(struct code_arguments *a, const char *all, size_t size,
		       struct buf *code)
{
	int r;

	r = code_arguments_feed(a, all, size, code);
	if (r >= 0)
		r = drop_half(a, code);
	if (r < 0)
		return r;
	if (a->state == STATE_PLAIN)
		return CODE_PLAIN;
	if (a->state == STATE_END && a->found)
		return CODE_WHOLE;
	if (a->state != STATE_BROKEN || a->found)
		return CODE_CUT;
	/* Code that begins like an object, such as a set. */
	r = take_plain(a, all, size, code);
	return r < 0 ? r : CODE_PLAIN;
}
