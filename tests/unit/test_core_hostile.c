/* SPDX-License-Identifier: Apache-2.0 */
#include "core_fixture.h"

/* Guests that break rules: each ends its own session, and says why. */

struct session {
	struct scripted_guest *g;
	char c[ID_SIZE];
	char e[ID_SIZE];
};

static struct session running(struct fixture *fx)
{
	struct session s;

	s.g = fixture_running(fx, "x", s.c, s.e);
	return s;
}

static void ends_with(struct fixture *fx, const struct session *s,
		      const char *reason)
{
	char c[ID_SIZE], e[ID_SIZE];
	struct scripted_guest *g;

	fixture_wait_state(fx, s->c, SESSION_VIEW_ENDED);
	assert_string_equal(fixture_container(fx, s->c).ended_reason, reason);
	assert_int_equal(fixture_exec_view(fx, s->c, s->e).status,
			 EXEC_SESSION_LOST);
	assert_int_equal(vmd_running(&fx->vmd), 0);

	/* Others are unharmed. */
	g = fixture_session(fx, c);
	fixture_exec(fx, c, "y", e);
	RUN_UNTIL(fx, g->execs == 1);
	guest_finish(g, WIRE_STATUS_OK, 0);
	fixture_wait_exec(fx, c, e, EXEC_OK);
}

static void the_daemons_own_messages_are_refused(void **state)
{
	struct session s = running(*state);
	uint8_t frame[sizeof(struct wire_header)];

	frame_put_header(frame, WIRE_RELEASE, 1, 0);
	guest_say_raw(s.g, frame, sizeof(frame));
	ends_with(*state, &s, "guest_protocol_error");
}

static void an_oversized_frame_is_refused_before_it_arrives(void **state)
{
	struct session s = running(*state);
	uint8_t frame[sizeof(struct wire_header)];

	frame_put_header(frame, WIRE_OUTPUT, 1, 0);
	frame[2] = 0xff;
	frame[3] = 0x7f;
	guest_say_raw(s.g, frame, sizeof(frame));
	ends_with(*state, &s, "guest_protocol_error");
}

static void a_malformed_message_is_refused(void **state)
{
	struct session s = running(*state);
	uint8_t frame[sizeof(struct wire_header) + 3] = { 0 };

	frame_put_header(frame, WIRE_DONE, 1, 3);
	guest_say_raw(s.g, frame, sizeof(frame));
	ends_with(*state, &s, "guest_protocol_error");
}

static void a_result_too_many_is_refused(void **state)
{
	struct session s = running(*state);
	uint32_t i;

	for (i = 0; i < WIRE_DISPLAY_ITEMS_MAX; i++)
		guest_say_display(s.g, s.g->call, i, i, "text/plain", "x",
				  false);
	fixture_settle(*state);
	assert_int_equal(fixture_container(*state, s.c).state,
			 SESSION_VIEW_EXECUTING);
	guest_say_display(s.g, s.g->call, i, i, "text/plain", "x", false);
	ends_with(*state, &s, "guest_protocol_error");
}

static void results_that_are_not_utf8_are_no_more_than_they_are(void **state)
{
	struct session s = running(*state);
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

static void a_second_hello_is_out_of_turn(void **state)
{
	struct session s = running(*state);
	const struct message_hello hello = {
		.version = WIRE_VERSION,
		.build = { (const uint8_t *)"x", 1 },
		.kernel_epoch = 1,
	};
	uint8_t frame[1024];
	ssize_t n = message_encode_hello(frame, sizeof(frame), 0, &hello);

	assert_true(n > 0);
	guest_say_raw(s.g, frame, (size_t)n);
	ends_with(*state, &s, "guest_protocol_error");
}

static void an_execution_that_does_not_run_cannot_end(void **state)
{
	struct session s = running(*state);

	s.g->call = 99;
	guest_finish(s.g, WIRE_STATUS_OK, 0);
	ends_with(*state, &s, "guest_protocol_error");
}

static void an_answer_to_no_question_is_refused(void **state)
{
	struct session s = running(*state);
	const struct message_result result = { .status = WIRE_FILE_OK };
	uint8_t frame[64];
	ssize_t n = message_encode_result(frame, sizeof(frame), 0x80000001u,
					  &result);

	assert_true(n > 0);
	guest_say_raw(s.g, frame, (size_t)n);
	ends_with(*state, &s, "guest_protocol_error");
}

static void output_may_not_go_back(void **state)
{
	struct session s = running(*state);

	guest_say_output(s.g, 1, WIRE_STDOUT, 100, "abc");
	guest_say_output(s.g, 1, WIRE_STDOUT, 50, "abc");
	ends_with(*state, &s, "guest_protocol_error");
}

static void output_beyond_the_cap_is_refused(void **state)
{
	struct session s = running(*state);
	char *chunk = malloc(WIRE_CHUNK_MAX + 1);
	unsigned i;

	assert_non_null(chunk);
	memset(chunk, 'x', WIRE_CHUNK_MAX);
	chunk[WIRE_CHUNK_MAX] = '\0';
	for (i = 0; i < 9; i++)
		guest_say_output(s.g, 1, WIRE_STDOUT,
				 (uint64_t)i * WIRE_CHUNK_MAX, chunk);
	free(chunk);
	ends_with(*state, &s, "guest_protocol_error");
}

static void the_number_of_changed_files_must_be_true(void **state)
{
	struct session s = running(*state);

	guest_say_changed(s.g, 1, "a", 1, WIRE_SKIP_NONE);
	guest_finish(s.g, WIRE_STATUS_OK, 2);
	ends_with(*state, &s, "guest_protocol_error");
}

static void too_many_changed_files_are_refused(void **state)
{
	struct session s = running(*state);
	char name[16];
	unsigned i;

	for (i = 0; i <= WIRE_CHANGED_MAX; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		guest_say_changed(s.g, 1, name, 1, WIRE_SKIP_SPECIAL);
	}
	ends_with(*state, &s, "guest_protocol_error");
}

/* An execution is over, and its one file is to be fetched. */
static void finish_with_file(struct session *s)
{
	guest_write(s->g, "a", "1", 1);
	guest_say_changed(s->g, 1, "a", 1, WIRE_SKIP_NONE);
	guest_finish(s->g, WIRE_STATUS_OK, 1);
}

static void ends_without_the_file(struct fixture *fx, const struct session *s,
				  const char *reason)
{
	fixture_wait_state(fx, s->c, SESSION_VIEW_ENDED);
	assert_string_equal(fixture_container(fx, s->c).ended_reason, reason);
	/* The execution itself was over: that is known. */
	assert_int_equal(fixture_exec_view(fx, s->c, s->e).status, EXEC_OK);
	assert_int_equal(fixture_exec_view(fx, s->c, s->e).skipped_count, 1);
}

static void a_file_with_a_wrong_digest_ends_the_session(void **state)
{
	struct session s = running(*state);

	s.g->wrong_digest = true;
	finish_with_file(&s);
	ends_without_the_file(*state, &s, "guest_protocol_error");
}

static void a_file_that_begins_twice_ends_the_session(void **state)
{
	struct session s = running(*state);

	s.g->file_twice = true;
	finish_with_file(&s);
	ends_without_the_file(*state, &s, "guest_protocol_error");
}

static void a_guest_cannot_be_busy_once_a_file_has_begun(void **state)
{
	struct session s = running(*state);

	s.g->busy_late = true;
	finish_with_file(&s);
	ends_without_the_file(*state, &s, "guest_protocol_error");
	assert_int_equal(s.g->gets, 1);
}

static void a_file_that_does_not_end_is_waited_for_a_minute(void **state)
{
	struct fixture *fx = *state;
	struct session s = running(fx);

	s.g->no_end = true;
	finish_with_file(&s);
	RUN_UNTIL(fx, s.g->gets == 1);
	fixture_settle(fx);
	clock_advance(fx->clock, 59 * USEC_PER_SEC);
	fixture_settle(fx);
	assert_int_equal(fixture_container(fx, s.c).state,
			 SESSION_VIEW_EXECUTING);
	clock_advance(fx->clock, 2 * USEC_PER_SEC);
	ends_without_the_file(fx, &s, "guest_unresponsive");
}

static void half_a_frame_is_waited_for_ten_seconds(void **state)
{
	struct fixture *fx = *state;
	struct session s = running(fx);

	s.g->no_pong = true;
	guest_say_raw(s.g, "\x04", 1);
	fixture_settle(fx);
	clock_advance(fx->clock, 9 * USEC_PER_SEC);
	fixture_settle(fx);
	assert_int_equal(fixture_container(fx, s.c).state,
			 SESSION_VIEW_EXECUTING);
	clock_advance(fx->clock, 2 * USEC_PER_SEC);
	ends_with(fx, &s, "guest_unresponsive");
}

static void whoever_cannot_prove_itself_is_not_the_guest(void **state)
{
	struct fixture *fx = *state;
	struct answer a;
	int i;

	fixture_start(fx);
	fx->vmd.mute_guests = true;
	fixture_create(fx, NULL, 0, &a);
	RUN_UNTIL(fx, fx->vmd.dials == 1);
	fx->vmd.vms[0].guest->wrong_proof = true;
	fx->vmd.vms[0].guest->mute = false;
	guest_hang_up(fx->vmd.vms[0].guest);
	for (i = 0; i < 5; i++) {
		clock_advance(fx->clock, 200 * USEC_PER_MSEC);
		fixture_settle(fx);
	}
	/* It is dialled again, and never becomes the guest. */
	assert_true(fx->vmd.dials > 2);
	assert_int_equal(fx->vmd.vms[0].guest->links, 0);
	assert_int_equal(fixture_container(fx, a.id).state,
			 SESSION_VIEW_BOOTING);
	fx->vmd.vms[0].guest->wrong_proof = false;
	clock_advance(fx->clock, 200 * USEC_PER_MSEC);
	fixture_wait_state(fx, a.id, SESSION_VIEW_RUNNING);
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
		TEST(a_second_hello_is_out_of_turn),
		TEST(an_execution_that_does_not_run_cannot_end),
		TEST(an_answer_to_no_question_is_refused),
		TEST(output_may_not_go_back),
		TEST(output_beyond_the_cap_is_refused),
		TEST(the_number_of_changed_files_must_be_true),
		TEST(too_many_changed_files_are_refused),
		TEST(a_file_with_a_wrong_digest_ends_the_session),
		TEST(a_file_that_begins_twice_ends_the_session),
		TEST(a_guest_cannot_be_busy_once_a_file_has_begun),
		TEST(a_file_that_does_not_end_is_waited_for_a_minute),
		TEST(half_a_frame_is_waited_for_ten_seconds),
		TEST(whoever_cannot_prove_itself_is_not_the_guest),
	};

	return RUN_TESTS(tests);
}
