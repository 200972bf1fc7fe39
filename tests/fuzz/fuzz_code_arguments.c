/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/name.h"
#include "turn/code_arguments.h"

/*
 * What a model writes as the arguments of a call, in pieces of the size that the
 * first byte chooses. However it is cut: the code is the same, what was decoded
 * before is its beginning, and from text in UTF-8 comes text in UTF-8.
 */

enum { CODE_MAX = 1 << 20 };

static bool is_border(const uint8_t *data, size_t size, size_t at)
{
	return at >= size || (data[at] & 0xc0) != 0x80;
}

/* @piece: 0: all at once. Return: enum code_end */
static int decode(const uint8_t *data, size_t size, size_t piece,
		  struct buf *code)
{
	struct code_arguments a = { 0 };
	const char *all = (const char *)data;
	size_t at = 0, before = 0;
	int r;

	while (piece > 0 && at < size) {
		at = size - at < piece ? size : at + piece;
		while (!is_border(data, size, at))
			at++;
		if (code_arguments_feed(&a, all, at, code) < 0)
			abort();
		if (code->length < before)
			abort();
		before = code->length;
	}
	r = code_arguments_end(&a, all, size, code);
	if (r < 0 || code->length < before)
		abort();
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf whole = BUF_INIT(CODE_MAX), pieces = BUF_INIT(CODE_MAX);
	uint8_t *bytes;

	if (size < 1 || size > CODE_MAX / 8 ||
	    !utf8_is_valid((const char *)data + 1, size - 1))
		return 0;
	/* Its own allocation, so that ASan sees one byte too far. */
	bytes = malloc(size);
	if (!bytes)
		abort();
	memcpy(bytes, data + 1, size - 1);
	if (decode(bytes, size - 1, 0, &whole) !=
		    decode(bytes, size - 1, 1 + data[0] % 16, &pieces) ||
	    whole.length != pieces.length ||
	    (whole.length > 0 &&
	     memcmp(whole.data, pieces.data, whole.length) != 0) ||
	    !utf8_is_valid(buf_str(&whole), whole.length))
		abort();
	free(bytes);
	buf_done(&whole);
	buf_done(&pieces);
	return 0;
}
