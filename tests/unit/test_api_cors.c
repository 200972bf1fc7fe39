/* SPDX-License-Identifier: Apache-2.0 */
#include "api_fixture.h"

#include <string.h>
#include <sys/socket.h>

#include "api/cors.h"
#include "base/cleanup.h"

/* Which web pages may read answers. */

#define ALLOW "Access-Control-Allow-Origin"
#define PAGE "Origin: https://app.example\r\n"
#define GET "GET /v1/files HTTP/1.1\r\n" HOST AUTH
#define PREFLIGHT                                                              \
	"OPTIONS /v1/files HTTP/1.1\r\n" HOST                                  \
	"Access-Control-Request-Method: POST\r\n"                              \
	"Access-Control-Request-Headers: authorization,x-stainless-os\r\n"

static int setup_list(void **state)
{
	return fixture_setup_with(
		state, "listen.cors_origins=http://localhost:3000 "
		       "https://app.example");
}

static int setup_any(void **state)
{
	return fixture_setup_with(state, "listen.cors_origins=*");
}

static void expect_allowed(struct fixture *fx, const char *request,
			   const char *origin)
{
	_answer_ struct answer a = ask(fx, request);

	assert_int_not_equal(a.status, 0);
	assert_string_equal(answer_header(&a, ALLOW), origin);
	assert_null(strcasestr(buf_str(&a.raw), "Allow-Credentials"));
}

static void without_the_setting_no_page_may_read(void **state)
{
	struct fixture *fx = *state;
	_answer_ struct answer a = ask(fx, GET PAGE "\r\n");
	_answer_ struct answer b = ask(fx, PREFLIGHT PAGE "\r\n");

	assert_int_equal(a.status, 200);
	assert_int_equal(b.status, 204);
	assert_null(strcasestr(buf_str(&a.raw), "Access-Control"));
	assert_null(strcasestr(buf_str(&b.raw), "Access-Control"));
}

static void only_the_pages_on_the_list_may_read(void **state)
{
	static const char *const others[] = {
		"Origin: https://app.example.evil\r\n",
		"Origin: https://app.exampl\r\n",
		"Origin: http://app.example\r\n",
		"Origin: https://app.example:444\r\n",
		"Origin: null\r\n", "Origin: *\r\n", "Origin:\r\n", "",
		"Origin: http://localhost:3000 https://app.example\r\n",
	};
	struct fixture *fx = *state;
	char request[512];
	size_t i;

	expect_allowed(fx, GET PAGE "\r\n", "https://app.example");
	expect_allowed(fx, GET "Origin: http://localhost:3000\r\n\r\n",
		       "http://localhost:3000");
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		snprintf(request, sizeof(request), GET "%s\r\n", others[i]);
		expect_allowed(fx, request, "");
	}
	/* Two of them are not one. */
	expect_error(fx, GET PAGE PAGE "\r\n", 400, NULL);
}

static void caches_keep_pages_apart(void **state)
{
	struct fixture *fx = *state;
	_answer_ struct answer a = ask(fx, GET PAGE "\r\n");

	assert_non_null(strstr(buf_str(&a.raw), "Vary: Origin\r\n"));
	assert_non_null(strstr(buf_str(&a.raw), "Vary: Authorization"));
	assert_non_null(strstr(answer_header(&a, "Access-Control-Expose-Headers"),
			       "x-request-id"));
}

/* A page is to see why it was refused, wherever that is decided. */
static void errors_may_be_read_as_well(void **state)
{
	static const char *const requests[] = {
		"GET /v1/files HTTP/1.1\r\n" HOST PAGE "\r\n",
		"GET /v1/nothing HTTP/1.1\r\n" HOST AUTH PAGE "\r\n",
		"PUT /v1/files HTTP/1.1\r\n" HOST AUTH PAGE "\r\n",
		POST PAGE "Content-Length: 2147483648\r\n\r\n",
		POST PAGE "Content-Length: 2\r\n\r\n[]",
	};
	struct fixture *fx = *state;
	_cleanup_free_ char *body = calloc(1, 2 << 20);
	_cleanup_close_ int fd = client_connect(fx);
	_cleanup_(buf_done) struct buf got = BUF_INIT(65536);
	const char *endless = POST PAGE "Transfer-Encoding: chunked\r\n\r\n"
			      "200000\r\n";
	size_t i;

	for (i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
		expect_allowed(fx, requests[i], "https://app.example");
	/* Written by hand. */
	assert_true(client_send(fx, fd, endless, strlen(endless)));
	(void)client_send(fx, fd, body, 2 << 20);
	assert_true(client_read_until(fx, fd, &got, "HTTP/1.1 413"));
	assert_true(client_read_until(fx, fd, &got,
				      ALLOW ": https://app.example\r\n"));
}

static void a_page_may_ask_before_it_calls(void **state)
{
	struct fixture *fx = *state;
	_answer_ struct answer a = ask(fx, PREFLIGHT PAGE "\r\n");
	_answer_ struct answer b =
		ask(fx, PREFLIGHT "Origin: https://other.example\r\n\r\n");

	/* It brings no key yet. */
	assert_int_equal(a.status, 204);
	assert_string_equal(answer_header(&a, ALLOW), "https://app.example");
	assert_string_equal(answer_header(&a, "Access-Control-Allow-Methods"),
			    "GET, HEAD, POST, OPTIONS");
	assert_string_equal(answer_header(&a, "Access-Control-Allow-Headers"),
			    "authorization,x-stainless-os");
	assert_string_equal(answer_header(&a, "Access-Control-Max-Age"),
			    "600");
	assert_int_equal(b.status, 204);
	assert_null(strcasestr(buf_str(&b.raw), "Access-Control"));
	/* There is nothing to call. */
	expect_error(fx, "OPTIONS /v1/nothing HTTP/1.1\r\n" HOST PAGE
			 "Access-Control-Request-Method: GET\r\n\r\n",
		     404, NULL);
}

static void any_page_may_read_where_all_are_allowed(void **state)
{
	struct fixture *fx = *state;

	expect_allowed(fx, GET PAGE "\r\n", "*");
	expect_allowed(fx, GET "Origin: null\r\n\r\n", "*");
	expect_allowed(fx, GET "\r\n", "");
	expect_allowed(fx, PREFLIGHT PAGE "\r\n", "*");
}

static void a_setting_that_is_no_origin_is_refused(void **state)
{
	static const struct {
		const char *value;
		bool good;
	} values[] = {
		{ "", true }, { "*", true }, { "https://a", true },
		{ "http://a:1 https://b", true }, { "* https://a", false },
		{ "https://a *", false }, { "a.example", false },
		{ "https://", false }, { "https://a/", false },
		{ "https://*.a", false }, { "null", false },
		{ "https://a,https://b", false }, { "file:///a", false },
	};
	struct fixture *fx = *state;
	char text[128];
	size_t i;

	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		struct error err = ERROR_INIT;

		snprintf(text, sizeof(text), "listen.cors_origins=%s",
			 values[i].value);
		assert_int_equal(settings_set(fx->settings, text, &err), 0);
		assert_int_equal(cors_check(fx->settings, &err) == 0,
				 values[i].good);
	}
}

int main(void)
{
#define TEST(name, setup)                                                      \
	cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(without_the_setting_no_page_may_read, fixture_setup),
		TEST(only_the_pages_on_the_list_may_read, setup_list),
		TEST(caches_keep_pages_apart, setup_list),
		TEST(errors_may_be_read_as_well, setup_list),
		TEST(a_page_may_ask_before_it_calls, setup_list),
		TEST(any_page_may_read_where_all_are_allowed, setup_any),
		TEST(a_setting_that_is_no_origin_is_refused, fixture_setup),
	};

	return RUN_TESTS(tests);
}
