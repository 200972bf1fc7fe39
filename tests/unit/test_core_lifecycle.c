/* SPDX-License-Identifier: Apache-2.0 */
/* What comes at the wrong moment in the life of a session. */

#include "core_fixture.h"

#include <errno.h>

#include "core/container.h"
#include "core/core_admin.h"
#include "core/core_exec.h"
#include "core/pool.h"
#include "core/pressure.h"
#include "core/reconcile.h"
#include "core/vm.h"

static void an_audit_ends_no_session_that_is_being_compared(void **state)
{
	struct fixture *fx = *state;
	struct answer a = { .called = false };
	unsigned lists;
	char c[ID_SIZE];

	fixture_start(fx);
	(void)fixture_session(fx, c);
	fx->vmd.hold_lists = true;
	lists = fx->vmd.lists;
	clock_advance(fx->clock, RECONCILE_USEC);
	RUN_UNTIL(fx, fx->vmd.lists == lists + 1);
	fixture_settle(fx);
	/* The items of the first list have come, its end has not. */
	fx->vmd.hold_lists = false;
	assert_int_equal(core_admin_audit(fx->core, on_json, &a, &a.err), 0);
	fixture_settle(fx);
	vmd_answer_list(&fx->vmd);
	RUN_UNTIL(fx, a.called);
	fixture_settle(fx);
	assert_int_equal(fixture_container(fx, c).state, SESSION_VIEW_RUNNING);
	assert_non_null(strstr(a.text, "\"differences\":[]"));
}

static void start_with_key(struct fixture *fx, const char *container,
			   struct answer *ret)
{
	const struct exec_spec spec = {
		.code = "x",
		.code_len = 1,
		.stdin_data = "",
		.idempotency = { .key = "k" },
	};

	*ret = (struct answer){ .called = false };
	if (core_exec_start(fx->core, &fx->who, container, &spec, on_exec, ret,
			    &ret->err) < 0)
		fail_msg("%s", ret->err.message);
}

static void an_execution_being_accepted_ends_with_its_session(void **state)
{
	struct fixture *fx = *state;
	struct answer a, killed = { .called = false };
	struct scripted_guest *g;
	char c[ID_SIZE], e[ID_SIZE];

	fixture_start(fx);
	g = fixture_session(fx, c);
	start_with_key(fx, c, &a);
	assert_int_equal(
		core_admin_kill(fx->core, c, on_done, &killed, &killed.err), 0);
	RUN_UNTIL(fx, a.called);
	assert_false(a.failed);
	strcpy(e, a.id);
	fixture_wait_state(fx, c, SESSION_VIEW_ENDED);
	fixture_settle(fx);
	assert_int_equal(g->execs, 0);
	assert_int_equal(fixture_exec_view(fx, c, e).status, EXEC_SESSION_LOST);
	assert_string_equal(fixture_exec_view(fx, c, e).error_name, "operator");

	/* Whoever got no answer asks again, and is told the same. */
	start_with_key(fx, c, &a);
	RUN_UNTIL(fx, a.called);
	assert_string_equal(a.id, e);
	fixture_kill(fx);
	fixture_start(fx);
	assert_int_equal(fixture_exec_view(fx, c, e).status, EXEC_SESSION_LOST);
}

static void a_destroy_that_fails_is_tried_with_growing_pauses(void **state)
{
	struct fixture *fx = *state;
	struct answer a = { .called = false };
	char c[ID_SIZE];

	fixture_start(fx);
	(void)fixture_session(fx, c);
	fx->vmd.fail_destroy = -EIO;
	assert_int_equal(core_admin_kill(fx->core, c, on_done, &a, &a.err), 0);
	RUN_UNTIL(fx, fx->vmd.destroys == 1);
	fixture_settle(fx);
	clock_advance(fx->clock, VM_DESTROY_RETRY_USEC);
	RUN_UNTIL(fx, fx->vmd.destroys == 2);
	fixture_settle(fx);
	clock_advance(fx->clock, VM_DESTROY_RETRY_USEC);
	fixture_settle(fx);
	assert_int_equal(fx->vmd.destroys, 2);
	assert_int_equal(fixture_container(fx, c).state, SESSION_VIEW_STOPPING);
	fx->vmd.fail_destroy = 0;
	clock_advance(fx->clock, VM_DESTROY_RETRY_USEC);
	fixture_wait_state(fx, c, SESSION_VIEW_ENDED);
	assert_int_equal(fx->vmd.destroys, 3);
}

static void a_smaller_host_takes_no_more_until_there_is_room(void **state)
{
	struct fixture *fx = *state;
	const struct container_spec spec = { .name = "x" };
	struct answer a = { .called = false };
	char c[ID_SIZE];

	fixture_start(fx);
	(void)fixture_session(fx, c);
	(void)fixture_session(fx, c);
	fixture_kill(fx);
	fixture_set(fx, "host.memory=1G");
	fixture_start(fx);
	assert_true(core_container_create(fx->core, &fx->who, &spec,
					  on_container, &a, &a.err) < 0);
	assert_int_equal(a.err.code, ERR_CAPACITY);
	assert_non_null(strstr(a.err.message, "2048 of 1024 MiB"));
}

static void a_vm_that_was_ready_for_long_is_replaced(void **state)
{
	struct fixture *fx = *state;

	fixture_set(fx, "pool.default.ready=1");
	fixture_set(fx, "pool.default.max_age=60");
	fixture_start(fx);
	RUN_UNTIL(fx, fx->vmd.count == 1 && fx->vmd.vms[0].guest->control);
	fixture_settle(fx);
	clock_advance(fx->clock, 59 * USEC_PER_SEC);
	fixture_settle(fx);
	assert_int_equal(fx->vmd.count, 1);
	clock_advance(fx->clock, USEC_PER_SEC);
	RUN_UNTIL(fx, fx->vmd.count == 2);
	assert_int_equal(fx->vmd.vms[0].state, VMD_STATE_GONE);
}

static void a_file_that_never_arrives_ends_its_session(void **state)
{
	struct fixture *fx = *state;
	const char *files[1];
	char file[ID_SIZE];
	struct answer a;
	unsigned i;

	fixture_start(fx);
	fixture_upload(fx, "f", "x", 1, file);
	files[0] = file;
	/* The link is made, and no connection for files. */
	fx->vmd.dials_max = 1;
	fixture_create(fx, files, 1, &a);
	RUN_UNTIL(fx, fx->vmd.dials == 2);
	fixture_settle(fx);
	for (i = 1; i < CONTAINER_PLACING_TRIES; i++) {
		assert_int_equal(fixture_container(fx, a.id).state,
				 SESSION_VIEW_BOOTING);
		clock_advance(fx->clock, RECONCILE_USEC);
		fixture_settle(fx);
	}
	fixture_wait_state(fx, a.id, SESSION_VIEW_ENDED);
	assert_string_equal(fixture_container(fx, a.id).ended_reason,
			    "guest_unresponsive");
	assert_int_equal(fx->vmd.dials, 1 + CONTAINER_PLACING_TRIES);
}

static void on_stopped(void *userdata)
{
	*(bool *)userdata = true;
}

enum { BURST = 200, ROOM = 20, QUEUE = 32 };

static size_t count_answers(const struct answer *a, bool failed)
{
	size_t i, n = 0;

	for (i = 0; i < BURST; i++)
		n += a[i].called && a[i].failed == failed;
	return n;
}

/* As the API asks: what is refused at once has its answer at once. */
static void burst(struct fixture *fx, struct answer *a)
{
	const struct container_spec spec = { .name = "x" };
	size_t i;

	for (i = 0; i < BURST; i++) {
		a[i] = (struct answer){ .called = false };
		if (core_container_create(fx->core, &fx->who, &spec,
					  on_container, &a[i], &a[i].err) < 0)
			a[i].called = a[i].failed = true;
	}
}

static void a_burst_is_served_queued_and_refused(void **state)
{
	struct fixture *fx = *state;
	struct answer *a = calloc(BURST, sizeof(*a));
	struct answer gone = { .called = false }, audit = { .called = false };

	assert_non_null(a);
	fixture_set(fx, "pool.default.max=20");
	fixture_set(fx, "host.memory=64G");
	fixture_set(fx, "session.max_per_tenant=300");
	fixture_set(fx, "session.queue=32");
	fixture_set(fx, "session.queue_wait=10");
	fixture_start(fx);
	burst(fx, a);
	assert_int_equal(count_answers(a, true), BURST - ROOM - QUEUE);
	assert_int_equal(a[BURST - 1].err.code, ERR_CAPACITY);
	assert_non_null(strstr(a[BURST - 1].err.message, "32 creates wait"));
	RUN_UNTIL(fx, count_answers(a, false) == ROOM);

	/* Those who wait are no difference between ledger and host. */
	fixture_settle(fx);
	assert_int_equal(
		core_admin_audit(fx->core, on_json, &audit, &audit.err), 0);
	RUN_UNTIL(fx, audit.called);
	assert_non_null(strstr(audit.text, "\"differences\":[]"));

	/* What ends makes room for the first that waits. */
	assert_int_equal(core_container_delete(fx->core, &fx->who, a[0].id,
					       on_done, &gone, &gone.err),
			 0);
	RUN_UNTIL(fx, gone.called && a[ROOM].called);
	assert_false(a[ROOM].failed);
	assert_int_equal(count_answers(a, false), ROOM + 1);

	clock_advance(fx->clock, 10 * USEC_PER_SEC);
	RUN_UNTIL(fx, count_answers(a, true) == BURST - ROOM - 1);
	assert_non_null(strstr(a[ROOM + 1].err.message, "within 10 s: 20 of"));
	fixture_settle(fx);
	assert_int_equal(vmd_running(&fx->vmd), ROOM);
	free(a);
}

static void who_waits_is_refused_when_the_daemon_stops(void **state)
{
	struct fixture *fx = *state;
	const struct container_spec spec = { .name = "x" };
	struct answer a, b = { .called = false };
	bool stopped = false;

	fixture_set(fx, "pool.default.max=1");
	fixture_set(fx, "session.queue=1");
	fixture_start(fx);
	fixture_create(fx, NULL, 0, &a);
	assert_int_equal(core_container_create(fx->core, &fx->who, &spec,
					       on_container, &b, &b.err),
			 0);
	core_stop(fx->core, CORE_STOP_END, on_stopped, &stopped);
	assert_true(b.called);
	assert_non_null(strstr(b.err.message, "shutting down"));
	RUN_UNTIL(fx, stopped);
}

static void who_waits_when_the_daemon_is_killed_never_was(void **state)
{
	struct fixture *fx = *state;
	const struct container_spec spec = { .name = "x" };
	struct answer b = { .called = false };
	char c[ID_SIZE];

	fixture_set(fx, "pool.default.max=1");
	fixture_set(fx, "session.queue=1");
	fixture_start(fx);
	(void)fixture_session(fx, c);
	assert_int_equal(core_container_create(fx->core, &fx->who, &spec,
					       on_container, &b, &b.err),
			 0);
	fixture_kill(fx);
	assert_false(b.called);
	fixture_start(fx);
	fixture_settle(fx);
	assert_int_equal(vmd_running(&fx->vmd), 1);
}

static void a_death_that_no_event_told_is_found(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE];

	fixture_start(fx);
	(void)fixture_session(fx, c);
	fx->vmd.vms[0].state = VMD_STATE_GONE;
	fx->vmd.vms[0].reason = VMD_REASON_PANICKED;
	fixture_settle(fx);
	assert_int_equal(fixture_container(fx, c).state, SESSION_VIEW_RUNNING);
	clock_advance(fx->clock, RECONCILE_USEC);
	fixture_wait_state(fx, c, SESSION_VIEW_ENDED);
	assert_string_equal(fixture_container(fx, c).ended_reason,
			    "guest_panic");
}

static void what_reaches_a_limit_together_stops_together(void **state)
{
	struct fixture *fx = *state;
	char c[6][ID_SIZE];
	unsigned i, quiesces;

	fixture_start(fx);
	for (i = 0; i < 6; i++)
		(void)fixture_session(fx, c[i]);
	fixture_settle(fx);
	clock_advance(fx->clock, USEC_PER_HOUR);
	do {
		fixture_turn(fx);
		for (i = quiesces = 0; i < 6; i++)
			quiesces += fixture_guest(fx, c[i])->quiesces;
	} while (quiesces == 0);
	/* The first is asked for its last files when the last has stopped. */
	for (i = 0; i < 6; i++)
		assert_int_equal(fixture_container(fx, c[i]).state,
				 SESSION_VIEW_STOPPING);
}

static void the_kernels_figure_of_pressure_is_read(void **state)
{
	(void)state;
	assert_int_equal(pressure_parse("some avg10=98.18 avg60=1.0\n"), 98);
	assert_int_equal(pressure_parse("some avg10=0.99 avg60=1.0\n"), 0);
	assert_int_equal(pressure_parse("full avg10=1.00\n"), -1);
	assert_int_equal(pressure_parse(""), -1);
}

/* Time for a refill that waits to look again, and for what it then does. */
static void let_pools_look(struct fixture *fx)
{
	unsigned i;

	for (i = 0; i < 3; i++) {
		clock_advance(fx->clock, POOL_PRESSURE_PAUSE);
		fixture_settle(fx);
	}
}

static void a_busy_host_fills_its_pools_to_the_minimum_only(void **state)
{
	struct fixture *fx = *state;
	struct answer a;

	fixture_set(fx, "pool.default.ready=3");
	fixture_set(fx, "pool.default.min=1");
	fixture_set(fx, "host.refill_pressure=60");
	fixture_host(fx, 4096, 61);
	fixture_start(fx);
	RUN_UNTIL(fx, fx->vmd.creates == 1);
	let_pools_look(fx);
	assert_int_equal(fx->vmd.creates, 1);

	/* The ready one is somebody's at once, and the minimum is kept. */
	fixture_create(fx, NULL, 0, &a);
	assert_int_equal(fixture_container(fx, a.id).state,
			 SESSION_VIEW_RUNNING);
	RUN_UNTIL(fx, fx->vmd.creates == 2);
	let_pools_look(fx);
	assert_int_equal(fx->vmd.creates, 2);

	fixture_host(fx, 4096, 60);
	let_pools_look(fx);
	RUN_UNTIL(fx, fx->vmd.creates == 4);
}

static void a_busy_host_starts_what_somebody_waits_for(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE];

	fixture_set(fx, "pool.default.ready=1");
	fixture_set(fx, "pool.default.min=0");
	fixture_set(fx, "host.refill_pressure=60");
	fixture_host(fx, 4096, 100);
	fixture_start(fx);
	let_pools_look(fx);
	assert_int_equal(fx->vmd.creates, 0);
	(void)fixture_session(fx, c);
	let_pools_look(fx);
	assert_int_equal(fx->vmd.creates, 1);
}

int main(void)
{
#define TEST(f) \
	cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(an_audit_ends_no_session_that_is_being_compared),
		TEST(an_execution_being_accepted_ends_with_its_session),
		TEST(a_destroy_that_fails_is_tried_with_growing_pauses),
		TEST(a_smaller_host_takes_no_more_until_there_is_room),
		TEST(a_vm_that_was_ready_for_long_is_replaced),
		TEST(a_file_that_never_arrives_ends_its_session),
		TEST(a_burst_is_served_queued_and_refused),
		TEST(who_waits_is_refused_when_the_daemon_stops),
		TEST(who_waits_when_the_daemon_is_killed_never_was),
		TEST(a_death_that_no_event_told_is_found),
		TEST(what_reaches_a_limit_together_stops_together),
		TEST(the_kernels_figure_of_pressure_is_read),
		TEST(a_busy_host_fills_its_pools_to_the_minimum_only),
		TEST(a_busy_host_starts_what_somebody_waits_for),
	};

	return RUN_TESTS(tests);
}
