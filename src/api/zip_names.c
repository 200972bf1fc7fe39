/* SPDX-License-Identifier: Apache-2.0 */
#include "api/zip_names.h"

#include <errno.h>
#include <search.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/name.h"

enum {
	/* Numbers make a name longer. */
	NAME_MAX_SIZE = 2 * NAME_PATH_MAX,
};

/*
 * @taken:	A tree (tsearch) of the files' names, "a/b", and of the folders
 *		above them, "a/"
 * @number:	The last that was given. It only counts up, so that no choice
 *		of names makes the search for a free one long
 */
struct zip_names {
	void *taken;
	unsigned number;
	struct buf name;
};

static int compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

struct zip_names *zip_names_new(void)
{
	struct zip_names *names = calloc(1, sizeof(*names));

	if (!names)
		return NULL;
	names->number = 1;
	names->name = BUF_INIT(NAME_MAX_SIZE);
	return names;
}

void zip_names_free(struct zip_names *names)
{
	if (!names)
		return;
	tdestroy(names->taken, free);
	buf_done(&names->name);
	free(names);
}

/* ------------------------------------------------------------------ harmless */

static int add_char(struct buf *b, const char *at, size_t size,
		    size_t *ret_used)
{
	uint32_t c = 0;
	size_t used = utf8_next(at, size, &c);

	*ret_used = used > 0 ? used : 1;
	/* Windows takes "C:/x" and "C:x" for places on a drive. */
	if (used == 0 || c == '\\' || c == ':' || char_is_control(c))
		return buf_add_byte(b, '_');
	return buf_add(b, at, used);
}

static int add_step(struct buf *b, const char *step, size_t size)
{
	bool dots = size <= 2 && strspn(step, ".") >= size;
	size_t used;
	int r = 0;

	if (b->length > 0)
		r = buf_add_byte(b, '/');
	for (; size > 0 && r == 0; step += used, size -= used) {
		used = 1;
		r = dots ? buf_add_byte(b, '_')
			 : add_char(b, step, size, &used);
	}
	return r;
}

static int make_safe(const char *path, struct buf *b)
{
	size_t size;
	int r = 0;

	buf_clear(b);
	for (; *path && r == 0; path += size) {
		path += strspn(path, "/");
		size = strcspn(path, "/");
		if (size > 0)
			r = add_step(b, path, size);
	}
	return r == 0 && b->length == 0 ? buf_add_byte(b, '_') : r;
}

/* -------------------------------------------------------------------- unique */

/*
 * Calls a file's folders "a/", "a/b/" and its name in turn, or with @as_files
 * the folders "a" and "a/b" and its name as if it were a folder: what must not be
 * there. Ends when @each returns something, and returns that.
 */
static int each_step(const char *name, bool as_files,
		     int (*each)(struct zip_names *names, const char *part),
		     struct zip_names *names, size_t *ret_end)
{
	char part[NAME_MAX_SIZE + 2];
	const char *end = name;
	int r;

	for (;;) {
		end += strcspn(end, "/");
		(void)snprintf(part, sizeof(part), "%.*s%s", (int)(end - name),
			       name, (*end == '/') != as_files ? "/" : "");
		*ret_end = (size_t)(end - name);
		r = each(names, part);
		if (r != 0 || *end == '\0')
			return r;
		end++;
	}
}

static int is_taken(struct zip_names *names, const char *part)
{
	return tfind(part, &names->taken, compare) != NULL;
}

static int take(struct zip_names *names, const char *part)
{
	char *copy;
	void *node;

	if (is_taken(names, part))
		return 0;
	copy = strdup(part);
	node = copy ? tsearch(copy, &names->taken, compare) : NULL;
	if (node)
		return 0;
	free(copy);
	return -ENOMEM;
}

/* Return: whether the name cannot be used, up to the end of which step */
static bool is_in_the_way(struct zip_names *names, const char *name,
			  size_t *ret_end)
{
	return each_step(name, true, is_taken, names, ret_end) != 0 ||
	       is_taken(names, name) != 0;
}

/* Where in a step its number goes: before the suffix, if it is the last one. */
static size_t find_stem(const char *name, size_t start, size_t end)
{
	size_t stem = end;

	if (name[end] == '/')
		return end;
	while (stem > start && name[stem] != '.')
		stem--;
	return stem > start ? stem : end;
}

/* Puts a number into the step that ends at @end. */
static int add_number(struct buf *name, size_t end, unsigned number)
{
	_cleanup_free_ char *old = strdup(buf_str(name));
	size_t start = end, stem, kept, length;
	char text[16];

	if (!old)
		return -ENOMEM;
	while (start > 0 && old[start - 1] != '/')
		start--;
	stem = find_stem(old, start, end);
	(void)snprintf(text, sizeof(text), " (%u)", number);
	/* It has to fit into a file system where it is unpacked. */
	length = strlen(text) + (end - stem);
	kept = stem - start;
	if (kept + length > NAME_FILE_MAX)
		kept = length < NAME_FILE_MAX
			       ? utf8_cut(old + start, kept,
					  NAME_FILE_MAX - length)
			       : 0;
	buf_clear(name);
	return buf_printf(name, "%.*s%s%s", (int)(start + kept), old, text,
			  old + stem);
}

const char *zip_names_add(struct zip_names *names, const char *path)
{
	struct buf *name = &names->name;
	size_t end;
	int r;

	r = strlen(path) > NAME_PATH_MAX ? -ENAMETOOLONG
					 : make_safe(path, name);
	while (r == 0 && is_in_the_way(names, buf_str(name), &end))
		r = add_number(name, end, ++names->number);
	if (r == 0)
		r = each_step(buf_str(name), false, take, names, &end);
	return r == 0 ? buf_str(name) : NULL;
}
