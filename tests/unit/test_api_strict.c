/* SPDX-License-Identifier: Apache-2.0 */
#include "api_fixture.h"

#include <microhttpd.h>
#include <stdio.h>
#include <sys/resource.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"

/* Requests that are ambiguous, too large or malformed, and those that only look so. */

/*
 * libmicrohttpd 1.0 refuses some of it before we are asked: by closing, or with a
 * page of its own. What counts is that nothing of it is ever taken for a request.
 */
static void assert_refused(const char *answer)
{
	bool is_strict = MHD_VERSION >= 0x01000000;

	if (is_strict && answer[0] == '\0')
		return;
	assert_memory_equal(answer, "HTTP/1.1 4", 10);
	assert_null(strstr(answer + 1, "HTTP/1.1 2"));
	assert_null(strstr(answer + 1, "HTTP/1.1 4"));
	if (is_strict)
		return;
	assert_memory_equal(answer, "HTTP/1.1 400 ", 13);
}

static void ambiguous_requests_are_refused_and_the_connection_closed(void **state)
{
	static const char *const requests[] = {
		POST "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
		POST "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
		POST "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n"
		     "2\r\n{}\r\n0\r\n\r\n",
		POST "Transfer-Encoding : chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
		POST "Transfer-Encoding: xchunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
		POST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
		POST "Transfer-Encoding: chunked\r\n"
		     "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		POST HOST "Content-Length: 2\r\n\r\n{}",
		POST AUTH "Content-Length: 2\r\n\r\n{}",
		POST "Expect: 200-ok\r\nContent-Length: 2\r\n\r\n{}",
		POST "Bad name: x\r\nContent-Length: 2\r\n\r\n{}",
		POST "X: a\tb\x01\r\nContent-Length: 2\r\n\r\n{}",
		POST ": x\r\nContent-Length: 2\r\n\r\n{}",
		POST "X: a\r\n b\r\nContent-Length: 2\r\n\r\n{}",
		POST "X: a\nContent-Length: 2\r\n\r\n{}",
		POST "Content-Length: 2\r\n\n{}",
		POST "Content-Length: 2\n\r\n{}",
		"POST /v1/containers HTTP/1.1\n" HOST AUTH "\r\n",
		"POST  /v1/containers HTTP/1.1\r\n" HOST AUTH "\r\n",
		"POST /v1/containers  HTTP/1.1\r\n" HOST AUTH "\r\n",
		"POST /v1/cont ainers HTTP/1.1\r\n" HOST AUTH "\r\n",
		"POST /v1/containers HTTP/1.1\r\n" AUTH "\r\n",
		"GET http://198.51.100.1/v1/files HTTP/1.1\r\n" HOST AUTH
		"\r\n",
		"CONNECT 198.51.100.1:22 HTTP/1.1\r\n" HOST AUTH "\r\n",
		"GET\tx /v1/files HTTP/1.1\r\n" HOST AUTH "\r\n",
		"POST /v1/containers HTTP/1.0\r\nTransfer-Encoding: chunked\r\n"
		AUTH "\r\n0\r\n\r\n",
	};
	struct fixture *fx = *state;
	size_t i;

	for (i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		_cleanup_close_ int fd = client_connect(fx);
		_cleanup_(buf_done) struct buf got = BUF_INIT(65536);

		(void)client_send(fx, fd, requests[i], strlen(requests[i]));
		/* One answer, and then the end. */
		assert_false(client_read_until(fx, fd, &got, "no such text"));
		assert_refused(buf_str(&got));
	}
	assert_int_equal(fx->core->execs, 0);
}

static void nuls_in_a_head_are_refused(void **state)
{
#define NUL_CASE(text) { text, sizeof(text) - 1 }
	static const struct {
		const char *head;
		size_t size;
	} cases[] = {
		NUL_CASE("GET /v1/files\0x HTTP/1.1\r\n" HOST AUTH "\r\n"),
		NUL_CASE("GET /v1/files HTTP/1.1\r\n" HOST "X: a\0b\r\n" AUTH
			 "\r\n"),
		NUL_CASE("GET /v1/files HTTP/1.1\r\n" HOST "X\0: b\r\n" AUTH
			 "\r\n"),
	};
#undef NUL_CASE
	struct fixture *fx = *state;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_close_ int fd = client_connect(fx);
		_cleanup_(buf_done) struct buf got = BUF_INIT(65536);

		(void)client_send(fx, fd, cases[i].head, cases[i].size);
		assert_false(client_read_until(fx, fd, &got, "no such text"));
		assert_refused(buf_str(&got));
	}
}

/* The library's buffer grows and moves on meanwhile. */
static void a_head_may_come_byte_by_byte(void **state)
{
	struct fixture *fx = *state;
	_cleanup_close_ int fd = client_connect(fx);
	_cleanup_(buf_done) struct buf head = BUF_INIT(65536);
	size_t i;
	int round;

	buf_add_str(&head, "GET /v1/files?limit=1&order=asc HTTP/1.1\r\n" HOST
			   "Cookie: a=b; c=\"d\"\r\nEmpty:\r\nX:");
	for (i = 0; i < 15000; i++)
		buf_add_byte(&head, ' ' + i % 90);
	buf_add_str(&head, "\r\n" AUTH "\r\n");
	for (round = 0; round < 2; round++) {
		for (i = 0; i < head.length; i += round ? 1000 : 1)
			assert_true(client_send(
				fx, fd, head.data + i,
				head.length - i < 1000 || !round
					? (round ? head.length - i : 1)
					: 1000));
		_answer_ struct answer a = client_read(fx, fd);
		assert_int_equal(a.status, 200);
	}
}

/* The library would take turn after turn for it and let nobody else in. */
static void an_endless_chunk_header_keeps_nobody_out(void **state)
{
	struct fixture *fx = *state;
	_cleanup_close_ int fd = client_connect(fx);
	_cleanup_(buf_done) struct buf body = BUF_INIT(1 << 20);
	int i;

	buf_add_str(&body, POST "Transfer-Encoding: chunked\r\n\r\n1;x=");
	for (i = 0; i < 65536; i++)
		buf_add_byte(&body, 'a');
	assert_true(client_send(fx, fd, body.data, body.length));
	run_loop(fx);
	for (i = 0; i < 3; i++) {
		_answer_ struct answer a =
			ask(fx, "GET /healthz HTTP/1.1\r\n" HOST "\r\n");
		assert_int_equal(a.status, 200);
	}
}

/* The library has room for some hundreds, and used to lose count beyond. */
static void any_number_of_arguments_or_cookies_gets_an_answer(void **state)
{
	static const char *const kinds[][3] = {
		{ "GET /v1/files?limit=1&", "a=b&", " HTTP/1.1\r\n" HOST AUTH },
		{ "GET /v1/files HTTP/1.1\r\n" HOST AUTH "Cookie: c=d;",
		  " a=b;", "\r\n" },
	};
	struct fixture *fx = *state;
	size_t kind;
	int i, count;

	for (kind = 0; kind < 2; kind++) {
		for (count = 100; count < 2000; count += 20) {
			_cleanup_(buf_done) struct buf head = BUF_INIT(65536);

			buf_add_str(&head, kinds[kind][0]);
			for (i = 0; i < count; i++)
				buf_add_str(&head, kinds[kind][1]);
			buf_add_str(&head, kinds[kind][2]);
			buf_add_str(&head, "\r\n");
			_answer_ struct answer a =
				ask_bytes(fx, head.data, head.length);
			assert_true(a.status == 200 || a.status == 400 ||
				    a.status == 414 || a.status == 431);
		}
	}
}

/* More of them than there may be connections; each comes without a key. */
static void unfinished_requests_keep_nobody_out(void **state)
{
	static const char *const beginnings[] = {
		"GET /v1/files HTTP/1.1\r\n",
		"POST /v1/containers HTTP/1.1\r\n" HOST
		"Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{",
	};
	enum { MORE_THAN_THERE_MAY_BE = 1024 + 50 };
	static int fds[MORE_THAN_THERE_MAY_BE];
	const size_t count = sizeof(fds) / sizeof(fds[0]);
	const struct rlimit enough = { 4096, 4096 };
	struct fixture *fx = *state;
	size_t kind, i;

	if (setrlimit(RLIMIT_NOFILE, &enough) < 0)
		skip();
	for (kind = 0; kind < 2; kind++) {
		for (i = 0; i < count; i++) {
			fds[i] = client_connect(fx);
			(void)client_send(fx, fds[i], beginnings[kind],
					  strlen(beginnings[kind]));
		}
		for (i = 0; i < 3; i++) {
			_answer_ struct answer a = ask(
				fx, "GET /healthz HTTP/1.1\r\n" HOST "\r\n");
			assert_int_equal(a.status, 200);
		}
		for (i = 0; i < count; i++)
			close_fd(&fds[i]);
		run_loop(fx);
	}
}

static void lengths_that_are_no_plain_number_are_refused(void **state)
{
	static const char *const lengths[] = {
		"+5", "0x5", "5,5", "-1", "", "5 5",
		"9999999999999999999999999999999999999999",
	};
	struct fixture *fx = *state;
	char request[512];
	size_t i;

	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		snprintf(request, sizeof(request),
			 POST "Content-Length: %s\r\n\r\n{}{}{}", lengths[i]);
		_cleanup_close_ int fd = client_connect(fx);
		_cleanup_(buf_done) struct buf got = BUF_INIT(65536);

		(void)client_send(fx, fd, request, strlen(request));
		assert_false(client_read_until(fx, fd, &got, "no such text"));
		assert_memory_equal(buf_str(&got), "HTTP/1.1 400 ", 13);
		assert_non_null(strstr(buf_str(&got), "not a decimal number"));
		/* The library has a page of its own, which stays unseen. */
		assert_null(strstr(buf_str(&got), "}}HTTP"));
	}
}

static void too_much_head_is_refused(void **state)
{
	struct fixture *fx = *state;
	_cleanup_(buf_done) struct buf request = BUF_INIT(1 << 20);
	int i;

	buf_add_str(&request, "GET /v1/files HTTP/1.1\r\n" HOST AUTH);
	for (i = 0; i < 101; i++)
		buf_printf(&request, "X-%d: y\r\n", i);
	buf_add_str(&request, "\r\n");
	expect_error(fx, buf_str(&request), 431, NULL);

	buf_clear(&request);
	buf_add_str(&request, "GET /v1/files HTTP/1.1\r\n" HOST AUTH "X: ");
	for (i = 0; i < 17000; i++)
		buf_add_byte(&request, 'a');
	buf_add_str(&request, "\r\n\r\n");
	expect_error(fx, buf_str(&request), 431, NULL);

	buf_clear(&request);
	buf_add_str(&request, "GET /v1/files/");
	for (i = 0; i < 9000; i++)
		buf_add_byte(&request, 'a');
	buf_add_str(&request, " HTTP/1.1\r\n" HOST AUTH "\r\n");
	expect_error(fx, buf_str(&request), 414, NULL);

	/* The library's own answer. */
	buf_clear(&request);
	buf_add_str(&request, "GET /v1/files HTTP/1.1\r\n" HOST AUTH "X: ");
	for (i = 0; i < 70000; i++)
		buf_add_byte(&request, 'a');
	_answer_ struct answer a = ask(fx, buf_str(&request));
	assert_int_equal(a.status, 431);
}

static void json_must_be_called_json(void **state)
{
	static const char *const types[] = {
		"", "Content-Type: text/plain\r\n",
		"Content-Type: application/x-www-form-urlencoded\r\n",
		"Content-Type: multipart/form-data; boundary=x\r\n",
		"Content-Type: application/jsonx\r\n",
	};
	struct fixture *fx = *state;
	char request[512];
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		snprintf(request, sizeof(request),
			 "POST /v1/containers/cntr_1/exec HTTP/1.1\r\n" HOST
			 AUTH "%sContent-Length: 12\r\n\r\n{\"code\":\"1\"}",
			 types[i]);
		expect_error(fx, request, 415, NULL);
	}
	assert_int_equal(fx->core->execs, 0);
}

static void a_refused_small_body_leaves_the_connection_open(void **state)
{
	struct fixture *fx = *state;
	_cleanup_close_ int fd = client_connect(fx);
	const char *bad = "POST /v1/nothing HTTP/1.1\r\n" HOST AUTH
			  "Content-Length: 5\r\n\r\nhello";
	const char *good = "GET /healthz HTTP/1.1\r\n" HOST "\r\n";

	assert_true(client_send(fx, fd, bad, strlen(bad)));
	{
		_answer_ struct answer a = client_read(fx, fd);
		check_error(&a, 404, NULL);
	}
	assert_true(client_send(fx, fd, good, strlen(good)));
	{
		_answer_ struct answer a = client_read(fx, fd);
		assert_int_equal(a.status, 200);
	}
}

static void an_announced_giant_is_refused_unread(void **state)
{
	struct fixture *fx = *state;

	expect_error(fx, POST "Content-Length: 2147483648\r\n\r\n", 413, NULL);
	expect_error(fx, POST "Expect: 100-continue\r\n"
			      "Content-Length: 2097152\r\n\r\n", 413, NULL);
}

static void an_endless_chunked_body_is_cut_off(void **state)
{
	struct fixture *fx = *state;
	_cleanup_close_ int fd = client_connect(fx);
	_cleanup_(buf_done) struct buf got = BUF_INIT(65536);
	_cleanup_free_ char *chunk = malloc(65536 + 9);
	const char *head = POST "Transfer-Encoding: chunked\r\n\r\n";
	int i;

	assert_non_null(chunk);
	memcpy(chunk, "10000\r\n", 7);
	memset(chunk + 7, 'a', 65536);
	memcpy(chunk + 7 + 65536, "\r\n", 2);
	assert_true(client_send(fx, fd, head, strlen(head)));
	for (i = 0; i < 64; i++)
		if (!client_send(fx, fd, chunk, 65536 + 9))
			break;
	assert_true(client_read_until(fx, fd, &got, "HTTP/1.1 413 "));
	assert_true(strstr(buf_str(&got), "1048576 bytes"));
}

static void continue_is_said_before_the_body(void **state)
{
	struct fixture *fx = *state;
	_cleanup_close_ int fd = client_connect(fx);
	_cleanup_(buf_done) struct buf got = BUF_INIT(65536);
	const char *head = POST "Expect: 100-continue\r\n"
				"Content-Length: 12\r\n\r\n";

	assert_true(client_send(fx, fd, head, strlen(head)));
	assert_true(client_read_until(fx, fd, &got,
				      "HTTP/1.1 100 Continue\r\n\r\n"));
	assert_true(client_send(fx, fd, "{\"name\":\"a\"}", 12));
	{
		_answer_ struct answer a = client_read(fx, fd);
		assert_int_equal(a.status, 200);
	}
}

static void pipelined_requests_are_answered_in_order(void **state)
{
	struct fixture *fx = *state;
	_cleanup_close_ int fd = client_connect(fx);
	_cleanup_(buf_done) struct buf all = BUF_INIT(1 << 20);
	_cleanup_(buf_done) struct buf got = BUF_INIT(1 << 20);
	const char *at;
	int i;

	for (i = 0; i < 20; i++)
		buf_printf(&all, "GET /v1/files/file-%d HTTP/1.1\r\n" HOST AUTH
				 "\r\n", i + 100);
	buf_add_str(&all, POST "Content-Length: 12\r\n\r\n{\"name\":\"a\"}");
	buf_add_str(&all, "GET /v1/files/last HTTP/1.1\r\n" HOST AUTH "\r\n");
	assert_true(client_send(fx, fd, all.data, all.length));
	assert_true(client_read_until(fx, fd, &got, "object: last"));
	at = buf_str(&got);
	for (i = 0; i < 20; i++) {
		char name[32];

		snprintf(name, sizeof(name), "object: file-%d\"", i + 100);
		at = strstr(at, name);
		assert_non_null(at);
	}
	at = strstr(at, "\"id\":\"cntr_1\"");
	assert_non_null(at);
	assert_non_null(strstr(at, "object: last"));
}

static void bad_json_says_where(void **state)
{
	struct fixture *fx = *state;
	_answer_ struct answer a =
		ask(fx, POST "Content-Length: 8\r\n\r\n{\"name\":");

	check_error(&a, 400, NULL);
	assert_non_null(strstr(a.body, "8"));
	expect_error(fx, POST "Content-Length: 2\r\n\r\n[]", 400, NULL);
}

static void an_empty_body_means_all_defaults(void **state)
{
	struct fixture *fx = *state;

	/* Here that lacks a name, and that is what is said. */
	_answer_ struct answer a =
		ask(fx, "POST /v1/containers HTTP/1.1\r\n" HOST AUTH
			"Content-Length: 0\r\n\r\n");
	check_error(&a, 400, "missing_required_parameter");
	assert_non_null(strstr(a.body, "\"param\":\"name\""));
}

int main(void)
{
#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(ambiguous_requests_are_refused_and_the_connection_closed),
		TEST(nuls_in_a_head_are_refused),
		TEST(a_head_may_come_byte_by_byte),
		TEST(an_endless_chunk_header_keeps_nobody_out),
		TEST(any_number_of_arguments_or_cookies_gets_an_answer),
		TEST(unfinished_requests_keep_nobody_out),
		TEST(lengths_that_are_no_plain_number_are_refused),
		TEST(too_much_head_is_refused),
		TEST(json_must_be_called_json),
		TEST(a_refused_small_body_leaves_the_connection_open),
		TEST(an_announced_giant_is_refused_unread),
		TEST(an_endless_chunked_body_is_cut_off),
		TEST(continue_is_said_before_the_body),
		TEST(pipelined_requests_are_answered_in_order),
		TEST(bad_json_says_where),
		TEST(an_empty_body_means_all_defaults),
	};

	return RUN_TESTS(tests);
}
