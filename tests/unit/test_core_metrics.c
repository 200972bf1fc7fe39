/* SPDX-License-Identifier: Apache-2.0 */
/* How long things took, told as histograms. */

#include "core_fixture.h"

#include "core/core_admin.h"
#include "core/core_exec.h"

/* Of a histogram with these labels, as far as it has been counted. */
static void check_times(struct fixture *fx, const char *name,
			const char *labels, unsigned count, double sum)
{
	char full[128];

	(void)snprintf(full, sizeof(full), "%s_count", name);
	assert_true(fixture_figure(fx, full, labels) == count);
	(void)snprintf(full, sizeof(full), "%s_sum", name);
	assert_true(fixture_figure(fx, full, labels) == sum);
}

static void check_creates(struct fixture *fx, const char *found,
			  unsigned count, double sum)
{
	char labels[64];

	(void)snprintf(labels, sizeof(labels), "found=\"%s\"", found);
	assert_true(fixture_figure(fx, "cupola_claims_total", labels) ==
		    count);
	(void)snprintf(labels, sizeof(labels),
		       "pool=\"default\",found=\"%s\"", found);
	check_times(fx, "cupola_create_seconds", labels, count, sum);
}

static void a_create_is_counted_by_what_it_found(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE];
	struct answer a;

	fixture_set(fx, "pool.default.ready=1");
	fixture_start(fx);
	RUN_UNTIL(fx, fixture_figure(fx, "cupola_pool_ready_vms",
				     "pool=\"default\"") == 1);
	fx->vmd.hold_creates = true;
	(void)fixture_session(fx, c);
	check_creates(fx, "ready", 1, 0);

	/* The VM that the pool begins in its place does not come to an end. */
	RUN_UNTIL(fx, fx->vmd.creates == 2);
	fixture_create(fx, NULL, 0, &a);
	clock_advance(fx->clock, 3 * USEC_PER_SEC);
	vmd_answer_creates(&fx->vmd);
	fx->vmd.hold_creates = false;
	fixture_wait_state(fx, a.id, SESSION_VIEW_RUNNING);
	check_creates(fx, "booting", 1, 3);
	check_creates(fx, "nothing", 0, 0);
	check_creates(fx, "special", 0, 0);
}

static void without_a_pool_there_is_nothing_to_find(void **state)
{
	struct fixture *fx = *state;
	struct answer a;

	fixture_start(fx);
	fixture_create_held(fx, &a);
	clock_advance(fx->clock, 2 * USEC_PER_SEC);
	vmd_answer_creates(&fx->vmd);
	fixture_wait_state(fx, a.id, SESSION_VIEW_RUNNING);
	check_creates(fx, "nothing", 1, 2);
	assert_true(fixture_figure(fx, "cupola_create_seconds_bucket",
				   "pool=\"default\",found=\"nothing\","
				   "le=\"1\"") == 0);
	assert_true(fixture_figure(fx, "cupola_create_seconds_bucket",
				   "pool=\"default\",found=\"nothing\","
				   "le=\"2.5\"") == 1);
}

static void what_a_restart_finds_was_no_create_of_its_own(void **state)
{
	struct fixture *fx = *state;
	struct answer a;

	fixture_start(fx);
	fx->vmd.refuse_dials = true;
	fixture_create(fx, NULL, 0, &a);
	RUN_UNTIL(fx, fx->vmd.dials > 0);
	fixture_kill(fx);
	fx->vmd.refuse_dials = false;
	fixture_start(fx);
	fixture_wait_state(fx, a.id, SESSION_VIEW_RUNNING);
	check_creates(fx, "nothing", 0, 0);
}

static void executions_and_their_files_are_timed(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE], e[ID_SIZE];
	struct scripted_guest *g;

	g = fixture_running(fx, "x", c, e);
	clock_advance(fx->clock, 20 * USEC_PER_MSEC);
	guest_finish(g, WIRE_STATUS_OK, 0);
	fixture_wait_exec(fx, c, e, EXEC_OK);
	fixture_settle(fx);
	/* As long as the guest says, which the host saw not to be more. */
	check_times(fx, "cupola_execution_seconds", "pool=\"default\"", 1,
		    0.008);
	/* One without files has nothing to fetch. */
	check_times(fx, "cupola_harvest_seconds",
		    "pool=\"default\",of=\"execution\"", 0, 0);

	fixture_exec(fx, c, "y", e);
	RUN_UNTIL(fx, g->execs == 2);
	guest_write(g, "a.csv", "1,2\n", 4);
	guest_say_changed(g, g->call, "a.csv", 4, WIRE_SKIP_NONE);
	guest_finish(g, WIRE_STATUS_OK, 1);
	fixture_wait_exec(fx, c, e, EXEC_OK);
	check_times(fx, "cupola_harvest_seconds",
		    "pool=\"default\",of=\"execution\"", 1, 0);
}

static void the_last_files_of_a_session_are_timed(void **state)
{
	struct answer a = { .called = false };
	struct fixture *fx = *state;
	struct scripted_guest *g;
	char c[ID_SIZE];

	fixture_start(fx);
	g = fixture_session(fx, c);
	clock_advance(fx->clock, 21 * USEC_PER_MINUTE);
	RUN_UNTIL(fx, g->quiesces == 1);
	clock_advance(fx->clock, 2 * USEC_PER_SEC);
	guest_say_quiesced(g, 0);
	fixture_wait_state(fx, c, SESSION_VIEW_ENDED);
	check_times(fx, "cupola_harvest_seconds",
		    "pool=\"default\",of=\"session\"", 1, 2);
	/* One that is deleted is not waited for. */
	(void)fixture_session(fx, c);
	assert_int_equal(core_admin_kill(fx->core, c, on_done, &a, &a.err), 0);
	RUN_UNTIL(fx, a.called);
	fixture_wait_state(fx, c, SESSION_VIEW_ENDED);
	check_times(fx, "cupola_harvest_seconds",
		    "pool=\"default\",of=\"session\"", 1, 2);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_create_is_counted_by_what_it_found),
		TEST(without_a_pool_there_is_nothing_to_find),
		TEST(what_a_restart_finds_was_no_create_of_its_own),
		TEST(executions_and_their_files_are_timed),
		TEST(the_last_files_of_a_session_are_timed),
	};

	return RUN_TESTS(tests);
}
