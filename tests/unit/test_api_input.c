/* SPDX-License-Identifier: Apache-2.0 */
#include "api_fixture.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"

/* Input that is wrong, or meant to be taken for something else. */

#define EXEC "/v1/containers/" FAKE_CONTAINER "/exec"

static struct answer post(struct fixture *fx, const char *path,
			  const char *json, size_t size)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(8 << 20);

	buf_printf(&b, "POST %s HTTP/1.1\r\n" HOST AUTH
		   "Content-Type: application/json\r\n"
		   "Content-Length: %zu\r\n\r\n", path, size);
	buf_add(&b, json, size);
	return ask_bytes(fx, b.data, b.length);
}

/* Refused with this param and code; NULL: any. */
static void refused(struct fixture *fx, const char *path, const char *json,
		    const char *param, const char *code)
{
	_cleanup_(json_freep) struct json_object *object = NULL;
	_answer_ struct answer a = post(fx, path, json, strlen(json));
	struct json_object *error;

	check_error(&a, 400, code);
	assert_int_equal(json_parse(a.body, a.length, &object, NULL), 0);
	error = json_member(object, "error");
	if (param)
		assert_string_equal(
			json_string_of(json_member(error, "param")).data,
			param);
	assert_int_equal(fx->core->execs, 0);
}

static void json_that_means_two_things_is_not_run(void **state)
{
	static const struct {
		const char *json, *param, *code;
	} cases[] = {
		{ "{\"code\":", "code", "invalid_json" },
		{ "{\"code\":\"print(1)\",\"code\":\"print(2)\"}", "code",
		  "duplicate_key" },
		{ "{\"code\":\"print(1)\",\"\\u0063ode\":\"print(2)\"}", "code",
		  "duplicate_key" },
		{ "{\"code\":\"print('\\ud800')\"}", "code", "invalid_json" },
		{ "{\"code\":\"print('\xed\xa0\x80')\"}", NULL,
		  "invalid_json" },
		{ "{\"code\":\"print('\xc0\xaf')\"}", NULL, "invalid_json" },
		{ "{\"code\\u0000x\":\"print(1)\"}", NULL, "invalid_json" },
		{ "{\"code\":\"print(1)\"}{\"code\":\"print(2)\"}", NULL,
		  "invalid_json" },
		{ "{'code':'print(1)'}", NULL, "invalid_json" },
		{ "{\"code\":\"print(1)\",}", NULL, "invalid_json" },
		{ "\xef\xbb\xbf{\"code\":\"print(1)\"}", NULL, "invalid_json" },
	};
	struct fixture *fx = *state;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		refused(fx, EXEC, cases[i].json, cases[i].param,
			cases[i].code);
}

/* Seen where the limit is, not at the end. */
static void a_nesting_bomb_is_refused_where_it_gets_too_deep(void **state)
{
	struct fixture *fx = *state;
	_cleanup_free_ char *bomb = malloc(200000);

	assert_non_null(bomb);
	memset(bomb, '[', 100000);
	memset(bomb + 100000, ']', 100000);
	_answer_ struct answer a = post(fx, "/v1/containers", bomb, 200000);
	check_error(&a, 400, "invalid_json");
	assert_non_null(strstr(a.body, "at byte 64: too many levels"));
}

static void numbers_are_neither_clamped_nor_coerced(void **state)
{
	static const char *const values[] = {
		"0", "-1", "1.5", "1e309", "NaN", "Infinity", "-0",
		"9223372036854775807", "9223372036854775808",
		/* What 1 is when it wraps, in bits and in units. */
		"4294967297", "18446744073709551617", "1e1", "\"5\"", "true",
		"null", "[]", "{}", "05", "+5", "5.",
	};
	struct fixture *fx = *state;
	char json[256];
	size_t i;

	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		snprintf(json, sizeof(json),
			 "{\"name\":\"a\",\"expires_after\":{\"anchor\":"
			 "\"last_active_at\",\"minutes\":%s}}", values[i]);
		refused(fx, "/v1/containers", json, "expires_after.minutes",
			NULL);
	}
}

static void time_limits_are_neither_clamped_nor_coerced(void **state)
{
	static const char *const values[] = {
		"0", "-1", "-0.0", "1e309", "NaN", "86401", "1e300",
		"18446744073709.551616", "9223372036854775808", "\"30\"",
		"true", "[]",
	};
	struct fixture *fx = *state;
	char json[256];
	size_t i;

	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		snprintf(json, sizeof(json),
			 "{\"code\":\"1\",\"timeout_s\":%s}", values[i]);
		refused(fx, EXEC, json, "timeout_s", NULL);
	}
}

/* On our own calls each would have been meant to have an effect. */
static void fields_that_are_not_there_are_refused_or_have_no_effect(void **state)
{
	static const char *const fields[] = {
		"\"image\":\"py311\"", "\"domain_xml\":\"<x/>\"",
		"\"qemu_args\":[\"-drive\",\"file=/etc/shadow\"]",
		"\"kernel_params\":\"init=/bin/sh\"", "\"tenant\":\"root\"",
		"\"memory_mib\":17592186044417", "\"vcpus\":4294967297",
		"\"env\":{\"A=B\":\"c\"}", "\"file_url\":\"file:///etc/shadow\"",
	};
	struct fixture *fx = *state;
	char json[256];
	size_t i;

	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		snprintf(json, sizeof(json), "{\"code\":\"1\",%s}", fields[i]);
		refused(fx, EXEC, json, NULL, "unknown_parameter");
		snprintf(json, sizeof(json), "{\"name\":\"a\",%s}", fields[i]);
		_answer_ struct answer a = post(fx, "/v1/containers", json,
						strlen(json));
		assert_int_equal(a.status, 200);
		assert_non_null(strstr(a.body, "\"memory_limit\":\"1g\""));
		assert_null(strstr(a.body, "py311"));
	}
}

static void names_are_text(void **state)
{
	static const char *const names[] = {
		"", "\\u0001", "\\u001b[2J", "a\\nb", "a\\u0000b", "\\u007f",
	};
	struct fixture *fx = *state;
	char json[256];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(json, sizeof(json), "{\"name\":\"%s\"}", names[i]);
		refused(fx, "/v1/containers", json, "name", NULL);
	}
}

static void paths_below_a_container_lead_nowhere_else(void **state)
{
	static const char *const paths[] = {
		"../../etc/passwd", "%2e%2e/%2e%2e/etc/passwd",
		"..%2f..%2fetc%2fpasswd", "..%252f..%252fetc%252fpasswd",
		"..;/..;/etc/passwd", "..\\..\\etc\\passwd", "/etc/passwd",
		"%2fetc%2fpasswd", "%00", "cfile_1%00", ".", "..", "",
	};
	struct fixture *fx = *state;
	char request[512];
	size_t i;

	fake_core_cfile(fx->core, "a", "a", 1);
	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		snprintf(request, sizeof(request),
			 "GET /v1/containers/" FAKE_CONTAINER
			 "/files/%s/content HTTP/1.1\r\n" HOST AUTH "\r\n",
			 paths[i]);
		_answer_ struct answer a = ask(fx, request);
		assert_true(a.status == 404 || a.status == 400);
		check_error(&a, a.status, NULL);
	}
}

static void the_method_is_what_the_request_line_says(void **state)
{
	static const char *const fields[] = {
		"X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override",
	};
	struct fixture *fx = *state;
	char request[512];
	size_t i;

	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		snprintf(request, sizeof(request),
			 "GET /v1/containers/" FAKE_CONTAINER "?_method=DELETE "
			 "HTTP/1.1\r\n" HOST AUTH "%s: DELETE\r\n\r\n",
			 fields[i]);
		_answer_ struct answer a = ask(fx, request);
		assert_int_equal(a.status, 200);
		assert_non_null(strstr(a.body, "\"object\":\"container\""));
	}
}

/* The library's own pages, in part; what counts is that nothing is run. */
static void other_protocols_are_refused_and_closed(void **state)
{
	static const char *const beginnings[] = {
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"GET /v1/files HTTP/9.9\r\n" HOST AUTH "\r\n",
		"GET /v1/files HTTP/2\r\n" HOST AUTH "\r\n",
		"GET /v1/files HTCPCP/1.0\r\n" HOST AUTH "\r\n",
		"GET /v1/files\r\n\r\n",
		"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
	};
	struct fixture *fx = *state;
	size_t i;

	for (i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++) {
		_cleanup_close_ int fd = client_connect(fx);
		_cleanup_(buf_done) struct buf got = BUF_INIT(65536);

		(void)client_send(fx, fd, beginnings[i],
				  strlen(beginnings[i]));
		assert_false(client_read_until(fx, fd, &got, "no such text"));
		assert_null(strstr(buf_str(&got), " 200 "));
	}
}

static void a_list_is_asked_for_plainly_or_not_at_all(void **state)
{
	static const char *const queries[] = {
		"limit=-1", "limit=0", "limit=1e9", "limit=101", "limit=",
		"limit=10&limit=20",
		"limit=99999999999999999999", "limit=+1", "limit=%201",
		"order=%27%20OR%201=1", "order=", "order=ASC",
		"after=AAAA", "after=cntr_of_another", "after=%27",
	};
	struct fixture *fx = *state;
	char request[512];
	size_t i;

	for (i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
		snprintf(request, sizeof(request),
			 "GET /v1/%s?%s HTTP/1.1\r\n" HOST AUTH "\r\n",
			 strncmp(queries[i], "after", 5) == 0 ? "files"
							       : "containers",
			 queries[i]);
		_answer_ struct answer a = ask(fx, request);
		if (a.status != 400)
			fail_msg("%s: %d", queries[i], a.status);
	}
}

static void sizes_are_allowed_to_the_byte(void **state)
{
	struct fixture *fx = *state;
	_cleanup_(buf_done) struct buf json = BUF_INIT(8 << 20);
	size_t i;

	refused(fx, EXEC, "{\"code\":\"\"}", "code",
		"string_below_min_length");
	buf_add_str(&json, "{\"code\":\"");
	for (i = 0; i <= CORE_CODE_MAX; i++)
		buf_add_byte(&json, '#');
	buf_add_str(&json, "\"}");
	refused(fx, EXEC, buf_str(&json), "code", "string_above_max_length");

	/* Beyond what a body may be, whatever is in it. */
	buf_clear(&json);
	buf_add_str(&json, "{\"code\":\"1\",\"stdin\":\"");
	for (i = 0; i < 5 << 20; i++)
		buf_add_byte(&json, 'a');
	buf_add_str(&json, "\"}");
	_answer_ struct answer a = post(fx, EXEC, buf_str(&json), json.length);
	check_error(&a, 413, NULL);
	assert_int_equal(fx->core->execs, 0);
}

int main(void)
{
#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(json_that_means_two_things_is_not_run),
		TEST(a_nesting_bomb_is_refused_where_it_gets_too_deep),
		TEST(numbers_are_neither_clamped_nor_coerced),
		TEST(time_limits_are_neither_clamped_nor_coerced),
		TEST(fields_that_are_not_there_are_refused_or_have_no_effect),
		TEST(names_are_text),
		TEST(paths_below_a_container_lead_nowhere_else),
		TEST(the_method_is_what_the_request_line_says),
		TEST(other_protocols_are_refused_and_closed),
		TEST(a_list_is_asked_for_plainly_or_not_at_all),
		TEST(sizes_are_allowed_to_the_byte),
	};

	return RUN_TESTS(tests);
}
