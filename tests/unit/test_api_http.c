/* SPDX-License-Identifier: Apache-2.0 */
#include "api_fixture.h"

#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/json.h"

static void health_needs_no_key(void **state)
{
	_answer_ struct answer a = ask(*state, "GET /healthz HTTP/1.1\r\n" HOST
					       "\r\n");

	assert_int_equal(a.status, 200);
	assert_memory_equal(answer_header(&a, "x-request-id"), "req_", 4);
	assert_string_equal(answer_header(&a, "X-Content-Type-Options"),
			    "nosniff");
}

static void readiness_says_what_is_missing(void **state)
{
	struct fixture *fx = *state;
	const char *request = "GET /readyz HTTP/1.1\r\n" HOST "\r\n";

	{
		_answer_ struct answer a = ask(fx, request);
		assert_int_equal(a.status, 200);
	}
	fx->core->ready = false;
	{
		_answer_ struct answer a = ask(fx, request);
		assert_int_equal(a.status, 503);
		assert_non_null(strstr(a.body, "hypervisor process"));
	}
}

static void each_of_three_fields_may_hold_the_key(void **state)
{
	static const char *const good[] = {
		"Authorization: Bearer " FAKE_KEY, "authorization: bearer  "
		FAKE_KEY, "api-key: " FAKE_KEY, "x-ms-apikey: " FAKE_KEY,
		"api-key: " FAKE_KEY "\r\n" "Authorization: Bearer " FAKE_KEY,
	};
	static const char *const bad[] = {
		"X: y", "Authorization: Bearer no", "Authorization: ",
		"Authorization: Basic abc", "api-key: no", "api-key:",
		"api-key: " FAKE_KEY "\r\n" "x-ms-apikey: " FAKE_OTHER_KEY,
	};
	struct fixture *fx = *state;
	char request[512];
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		snprintf(request, sizeof(request),
			 "GET /v1/files HTTP/1.1\r\n" HOST "%s\r\n\r\n",
			 good[i]);
		_answer_ struct answer a = ask(fx, request);
		assert_int_equal(a.status, 200);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(request, sizeof(request),
			 "GET /v1/files HTTP/1.1\r\n" HOST "%s\r\n\r\n",
			 bad[i]);
		expect_error(fx, request, 401, "invalid_api_key");
	}
}

static void a_key_is_good_only_for_its_scope(void **state)
{
	struct fixture *fx = *state;

	expect_error(fx, "GET /v1/containers HTTP/1.1\r\n" HOST
			 "api-key: " FAKE_FILES_KEY "\r\n\r\n", 403, NULL);
}

static void every_alias_leads_to_the_same_place(void **state)
{
	static const char *const paths[] = {
		"/v1/containers/cntr_1", "/v1/containers/cntr_1/",
		"/openai/v1/containers/cntr_1",
		"/openai/containers/cntr_1?api-version=2025-01-01",
		"/api/projects/p%20x/openai/v1/containers/cntr_1",
		"/v1/containers/%63ntr_1?x=1&x=2",
	};
	struct fixture *fx = *state;
	char request[512];
	size_t i;

	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		snprintf(request, sizeof(request),
			 "GET %s HTTP/1.1\r\n" HOST AUTH "\r\n", paths[i]);
		_answer_ struct answer a = ask(fx, request);
		assert_int_equal(a.status, 200);
		assert_string_equal(answer_header(&a, "Cupola-Idle-Expires-At"),
				    "1790001200");
		assert_string_equal(answer_header(&a, "Cupola-Hard-Expires-At"),
				    "1790003600");
	}
}

#define OLDEST "api-version=2023-08-01-preview&identifier=user-1"

/* Whatever way a client writes them; they are often "maker/model". */
static void names_of_models_may_have_slashes(void **state)
{
	static const struct {
		const char *path;
		const char *says;
	} paths[] = {
		{ "models/openai/gpt-4o", "no model 'openai/gpt-4o'" },
		{ "models/openai%2Fgpt-4o", "no model 'openai/gpt-4o'" },
		{ "models/a%2fb/c%2Fd:8b/", "no model 'a/b/c/d:8b'" },
		{ "models/a//b", "no model 'a//b'" },
		{ "models/m", "no model 'm'" },
		{ "models%2Fm", "nothing at this path" },
		{ "files/a%2Fb", "nothing at this path" },
		{ "files%2Fa", "nothing at this path" },
	};
	static const char *const prefixes[] = {
		"/v1", "/openai/v1", "/openai", "/api/projects/p/openai/v1",
	};
	struct fixture *fx = *state;
	char request[512];
	size_t i, k;

	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		for (k = 0; k < sizeof(prefixes) / sizeof(prefixes[0]); k++) {
			snprintf(request, sizeof(request),
				 "GET %s/%s HTTP/1.1\r\n" HOST AUTH "\r\n",
				 prefixes[k], paths[i].path);
			_answer_ struct answer a = ask(fx, request);

			assert_int_equal(a.status, 404);
			if (!strstr(a.body, paths[i].says))
				fail_msg("%s: %s", paths[i].path, a.body);
		}
}

/* No project and no pool has a slash in its name, and no id. */
static void escaped_slashes_name_nothing_else(void **state)
{
	static const char *const paths[] = {
		"/pools/default%2Fx/executions/exec_1?" OLDEST,
		"/pools%2Fdefault/files?" OLDEST,
		"/files/a%2Fb/content?" OLDEST,
		"/api/projects/p%2Fq/agents/a", "/api/projects/p/agents/a%2Fb",
		"/api/projects/p/toolboxes/a%2Fmcp",
		"/v1/containers/cntr_1%2Ffiles",
		"/v1/containers/cntr_1/files/a%2Fcontent", "/%2Fv1/files", "/%2F",
	};
	struct fixture *fx = *state;
	char request[512];
	size_t i;

	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		snprintf(request, sizeof(request),
			 "GET %s HTTP/1.1\r\n" HOST AUTH "\r\n", paths[i]);
		_answer_ struct answer a = ask(fx, request);

		assert_int_equal(a.status, 404);
		if (!strstr(a.body, "nothing at this path"))
			fail_msg("%s: %s", paths[i], a.body);
	}
}

static void paths_lead_nowhere_else(void **state)
{
	static const struct {
		const char *path;
		int status;
	} paths[] = {
		{ "/", 404 }, { "//v1/files", 404 }, { "/v1/files//", 404 },
		{ "/v1/nothing", 404 }, { "/v2/files", 404 },
		{ "/v1/files/..%2f..%2fetc%2fpasswd/content", 404 },
		{ "/v1/files/../../etc/passwd", 404 },
		{ "/v1/files/..%252f..%252fetc", 404 },
		{ "/v1/files/%00", 400 }, { "/v1/files/a%0", 400 },
		{ "/v1/files/%zz", 400 }, { "/v1/files/%ff", 400 },
		{ "/v1/files?after=%00", 400 },
		{ "/v1/files?limit=1&limit=2", 400 },
		{ "/admin/v1/status", 404 },
	};
	struct fixture *fx = *state;
	char request[512];
	size_t i;

	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		snprintf(request, sizeof(request),
			 "GET %s HTTP/1.1\r\n" HOST AUTH "\r\n",
			 paths[i].path);
		expect_error(fx, request, paths[i].status, NULL);
	}
}

static void a_method_that_is_not_there_is_told_what_is(void **state)
{
	struct fixture *fx = *state;
	static const char *const methods[] = { "PATCH", "TRACE", "PUT", "FOO",
					       "delete" };
	char request[256];
	size_t i;

	for (i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		snprintf(request, sizeof(request),
			 "%s /v1/files HTTP/1.1\r\n" HOST AUTH "\r\n",
			 methods[i]);
		_answer_ struct answer a = ask(fx, request);
		check_error(&a, 405, NULL);
		assert_string_equal(answer_header(&a, "Allow"),
				    "GET, HEAD, POST, OPTIONS");
	}
}

static void options_lists_the_methods(void **state)
{
	struct fixture *fx = *state;
	_answer_ struct answer a =
		ask(fx, "OPTIONS /v1/files/x HTTP/1.1\r\n" HOST "\r\n");

	assert_int_equal(a.status, 204);
	assert_string_equal(answer_header(&a, "Allow"),
			    "GET, HEAD, DELETE, OPTIONS");
	_answer_ struct answer b =
		ask(fx, "OPTIONS * HTTP/1.1\r\n" HOST "\r\n");
	assert_int_equal(b.status, 204);
}

static void head_gets_the_header_only(void **state)
{
	struct fixture *fx = *state;
	_cleanup_close_ int fd = client_connect(fx);
	_cleanup_(buf_done) struct buf got = BUF_INIT(65536);
	const char *twice = "HEAD /v1/files HTTP/1.1\r\n" HOST AUTH "\r\n"
			    "GET /healthz HTTP/1.1\r\n" HOST
			    "Connection: close\r\n\r\n";

	assert_true(client_send(fx, fd, twice, strlen(twice)));
	assert_true(client_read_until(fx, fd, &got, "\"ok\""));
	assert_null(strstr(buf_str(&got), "has_more"));
	assert_non_null(strstr(buf_str(&got), "Content-Length: "));
}

static void failures_tell_clients_what_to_do(void **state)
{
	struct fixture *fx = *state;
	_answer_ struct answer a =
		ask(fx, POST "Content-Length: 19\r\n\r\n{\"name\":\"capacity\"}");
	_answer_ struct answer b =
		ask(fx, POST "Content-Length: 14\r\n\r\n{\"name\":\"bug\"}");

	check_error(&a, 503, NULL);
	assert_string_equal(answer_header(&a, "Retry-After"), "5");
	check_error(&b, 500, NULL);
	assert_null(strstr(b.body, "secret"));
	assert_non_null(strstr(b.body, "req_"));
}

static void the_unix_socket_needs_no_key_and_has_the_admin_calls(void **state)
{
	static const struct {
		const char *request;
		int status;
	} calls[] = {
		{ "GET /v1/files", 200 }, { "GET /admin/v1/sessions", 200 },
		{ "GET /admin/v1/status", 200 }, { "GET /admin/v1/top", 200 },
		{ "GET /admin/v1/audit", 200 },
		{ "GET /admin/v1/sessions/cntr_1/console", 200 },
		{ "GET /admin/v1/pools", 200 }, { "GET /admin/v1/images", 200 },
		{ "GET /admin/v1/doctor", 200 },
		{ "GET /admin/v1/keys", 200 }, { "GET /metrics", 200 },
		{ "DELETE /admin/v1/keys/key_1", 200 },
		{ "DELETE /admin/v1/sessions/cntr_1", 200 },
		{ "GET /admin/v1/sessions/cntr_1", 200 },
		{ "POST /admin/v1/sessions/cntr_1/nmi", 202 },
		{ "GET /admin/v1/sessions/cntr_2", 404 },
	};
	struct fixture *fx = *state;
	_cleanup_close_ int fd = client_connect_unix(fx);
	char request[256];
	size_t i;

	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		snprintf(request, sizeof(request),
			 "%s HTTP/1.1\r\n" HOST "\r\n", calls[i].request);
		assert_true(client_send(fx, fd, request, strlen(request)));
		_answer_ struct answer a = client_read(fx, fd);
		assert_int_equal(a.status, calls[i].status);
	}
}

static void the_operators_list_shows_tenants(void **state)
{
	struct fixture *fx = *state;
	_cleanup_close_ int fd = client_connect_unix(fx);
	const char *request = "GET /admin/v1/sessions HTTP/1.1\r\n" HOST "\r\n";

	assert_true(client_send(fx, fd, request, strlen(request)));
	_answer_ struct answer a = client_read(fx, fd);
	assert_non_null(strstr(a.body, "\"tenant\":\"default\""));
	_answer_ struct answer b = ask(fx, "GET /v1/containers HTTP/1.1\r\n"
					   HOST AUTH "\r\n");
	assert_null(strstr(b.body, "tenant"));
}

static void a_key_counts_on_the_unix_socket_too(void **state)
{
	struct fixture *fx = *state;
	_cleanup_close_ int fd = client_connect_unix(fx);
	const char *request = "GET /v1/files HTTP/1.1\r\n" HOST
			      "api-key: no\r\n\r\n";

	assert_true(client_send(fx, fd, request, strlen(request)));
	_answer_ struct answer a = client_read(fx, fd);
	check_error(&a, 401, "invalid_api_key");
}

static void a_key_is_made_with_the_scopes_that_exist(void **state)
{
	static const struct {
		const char *body;
		int status;
	} bodies[] = {
		{ "{\"tenant\":\"a\",\"scopes\":[\"files\"]}", 200 },
		{ "{\"tenant\":\"a\"}", 200 },
		{ "{\"tenant\":\"a\",\"scopes\":[\"root\"]}", 400 },
		{ "{\"tenant\":\"a\",\"more\":1}", 400 },
		{ "{\"scopes\":[]}", 400 },
	};
	struct fixture *fx = *state;
	_cleanup_close_ int fd = client_connect_unix(fx);
	char request[256];
	size_t i;

	for (i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		snprintf(request, sizeof(request),
			 "POST /admin/v1/keys HTTP/1.1\r\n" HOST
			 "Content-Type: application/json\r\n"
			 "Content-Length: %zu\r\n\r\n%s",
			 strlen(bodies[i].body), bodies[i].body);
		assert_true(client_send(fx, fd, request, strlen(request)));
		_answer_ struct answer a = client_read(fx, fd);
		assert_int_equal(a.status, bodies[i].status);
	}
}

static void metrics_name_each_figure_once(void **state)
{
	struct fixture *fx = *state;
	_answer_ struct answer a =
		ask(fx, "GET /metrics HTTP/1.1\r\n" HOST AUTH "\r\n");
	const char *help;

	assert_int_equal(a.status, 200);
	help = strstr(a.body, "# HELP cupola_sessions ");
	assert_non_null(help);
	assert_null(strstr(help + 1, "# HELP cupola_sessions "));
	assert_non_null(strstr(help, "cupola_sessions{state=\"running\"} 1\n"));
}

static void drained(void *userdata)
{
	*(bool *)userdata = true;
}

static void draining_closes_idle_connections_and_waits_for_the_rest(void **state)
{
	struct fixture *fx = *state;
	_cleanup_close_ int idle = client_connect(fx);
	_cleanup_close_ int busy = client_connect(fx);
	const char *exec = "POST /v1/containers/cntr_1/exec HTTP/1.1\r\n" HOST
			   AUTH "Content-Type: application/json\r\n"
			   "Content-Length: 12\r\n\r\n{\"code\":\"1\"}";
	bool done = false;

	assert_true(client_send(fx, busy, exec, strlen(exec)));
	run_loop(fx);
	assert_int_equal(fx->core->execs, 1);
	api_drain(fx->api, drained, &done);
	{
		_answer_ struct answer a = client_read(fx, idle);
		assert_true(a.closed);
		assert_int_equal(a.raw.length, 0);
	}
	run_loop(fx);
	assert_false(done);
	fake_core_done(fx->core, EXEC_OK);
	{
		_answer_ struct answer a = client_read(fx, busy);
		assert_int_equal(a.status, 200);
		assert_string_equal(answer_header(&a, "Connection"), "close");
	}
	run_loop(fx);
	assert_true(done);
}

int main(void)
{
#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(health_needs_no_key),
		TEST(readiness_says_what_is_missing),
		TEST(each_of_three_fields_may_hold_the_key),
		TEST(a_key_is_good_only_for_its_scope),
		TEST(every_alias_leads_to_the_same_place),
		TEST(names_of_models_may_have_slashes),
		TEST(escaped_slashes_name_nothing_else),
		TEST(paths_lead_nowhere_else),
		TEST(a_method_that_is_not_there_is_told_what_is),
		TEST(options_lists_the_methods),
		TEST(head_gets_the_header_only),
		TEST(failures_tell_clients_what_to_do),
		TEST(the_unix_socket_needs_no_key_and_has_the_admin_calls),
		TEST(the_operators_list_shows_tenants),
		TEST(a_key_counts_on_the_unix_socket_too),
		TEST(a_key_is_made_with_the_scopes_that_exist),
		TEST(metrics_name_each_figure_once),
		TEST(draining_closes_idle_connections_and_waits_for_the_rest),
	};

	return RUN_TESTS(tests);
}
