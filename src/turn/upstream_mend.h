/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TURN_UPSTREAM_MEND_H
#define TURN_UPSTREAM_MEND_H

/*
 * JSON whose strings were cut within a character, made whole.
 *
 * Servers that cut text by bytes, or by UTF-16 units, end one event with half
 * a character and begin the next with the other half. Either half alone is no
 * valid JSON. The first is taken off and put in front of the second; what has
 * no other half becomes U+FFFD.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum { UPSTREAM_MEND_MORE = 1 << 20 }; /* what a text may grow by */

/** struct upstream_mend - A first half that waits; zeroed at first */
struct upstream_mend {
	unsigned surrogate; /* a high one; or 0 */
	unsigned char bytes[3];
	size_t size;
};

bool upstream_mend_is_waiting(const struct upstream_mend *m);

/**
 * upstream_mend() - Make a text whole
 * @ret:	Appended to
 *
 * Return: as buf_add()
 */
int upstream_mend(struct upstream_mend *m, const char *text, size_t size,
		  struct buf *ret);

#endif
