/* SPDX-License-Identifier: Apache-2.0 */
#include "api_fixture.h"

#include <unistd.h>

#include "base/cleanup.h"

/* Container Apps dynamic sessions, above a fake core. */

#define OLD "api-version=2024-02-02-preview&identifier=user-1"
#define NEW "api-version=2025-02-02-preview&identifier=user-1"

static void write_post(struct buf *b, const char *path, const char *json)
{
	buf_printf(b,
		   "POST %s HTTP/1.1\r\n" HOST AUTH
		   "Content-Type: application/json\r\n"
		   "Content-Length: %zu\r\n\r\n%s",
		   path, strlen(json), json);
}

static struct answer post(struct fixture *fx, const char *path,
			  const char *json)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(8 << 20);

	write_post(&b, path, json);
	return ask_bytes(fx, b.data, b.length);
}

static struct answer get(struct fixture *fx, const char *path)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(8 << 10);

	buf_printf(&b, "GET %s HTTP/1.1\r\n" HOST AUTH "\r\n", path);
	return ask_bytes(fx, b.data, b.length);
}

static void check_azure(const struct answer *a, int status, const char *code)
{
	char want[128];

	assert_int_equal(a->status, status);
	snprintf(want, sizeof(want), "{\"error\":{\"code\":\"%s", code);
	assert_memory_equal(a->body, want, strlen(want));
}

static void refused(struct fixture *fx, const char *path, const char *json,
		    const char *says)
{
	_answer_ struct answer a = post(fx, path, json);

	check_azure(&a, 400, "");
	if (!strstr(a.body, says))
		fail_msg("%s", a.body);
}

/* An execution that ends at once, with this output. */
static struct answer run(struct fixture *fx, const char *path,
			 const char *json, const char *out,
			 enum exec_status status)
{
	_cleanup_close_ int fd = client_connect(fx);
	_cleanup_(buf_done) struct buf b = BUF_INIT(1 << 20);
	unsigned before = fx->core->execs;

	write_post(&b, path, json);
	assert_true(client_send(fx, fd, b.data, b.length));
	while (fx->core->execs == before)
		run_loop(fx);
	fake_core_output(fx->core, false, out, strlen(out));
	fake_core_done(fx->core, status);
	return client_read(fx, fd);
}

static void the_old_family_wraps_everything(void **state)
{
	struct fixture *fx = *state;
	_answer_ struct answer a =
		run(fx, "/code/execute?" OLD,
		    "{\"properties\":{\"codeInputType\":\"inline\","
		    "\"executionType\":\"synchronous\",\"code\":\"1+1\"}}",
		    "hi\n", EXEC_OK);

	assert_int_equal(a.status, 200);
	assert_string_equal(
		a.body,
		"{\"$id\":\"1\",\"properties\":{\"$id\":\"2\","
		"\"status\":\"Success\",\"stdout\":\"hi\\n\",\"stderr\":\"\","
		"\"result\":null,\"executionResult\":null,"
		"\"executionTimeInMilliseconds\":0}}");
	assert_string_equal(fx->core->code, "1+1");
	assert_string_equal(fx->core->name, "user-1");
	assert_string_equal(fx->core->pool, "default");
}

static void the_new_family_is_flat_and_says_where_to_look(void **state)
{
	struct fixture *fx = *state;
	_answer_ struct answer a =
		run(fx,
		    "/subscriptions/s/resourceGroups/r/sessionPools/default/"
		    "executions?" NEW,
		    "{\"codeInputType\":\"Inline\",\"executionType\":"
		    "\"Synchronous\",\"code\":\"1\",\"timeoutInSeconds\":7}",
		    "out", EXEC_OK);

	assert_int_equal(a.status, 200);
	assert_string_equal(
		a.body,
		"{\"id\":\"exec_1\",\"identifier\":\"user-1\","
		"\"sessionId\":\"cntr_1\",\"executionType\":\"Synchronous\","
		"\"status\":\"Succeeded\",\"result\":{\"stdout\":\"out\","
		"\"stderr\":\"\",\"executionResult\":null,"
		"\"executionTimeInMilliseconds\":0}}");
	assert_string_equal(
		answer_header(&a, "Operation-Location"),
		"http://x/pools/default/executions/exec_1?api-version="
		"2025-02-02-preview&identifier=user-1");
	assert_string_equal(answer_header(&a, "operation-id"), "exec_1");
	assert_int_equal(fx->core->timeout_usec, 7 * USEC_PER_SEC);
}

static void outputs_are_cut_where_it_is_said(void **state)
{
	struct fixture *fx = *state;
	_answer_ struct answer a =
		run(fx, "/executions?" NEW,
		    "{\"code\":\"1\",\"outputStreamsMaxLength\":3}",
		    "a\xe2\x82\xac" "b", EXEC_OK);

	assert_non_null(strstr(a.body, "\"stdout\":\"a\",")); /* no half */
}

static void an_asynchronous_execution_is_not_waited_for(void **state)
{
	struct fixture *fx = *state;
	_answer_ struct answer a = post(
		fx, "/executions?" NEW,
		"{\"code\":\"1\",\"executionType\":\"asynchronous\"}");

	assert_int_equal(a.status, 202);
	assert_non_null(strstr(a.body, "\"status\":\"Running\""));
	assert_null(strstr(a.body, "\"result\""));
	fx->core->named = true;
	fake_core_done(fx->core, EXEC_ERROR);
	_answer_ struct answer later =
		get(fx, "/pools/default/executions/exec_1?" NEW);
	assert_int_equal(later.status, 200);
	assert_non_null(strstr(later.body, "\"status\":\"Failed\""));
}

/* An execution that is asked for with @json has a value and ends. */
static void check_shown(struct fixture *fx, const char *json,
			const char *const says[])
{
	const struct exec_datum value = { .mime = "text/plain", .data = "3",
					  .data_len = 1 };
	const struct exec_result result = { .data = &value, .count = 1 };
	_answer_ struct answer begun = post(fx, "/executions?" NEW, json);

	assert_true(begun.status == 202);
	fake_core_output(fx->core, false, "12345", 5);
	fx->core->exec.results = &result;
	fx->core->exec.result_count = 1;
	fake_core_done(fx->core, EXEC_OK);
	fx->core->named = true;
	_answer_ struct answer later = get(fx, "/executions/exec_1?" NEW);
	assert_int_equal(later.status, 200);
	for (; *says; says++)
		if (!strstr(later.body, *says))
			fail_msg("not '%s': %s", *says, later.body);
}

#define ASYNC "\"executionType\":\"Asynchronous\""

static void what_is_looked_up_is_shown_as_it_was_asked_for(void **state)
{
	struct fixture *fx = *state;

	check_shown(fx, "{\"code\":\"1\"," ASYNC "}",
		    (const char *const[]){ ASYNC, "\"status\":\"Succeeded\"",
					   "\"executionResult\":3",
					   "\"stdout\":\"12345\"", NULL });
	check_shown(fx, "{\"shellCommand\":\"exit 3\"," ASYNC "}",
		    (const char *const[]){ ASYNC, "\"status\":\"3\"", NULL });
	check_shown(fx,
		    "{\"code\":\"1\",\"outputStreamsMaxLength\":2,"
		    "\"returnJupyterFormatExecutionResult\":true," ASYNC "}",
		    (const char *const[]){ "\"stdout\":\"12\"",
					   "{\"text/plain\":\"3\"}", NULL });
}

static void a_command_becomes_code_and_its_status_a_word(void **state)
{
	struct fixture *fx = *state;
	_answer_ struct answer a =
		run(fx, "/executions?" NEW, "{\"shellCommand\":\"ls 'a'\"}",
		    "", EXEC_OK);

	assert_int_equal(a.status, 200);
	assert_string_equal(fx->core->code,
			    "__import__('subprocess').run([\"/bin/sh\",\"-c\","
			    "\"ls 'a'\"]).returnc");
	_answer_ struct answer b =
		run(fx, "/executions?" NEW,
		    "{\"execCommandAndArgs\":[\"a\",\"b\\\"c\"]}", "",
		    EXEC_OK);

	assert_int_equal(b.status, 200);
	assert_string_equal(fx->core->code,
			    "__import__('subprocess').run([\"a\",\"b\\\"c\"])"
			    ".returncode");
}

static void base64_code_is_decoded(void **state)
{
	struct fixture *fx = *state;
	_answer_ struct answer a =
		run(fx, "/code/execute?" OLD,
		    "{\"codeInputType\":\"InlineBase64\","
		    "\"code\":\"cHJpbnQoMSk=\"}",
		    "", EXEC_TIMEOUT);

	assert_string_equal(fx->core->code, "print(1)");
	assert_non_null(strstr(a.body, "\"status\":\"Failure\""));
	assert_non_null(strstr(a.body, "time limit"));
	refused(fx, "/code/execute?" OLD,
		"{\"codeInputType\":\"inlineBase64\",\"code\":\"!\"}",
		"'code' is not UTF-8 text as base64");
}

static void what_is_missing_or_wrong_is_named(void **state)
{
	struct fixture *fx = *state;
	static const char code[] = "{\"code\":\"1\"}";

	refused(fx, "/executions?identifier=a", code, "'api-version'");
	refused(fx, "/executions?api-version=2025-02-02-preview", code,
		"'identifier' is missing");
	refused(fx, "/executions?api-version=2025-02-02-preview&identifier=a%2Fb",
		code, "'identifier' must be");
	refused(fx, "/executions?" NEW, "{}", "'code' is missing");
	refused(fx, "/executions?" NEW,
		"{\"code\":\"1\",\"shellCommand\":\"ls\"}", "excludes");
	refused(fx, "/executions?" NEW,
		"{\"code\":\"1\",\"timeoutInSeconds\":221}",
		"timeoutInSeconds");
	refused(fx, "/executions?" NEW,
		"{\"code\":\"1\",\"executionType\":\"later\"}",
		"'executionType' must be");
	refused(fx, "/code/execute?" OLD,
		"{\"code\":\"1\",\"identifier\":\"other\"}", "twice");
	assert_int_equal(fx->core->execs, 0);
}

static void a_pool_that_is_not_there_is_not_found(void **state)
{
	struct fixture *fx = *state;
	_answer_ struct answer a = post(fx, "/pools/nowhere/executions?" NEW,
					"{\"code\":\"1\"}");

	check_azure(&a, 404, "not_found");
	_answer_ struct answer none = get(fx, "/pools/nowhere?" NEW);
	check_azure(&none, 404, "not_found");
}

static void looking_makes_no_session(void **state)
{
	struct fixture *fx = *state;
	_answer_ struct answer list = get(fx, "/files?" NEW);
	_answer_ struct answer old = get(fx, "/files?" OLD);
	_answer_ struct answer session = get(fx, "/session?" NEW);
	_answer_ struct answer exec = get(fx, "/executions/exec_1?" NEW);

	assert_int_equal(list.status, 200);
	assert_string_equal(list.body, "{\"value\":[],\"nextLink\":null}");
	assert_string_equal(old.body, "{\"value\":[],\"$id\":\"1\"}");
	check_azure(&session, 404, "SessionNotFound");
	check_azure(&exec, 404, "SessionNotFound");
	assert_string_equal(fx->core->name, "");
}

static void an_expired_session_is_told_in_all_that_only_looks(void **state)
{
	static const char *const looks[] = {
		"/session?" NEW, "/executions/exec_1?" NEW,
		"/files/a.txt?" NEW, "/files/content/a.txt?" OLD,
	};
	struct fixture *fx = *state;
	size_t i;

	fx->core->end_reason = END_IDLE_TIMEOUT;
	for (i = 0; i < sizeof(looks) / sizeof(looks[0]); i++) {
		_answer_ struct answer a = get(fx, looks[i]);

		check_azure(&a, 404, "SessionNotFound");
		assert_non_null(strstr(a.body, "expired at 20"));
		assert_non_null(strstr(a.body, "(idle_timeout). The next "));
	}
	/* A list of its files is one of none, as before the first use. */
	_answer_ struct answer list = get(fx, "/files?" NEW);
	assert_string_equal(list.body, "{\"value\":[],\"nextLink\":null}");
}

static void metadata_says_what_there_is_without_a_session(void **state)
{
	struct fixture *fx = *state;
	_answer_ struct answer a =
		get(fx, "/pools/default/metadata?"
			"api-version=2025-02-02-preview");
	_answer_ struct answer none =
		get(fx, "/pools/nowhere/metadata?"
			"api-version=2025-02-02-preview");

	assert_int_equal(a.status, 200);
	assert_string_equal(
		a.body,
		"{\"runtimes\":[{\"name\":\"python\","
		"\"version\":\"3.13.5-1\"}],\"preInstalledPackages\":["
		"{\"name\":\"python3\",\"version\":\"3.13.5-1\"},"
		"{\"name\":\"python3-numpy\",\"version\":\"1:2.2\"}],"
		"\"createdAt\":\"2026-11-30T01:08:54Z\","
		"\"lastUpdatedAt\":\"2026-11-30T01:08:54Z\","
		"\"jupyterKernel\":{\"name\":\"python3\","
		"\"version\":\"3.13.5-1\","
		"\"projectUrl\":\"https://www.python.org\",\"description\":"
		"\"Python; its state stays from one execution to the next\"},"
		"\"image\":\"python@sha256:00\"}");
	check_azure(&none, 404, "not_found");
	assert_string_equal(fx->core->name, "");
}

static void a_session_can_be_seen_and_ended(void **state)
{
	struct fixture *fx = *state;
	static const char session[] =
		"{\"identifier\":\"user-1\",\"sessionId\":\"cntr_1\","
		"\"createdAt\":\"2026-09-21T14:13:20Z\","
		"\"lastAccessedAt\":\"2026-09-21T14:13:21Z\","
		"\"expireAt\":\"2026-09-21T14:33:20Z\",\"etag\":\"cntr_1\"}";

	fx->core->named = true;
	_answer_ struct answer one = get(fx, "/session?" NEW);
	assert_string_equal(one.body, session);
	_answer_ struct answer all =
		get(fx, "/listSessions?api-version=2025-02-02-preview");
	assert_non_null(strstr(all.body, session));
	assert_non_null(strstr(all.body, "\"nextLink\":null"));
	_answer_ struct answer skipped =
		get(fx, "/listSessions?skip=1&api-version=2025-02-02-preview");
	assert_string_equal(skipped.body, "{\"sessions\":[],\"nextLink\":null}");
	_answer_ struct answer gone =
		ask(fx, "DELETE /session?" NEW " HTTP/1.1\r\n" HOST AUTH
			"\r\n");
	assert_int_equal(gone.status, 204);
	_answer_ struct answer stopped =
		post(fx, "/.management/stopSession?" NEW, "");
	assert_int_equal(stopped.status, 200);
}

static void a_path_cannot_lead_out(void **state)
{
	struct fixture *fx = *state;
	static const char *const paths[] = {
		"/files?path=../x&" NEW,
		"/files/..?" NEW,
		"/files/a/content?path=a/../../b&" NEW,
	};
	size_t i;

	fx->core->named = true;
	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		_answer_ struct answer a = get(fx, paths[i]);

		check_azure(&a, 400, "");
	}
}

/* --------------------------------------------------------- looking at what runs */

#define LOOK "GET /executions/exec_1?" NEW " HTTP/1.1\r\n" HOST AUTH "\r\n"

/* A client that asks about an execution that runs, and is held. */
static int look(struct fixture *fx)
{
	_answer_ struct answer begun =
		post(fx, "/executions?" NEW, "{\"code\":\"1\"," ASYNC "}");
	int fd = client_connect(fx);

	assert_int_equal(begun.status, 202);
	fx->core->named = true;
	assert_true(client_send(fx, fd, LOOK, strlen(LOOK)));
	while (fx->core->watches == 0)
		assert_true(sd_event_run(fx->event, 10000) >= 0);
	return fd;
}

static void a_look_at_an_execution_waits_for_its_end(void **state)
{
	struct fixture *fx = *state;
	_cleanup_close_ int fd = look(fx);

	fake_core_output(fx->core, false, "a", 1);
	run_loop(fx);
	fake_core_done(fx->core, EXEC_OK);
	_answer_ struct answer a = client_read(fx, fd);
	assert_int_equal(a.status, 200);
	assert_non_null(strstr(a.body, "\"status\":\"Succeeded\""));
	assert_non_null(strstr(a.body, "\"stdout\":\"a\""));
}

static void a_look_at_an_execution_does_not_wait_for_long(void **state)
{
	struct fixture *fx = *state;
	_cleanup_close_ int fd = look(fx);
	_answer_ struct answer a = client_read(fx, fd);

	assert_int_equal(a.status, 200);
	assert_non_null(strstr(a.body, "\"status\":\"Running\""));
	assert_null(strstr(a.body, "\"result\""));
}

static void nothing_stays_of_a_look_that_is_left(void **state)
{
	struct fixture *fx = *state;
	int fd = look(fx);

	close_fd(&fd);
	while (fx->core->watches > 0)
		assert_true(sd_event_run(fx->event, 10000) >= 0);
	fake_core_done(fx->core, EXEC_OK);
	run_loop(fx);
	/* And of one whose server ends meanwhile, for LeakSanitizer to see. */
	fd = look(fx);
	api_free(take_ptr(fx->api));
	assert_int_equal(fx->core->watches, 0);
	close_fd(&fd);
}

int main(void)
{
#define TEST(f) \
	cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(the_old_family_wraps_everything),
		TEST(the_new_family_is_flat_and_says_where_to_look),
		TEST(outputs_are_cut_where_it_is_said),
		TEST(an_asynchronous_execution_is_not_waited_for),
		TEST(what_is_looked_up_is_shown_as_it_was_asked_for),
		TEST(a_command_becomes_code_and_its_status_a_word),
		TEST(base64_code_is_decoded),
		TEST(what_is_missing_or_wrong_is_named),
		TEST(a_pool_that_is_not_there_is_not_found),
		TEST(looking_makes_no_session),
		TEST(an_expired_session_is_told_in_all_that_only_looks),
		TEST(metadata_says_what_there_is_without_a_session),
		TEST(a_session_can_be_seen_and_ended),
		TEST(a_path_cannot_lead_out),
		TEST(a_look_at_an_execution_waits_for_its_end),
		TEST(a_look_at_an_execution_does_not_wait_for_long),
		TEST(nothing_stays_of_a_look_that_is_left),
	};

	return RUN_TESTS(tests);
}
