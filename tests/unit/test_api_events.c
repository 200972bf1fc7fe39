/* SPDX-License-Identifier: Apache-2.0 */
/* What the operator is told, and how a daemon is taken out of use. */

#include "api_fixture.h"

#include <stdio.h>
#include <unistd.h>

#include "base/cleanup.h"

#define ADMIN "/admin/v1/"

/* A request of the operator, over the Unix socket. */
static int operator_asks(struct fixture *fx, const char *head, const char *body)
{
	char request[512];
	int fd = client_connect_unix(fx);

	(void)snprintf(request, sizeof(request),
		       "%s HTTP/1.1\r\n" HOST "Content-Type: application/json\r\n"
		       "Content-Length: %zu\r\n\r\n%s",
		       head, strlen(body), body);
	assert_true(client_send(fx, fd, request, strlen(request)));
	return fd;
}

static int follow(struct fixture *fx, const char *target, struct buf *got)
{
	char request[256];
	int fd = client_connect_unix(fx);

	(void)snprintf(request, sizeof(request),
		       "GET " ADMIN "%s HTTP/1.1\r\n" HOST "\r\n", target);
	assert_true(client_send(fx, fd, request, strlen(request)));
	assert_true(client_read_until(fx, fd, got, "\r\n\r\n"));
	return fd;
}

static void an_event_is_told_as_it_happens(void **state)
{
	struct fixture *fx = *state;
	_cleanup_(buf_done) struct buf got = BUF_INIT(1 << 20);
	_cleanup_close_ int fd = follow(fx, "events", &got);

	assert_true(client_read_until(fx, fd, &got, "text/event-stream"));
	assert_null(strstr(buf_str(&got), "event:"));
	fake_core_happen(fx->core);
	assert_true(client_read_until(fx, fd, &got,
				      "id: 1\nevent: session.opened\n"
				      "data: {\"a\":1}\n\n"));
	fake_core_happen(fx->core);
	assert_true(client_read_until(fx, fd, &got, "id: 2\n"));
	close_fd(&fd);
	run_loop(fx);
	assert_null(fx->core->follower);
}

static void a_reader_goes_on_behind_what_it_has(void **state)
{
	struct fixture *fx = *state;
	_cleanup_(buf_done) struct buf got = BUF_INIT(1 << 20);
	_cleanup_close_ int fd = -1;

	fx->core->happened = 5;
	fd = follow(fx, "events?after=3", &got);
	assert_true(client_read_until(fx, fd, &got, "id: 5\n"));
	assert_non_null(strstr(buf_str(&got), "id: 4\n"));
	assert_null(strstr(buf_str(&got), "id: 3\n"));
}

static void a_browser_goes_on_behind_what_it_has(void **state)
{
	static const char request[] = "GET " ADMIN "events HTTP/1.1\r\n" HOST
				      "Last-Event-ID: 3\r\n\r\n";
	struct fixture *fx = *state;
	_cleanup_(buf_done) struct buf got = BUF_INIT(1 << 20);
	_cleanup_close_ int fd = client_connect_unix(fx);

	fx->core->happened = 5;
	assert_true(client_send(fx, fd, request, strlen(request)));
	assert_true(client_read_until(fx, fd, &got, "id: 5\n"));
	assert_non_null(strstr(buf_str(&got), "id: 4\n"));
	assert_null(strstr(buf_str(&got), "id: 3\n"));
}

static void a_bad_place_to_go_on_from_is_refused(void **state)
{
	static const char *const bad[] = {
		"events?after=", "events?after=x", "events?after=-1",
		"events?after=1&after=2", "events?after=99999999999999999999",
	};
	struct fixture *fx = *state;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char head[128];
		_cleanup_close_ int fd = -1;

		(void)snprintf(head, sizeof(head), "GET " ADMIN "%s", bad[i]);
		fd = operator_asks(fx, head, "");
		_answer_ struct answer a = client_read(fx, fd);
		check_error(&a, 400, NULL);
	}
	assert_null(fx->core->follower);
}

static int drain(struct fixture *fx, const char *body)
{
	_cleanup_close_ int fd =
		operator_asks(fx, "POST " ADMIN "drain", body);
	_answer_ struct answer a = client_read(fx, fd);

	return a.status;
}

static void a_drain_takes_a_deadline_and_nothing_else(void **state)
{
	static const char *const bad[] = {
		"{\"deadline_s\":-1}", "{\"deadline_s\":\"1\"}",
		"{\"deadline_s\":1e12}", "{\"deadline\":1}", "[]",
	};
	struct fixture *fx = *state;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(drain(fx, bad[i]), 400);
	assert_false(fx->core->drain);
	assert_int_equal(drain(fx, "{}"), 200);
	assert_true(fx->core->drain);
	assert_true(fx->core->drain_wait == USEC_INFINITY);
	assert_int_equal(drain(fx, "{\"deadline_s\":0}"), 200);
	assert_true(fx->core->drain_wait == 0);
	assert_int_equal(drain(fx, "{\"deadline_s\":1.5}"), 200);
	assert_true(fx->core->drain_wait == 1500 * USEC_PER_MSEC);
}

static void a_drain_is_undone(void **state)
{
	struct fixture *fx = *state;
	_cleanup_close_ int fd = -1;

	fx->core->drain = true;
	fd = operator_asks(fx, "DELETE " ADMIN "drain", "");
	_answer_ struct answer a = client_read(fx, fd);
	assert_int_equal(a.status, 200);
	assert_false(fx->core->drain);
}

static void nobody_drains_or_follows_with_a_key(void **state)
{
	struct fixture *fx = *state;

	expect_error(fx, "GET " ADMIN "events HTTP/1.1\r\n" HOST AUTH "\r\n",
		     404, NULL);
	expect_error(fx, "DELETE " ADMIN "drain HTTP/1.1\r\n" HOST AUTH "\r\n",
		     404, NULL);
}

#define TEST(f) \
	cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_event_is_told_as_it_happens),
		TEST(a_reader_goes_on_behind_what_it_has),
		TEST(a_browser_goes_on_behind_what_it_has),
		TEST(a_bad_place_to_go_on_from_is_refused),
		TEST(a_drain_takes_a_deadline_and_nothing_else),
		TEST(a_drain_is_undone),
		TEST(nobody_drains_or_follows_with_a_key),
	};

	return RUN_TESTS(tests);
}
