/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp_client.h"

#include <unistd.h>

/* MCP's modern era: every request says all, and nothing is kept. */

#define FIELDS(method) "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: " method "\r\n"
#define LIST                                                                   \
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":"  \
	"{" MODERN "}}"
#define RUN                                                                    \
	"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":"  \
	"{\"name\":\"code_interpreter\",\"arguments\":{\"code\":\"1\"},"       \
	MODERN "}}"
#define RUN_FIELDS FIELDS("tools/call") "Mcp-Name: code_interpreter\r\n"

static void check_modern(const struct said *said)
{
	struct json_object *info;

	assert_int_equal(said->answer.status, 200);
	assert_string_equal(json_string_of(mcp_member(said, "resultType")).data,
			    "complete");
	info = json_member(mcp_member(said, "_meta"),
			   "io.modelcontextprotocol/serverInfo");
	assert_string_equal(json_string_of(json_member(info, "name")).data,
			    "cupola");
	assert_string_equal(answer_header(&said->answer, "Mcp-Session-Id"), "");
}

static void discover_tells_what_there_is(void **state)
{
	struct fixture *fx = *state;
	struct json_object *versions;
	_said_ struct said said = mcp_say(
		fx, FIELDS("server/discover"),
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\","
		"\"params\":{" MODERN "}}");

	check_modern(&said);
	versions = mcp_member(&said, "supportedVersions");
	assert_string_equal(json_string_of(json_array_at(versions, 0)).data,
			    "2026-07-28");
	assert_string_equal(json_string_of(json_array_at(versions, 1)).data,
			    "2025-11-25");
	assert_non_null(json_member(mcp_member(&said, "capabilities"),
				    "tools"));
	assert_non_null(mcp_member(&said, "ttlMs"));
	assert_non_null(mcp_member(&said, "cacheScope"));
	assert_non_null(json_string_of(mcp_member(&said, "instructions")).data);
}

static void lists_say_how_long_they_hold(void **state)
{
	struct fixture *fx = *state;
	_said_ struct said said = mcp_say(fx, FIELDS("tools/list"), LIST);

	check_modern(&said);
	assert_int_equal(json_array_size(mcp_member(&said, "tools")), 4);
	assert_non_null(strstr(said.answer.body, "\"ttlMs\":60000"));
	assert_non_null(strstr(said.answer.body, "\"cacheScope\":\"public\""));
}

static void fields_must_say_what_the_body_says(void **state)
{
	struct fixture *fx = *state;

	mcp_fails(fx, "", LIST, 400, -32020);
	mcp_fails(fx, "MCP-Protocol-Version: 2026-07-28\r\n", LIST, 400,
		  -32020);
	mcp_fails(fx,
		  "MCP-Protocol-Version: 2025-11-25\r\n"
		  "Mcp-Method: tools/list\r\n",
		  LIST, 400, -32020);
	mcp_fails(fx, FIELDS("tools/call"), LIST, 400, -32020);
	mcp_fails(fx, FIELDS("tools/call"), RUN, 400, -32020);
	mcp_fails(fx, FIELDS("tools/call") "Mcp-Name: other\r\n", RUN, 400,
		  -32020);
	mcp_fails(fx, FIELDS("tools/call") "Mcp-Name: =?base64?!?=\r\n", RUN,
		  400, -32020);
	mcp_fails(fx, FIELDS("tools/call") "Mcp-Name: =?base64?=\r\n", RUN, 400,
		  -32020);
	mcp_fails(fx, FIELDS("resources/read"),
		  "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\","
		  "\"params\":{\"uri\":\"http://x/\"," MODERN "}}",
		  400, -32020);
}

static void names_may_come_as_base64(void **state)
{
	struct fixture *fx = *state;
	_said_ struct said said = mcp_run(
		fx, "/mcp",
		FIELDS("tools/call")
		"Mcp-Name: =?base64?Y29kZV9pbnRlcnByZXRlcg==?=\r\n",
		RUN, "hi", EXEC_OK);

	check_modern(&said);
}

static void other_versions_are_told_which_there_are(void **state)
{
	struct fixture *fx = *state;
	_said_ struct said said = mcp_say(
		fx,
		"MCP-Protocol-Version: 2099-01-01\r\n"
		"Mcp-Method: tools/list\r\n",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\","
		"\"params\":{\"_meta\":{\"io.modelcontextprotocol/"
		"protocolVersion\":\"2099-01-01\"}}}");
	struct json_object *data = json_member(json_member(said.json, "error"),
					       "data");

	assert_int_equal(said.answer.status, 400);
	assert_int_equal(mcp_code(&said), -32022);
	assert_string_equal(json_string_of(json_member(data, "requested")).data,
			    "2099-01-01");
	assert_string_equal(
		json_string_of(json_array_at(json_member(data, "supported"), 0))
			.data,
		"2026-07-28");
}

static void what_lacks_is_told(void **state)
{
	struct fixture *fx = *state;

	mcp_fails(fx, FIELDS("tools/list"),
		  "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\","
		  "\"params\":{\"_meta\":{\"io.modelcontextprotocol/"
		  "protocolVersion\":\"2026-07-28\"}}}",
		  400, -32602);
	mcp_fails(fx, FIELDS("tools/list"),
		  "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\","
		  "\"params\":{\"_meta\":{\"io.modelcontextprotocol/"
		  "protocolVersion\":7}}}",
		  400, -32602);
}

static void methods_of_the_other_era_are_not_found(void **state)
{
	static const char *const methods[] = { "initialize", "ping", "nothing",
					       "subscriptions/listen",
					       "prompts/list" };
	struct fixture *fx = *state;
	char fields[128], message[512];
	size_t i;

	for (i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		snprintf(fields, sizeof(fields),
			 "MCP-Protocol-Version: 2026-07-28\r\n"
			 "Mcp-Method: %s\r\n",
			 methods[i]);
		snprintf(message, sizeof(message),
			 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\","
			 "\"params\":{" MODERN "}}",
			 methods[i]);
		mcp_fails(fx, fields, message, 404, -32601);
	}
	_answer_ struct answer gone =
		ask(fx, "DELETE /mcp HTTP/1.1\r\n" HOST AUTH
			"MCP-Protocol-Version: 2026-07-28\r\n"
			"Mcp-Session-Id: x\r\n\r\n");
	assert_int_equal(gone.status, 405);
	assert_string_equal(answer_header(&gone, "Allow"), "POST, OPTIONS");
}

static void a_session_id_means_nothing(void **state)
{
	struct fixture *fx = *state;
	_said_ struct said said = mcp_say(
		fx, FIELDS("tools/list") "Mcp-Session-Id: x\r\n", LIST);

	check_modern(&said);
}

static void a_call_has_a_container_for_a_while(void **state)
{
	struct fixture *fx = *state;
	_said_ struct said said = mcp_run(fx, "/mcp", RUN_FIELDS, RUN, "hi",
					  EXEC_OK);

	check_modern(&said);
	assert_int_equal(fx->core->idle_minutes, 5);
	assert_non_null(strstr(said.answer.body, "\"container_id\":\"cntr_1\""));
}

static void who_leaves_has_cancelled(void **state)
{
	struct fixture *fx = *state;
	int fd = mcp_start(fx, "/mcp", RUN_FIELDS, RUN);

	run_loop(fx);
	assert_int_equal(fx->core->watches, 1);
	close(fd);
	run_loop(fx);
	assert_int_equal(fx->core->interrupts, 1);
	assert_int_equal(fx->core->watches, 0);
}

static void who_leaves_early_has_cancelled_too(void **state)
{
	struct fixture *fx = *state;
	int fd;

	fx->core->hold_accept = true;
	fd = mcp_start(fx, "/mcp", RUN_FIELDS, RUN);
	close(fd);
	run_loop(fx);
	assert_int_equal(fx->core->interrupts, 0);
	fake_core_accept(fx->core);
	assert_int_equal(fx->core->interrupts, 1);
}

static void what_has_ended_is_not_cancelled(void **state)
{
	struct fixture *fx = *state;
	_said_ struct said said = mcp_run(fx, "/mcp", RUN_FIELDS, RUN, "",
					  EXEC_OK);

	check_modern(&said);
	run_loop(fx);
	assert_int_equal(fx->core->interrupts, 0);
}

int main(void)
{
#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	static const struct CMUnitTest tests[] = {
		TEST(discover_tells_what_there_is),
		TEST(lists_say_how_long_they_hold),
		TEST(fields_must_say_what_the_body_says),
		TEST(names_may_come_as_base64),
		TEST(other_versions_are_told_which_there_are),
		TEST(what_lacks_is_told),
		TEST(methods_of_the_other_era_are_not_found),
		TEST(a_session_id_means_nothing),
		TEST(a_call_has_a_container_for_a_while),
		TEST(who_leaves_has_cancelled),
		TEST(who_leaves_early_has_cancelled_too),
		TEST(what_has_ended_is_not_cancelled),
	};

	return RUN_TESTS(tests);
}
