/* SPDX-License-Identifier: Apache-2.0 */
#include "turn/upstream_mend.h"

#include <errno.h>
#include <string.h>

#include "base/name.h"

#define REPLACEMENT "\xef\xbf\xbd"

enum { ESCAPE_SIZE = 6 }; /* \uXXXX */

bool upstream_mend_is_waiting(const struct upstream_mend *m)
{
	return m->surrogate || m->size > 0;
}

static int digit(char c)
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)((at - digits) % 16) : -1;
}

/* The unit of an escape \uXXXX at the beginning of @text; 0 if it is none. */
static unsigned unit_at(const char *text, size_t size)
{
	unsigned unit = 0;
	int i, d;

	if (size < ESCAPE_SIZE || text[0] != '\\' || text[1] != 'u')
		return 0;
	for (i = 2; i < ESCAPE_SIZE; i++) {
		d = digit(text[i]);
		if (d < 0)
			return 0;
		unit = unit << 4 | (unsigned)d;
	}
	return unit;
}

static bool is_high(unsigned unit)
{
	return unit >= 0xd800 && unit < 0xdc00;
}

static bool is_low(unsigned unit)
{
	return unit >= 0xdc00 && unit < 0xe000;
}

/* Takes one escape, of any kind. Return: its bytes, or as buf_add() */
static int mend_escape(struct upstream_mend *m, const char *text, size_t size,
		       struct buf *ret)
{
	unsigned unit = unit_at(text, size);
	unsigned next = unit_at(text + ESCAPE_SIZE,
				size > ESCAPE_SIZE ? size - ESCAPE_SIZE : 0);
	int r;

	if (is_high(unit) && is_low(next)) {
		r = buf_add(ret, text, 2 * ESCAPE_SIZE);
		return r < 0 ? r : 2 * ESCAPE_SIZE;
	}
	if (is_high(unit) && size > ESCAPE_SIZE && text[ESCAPE_SIZE] == '"') {
		m->surrogate = unit;
		return ESCAPE_SIZE;
	}
	if (is_low(unit) && m->surrogate) {
		r = buf_printf(ret, "\\u%04x\\u%04x", m->surrogate, unit);
		m->surrogate = 0;
		return r < 0 ? r : ESCAPE_SIZE;
	}
	if (is_high(unit) || is_low(unit)) {
		r = buf_add_str(ret, REPLACEMENT);
		return r < 0 ? r : ESCAPE_SIZE;
	}
	r = buf_add(ret, text, size < 2 ? size : 2);
	return r < 0 ? r : size < 2 ? (int)size : 2;
}

/* How many bytes that cannot be read as a character lie here, at most 3. */
static size_t broken_run(const char *text, size_t size)
{
	size_t n = 0;
	uint32_t c;

	while (n < 3 && n < size && (text[n] & 0x80) &&
	       utf8_next(text + n, size - n, &c) == 0)
		n++;
	return n;
}

/* Takes bytes that are no character. Return: how many, or as buf_add() */
static int mend_bytes(struct upstream_mend *m, const char *text, size_t size,
		      struct buf *ret)
{
	size_t n = broken_run(text, size);
	unsigned char whole[6];
	uint32_t c;
	int r;

	if (m->size > 0) {
		memcpy(whole, m->bytes, m->size);
		memcpy(whole + m->size, text, n);
		if (utf8_next(whole, m->size + n, &c) == m->size + n) {
			r = buf_add(ret, whole, m->size + n);
			m->size = 0;
			return r < 0 ? r : (int)n;
		}
	}
	/* Ahead of the quote, and a character's beginning: half of one. */
	if (n < size && text[n] == '"' && ((unsigned char)text[0] & 0xc0) == 0xc0) {
		memcpy(m->bytes, text, n);
		m->size = n;
		return (int)n;
	}
	r = buf_add_str(ret, REPLACEMENT);
	return r < 0 ? r : (int)n;
}

int upstream_mend(struct upstream_mend *m, const char *text, size_t size,
		  struct buf *ret)
{
	uint32_t c;
	size_t n;
	int r = 0;

	while (size > 0) {
		if (*text == '\\') {
			r = mend_escape(m, text, size, ret);
		} else {
			n = utf8_next(text, size, &c);
			if (n == 0)
				r = mend_bytes(m, text, size, ret);
			else
				r = buf_add(ret, text, n) < 0 ? -EMSGSIZE
							      : (int)n;
		}
		if (r < 0)
			return r;
		text += r;
		size -= (size_t)r;
	}
	return 0;
}
