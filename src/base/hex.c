#include <errno.h>
#include <string.h>

#include "base/hex.h"

void hex_encode(const void *data, size_t size, char *ret_text)
{
	static const char digits[] = "0123456789abcdef";
	const uint8_t *bytes = data;
	size_t i;

	for (i = 0; i < size; i++) {
		ret_text[2 * i] = digits[bytes[i] >> 4];
		ret_text[2 * i + 1] = digits[bytes[i] & 15];
	}
	ret_text[2 * size] = '\0';
}

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

int hex_decode(const char *text, void *ret_data, size_t size)
{
	uint8_t *bytes = ret_data;
	int high, low;
	size_t i;

	for (i = 0; i < size; i++) {
		high = digit_value(text[2 * i]);
		/* Not past the NUL that ends a text too short. */
		low = high < 0 ? -1 : digit_value(text[2 * i + 1]);
		if (low < 0)
			return -EINVAL;
		bytes[i] = (uint8_t)(high << 4 | low);
	}
	return text[2 * size] == '\0' ? 0 : -EINVAL;
}

bool secret_equal(const void *a, const void *b, size_t size)
{
	const volatile uint8_t *x = a, *y = b;
	uint8_t differ = 0;
	size_t i;

	for (i = 0; i < size; i++)
		differ |= (uint8_t)(x[i] ^ y[i]);
	return differ == 0;
}
