/* SPDX-License-Identifier: Apache-2.0 */
#include "hostile.h"

/* Guests that break rules: each ends its own session, and says why. */

static void the_daemons_own_messages_are_refused(void **state)
{
	struct session s = hostile_running(*state);
	uint8_t frame[sizeof(struct wire_header)];

	frame_put_header(frame, WIRE_RELEASE, 1, 0);
	guest_say_raw(s.g, frame, sizeof(frame));
	hostile_ends(*state, &s, "guest_protocol_error");
}

static void an_oversized_frame_is_refused_before_it_arrives(void **state)
{
	struct session s = hostile_running(*state);
	uint8_t frame[sizeof(struct wire_header)];

	frame_put_header(frame, WIRE_OUTPUT, 1, 0);
	frame[2] = 0xff;
	frame[3] = 0x7f;
	guest_say_raw(s.g, frame, sizeof(frame));
	hostile_ends(*state, &s, "guest_protocol_error");
}

static void a_malformed_message_is_refused(void **state)
{
	struct session s = hostile_running(*state);
	uint8_t frame[sizeof(struct wire_header) + 3] = { 0 };

	frame_put_header(frame, WIRE_DONE, 1, 3);
	guest_say_raw(s.g, frame, sizeof(frame));
	hostile_ends(*state, &s, "guest_protocol_error");
}

static void a_result_too_many_is_refused(void **state)
{
	struct session s = hostile_running(*state);
	uint32_t i;

	for (i = 0; i < WIRE_DISPLAY_ITEMS_MAX; i++)
		guest_say_display(s.g, s.g->call, i, i, "text/plain", "x",
				  false);
	fixture_settle(*state);
	assert_int_equal(fixture_container(*state, s.c).state,
			 SESSION_VIEW_EXECUTING);
	guest_say_display(s.g, s.g->call, i, i, "text/plain", "x", false);
	hostile_ends(*state, &s, "guest_protocol_error");
}

static void results_that_are_not_utf8_are_no_more_than_they_are(void **state)
{
	struct session s = hostile_running(*state);
	struct fixture *fx = *state;
	char data[WIRE_DISPLAY_DATA_MAX];
	uint32_t i;

	memset(data, 0xff, sizeof(data) - 1);
	data[sizeof(data) - 1] = '\0';
	for (i = 0; i < 5; i++)
		guest_say_display(s.g, s.g->call, i, i, "text/plain", data,
				  false);
	guest_finish(s.g, WIRE_STATUS_OK, 0);
	fixture_wait_exec(fx, s.c, s.e, EXEC_OK);
	assert_int_equal(fixture_exec_view(fx, s.c, s.e).result_count, 5);
}

static void a_chunk_of_exactly_the_limit_is_taken_and_no_more(void **state)
{
	struct session s = hostile_running(*state);
	uint8_t *payload = calloc(1, 9 + WIRE_CHUNK_MAX + 1);

	/* Stream 0, offset 0, and zeros. */
	assert_non_null(payload);
	hostile_frame(s.g, WIRE_OUTPUT, 1, payload, 9 + WIRE_CHUNK_MAX);
	RUN_UNTIL((struct fixture *)*state,
		  fixture_exec_view(*state, s.c, s.e).out_len ==
			  WIRE_CHUNK_MAX);
	payload[4] = 1; /* offset 16 MiB */
	hostile_frame(s.g, WIRE_OUTPUT, 1, payload, 9 + WIRE_CHUNK_MAX + 1);
	free(payload);
	hostile_ends(*state, &s, "guest_protocol_error");
}

static void output_of_nothing_is_refused(void **state)
{
	struct session s = hostile_running(*state);

	hostile_frame(s.g, WIRE_OUTPUT, 1, "\0\0\0\0\0\0\0\0\0", 9);
	hostile_ends(*state, &s, "guest_protocol_error");
}

static void an_unknown_type_is_not_ignored(void **state)
{
	struct session s = hostile_running(*state);

	hostile_frame(s.g, (enum wire_type)0x02ff, 1, "{}", 2);
	hostile_ends(*state, &s, "guest_protocol_error");
}

static void an_unknown_flag_is_not_ignored(void **state)
{
	struct session s = hostile_running(*state);

	/* DISPLAY: flags, item, bundle, "text/plain", "x" */
	hostile_frame(s.g, WIRE_DISPLAY, 1,
		      "\x80\0\0\0\0\0\0\0\0\x0atext/plainx", 21);
	hostile_ends(*state, &s, "guest_protocol_error");
}

static void one_guest_cannot_end_anothers_execution(void **state)
{
	struct fixture *fx = *state;
	struct session s = hostile_running(fx), other = hostile_another(fx);
	char e[ID_SIZE];

	/* Calls are numbered per guest: to the first, 1 is over. */
	guest_finish(s.g, WIRE_STATUS_OK, 0);
	fixture_wait_exec(fx, s.c, s.e, EXEC_OK);
	fixture_exec(fx, s.c, "z", e);
	RUN_UNTIL(fx, s.g->execs == 2);
	assert_int_equal(other.g->call, 1);
	s.g->call = 1;
	guest_finish(s.g, WIRE_STATUS_ERROR, 0);
	fixture_wait_state(fx, s.c, SESSION_VIEW_ENDED);
	assert_string_equal(fixture_container(fx, s.c).ended_reason,
			    "guest_protocol_error");
	hostile_is_unharmed(fx, &other);
}

static void a_second_end_changes_nothing(void **state)
{
	struct fixture *fx = *state;
	struct session s = hostile_running(fx);

	guest_finish(s.g, WIRE_STATUS_OK, 0);
	guest_finish(s.g, WIRE_STATUS_ERROR, 0);
	guest_say_output(s.g, 1, WIRE_STDOUT, 0, "late");
	fixture_wait_state(fx, s.c, SESSION_VIEW_ENDED);
	assert_string_equal(fixture_container(fx, s.c).ended_reason,
			    "guest_protocol_error");
	assert_int_equal(fixture_exec_view(fx, s.c, s.e).status, EXEC_OK);
	assert_int_equal(fixture_exec_view(fx, s.c, s.e).out_len, 0);
}

static void an_error_told_twice_is_refused(void **state)
{
	struct session s = hostile_running(*state);

	guest_say_error(s.g, 1, "ValueError", "1");
	guest_say_error(s.g, 1, "ValueError", "2");
	hostile_ends(*state, &s, "guest_protocol_error");
}

static void error_text_is_data(void **state)
{
	struct fixture *fx = *state;
	struct session s = hostile_running(fx);
	const char *text = "%s%n\x1b]0;x\x07\n{\"level\":\"info\"}\xff";

	guest_say_error(s.g, 1, "%s%s%n", text);
	guest_finish(s.g, WIRE_STATUS_ERROR, 0);
	fixture_wait_exec(fx, s.c, s.e, EXEC_ERROR);
	assert_string_equal(fixture_exec_view(fx, s.c, s.e).error_name,
			    "%s%s%n");
	assert_string_equal(
		fixture_exec_view(fx, s.c, s.e).error_value,
		"%s%n\x1b]0;x\x07\n{\"level\":\"info\"}\xef\xbf\xbd");
}

static void numbers_beyond_reason_are_refused(void **state)
{
	struct session s = hostile_running(*state);
	const struct message_done done = {
		.execution_count = 1,
		.kernel_epoch = 1,
		.memory_peak_bytes = 1ull << 63,
	};

	guest_say_done(s.g, 1, &done);
	hostile_ends(*state, &s, "guest_protocol_error");
}

static void a_duration_is_no_longer_than_the_hosts_clock_says(void **state)
{
	struct fixture *fx = *state;
	struct session s = hostile_running(fx);
	const struct message_done done = {
		.execution_count = 1,
		.kernel_epoch = 1,
		.wall_usec = WIRE_NUMBER_MAX,
	};

	clock_advance(fx->clock, 3 * USEC_PER_SEC);
	guest_say_done(s.g, 1, &done);
	fixture_wait_exec(fx, s.c, s.e, EXEC_OK);
	assert_int_equal(fixture_exec_view(fx, s.c, s.e).duration_msec, 3000);
}

static void a_status_nobody_asked_for_is_refused(void **state)
{
	struct session s = hostile_running(*state);
	const struct message_status status = { .processes = 1 };
	uint8_t frame[128];
	ssize_t n = message_encode_status(frame, sizeof(frame), 0x80000001u,
					  &status);

	assert_true(n > 0);
	guest_say_raw(s.g, frame, (size_t)n);
	hostile_ends(*state, &s, "guest_protocol_error");
}

static void a_second_hello_is_out_of_turn(void **state)
{
	struct session s = hostile_running(*state);
	const struct message_hello hello = {
		.version = WIRE_VERSION,
		.build = { (const uint8_t *)"x", 1 },
		.kernel_epoch = 1,
	};
	uint8_t frame[1024];
	ssize_t n = message_encode_hello(frame, sizeof(frame), 0, &hello);

	assert_true(n > 0);
	guest_say_raw(s.g, frame, (size_t)n);
	hostile_ends(*state, &s, "guest_protocol_error");
}

static void an_execution_that_does_not_run_cannot_end(void **state)
{
	struct session s = hostile_running(*state);

	s.g->call = 99;
	guest_finish(s.g, WIRE_STATUS_OK, 0);
	hostile_ends(*state, &s, "guest_protocol_error");
}

static void an_answer_to_no_question_is_refused(void **state)
{
	struct session s = hostile_running(*state);
	const struct message_result result = { .status = WIRE_FILE_OK };
	uint8_t frame[64];
	ssize_t n = message_encode_result(frame, sizeof(frame), 0x80000001u,
					  &result);

	assert_true(n > 0);
	guest_say_raw(s.g, frame, (size_t)n);
	hostile_ends(*state, &s, "guest_protocol_error");
}

static void output_may_not_go_back(void **state)
{
	struct session s = hostile_running(*state);

	guest_say_output(s.g, 1, WIRE_STDOUT, 100, "abc");
	guest_say_output(s.g, 1, WIRE_STDOUT, 50, "abc");
	hostile_ends(*state, &s, "guest_protocol_error");
}

static void output_beyond_the_cap_is_refused(void **state)
{
	struct session s = hostile_running(*state);
	char *chunk = malloc(WIRE_CHUNK_MAX + 1);
	unsigned i;

	assert_non_null(chunk);
	memset(chunk, 'x', WIRE_CHUNK_MAX);
	chunk[WIRE_CHUNK_MAX] = '\0';
	for (i = 0; i < 9; i++)
		guest_say_output(s.g, 1, WIRE_STDOUT,
				 (uint64_t)i * WIRE_CHUNK_MAX, chunk);
	free(chunk);
	hostile_ends(*state, &s, "guest_protocol_error");
}

int main(void)
{
#define TEST(f) \
	cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(the_daemons_own_messages_are_refused),
		TEST(an_oversized_frame_is_refused_before_it_arrives),
		TEST(a_malformed_message_is_refused),
		TEST(a_result_too_many_is_refused),
		TEST(results_that_are_not_utf8_are_no_more_than_they_are),
		TEST(a_chunk_of_exactly_the_limit_is_taken_and_no_more),
		TEST(output_of_nothing_is_refused),
		TEST(an_unknown_type_is_not_ignored),
		TEST(an_unknown_flag_is_not_ignored),
		TEST(one_guest_cannot_end_anothers_execution),
		TEST(a_second_end_changes_nothing),
		TEST(an_error_told_twice_is_refused),
		TEST(error_text_is_data),
		TEST(numbers_beyond_reason_are_refused),
		TEST(a_duration_is_no_longer_than_the_hosts_clock_says),
		TEST(a_status_nobody_asked_for_is_refused),
		TEST(a_second_hello_is_out_of_turn),
		TEST(an_execution_that_does_not_run_cannot_end),
		TEST(an_answer_to_no_question_is_refused),
		TEST(output_may_not_go_back),
		TEST(output_beyond_the_cap_is_refused),
	};

	return RUN_TESTS(tests);
}
