/* SPDX-License-Identifier: Apache-2.0 */
#include "api/mcp_tools.h"

#include <errno.h>
#include <string.h>

#include "api/mcp.h"
#include "api/request.h"

/* Which tools there are where, and how a call of one begins. */

#define STRING_PROPERTY(name, text)                                            \
	"\"" name "\":{\"type\":\"string\",\"description\":\"" text "\"}"
#define CONTAINER                                                              \
	STRING_PROPERTY("container_id",                                        \
			"Container to use, as an earlier result named it; "    \
			"without it, that of the session or a fresh one")
#define OBJECT(properties, required)                                           \
	"{\"type\":\"object\",\"properties\":{" properties "},\"required\":["  \
	required "]}"

/* What any result says of a file. */
#define FILE_SCHEMA                                                            \
	OBJECT("\"id\":{\"type\":\"string\"},"                                 \
	       "\"path\":{\"type\":\"string\"},"                               \
	       "\"bytes\":{\"type\":\"integer\"},"                             \
	       "\"mime_type\":{\"type\":\"string\"},"                          \
	       "\"created_at\":{\"type\":\"integer\"},"                        \
	       "\"url\":{\"type\":\"string\"}",                                \
	       "\"id\",\"path\",\"bytes\",\"mime_type\",\"created_at\","       \
	       "\"url\"")

#define RUN_PROPERTIES                                                         \
	"\"execution_id\":{\"type\":\"string\"},"                              \
	"\"status\":{\"type\":\"string\"},"                                    \
	"\"stdout\":{\"type\":\"string\"},"                                    \
	"\"stderr\":{\"type\":\"string\"},"                                    \
	"\"truncated\":{\"type\":\"boolean\"},"                                \
	"\"result\":{\"type\":[\"string\",\"null\"]},"                         \
	"\"error\":{\"type\":[\"object\",\"null\"]},"                          \
	"\"files\":{\"type\":\"array\",\"items\":" FILE_SCHEMA "},"            \
	"\"skipped\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}},"    \
	"\"state_lost\":{\"type\":\"boolean\"},"                               \
	"\"duration_ms\":{\"type\":\"integer\"}"
#define RUN_REQUIRED                                                           \
	"\"execution_id\",\"status\",\"stdout\",\"stderr\",\"truncated\","     \
	"\"result\",\"error\",\"files\",\"skipped\",\"state_lost\","           \
	"\"duration_ms\""

#define RUNS "{\"readOnlyHint\":false,\"destructiveHint\":false,"              \
	     "\"openWorldHint\":false}"
#define WRITES "{\"readOnlyHint\":false,\"destructiveHint\":true,"             \
	       "\"idempotentHint\":true,\"openWorldHint\":false}"
#define READS "{\"readOnlyHint\":true,\"openWorldHint\":false}"

#define ENVIRONMENT                                                            \
	STRING_PROPERTY("environmentId", "Environment to run in, as a launch " \
					 "named it")
#define LAUNCHED                                                               \
	OBJECT("\"environmentId\":{\"type\":\"string\"}", "\"environmentId\"")

#define AT(place) (1u << MCP_##place)

static const struct mcp_tool tools[] = {
	{
		.name = TOOLBOX_TYPE,
		.title = "Code interpreter",
		.description =
			"Runs Python in a container: a virtual machine of its "
			"own, without a network. Variables and the files in "
			"/mnt/data stay until the container ends. The value "
			"of the last expression, printed text, figures and "
			"new files are returned.",
		.input = OBJECT(
			STRING_PROPERTY("code", "Python source to run") ","
			CONTAINER ",\"timeout_s\":{\"type\":\"number\","
			"\"exclusiveMinimum\":0,\"description\":"
			"\"Seconds after which it is stopped\"}",
			"\"code\""),
		.output = OBJECT("\"container_id\":{\"type\":\"string\"},"
				 RUN_PROPERTIES,
				 "\"container_id\"," RUN_REQUIRED),
		.annotations = RUNS,
		.places = AT(SERVER) | AT(POOL),
		.begin = mcp_run_python,
	},
	{
		.name = "upload_file",
		.title = "Upload a file",
		.description =
			"Puts a file into a container, below /mnt/data, where "
			"code can read it.",
		.input = OBJECT(
			STRING_PROPERTY("path", "Where, as in 'data.csv' or "
						"'sub/data.csv'") ","
			STRING_PROPERTY("content", "Its content") ","
			"\"encoding\":{\"type\":\"string\",\"enum\":[\"utf-8\","
			"\"base64\"],\"description\":\"How the content is "
			"given\"}," CONTAINER,
			"\"path\",\"content\""),
		.output = OBJECT("\"container_id\":{\"type\":\"string\"},"
				 "\"file\":" FILE_SCHEMA,
				 "\"container_id\",\"file\""),
		.annotations = WRITES,
		.places = AT(SERVER),
		.begin = mcp_upload_file,
	},
	{
		.name = "list_files",
		.title = "List files",
		.description = "Lists the files of a container.",
		.input = OBJECT(CONTAINER, ""),
		.output = OBJECT("\"container_id\":{\"type\":[\"string\","
				 "\"null\"]},\"files\":{\"type\":\"array\","
				 "\"items\":" FILE_SCHEMA "},"
				 "\"has_more\":{\"type\":\"boolean\"}",
				 "\"container_id\",\"files\",\"has_more\""),
		.annotations = READS,
		.places = AT(SERVER),
		.begin = mcp_list_files,
	},
	{
		.name = "read_file",
		.title = "Read a file",
		.description =
			"Gives the content of a container's file: text as "
			"text, images as images, all else as bytes.",
		.input = OBJECT(
			STRING_PROPERTY("path", "Which, as in 'plot.png' or "
						"'/mnt/data/plot.png'") ","
			CONTAINER,
			"\"path\""),
		.output = OBJECT("\"container_id\":{\"type\":\"string\"},"
				 "\"file\":" FILE_SCHEMA,
				 "\"container_id\",\"file\""),
		.annotations = READS,
		.places = AT(SERVER),
		.begin = mcp_read_file,
	},
	{
		.name = "launchPythonEnvironment",
		.title = "Launch a Python environment",
		.description = "Makes an environment that runs Python code.",
		.input = OBJECT("", ""),
		.output = LAUNCHED,
		.annotations = RUNS,
		.places = AT(POOL),
		.begin = mcp_launch_environment,
	},
	{
		.name = "launchShell",
		.title = "Launch a shell",
		.description = "Makes an environment that runs shell commands.",
		.input = OBJECT("", ""),
		.output = LAUNCHED,
		.annotations = RUNS,
		.places = AT(POOL),
		.begin = mcp_launch_environment,
	},
	{
		.name = "runPythonCodeInRemoteEnvironment",
		.title = "Run Python code",
		.description = "Runs Python code in an environment.",
		.input = OBJECT(ENVIRONMENT ","
				STRING_PROPERTY("pythonCode",
						"Python source to run"),
				"\"environmentId\",\"pythonCode\""),
		.output = OBJECT("\"environmentId\":{\"type\":\"string\"},"
				 RUN_PROPERTIES,
				 "\"environmentId\"," RUN_REQUIRED),
		.annotations = RUNS,
		.places = AT(POOL),
		.begin = mcp_run_environment_python,
		.environment = true,
	},
	{
		.name = "runShellCommandInRemoteEnvironment",
		.title = "Run a shell command",
		.description = "Runs a command of the shell in an environment.",
		.input = OBJECT(ENVIRONMENT ","
				STRING_PROPERTY("shellCommand",
						"Command for /bin/sh"),
				"\"environmentId\",\"shellCommand\""),
		.output = OBJECT("\"environmentId\":{\"type\":\"string\"},"
				 "\"exitCode\":{\"type\":[\"integer\","
				 "\"null\"]}," RUN_PROPERTIES,
				 "\"environmentId\",\"exitCode\","
				 RUN_REQUIRED),
		.annotations = RUNS,
		.places = AT(POOL),
		.begin = mcp_run_environment_shell,
		.environment = true,
		.shell = true,
	},
};

enum {
	TOOL_COUNT = sizeof(tools) / sizeof(tools[0]),
	TOKEN_MAX = 1024,	/* it comes back with each progress */
};

/* ------------------------------------------------------------------------ list */

static void write_raw(struct json_writer *w, const char *key, const char *text)
{
	json_write_raw(w, key, text, strlen(text));
}

static void write_tool(struct json_writer *w, const struct mcp_tool *tool,
		       const char *name, const char *description)
{
	json_write_object(w, NULL);
	json_write_string(w, "name", name ? name : tool->name);
	json_write_string(w, "title", tool->title);
	json_write_string(w, "description",
			  description ? description : tool->description);
	write_raw(w, "inputSchema", tool->input);
	write_raw(w, "outputSchema", tool->output);
	write_raw(w, "annotations", tool->annotations);
	json_write_close(w);
}

int mcp_tools_list(struct mcp_call *call, struct error *err)
{
	const struct toolbox_offer *offer = &call->offer;
	struct json_writer *w;
	size_t i;

	/* All fit into one page, so no cursor was ever given. */
	if (json_member(call->message.params, "cursor"))
		return mcp_fault(call, MHD_HTTP_OK, RPC_INVALID_PARAMS,
				 "'cursor' was not given by this server");
	w = mcp_result(call);
	/* Of a toolbox they may be for some keys only. */
	mcp_result_cacheable(call, w, call->place != MCP_TOOLBOX);
	json_write_array(w, "tools");
	for (i = 0; i < offer->tools; i++)
		write_tool(w, &tools[0], offer->tool[i].name,
			   offer->tool[i].description);
	for (i = 0; i < TOOL_COUNT; i++)
		if (tools[i].places & (1u << call->place))
			write_tool(w, &tools[i], NULL, NULL);
	json_write_close(w);
	return mcp_reply(call, err);
}

/* ------------------------------------------------------------------------ call */

int mcp_argument_error(struct error *err, const char *name, const char *what)
{
	error_set_param(err, "%s", name);
	return error_set(err, ERR_BAD_REQUEST, "'%s' %s", name, what);
}

static bool find_tool(struct mcp_call *call, const char *name)
{
	size_t i;

	for (i = 0; i < call->offer.tools; i++)
		if (strcmp(call->offer.tool[i].name, name) == 0) {
			call->tool = &tools[0];
			call->index = i;
			return true;
		}
	for (i = 0; i < TOOL_COUNT; i++)
		if ((tools[i].places & (1u << call->place)) &&
		    strcmp(tools[i].name, name) == 0) {
			call->tool = &tools[i];
			return true;
		}
	return false;
}

static int bad_params(struct mcp_call *call, const char *what)
{
	return mcp_fault(call, MHD_HTTP_OK, RPC_INVALID_PARAMS, "%s", what);
}

static int check_token(struct mcp_call *call)
{
	struct json_object *token = json_member(call->message.meta,
						"progressToken");
	enum json_kind kind = json_kind_of(token);

	if (!token || kind == JSON_INT ||
	    (kind == JSON_STRING && json_string_of(token).length <= TOKEN_MAX))
		return 0;
	return bad_params(call, "'progressToken' must be a string of at most "
				"1,024 bytes, or an integer");
}

int mcp_tools_call(struct mcp_call *call, struct error *err)
{
	const char *name = mcp_message_text(&call->message, "name");
	int r;

	if (!name)
		return bad_params(call, "'name' must be the name of a tool");
	call->arguments = json_member(call->message.params, "arguments");
	if (call->arguments && json_kind_of(call->arguments) != JSON_OBJECT)
		return bad_params(call, "'arguments' must be an object");
	if (!find_tool(call, name))
		return mcp_fault(call, MHD_HTTP_OK, RPC_INVALID_PARAMS,
				 "Unknown tool: %.200s", name);
	r = check_token(call);
	if (r >= 0)
		r = mcp_stream_begin(call, err);
	if (r < 0)
		return r;
	r = call->tool->begin(call, err);
	if (r < 0)
		r = mcp_tool_failed(call, err);
	if (!call->streaming || r != ROUTE_PENDING)
		return r;
	/* The answer has begun; what core owes goes into it. */
	request_owes(call->req);
	return ROUTE_ANSWERED;
}
