/* SPDX-License-Identifier: Apache-2.0 */
#include "hostile.h"

#include <sys/socket.h>

/* Guests that withhold, flood, hang up and come back: what that may cost. */

/* Of one execution: both streams, results, a frame under way, and the rest. */
#define EXEC_STREAM_BYTES (WIRE_HEAD_MAX + WIRE_TAIL_MAX)
#define GUEST_MEMORY_MAX (8u << 20)

static void half_a_frame_is_waited_for_ten_seconds(void **state)
{
	struct fixture *fx = *state;
	struct session s = hostile_running(fx);

	s.g->no_pong = true;
	guest_say_raw(s.g, "\x04", 1);
	fixture_settle(fx);
	clock_advance(fx->clock, 9 * USEC_PER_SEC);
	fixture_settle(fx);
	assert_int_equal(fixture_container(fx, s.c).state,
			 SESSION_VIEW_EXECUTING);
	clock_advance(fx->clock, 2 * USEC_PER_SEC);
	hostile_ends(fx, &s, "guest_unresponsive");
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

static void a_byte_a_second_is_half_a_frame_all_the_same(void **state)
{
	struct fixture *fx = *state;
	struct session s = hostile_running(fx);
	uint8_t header[sizeof(struct wire_header)];
	unsigned i;

	s.g->no_pong = true; /* which would be taken for the rest of it */
	frame_put_header(header, WIRE_OUTPUT, 1, 300);
	for (i = 0; i < 10; i++) {
		assert_int_equal(fixture_container(fx, s.c).state,
				 SESSION_VIEW_EXECUTING);
		guest_say_raw(s.g, header + i, 1);
		fixture_settle(fx);
		clock_advance(fx->clock, USEC_PER_SEC);
	}
	hostile_ends(fx, &s, "guest_unresponsive");
}

static void a_recorded_proof_is_worthless(void **state)
{
	struct fixture *fx = *state;
	struct session s = hostile_running(fx);

	s.g->replays_proof = true;
	guest_hang_up(s.g);
	fixture_settle(fx);
	clock_advance(fx->clock, 200 * USEC_PER_MSEC);
	fixture_settle(fx);
	assert_int_equal(s.g->links, 1);
	s.g->replays_proof = false;
	clock_advance(fx->clock, 200 * USEC_PER_MSEC);
	RUN_UNTIL(fx, s.g->links == 2);
	hostile_is_unharmed(fx, &s);
}

static void each_ping_is_answered_once(void **state)
{
	struct fixture *fx = *state;
	struct session s = hostile_running(fx);
	struct message_ping pong = { .sequence = 1 };
	uint8_t frame[64];
	ssize_t n;

	clock_advance(fx->clock, 5 * USEC_PER_SEC);
	RUN_UNTIL(fx, s.g->pings == 1);
	fixture_settle(fx);
	n = message_encode_ping(frame, sizeof(frame), WIRE_PONG, &pong);
	assert_true(n > 0);
	guest_say_raw(s.g, frame, (size_t)n);
	hostile_ends(fx, &s, "guest_protocol_error");
}

static void an_answer_to_no_ping_is_refused(void **state)
{
	struct session s = hostile_running(*state);
	struct message_ping pong = { .sequence = 1 };
	uint8_t frame[64];
	ssize_t n = message_encode_ping(frame, sizeof(frame), WIRE_PONG, &pong);

	assert_true(n > 0);
	guest_say_raw(s.g, frame, (size_t)n);
	hostile_ends(*state, &s, "guest_protocol_error");
}

static void answered_pings_are_no_activity(void **state)
{
	struct fixture *fx = *state;
	struct scripted_guest *g;
	char c[ID_SIZE];
	unsigned i;

	fixture_start(fx);
	g = fixture_session(fx, c);
	for (i = 0; i < 20 * 12 && g->quiesces == 0; i++) {
		clock_advance(fx->clock, 5 * USEC_PER_SEC);
		while (sd_event_run(fx->event, USEC_PER_MSEC) > 0)
			;
	}
	assert_true(g->pings > 200);
	RUN_UNTIL(fx, g->quiesces == 1);
}

static void whoever_hangs_up_is_dialled_ten_times_a_second_at_most(void **state)
{
	struct fixture *fx = *state;
	struct session s = hostile_running(fx);
	unsigned dials = fx->vmd.dials, i;

	s.g->hangs_up = true;
	guest_hang_up(s.g);
	for (i = 0; i < 100; i++) {
		while (sd_event_run(fx->event, USEC_PER_MSEC) > 0)
			;
		clock_advance(fx->clock, 10 * USEC_PER_MSEC);
	}
	assert_in_range(fx->vmd.dials - dials, 5, 11);
	clock_advance(fx->clock, 30 * USEC_PER_SEC);
	s.g->hangs_up = false;
	hostile_ends(fx, &s, "guest_unresponsive");
}

static void half_open_connections_are_made_anew_and_none_is_left(void **state)
{
	struct fixture *fx = *state;
	struct session s = hostile_running(fx);
	unsigned before, i;

	fixture_settle(fx);
	before = hostile_descriptors();
	for (i = 0; i < 300; i++) {
		unsigned links = s.g->links;

		if (i % 3 == 0)
			guest_shutdown(s.g, SHUT_WR);
		else if (i % 3 == 1)
			guest_shutdown(s.g, SHUT_RDWR);
		else
			guest_say_raw(s.g, "\x04", 1);
		if (i % 3 == 2)
			guest_hang_up(s.g);
		while (s.g->links == links) {
			clock_advance(fx->clock, 20 * USEC_PER_MSEC);
			(void)sd_event_run(fx->event, USEC_PER_MSEC);
		}
	}
	fixture_settle(fx);
	assert_in_range(hostile_descriptors(), before - 2, before + 2);
	hostile_is_unharmed(fx, &s);
}

static void one_half_that_cannot_be_written_to_is_no_link(void **state)
{
	struct fixture *fx = *state;
	struct session s = hostile_running(fx);

	guest_shutdown(s.g, SHUT_RD);
	clock_advance(fx->clock, 5 * USEC_PER_SEC);
	fixture_settle(fx);
	clock_advance(fx->clock, 200 * USEC_PER_MSEC);
	RUN_UNTIL(fx, s.g->links == 2);
	hostile_is_unharmed(fx, &s);
}

static char *much_code(size_t size)
{
	char *code = malloc(size + 1);

	assert_non_null(code);
	memset(code, '#', size);
	code[size] = '\0';
	return code;
}

static void a_guest_that_reads_nothing_is_unresponsive(void **state)
{
	struct fixture *fx = *state;
	char *code = much_code(CORE_CODE_MAX);
	struct session s;

	fixture_start(fx);
	s.g = fixture_session(fx, s.c);
	s.g->deaf = true;
	fixture_exec(fx, s.c, code, s.e);
	free(code);
	fixture_settle(fx);
	clock_advance(fx->clock, 9 * USEC_PER_SEC);
	fixture_settle(fx);
	assert_int_equal(fixture_container(fx, s.c).state,
			 SESSION_VIEW_EXECUTING);
	clock_advance(fx->clock, 2 * USEC_PER_SEC);
	hostile_ends(fx, &s, "guest_unresponsive");
}

static void deleting_waits_for_no_guest(void **state)
{
	struct fixture *fx = *state;
	char *code = much_code(CORE_CODE_MAX);
	struct answer a = { .called = false };
	struct session s;

	fixture_start(fx);
	s.g = fixture_session(fx, s.c);
	s.g->deaf = true;
	fixture_exec(fx, s.c, code, s.e);
	free(code);
	assert_int_equal(core_container_delete(fx->core, &fx->who, s.c, on_done,
					       &a, &a.err),
			 0);
	RUN_UNTIL(fx, a.called && vmd_running(&fx->vmd) == 0);
	assert_false(a.failed);
}

/* What the guest may say of one execution at most, and a flood of it. */
static void fill_up(struct fixture *fx, const struct session *s)
{
	char *chunk = much_code(WIRE_CHUNK_MAX);
	unsigned i;

	for (i = 0; i < EXEC_STREAM_BYTES / WIRE_CHUNK_MAX; i++) {
		guest_say_output(s->g, 1, WIRE_STDOUT,
				 (uint64_t)i * WIRE_CHUNK_MAX, chunk);
		guest_say_output(s->g, 1, WIRE_STDERR,
				 (uint64_t)i * WIRE_CHUNK_MAX, chunk);
		fixture_turn(fx);
	}
	memset(chunk, 0xff, WIRE_DISPLAY_DATA_MAX / 2);
	chunk[WIRE_DISPLAY_DATA_MAX / 2] = '\0';
	for (i = 0; i < 2 * WIRE_DISPLAY_MAX / WIRE_DISPLAY_DATA_MAX; i++) {
		guest_say_display(s->g, 1, i, i, "text/plain", chunk, false);
		fixture_turn(fx);
	}
	free(chunk);
	/* And half of a frame as large as may be. */
	hostile_frame_begin(s->g, WIRE_DISPLAY, 1, WIRE_PAYLOAD_MAX - 1);
}

static void many_slow_guests_cost_little_and_harm_nobody(void **state)
{
	enum { SLOW = 12 };
	struct fixture *fx = *state;
	struct session good = hostile_running(fx), slow[SLOW];
	size_t before;
	unsigned i;

	for (i = 0; i < SLOW; i++)
		slow[i] = hostile_another(fx);
	fixture_settle(fx);
	before = hostile_memory();
	for (i = 0; i < SLOW; i++)
		fill_up(fx, &slow[i]);
	fixture_settle(fx);
	assert_in_range(hostile_memory() - before, 0, SLOW * GUEST_MEMORY_MAX);
	guest_finish(good.g, WIRE_STATUS_OK, 0);
	fixture_wait_exec(fx, good.c, good.e, EXEC_OK);

	clock_advance(fx->clock, 10 * USEC_PER_SEC);
	for (i = 0; i < SLOW; i++) {
		fixture_wait_state(fx, slow[i].c, SESSION_VIEW_ENDED);
		assert_string_equal(
			fixture_container(fx, slow[i].c).ended_reason,
			"guest_unresponsive");
	}
	fixture_exec(fx, good.c, "z", good.e);
	RUN_UNTIL(fx, good.g->execs == 2);
	hostile_is_unharmed(fx, &good);
}

/* Whatever is legal, in any order: from a seed, so that it can be repeated. */
static void say_anything(struct session *s, unsigned *seed)
{
	uint32_t call = rand_r(seed) % 8 ? s->g->call : s->g->call + 1;
	uint64_t offset = (uint64_t)(rand_r(seed) % 4) * 10;

	switch (rand_r(seed) % 12) {
	case 0:
		guest_say_error(s->g, call, "E", "v");
		break;
	case 1:
		guest_say_changed(s->g, call, "a", 1, WIRE_SKIP_NONE);
		break;
	case 2:
		guest_finish(s->g, WIRE_STATUS_OK, rand_r(seed) % 2);
		break;
	case 3:
		guest_say_quiesced(s->g, 0);
		break;
	case 4:
	case 5:
		guest_say_display(s->g, call, (uint32_t)offset,
				  (uint32_t)offset, "text/plain", "x",
				  rand_r(seed) % 2);
		break;
	default:
		guest_say_output(s->g, call,
				 (enum wire_stream)(offset / 10 % 2), offset,
				 "0123456789");
	}
}

static void frames_in_any_order_end_one_session_at_most(void **state)
{
	struct fixture *fx = *state;
	struct session good = hostile_running(fx), s;
	struct answer a;
	unsigned round, i;

	for (round = 0; round < 30; round++) {
		unsigned seed = round;

		s = hostile_another(fx);
		s.g->quiesce_call = 0x80000001u;
		for (i = 0; i < 1 + round; i++)
			say_anything(&s, &seed);
		for (i = 0; i < 5; i++)
			fixture_turn(fx);
		if (fixture_container(fx, s.c).state != SESSION_VIEW_ENDED) {
			a.called = false;
			assert_int_equal(
				core_container_delete(fx->core, &fx->who, s.c,
						      on_done, &a, &a.err),
				0);
			RUN_UNTIL(fx, a.called);
		} else {
			assert_string_equal(
				fixture_container(fx, s.c).ended_reason,
				"guest_protocol_error");
		}
		RUN_UNTIL(fx, vmd_running(&fx->vmd) == 1);
	}
	hostile_is_unharmed(fx, &good);
}

int main(void)
{
#define TEST(f) \
	cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(half_a_frame_is_waited_for_ten_seconds),
		TEST(whoever_cannot_prove_itself_is_not_the_guest),
		TEST(a_byte_a_second_is_half_a_frame_all_the_same),
		TEST(a_recorded_proof_is_worthless),
		TEST(each_ping_is_answered_once),
		TEST(an_answer_to_no_ping_is_refused),
		TEST(answered_pings_are_no_activity),
		TEST(whoever_hangs_up_is_dialled_ten_times_a_second_at_most),
		TEST(half_open_connections_are_made_anew_and_none_is_left),
		TEST(one_half_that_cannot_be_written_to_is_no_link),
		TEST(a_guest_that_reads_nothing_is_unresponsive),
		TEST(deleting_waits_for_no_guest),
		TEST(many_slow_guests_cost_little_and_harm_nobody),
		TEST(frames_in_any_order_end_one_session_at_most),
	};

	return RUN_TESTS(tests);
}
