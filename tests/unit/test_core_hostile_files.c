/* SPDX-License-Identifier: Apache-2.0 */
#include "hostile.h"

#include <errno.h>

#include "base/cleanup.h"

/* Guests that lie about their files, or give them badly. */

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

static void the_number_of_changed_files_must_be_true(void **state)
{
	struct session s = hostile_running(*state);

	guest_say_changed(s.g, 1, "a", 1, WIRE_SKIP_NONE);
	guest_finish(s.g, WIRE_STATUS_OK, 2);
	hostile_ends(*state, &s, "guest_protocol_error");
}

static void too_many_changed_files_are_refused(void **state)
{
	struct session s = hostile_running(*state);
	char name[16];
	unsigned i;

	for (i = 0; i <= WIRE_CHANGED_MAX; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		guest_say_changed(s.g, 1, name, 1, WIRE_SKIP_SPECIAL);
	}
	hostile_ends(*state, &s, "guest_protocol_error");
}

static void a_file_with_a_wrong_digest_ends_the_session(void **state)
{
	struct session s = hostile_running(*state);

	s.g->wrong_digest = true;
	finish_with_file(&s);
	ends_without_the_file(*state, &s, "guest_protocol_error");
}

static void a_file_that_begins_twice_ends_the_session(void **state)
{
	struct session s = hostile_running(*state);

	s.g->file_twice = true;
	finish_with_file(&s);
	ends_without_the_file(*state, &s, "guest_protocol_error");
}

static void a_guest_cannot_be_busy_once_a_file_has_begun(void **state)
{
	struct session s = hostile_running(*state);

	s.g->busy_late = true;
	finish_with_file(&s);
	ends_without_the_file(*state, &s, "guest_protocol_error");
	assert_int_equal(s.g->gets, 1);
}

static void a_file_that_does_not_end_is_waited_for_a_minute(void **state)
{
	struct fixture *fx = *state;
	struct session s = hostile_running(fx);

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

/* Return: over how many connections it gave them */
static unsigned lines_of_twenty_files(struct fixture *fx, struct session *s)
{
	char name[16];
	unsigned i;

	for (i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		guest_write(s->g, name, name, strlen(name));
		guest_say_changed(s->g, 1, name, strlen(name), WIRE_SKIP_NONE);
	}
	guest_finish(s->g, WIRE_STATUS_OK, 20);
	fixture_wait_exec(fx, s->c, s->e, EXEC_OK);
	assert_int_equal(fixture_exec_view(fx, s->c, s->e).artifact_count, 20);
	return s->g->get_lines;
}

static void files_come_over_one_connection(void **state)
{
	struct session s = hostile_running(*state);

	assert_int_equal(lines_of_twenty_files(*state, &s), 1);
}

static void one_file_over_each_connection_will_do(void **state)
{
	struct session s = hostile_running(*state);

	s.g->one_file_each = true;
	assert_int_equal(lines_of_twenty_files(*state, &s), 20);
}

static void paths_that_lead_out_are_refused(void **state)
{
	static const char *const bad[] = {
		"../../etc/cron.d/x",
		"/etc/passwd",
		"a/../../b",
		".",
		"..",
		"a//b",
	};
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const struct message_changed_entry entry = {
			.size = 1,
			.name = { (const uint8_t *)bad[i], strlen(bad[i]) },
		};
		uint8_t entries[64] = { 1 };
		struct message_changed m;
		ssize_t n;
		struct frame f = { .type = WIRE_CHANGED, .payload = entries };

		n = message_changed_add(entries + 2, sizeof(entries) - 2,
					&entry);
		assert_true(n > 0);
		f.length = 2 + (size_t)n;
		assert_int_equal(message_decode_changed(&f, &m), -EPROTO);
		if (i > 0)
			continue;
		{
			struct session s = hostile_running(*state);

			hostile_frame(s.g, WIRE_CHANGED, 1, entries, f.length);
			hostile_ends(*state, &s, "guest_protocol_error");
		}
	}
}

/* Files said to be empty that are not: the limits are for what comes. */
static void sizes_in_the_list_are_only_the_guests_word(void **state)
{
	const size_t size = 512 * 1024;
	struct fixture *fx = *state;
	struct exec_view v;
	struct session s;
	char *data, name[8];
	unsigned i;

	fixture_set(fx, "store.quota=2M");
	s = hostile_running(fx);
	data = calloc(1, size);
	assert_non_null(data);
	for (i = 0; i < 6; i++) {
		(void)snprintf(name, sizeof(name), "f%u", i);
		guest_write(s.g, name, data, size);
		guest_say_changed(s.g, 1, name, 0, WIRE_SKIP_NONE);
	}
	free(data);
	guest_finish(s.g, WIRE_STATUS_OK, 6);
	fixture_wait_exec(fx, s.c, s.e, EXEC_OK);
	v = fixture_exec_view(fx, s.c, s.e);
	assert_int_equal(v.artifact_count, 4);
	assert_int_equal(v.skipped_count, 2);
	assert_string_equal(v.skipped[0].reason, "quota");
	assert_int_equal(v.skipped[0].bytes, size);
}

static void a_file_nobody_asked_for_is_refused(void **state)
{
	struct session s = hostile_running(*state);
	const struct message_file file = { .status = WIRE_FILE_OK, .size = 1 };
	uint8_t frame[64];
	ssize_t n = message_encode_file(frame, sizeof(frame), 0, &file);

	assert_true(n > 0);
	guest_say_raw(s.g, frame, (size_t)n);
	hostile_ends(*state, &s, "guest_protocol_error");
}

/* Each byte is something, so silence is none: the whole must come in time. */
static void a_file_that_trickles_does_not_keep_its_session(void **state)
{
	struct fixture *fx = *state;
	struct session s = hostile_running(fx);
	const struct message_file file = { .size = 60000 };
	_cleanup_(buf_done) struct buf bulk = BUF_INIT(1024);
	uint8_t frame[64];
	unsigned i;

	buf_add(&bulk, frame,
		(size_t)message_encode_file(frame, sizeof(frame), 0, &file));
	s.g->bulk = &bulk;
	guest_say_changed(s.g, 1, "a", 60000, WIRE_SKIP_NONE);
	guest_finish(s.g, WIRE_STATUS_OK, 1);
	RUN_UNTIL(fx, s.g->gets == 1);
	for (i = 0; i < 7; i++) {
		const struct message_data byte = { { (const uint8_t *)"x",
						     1 } };

		guest_say_bulk(s.g, frame,
			       (size_t)message_encode_data(frame, sizeof(frame),
							   WIRE_DATA, 0,
							   &byte));
		fixture_settle(fx);
		clock_advance(fx->clock, 50 * USEC_PER_SEC);
		fixture_settle(fx);
	}
	ends_without_the_file(fx, &s, "guest_unresponsive");
}

static void the_last_harvest_lasts_ten_seconds_at_most(void **state)
{
	struct fixture *fx = *state;
	struct session s[3];
	unsigned i;

	fixture_start(fx);
	for (i = 0; i < 3; i++)
		s[i].g = fixture_session(fx, s[i].c);
	clock_advance(fx->clock, 20 * USEC_PER_MINUTE);
	RUN_UNTIL(fx,
		  s[0].g->quiesces + s[1].g->quiesces + s[2].g->quiesces == 3);
	/* One says nothing, one gives no end, one lists what it does not. */
	s[1].g->no_end = true;
	guest_write(s[1].g, "a", "1", 1);
	guest_say_changed(s[1].g, s[1].g->quiesce_call, "a", 1, WIRE_SKIP_NONE);
	guest_say_quiesced(s[1].g, 1);
	guest_say_quiesced(s[2].g, 7);
	RUN_UNTIL(fx, s[1].g->gets == 1);
	fixture_settle(fx);
	assert_int_equal(fixture_container(fx, s[0].c).state,
			 SESSION_VIEW_STOPPING);
	clock_advance(fx->clock, 10 * USEC_PER_SEC);
	for (i = 0; i < 3; i++) {
		fixture_wait_state(fx, s[i].c, SESSION_VIEW_ENDED);
		assert_string_equal(fixture_container(fx, s[i].c).ended_reason,
				    "idle_timeout");
	}
	assert_int_equal(vmd_running(&fx->vmd), 0);
}

int main(void)
{
#define TEST(f) \
	cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(the_number_of_changed_files_must_be_true),
		TEST(too_many_changed_files_are_refused),
		TEST(a_file_with_a_wrong_digest_ends_the_session),
		TEST(a_file_that_begins_twice_ends_the_session),
		TEST(a_guest_cannot_be_busy_once_a_file_has_begun),
		TEST(a_file_that_does_not_end_is_waited_for_a_minute),
		TEST(files_come_over_one_connection),
		TEST(one_file_over_each_connection_will_do),
		TEST(paths_that_lead_out_are_refused),
		TEST(sizes_in_the_list_are_only_the_guests_word),
		TEST(a_file_nobody_asked_for_is_refused),
		TEST(a_file_that_trickles_does_not_keep_its_session),
		TEST(the_last_harvest_lasts_ten_seconds_at_most),
	};

	return RUN_TESTS(tests);
}
