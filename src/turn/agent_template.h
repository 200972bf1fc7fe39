/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TURN_AGENT_TEMPLATE_H
#define TURN_AGENT_TEMPLATE_H

/*
 * Texts with places that structured inputs fill: "{{name}}", spaces inside of
 * the braces allowed.
 *
 * A text is read once, from its beginning to its end: what a value brings with
 * it is never looked at again, so that no value can reach another one. Braces
 * around what is no input's name stay as they are; they may be meant.
 */

#include "base/buf.h"
#include "base/json.h"
#include "base/json_write.h"
#include "turn/agent_inputs.h"

/* Bytes of a text, and of all tools together, with their values in them. */
#define AGENT_FILLED_MAX (1024 * 1024)

/** agent_template_fill() - Append a text with its places filled
 *
 * Return: 0, -ENOMEM or -EMSGSIZE
 */
int agent_template_fill(struct json_string text,
			const struct agent_inputs *inputs, struct buf *ret);

/**
 * agent_template_fill_tools() - The same for all tools but functions
 *
 * What a function is called and takes is between client and model. In all
 * others every string is a template: a container's id, its file_ids, a server's
 * address, label and headers. An item of an array that has become empty is
 * dropped, so that a definition may have more places for files than a request
 * has files.
 *
 * Failures are the writer's.
 */
void agent_template_fill_tools(struct json_writer *w,
			       const struct json_object *tools,
			       const struct agent_inputs *inputs);

#endif
