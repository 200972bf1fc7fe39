/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "core_fixture.h"

/* Taking the daemon out of use, and what of that a restart keeps. */

static void drain(struct fixture *fx, usec_t wait, const char *says)
{
	struct answer a = { .called = false };

	assert_int_equal(core_admin_drain(fx->core, wait, on_json, &a, &a.err),
			 0);
	RUN_UNTIL(fx, a.called);
	if (!strstr(a.text, says))
		fail_msg("'%s' lacks '%s'", a.text, says);
}

static void undrain(struct fixture *fx)
{
	struct answer a = { .called = false };

	assert_int_equal(core_admin_undrain(fx->core, on_json, &a, &a.err), 0);
	RUN_UNTIL(fx, a.called);
	assert_non_null(strstr(a.text, "\"state\":\"off\""));
}

static void on_problem(void *userdata, const char *sentence)
{
	(void)snprintf(userdata, ERROR_MESSAGE_MAX, "%s", sentence);
}

static void a_drain_refuses_new_sessions_and_keeps_the_others(void **state)
{
	const struct container_spec spec = { .name = "x" };
	struct fixture *fx = *state;
	struct answer a = { .called = false };
	char c[ID_SIZE], e[ID_SIZE], why[ERROR_MESSAGE_MAX] = "";
	struct scripted_guest *g;

	fixture_start(fx);
	g = fixture_session(fx, c);
	drain(fx, USEC_INFINITY, "\"state\":\"draining\",\"sessions\":1");
	assert_true(core_container_create(fx->core, &fx->who, &spec,
					  on_container, &a, &a.err) < 0);
	assert_int_equal(a.err.code, ERR_CAPACITY);
	assert_int_equal(a.err.retry_after_sec, 60);
	assert_non_null(strstr(a.err.message, "drained"));
	assert_false(core_ready(fx->core, on_problem, why));
	assert_non_null(strstr(why, "drained"));

	/* Work of a session that lives is taken. */
	fixture_exec(fx, c, "x", e);
	RUN_UNTIL(fx, g->execs == 1);
	undrain(fx);
	assert_true(core_ready(fx->core, on_problem, why));
	(void)fixture_session(fx, c);
}

static void a_deadline_ends_what_still_lives(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE], e[ID_SIZE];

	(void)fixture_running(fx, "x", c, e);
	drain(fx, 60 * USEC_PER_SEC, "\"deadline_at\":");
	clock_advance(fx->clock, 59 * USEC_PER_SEC);
	fixture_settle(fx);
	assert_int_equal(fixture_container(fx, c).state,
			 SESSION_VIEW_EXECUTING);
	clock_advance(fx->clock, USEC_PER_SEC);
	fixture_wait_exec(fx, c, e, EXEC_SESSION_LOST);
	assert_string_equal(fixture_exec_view(fx, c, e).error_name, "drained");
	/* The guest does not answer for its last files. */
	fixture_settle(fx);
	clock_advance(fx->clock, 10 * USEC_PER_SEC);
	fixture_wait_state(fx, c, SESSION_VIEW_ENDED);
	assert_string_equal(fixture_container(fx, c).ended_reason, "drained");
}

static void a_drain_at_once_waits_for_nobody(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE];

	fixture_start(fx);
	(void)fixture_session(fx, c);
	drain(fx, 0, "draining");
	RUN_UNTIL(fx, fixture_container(fx, c).expired);
}

static void no_vm_is_kept_ready_while_it_drains(void **state)
{
	struct fixture *fx = *state;

	fixture_set(fx, "pool.default.ready=2");
	fixture_start(fx);
	RUN_UNTIL(fx, vmd_running(&fx->vmd) == 2);
	drain(fx, USEC_INFINITY, "drained");
	RUN_UNTIL(fx, vmd_running(&fx->vmd) == 0);
	/* Not by what usually calls for a refill either. */
	vmd_script_drop(&fx->vmd);
	fixture_connect(fx);
	fixture_settle(fx);
	assert_int_equal(vmd_running(&fx->vmd), 0);
	undrain(fx);
	RUN_UNTIL(fx, vmd_running(&fx->vmd) == 2);
}

static void drain_is(struct fixture *fx, const char *says)
{
	_cleanup_(buf_done) struct buf json = BUF_INIT(1 << 20);
	struct error err = ERROR_INIT;

	assert_int_equal(core_admin_drain_get(fx->core, &json, &err), 0);
	if (!strstr(buf_str(&json), says))
		fail_msg("'%s' lacks '%s'", buf_str(&json), says);
}

static void a_drain_outlives_the_daemon_until_it_is_undone(void **state)
{
	const struct container_spec spec = { .name = "x" };
	struct fixture *fx = *state;
	struct answer a = { .called = false };
	char c[ID_SIZE];

	fixture_set(fx, "pool.default.ready=1");
	fixture_start(fx);
	(void)fixture_session(fx, c);
	drain(fx, USEC_INFINITY, "draining");
	fixture_kill(fx);
	fixture_start(fx);
	drain_is(fx, "\"state\":\"draining\",\"sessions\":1");
	assert_true(core_container_create(fx->core, &fx->who, &spec,
					  on_container, &a, &a.err) < 0);
	assert_int_equal(a.err.code, ERR_CAPACITY);
	fixture_settle(fx);
	assert_int_equal(vmd_running(&fx->vmd), 1);
	assert_false(fixture_container(fx, c).expired);

	undrain(fx);
	fixture_kill(fx);
	fixture_start(fx);
	drain_is(fx, "\"state\":\"off\"");
	RUN_UNTIL(fx, vmd_running(&fx->vmd) == 2);
}

static void the_deadline_of_a_drain_outlives_the_daemon(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE];

	fixture_start(fx);
	(void)fixture_session(fx, c);
	drain(fx, 60 * USEC_PER_SEC, "\"deadline_at\":");
	fixture_kill(fx);
	fixture_start(fx);
	fixture_wait_state(fx, c, SESSION_VIEW_RUNNING);
	clock_advance(fx->clock, 61 * USEC_PER_SEC);
	RUN_UNTIL(fx, fixture_container(fx, c).expired);
}

int main(void)
{
#define TEST(f) \
	cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_drain_refuses_new_sessions_and_keeps_the_others),
		TEST(a_deadline_ends_what_still_lives),
		TEST(a_drain_at_once_waits_for_nobody),
		TEST(no_vm_is_kept_ready_while_it_drains),
		TEST(a_drain_outlives_the_daemon_until_it_is_undone),
		TEST(the_deadline_of_a_drain_outlives_the_daemon),
	};

	return RUN_TESTS(tests);
}
