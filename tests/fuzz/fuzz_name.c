/*
 * Names: what is allowed as a file name or path cannot lead elsewhere, and what
 * is cut or repaired is UTF-8.
 */

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/name.h"
#include "fuzz.h"

static void check_file(const char *name, size_t size)
{
	if (name_check_file(name, size, NULL) < 0)
		return;
	if (size == 0 || size > NAME_FILE_MAX || memchr(name, '/', size) ||
	    memchr(name, '\0', size) || memchr(name, '\n', size) ||
	    !utf8_is_valid(name, size))
		abort();
	/* Each file name is a path of one component. */
	if (name_check_path(name, size, NULL) < 0)
		abort();
}

static void check_path(const char *path, size_t size)
{
	char copy[NAME_PATH_MAX + 3];

	if (name_check_path(path, size, NULL) < 0)
		return;
	if (size == 0 || size > NAME_PATH_MAX || memchr(path, '\0', size))
		abort();
	copy[0] = '/';
	memcpy(copy + 1, path, size);
	copy[size + 1] = '/';
	copy[size + 2] = '\0';
	if (strstr(copy, "/../") || strstr(copy, "/./") || strstr(copy, "//"))
		abort();
}

static void check_cuts(const char *text, size_t size)
{
	struct buf fixed = BUF_INIT(3 * size);
	size_t max, cut;

	for (max = 0; max <= size && max < 100; max++) {
		cut = utf8_cut(text, size, max);
		if (cut > max || max - cut > 3)
			abort();
		if (utf8_is_valid(text, size) && !utf8_is_valid(text, cut))
			abort();
	}
	if (utf8_add_fixed(&fixed, text, size) < 0 ||
	    !utf8_is_valid(fixed.data, fixed.length))
		abort();
	buf_done(&fixed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = calloc(1, size ? size : 1);
	const char *base;
	size_t base_size;

	if (!text)
		abort();
	if (size > 0)
		memcpy(text, data, size);
	check_file(text, size);
	check_path(text, size);
	base = name_base(text, size, &base_size);
	if (base + base_size != text + size || memchr(base, '/', base_size))
		abort();
	check_cuts(text, size);
	free(text);
	return 0;
}
