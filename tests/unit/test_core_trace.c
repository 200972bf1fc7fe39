/* SPDX-License-Identifier: Apache-2.0 */
/* To which trace of the client's an execution belongs, and who can see that. */

#include "core_fixture.h"
#include "journal.h"

#include "base/log.h"
#include "core/core_admin.h"
#include "core/core_exec.h"

#define TRACE_ID "0af7651916cd43dd8448eb211c80319c"
#define TRACE "00-" TRACE_ID "-b7ad6b7169203331-01"

static int setup(void **state)
{
	int r = fixture_setup(state);

	journal_begin();
	log_set_level(LOG_DEBUG);
	return r;
}

static int teardown(void **state)
{
	journal_end();
	return fixture_teardown(state);
}

static void start(struct fixture *fx, const char *container, const char *trace,
		  char id[ID_SIZE])
{
	const struct exec_spec spec = { .code = "x", .code_len = 1,
					.stdin_data = "", .trace = trace };
	struct answer a = { .called = false };

	assert_int_equal(core_exec_start(fx->core, &fx->who, container, &spec,
					 on_exec, &a, &a.err), 0);
	RUN_UNTIL(fx, a.called);
	strcpy(id, a.id);
}

static void inspect_has(struct fixture *fx, const char *container,
			const char *text)
{
	struct buf json = BUF_INIT(1 << 20);
	struct error err = ERROR_INIT;

	assert_int_equal(core_admin_inspect(fx->core, container, &json, &err),
			 0);
	assert_non_null(strstr(buf_str(&json), text));
	buf_done(&json);
}

static void guest_log_and_operator_are_told(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE], e[ID_SIZE], field[ID_SIZE + 16];
	struct scripted_guest *g;
	const char *entry;

	fixture_start(fx);
	g = fixture_session(fx, c);
	start(fx, c, TRACE, e);
	RUN_UNTIL(fx, g->execs == 1);
	assert_string_equal(g->trace, TRACE);
	inspect_has(fx, c, "\"trace_id\":\"" TRACE_ID "\"");
	guest_finish(g, WIRE_STATUS_OK, 0);
	fixture_wait_exec(fx, c, e, EXEC_OK);

	(void)snprintf(field, sizeof(field), "EXEC_ID=%s", e);
	entry = journal_find(field);
	assert_non_null(entry);
	assert_true(journal_has(entry, "TRACE_ID=" TRACE_ID));
}

static void the_next_has_none_of_it(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE], e[ID_SIZE];
	struct scripted_guest *g;

	fixture_start(fx);
	g = fixture_session(fx, c);
	start(fx, c, TRACE, e);
	RUN_UNTIL(fx, g->execs == 1);
	guest_finish(g, WIRE_STATUS_OK, 0);
	fixture_wait_exec(fx, c, e, EXEC_OK);
	assert_string_equal(fixture_exec_view(fx, c, e).trace_id, TRACE_ID);

	start(fx, c, NULL, e);
	RUN_UNTIL(fx, g->execs == 2);
	assert_string_equal(g->trace, "");
	inspect_has(fx, c, "\"trace_id\":null");
	assert_null(fixture_exec_view(fx, c, e).trace_id);
}

static void it_outlives_the_daemon(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE], running[ID_SIZE], waiting[ID_SIZE];
	struct scripted_guest *g;

	fixture_start(fx);
	g = fixture_session(fx, c);
	start(fx, c, TRACE, running);
	start(fx, c, TRACE, waiting);
	RUN_UNTIL(fx, g->execs == 1);
	fixture_note(fx);

	fixture_kill(fx);
	fixture_start(fx);
	RUN_UNTIL(fx, g->attaches == 1);
	guest_finish(g, WIRE_STATUS_OK, 0);
	fixture_wait_exec(fx, c, running, EXEC_OK);
	RUN_UNTIL(fx, g->execs == 2);
	assert_string_equal(g->trace, TRACE);
	guest_finish(g, WIRE_STATUS_OK, 0);
	fixture_wait_exec(fx, c, waiting, EXEC_OK);

	/* From the store it reads the same. */
	fixture_settle(fx);
	assert_string_equal(fixture_exec_view(fx, c, running).trace_id,
			    TRACE_ID);
	assert_string_equal(fixture_exec_view(fx, c, waiting).trace_id,
			    TRACE_ID);
}

static void make_old(struct scripted_vmd *v, struct scripted_vm *vm)
{
	(void)v;
	vm->guest->knows_no_traces = true;
}

static void a_guest_that_knows_no_traces_runs_it_all_the_same(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE], e[ID_SIZE];
	struct scripted_guest *g;

	fx->vmd.made = make_old;
	fixture_start(fx);
	g = fixture_session(fx, c);
	start(fx, c, TRACE, e);
	RUN_UNTIL(fx, g->execs == 1);
	assert_string_equal(g->trace, "");
	guest_finish(g, WIRE_STATUS_OK, 0);
	fixture_wait_exec(fx, c, e, EXEC_OK);
	assert_string_equal(fixture_exec_view(fx, c, e).trace_id, TRACE_ID);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(guest_log_and_operator_are_told),
		TEST(the_next_has_none_of_it),
		TEST(it_outlives_the_daemon),
		TEST(a_guest_that_knows_no_traces_runs_it_all_the_same),
	};

	return RUN_TESTS(tests);
}
