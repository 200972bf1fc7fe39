/* SPDX-License-Identifier: Apache-2.0 */
#include "api/session_value.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/name.h"

enum {
	/* Readers keep numbers as doubles: this many digits survive that. */
	DIGITS_MAX = 15,
	NUMBER_MAX = 32,
};

/* ---------------------------------------------------------------- numbers */

static size_t digits(const char *s, size_t size)
{
	size_t i = 0;

	while (i < size && s[i] >= '0' && s[i] <= '9')
		i++;
	return i;
}

/* JSON's grammar, which Python's numbers share; inf and nan are none. */
static bool is_number(const char *s, size_t size)
{
	size_t i = size > 0 && s[0] == '-', n;
	bool whole = true;

	n = digits(s + i, size - i);
	if (n == 0 || (n > 1 && s[i] == '0'))
		return false;
	i += n;
	if (i < size && s[i] == '.') {
		whole = false;
		size_t fraction = digits(s + i + 1, size - i - 1);

		if (fraction == 0)
			return false;
		i += 1 + fraction;
	}
	if (i < size && s[i] == 'e') {
		whole = false;
		i++;
		if (i < size && (s[i] == '+' || s[i] == '-'))
			i++;
		n = digits(s + i, size - i);
		if (n == 0)
			return false;
		i += n;
	}
	return i == size && (!whole || n <= DIGITS_MAX);
}

/* ---------------------------------------------------------------- strings */

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

static int add_char(struct buf *out, uint32_t c)
{
	uint8_t utf8[4];
	size_t n = 0;

	if (c < 0x80) {
		utf8[n++] = (uint8_t)c;
	} else if (c < 0x800) {
		utf8[n++] = (uint8_t)(0xc0 | (c >> 6));
	} else if (c < 0x10000) {
		/* Half of a surrogate pair is no character. */
		if (c >= 0xd800 && c < 0xe000)
			c = 0xfffd;
		utf8[n++] = (uint8_t)(0xe0 | (c >> 12));
		utf8[n++] = (uint8_t)(0x80 | ((c >> 6) & 0x3f));
	} else {
		utf8[n++] = (uint8_t)(0xf0 | (c >> 18));
		utf8[n++] = (uint8_t)(0x80 | ((c >> 12) & 0x3f));
		utf8[n++] = (uint8_t)(0x80 | ((c >> 6) & 0x3f));
	}
	if (n > 0 && c >= 0x80)
		utf8[n++] = (uint8_t)(0x80 | (c & 0x3f));
	return buf_add(out, utf8, n);
}

/* "\xNN", "\uNNNN" or "\UNNNNNNNN", behind the backslash. */
static ssize_t add_coded(struct buf *out, const char *s, size_t size)
{
	size_t want = s[0] == 'x' ? 2 : s[0] == 'u' ? 4 : 8, i;
	uint32_t c = 0;

	if (size < 1 + want)
		return -EINVAL;
	for (i = 1; i <= want; i++) {
		int value = hex_value(s[i]);

		if (value < 0 || c > 0x10ffff)
			return -EINVAL;
		c = c << 4 | (uint32_t)value;
	}
	if (c > 0x10ffff)
		return -EINVAL;
	return add_char(out, c) < 0 ? -ENOMEM : (ssize_t)(1 + want);
}

/* What follows a backslash. Returns how much of it there is. */
static ssize_t add_escape(struct buf *out, const char *s, size_t size)
{
	static const char letters[] = "nrt\\'\"", means[] = "\n\r\t\\'\"";
	const char *at;

	if (size == 0)
		return -EINVAL;
	if (s[0] == 'x' || s[0] == 'u' || s[0] == 'U')
		return add_coded(out, s, size);
	at = memchr(letters, s[0], strlen(letters));
	if (!at)
		return -EINVAL;
	return buf_add(out, &means[at - letters], 1) < 0 ? -ENOMEM : 1;
}

/* Whether the text is the repr() of one string, which goes to @out. */
static bool read_string(const char *s, size_t size, struct buf *out)
{
	char quote = size >= 2 ? s[0] : '\0';
	size_t i;

	if ((quote != '\'' && quote != '"') || s[size - 1] != quote)
		return false;
	for (i = 1; i < size - 1; i++) {
		ssize_t n = 0;
		int r = 0;

		if (s[i] == quote)
			return false;
		if (s[i] == '\\')
			n = add_escape(out, s + i + 1, size - 1 - (i + 1));
		else
			r = buf_add(out, &s[i], 1);
		if (n < 0 || r < 0)
			return false;
		i += (size_t)n;
	}
	return true;
}

void session_value_write(struct json_writer *w, const char *key,
			 const char *text, size_t size)
{
	_cleanup_(buf_done) struct buf string = BUF_INIT(size + 1);

	if (size <= NUMBER_MAX && is_number(text, size))
		json_write_raw(w, key, text, size);
	else if (read_string(text, size, &string))
		json_write_bytes(w, key, buf_str(&string), string.length);
	else
		json_write_bytes(w, key, text, size);
}
