/* SPDX-License-Identifier: Apache-2.0 */
#include "core_fixture.h"

#include <unistd.h>

/* Executions in a session that runs. */

static void an_execution_goes_to_the_guest_and_comes_back(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE], e[ID_SIZE];
	struct scripted_guest *g;
	struct exec_view v;

	fixture_start(fx);
	g = fixture_session(fx, c);
	fixture_exec(fx, c, "print(6*7)", e);
	RUN_UNTIL(fx, g->execs == 1 && g->input.length == 10);
	assert_string_equal(g->exec_id, e);
	assert_memory_equal(g->input.data, "print(6*7)", 10);
	assert_int_equal(fixture_container(fx, c).state,
			 SESSION_VIEW_EXECUTING);
	assert_int_equal(fixture_exec_view(fx, c, e).status, EXEC_RUNNING);

	guest_say_output(g, g->call, WIRE_STDOUT, 0, "42\n");
	guest_say_display(g, g->call, 0, 0, "text/plain", "42", false);
	guest_say_display(g, g->call, 1, 0, "text/html", "<b>42</b>", false);
	clock_advance(fx->clock, 20 * USEC_PER_MSEC);
	guest_finish(g, WIRE_STATUS_OK, 0);
	fixture_wait_exec(fx, c, e, EXEC_OK);
	v = fixture_exec_view(fx, c, e);
	assert_int_equal(v.out_len, 3);
	assert_memory_equal(v.out, "42\n", 3);
	assert_int_equal(v.result_count, 1);
	assert_int_equal(v.results[0].count, 2);
	assert_string_equal(v.results[0].data[1].mime, "text/html");
	assert_int_equal(v.duration_msec, 8);
	assert_int_equal(v.cpu_msec, 5);
	assert_int_equal(v.execution_count, 1);
	assert_null(v.error_name);
	fixture_release(fx);
	assert_int_equal(g->releases, 1);

	/* From the store it reads the same. */
	fixture_settle(fx);
	v = fixture_exec_view(fx, c, e);
	assert_int_equal(v.status, EXEC_OK);
	assert_memory_equal(v.out, "42\n", 3);
	assert_int_equal(v.results[0].count, 2);
	assert_string_equal(v.results[0].data[1].data, "<b>42</b>");
	assert_int_equal(fixture_container(fx, c).state, SESSION_VIEW_RUNNING);
	assert_int_equal(fixture_container(fx, c).usage.executions, 1);
}

static void an_exception_is_told_as_it_was_said(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE], e[ID_SIZE];
	struct scripted_guest *g;
	struct exec_view v;

	g = fixture_running(fx, "1/0", c, e);
	guest_say_error(g, g->call, "ZeroDivisionError",
			"division\xff by zero");
	guest_finish(g, WIRE_STATUS_ERROR, 0);
	fixture_wait_exec(fx, c, e, EXEC_ERROR);
	fixture_settle(fx);
	v = fixture_exec_view(fx, c, e);
	assert_string_equal(v.error_name, "ZeroDivisionError");
	assert_string_equal(v.error_value, "division\xef\xbf\xbd by zero");
	assert_string_equal(v.error_traceback, "tb");
}

static void a_dead_kernel_is_told_by_its_signal(void **state)
{
	static const struct {
		uint8_t signal;
		const char *name, *value;
	} deaths[] = {
		{ 11, "SIGSEGV", "11" },    { 31, "SIGSYS", "31" },
		{ 34, "SIGRTMIN+0", "34" }, { 64, "SIGRTMIN+30", "64" },
		{ 33, "signal", "33" },	    { 255, "signal", "255" },
		{ 0, "exit", "0" },
	};
	struct fixture *fx = *state;
	struct message_done done = {
		.status = WIRE_STATUS_KERNEL_DIED,
		.flags = WIRE_DONE_STATE_LOST,
		.kernel_epoch = 2,
	};
	char c[ID_SIZE], e[ID_SIZE];
	struct scripted_guest *g;
	struct exec_view v;
	size_t i;

	g = fixture_running(fx, "crash()", c, e);
	for (i = 0; i < sizeof(deaths) / sizeof(deaths[0]); i++) {
		if (i > 0)
			fixture_exec(fx, c, "crash()", e);
		RUN_UNTIL(fx, g->execs == i + 1 && g->input.length > 0);
		done.signal = deaths[i].signal;
		guest_say_done(g, g->call, &done);
		fixture_wait_exec(fx, c, e, EXEC_KERNEL_DIED);
		v = fixture_exec_view(fx, c, e);
		assert_string_equal(v.error_name, deaths[i].name);
		assert_string_equal(v.error_value, deaths[i].value);
		assert_true(v.state_lost);
		assert_int_equal(fixture_container(fx, c).kernel_epoch, 2);
	}
}

static void files_are_fetched_before_the_end_is_told(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE], e[ID_SIZE], png[ID_SIZE];
	struct scripted_guest *g;
	struct cfile_view file;
	struct exec_view v;
	struct error err = ERROR_INIT;
	char content[16] = "";
	int fd;

	g = fixture_running(fx, "plot()", c, e);
	guest_write(g, "out/a.csv", "1,2\n", 4);
	guest_write(g, "figure-1.png", "PNG!", 4);
	guest_say_display(g, g->call, 0, 0, "image/png", "figure-1.png", true);
	guest_say_display(g, g->call, 1, 1, "image/png", "gone.png", true);
	guest_say_changed(g, g->call, "out/a.csv", 4, WIRE_SKIP_NONE);
	guest_say_changed(g, g->call, "figure-1.png", 4, WIRE_SKIP_NONE);
	guest_say_changed(g, g->call, "pipe", 0, WIRE_SKIP_SPECIAL);
	guest_say_changed(g, g->call, "gone.png", 9, WIRE_SKIP_NONE);
	guest_say_changed(g, g->call, "huge", 1u << 30, WIRE_SKIP_NONE);
	guest_finish(g, WIRE_STATUS_OK, 5);
	fixture_wait_exec(fx, c, e, EXEC_OK);
	v = fixture_exec_view(fx, c, e);
	assert_int_equal(v.artifact_count, 2);
	assert_string_equal(v.artifacts[0].path, "/mnt/data/out/a.csv");
	assert_false(v.artifacts[0].by_user);
	assert_int_equal(v.skipped_count, 3);
	assert_string_equal(v.skipped[0].path, "/mnt/data/pipe");
	assert_string_equal(v.skipped[2].reason, "too_large");
	assert_int_equal(v.skipped[2].bytes, 1u << 30);
	assert_int_equal(v.skipped[2].limit_bytes, 64u << 20);
	strcpy(png, v.artifacts[1].id);
	assert_int_equal(v.result_count, 1);
	assert_int_equal(v.results[0].count, 1);
	assert_null(v.results[0].data[0].data);
	assert_string_equal(v.results[0].data[0].file_id, png);

	assert_int_equal(
		core_cfile_open(fx->core, &fx->who, c, png, &file, &fd, &err),
		0);
	assert_int_equal(read(fd, content, sizeof(content)), 4);
	assert_memory_equal(content, "PNG!", 4);
	close(fd);
}

static void a_changed_file_gets_a_new_id_and_the_old_one_stays(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE], e[ID_SIZE], first[ID_SIZE];
	struct scripted_guest *g;
	struct cfile_view file;
	struct exec_view v;
	struct error err = ERROR_INIT;

	g = fixture_running(fx, "a", c, e);
	guest_write(g, "r.txt", "one", 3);
	guest_say_changed(g, g->call, "r.txt", 3, WIRE_SKIP_NONE);
	guest_finish(g, WIRE_STATUS_OK, 1);
	fixture_wait_exec(fx, c, e, EXEC_OK);
	strcpy(first, fixture_exec_view(fx, c, e).artifacts[0].id);

	fixture_exec(fx, c, "b", e);
	RUN_UNTIL(fx, g->execs == 2);
	guest_write(g, "r.txt", "three", 5);
	guest_say_changed(g, g->call, "r.txt", 5, WIRE_SKIP_NONE);
	guest_finish(g, WIRE_STATUS_OK, 1);
	fixture_wait_exec(fx, c, e, EXEC_OK);
	v = fixture_exec_view(fx, c, e);
	assert_string_not_equal(v.artifacts[0].id, first);
	assert_int_equal(
		core_cfile_get(fx->core, &fx->who, c, first, &file, &err), 0);
	assert_int_equal(file.bytes, 3);
}

static void a_file_that_grows_is_marked_wherever_it_is_told(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE], e[ID_SIZE], id[ID_SIZE];
	struct error err = ERROR_INIT;
	struct scripted_guest *g;
	struct cfile_view file;
	struct exec_view v;

	g = fixture_running(fx, "log()", c, e);
	g->growing = true;
	guest_write(g, "log", "one", 3);
	guest_say_changed(g, g->call, "log", 1, WIRE_SKIP_NONE);
	guest_finish(g, WIRE_STATUS_OK, 1);
	fixture_wait_exec(fx, c, e, EXEC_OK);
	v = fixture_exec_view(fx, c, e);
	assert_int_equal(v.artifact_count, 1);
	assert_true(v.artifacts[0].changed_during_read);
	assert_int_equal(v.artifacts[0].bytes, 3);
	strcpy(id, v.artifacts[0].id);
	fixture_settle(fx);
	assert_int_equal(
		core_cfile_get(fx->core, &fx->who, c, id, &file, &err), 0);
	assert_true(file.changed_during_read);
}

static void a_file_that_changes_is_read_again_but_not_for_ever(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE], e[ID_SIZE];
	struct scripted_guest *g;
	struct exec_view v;

	g = fixture_running(fx, "a", c, e);
	g->changing = 3;
	guest_write(g, "r.txt", "three", 5);
	guest_say_changed(g, g->call, "r.txt", 3, WIRE_SKIP_NONE);
	guest_finish(g, WIRE_STATUS_OK, 1);
	fixture_wait_exec(fx, c, e, EXEC_OK);
	v = fixture_exec_view(fx, c, e);
	assert_int_equal(v.artifact_count, 1);
	assert_int_equal(v.artifacts[0].bytes, 5);
	assert_false(v.artifacts[0].changed_during_read);

	fixture_exec(fx, c, "b", e);
	RUN_UNTIL(fx, g->execs == 2);
	g->changing = 100;
	guest_say_changed(g, g->call, "r.txt", 3, WIRE_SKIP_NONE);
	guest_finish(g, WIRE_STATUS_OK, 1);
	fixture_wait_exec(fx, c, e, EXEC_OK);
	v = fixture_exec_view(fx, c, e);
	assert_int_equal(v.artifact_count, 0);
	assert_int_equal(v.skipped_count, 1);
	assert_string_equal(v.skipped[0].reason, "changed");
	assert_int_equal(v.skipped[0].bytes, 5);
}

/* What a guest says of a length is not what it then sends. */
static void a_file_that_grew_out_of_its_limit_is_not_fetched(void **state)
{
	static char large[100u << 10];
	struct fixture *fx = *state;
	char c[ID_SIZE], e[ID_SIZE];
	struct scripted_guest *g;
	struct exec_view v;

	fixture_set(fx, "store.quota=102401");
	g = fixture_running(fx, "a", c, e);
	guest_write(g, "one", large, sizeof(large));
	guest_write(g, "two", large, sizeof(large));
	guest_say_changed(g, g->call, "one", 1, WIRE_SKIP_NONE);
	guest_say_changed(g, g->call, "two", 1, WIRE_SKIP_NONE);
	guest_finish(g, WIRE_STATUS_OK, 2);
	fixture_wait_exec(fx, c, e, EXEC_OK);
	v = fixture_exec_view(fx, c, e);
	assert_int_equal(v.artifact_count, 1);
	assert_int_equal(v.skipped_count, 1);
	assert_string_equal(v.skipped[0].reason, "quota");
	assert_int_equal(v.skipped[0].bytes, sizeof(large));
	assert_int_equal(v.skipped[0].limit_bytes, sizeof(large) + 1);
}

static void one_runs_eight_wait_and_the_next_is_refused(void **state)
{
	struct fixture *fx = *state;
	const struct exec_spec spec = { .code = "x",
					.code_len = 1,
					.stdin_data = "" };
	char c[ID_SIZE], e[9][ID_SIZE];
	struct scripted_guest *g;
	struct answer a = { .called = false };
	int i;

	fixture_start(fx);
	g = fixture_session(fx, c);
	for (i = 0; i < 9; i++)
		fixture_exec(fx, c, "x", e[i]);
	assert_int_equal(fixture_container(fx, c).queued, 8);
	assert_true(core_exec_start(fx->core, &fx->who, c, &spec, on_exec, &a,
				    &a.err) < 0);
	assert_int_equal(a.err.code, ERR_BUSY);
	assert_string_equal(a.err.reason, "container_busy");
	fixture_settle(fx);
	assert_false(a.called);

	for (i = 0; i < 9; i++) {
		RUN_UNTIL(fx, g->execs == (unsigned)i + 1);
		assert_string_equal(g->exec_id, e[i]);
		guest_finish(g, WIRE_STATUS_OK, 0);
		fixture_wait_exec(fx, c, e[i], EXEC_OK);
	}
	fixture_release(fx);
	assert_int_equal(g->releases, 9);
}

static void a_release_goes_along_with_the_next_execution(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE], e[ID_SIZE];
	struct scripted_guest *g;

	g = fixture_running(fx, "x", c, e);
	guest_finish(g, WIRE_STATUS_OK, 0);
	fixture_wait_exec(fx, c, e, EXEC_OK);
	fixture_settle(fx);
	assert_int_equal(g->releases, 0);
	fixture_exec(fx, c, "y", e);
	RUN_UNTIL(fx, g->execs == 2);
	assert_int_equal(g->releases, 1);
}

static void
an_interrupt_reaches_the_guest_and_a_waiting_one_never_runs(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE], first[ID_SIZE], second[ID_SIZE];
	struct scripted_guest *g;
	struct error err = ERROR_INIT;

	fixture_start(fx);
	g = fixture_session(fx, c);
	fixture_exec(fx, c, "a", first);
	fixture_exec(fx, c, "b", second);
	assert_int_equal(
		core_exec_interrupt(fx->core, &fx->who, c, second, &err), 0);
	fixture_wait_exec(fx, c, second, EXEC_INTERRUPTED);
	assert_int_equal(
		core_exec_interrupt(fx->core, &fx->who, c, first, &err), 0);
	RUN_UNTIL(fx, g->interrupts == 1);
	guest_finish(g, WIRE_STATUS_INTERRUPTED, 0);
	fixture_wait_exec(fx, c, first, EXEC_INTERRUPTED);
	fixture_settle(fx);
	assert_int_equal(
		core_exec_interrupt(fx->core, &fx->who, c, first, &err), 0);
	fixture_settle(fx);
	assert_int_equal(g->interrupts, 1);
	assert_int_equal(g->execs, 1);
}

static void a_guest_that_misses_its_deadline_is_given_up(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE], e[ID_SIZE];
	struct scripted_guest *g;
	struct exec_view v;
	int i;

	g = fixture_running(fx, "x", c, e);
	guest_say_output(g, g->call, WIRE_STDOUT, 0, "so far");
	fixture_settle(fx);
	/* Pings are answered, and DONE does not come. */
	for (i = 0; i < 40; i++) {
		clock_advance(fx->clock, 5 * USEC_PER_SEC);
		fixture_settle(fx);
	}
	assert_true(g->pings > 5);
	fixture_wait_state(fx, c, SESSION_VIEW_ENDED);
	assert_string_equal(fixture_container(fx, c).ended_reason,
			    "guest_unresponsive");
	v = fixture_exec_view(fx, c, e);
	assert_int_equal(v.status, EXEC_SESSION_LOST);
	assert_string_equal(v.error_name, "guest_unresponsive");
	assert_memory_equal(v.out, "so far", 6);
}

static void a_lost_link_is_made_again_and_nothing_is_lost(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE], e[ID_SIZE];
	struct scripted_guest *g;
	struct exec_view v;

	g = fixture_running(fx, "x", c, e);
	guest_say_output(g, g->call, WIRE_STDOUT, 0, "abc");
	guest_say_display(g, g->call, 0, 0, "text/plain", "r", false);
	fixture_settle(fx);
	guest_hang_up(g);
	fixture_settle(fx);
	clock_advance(fx->clock, USEC_PER_SEC);
	RUN_UNTIL(fx, g->attaches == 1);
	assert_int_equal(g->position[WIRE_STDOUT], 3);
	assert_int_equal(g->position[WIRE_STDERR], 0);
	assert_int_equal(g->position[WIRE_DISPLAYS], 1);
	guest_say_output(g, g->call, WIRE_STDOUT, 3, "def");
	guest_finish(g, WIRE_STATUS_OK, 0);
	fixture_wait_exec(fx, c, e, EXEC_OK);
	v = fixture_exec_view(fx, c, e);
	assert_int_equal(v.out_len, 6);
	assert_memory_equal(v.out, "abcdef", 6);
	assert_int_equal(g->execs, 1);
}

static void what_the_guest_never_got_is_sent_again(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE], e[ID_SIZE];
	struct scripted_guest *g;

	g = fixture_running(fx, "x", c, e);
	g->kept_count = 0;
	guest_hang_up(g);
	fixture_settle(fx);
	clock_advance(fx->clock, USEC_PER_SEC);
	RUN_UNTIL(fx, g->execs == 2);
	assert_string_equal(g->exec_id, e);
	guest_finish(g, WIRE_STATUS_OK, 0);
	fixture_wait_exec(fx, c, e, EXEC_OK);
}

static void a_guest_that_stays_away_is_unresponsive(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE];
	struct scripted_guest *g;

	fixture_start(fx);
	g = fixture_session(fx, c);
	fx->vmd.refuse_dials = true;
	guest_hang_up(g);
	fixture_settle(fx);
	clock_advance(fx->clock, 40 * USEC_PER_SEC);
	fixture_wait_state(fx, c, SESSION_VIEW_ENDED);
	assert_string_equal(fixture_container(fx, c).ended_reason,
			    "guest_unresponsive");
}

static void pings_without_answer_end_the_session(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE];
	struct scripted_guest *g;
	int i;

	fixture_start(fx);
	g = fixture_session(fx, c);
	g->no_pong = true;
	/* One jump of the clock is one missed ping, however long it is. */
	clock_advance(fx->clock, 600 * USEC_PER_SEC);
	fixture_settle(fx);
	assert_int_equal(fixture_container(fx, c).state, SESSION_VIEW_RUNNING);
	for (i = 0; i < 4; i++) {
		clock_advance(fx->clock, 5 * USEC_PER_SEC);
		fixture_settle(fx);
	}
	fixture_wait_state(fx, c, SESSION_VIEW_ENDED);
	assert_string_equal(fixture_container(fx, c).ended_reason,
			    "guest_unresponsive");
}

int main(void)
{
#define TEST(f) \
	cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(an_execution_goes_to_the_guest_and_comes_back),
		TEST(a_release_goes_along_with_the_next_execution),
		TEST(an_exception_is_told_as_it_was_said),
		TEST(a_dead_kernel_is_told_by_its_signal),
		TEST(files_are_fetched_before_the_end_is_told),
		TEST(a_changed_file_gets_a_new_id_and_the_old_one_stays),
		TEST(a_file_that_grows_is_marked_wherever_it_is_told),
		TEST(a_file_that_changes_is_read_again_but_not_for_ever),
		TEST(a_file_that_grew_out_of_its_limit_is_not_fetched),
		TEST(one_runs_eight_wait_and_the_next_is_refused),
		TEST(an_interrupt_reaches_the_guest_and_a_waiting_one_never_runs),
		TEST(a_guest_that_misses_its_deadline_is_given_up),
		TEST(a_lost_link_is_made_again_and_nothing_is_lost),
		TEST(what_the_guest_never_got_is_sent_again),
		TEST(a_guest_that_stays_away_is_unresponsive),
		TEST(pings_without_answer_end_the_session),
	};

	return RUN_TESTS(tests);
}
