/* SPDX-License-Identifier: Apache-2.0 */
/* What comes at the wrong moment in the life of a session. */

#include "core_fixture.h"

#include "core/core_admin.h"
#include "core/core_exec.h"
#include "core/reconcile.h"

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

int main(void)
{
#define TEST(f) \
	cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(an_audit_ends_no_session_that_is_being_compared),
		TEST(an_execution_being_accepted_ends_with_its_session),
	};

	return RUN_TESTS(tests);
}
