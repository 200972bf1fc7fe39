/* SPDX-License-Identifier: Apache-2.0 */
#include "api_fixture.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/api_private.h"
#include "api/body.h"
#include "base/cleanup.h"

/* Clients that are too many, too slow, or gone. */

enum {
	BODY = 1 << 20,		/* what is announced */
	SENT = 1000000,		/* and what comes of it */
	CLIENTS = 80,
};

/* It takes a tenth of a second. But this machine may be busy, and the deadlines
 * that used to end such connections are ten seconds and more. */
#define NOTICED_USEC (5 * USEC_PER_SEC)

struct crowd {
	int fd[CLIENTS];
};

/* Each sends most of a body and then waits; every second one with @other key. */
static void crowd_begin_as(struct fixture *fx, struct crowd *crowd,
			   const char *other)
{
	_cleanup_free_ char *body = malloc(SENT);
	char head[512];
	int i;

	assert_non_null(body);
	memset(body, ' ', SENT);
	for (i = 0; i < CLIENTS; i++) {
		snprintf(head, sizeof(head),
			 "POST /v1/containers HTTP/1.1\r\n" HOST
			 "api-key: %s\r\nContent-Type: application/json\r\n"
			 "Content-Length: %d\r\n\r\n",
			 i % 2 ? other : FAKE_KEY, BODY);
		crowd->fd[i] = client_connect(fx);
		(void)client_send(fx, crowd->fd[i], head, strlen(head));
		(void)client_send(fx, crowd->fd[i], body, SENT);
	}
}

static void crowd_begin(struct fixture *fx, struct crowd *crowd)
{
	crowd_begin_as(fx, crowd, FAKE_KEY);
}

/* How many were told that there is no room. */
static int crowd_refused(const struct crowd *crowd)
{
	static const char no_room[] = "HTTP/1.1 503 ";
	char status[sizeof(no_room) - 1];
	int i, refused = 0;

	for (i = 0; i < CLIENTS; i++)
		refused += recv(crowd->fd[i], status, sizeof(status),
				MSG_DONTWAIT | MSG_PEEK) ==
				   sizeof(status) &&
			   memcmp(status, no_room, sizeof(status)) == 0;
	return refused;
}

static void crowd_leave(struct crowd *crowd)
{
	int i;

	for (i = 0; i < CLIENTS; i++)
		close_fd(&crowd->fd[i]);
}

static usec_t now_usec(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (usec_t)now.tv_sec * USEC_PER_SEC + (usec_t)now.tv_nsec / 1000;
}

/* Lets the server run until @done, or for @limit. Return: how long it took */
static usec_t run_until(struct fixture *fx, bool (*done)(struct fixture *fx),
			usec_t limit)
{
	usec_t begin = now_usec();

	while (!done(fx) && now_usec() < begin + limit)
		assert_true(sd_event_run(fx->event, 10000) >= 0);
	return now_usec() - begin;
}

static bool nobody_is_connected(struct fixture *fx)
{
	return api_connections(fx->api) == 0;
}

/*
 * Waits until those for whom there is no room were told so, but for some whose
 * body is nearly complete: its rest is waited for.
 */
static void wait_for_crowd(struct fixture *fx, const struct crowd *crowd,
			   int without_room)
{
	usec_t end = now_usec() + NOTICED_USEC;

	while (crowd_refused(crowd) < without_room - 8 && now_usec() < end)
		assert_true(sd_event_run(fx->event, 10000) >= 0);
	assert_in_range(crowd_refused(crowd), without_room - 8,
			without_room + 8);
}

/* Each is allowed to be large; all of them at once are not. */
static void large_bodies_share_a_budget(void **state)
{
	enum { BUDGET = 64 << 20, HELD = 64 << 10 };
	struct fixture *fx = *state;
	struct crowd crowd;

	/* What is free of each makes room for some more. */
	crowd_begin_as(fx, &crowd, FAKE_OTHER_KEY);
	wait_for_crowd(fx, &crowd, CLIENTS - BUDGET / (SENT - HELD));
	assert_in_range(fx->api->json_bytes, BUDGET / 2, BUDGET);
	/* Small ones go on. */
	expect_error(fx, POST "Content-Length: 2\r\n\r\n{}", 400, NULL);
	crowd_leave(&crowd);
	(void)run_until(fx, nobody_is_connected, NOTICED_USEC);
	assert_int_equal(fx->api->json_bytes, 0);
}

static void one_tenant_leaves_half_of_the_budget(void **state)
{
	enum { SHARE = 32 << 20, HELD = 64 << 10 };
	struct fixture *fx = *state;
	struct crowd crowd;

	crowd_begin(fx, &crowd);
	wait_for_crowd(fx, &crowd, CLIENTS - SHARE / (SENT - HELD));
	assert_in_range(fx->api->json_bytes, SHARE / 2, SHARE);
	crowd_leave(&crowd);
	(void)run_until(fx, nobody_is_connected, NOTICED_USEC);
	assert_int_equal(fx->api->json_bytes, 0);
}

static int setup_little_memory(void **state)
{
	return fixture_setup_with(state, "listen.json_memory=8M");
}

/* A container with a field that is ignored, of @count values in two bytes each. */
static int create_with_values(struct fixture *fx, int count)
{
	_cleanup_(buf_done) struct buf json = BUF_INIT(1 << 20);
	_cleanup_(buf_done) struct buf b = BUF_INIT(1 << 20);
	int i;

	buf_add_str(&json, "{\"name\":\"a\",\"x\":[0");
	for (i = 0; i < count; i++)
		buf_add_str(&json, ",{}");
	buf_add_str(&json, "]}");
	buf_printf(&b, POST "Content-Length: %zu\r\n\r\n%s", json.length,
		   buf_str(&json));
	_answer_ struct answer a = ask_bytes(fx, b.data, b.length);
	return a.status;
}

/* What is short as text may be large in memory. */
static void values_take_of_the_budget_too(void **state)
{
	struct fixture *fx = *state;

	assert_int_equal(create_with_values(fx, 3000), 200);
	assert_int_equal(create_with_values(fx, 5000), 503);
	assert_int_equal(create_with_values(fx, 3000), 200);
	assert_int_equal(create_with_values(fx, 20000), 400);
	(void)run_until(fx, nobody_is_connected, NOTICED_USEC);
	assert_int_equal(fx->api->json_bytes, 0);
}

/*
 * The end of the stream comes together with the last bytes, which is when the
 * library does not see it.
 */
static void a_client_that_leaves_its_body_is_noticed_soon(void **state)
{
	struct fixture *fx = *state;
	struct crowd crowd;
	int round;

	for (round = 0; round < 3; round++) {
		crowd_begin(fx, &crowd);
		crowd_leave(&crowd);
		assert_true(run_until(fx, nobody_is_connected,
				      NOTICED_USEC) < NOTICED_USEC);
	}
	assert_int_equal(fx->api->json_bytes, 0);
	assert_int_equal(fx->core->uploads, 0);
}

/* Wherever a client is when it goes, it is not waited for. */
static void a_client_that_leaves_is_noticed_soon(void **state)
{
	static const char *const beginnings[] = {
		"", "GET", "GET /v1/files HTTP/1.1\r\n" HOST, POST,
		POST "Content-Length: 12\r\n\r\n{\"na",
		POST "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"na",
		"POST /v1/files HTTP/1.1\r\n" HOST AUTH
		"Content-Type: multipart/form-data; boundary=x\r\n"
		"Content-Length: 1000\r\n\r\n--x\r\n",
		"POST /v1/containers/cntr_1/exec HTTP/1.1\r\n" HOST AUTH
		"Content-Type: application/json\r\n"
		"Content-Length: 12\r\n\r\n{\"code\":\"1\"}",
		"GET /healthz HTTP/1.1\r\n" HOST "\r\n",
	};
	struct fixture *fx = *state;
	size_t i;

	for (i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++) {
		int fd = client_connect(fx);

		(void)client_send(fx, fd, beginnings[i],
				  strlen(beginnings[i]));
		/* Both before it is read, and after. */
		if (i % 2)
			run_loop(fx);
		close_fd(&fd);
		assert_true(run_until(fx, nobody_is_connected,
				      NOTICED_USEC) < NOTICED_USEC);
	}
}

/* "printf … | nc" closes its sending half at once. */
static void a_client_that_sends_no_more_gets_its_answers(void **state)
{
	static const char *const two =
		"GET /v1/files/a HTTP/1.1\r\n" HOST AUTH "\r\n"
		POST "Content-Length: 2\r\n\r\n{}"
		"GET /v1/files/last HTTP/1.1\r\n" HOST AUTH "\r\n";
	struct fixture *fx = *state;
	_cleanup_close_ int fd = client_connect(fx);
	_cleanup_(buf_done) struct buf got = BUF_INIT(1 << 20);

	assert_true(send(fd, two, strlen(two), 0) == (ssize_t)strlen(two));
	assert_int_equal(shutdown(fd, SHUT_WR), 0);
	assert_true(client_read_until(fx, fd, &got, "object: last"));
	assert_true(run_until(fx, nobody_is_connected, NOTICED_USEC) <
		    NOTICED_USEC);
}

/* Core calls back when it is done, whoever is still there. */
static void the_server_may_end_before_core_has_answered(void **state)
{
	static const char *const create =
		POST "Content-Length: 12\r\n\r\n{\"name\":\"a\"}";
	struct fixture *fx = *state;
	int fd = client_connect(fx);

	assert_true(send(fd, create, strlen(create), 0) ==
		    (ssize_t)strlen(create));
	close_fd(&fd);
	/* The teardown ends the server while core owes an answer. */
	while (TAILQ_EMPTY(&fx->api->admitted))
		assert_true(sd_event_run(fx->event, 10000) >= 0);
}

int main(void)
{
#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(large_bodies_share_a_budget),
		TEST(one_tenant_leaves_half_of_the_budget),
		cmocka_unit_test_setup_teardown(values_take_of_the_budget_too,
						setup_little_memory,
						fixture_teardown),
		TEST(a_client_that_leaves_its_body_is_noticed_soon),
		TEST(a_client_that_leaves_is_noticed_soon),
		TEST(a_client_that_sends_no_more_gets_its_answers),
		TEST(the_server_may_end_before_core_has_answered),
	};

	return RUN_TESTS(tests);
}
