/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_MCP_MESSAGE_H
#define API_MCP_MESSAGE_H

/* One JSON-RPC message, as MCP has them. */

#include <stdbool.h>

#include "base/json.h"

enum mcp_kind {
	MCP_REQUEST,
	MCP_NOTIFICATION,
	MCP_RESPONSE,	/* to a request of ours, of which there are none */
};

/**
 * struct mcp_message - Its parts, borrowed from the JSON, which ends with the
 *			client's connection
 * @id:		A string or an integer; NULL in a notification
 * @method:	"" in a response
 * @params:	An object, or NULL
 * @meta:	params._meta if that is an object, or NULL
 */
struct mcp_message {
	enum mcp_kind kind;
	struct json_object *id;
	const char *method;
	struct json_object *params;
	struct json_object *meta;
};

/**
 * mcp_message_read() - Take a message apart
 * @ret:	On failure its @id is the one to answer to, or NULL
 *
 * Return: NULL, or why it is none
 */
const char *mcp_message_read(struct json_object *json, struct mcp_message *ret);

/** mcp_message_text() - A member of the params that is a string, or NULL */
const char *mcp_message_text(const struct mcp_message *message,
			     const char *name);

/** mcp_id_equal() - Whether two ids are the same, also in their type */
bool mcp_id_equal(const struct json_object *a, const struct json_object *b);

#endif
