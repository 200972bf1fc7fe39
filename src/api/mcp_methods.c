/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "api/mcp.h"
#include "api/reply.h"
#include "api/request.h"

/* The methods of the protocol, and those that core has no part in. */

const char *const mcp_versions[] = {
	MCP_VERSION_MODERN, MCP_VERSION_NEWEST_LEGACY, MCP_VERSION_LINKS,
	MCP_VERSION_ASSUMED, "2024-11-05", "2024-10-07", NULL,
};

/* How each endpoint introduces itself. */
static const struct {
	const char *name;
	const char *capabilities;
	const char *version;	/* of the protocol, to who names none */
} places[] = {
	[MCP_SERVER] = { MCP_SERVER_NAME,
			 "{\"tools\":{\"listChanged\":false},"
			 "\"resources\":{\"listChanged\":false,"
			 "\"subscribe\":false}}",
			 MCP_VERSION_NEWEST_LEGACY },
	/* As the service's published walk-throughs show it. */
	[MCP_POOL] = { "Microsoft Container Apps MCP Server",
		       "{\"tools\":{\"call\":true,\"list\":true}}",
		       MCP_VERSION_ASSUMED },
	[MCP_TOOLBOX] = { MCP_SERVER_NAME,
			  "{\"tools\":{\"listChanged\":false}}",
			  MCP_VERSION_NEWEST_LEGACY },
};
static_assert(sizeof(places) / sizeof(places[0]) == MCP_PLACE_COUNT,
	      "places[] doesn't match enum mcp_place");

static const char instructions[] =
	"Runs Python in a virtual machine of its own, without a network. "
	"Variables and the files in /mnt/data stay from one call to the next "
	"in the same container: pass container_id, which each result names, "
	"to go on where an earlier call was.";

static void write_capabilities(struct mcp_call *call, struct json_writer *w)
{
	const char *text = places[call->place].capabilities;

	json_write_raw(w, "capabilities", text, strlen(text));
}

/* The one that was asked for if it is known, else the newest. */
static const char *agree(const struct mcp_call *call)
{
	const char *asked = mcp_message_text(&call->message, "protocolVersion");
	size_t i;

	if (!call->message.params ||
	    !json_member(call->message.params, "protocolVersion"))
		return places[call->place].version;
	/* The first one is not agreed upon like this. */
	for (i = 1; asked && mcp_versions[i]; i++)
		if (strcmp(mcp_versions[i], asked) == 0)
			return mcp_versions[i];
	return MCP_VERSION_NEWEST_LEGACY;
}

static int initialize(struct mcp_call *call, struct error *err)
{
	struct mcp_session *session = NULL;
	struct json_writer *w;
	int r;

	call->version = agree(call);
	r = mcp_session_new(call, &session, err);
	if (r < 0)
		return r;
	w = mcp_result(call);
	json_write_string(w, "protocolVersion", call->version);
	write_capabilities(call, w);
	json_write_object(w, "serverInfo");
	json_write_string(w, "name", places[call->place].name);
	json_write_string(w, "version", PACKAGE_VERSION);
	json_write_close(w);
	json_write_string(w, "instructions", instructions);
	r = mcp_reply(call, err);
	if (r >= 0)
		reply_header(call->req, "Mcp-Session-Id", session->id);
	return r;
}

static int ping(struct mcp_call *call, struct error *err)
{
	(void)mcp_result(call);
	return mcp_reply(call, err);
}

static int discover(struct mcp_call *call, struct error *err)
{
	struct json_writer *w = mcp_result(call);
	size_t i;

	mcp_result_cacheable(call, w, true);
	json_write_array(w, "supportedVersions");
	for (i = 0; mcp_versions[i]; i++)
		json_write_string(w, NULL, mcp_versions[i]);
	json_write_close(w);
	write_capabilities(call, w);
	json_write_string(w, "instructions", instructions);
	return mcp_reply(call, err);
}

#define AT(place) (1u << MCP_##place)
#define ANYWHERE (AT(SERVER) | AT(POOL) | AT(TOOLBOX))

static const struct {
	const char *name;
	bool legacy;
	bool modern;
	unsigned places;
	int (*carry_out)(struct mcp_call *call, struct error *err);
} methods[] = {
	{ "initialize", true, false, ANYWHERE, initialize },
	{ "ping", true, false, ANYWHERE, ping },
	{ "server/discover", false, true, ANYWHERE, discover },
	{ "tools/list", true, true, ANYWHERE, mcp_tools_list },
	{ "tools/call", true, true, ANYWHERE, mcp_tools_call },
	{ "resources/list", true, true, AT(SERVER), mcp_resources_list },
	{ "resources/read", true, true, AT(SERVER), mcp_resources_read },
};

int mcp_dispatch(struct mcp_call *call, struct error *err)
{
	const char *method = call->message.method;
	size_t i;

	for (i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		if (strcmp(methods[i].name, method) == 0 &&
		    (call->modern ? methods[i].modern : methods[i].legacy) &&
		    (methods[i].places & (1u << call->place)))
			return methods[i].carry_out(call, err);
	return mcp_fault(call,
			 call->modern ? MHD_HTTP_NOT_FOUND : MHD_HTTP_OK,
			 RPC_METHOD_NOT_FOUND, "Method not found: %.100s",
			 method);
}
