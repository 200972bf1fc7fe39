/* SPDX-License-Identifier: Apache-2.0 */
#include "api_fixture.h"

#include <unistd.h>

#include "base/cleanup.h"

#define EXEC_PATH "/v1/containers/" FAKE_CONTAINER "/exec"
#define RUN_PATH "/v1/containers/" FAKE_CONTAINER "/executions/" FAKE_EXEC

static void write_post(struct buf *b, const char *path, const char *extra,
		       const char *json)
{
	buf_printf(b,
		   "POST %s HTTP/1.1\r\n" HOST AUTH
		   "Content-Type: application/json\r\n%s"
		   "Content-Length: %zu\r\n\r\n%s",
		   path, extra, strlen(json), json);
}

static void send_exec(struct fixture *fx, int fd, const char *json)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(1 << 20);

	write_post(&b, EXEC_PATH, "", json);
	assert_true(client_send(fx, fd, b.data, b.length));
	run_loop(fx);
}

static struct answer post(struct fixture *fx, const char *path,
			  const char *json)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(8 << 20);

	write_post(&b, path, "", json);
	return ask_bytes(fx, b.data, b.length);
}

static void an_execution_answers_when_it_is_over(void **state)
{
	struct fixture *fx = *state;
	_cleanup_close_ int fd = client_connect(fx);

	send_exec(fx, fd, "{\"code\":\"print(1)\"}");
	assert_int_equal(fx->core->execs, 1);
	assert_string_equal(fx->core->code, "print(1)");
	fake_core_output(fx->core, false, "1\n\xff\0", 4);
	run_loop(fx);
	fake_core_done(fx->core, EXEC_OK);
	_answer_ struct answer a = client_read(fx, fd);
	assert_int_equal(a.status, 200);
	assert_string_equal(
		a.body,
		"{\"id\":\"exec_1\",\"object\":\"container.execution\","
		"\"container_id\":\"cntr_1\",\"status\":\"ok\","
		"\"stdout\":\"1\\n\xef\xbf\xbd\\u0000\",\"stderr\":\"\","
		"\"truncated\":{\"stdout\":false,\"stderr\":false,"
		"\"total_bytes\":0,\"omitted_bytes\":0},\"results\":[],"
		"\"error\":null,\"artifacts\":[],\"skipped\":[],\"skipped_count\":0,"
		"\"execution_count\":3,\"kernel_epoch\":1,"
		"\"state_lost\":false,\"trace_id\":null,"
		"\"created_at\":1790000000,"
		"\"duration_ms\":0,\"cpu_ms\":0,\"peak_memory_bytes\":0}");
	assert_string_equal(answer_header(&a, "Cupola-Idle-Expires-At"),
			    "1790001200");
}

#define TRACE_ID "0af7651916cd43dd8448eb211c80319c"
#define TRACE "00-" TRACE_ID "-b7ad6b7169203331-01"

/* What is said about the trace in @extra, if anything. */
static void trace_becomes(struct fixture *fx, const char *extra,
			  const char *passed_on, const char *told)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(1 << 20);

	write_post(&b, EXEC_PATH, extra,
		   "{\"code\":\"1\",\"background\":true}");
	_answer_ struct answer a = ask_bytes(fx, b.data, b.length);
	assert_int_equal(a.status, 202);
	assert_string_equal(fx->core->trace.parent, passed_on);
	assert_non_null(strstr(a.body, told));
}

static void a_trace_goes_to_core_and_a_bad_one_counts_as_none(void **state)
{
	struct fixture *fx = *state;

	trace_becomes(fx, "traceparent: " TRACE "\r\n", TRACE,
		      "\"trace_id\":\"" TRACE_ID "\"");
	trace_becomes(fx, "Traceparent: 00-1-2-01\r\n", "",
		      "\"trace_id\":null");
	trace_becomes(fx, "", "", "\"trace_id\":null");
}

static void output_may_be_asked_for_as_base64(void **state)
{
	struct fixture *fx = *state;
	_cleanup_close_ int fd = client_connect(fx);

	send_exec(fx, fd, "{\"code\":\"1\",\"encoding\":\"base64\"}");
	fake_core_output(fx->core, false, "\xff\xfe", 2);
	fake_core_done(fx->core, EXEC_OK);
	_answer_ struct answer a = client_read(fx, fd);
	assert_non_null(strstr(a.body, "\"stdout\":\"//4=\""));
	_answer_ struct answer again =
		ask(fx, "GET " RUN_PATH "?encoding=base64 HTTP/1.1\r\n" HOST
			AUTH "\r\n");
	assert_string_equal(again.body, a.body);
}

static void fields_are_checked_and_never_clamped(void **state)
{
	static const struct {
		const char *json;
		const char *param;
		const char *code;
	} bodies[] = {
		{ "", "code", "missing_required_parameter" },
		{ "{}", "code", "missing_required_parameter" },
		{ "{\"code\":\"\"}", "code", "string_below_min_length" },
		{ "{\"code\":1}", "code", "invalid_type" },
		{ "{\"code\":\"1\",\"timeout_s\":0}", "timeout_s",
		  "decimal_below_min_value" },
		{ "{\"code\":\"1\",\"timeout_s\":-1}", "timeout_s",
		  "decimal_below_min_value" },
		{ "{\"code\":\"1\",\"timeout_s\":300.5}", "timeout_s",
		  "decimal_above_max_value" },
		{ "{\"code\":\"1\",\"timeout_s\":1e300}", "timeout_s", NULL },
		{ "{\"code\":\"1\",\"timeout_s\":\"5\"}", "timeout_s",
		  "invalid_type" },
		{ "{\"code\":\"1\",\"stdin\":5}", "stdin", "invalid_type" },
		{ "{\"code\":\"1\",\"encoding\":\"latin-1\"}", "encoding",
		  "invalid_value" },
		{ "{\"code\":\"1\",\"stream\":true,\"background\":true}",
		  "background", NULL },
		{ "{\"code\":\"1\",\"surprise\":1}", "surprise",
		  "unknown_parameter" },
	};
	struct fixture *fx = *state;
	char text[96];
	size_t i;

	for (i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		_answer_ struct answer a = post(fx, EXEC_PATH, bodies[i].json);

		assert_int_equal(a.status, 400);
		snprintf(text, sizeof(text), "\"param\":\"%s\"",
			 bodies[i].param);
		assert_non_null(strstr(a.body, text));
		snprintf(text, sizeof(text), "\"code\":\"%s\"",
			 bodies[i].code ? bodies[i].code : "");
		if (bodies[i].code)
			assert_non_null(strstr(a.body, text));
	}
	assert_int_equal(fx->core->execs, 0);
}

static void code_of_the_greatest_length_runs(void **state)
{
	struct fixture *fx = *state;
	_cleanup_(buf_done) struct buf json = BUF_INIT(1 << 20);
	size_t extra, i;

	for (extra = 0; extra < 2; extra++) {
		buf_clear(&json);
		buf_add_str(&json, "{\"background\":true,\"code\":\"");
		for (i = 0; i < CORE_CODE_MAX + extra; i++)
			buf_add_byte(&json, 'x');
		buf_add_str(&json, "\"}");
		_answer_ struct answer a = post(fx, EXEC_PATH, buf_str(&json));
		assert_int_equal(a.status, extra ? 400 : 202);
	}
	assert_int_equal(fx->core->code_len, CORE_CODE_MAX);
}

static void a_nul_in_the_code_reaches_the_guest(void **state)
{
	struct fixture *fx = *state;
	_answer_ struct answer a =
		post(fx, EXEC_PATH,
		     "{\"background\":true,\"code\":\"a\\u0000b\"}");

	assert_int_equal(a.status, 202);
	assert_int_equal(fx->core->code_len, 3);
}

static void refusals_carry_their_reason(void **state)
{
	struct fixture *fx = *state;
	_answer_ struct answer busy =
		post(fx, EXEC_PATH, "{\"code\":\"busy\"}");
	_answer_ struct answer expired =
		post(fx, "/v1/containers/" FAKE_EXPIRED "/exec",
		     "{\"code\":\"1\"}");
	_answer_ struct answer unknown =
		post(fx, "/v1/containers/cntr_no/exec", "{\"code\":\"1\"}");

	assert_int_equal(busy.status, 409);
	assert_string_equal(answer_header(&busy, "Retry-After"), "1");
	assert_non_null(strstr(busy.body, "\"code\":\"container_busy\""));
	assert_int_equal(expired.status, 404);
	assert_non_null(strstr(expired.body, "\"code\":\"container_expired\""));
	assert_int_equal(unknown.status, 404);
	assert_non_null(strstr(unknown.body, "\"code\":null"));
}

static void in_the_background_it_answers_at_once(void **state)
{
	struct fixture *fx = *state;
	_answer_ struct answer a =
		post(fx, EXEC_PATH,
		     "{\"code\":\"1\",\"background\":true,\"timeout_s\":0.5}");
	_answer_ struct answer running =
		ask(fx, "GET " RUN_PATH " HTTP/1.1\r\n" HOST AUTH "\r\n");
	_answer_ struct answer stop =
		ask(fx, "POST " RUN_PATH "/interrupt HTTP/1.1\r\n" HOST AUTH
			"Content-Length: 0\r\n\r\n");
	_answer_ struct answer none =
		ask(fx, "GET /v1/containers/cntr_1/executions/exec_no "
			"HTTP/1.1\r\n" HOST AUTH "\r\n");

	assert_int_equal(a.status, 202);
	assert_non_null(strstr(a.body, "\"status\":\"running\""));
	assert_int_equal(fx->core->timeout_usec, 500000);
	assert_int_equal(running.status, 200);
	assert_int_equal(stop.status, 202);
	assert_int_equal(none.status, 404);
}

static void a_repeated_request_is_known_by_its_key(void **state)
{
	struct fixture *fx = *state;
	_cleanup_(buf_done) struct buf b = BUF_INIT(65536);
	_cleanup_(buf_done) struct buf empty = BUF_INIT(65536);

	write_post(&b, EXEC_PATH, "Idempotency-Key: k-1\r\n",
		   "{\"code\":\"1\",\"background\":true}");
	_answer_ struct answer a = ask_bytes(fx, b.data, b.length);
	assert_int_equal(a.status, 202);
	assert_string_equal(fx->core->key, "k-1");
	write_post(&empty, EXEC_PATH, "Idempotency-Key:\r\n",
		   "{\"code\":\"1\",\"background\":true}");
	_answer_ struct answer bad = ask_bytes(fx, empty.data, empty.length);
	assert_int_equal(bad.status, 400);
}

/* ----------------------------------------------------------------- streamed */

static void events_come_as_they_happen(void **state)
{
	struct fixture *fx = *state;
	_cleanup_close_ int fd = client_connect(fx);
	_cleanup_(buf_done) struct buf got = BUF_INIT(1 << 20);
	const char *next = "GET /healthz HTTP/1.1\r\n" HOST "\r\n";

	send_exec(fx, fd, "{\"code\":\"1\",\"stream\":true}");
	assert_true(client_read_until(
		fx, fd, &got,
		"id: 1\nevent: execution.started\ndata: {\"id\":\"exec_1\","));
	assert_non_null(strstr(buf_str(&got),
			       "Content-Type: text/event-stream; "
			       "charset=utf-8\r\n"));
	fake_core_output(fx->core, false, "a\n\r\xff", 4);
	assert_true(client_read_until(
		fx, fd, &got,
		"id: 2\nevent: execution.output\ndata: {\"stream\":\"stdout\","
		"\"data\":\"a\\n\\r\xef\xbf\xbd\"}\n\n"));
	fake_core_output(fx->core, true, "b", 1);
	assert_true(client_read_until(fx, fd, &got, "\"stderr\""));
	fake_core_done(fx->core, EXEC_KERNEL_DIED);
	assert_true(client_read_until(fx, fd, &got, "\r\n0\r\n\r\n"));
	assert_non_null(strstr(buf_str(&got),
			       "id: 4\nevent: execution.done\ndata: "
			       "{\"id\":\"exec_1\""));
	assert_non_null(strstr(buf_str(&got), "\"kernel_died\",\"truncated\""));
	/* And the connection goes on. */
	assert_true(client_send(fx, fd, next, strlen(next)));
	assert_true(client_read_until(fx, fd, &got, "\"ok\""));
}

static void a_stream_is_taken_up_again(void **state)
{
	struct fixture *fx = *state;
	_cleanup_close_ int fd = client_connect(fx);

	send_exec(fx, fd, "{\"code\":\"1\",\"background\":true}");
	fake_core_output(fx->core, false, "first", 5);
	fake_core_output(fx->core, false, "second", 6);
	fake_core_done(fx->core, EXEC_OK);
	_answer_ struct answer a =
		ask(fx, "GET " RUN_PATH "/events?after=2 HTTP/1.1\r\n" HOST
			AUTH "\r\n");
	assert_null(strstr(a.body, "first"));
	assert_non_null(strstr(a.body, "second"));
	assert_non_null(strstr(a.body, "execution.done"));
	_answer_ struct answer end =
		ask(fx, "GET " RUN_PATH "/events?after=4 HTTP/1.1\r\n" HOST
			AUTH "\r\n");
	assert_int_equal(end.status, 200);
	assert_string_equal(end.body, "0\r\n\r\n");
	_answer_ struct answer bad =
		ask(fx, "GET " RUN_PATH "/events?after=x HTTP/1.1\r\n" HOST
			AUTH "\r\n");
	assert_int_equal(bad.status, 400);
	/* Not a byte that could be taken for another answer's. */
	_answer_ struct answer head =
		ask(fx, "HEAD " RUN_PATH "/events HTTP/1.1\r\n" HOST AUTH
			"\r\n");
	assert_int_equal(head.status, 200);
	assert_true(head.closed);
	assert_int_equal(head.length, 0);
}

/* As a browser's EventSource does by itself. */
static void a_stream_is_taken_up_behind_the_last_event_id(void **state)
{
	struct fixture *fx = *state;
	_cleanup_close_ int fd = client_connect(fx);

	send_exec(fx, fd, "{\"code\":\"1\",\"background\":true}");
	fake_core_output(fx->core, false, "first", 5);
	fake_core_output(fx->core, false, "second", 6);
	fake_core_done(fx->core, EXEC_OK);
	_answer_ struct answer a =
		ask(fx, "GET " RUN_PATH "/events HTTP/1.1\r\n" HOST AUTH
			"Last-Event-ID: 2\r\n\r\n");
	assert_null(strstr(a.body, "first"));
	assert_non_null(strstr(a.body, "second"));
	/* What the URL says goes first: it was written for this request. */
	_answer_ struct answer both =
		ask(fx, "GET " RUN_PATH "/events?after=0 HTTP/1.1\r\n" HOST
			AUTH "Last-Event-ID: 2\r\n\r\n");
	assert_non_null(strstr(both.body, "first"));
	_answer_ struct answer bad =
		ask(fx, "GET " RUN_PATH "/events HTTP/1.1\r\n" HOST AUTH
			"Last-Event-ID: x\r\n\r\n");
	assert_int_equal(bad.status, 400);
}

static void a_reader_that_leaves_is_noticed(void **state)
{
	struct fixture *fx = *state;
	_cleanup_close_ int stream = client_connect(fx);
	_cleanup_(buf_done) struct buf got = BUF_INIT(1 << 20);

	send_exec(fx, stream, "{\"code\":\"1\",\"stream\":true}");
	assert_true(client_read_until(fx, stream, &got, "execution.started"));
	assert_int_equal(fx->core->watches, 1);
	close_fd(&stream);
	run_loop(fx);
	assert_int_equal(fx->core->watches, 0);
	assert_int_equal(api_connections(fx->api), 0);
}

static void a_caller_that_leaves_is_noticed(void **state)
{
	struct fixture *fx = *state;
	_cleanup_close_ int fd = client_connect(fx);

	send_exec(fx, fd, "{\"code\":\"1\"}");
	assert_int_equal(fx->core->watches, 1);
	close_fd(&fd);
	run_loop(fx);
	assert_int_equal(fx->core->watches, 0);
	assert_int_equal(api_connections(fx->api), 0);
}

/* Core calls back for a request whose client has left meanwhile. */
static void a_late_callback_finds_nobody(void **state)
{
	static const char *const bodies[] = {
		"{\"code\":\"1\"}", "{\"code\":\"1\",\"stream\":true}",
		"{\"code\":\"1\",\"background\":true}",
	};
	struct fixture *fx = *state;
	size_t i;

	for (i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		_cleanup_close_ int fd = client_connect(fx);

		fx->core->hold_accept = true;
		send_exec(fx, fd, bodies[i]);
		close_fd(&fd);
		run_loop(fx);
		assert_int_equal(api_connections(fx->api), 0);
		fake_core_accept(fx->core);
		run_loop(fx);
		assert_int_equal(fx->core->watches, 0);
	}
}

static void much_output_goes_through_a_narrow_reader(void **state)
{
	struct fixture *fx = *state;
	_cleanup_close_ int fd = client_connect(fx);
	_cleanup_(buf_done) struct buf got = BUF_INIT(64 << 20);
	static char block[16 << 10];
	int i;

	memset(block, 'x', sizeof(block));
	send_exec(fx, fd, "{\"code\":\"1\",\"stream\":true}");
	for (i = 0; i < 1000; i++)
		fake_core_output(fx->core, false, block, sizeof(block));
	run_loop(fx);
	fake_core_done(fx->core, EXEC_OK);
	assert_true(client_read_until(fx, fd, &got, "execution.done"));
	assert_true(got.length > 1000 * sizeof(block));
}

int main(void)
{
#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(an_execution_answers_when_it_is_over),
		TEST(a_trace_goes_to_core_and_a_bad_one_counts_as_none),
		TEST(output_may_be_asked_for_as_base64),
		TEST(fields_are_checked_and_never_clamped),
		TEST(code_of_the_greatest_length_runs),
		TEST(a_nul_in_the_code_reaches_the_guest),
		TEST(refusals_carry_their_reason),
		TEST(in_the_background_it_answers_at_once),
		TEST(a_repeated_request_is_known_by_its_key),
		TEST(events_come_as_they_happen),
		TEST(a_stream_is_taken_up_again),
		TEST(a_stream_is_taken_up_behind_the_last_event_id),
		TEST(a_reader_that_leaves_is_noticed),
		TEST(a_caller_that_leaves_is_noticed),
		TEST(a_late_callback_finds_nobody),
		TEST(much_output_goes_through_a_narrow_reader),
	};

	return RUN_TESTS(tests);
}
