#ifndef CUPOLA_BASE_NAME_H
#define CUPOLA_BASE_NAME_H

/*
 * Text and names that strangers chose.
 *
 * All functions take bytes with a length: a NUL is a byte like any other, and
 * where it is not allowed it is refused, never taken for the end.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

enum {
	NAME_FILE_MAX = 255,  /* bytes: what ext4 can hold */
	NAME_PATH_MAX = 1024, /* bytes of a path below /mnt/data */
	NAME_LABEL_MAX = 63,  /* characters of a label */
};

/** utf8_is_valid() - Whether bytes are UTF-8: nothing overlong, no surrogates */
bool utf8_is_valid(const void *data, size_t size);

/**
 * utf8_next() - Decode one character
 * @data:	Bytes
 * @size:	How many, more than 0
 * @ret_char:	The character
 *
 * Return: how many bytes it takes, 0 if they do not begin with a character
 */
size_t utf8_next(const void *data, size_t size, uint32_t *ret_char);

/** char_is_control() - C0, DEL, C1, line separator or paragraph separator */
bool char_is_control(uint32_t c);

/**
 * char_reorders() - A bidirectional control: it changes the order in which text
 *		     around it is shown, so that it can be read as another
 */
bool char_reorders(uint32_t c);

/**
 * utf8_cut() - Where to cut text so that no character is left in halves
 * @data:	Bytes
 * @size:	How many there are
 * @max:	How many may stay
 *
 * Return: at most @max and at most @size
 */
size_t utf8_cut(const void *data, size_t size, size_t max);

/**
 * utf8_add_fixed() - Append text, with U+FFFD for whatever is not UTF-8
 * @b:		Buffer that becomes longer
 * @data:	Bytes
 * @size:	How many
 *
 * Return: as buf_add(); on failure a part may have been appended
 */
int utf8_add_fixed(struct buf *b, const void *data, size_t size);

/**
 * name_add_normal() - Append text in Unicode's normal form C
 * @b:		Buffer that becomes longer
 * @data:	UTF-8
 * @size:	How many bytes
 *
 * Two names that look the same are then the same bytes, whichever way their
 * accents were written.
 *
 * Return: as buf_add(); -EILSEQ if it is not UTF-8
 */
int name_add_normal(struct buf *b, const void *data, size_t size);

/**
 * name_check_file() - Whether bytes may name a file
 * @name:	Bytes
 * @size:	How many
 * @err:	Says which rule was broken (ERR_BAD_REQUEST); may be NULL
 *
 * Allowed are 1 to NAME_FILE_MAX bytes of UTF-8 without control characters
 * (C0, DEL, C1, line and paragraph separator) and '/', except "." and "..".
 *
 * Return: 0 or -EINVAL
 */
int name_check_file(const char *name, size_t size, struct error *err);

/**
 * name_check_plain() - Whether a name has only letters, digits and some signs
 * @name:	What name_check_file() lets pass
 * @size:	How many bytes
 * @signs:	ASCII characters that are allowed as well
 * @err:	Says what is not allowed, and what is (ERR_BAD_REQUEST); may be NULL
 *
 * Letters, with the marks on them, and digits are those of any script.
 *
 * Return: 0 or -EINVAL
 */
int name_check_plain(const char *name, size_t size, const char *signs,
		     struct error *err);

/**
 * name_check_path() - Whether bytes are a path below /mnt/data, relative to it
 * @path:	Bytes, as in "plots/q1.png"
 * @size:	How many
 * @err:	Says which rule was broken (ERR_BAD_REQUEST); may be NULL
 *
 * Allowed are up to NAME_PATH_MAX bytes: file names joined by single slashes,
 * with none at the ends. So it cannot be absolute or lead upwards.
 *
 * Return: 0 or -EINVAL
 */
int name_check_path(const char *path, size_t size, struct error *err);

/**
 * name_base() - The last component of a name that a client sent
 * @name:	Bytes
 * @size:	How many
 * @ret_size:	Bytes of what is returned, maybe 0
 *
 * Cuts behind the last '/' or '\'. The outcome is still to be checked.
 *
 * Return: a pointer into @name
 */
const char *name_base(const char *name, size_t size, size_t *ret_size);

/**
 * name_check_text() - Whether bytes may be a title, as a container's name
 * @text:	Bytes
 * @size:	How many
 * @max:	Bytes allowed
 * @err:	Says which rule was broken (ERR_BAD_REQUEST); may be NULL
 *
 * Allowed are 1 to @max bytes of UTF-8 without control characters.
 *
 * Return: 0 or -EINVAL
 */
int name_check_text(const char *text, size_t size, size_t max,
		    struct error *err);

/**
 * name_is_label() - Whether a string may name a pool, an image or a tenant
 * @name:	String
 *
 * Labels become parts of paths, section names and metrics: 1 to NAME_LABEL_MAX
 * of a-z, A-Z, 0-9, '-', '_' and '.', beginning with a letter or digit.
 */
bool name_is_label(const char *name);

#endif
