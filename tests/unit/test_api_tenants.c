/* SPDX-License-Identifier: Apache-2.0 */
#include "api_fixture.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/penalty.h"
#include "base/cleanup.h"

/* Who may come in, how often, and what caches may do with what they get. */

static void without_a_key_every_refusal_is_the_same(void **state)
{
	static const char *const fields[] = {
		"", "Authorization:\r\n", "Authorization: Bearer \r\n",
		"Authorization: Bearer\r\n",
		"Authorization: Basic Zm9vOmJhcg==\r\n",
	};
	struct fixture *fx = *state;
	char request[256], first[512] = "";
	size_t i;

	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		snprintf(request, sizeof(request),
			 "GET /v1/containers HTTP/1.1\r\n" HOST "%s\r\n",
			 fields[i]);
		_answer_ struct answer a = ask(fx, request);

		check_error(&a, 401, "invalid_api_key");
		assert_string_equal(answer_header(&a, "WWW-Authenticate"),
				    "Bearer");
		if (i == 0)
			snprintf(first, sizeof(first), "%s", a.body);
		assert_string_equal(a.body, first);
	}
	_answer_ struct answer figures =
		ask(fx, "GET /metrics HTTP/1.1\r\n" HOST AUTH "\r\n");
	assert_non_null(strstr(figures.body,
			       "cupola_auth_failures_total 5\n"));
	assert_int_equal(fx->core->requests, 0);
}

static void keys_that_are_nearly_right_open_nothing(void **state)
{
	static const char *const keys[] = {
		FAKE_KEY "x", "ck-goo", "CK-GOOD", FAKE_KEY "," FAKE_KEY,
		FAKE_KEY " " FAKE_KEY, "\"" FAKE_KEY "\"",
	};
	struct fixture *fx = *state;
	char request[256];
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		snprintf(request, sizeof(request),
			 "GET /v1/containers HTTP/1.1\r\n" HOST
			 "Authorization: Bearer %s\r\n\r\n",
			 keys[i]);
		expect_error(fx, request, 401, "invalid_api_key");
	}
	/* Several blanks behind the scheme are good (RFC 9110, 11.4). */
	_answer_ struct answer a =
		ask(fx, "GET /v1/containers HTTP/1.1\r\n" HOST
			"Authorization: Bearer  " FAKE_KEY "\r\n\r\n");
	assert_int_equal(a.status, 200);
	expect_error(fx, "GET /v1/containers HTTP/1.1\r\n" HOST AUTH
			 "Authorization: Bearer x\r\n\r\n",
		     400, NULL);
	expect_error(fx, "GET /v1/containers HTTP/1.1\r\n" HOST
			 "Authorization: Bearer x\r\n" AUTH "\r\n",
		     400, NULL);
}

static void a_key_in_the_query_opens_nothing(void **state)
{
	struct fixture *fx = *state;

	expect_error(fx, "GET /v1/containers?token=" FAKE_KEY
			 "&access_token=" FAKE_KEY "&api-key=" FAKE_KEY
			 " HTTP/1.1\r\n" HOST "\r\n",
		     401, "invalid_api_key");
}

static void who_keeps_trying_is_told_to_wait_and_a_good_key_is_served(
	void **state)
{
	const char *bad = "GET /v1/containers HTTP/1.1\r\n" HOST
			  "Authorization: Bearer wrong\r\n\r\n";
	struct fixture *fx = *state;
	int i;

	/* No key at all is no try. */
	for (i = 0; i < 2 * PENALTY_FREE; i++)
		expect_error(fx, "GET /v1/containers HTTP/1.1\r\n" HOST
			     "\r\n", 401, "invalid_api_key");
	for (i = 0; i < PENALTY_FREE; i++)
		expect_error(fx, bad, 401, "invalid_api_key");
	_answer_ struct answer a = ask(fx, bad);
	check_error(&a, 429, "rate_limit_exceeded");
	assert_string_equal(answer_header(&a, "Retry-After"), "1");
	_answer_ struct answer b =
		ask(fx, "GET /v1/containers HTTP/1.1\r\n" HOST AUTH "\r\n");
	assert_int_equal(b.status, 200);
}

static uint64_t network_of(const char *text)
{
	struct sockaddr_in6 six = { .sin6_family = AF_INET6 };
	struct sockaddr_in four = { .sin_family = AF_INET };

	if (inet_pton(AF_INET, text, &four.sin_addr) == 1)
		return penalty_network((struct sockaddr *)&four, sizeof(four));
	assert_int_equal(inet_pton(AF_INET6, text, &six.sin6_addr), 1);
	return penalty_network((struct sockaddr *)&six, sizeof(six));
}

static unsigned miss(struct penalties *p, uint64_t network, usec_t now)
{
	struct error err = ERROR_INIT;

	error_set(&err, ERR_UNAUTHORIZED, "no");
	(void)penalty_add(p, network, now, &err);
	assert_int_equal(err.code, err.retry_after_sec ? ERR_LIMIT :
							 ERR_UNAUTHORIZED);
	return err.retry_after_sec;
}

static void failures_are_held_against_a_network_and_forgotten(void **state)
{
	_cleanup_free_ struct penalties *p = calloc(1, sizeof(*p));
	const uint64_t one = network_of("192.0.2.1");
	usec_t now = USEC_PER_SEC;
	unsigned i, wait = 0;

	(void)state;
	assert_non_null(p);
	assert_int_equal(one, network_of("::ffff:192.0.2.1"));
	assert_true(one != network_of("192.0.2.2"));
	assert_int_equal(network_of("2001:db8::1"),
			 network_of("2001:db8::ffff:2"));
	assert_true(network_of("2001:db8::1") !=
		    network_of("2001:db8:0:1::1"));
	for (i = 0; i < 1000; i++) {
		unsigned next = miss(p, one, now);

		assert_true(next >= wait);
		wait = next;
	}
	assert_int_equal(wait, PENALTY_MAX_SEC);
	assert_int_equal(miss(p, network_of("192.0.2.2"), now), 0);
	now += 1000 * PENALTY_FORGET_USEC;
	assert_int_equal(miss(p, one, now), 0);
}

static void a_full_share_of_requests_is_refused_with_the_time_to_wait(
	void **state)
{
	struct fixture *fx = *state;
	const char *get = "GET /v1/containers HTTP/1.1\r\n" HOST AUTH "\r\n";

	fx->core->requests_max = 1;
	fx->core->requests = 1;
	_answer_ struct answer a = ask(fx, get);
	assert_int_equal(a.status, 429);
	assert_string_equal(answer_header(&a, "Retry-After"), "7");
	/* It holds no place itself, and answered ones give theirs back. */
	fx->core->requests = 0;
	_answer_ struct answer b = ask(fx, get);
	_answer_ struct answer c = ask(fx, get);
	assert_int_equal(b.status, 200);
	assert_int_equal(c.status, 200);
	run_loop(fx);
	assert_int_equal(fx->core->requests, 0);
}

static void wait_for(struct fixture *fx, const char *tenant, const char *key,
		     bool cut)
{
	static const char request[] =
		"POST /v1/containers/" FAKE_CONTAINER "/exec HTTP/1.1\r\n" HOST
		AUTH "Content-Type: application/json\r\n"
		"Content-Length: 12\r\n\r\n{\"code\":\"x\"}";
	_cleanup_close_ int fd = client_connect(fx);

	fx->core->hold_accept = true;
	assert_true(client_send(fx, fd, request, strlen(request)));
	run_loop(fx);
	assert_int_equal(fx->core->requests, 1);
	fx->core->revoked(fx->core->revoked_userdata, tenant, key);
	run_loop(fx);
	assert_int_equal(api_connections(fx->api), cut ? 0 : 1);
	close_fd(&fd);
	run_loop(fx);
	fake_core_accept(fx->core);
	run_loop(fx);
	assert_int_equal(fx->core->requests, 0);
}

static void a_revoked_key_ends_the_calls_that_wait(void **state)
{
	struct fixture *fx = *state;

	wait_for(fx, "default", "key_2", false);
	wait_for(fx, "other", NULL, false);
	wait_for(fx, "default", "key_1", true);
	wait_for(fx, "default", NULL, true);
}

/* What core owes comes when there is no server any more. */
static void an_answer_after_the_servers_end_finds_nobody(void **state)
{
	static const char request[] =
		"POST /v1/containers/" FAKE_CONTAINER "/exec HTTP/1.1\r\n" HOST
		AUTH "Content-Type: application/json\r\n"
		"Content-Length: 12\r\n\r\n{\"code\":\"x\"}";
	struct fixture *fx = *state;
	_cleanup_close_ int fd = client_connect(fx);

	fx->core->hold_accept = true;
	assert_true(client_send(fx, fd, request, strlen(request)));
	run_loop(fx);
	assert_int_equal(fx->core->requests, 1);
	api_free(fx->api);
	fx->api = NULL;
	assert_int_equal(fx->core->requests, 0);
	fake_core_accept(fx->core);
}

static void caches_are_told_that_an_answer_is_one_tenants(void **state)
{
	static const char *const requests[] = {
		"GET /v1/containers HTTP/1.1\r\n" HOST AUTH "\r\n",
		"GET /v1/containers HTTP/1.1\r\n" HOST "\r\n",
		"GET /v1/files/file-none HTTP/1.1\r\n" HOST AUTH "\r\n",
	};
	struct fixture *fx = *state;
	size_t i;

	for (i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		_answer_ struct answer a = ask(fx, requests[i]);

		assert_string_equal(answer_header(&a, "Cache-Control"),
				    "no-store");
		assert_string_equal(answer_header(&a, "Vary"),
				    "Authorization, api-key, x-ms-apikey");
	}
}

static void nobody_chooses_an_id(void **state)
{
	struct fixture *fx = *state;

	_answer_ struct answer a =
		ask(fx, POST "Content-Length: 26\r\n\r\n"
			     "{\"name\":\"a\",\"id\":\"chosen\"}");
	assert_int_equal(a.status, 200);
	assert_null(strstr(a.body, "chosen"));
	expect_error(fx, "POST /v1/containers/chosen/exec HTTP/1.1\r\n" HOST
			 AUTH "Content-Type: application/json\r\n"
			 "Content-Length: 12\r\n\r\n{\"code\":\"x\"}",
		     404, NULL);
	expect_error(fx, "PUT /v1/containers/chosen HTTP/1.1\r\n" HOST AUTH
			 "\r\n",
		     405, NULL);
}

static int ask_admin(struct fixture *fx, const char *request, char *body,
		     size_t size)
{
	_cleanup_close_ int fd = client_connect_unix(fx);

	assert_true(client_send(fx, fd, request, strlen(request)));
	_answer_ struct answer a = client_read(fx, fd);
	snprintf(body, size, "%s", a.body);
	return a.status;
}

/* The kernel says who connects, and strangers may as well not be there. */
static void strangers_on_the_unix_socket_need_a_key(void **state)
{
	struct fixture *fx = *state;
	const char *request = "GET /admin/v1/sessions HTTP/1.1\r\n" HOST "\r\n";
	const char *with_key = "GET /v1/files HTTP/1.1\r\n" HOST AUTH "\r\n";
	_cleanup_close_ int fd = -1;

	if (geteuid() != 0)
		skip(); /* nobody else can be */
	assert_int_equal(chmod(fx->dir, 0755), 0);
	assert_int_equal(seteuid(65534), 0);
	fd = client_connect_unix(fx);
	assert_int_equal(seteuid(0), 0);
	assert_true(client_send(fx, fd, request, strlen(request)));
	_answer_ struct answer a = client_read(fx, fd);
	check_error(&a, 403, NULL);
	assert_true(client_send(fx, fd, with_key, strlen(with_key)));
	_answer_ struct answer b = client_read(fx, fd);
	assert_int_equal(b.status, 200);
}

static int post_tenant(struct fixture *fx, const char *path, const char *json)
{
	char request[1024], body[1024];

	snprintf(request, sizeof(request),
		 "POST /admin/v1/%s HTTP/1.1\r\n" HOST
		 "Content-Type: application/json\r\n"
		 "Content-Length: %zu\r\n\r\n%s",
		 path, strlen(json), json);
	return ask_admin(fx, request, body, sizeof(body));
}

static void limits_that_are_not_named_stay(void **state)
{
	struct fixture *fx = *state;

	assert_int_equal(post_tenant(fx, "tenants",
				     "{\"id\":\"acme\",\"max_sessions\":3}"),
			 200);
	assert_true(fx->core->tenant_created);
	assert_string_equal(fx->core->tenant, "acme");
	assert_int_equal(fx->core->tenant_limits.max_sessions, 3);
	assert_true(fx->core->tenant_limits.max_bytes == TENANT_KEEP);
	assert_int_equal(post_tenant(fx, "tenants/acme",
				     "{\"max_bytes\":0,"
				     "\"requests_per_minute\":9}"),
			 200);
	assert_false(fx->core->tenant_created);
	assert_true(fx->core->tenant_limits.max_sessions == TENANT_KEEP);
	assert_int_equal(fx->core->tenant_limits.max_bytes, 0);
	assert_int_equal(fx->core->tenant_limits.requests_per_minute, 9);
	assert_int_equal(post_tenant(fx, "tenants", "{\"max_bytes\":1}"), 400);
	assert_int_equal(post_tenant(fx, "tenants/acme",
				     "{\"max_sessions\":-1}"),
			 400);
	assert_int_equal(post_tenant(fx, "tenants/acme", "{\"id\":\"x\"}"),
			 400);
}

static void a_report_begins_on_the_day_that_was_asked_for(void **state)
{
	struct fixture *fx = *state;
	char body[1024];

	assert_int_equal(
		ask_admin(fx,
			  "GET /admin/v1/usage?since=1970-01-11&by=day "
			  "HTTP/1.1\r\n" HOST "\r\n",
			  body, sizeof(body)),
		200);
	assert_int_equal(fx->core->usage_since, 10);
	assert_int_equal(fx->core->usage_by, USAGE_BY_DAY);
	assert_int_equal(ask_admin(fx,
				   "GET /admin/v1/usage?since=yesterday "
				   "HTTP/1.1\r\n" HOST "\r\n",
				   body, sizeof(body)),
			 400);
	assert_int_equal(ask_admin(fx,
				   "GET /admin/v1/usage?by=planet "
				   "HTTP/1.1\r\n" HOST "\r\n",
				   body, sizeof(body)),
			 400);
	/* Over TCP there is no such thing. */
	expect_error(fx, "GET /admin/v1/usage HTTP/1.1\r\n" HOST AUTH "\r\n",
		     404, NULL);
}

static void artifacts_name_their_tenant(void **state)
{
	struct fixture *fx = *state;
	char body[1024];

	assert_int_equal(ask_admin(fx,
				   "GET /admin/v1/artifacts HTTP/1.1\r\n" HOST
				   "\r\n",
				   body, sizeof(body)),
			 200);
	assert_non_null(strstr(body, "{\"tenant\":\"acme\",\"id\":\"cfile_1\""));
	assert_int_equal(ask_admin(fx,
				   "GET /admin/v1/artifacts/x/content "
				   "HTTP/1.1\r\n" HOST "\r\n",
				   body, sizeof(body)),
			 404);
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(without_a_key_every_refusal_is_the_same),
		TEST(keys_that_are_nearly_right_open_nothing),
		TEST(a_key_in_the_query_opens_nothing),
		TEST(who_keeps_trying_is_told_to_wait_and_a_good_key_is_served),
		cmocka_unit_test(
			failures_are_held_against_a_network_and_forgotten),
		TEST(a_full_share_of_requests_is_refused_with_the_time_to_wait),
		TEST(a_revoked_key_ends_the_calls_that_wait),
		TEST(an_answer_after_the_servers_end_finds_nobody),
		TEST(caches_are_told_that_an_answer_is_one_tenants),
		TEST(nobody_chooses_an_id),
		TEST(strangers_on_the_unix_socket_need_a_key),
		TEST(limits_that_are_not_named_stay),
		TEST(artifacts_name_their_tenant),
		TEST(a_report_begins_on_the_day_that_was_asked_for),
	};

	return RUN_TESTS(tests);
}
