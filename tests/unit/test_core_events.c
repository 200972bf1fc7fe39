/* SPDX-License-Identifier: Apache-2.0 */
/* What the operator is told of sessions, and drains. */

#include "core_fixture.h"

#include "base/cleanup.h"
#include "core/core_admin.h"

/* A reader, and the event that it had last. */
struct reader {
	struct core_events *events;
	unsigned wakes;
	uint64_t id;
	enum core_event_type type;
	char text[1024];
};

static void on_wake(void *userdata)
{
	struct reader *r = userdata;

	r->wakes++;
}

static void follow_from(struct fixture *fx, struct reader *r, bool resume,
			uint64_t after)
{
	const struct core_events_spec spec = {
		.resume = resume,
		.after = after,
		.wake = on_wake,
		.userdata = r,
	};
	struct error err = ERROR_INIT;

	*r = (struct reader){ .wakes = 0 };
	assert_int_equal(core_events_new(fx->core, &spec, &r->events, &err), 0);
}

static void follow(struct fixture *fx, struct reader *r)
{
	follow_from(fx, r, false, 0);
}

static bool had_next(struct reader *r)
{
	_cleanup_(buf_done) struct buf json = BUF_INIT(sizeof(r->text) - 1);
	int n = core_events_next(r->events, &r->id, &r->type, &json);

	assert_true(n >= 0);
	if (n > 0)
		(void)snprintf(r->text, sizeof(r->text), "%s", buf_str(&json));
	return n > 0;
}

/* The next one, which must be of this type and say this. */
static void expect(struct fixture *fx, struct reader *r,
		   enum core_event_type type, const char *says)
{
	RUN_UNTIL(fx, had_next(r));
	assert_string_equal(core_event_name(r->type), core_event_name(type));
	if (!strstr(r->text, says))
		fail_msg("'%s' lacks '%s'", r->text, says);
}

/* The guest does not answer for its last files: so long they are waited for. */
static void let_harvest_pass(struct fixture *fx)
{
	fixture_settle(fx);
	clock_advance(fx->clock, 10 * USEC_PER_SEC);
}

static void a_session_is_told_of_from_begin_to_end(void **state)
{
	struct fixture *fx = *state;
	struct answer a = { .called = false };
	struct reader r;
	char c[ID_SIZE];

	fixture_start(fx);
	follow(fx, &r);
	assert_false(had_next(&r));
	(void)fixture_session(fx, c);
	assert_int_equal(r.wakes, 1);
	expect(fx, &r, CORE_EVENT_SESSION_OPENED, c);
	assert_non_null(strstr(r.text, "\"tenant\":\"default\""));
	assert_non_null(strstr(r.text, "\"vm\":\"vm_"));
	assert_int_equal(core_admin_kill(fx->core, c, on_done, &a, &a.err), 0);
	expect(fx, &r, CORE_EVENT_SESSION_ENDED, "\"reason\":\"operator\"");
	assert_false(had_next(&r));
	core_events_free(r.events);
}

static void an_idle_session_is_warned_of_once_until_it_is_used(void **state)
{
	struct fixture *fx = *state;
	struct reader r;
	struct container_view view;
	struct error err = ERROR_INIT;
	char c[ID_SIZE];

	fixture_start(fx);
	(void)fixture_session(fx, c);
	follow(fx, &r);
	clock_advance(fx->clock, 15 * USEC_PER_MINUTE - USEC_PER_SEC);
	fixture_settle(fx);
	assert_false(had_next(&r));
	clock_advance(fx->clock, USEC_PER_SEC);
	expect(fx, &r, CORE_EVENT_SESSION_WARNING,
	       "\"reason\":\"idle_timeout\",\"ends_at\":");
	clock_advance(fx->clock, 4 * USEC_PER_MINUTE);
	fixture_settle(fx);
	assert_false(had_next(&r));

	/* Used, it is warned of again, at the later time. */
	assert_int_equal(core_container_get(fx->core, &fx->who, c, true, &view,
					    &err),
			 0);
	clock_advance(fx->clock, 14 * USEC_PER_MINUTE);
	fixture_settle(fx);
	assert_false(had_next(&r));
	clock_advance(fx->clock, USEC_PER_MINUTE);
	expect(fx, &r, CORE_EVENT_SESSION_WARNING, "idle_timeout");
	clock_advance(fx->clock, 5 * USEC_PER_MINUTE);
	let_harvest_pass(fx);
	expect(fx, &r, CORE_EVENT_SESSION_ENDED, "idle_timeout");
	core_events_free(r.events);
}

static void the_longest_life_is_warned_of_while_code_runs(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE], e[ID_SIZE];
	struct reader r;

	(void)fixture_running(fx, "x", c, e);
	follow(fx, &r);
	clock_advance(fx->clock, 55 * USEC_PER_MINUTE);
	expect(fx, &r, CORE_EVENT_SESSION_WARNING, "hard_limit");
	clock_advance(fx->clock, 5 * USEC_PER_MINUTE);
	let_harvest_pass(fx);
	expect(fx, &r, CORE_EVENT_SESSION_ENDED, "hard_limit");
	core_events_free(r.events);
}

static void a_limit_as_short_as_its_warning_has_none(void **state)
{
	struct fixture *fx = *state;
	struct reader r;
	char c[ID_SIZE];

	fixture_set(fx, "session.warning=1200");
	fixture_start(fx);
	(void)fixture_session(fx, c);
	follow(fx, &r);
	clock_advance(fx->clock, 19 * USEC_PER_MINUTE);
	fixture_settle(fx);
	assert_false(had_next(&r));
	clock_advance(fx->clock, USEC_PER_MINUTE);
	let_harvest_pass(fx);
	expect(fx, &r, CORE_EVENT_SESSION_ENDED, "idle_timeout");
	core_events_free(r.events);
}

static void a_vm_that_fails_is_told_of_with_the_reason(void **state)
{
	struct fixture *fx = *state;
	struct reader r;
	char c[ID_SIZE];

	fixture_start(fx);
	(void)fixture_session(fx, c);
	follow(fx, &r);
	vmd_vm_gone(&fx->vmd, fixture_vm(fx, c), VMD_REASON_PANICKED);
	expect(fx, &r, CORE_EVENT_VM_FAILED, "\"reason\":\"guest_panic\"");
	assert_non_null(strstr(r.text, c));
	expect(fx, &r, CORE_EVENT_SESSION_ENDED, "guest_panic");
	assert_false(had_next(&r));
	core_events_free(r.events);
}

/* Each step of a drain is an event. */
static void make_events(struct fixture *fx, unsigned count)
{
	unsigned i;

	for (i = 0; i < count; i++) {
		struct answer a = { .called = false };

		assert_int_equal(core_admin_drain(fx->core, USEC_INFINITY,
						  on_json, &a, &a.err),
				 0);
		RUN_UNTIL(fx, a.called);
	}
}

static void a_slow_reader_is_told_that_it_lost_events(void **state)
{
	struct fixture *fx = *state;
	struct reader r;
	uint64_t first;
	unsigned i;

	fixture_start(fx);
	follow(fx, &r);
	assert_false(had_next(&r));
	make_events(fx, CORE_EVENTS_KEPT + 10);
	assert_int_equal(r.wakes, 1);
	expect(fx, &r, CORE_EVENT_GAP, "lost");
	first = r.id;
	for (i = 0; i < CORE_EVENTS_KEPT; i++)
		expect(fx, &r, CORE_EVENT_DRAIN, "drained");
	assert_true(r.id == first + CORE_EVENTS_KEPT);
	assert_false(had_next(&r));
	core_events_free(r.events);
}

static void a_reader_of_an_earlier_daemon_goes_on(void **state)
{
	struct fixture *fx = *state;
	struct reader r;
	uint64_t last;

	fixture_start(fx);
	follow(fx, &r);
	make_events(fx, 2);
	expect(fx, &r, CORE_EVENT_DRAIN, "");
	last = r.id;
	core_events_free(r.events);
	follow_from(fx, &r, true, last);
	expect(fx, &r, CORE_EVENT_DRAIN, "");
	assert_true(r.id == last + 1);
	core_events_free(r.events);

	/* What the other kept is gone with it, and the ids go on. */
	clock_advance(fx->clock, USEC_PER_SEC);
	fixture_kill(fx);
	fixture_start(fx);
	follow_from(fx, &r, true, last + 1);
	expect(fx, &r, CORE_EVENT_GAP, "lost");
	assert_true(r.id > last);
	core_events_free(r.events);
}

static void readers_have_a_limit(void **state)
{
	const struct core_events_spec spec = { .wake = on_wake };
	struct fixture *fx = *state;
	struct reader r[CORE_EVENT_READERS_MAX];
	struct error err = ERROR_INIT;
	struct core_events *more;
	unsigned i;

	fixture_start(fx);
	for (i = 0; i < CORE_EVENT_READERS_MAX; i++)
		follow(fx, &r[i]);
	assert_true(core_events_new(fx->core, &spec, &more, &err) < 0);
	assert_int_equal(err.code, ERR_LIMIT);
	for (i = 0; i < CORE_EVENT_READERS_MAX; i++)
		core_events_free(r[i].events);
}

/* ------------------------------------------------------------------- drains */

static void the_end_of_the_last_session_is_told(void **state)
{
	struct fixture *fx = *state;
	struct answer a = { .called = false };
	struct reader r;
	char c[ID_SIZE];

	fixture_start(fx);
	(void)fixture_session(fx, c);
	follow(fx, &r);
	make_events(fx, 1);
	expect(fx, &r, CORE_EVENT_DRAIN, "\"message\":\"draining\"");
	assert_int_equal(core_admin_kill(fx->core, c, on_done, &a, &a.err), 0);
	expect(fx, &r, CORE_EVENT_SESSION_ENDED, "operator");
	expect(fx, &r, CORE_EVENT_DRAIN,
	       "\"sessions\":0,\"message\":\"drained\"");
	core_events_free(r.events);
}

static void on_stopped(void *userdata)
{
	*(bool *)userdata = true;
}

static void the_end_of_the_daemon_lets_code_finish(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE], e[ID_SIZE], idle[ID_SIZE];
	struct answer a = { .called = false };
	const struct exec_spec spec = { .code = "x", .code_len = 1,
					.stdin_data = "" };
	struct scripted_guest *g;
	bool stopped = false;

	g = fixture_running(fx, "x", c, e);
	(void)fixture_session(fx, idle);
	core_stop(fx->core, CORE_STOP_END, on_stopped, &stopped);
	assert_true(fixture_container(fx, idle).expired);
	assert_int_equal(fixture_container(fx, c).state,
			 SESSION_VIEW_EXECUTING);
	assert_true(core_exec_start(fx->core, &fx->who, c, &spec, on_exec, &a,
				    &a.err) < 0);
	assert_int_equal(a.err.code, ERR_CAPACITY);
	guest_finish(g, WIRE_STATUS_OK, 0);
	fixture_wait_exec(fx, c, e, EXEC_OK);
	RUN_UNTIL(fx, fixture_container(fx, c).expired);
	let_harvest_pass(fx);
	RUN_UNTIL(fx, stopped);
}

static void the_end_of_the_daemon_is_not_held_up_for_ever(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE], e[ID_SIZE];
	bool stopped = false;

	(void)fixture_running(fx, "x", c, e);
	core_stop(fx->core, CORE_STOP_END, on_stopped, &stopped);
	clock_advance(fx->clock, 29 * USEC_PER_SEC);
	fixture_settle(fx);
	assert_int_equal(fixture_container(fx, c).state,
			 SESSION_VIEW_EXECUTING);
	clock_advance(fx->clock, USEC_PER_SEC);
	fixture_wait_exec(fx, c, e, EXEC_SESSION_LOST);
	assert_string_equal(fixture_exec_view(fx, c, e).error_name, "drained");
}

static void who_asks_twice_for_the_end_gets_it_at_once(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE], e[ID_SIZE];
	bool stopped = false;

	(void)fixture_running(fx, "x", c, e);
	core_stop(fx->core, CORE_STOP_END, on_stopped, &stopped);
	core_stop_at_once(fx->core);
	fixture_wait_exec(fx, c, e, EXEC_SESSION_LOST);
	let_harvest_pass(fx);
	RUN_UNTIL(fx, stopped);
}

int main(void)
{
#define TEST(f) \
	cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_session_is_told_of_from_begin_to_end),
		TEST(an_idle_session_is_warned_of_once_until_it_is_used),
		TEST(the_longest_life_is_warned_of_while_code_runs),
		TEST(a_limit_as_short_as_its_warning_has_none),
		TEST(a_vm_that_fails_is_told_of_with_the_reason),
		TEST(a_slow_reader_is_told_that_it_lost_events),
		TEST(a_reader_of_an_earlier_daemon_goes_on),
		TEST(readers_have_a_limit),
		TEST(the_end_of_the_last_session_is_told),
		TEST(the_end_of_the_daemon_lets_code_finish),
		TEST(the_end_of_the_daemon_is_not_held_up_for_ever),
		TEST(who_asks_twice_for_the_end_gets_it_at_once),
	};

	return RUN_TESTS(tests);
}
