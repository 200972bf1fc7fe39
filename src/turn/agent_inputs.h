/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TURN_AGENT_INPUTS_H
#define TURN_AGENT_INPUTS_H

/*
 * Structured inputs: what a definition asks for and what a request gives.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/json.h"

enum {
	AGENT_INPUTS_MAX = 64,
	/* With braces and spaces it still fits where an id is expected. */
	AGENT_INPUT_NAME_MAX = 56,
};

/** struct agent_input - @value: NULL if there is none */
struct agent_input {
	const char *name;
	const struct json_object *value;
};

/** struct agent_inputs - Borrowed from definition and request */
struct agent_inputs {
	struct agent_input list[AGENT_INPUTS_MAX];
	size_t count;
};

/** agent_input_is_name_char() - A letter, a digit, '_' or '-' */
bool agent_input_is_name_char(char c);

/**
 * agent_inputs_check() - Whether a definition may ask like this
 * @asked:	Its "structured_inputs"; NULL: none
 * @path:	Where that is in the request
 */
int agent_inputs_check(const struct json_object *asked, const char *path,
		       struct error *err);

/**
 * agent_inputs_read() - Find a value for each
 * @asked:	What agent_inputs_check() let pass
 * @given:	The request's "structured_inputs"; NULL: none
 *
 * A value that nobody asked for is refused: it would be the misspelt name of
 * one that then has its default, and nobody would see.
 */
int agent_inputs_read(const struct json_object *asked,
		      const struct json_object *given, struct agent_inputs *ret,
		      struct error *err);

/** agent_inputs_find() - By a name that need not end in a NUL; or NULL */
const struct agent_input *agent_inputs_find(const struct agent_inputs *inputs,
					    const char *name, size_t size);

#endif
