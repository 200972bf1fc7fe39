/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TURN_ASK_H
#define TURN_ASK_H

/*
 * What a client asks for: the body of POST /responses, read strictly.
 *
 * All that can be wrong with it by itself is refused here, with the field's path
 * and the reason; whether what it names exists is looked at later.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "core/core.h"
#include "turn/item.h"
#include "turn/tool_set.h"

struct agent_applied;
struct json_object;
struct turn_request;

enum {
	ASK_MODEL_MAX = 256,
	/* As much as may be kept, less what is ours in there. */
	ASK_ECHO_MAX = CORE_RESPONSE_MAX - (64 << 10),
	ASK_CALLS_UNLIMITED = -1,
};

/**
 * struct ask - A request, read
 * @instructions: Or NULL
 * @previous, @conversation: What was said before; "" if nothing
 * @max_calls:	Calls of the interpreter; or ASK_CALLS_UNLIMITED
 * @max_tokens:	Of all answers together; 0: no limit
 * @include:	Bits of enum item_include
 * @truncate:	What is too long for the model is to be forgotten
 * @summary:	What the model thinks is to be shown
 * @input:	Its own items
 * @echo:	JSON object: the members of the response that say what was asked
 * @options:	JSON object: what the model's server is told as well
 */
struct ask {
	char model[ASK_MODEL_MAX + 1];
	char *instructions;
	char previous[ID_SIZE];
	char conversation[ID_SIZE];
	bool store;
	bool stream;
	bool background;
	int64_t max_calls;
	int64_t max_tokens;
	unsigned include;
	bool truncate;
	bool summary;
	struct tool_set tools;
	struct items input;
	char *echo;
	size_t echo_size;
	char *options;
	size_t options_size;
};

/**
 * ask_read() - Read a body
 * @body:	With its agent's definition in it, if it has one
 * @agent:	That one, or NULL
 * @ret:	For ask_done(), also on failure
 */
int ask_read(struct core *core, const struct principal *who,
	     const struct json_object *body, const struct agent_applied *agent,
	     struct ask *ret, struct error *err);
void ask_done(struct ask *ask);

/* ask_echo.c */


int ask_write_echo(const struct json_object *body,
		   const struct agent_applied *agent, struct ask *ask,
		   struct error *err);
int ask_write_options(const struct json_object *body, struct ask *ask,
		      struct error *err);

#endif
