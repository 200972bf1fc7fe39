/* SPDX-License-Identifier: Apache-2.0 */
#include "api_fixture.h"

#include <unistd.h>

#include "base/cleanup.h"

/* What HTTP adds to the agent loop: clients that wait, follow, and leave. */

static void create(struct fixture *fx, int fd, const char *body)
{
	char request[1024];

	(void)snprintf(request, sizeof(request),
		       "POST /v1/responses HTTP/1.1\r\n" HOST AUTH
		       "Content-Type: application/json\r\n"
		       "Content-Length: %zu\r\n\r\n%s", strlen(body), body);
	assert_true(client_send(fx, fd, request, strlen(request)));
	run_loop(fx);
}

/* The turn waits for another one, or for its model. */
static void leave(struct fixture *fx, const char *body, bool held,
		  unsigned abandoned)
{
	int fd = client_connect(fx);

	fx->turns->held = held;
	fx->turns->over = false;
	fx->turns->abandoned = 0;
	error_clear(&fx->turns->refusal);
	create(fx, fd, body);
	run_loop(fx);
	assert_int_equal(fx->turns->abandoned, 0);
	assert_int_equal(close(fd), 0);
	for (unsigned i = 0; i < 10; i++)
		run_loop(fx);
	assert_int_equal(fx->turns->abandoned, abandoned);
	assert_int_equal(fx->turns->watches, 0);
}

static void a_client_that_leaves_ends_its_turn(void **state)
{
	struct fixture *fx = *state;

	leave(fx, "{\"input\":\"x\"}", false, 1);
	leave(fx, "{\"input\":\"x\",\"stream\":true}", false, 1);
}

static void so_does_one_that_leaves_before_its_turn_begins(void **state)
{
	struct fixture *fx = *state;

	leave(fx, "{\"input\":\"x\"}", true, 1);
	leave(fx, "{\"input\":\"x\",\"stream\":true}", true, 1);
}

static void what_is_in_the_background_goes_on(void **state)
{
	struct fixture *fx = *state;

	leave(fx, "{\"input\":\"x\",\"background\":true,\"stream\":true}", false,
	      0);
}

static void a_refusal_is_an_error_before_any_stream(void **state)
{
	struct fixture *fx = *state;

	for (int late = 0; late < 2; late++) {
		int fd = client_connect(fx);
		_answer_ struct answer a = { .status = 0 };

		error_clear(&fx->turns->refusal);
		error_set(&fx->turns->refusal, ERR_BAD_REQUEST, "No");
		error_set_reason(&fx->turns->refusal, "invalid_value");
		fx->turns->late = late;
		create(fx, fd, "{\"input\":\"x\",\"stream\":true}");
		a = client_read(fx, fd);
		check_error(&a, 400, "invalid_value");
		assert_int_equal(close(fd), 0);
	}
}

/* Every way to a response, with what of the path it is told. */
static void each_prefix_leads_there(void **state)
{
	static const struct {
		const char *path;
		const char *project;
		const char *agent;
	} paths[] = {
		{ "/v1/responses", "", "" },
		{ "/openai/v1/responses", "", "" },
		{ "/openai/responses?api-version=2025-04-01-preview", "", "" },
		{ "/api/projects/p1/openai/v1/responses", "p1", "" },
		{ "/api/projects/p1/openai/responses?api-version=v1", "p1",
		  "" },
		{ "/api/projects/p1/agents/a1/endpoint/protocols/openai/"
		  "responses?api-version=v1",
		  "p1", "a1" },
		{ "/api/projects/p1/agents/a1/endpoint/protocols/openai/v1/"
		  "responses",
		  "p1", "a1" },
	};
	struct fixture *fx = *state;

	fx->turns->kept = true;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		char request[512];

		(void)snprintf(request, sizeof(request),
			       "POST %s HTTP/1.1\r\n" HOST AUTH
			       "Content-Type: application/json\r\n"
			       "Content-Length: 35\r\n\r\n"
			       "{\"input\":\"hello\",\"background\":true}",
			       paths[i].path);
		_answer_ struct answer a = ask(fx, request);

		if (a.status != 200)
			fail_msg("%s: %d", paths[i].path, a.status);
		assert_string_equal(fx->turns->project, paths[i].project);
		assert_string_equal(fx->turns->agent, paths[i].agent);
		assert_string_equal(fx->turns->input, "hello");
	}
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_client_that_leaves_ends_its_turn),
		TEST(so_does_one_that_leaves_before_its_turn_begins),
		TEST(what_is_in_the_background_goes_on),
		TEST(a_refusal_is_an_error_before_any_stream),
		TEST(each_prefix_leads_there),
	};

	return RUN_TESTS(tests);
}
