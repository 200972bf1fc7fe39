/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TURN_AGENT_H
#define TURN_AGENT_H

/*
 * What an agent makes of a request.
 *
 * An agent is a kept part of requests: model, instructions, tools and so on,
 * with places that the request fills (structured inputs). Applied to a request
 * it gives another request that names no agent, which is read like any other.
 */

#include <stdint.h>

#include "base/error.h"
#include "core/core.h"

struct json_object;

/**
 * struct agent_applied - A request with its agent's definition in it
 * @name, @version: Which agent's, as the response has to say
 * @body:	The request as if the client had written it all; for json_free().
 *		It shares what it has in common with the request
 */
struct agent_applied {
	char name[CORE_DEFINITION_NAME_MAX + 1];
	uint64_t version;
	struct json_object *body;
};

/**
 * agent_check() - Whether a definition may be kept
 * @definition:	An object
 * @path:	Where it is in the request, as in "definition"
 *
 * Return: 0; ERR_BAD_REQUEST with param
 */
int agent_check(const struct json_object *definition, const char *path,
		struct error *err);

/** agent_endpoint_check() - The same of an agent's "agent_endpoint"; or NULL */
int agent_endpoint_check(const struct json_object *endpoint, const char *path,
			 struct error *err);

/**
 * agent_apply() - Find a request's agent and apply it
 * @project:	The path's; NULL outside of projects, where there are no agents
 * @implied:	The agent that the path names, or NULL
 * @body:	The request's
 *
 * What the definition decides (model, tools, temperature, top_p, reasoning,
 * text) may not be sent along, but for the model's own name: clients with types
 * must send one. "tool_choice" of the request goes before the definition's;
 * "instructions" of the request come behind the definition's, and are a
 * template as they are.
 *
 * Return: 1, or 0 if the request has no agent (@ret untouched); ERR_NOT_FOUND;
 * ERR_FORBIDDEN for one that is disabled; ERR_BAD_REQUEST with param
 */
int agent_apply(struct core *core, const struct principal *who,
		const char *project, const char *implied,
		const struct json_object *body, struct agent_applied *ret,
		struct error *err);

void agent_applied_done(struct agent_applied *applied);

#endif
