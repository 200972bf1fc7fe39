/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp_client.h"

#include <unistd.h>

/* MCP's tools and resources, on /mcp and on the endpoint of a pool. */

#define CALL(name, arguments)                                                  \
	"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":"  \
	"{\"name\":\"" name "\",\"arguments\":" arguments "}}"
#define RUN CALL("code_interpreter", "{\"code\":\"1\"}")
#define ASK(method, params)                                                    \
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"" method "\",\"params\":"  \
	params "}"
#define PROGRESS                                                               \
	"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":"  \
	"{\"name\":\"code_interpreter\",\"arguments\":{\"code\":\"1\"},"       \
	"\"_meta\":{\"progressToken\":\"p1\"}}}"
#define LINKS "MCP-Protocol-Version: 2025-06-18\r\n"

static const char *field_of(const struct said *said, const char *name)
{
	return json_string_of(json_member(mcp_member(said, "structuredContent"),
					  name))
		.data;
}

static bool is_error(const struct said *said)
{
	return strstr(said->answer.body, "\"isError\":true");
}

static void each_place_has_its_tools(void **state)
{
	static const char *const server[] = { "code_interpreter", "upload_file",
					      "list_files", "read_file" };
	static const char *const pool[] = {
		"code_interpreter", "launchPythonEnvironment", "launchShell",
		"runPythonCodeInRemoteEnvironment",
		"runShellCommandInRemoteEnvironment",
	};
	struct fixture *fx = *state;
	struct json_object *tools, *tool;
	size_t i;

	_said_ struct said a = mcp_say(fx, "", ASK("tools/list", "{}"));
	tools = mcp_member(&a, "tools");
	assert_int_equal(json_array_size(tools), 4);
	for (i = 0; i < 4; i++) {
		tool = json_array_at(tools, i);
		assert_string_equal(
			json_string_of(json_member(tool, "name")).data,
			server[i]);
		assert_string_equal(
			json_string_of(json_member(json_member(tool,
							       "inputSchema"),
						   "type"))
				.data,
			"object");
		assert_non_null(json_member(tool, "outputSchema"));
		assert_non_null(json_member(tool, "description"));
	}
	assert_null(mcp_member(&a, "nextCursor"));
	_said_ struct said b = mcp_post(
		fx, "/subscriptions/s/resourceGroups/r/sessionPools/p/mcp", "",
		ASK("tools/list", "{}"));
	tools = mcp_member(&b, "tools");
	assert_int_equal(json_array_size(tools), 5);
	for (i = 0; i < 5; i++)
		assert_string_equal(
			json_string_of(json_member(json_array_at(tools, i),
						   "name"))
				.data,
			pool[i]);
	mcp_fails(fx, "", ASK("tools/list", "{\"cursor\":\"x\"}"), 200, -32602);
}

static void code_runs_and_says_what_it_came_to(void **state)
{
	struct fixture *fx = *state;
	_said_ struct said said = mcp_run(fx, "/mcp", "", RUN, "hello\n",
					  EXEC_OK);
	struct json_object *content = mcp_member(&said, "content");
	struct json_object *last;

	assert_int_equal(said.answer.status, 200);
	assert_string_equal(mcp_text(&said), "hello\n");
	assert_string_equal(field_of(&said, "stdout"), "hello\n");
	assert_string_equal(field_of(&said, "container_id"), "cntr_1");
	assert_string_equal(field_of(&said, "status"), "ok");
	assert_false(is_error(&said));
	/* The structure once more, as text. */
	last = json_array_at(content, json_array_size(content) - 1);
	assert_non_null(strstr(
		json_string_of(json_member(last, "text")).data,
		"{\"container_id\":\"cntr_1\",\"execution_id\":\"exec_1\""));
	assert_int_equal(fx->core->timeout_usec, 50 * USEC_PER_SEC);
	assert_int_equal(fx->core->idle_minutes, 5);
}

static void an_exception_is_a_result(void **state)
{
	struct fixture *fx = *state;
	int fd = mcp_start(fx, "/mcp", "", RUN);

	fx->core->exec.error_name = "ZeroDivisionError";
	fx->core->exec.error_value = "division by zero";
	fx->core->exec.error_traceback = "Traceback: ZeroDivisionError";
	fake_core_done(fx->core, EXEC_ERROR);
	_said_ struct said said = mcp_finish(fx, fd);
	assert_false(is_error(&said));
	assert_string_equal(mcp_text(&said), "Traceback: ZeroDivisionError");
	assert_non_null(strstr(said.answer.body,
			       "\"error\":{\"name\":\"ZeroDivisionError\""));

	_said_ struct said late = mcp_run(fx, "/mcp", "", RUN, "a",
					  EXEC_TIMEOUT);
	assert_true(is_error(&late));
	assert_non_null(strstr(mcp_text(&late), "time limit"));
}

static void figures_and_files_come_along(void **state)
{
	struct exec_datum data[] = {
		{ .mime = "image/png", .file_id = "cfile_1" },
		{ .mime = "text/plain", .data = "<Figure>", .data_len = 8 },
	};
	struct exec_result result = { data, 2 };
	struct cfile_view file = { .bytes = 3, .path = "/mnt/data/a b.csv",
				   .created_at = 1790000000 };
	struct fixture *fx = *state;
	int fd;

	strcpy(file.id, "cfile_2");
	strcpy(file.container, FAKE_CONTAINER);
	fake_core_cfile(fx->core, "f.png", "\x89PNG", 4);
	fd = mcp_start(fx, "/mcp", LINKS, RUN);
	fx->core->exec.results = &result;
	fx->core->exec.result_count = 1;
	fx->core->exec.artifacts = &file;
	fx->core->exec.artifact_count = 1;
	fake_core_done(fx->core, EXEC_OK);
	_said_ struct said said = mcp_finish(fx, fd);
	assert_string_equal(mcp_text(&said), "<Figure>");
	assert_string_equal(field_of(&said, "result"), "<Figure>");
	assert_non_null(strstr(said.answer.body,
			       "{\"type\":\"image\",\"data\":\"iVBORw==\","
			       "\"mimeType\":\"image/png\"}"));
	assert_non_null(strstr(said.answer.body,
			       "{\"type\":\"resource_link\",\"uri\":\"http://x/"
			       "v1/containers/cntr_1/files/cfile_2/content\","
			       "\"name\":\"a b.csv\",\"mimeType\":\"application/csv\","
			       "\"size\":3}"));
	/* Before 2025-06-18 there were no links; the structure has them. */
	fd = mcp_start(fx, "/mcp", "", RUN);
	fx->core->exec.artifacts = &file;
	fx->core->exec.artifact_count = 1;
	fake_core_done(fx->core, EXEC_OK);
	_said_ struct said old = mcp_finish(fx, fd);
	assert_null(strstr(old.answer.body, "resource_link"));
	assert_non_null(strstr(old.answer.body, "\"path\":\"/mnt/data/a b.csv"));
}

/* A tool's error, for the model, that mentions something. */
static void tool_fails(struct fixture *fx, const char *fields,
		       const char *message, const char *says)
{
	_said_ struct said said = mcp_say(fx, fields, message);

	if (said.answer.status != 200 || !is_error(&said) ||
	    !strstr(mcp_text(&said), says))
		fail_msg("%s", buf_str(&said.answer.raw));
}

static void arguments_that_are_wrong_are_told_the_model(void **state)
{
	struct fixture *fx = *state;

	tool_fails(fx, "", CALL("code_interpreter", "{}"), "code");
	tool_fails(fx, "",
		   CALL("code_interpreter", "{\"code\":\"1\",\"timeout_s\":0}"),
		   "timeout_s");
	tool_fails(fx, "",
		   CALL("code_interpreter",
			"{\"code\":\"1\",\"container_id\":\"cntr_none\"}"),
		   "cntr_none");
	tool_fails(fx, "",
		   CALL("code_interpreter",
			"{\"code\":\"busy\",\"container_id\":\"cntr_1\"}"),
		   "wait");
	tool_fails(fx, "", CALL("upload_file", "{\"path\":\"a\"}"), "content");
	tool_fails(fx, "",
		   CALL("upload_file",
			"{\"path\":\"../a\",\"content\":\"\"}"),
		   "path");
	tool_fails(fx, "",
		   CALL("upload_file", "{\"path\":\"a\",\"content\":\"!\","
				       "\"encoding\":\"base64\"}"),
		   "base64");
	tool_fails(fx, "", CALL("read_file", "{\"path\":\"a\"}"),
		   "no container");
	assert_int_equal(fx->core->execs, 0);
}

static void calls_that_are_malformed_are_no_tools_errors(void **state)
{
	struct fixture *fx = *state;

	mcp_fails(fx, "", CALL("nothing", "{}"), 200, -32602);
	mcp_fails(fx, "", CALL("launchShell", "{}"), 200, -32602);
	mcp_fails(fx, "", CALL("code_interpreter", "[]"), 200, -32602);
	mcp_fails(fx, "", ASK("tools/call", "{}"), 200, -32602);
	mcp_fails(fx, "", ASK("tools/call", "{\"name\":7}"), 200, -32602);
	mcp_fails(fx, "",
		  ASK("tools/call", "{\"name\":\"code_interpreter\",\"_meta\":"
				    "{\"progressToken\":[]}}"),
		  200, -32602);
}

static void a_key_for_toolboxes_reaches_its_own_containers(void **state)
{
	static const char message[] =
		CALL("list_files", "{\"container_id\":\"cntr_1\"}");
	static const char mine[] =
		"Authorization: Bearer " FAKE_TOOLBOXES_KEY "\r\n";
	struct fixture *fx = *state;

	/* Another key of the same tenant made it. */
	fx->core->dialect = DIALECT_MCP;
	tool_fails(fx, mine, message, "not found");
	_said_ struct said said = mcp_say(fx, "", message);
	assert_false(is_error(&said));
}

static void files_go_in_and_out(void **state)
{
	struct fixture *fx = *state;
	_said_ struct said up = mcp_say(
		fx, "",
		CALL("upload_file", "{\"path\":\"/mnt/data/s/a.csv\","
				    "\"content\":\"x,y\"}"));
	_said_ struct said bytes = mcp_say(
		fx, "",
		CALL("upload_file", "{\"path\":\"b.bin\",\"content\":\"AP8=\","
				    "\"encoding\":\"base64\","
				    "\"container_id\":\"cntr_1\"}"));

	assert_false(is_error(&up));
	assert_string_equal(field_of(&up, "container_id"), "cntr_1");
	assert_non_null(strstr(up.answer.body,
			       "\"path\":\"/mnt/data/s/a.csv\",\"bytes\":3,"
			       "\"mime_type\":\"application/csv\""));
	assert_non_null(strstr(bytes.answer.body, "\"bytes\":2"));
	_said_ struct said list = mcp_say(
		fx, "", CALL("list_files", "{\"container_id\":\"cntr_1\"}"));
	assert_int_equal(
		json_array_size(json_member(
			mcp_member(&list, "structuredContent"), "files")),
		2);
	_said_ struct said text = mcp_say(
		fx, "", CALL("read_file", "{\"path\":\"s/a.csv\","
					  "\"container_id\":\"cntr_1\"}"));
	assert_string_equal(mcp_text(&text), "x,y");
	_said_ struct said blob = mcp_say(
		fx, "", CALL("read_file", "{\"path\":\"b.bin\","
					  "\"container_id\":\"cntr_1\"}"));
	assert_non_null(strstr(blob.answer.body, "\"blob\":\"AP8=\""));
}

static void a_list_without_a_container_is_empty(void **state)
{
	struct fixture *fx = *state;
	char session[160];

	mcp_begin(fx, "/mcp", session);
	_said_ struct said said = mcp_say(fx, session,
					  CALL("list_files", "{}"));
	assert_non_null(strstr(said.answer.body,
			       "\"structuredContent\":{\"container_id\":null,"
			       "\"files\":[],\"has_more\":false}"));
	assert_int_equal(fx->core->name[0], '\0'); /* none was made */
}

static void an_upload_waits_for_the_disk(void **state)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(1 << 20);
	struct fixture *fx = *state;
	int fd = client_connect(fx), left = client_connect(fx);

	fx->core->stall = true;
	mcp_write(&b, "/mcp", "",
		  CALL("upload_file", "{\"path\":\"a\",\"content\":\"abc\","
				      "\"container_id\":\"cntr_1\"}"));
	assert_true(client_send(fx, fd, b.data, b.length));
	run_loop(fx);
	fake_core_room(fx->core);
	_said_ struct said said = mcp_finish(fx, fd);
	assert_false(is_error(&said));
	/* Whose client leaves meanwhile is not waited for for ever. */
	fx->core->stall = true;
	assert_true(client_send(fx, left, b.data, b.length));
	run_loop(fx);
	close(left);
	run_loop(fx);
	fake_core_room(fx->core);
	assert_int_equal(fx->core->uploads, 0);
}

static void progress_is_told_in_a_stream(void **state)
{
	_cleanup_(buf_done) struct buf got = BUF_INIT(1 << 20);
	struct fixture *fx = *state;
	int fd = mcp_start(fx, "/mcp",
			   "Accept: application/json, text/event-stream\r\n",
			   PROGRESS);

	assert_int_equal(fx->core->timeout_usec, 0);
	run_loop(fx);
	fake_core_output(fx->core, false, "half way", 8);
	assert_true(client_read_until(fx, fd, &got, "half way"));
	assert_non_null(strstr(buf_str(&got),
			       "Content-Type: text/event-stream"));
	assert_non_null(strstr(buf_str(&got), "X-Accel-Buffering: no"));
	assert_non_null(strstr(buf_str(&got),
			       "event: message\ndata: {\"jsonrpc\":\"2.0\","
			       "\"method\":\"notifications/progress\","
			       "\"params\":{\"progressToken\":\"p1\","
			       "\"progress\":"));
	fake_core_done(fx->core, EXEC_OK);
	assert_true(client_read_until(fx, fd, &got, "\r\n0\r\n"));
	assert_non_null(strstr(buf_str(&got),
			       "data: {\"jsonrpc\":\"2.0\",\"id\":7,"
			       "\"result\":{\"content\":"));
	close(fd);
}

static void without_a_token_or_the_type_there_is_no_stream(void **state)
{
	struct fixture *fx = *state;
	_said_ struct said plain = mcp_run(
		fx, "/mcp", "Accept: application/json, text/event-stream\r\n",
		RUN, "", EXEC_OK);
	_said_ struct said json = mcp_run(fx, "/mcp",
					  "Accept: application/json\r\n",
					  PROGRESS, "", EXEC_OK);
	_said_ struct said only = mcp_run(fx, "/mcp",
					  "Accept: text/event-stream\r\n", RUN,
					  "", EXEC_OK);

	assert_string_equal(answer_header(&plain.answer, "Content-Type"),
			    "application/json");
	assert_string_equal(answer_header(&json.answer, "Content-Type"),
			    "application/json");
	assert_string_equal(answer_header(&only.answer, "Content-Type"),
			    "text/event-stream; charset=utf-8");
	/* Failures that are known at once come in the stream as well. */
	_said_ struct said fails = mcp_say(fx, "Accept: text/event-stream\r\n",
					   CALL("code_interpreter", "{}"));
	assert_int_equal(fails.answer.status, 200);
	assert_non_null(strstr(fails.answer.body, "\"isError\":true"));
}

static void cancel(struct fixture *fx, const char *fields, const char *message)
{
	_said_ struct said said = mcp_say(fx, fields, message);

	assert_int_equal(said.answer.status, 202);
}

static void a_call_can_be_cancelled_in_its_session(void **state)
{
#define CANCEL(id)                                                             \
	"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","         \
	"\"params\":{\"requestId\":" id "}}"
	struct fixture *fx = *state;
	char session[160], other[160];
	int fd;

	mcp_begin(fx, "/mcp", session);
	mcp_begin(fx, "/mcp", other);
	fd = mcp_start(fx, "/mcp", session, RUN);
	run_loop(fx);
	cancel(fx, other, CANCEL("7"));
	cancel(fx, "", CANCEL("7"));
	cancel(fx, session, CANCEL("\"7\""));
	cancel(fx, session, CANCEL("8"));
	assert_int_equal(fx->core->interrupts, 0);
	cancel(fx, session, CANCEL("7"));
	assert_int_equal(fx->core->interrupts, 1);
	fake_core_done(fx->core, EXEC_INTERRUPTED);
	_said_ struct said said = mcp_finish(fx, fd);
	assert_true(is_error(&said));
}

static void who_leaves_has_not_cancelled(void **state)
{
	struct fixture *fx = *state;
	int fd = mcp_start(fx, "/mcp", "", RUN);

	run_loop(fx);
	close(fd);
	run_loop(fx);
	assert_int_equal(fx->core->interrupts, 0);
	assert_int_equal(fx->core->watches, 0);
}

static void artifacts_are_resources(void **state)
{
	struct fixture *fx = *state;

	fake_core_cfile(fx->core, "a.txt", "abc", 3);
	fake_core_cfile(fx->core, "b.bin", "\xff\x00", 2);
	fx->core->named = true;
	_said_ struct said list = mcp_say(fx, "", ASK("resources/list", "{}"));
	assert_int_equal(json_array_size(mcp_member(&list, "resources")), 2);
	assert_non_null(strstr(list.answer.body,
			       "{\"uri\":\"http://x/v1/containers/cntr_1/files/"
			       "cfile_1/content\",\"name\":\"a.txt\""));
	_said_ struct said text = mcp_say(
		fx, "",
		ASK("resources/read", "{\"uri\":\"http://y/v1/containers/cntr_1"
				      "/files/cfile_1/content\"}"));
	assert_non_null(strstr(text.answer.body,
			       "\"mimeType\":\"text/plain\",\"text\":\"abc\""));
	_said_ struct said blob = mcp_say(
		fx, "",
		ASK("resources/read", "{\"uri\":\"http://x/v1/containers/cntr_1"
				      "/files/cfile_2/content\"}"));
	assert_non_null(strstr(blob.answer.body, "\"blob\":\"/wA=\""));
	mcp_fails(fx, "", ASK("resources/read", "{\"uri\":\"file:///etc\"}"),
		  200, -32002);
	mcp_fails(fx, "",
		  ASK("resources/read", "{\"uri\":\"http://x/v1/containers/"
					"cntr_9/files/cfile_1/content\"}"),
		  200, -32002);
	mcp_fails(fx, "", ASK("resources/list", "{\"cursor\":7}"), 200, -32602);
}

static void a_pool_speaks_as_the_service_does(void **state)
{
	struct fixture *fx = *state;
	_said_ struct said hello = mcp_post(
		fx, "/pools/default/mcp", "",
		"{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"method\":\"initialize\"}");
	_said_ struct said launch = mcp_post(
		fx, "/pools/default/mcp", "",
		CALL("launchPythonEnvironment", "{}"));

	assert_non_null(strstr(hello.answer.body,
			       "\"protocolVersion\":\"2025-03-26\","
			       "\"capabilities\":{\"tools\":{\"call\":true,"
			       "\"list\":true}},\"serverInfo\":{\"name\":"
			       "\"Microsoft Container Apps MCP Server\""));
	assert_string_equal(field_of(&launch, "environmentId"), "cntr_1");
	_said_ struct said run = mcp_run(
		fx, "/pools/default/mcp", "",
		CALL("runPythonCodeInRemoteEnvironment",
		     "{\"environmentId\":\"cntr_1\",\"pythonCode\":\"2\"}"),
		"out", EXEC_OK);
	assert_string_equal(field_of(&run, "stdout"), "out");
	assert_string_equal(field_of(&run, "environmentId"), "cntr_1");
	_said_ struct said shell = mcp_run(
		fx, "/pools/default/mcp", "",
		CALL("runShellCommandInRemoteEnvironment",
		     "{\"environmentId\":\"cntr_1\",\"shellCommand\":\"ls\"}"),
		"", EXEC_OK);
	assert_string_equal(fx->core->code,
			    "__import__('subprocess').run(['/bin/sh', '-c', "
			    "\"ls\"]).returncod");
	assert_non_null(strstr(shell.answer.body, "\"exitCode\":null"));
	_said_ struct said none = mcp_post(fx, "/pools/nowhere/mcp", "",
					   ASK("tools/list", "{}"));
	assert_int_equal(none.answer.status, 404);
}

int main(void)
{
#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	static const struct CMUnitTest tests[] = {
		TEST(each_place_has_its_tools),
		TEST(code_runs_and_says_what_it_came_to),
		TEST(an_exception_is_a_result),
		TEST(figures_and_files_come_along),
		TEST(arguments_that_are_wrong_are_told_the_model),
		TEST(calls_that_are_malformed_are_no_tools_errors),
		TEST(a_key_for_toolboxes_reaches_its_own_containers),
		TEST(files_go_in_and_out),
		TEST(a_list_without_a_container_is_empty),
		TEST(an_upload_waits_for_the_disk),
		TEST(progress_is_told_in_a_stream),
		TEST(without_a_token_or_the_type_there_is_no_stream),
		TEST(a_call_can_be_cancelled_in_its_session),
		TEST(who_leaves_has_not_cancelled),
		TEST(artifacts_are_resources),
		TEST(a_pool_speaks_as_the_service_does),
	};

	return RUN_TESTS(tests);
}
