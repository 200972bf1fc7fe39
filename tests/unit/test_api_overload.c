/* SPDX-License-Identifier: Apache-2.0 */
#include "api_fixture.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/api_private.h"
#include "api/body.h"
#include "base/cleanup.h"
#include "base/limits.h"

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

/* Each sends most of a body and then waits. */
static void crowd_begin(struct fixture *fx, struct crowd *crowd)
{
	_cleanup_free_ char *body = malloc(SENT);
	char head[512];
	int i;

	assert_non_null(body);
	memset(body, ' ', SENT);
	snprintf(head, sizeof(head), POST "Content-Length: %d\r\n\r\n", BODY);
	for (i = 0; i < CLIENTS; i++) {
		crowd->fd[i] = client_connect(fx);
		(void)client_send(fx, crowd->fd[i], head, strlen(head));
		(void)client_send(fx, crowd->fd[i], body, SENT);
	}
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

static bool never(struct fixture *fx)
{
	(void)fx;
	return false;
}

static bool nobody_is_connected(struct fixture *fx)
{
	return api_connections(fx->api) == 0;
}

/* Each is allowed to be large; all of them at once are not. */
static void large_bodies_share_a_budget(void **state)
{
	struct fixture *fx = *state;
	struct crowd crowd;
	char status[13];
	int i, refused = 0;

	crowd_begin(fx, &crowd);
	(void)run_until(fx, never, USEC_PER_SEC / 2);
	assert_in_range(fx->api->json_bytes, (64 << 20) - SENT, 64 << 20);
	for (i = 0; i < CLIENTS; i++)
		if (recv(crowd.fd[i], status, sizeof(status), MSG_DONTWAIT) ==
			    sizeof(status) &&
		    memcmp(status, "HTTP/1.1 503 ", sizeof(status)) == 0)
			refused++;
	assert_in_range(refused, 1, CLIENTS / 4);
	/* Small ones go on. */
	expect_error(fx, POST "Content-Length: 2\r\n\r\n{}", 400, NULL);
	crowd_leave(&crowd);
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
		TEST(a_client_that_leaves_its_body_is_noticed_soon),
		TEST(a_client_that_leaves_is_noticed_soon),
		TEST(a_client_that_sends_no_more_gets_its_answers),
		TEST(the_server_may_end_before_core_has_answered),
	};

	return RUN_TESTS(tests);
}
