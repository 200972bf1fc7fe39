/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a client posts to an MCP endpoint, and what a toolbox is made of: taken
 * apart, or refused with a reason.
 */

#include <stdlib.h>
#include <string.h>

#include "api/mcp_message.h"
#include "api/toolbox_offer.h"
#include "fuzz.h"

static void check_message(struct json_object *json)
{
	struct mcp_message message;
	const char *why = mcp_message_read(json, &message);

	if (message.id && !mcp_id_equal(message.id, message.id))
		abort();
	if (why)
		return;
	if (!message.method ||
	    (message.kind == MCP_REQUEST) !=
		    (message.id && message.kind != MCP_RESPONSE))
		abort();
	if (message.params && json_kind_of(message.params) != JSON_OBJECT)
		abort();
	if (message.meta && json_kind_of(message.meta) != JSON_OBJECT)
		abort();
	(void)mcp_message_text(&message, "name");
}

static void check_toolbox(const struct json_object *json)
{
	struct principal who = { .tenant = "t", .key_id = "key_1" };
	struct error err = ERROR_INIT;
	struct toolbox_offer offer;
	size_t i;

	if (toolbox_offer_read(json, &offer, &err) < 0) {
		if (err.code == ERR_NONE)
			abort();
		return;
	}
	for (i = 0; i < offer.tools; i++)
		if (!toolbox_tool_name_is_valid(offer.tool[i].name,
						strlen(offer.tool[i].name)))
			abort();
	(void)toolbox_offer_admits(&offer, &who);
	(void)toolbox_offer_gives(&offer, "/mnt/data/a.csv", 7);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json_object *json = NULL;

	if (json_parse((const char *)data, size, &json, NULL) < 0)
		return 0;
	check_message(json);
	if (json_kind_of(json) == JSON_OBJECT)
		check_toolbox(json);
	json_free(json);
	return 0;
}
