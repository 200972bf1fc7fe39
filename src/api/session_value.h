/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_SESSION_VALUE_H
#define API_SESSION_VALUE_H

#include <stddef.h>

#include "base/json_write.h"

/**
 * session_value_write() - The text of a Python value as a JSON value
 * @text:	What repr() gave, valid UTF-8
 *
 * A number that JSON's readers keep exactly is a number, a string is what it
 * stands for, and anything else is its text.
 */
void session_value_write(struct json_writer *w, const char *key,
			 const char *text, size_t size);

#endif
