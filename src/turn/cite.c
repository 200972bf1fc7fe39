/* SPDX-License-Identifier: Apache-2.0 */
#include "turn/cite.h"

#include <ctype.h>
#include <string.h>

#include "base/name.h"

#define SCHEME "sandbox:"
#define DATA_DIR "/mnt/data/"

enum {
	PATH_SIZE = sizeof(DATA_DIR) + NAME_PATH_MAX,
	/* Closing parentheses that may belong to a name. */
	PARENTHESES_MAX = 3,
};

size_t cite_length(const char *text, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < size; i++)
		n += ((unsigned char)text[i] & 0xc0) != 0x80;
	return n;
}

static int hex_of(char c)
{
	if (isdigit((unsigned char)c))
		return c - '0';
	return isxdigit((unsigned char)c) ? (c | 0x20) - 'a' + 10 : -1;
}

/* Links have blanks in names as %20, if the model is careful. */
static bool unescape(const char *text, size_t size, char ret[PATH_SIZE])
{
	bool changed = false;
	size_t n = 0;

	for (size_t i = 0; i < size; i++) {
		char c = text[i];

		if (c == '%' && size - i > 2 && hex_of(text[i + 1]) >= 0 &&
		    hex_of(text[i + 2]) >= 0) {
			c = (char)(hex_of(text[i + 1]) << 4 |
				   hex_of(text[i + 2]));
			i += 2;
			changed = true;
		}
		if (!c)
			return false;
		ret[n++] = c;
	}
	ret[n] = '\0';
	return changed && utf8_is_valid(ret, n);
}

/* struct scan - A walk over a text */
struct scan {
	cite_find_fn find;
	void *userdata;
};

/* The file that so many bytes of the text name, as they are or unescaped. */
static const void *try_path(const struct scan *scan, const char *path,
			    size_t size)
{
	char room[PATH_SIZE];
	const void *file;

	if (size <= strlen(DATA_DIR) || size >= PATH_SIZE ||
	    memchr(path, '\0', size))
		return NULL;
	memcpy(room, path, size);
	room[size] = '\0';
	file = scan->find(scan->userdata, room);
	if (!file && unescape(path, size, room))
		file = scan->find(scan->userdata, room);
	return file;
}

/* Bytes up to the first character of @ends, or of the line. */
static size_t span(const char *text, size_t size, const char *ends)
{
	size_t i = 0;

	while (i < size && text[i] != '\n' && text[i] && !strchr(ends, text[i]))
		i++;
	return i;
}

/* Without the punctuation that ends a sentence, not a name. */
static size_t trim(const char *path, size_t size)
{
	while (size > 0 && strchr(".,;:!?*_~", path[size - 1]))
		size--;
	return size;
}

static const void *try_ends(const struct scan *scan, const char *path,
			    size_t size, size_t *ret_size)
{
	size_t end = span(path, size, " \t\r)]}>\"'`<|");
	const void *file;
	int i;

	*ret_size = end;
	file = try_path(scan, path, end);
	if (file)
		return file;
	*ret_size = trim(path, end);
	file = *ret_size < end ? try_path(scan, path, *ret_size) : NULL;
	for (i = 0, end = 0; !file && i < PARENTHESES_MAX; i++) {
		end += span(path + end, size - end, ")");
		if (end == size || path[end] != ')')
			return NULL;
		*ret_size = end++;
		file = try_path(scan, path, *ret_size);
	}
	return file;
}

int cite_scan(const char *text, size_t size, cite_find_fn find,
	      cite_each_fn each, void *userdata)
{
	const struct scan scan = { find, userdata };
	size_t at = 0, counted = 0, points = 0;
	const char *hit;
	int r = 0;

	while (r >= 0 && (hit = memmem(text + at, size - at, SCHEME DATA_DIR,
				       strlen(SCHEME DATA_DIR)))) {
		struct cite_mention mention;
		const char *path = hit + strlen(SCHEME);
		size_t path_size = 0;

		mention.file = try_ends(&scan, path,
					size - (size_t)(path - text),
					&path_size);
		at = (size_t)(path - text);
		if (!mention.file)
			continue;
		at += path_size;
		points += cite_length(text + counted,
				      (size_t)(hit - text) - counted);
		mention.start = points;
		points += cite_length(hit, strlen(SCHEME) + path_size);
		mention.end = points;
		counted = at;
		r = each(userdata, &mention);
	}
	return r;
}
