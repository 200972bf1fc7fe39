/* SPDX-License-Identifier: Apache-2.0 */
#include "api_fixture.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

/*
 * Every field of a request that is a time, a size or another amount: what is
 * out of range is refused with the field's name and the bound, in whichever
 * dialect, and never cut to fit.
 */

#define ADMIN "/admin/v1/"
#define KEY(field) "{\"tenant\":\"default\",\"" field "\":@}"
#define EXPIRY(field, unit)                                                    \
	"\"expires_after\":{\"anchor\":\"" field "\",\"" unit "\":@}"
#define PART(bytes, seconds)                                                   \
	"{\"filename\":\"a\",\"purpose\":\"assistants\",\"mime_type\":"        \
	"\"text/plain\",\"bytes\":" bytes ",\"expires_after\":{\"anchor\":"    \
	"\"created_at\",\"seconds\":" seconds "}}"
#define OLD(field) "{\"properties\":{\"codeInputType\":\"inline\","            \
		   "\"executionType\":\"synchronous\",\"code\":\"1\","         \
		   "\"" field "\":@}}"
#define NEW(field) "{\"codeInputType\":\"Inline\",\"executionType\":"          \
		   "\"Synchronous\",\"code\":\"1\",\"" field "\":@}"
#define OLD_PATH "/code/execute?api-version=2024-02-02-preview&identifier=u"
#define NEW_PATH "/executions?api-version=2025-02-02-preview&identifier=u"
#define MCP_RUN                                                                \
	"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":"  \
	"{\"name\":\"code_interpreter\",\"arguments\":{\"code\":\"1\","        \
	"\"timeout_s\":@}}}"
#define POLICY(field) "{\"tools\":[],\"policies\":{\"" field "\":@}}"
#define TOOLBOX "/api/projects/p1/toolboxes/box/versions?api-version=v1"

/* JSON itself ends here, for everybody; a field then has no bound of its own. */
#define BEYOND "9223372036854775808"
#define OF_JSON "an integer is out of range"

/**
 * struct bound - One field
 * @body:	With an @ where the value goes; NULL: it goes into the path
 * @below:	Too little, and what the answer says of the bound
 * @above:	Too much
 */
static const struct bound {
	const char *method;
	const char *path;
	const char *body;
	const char *name;
	const char *below, *least;
	const char *above, *most;
} bounds[] = {
	{ "POST", "/v1/containers",
	  "{\"name\":\"x\"," EXPIRY("last_active_at", "minutes") "}",
	  "expires_after.minutes", "0", "minimum of 1", "21", "maximum of 20" },
	{ "POST", "/v1/uploads", PART("@", "3600"), "bytes", "-1",
	  "minimum of 0", "8589934593", "maximum of 8589934592" },
	{ "POST", "/v1/uploads", PART("1", "@"), "expires_after.seconds",
	  "3599", "minimum of 3600", "2592001", "maximum of 2592000" },
	{ "POST", "/v1/containers/cntr_1/exec",
	  "{\"code\":\"1\",\"timeout_s\":@}", "timeout_s", "0", "above 0",
	  "300.001", "maximum of 300" },
	{ "GET", "/v1/files?limit=@", NULL, "limit", "0", "from 1 to 10000",
	  "10001", "from 1 to 10000" },
	{ "GET", "/v1/containers?limit=@", NULL, "limit", "0", "from 1 to 100",
	  "101", "from 1 to 100" },
	{ "POST", OLD_PATH, OLD("timeoutInSeconds"), "timeoutInSeconds", "0",
	  "minimum of 1", "221", "maximum of 220" },
	{ "POST", NEW_PATH, NEW("timeoutInSeconds"), "timeoutInSeconds", "0",
	  "minimum of 1", "221", "maximum of 220" },
	{ "POST", NEW_PATH, NEW("outputStreamsMaxLength"),
	  "outputStreamsMaxLength", "0", "minimum of 1", BEYOND, OF_JSON },
	{ "POST", "/mcp", MCP_RUN, "timeout_s", "0", "above 0", "301",
	  "maximum of 300" },
	{ "POST", "/mcp", MCP_RUN, "timeout_s", "-1", "above 0", "86401",
	  "maximum of 86400" },
	{ "POST", TOOLBOX, POLICY("timeout_s"), "policies.timeout_s", "0",
	  "minimum of 1", "86401", "maximum of 86400" },
	{ "POST", TOOLBOX, POLICY("max_artifact_bytes"),
	  "policies.max_artifact_bytes", "0", "minimum of 1", BEYOND, OF_JSON },
	{ "POST", ADMIN "keys", KEY("expires_after_s"), "expires_after_s", "0",
	  "minimum of 1", "2147483648", "maximum of 2147483647" },
	{ "POST", ADMIN "keys", KEY("max_requests"), "max_requests", "0",
	  "minimum of 1", "2147483648", "maximum of 2147483647" },
	{ "POST", ADMIN "keys", KEY("requests_per_minute"),
	  "requests_per_minute", "0", "minimum of 1", "2147483648",
	  "maximum of 2147483647" },
	{ "POST", ADMIN "tenants", "{\"id\":\"t\",\"max_sessions\":@}",
	  "max_sessions", "-1", "minimum of 0", "2147483648",
	  "maximum of 2147483647" },
	{ "POST", ADMIN "tenants", "{\"id\":\"t\",\"max_executions\":@}",
	  "max_executions", "-1", "minimum of 0", "2147483648",
	  "maximum of 2147483647" },
	{ "POST", ADMIN "tenants", "{\"id\":\"t\",\"max_requests\":@}",
	  "max_requests", "-1", "minimum of 0", "2147483648",
	  "maximum of 2147483647" },
	{ "POST", ADMIN "tenants", "{\"id\":\"t\",\"max_bytes\":@}",
	  "max_bytes", "-1", "minimum of 0", BEYOND, OF_JSON },
	{ "POST", ADMIN "tenants",
	  "{\"id\":\"t\",\"session_seconds_per_day\":@}",
	  "session_seconds_per_day", "-1", "minimum of 0", "2147483648",
	  "maximum of 2147483647" },
	{ "POST", ADMIN "drain", "{\"deadline_s\":@}", "deadline_s", "-0.001",
	  "minimum of 0", "31622401", "maximum of 31622400" },
	{ "POST", ADMIN "clock", "{\"advance_s\":@}", "advance_s", "0",
	  "above 0", "31622401", "maximum of 31622400" },
};

/* Over the Unix socket, where all calls are. */
static struct answer ask_value(struct fixture *fx, const struct bound *b,
			       const char *value)
{
	_cleanup_close_ int fd = client_connect_unix(fx);
	_cleanup_(buf_done) struct buf text = BUF_INIT(1 << 16);
	const char *whole = b->body ? b->body : b->path;
	const char *at = strchr(whole, '@');
	char filled[1024];

	(void)snprintf(filled, sizeof(filled), "%.*s%s%s", (int)(at - whole),
		       whole, value, at + 1);
	if (b->body)
		buf_printf(&text,
			   "%s %s HTTP/1.1\r\n" HOST
			   "Content-Type: application/json\r\n"
			   "Accept: application/json, text/event-stream\r\n"
			   "Content-Length: %zu\r\n\r\n%s",
			   b->method, b->path, strlen(filled), filled);
	else
		buf_printf(&text, "%s %s HTTP/1.1\r\n" HOST "\r\n", b->method,
			   filled);
	assert_true(client_send(fx, fd, text.data, text.length));
	return client_read(fx, fd);
}

static void expect_refusal(struct fixture *fx, const struct bound *b,
			   const char *value, const char *says)
{
	_answer_ struct answer a = ask_value(fx, b, value);
	bool is_tool = strcmp(b->path, "/mcp") == 0;
	bool is_json = strcmp(says, OF_JSON) == 0;

	/* The model is told of a tool's arguments in the tool's result. */
	if (a.status != (is_tool ? 200 : 400) ||
	    (is_tool && !strstr(a.body, "\"isError\":true")) ||
	    (!is_json && !strstr(a.body, b->name)) || !strstr(a.body, says))
		fail_msg("%s=%s on %s: %s", b->name, value, b->path,
			 buf_str(&a.raw));
}

static void what_is_out_of_range_is_refused_with_name_and_bound(void **state)
{
	struct fixture *fx = *state;
	size_t i;

	for (i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
		expect_refusal(fx, &bounds[i], bounds[i].below,
			       bounds[i].least);
		expect_refusal(fx, &bounds[i], bounds[i].above,
			       bounds[i].most);
	}
	assert_int_equal(fx->core->execs, 0);
	assert_string_equal(fx->core->name, "");
	assert_false(fx->core->drain);
}

static void the_expiry_of_a_file_is_refused_likewise(void **state)
{
#define FIELD(name, value)                                                     \
	"--b\r\nContent-Disposition: form-data; name=\"" name "\"\r\n\r\n"     \
	value "\r\n"
	static const char *const values[] = { "3599", "2592001", "-3600",
					      "3600.5",
					      "18446744073709555216" };
	struct fixture *fx = *state;
	size_t i;

	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		char body[1024], request[2048];

		(void)snprintf(body, sizeof(body),
			       FIELD("purpose", "assistants")
			       FIELD("expires_after[anchor]", "created_at")
			       FIELD("expires_after[seconds]", "%s")
			       "--b\r\nContent-Disposition: form-data; "
			       "name=\"file\"; filename=\"a\"\r\n\r\nx\r\n"
			       "--b--\r\n", values[i]);
		(void)snprintf(request, sizeof(request),
			       "POST /v1/files HTTP/1.1\r\n" HOST AUTH
			       "Content-Type: multipart/form-data; "
			       "boundary=b\r\nContent-Length: %zu\r\n\r\n%s",
			       strlen(body), body);
		_answer_ struct answer a = ask(fx, request);
		assert_int_equal(a.status, 400);
		assert_non_null(strstr(a.body, "'expires_after.seconds' must "
					       "be an integer from 3600 to "
					       "2592000"));
	}
	assert_int_equal(fx->core->files, 0);
#undef FIELD
}

static int with_short_executions(void **state)
{
	return fixture_setup_with(state, "exec.max_timeout=60");
}

/* What the operator allows may be less than what the dialect does. */
static void the_operators_limit_is_told_by_the_dialects_name(void **state)
{
	static const struct bound rows[] = {
		{ .method = "POST", .path = "/v1/containers/cntr_1/exec",
		  .body = "{\"code\":\"1\",\"timeout_s\":@}",
		  .name = "'timeout_s'" },
		{ .method = "POST", .path = OLD_PATH,
		  .body = OLD("timeoutInSeconds"),
		  .name = "'timeoutInSeconds'" },
		{ .method = "POST", .path = NEW_PATH,
		  .body = NEW("timeoutInSeconds"),
		  .name = "'timeoutInSeconds'" },
		{ .method = "POST", .path = "/mcp", .body = MCP_RUN,
		  .name = "'timeout_s'" },
	};
	struct fixture *fx = *state;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		expect_refusal(fx, &rows[i], "61", "maximum of 60");
	assert_int_equal(fx->core->execs, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			what_is_out_of_range_is_refused_with_name_and_bound,
			fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			the_expiry_of_a_file_is_refused_likewise,
			fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			the_operators_limit_is_told_by_the_dialects_name,
			with_short_executions, fixture_teardown),
	};

	return RUN_TESTS(tests);
}
