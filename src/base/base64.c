#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/base64.h"

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
			      "abcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_encode(const void *data, size_t size, char *ret_text)
{
	const uint8_t *at = data;
	uint32_t bits;
	size_t n;

	for (; size > 0; at += n, size -= n, ret_text += 4) {
		n = size < 3 ? size : 3;
		bits = (uint32_t)at[0] << 16 |
		       (n > 1 ? (uint32_t)at[1] << 8 : 0) | (n > 2 ? at[2] : 0);
		ret_text[0] = letters[bits >> 18];
		ret_text[1] = letters[bits >> 12 & 63];
		ret_text[2] = n > 1 ? letters[bits >> 6 & 63] : '=';
		ret_text[3] = n > 2 ? letters[bits & 63] : '=';
	}
	*ret_text = '\0';
}

/* Four letters. Return: how many bytes they are, or -EINVAL */
static int decode_group(const char *text, bool last, uint8_t ret[3])
{
	int n = last && text[3] == '=' ? (text[2] == '=' ? 1 : 2) : 3;
	uint32_t bits = 0;
	const char *letter;
	int i;

	for (i = 0; i <= n; i++) {
		letter = memchr(letters, text[i], sizeof(letters) - 1);
		if (!letter)
			return -EINVAL;
		bits |= (uint32_t)(letter - letters) << (18 - 6 * i);
	}
	/* One text per value: bits that no byte has are zero. */
	if (bits & ((1u << (8 * (3 - n))) - 1))
		return -EINVAL;
	for (i = 0; i < n; i++)
		ret[i] = (uint8_t)(bits >> (16 - 8 * i));
	return n;
}

ssize_t base64_decode(const char *text, void *ret_data, size_t room)
{
	size_t length = strlen(text), at, size = 0;
	uint8_t group[3];
	int n;

	if (length % 4 != 0)
		return -EINVAL;
	for (at = 0; at < length; at += 4) {
		n = decode_group(text + at, at + 4 == length, group);
		if (n < 0)
			return n;
		if ((size_t)n > room - size)
			return -E2BIG;
		memcpy((uint8_t *)ret_data + size, group, (size_t)n);
		size += (size_t)n;
	}
	return (ssize_t)size;
}
