/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp_client.h"

#include <stdio.h>
#include <unistd.h>

#include "core/end_reason.h"

/*
 * Why a session ended, as the clients of each dialect read it: one that comes
 * afterwards, and one whose code ran at that moment.
 */

#define WHEN "at 2026-09-21T14:13:20Z"
#define OLD_PATH "/code/execute?api-version=2024-02-02-preview&identifier=u"
#define OLD_BODY                                                               \
	"{\"properties\":{\"codeInputType\":\"inline\",\"executionType\":"     \
	"\"synchronous\",\"code\":\"1\"}}"
#define NEW_PATH "/executions?api-version=2025-02-02-preview&identifier=u"
#define NEW_BODY                                                               \
	"{\"codeInputType\":\"Inline\",\"executionType\":\"Synchronous\","     \
	"\"code\":\"1\"}"
#define EXEC_PATH "/v1/containers/" FAKE_CONTAINER "/exec"
#define EXEC_BODY "{\"code\":\"1\"}"
#define RUN(container)                                                         \
	"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":"  \
	"{\"name\":\"code_interpreter\",\"arguments\":{\"code\":\"1\","        \
	"\"container_id\":\"" container "\"}}}"

static void send_post(struct fixture *fx, int fd, const char *path,
		      const char *body)
{
	char request[1024];

	(void)snprintf(request, sizeof(request),
		       "POST %s HTTP/1.1\r\n" HOST AUTH
		       "Content-Type: application/json\r\n"
		       "Content-Length: %zu\r\n\r\n%s",
		       path, strlen(body), body);
	assert_true(client_send(fx, fd, request, strlen(request)));
}

/* When, why as a sentence and as a word, and what to do. */
static void check_words(const char *text, enum end_reason reason)
{
	const char *const words[] = { FAKE_EXPIRED, "expired", WHEN,
				      end_reason_sentence(reason),
				      end_reason_name(reason),
				      "Create a new one" };
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strstr(text, words[i]))
			fail_msg("no '%s' in %s", words[i], text);
}

static void whoever_comes_later_is_told(void **state)
{
	static const struct {
		const char *path, *body, *envelope;
	} dialects[] = {
		{ "/v1/containers/" FAKE_EXPIRED "/exec", EXEC_BODY,
		  "{\"error\":{\"message\":\"Container '" },
		{ OLD_PATH, OLD_BODY,
		  "{\"error\":{\"code\":\"container_expired\",\"message\":\"" },
		{ NEW_PATH, NEW_BODY,
		  "{\"error\":{\"code\":\"container_expired\",\"message\":\"" },
	};
	struct fixture *fx = *state;
	int reason;
	size_t i;

	/* Of what was deleted nothing is said. */
	for (reason = END_NONE + 1; reason < END_DELETED; reason++) {
		fx->core->end_reason = reason;
		for (i = 0; i < sizeof(dialects) / sizeof(dialects[0]); i++) {
			_cleanup_close_ int fd = client_connect(fx);

			send_post(fx, fd, dialects[i].path, dialects[i].body);
			_answer_ struct answer a = client_read(fx, fd);
			assert_int_equal(a.status, 404);
			if (strncmp(a.body, dialects[i].envelope,
				    strlen(dialects[i].envelope)) != 0)
				fail_msg("%s", a.body);
			check_words(a.body, reason);
			if (i == 0)
				check_error(&a, 404, "container_expired");
		}
		_said_ struct said said = mcp_say(fx, "", RUN(FAKE_EXPIRED));
		assert_int_equal(said.answer.status, 200);
		assert_non_null(strstr(said.answer.body, "\"isError\":true"));
		check_words(mcp_text(&said), reason);
	}
	assert_int_equal(fx->core->execs, 0);
}

static void lose(struct fixture *fx, enum end_reason reason)
{
	fx->core->exec.error_name = end_reason_name(reason);
	fx->core->exec.error_value = end_reason_sentence(reason);
	fake_core_done(fx->core, EXEC_SESSION_LOST);
}

static void whoever_waits_is_told(void **state)
{
	static const struct {
		const char *path, *body, *status;
	} dialects[] = {
		{ EXEC_PATH, EXEC_BODY, "\"status\":\"session_lost\"" },
		{ OLD_PATH, OLD_BODY, "\"status\":\"Failure\"" },
		{ NEW_PATH, NEW_BODY, "\"status\":\"Failed\"" },
	};
	struct fixture *fx = *state;
	int reason, fd;
	size_t i;

	for (reason = END_NONE + 1; reason < END_REASON_COUNT; reason++) {
		for (i = 0; i < sizeof(dialects) / sizeof(dialects[0]); i++) {
			_cleanup_close_ int client = client_connect(fx);
			unsigned before = fx->core->execs;

			send_post(fx, client, dialects[i].path,
				  dialects[i].body);
			while (fx->core->execs == before)
				run_loop(fx);
			lose(fx, reason);
			_answer_ struct answer a = client_read(fx, client);
			assert_int_equal(a.status, 200);
			if (!strstr(a.body, dialects[i].status) ||
			    !strstr(a.body, end_reason_name(reason)) ||
			    !strstr(a.body, end_reason_sentence(reason)))
				fail_msg("%s", a.body);
		}
		fd = mcp_start(fx, "/mcp", "", RUN(FAKE_CONTAINER));
		lose(fx, reason);
		_said_ struct said said = mcp_finish(fx, fd);
		assert_non_null(strstr(said.answer.body, "\"isError\":true"));
		assert_non_null(strstr(mcp_text(&said),
				       end_reason_sentence(reason)));
		assert_non_null(strstr(said.answer.body,
				       end_reason_name(reason)));
	}
}

int main(void)
{
#define TEST(f) \
	cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(whoever_comes_later_is_told),
		TEST(whoever_waits_is_told),
	};

	return RUN_TESTS(tests);
}
