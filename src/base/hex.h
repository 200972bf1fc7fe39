#ifndef CUPOLA_BASE_HEX_H
#define CUPOLA_BASE_HEX_H

/* Bytes as lower-case hexadecimal digits, and a comparison for secrets. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * hex_encode() - Write bytes as digits
 * @data:	Bytes
 * @size:	How many
 * @ret_text:	Room for 2 * @size digits and a NUL
 */
void hex_encode(const void *data, size_t size, char *ret_text);

/**
 * hex_decode() - Read digits
 * @text:	Exactly 2 * @size digits, lower or upper case, then a NUL
 * @ret_data:	Room for @size bytes; undefined on failure
 * @size:	How many bytes
 *
 * Return: 0, or -EINVAL if the text is anything else
 */
int hex_decode(const char *text, void *ret_data, size_t size);

/**
 * secret_equal() - Compare in a time that does not depend on the bytes
 * @a:		Bytes
 * @b:		Bytes
 * @size:	Of each
 */
bool secret_equal(const void *a, const void *b, size_t size);

#endif
