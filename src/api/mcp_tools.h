/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_MCP_TOOLS_H
#define API_MCP_TOOLS_H

#include <stdbool.h>

#include "base/error.h"

struct mcp_call;

/**
 * struct mcp_tool - A tool as clients see it, and what it does
 * @input, @output: JSON Schemas; each result that is no error matches @output
 * @annotations: JSON
 * @places:	Bits of enum mcp_place: where it is offered by itself
 * @environment: Its container is called an environment
 * @shell:	Its value is an exit status
 * @begin:	Returns as a handler; an error is told as the tool's
 */
struct mcp_tool {
	const char *name;
	const char *title;
	const char *description;
	const char *input;
	const char *output;
	const char *annotations;
	unsigned places;
	bool environment;
	bool shell;
	int (*begin)(struct mcp_call *call, struct error *err);
};

#endif
