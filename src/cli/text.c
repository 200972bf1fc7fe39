#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "cli/text.h"

/* U+202A to U+202E and U+2066 to U+2069: they reorder the text around them. */
static bool reorders(const unsigned char *s, size_t left)
{
	if (left < 3 || s[0] != 0xe2)
		return false;
	return (s[1] == 0x80 && s[2] >= 0xaa && s[2] <= 0xae) ||
	       (s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9);
}

/*
 * The bytes of a control character at @s: C0 and DEL take one, C1 is two in
 * UTF-8 (0xc2, then 0x80 to 0x9f) and steers many terminals just the same. With
 * one that reorders, a file's name could read as another.
 */
static size_t control_length(const unsigned char *s, size_t left)
{
	if (s[0] < 0x20 || s[0] == 0x7f)
		return 1;
	if (left > 1 && s[0] == 0xc2 && s[1] >= 0x80 && s[1] <= 0x9f)
		return 2;
	return reorders(s, left) ? 3 : 0;
}

size_t text_control_length(const char *text)
{
	return *text ? control_length((const unsigned char *)text,
				      strlen(text)) : 0;
}

char *text_escape(const char *text)
{
	static const char hex[] = "0123456789abcdef";
	const unsigned char *s = (const unsigned char *)text;
	size_t left = strlen(text), n;
	char *copy = calloc(4, left + 1);
	char *to = copy;

	if (!copy)
		return NULL;
	while (left > 0) {
		n = control_length(s, left);
		if (n == 0) {
			*to++ = (char)*s++;
			left--;
		}
		for (; n > 0; n--, s++, left--) {
			*to++ = '\\';
			*to++ = 'x';
			*to++ = hex[*s >> 4];
			*to++ = hex[*s & 15];
		}
	}
	return copy;
}

void text_print(FILE *out, const char *text)
{
	_cleanup_free_ char *safe = text_escape(text);

	(void)fputs(safe ? safe : "?", out); /* ferror() is asked after */
}

/* ESC [ digits and semicolons m: it changes how text looks, nothing else. */
static size_t colour_length(const unsigned char *s, size_t left)
{
	size_t i = 2;

	if (left < 3 || s[0] != 0x1b || s[1] != '[')
		return 0;
	while (i < left && ((s[i] >= '0' && s[i] <= '9') || s[i] == ';'))
		i++;
	return i < left && s[i] == 'm' ? i + 1 : 0;
}

/* Where a colour, or letters that nobody can see, would go on for ever. */
static FILE *coloured;

static void note_colour(FILE *out, const unsigned char *s, size_t length)
{
	bool plain = length == 3 || (length == 4 && s[2] == '0');

	coloured = plain ? NULL : out;
}

void text_end_colours(void)
{
	if (!coloured)
		return;
	(void)fputs("\033[0m", coloured); /* a terminal that is gone is gone */
	(void)fflush(coloured);
	coloured = NULL;
}

/* How many bytes from @s on may go to a terminal as they are. */
static size_t harmless_length(FILE *out, const unsigned char *s, size_t left)
{
	size_t i = 0, n;

	while (i < left) {
		if (s[i] == '\n' || s[i] == '\t' || s[i] == '\r')
			n = 1;
		else if (control_length(s + i, left - i) == 0)
			n = 1;
		else if ((n = colour_length(s + i, left - i)) > 0)
			note_colour(out, s + i, n);
		if (n == 0)
			break;
		i += n;
	}
	return i;
}

static void write_for_terminal(FILE *out, const char *data, size_t length)
{
	const unsigned char *s = (const unsigned char *)data;
	size_t n;

	while (length > 0) {
		n = harmless_length(out, s, length);
		(void)fwrite(s, 1, n, out); /* ferror() is asked after */
		s += n;
		length -= n;
		n = length > 0 ? control_length(s, length) : 0;
		for (; n > 0; n--, s++, length--)
			fprintf(out, "\\x%02x", *s);
	}
}

int text_write_output(FILE *out, const char *data, size_t length, bool terminal)
{
	if (terminal)
		write_for_terminal(out, data, length);
	else
		(void)fwrite(data, 1, length, out);
	errno = 0;
	if (fflush(out) != 0 || ferror(out))
		return errno ? -errno : -EIO;
	return 0;
}

const char *text_count(int64_t count, const char *thing, char *room)
{
	snprintf(room, TEXT_SHORT_MAX, "%" PRId64 " %s%s", count, thing,
		 count == 1 ? "" : "s");
	return room;
}

const char *text_bytes(uint64_t bytes, char *room)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB",
					     "TiB" };
	double value = (double)bytes;
	size_t unit = 0;

	while (value >= 1023.5 && unit < 4) {
		value /= 1024;
		unit++;
	}
	snprintf(room, TEXT_SHORT_MAX,
		 unit > 0 && value < 9.95 ? "%.1f %s" : "%.0f %s", value,
		 units[unit]);
	return room;
}

const char *text_seconds(int64_t seconds, char *room)
{
	if (seconds < 0)
		return "-";
	if (seconds < 120)
		snprintf(room, TEXT_SHORT_MAX, "%" PRId64 " s", seconds);
	else if (seconds < 7200)
		snprintf(room, TEXT_SHORT_MAX, "%" PRId64 " min", seconds / 60);
	else if (seconds < 172800)
		snprintf(room, TEXT_SHORT_MAX, "%" PRId64 " h %02d min",
			 seconds / 3600, (int)(seconds / 60 % 60));
	else
		snprintf(room, TEXT_SHORT_MAX, "%" PRId64 " d",
			 seconds / 86400);
	return room;
}

const char *text_until(int64_t when, char *room)
{
	int64_t left = when - (int64_t)time(NULL);

	if (when == 0)
		return "-";
	return text_seconds(left > 0 ? left : 0, room);
}

const char *text_since(int64_t when, char *room)
{
	int64_t age = (int64_t)time(NULL) - when;

	if (when == 0)
		return "-";
	return text_seconds(age > 0 ? age : 0, room);
}
