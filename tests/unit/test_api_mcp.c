/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp_client.h"

#include "api/mcp_session.h"

#include <unistd.h>

/* MCP's JSON-RPC, and the transport of the legacy era. */

#define PING "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"
#define RUN                                                                    \
	"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":"  \
	"{\"name\":\"code_interpreter\",\"arguments\":{\"code\":\"1\"}}}"

static void what_is_no_message_is_told_so(void **state)
{
	struct fixture *fx = *state;

	mcp_fails(fx, "", "{", 400, -32700);
	mcp_fails(fx, "", "\xff", 400, -32700);
	mcp_fails(fx, "", "{\"a\":1,\"a\":1}", 400, -32700);
	mcp_fails(fx, "", "null", 400, -32600);
	mcp_fails(fx, "", "7", 400, -32600);
	mcp_fails(fx, "", "{}", 400, -32600);
	mcp_fails(fx, "", "[" PING "]", 400, -32600);
	mcp_fails(fx, "", "[]", 400, -32600);
	mcp_fails(fx, "", "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}",
		  400, -32600);
	mcp_fails(fx, "", "{\"jsonrpc\":2.0,\"id\":1,\"method\":\"ping\"}", 400,
		  -32600);
	mcp_fails(fx, "", "{\"id\":1,\"method\":\"ping\"}", 400, -32600);
	mcp_fails(fx, "", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}", 400,
		  -32600);
	mcp_fails(fx, "",
		  "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pi\\u0000ng\"}",
		  400, -32600);
	mcp_fails(fx, "",
		  "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\","
		  "\"params\":[1]}",
		  400, -32600);
	mcp_fails(fx, "",
		  "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\","
		  "\"params\":{\"_meta\":7}}",
		  400, -32600);
}

static void ids_are_strings_or_integers(void **state)
{
	static const char *const wrong[] = { "null", "1.5", "true", "[1]",
					     "{\"a\":1}" };
	struct fixture *fx = *state;
	char message[128];
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(message, sizeof(message),
			 "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"ping\"}",
			 wrong[i]);
		mcp_fails(fx, "", message, 400, -32600);
	}
	/* No integer of 64 bits: not even JSON to us. */
	mcp_fails(fx, "",
		  "{\"jsonrpc\":\"2.0\",\"id\":99999999999999999999,"
		  "\"method\":\"ping\"}",
		  400, -32700);
}

static void ids_come_back_as_they_came(void **state)
{
	static const char *const ids[] = { "1",	   "-9007199254740993",
					   "\"1\"", "\"\"", "\"a\\\"\\u00e9\"" };
	struct fixture *fx = *state;
	char message[128], want[128];
	size_t i;

	for (i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		snprintf(message, sizeof(message),
			 "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"ping\"}",
			 ids[i]);
		_said_ struct said said = mcp_say(fx, "", message);
		snprintf(want, sizeof(want),
			 "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}",
			 i == 4 ? "\"a\\\"\xc3\xa9\"" : ids[i]);
		assert_int_equal(said.answer.status, 200);
		assert_string_equal(said.answer.body, want);
	}
}

static void an_id_that_is_too_long_is_none(void **state)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(1 << 20);
	struct fixture *fx = *state;
	int i;

	buf_add_str(&b, "{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"id\":\"");
	for (i = 0; i < 10000; i++)
		buf_add_byte(&b, 'a');
	buf_add_str(&b, "\"}");
	mcp_fails(fx, "", buf_str(&b), 400, -32600);
}

static void unknown_methods_are_told_with_200(void **state)
{
	static const char *const methods[] = {
		"prompts/list", "prompts/get", "completion/complete",
		"logging/setLevel", "server/discover", "nonsense", "",
		"resources/subscribe", "tools",
	};
	struct fixture *fx = *state;
	char message[128];
	size_t i;

	for (i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		snprintf(message, sizeof(message),
			 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\"}",
			 methods[i]);
		mcp_fails(fx, "", message, 200, -32601);
	}
}

static void initialize_agrees_on_a_version(void **state)
{
	static const struct {
		const char *asked;
		const char *given;
	} versions[] = {
		{ "2025-11-25", "2025-11-25" }, { "2025-06-18", "2025-06-18" },
		{ "2025-03-26", "2025-03-26" }, { "2024-11-05", "2024-11-05" },
		{ "2024-10-07", "2024-10-07" }, { "2026-07-28", "2025-11-25" },
		{ "1999-01-01", "2025-11-25" }, { "", "2025-11-25" },
	};
	struct fixture *fx = *state;
	char message[256];
	size_t i;

	for (i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		snprintf(message, sizeof(message),
			 "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":"
			 "\"initialize\",\"params\":{\"protocolVersion\":"
			 "\"%s\",\"capabilities\":{}}}",
			 versions[i].asked);
		_said_ struct said said = mcp_say(fx, "", message);
		assert_int_equal(said.answer.status, 200);
		assert_string_equal(
			json_string_of(mcp_member(&said, "protocolVersion")).data,
			versions[i].given);
		assert_non_null(json_member(mcp_member(&said, "capabilities"),
					    "resources"));
		assert_non_null(json_member(mcp_member(&said, "serverInfo"),
					    "version"));
	}
	/* Sample clients send no params at all. */
	_said_ struct said bare = mcp_say(
		fx, "",
		"{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"method\":\"initialize\"}");
	assert_string_equal(
		json_string_of(mcp_member(&bare, "protocolVersion")).data,
		"2025-11-25");
	assert_true(strlen(answer_header(&bare.answer, "Mcp-Session-Id")) > 40);
}

static void notifications_and_responses_get_202(void **state)
{
	static const char *const messages[] = {
		"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}",
		"{\"jsonrpc\":\"2.0\",\"method\":\"anything\"}",
		("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
		 "\"params\":{\"requestId\":[]}}"),
		"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\"}",
		"{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}",
		"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":null}",
	};
	struct fixture *fx = *state;
	char session[160];
	size_t i;

	mcp_begin(fx, "/mcp", session);
	for (i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
		_said_ struct said said = mcp_say(fx, session, messages[i]);

		assert_int_equal(said.answer.status, 202);
		assert_int_equal(said.answer.length, 0);
	}
}

static void sessions_end_and_are_bound(void **state)
{
	struct fixture *fx = *state;
	char session[160], other[256], request[512];

	mcp_begin(fx, "/mcp", session);
	_said_ struct said good = mcp_say(fx, session, PING);
	assert_int_equal(good.answer.status, 200);
	mcp_fails(fx, "Mcp-Session-Id: mcp_guess\r\n", PING, 404, -32001);
	mcp_fails(fx, "Mcp-Session-Id: \r\n", PING, 404, -32001);
	/* Another tenant's key, and another endpoint. */
	snprintf(other, sizeof(other),
		 "Authorization: Bearer " FAKE_OTHER_KEY "\r\n%s", session);
	mcp_fails(fx, other, PING, 404, -32001);
	_said_ struct said pool = mcp_post(fx, "/pools/default/mcp", session,
					   PING);
	assert_int_equal(pool.answer.status, 404);

	snprintf(request, sizeof(request),
		 "DELETE /mcp HTTP/1.1\r\n" HOST AUTH "%s\r\n", session);
	_answer_ struct answer gone = ask(fx, request);
	assert_int_equal(gone.status, 200);
	assert_int_equal(fx->core->deletes, 0); /* it had no container */
	mcp_fails(fx, session, PING, 404, -32001);
	_answer_ struct answer again = ask(fx, request);
	assert_int_equal(again.status, 404);
	_answer_ struct answer none =
		ask(fx, "DELETE /mcp HTTP/1.1\r\n" HOST AUTH "\r\n");
	assert_int_equal(none.status, 400);
}

static void a_session_is_its_container(void **state)
{
	struct fixture *fx = *state;
	char session[160], request[512];

	mcp_begin(fx, "/mcp", session);
	_said_ struct said said = mcp_run(fx, "/mcp", session, RUN, "hi\n",
					  EXEC_OK);
	assert_int_equal(said.answer.status, 200);
	assert_non_null(strstr(session, fx->core->name));
	assert_int_equal(fx->core->dialect, DIALECT_MCP);
	assert_int_equal(fx->core->idle_minutes, 0);
	snprintf(request, sizeof(request),
		 "DELETE /mcp HTTP/1.1\r\n" HOST AUTH "%s\r\n", session);
	_answer_ struct answer gone = ask(fx, request);
	assert_int_equal(gone.status, 200);
	assert_int_equal(fx->core->deletes, 1);

	mcp_begin(fx, "/mcp", session);
	_said_ struct said more = mcp_run(fx, "/mcp", session, RUN, "hi\n",
					  EXEC_OK);
	assert_int_equal(more.answer.status, 200);
	fx->core->ended = true;
	mcp_fails(fx, session, PING, 404, -32001);
}

static void a_session_outlives_the_daemon_with_its_container(void **state)
{
	struct fixture *fx = *state;
	static const char field[] =
		"Mcp-Session-Id: mcp_"
		"0123456789abcdefghijABCDEFGHIJ0123456789abcd\r\n";

	mcp_fails(fx, field, PING, 404, -32001);
	fx->core->named = true; /* core has one by that name */
	_said_ struct said said = mcp_say(fx, field, PING);
	assert_int_equal(said.answer.status, 200);
}

static void the_oldest_session_makes_room(void **state)
{
	struct fixture *fx = *state;
	char first[160], session[160];
	int i;

	mcp_begin(fx, "/mcp", first);
	for (i = 0; i < MCP_SESSIONS_MAX; i++)
		mcp_begin(fx, "/mcp", session);
	mcp_fails(fx, first, PING, 404, -32001);
	_said_ struct said said = mcp_say(fx, session, PING);
	assert_int_equal(said.answer.status, 200);
}

/* Core still owes the first call something when the second one names its id. */
static void what_a_client_left_behind_cannot_be_cancelled(void **state)
{
	struct fixture *fx = *state;
	char session[160];
	int fd;

	mcp_begin(fx, "/mcp", session);
	fx->core->hold_accept = true;
	fd = mcp_start(fx, "/mcp", session, RUN);
	close(fd);
	run_loop(fx);
	_said_ struct said said = mcp_say(
		fx, session,
		"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
		"\"params\":{\"requestId\":7}}");
	assert_int_equal(said.answer.status, 202);
	fake_core_accept(fx->core);
	assert_int_equal(fx->core->interrupts, 0);
}

static void header_fields_are_checked(void **state)
{
	struct fixture *fx = *state;

	mcp_fails(fx, "MCP-Protocol-Version: 1999-01-01\r\n", PING, 400,
		  -32000);
	mcp_fails(fx, "MCP-Protocol-Version: 2026-07-28\r\n", PING, 400,
		  -32020);
	_said_ struct said old = mcp_say(
		fx, "MCP-Protocol-Version: 2025-06-18\r\n", PING);
	assert_int_equal(old.answer.status, 200);
	mcp_fails(fx, "Origin: http://evil.example\r\n", PING, 403, -32000);
	mcp_fails(fx, "Origin: null\r\n", PING, 403, -32000);
	mcp_fails(fx, "Origin: http://x\r\n", PING, 403, -32000);
	_said_ struct said odd = mcp_say(fx, "Accept: text/html\r\n", PING);
	assert_int_equal(odd.answer.status, 200);
	mcp_fails(fx, "Authorization: Bearer wrong\r\n", PING, 401, -32000);
	mcp_fails(fx, "Authorization: Bearer " FAKE_FILES_KEY "\r\n", PING, 403,
		  -32000);
}

static void own_and_listed_origins_may_ask(void **state)
{
	struct fixture *fx = *state;
	struct error err = ERROR_INIT;
	char field[256];

	snprintf(field, sizeof(field), "Origin: %s\r\n", api_url(fx->api));
	_said_ struct said own = mcp_say(fx, field, PING);
	assert_int_equal(own.answer.status, 200);
	assert_int_equal(settings_set(fx->settings,
				      "listen.cors_origins=https://a.example "
				      "https://b.example:8443",
				      &err), 0);
	_said_ struct said listed = mcp_say(
		fx, "Origin: https://b.example:8443\r\n", PING);
	assert_int_equal(listed.answer.status, 200);
	mcp_fails(fx, "Origin: https://b.example\r\n", PING, 403, -32000);
}

static void wrong_methods_and_types_are_refused(void **state)
{
	struct fixture *fx = *state;
	_answer_ struct answer get =
		ask(fx, "GET /mcp HTTP/1.1\r\n" HOST AUTH
			"Accept: text/event-stream\r\n\r\n");
	_answer_ struct answer text =
		ask(fx, "POST /mcp HTTP/1.1\r\n" HOST AUTH
			"Content-Type: text/plain\r\nContent-Length: 2\r\n"
			"\r\n{}");
	_answer_ struct answer large =
		ask(fx, "POST /mcp HTTP/1.1\r\n" HOST AUTH
			"Content-Type: application/json\r\n"
			"Content-Length: 33554433\r\n\r\n");

	assert_int_equal(get.status, 405);
	assert_string_equal(answer_header(&get, "Allow"),
			    "POST, DELETE, OPTIONS");
	assert_non_null(strstr(get.body, "\"code\":-32000"));
	assert_int_equal(text.status, 415);
	assert_non_null(strstr(text.body, "\"jsonrpc\":\"2.0\""));
	assert_int_equal(large.status, 413);
}

int main(void)
{
#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	static const struct CMUnitTest tests[] = {
		TEST(what_is_no_message_is_told_so),
		TEST(ids_are_strings_or_integers),
		TEST(ids_come_back_as_they_came),
		TEST(an_id_that_is_too_long_is_none),
		TEST(unknown_methods_are_told_with_200),
		TEST(initialize_agrees_on_a_version),
		TEST(notifications_and_responses_get_202),
		TEST(sessions_end_and_are_bound),
		TEST(a_session_is_its_container),
		TEST(a_session_outlives_the_daemon_with_its_container),
		TEST(the_oldest_session_makes_room),
		TEST(what_a_client_left_behind_cannot_be_cancelled),
		TEST(header_fields_are_checked),
		TEST(own_and_listed_origins_may_ask),
		TEST(wrong_methods_and_types_are_refused),
	};

	return RUN_TESTS(tests);
}
