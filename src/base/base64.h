#ifndef CUPOLA_BASE_BASE64_H
#define CUPOLA_BASE_BASE64_H

/* Bytes as base64 with padding, the alphabet of RFC 4648. */

#include <stddef.h>
#include <sys/types.h>

/** BASE64_SIZE() - Letters that @size bytes take, without the NUL */
#define BASE64_SIZE(size) (((size_t)(size) + 2) / 3 * 4)

/**
 * base64_encode() - Write bytes as letters
 * @data:	Bytes
 * @size:	How many
 * @ret_text:	Room for BASE64_SIZE(@size) letters and a NUL
 */
void base64_encode(const void *data, size_t size, char *ret_text);

/**
 * base64_decode() - Read letters
 * @text:	Exactly what base64_encode() writes for some bytes, then a NUL
 * @ret_data:	Room for @room bytes; undefined on failure
 * @room:	How many bytes fit
 *
 * Return: how many bytes there are; -EINVAL if the text is anything else,
 * -E2BIG if they do not fit
 */
ssize_t base64_decode(const char *text, void *ret_data, size_t room);

#endif
