/* SPDX-License-Identifier: Apache-2.0 */
#include "core_fixture.h"

/* What a daemon that was killed leaves, and the next one takes up. */

static void restart(struct fixture *fx)
{
	fixture_kill(fx);
	fixture_start(fx);
}

static void an_idle_session_goes_on(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE], e[ID_SIZE], e2[ID_SIZE];
	struct container_view before, after;
	struct scripted_guest *g;

	g = fixture_running(fx, "a", c, e);
	guest_finish(g, WIRE_STATUS_OK, 0);
	fixture_wait_exec(fx, c, e, EXEC_OK);
	fixture_settle(fx);
	before = fixture_container(fx, c);

	restart(fx);
	after = fixture_container(fx, c);
	assert_int_equal(after.state, SESSION_VIEW_RUNNING);
	assert_int_equal(after.hard_expires_at, before.hard_expires_at);
	assert_int_equal(after.usage.executions, 1);
	fixture_exec(fx, c, "b", e2);
	RUN_UNTIL(fx, g->execs == 2);
	assert_int_equal(g->call, 2);
	guest_finish(g, WIRE_STATUS_OK, 0);
	fixture_wait_exec(fx, c, e2, EXEC_OK);
	assert_int_equal(fx->vmd.creates, 1);
	/* And its limits hold. */
	clock_advance(fx->clock, 21 * USEC_PER_MINUTE);
	RUN_UNTIL(fx, g->quiesces == 1);
}

/* A tier is a name; what is counted is what its VM has. */
static void a_container_has_the_memory_that_its_pool_had(void **state)
{
	struct fixture *fx = *state;
	struct container_view view;
	char c[ID_SIZE];

	fx->vmd.hello.pools[0].memory_mib = 512;
	fixture_start(fx);
	(void)fixture_session(fx, c);
	clock_advance(fx->clock, 10 * USEC_PER_SEC);
	view = fixture_container(fx, c);
	assert_int_equal(view.memory, MEMORY_1G);
	assert_int_equal(view.memory_mib, 512);
	assert_int_equal(view.usage.memory_mib_msec / (512 * 1000),
			 view.usage.assigned_sec);
	assert_in_range(view.usage.assigned_sec, 10, 100);
	fixture_settle(fx);
	/* Neither changes with the settings. */
	fx->vmd.hello.pools[0].memory_mib = 4096;
	restart(fx);
	view = fixture_container(fx, c);
	assert_int_equal(view.memory, MEMORY_1G);
	assert_int_equal(view.memory_mib, 512);
}

static void a_running_execution_comes_to_its_full_result(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE], e[ID_SIZE];
	struct scripted_guest *g;
	struct exec_view v;

	g = fixture_running(fx, "x", c, e);
	guest_say_output(g, g->call, WIRE_STDOUT, 0, "before ");
	fixture_note(fx);

	restart(fx);
	RUN_UNTIL(fx, g->attaches == 1);
	assert_int_equal(g->position[WIRE_STDOUT], 0);
	assert_int_equal(fixture_container(fx, c).state,
			 SESSION_VIEW_EXECUTING);
	guest_write(g, "a", "1", 1);
	guest_say_output(g, g->call, WIRE_STDOUT, 0, "before ");
	guest_say_output(g, g->call, WIRE_STDOUT, 7, "after");
	guest_say_changed(g, g->call, "a", 1, WIRE_SKIP_NONE);
	guest_finish(g, WIRE_STATUS_OK, 1);
	fixture_wait_exec(fx, c, e, EXEC_OK);
	v = fixture_exec_view(fx, c, e);
	assert_int_equal(v.out_len, 12);
	assert_memory_equal(v.out, "before after", 12);
	assert_string_equal(v.note, "x");
	assert_int_equal(v.artifact_count, 1);
	assert_int_equal(g->execs, 1);
}

/* The status in an execution's row; "" if there is none. */
static const char *row_status(struct fixture *fx, const char *container,
			      const char *id)
{
	static struct store_execution row;

	row.status[0] = '\0';
	(void)store_execution_get(fx->store, fx->who.tenant, container, id,
				  &row);
	return row.status;
}

static void what_is_over_soon_is_written_once(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE], e[ID_SIZE];
	struct scripted_guest *g = fixture_running(fx, "x", c, e);

	fixture_settle(fx);
	assert_string_equal(row_status(fx, c, e), "");
	guest_finish(g, WIRE_STATUS_OK, 0);
	fixture_note(fx);
	assert_string_equal(row_status(fx, c, e), "ok");

	fixture_exec(fx, c, "y", e);
	fixture_note(fx);
	assert_string_equal(row_status(fx, c, e), "running");
}

static void a_daemon_that_hands_over_writes_what_has_begun(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE], e[ID_SIZE];

	(void)fixture_running(fx, "x", c, e);
	core_stop(fx->core, CORE_STOP_HAND_OVER, NULL, NULL);
	fixture_settle(fx);
	assert_string_equal(row_status(fx, c, e), "running");
}

static void an_execution_whose_row_was_lost_is_taken_up(void **state)
{
	struct fixture *fx = *state;
	static const char id[] = "exec_0123456789abcdef0123456789abcdef";
	struct scripted_guest *g;
	char c[ID_SIZE];

	fixture_start(fx);
	g = fixture_session(fx, c);
	fixture_settle(fx);
	fixture_kill(fx);
	guest_keep(g, 7, id, false);
	fixture_start(fx);
	RUN_UNTIL(fx, g->attaches == 1);
	guest_say_output(g, 7, WIRE_STDOUT, 0, "hi");
	guest_finish(g, WIRE_STATUS_OK, 0);
	fixture_wait_exec(fx, c, id, EXEC_OK);
	fixture_release(fx);
	assert_int_equal(g->released, 7);
	fixture_exec(fx, c, "x", (char[ID_SIZE]){ "" });
	RUN_UNTIL(fx, g->execs == 1);
	assert_int_equal(g->call, 8);
}

static void a_guest_that_is_not_reached_again_did_boot(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE];

	fixture_start(fx);
	(void)fixture_session(fx, c);
	fixture_settle(fx);
	fixture_kill(fx);
	fx->vmd.refuse_dials = true;
	fixture_start(fx);
	fixture_settle(fx);
	clock_advance(fx->clock, 61 * USEC_PER_SEC);
	fixture_wait_state(fx, c, SESSION_VIEW_ENDED);
	assert_string_equal(fixture_container(fx, c).ended_reason,
			    "guest_unresponsive");
}

static void what_waited_is_run(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE], first[ID_SIZE], second[ID_SIZE];
	struct scripted_guest *g;

	fixture_start(fx);
	g = fixture_session(fx, c);
	fixture_exec(fx, c, "first", first);
	fixture_exec(fx, c, "second", second);
	RUN_UNTIL(fx, g->execs == 1);
	fixture_settle(fx);
	restart(fx);
	RUN_UNTIL(fx, g->attaches == 1);
	assert_int_equal(fixture_exec_view(fx, c, second).status, EXEC_QUEUED);
	guest_finish(g, WIRE_STATUS_OK, 0);
	RUN_UNTIL(fx, g->execs == 2 && g->input.length == 6);
	assert_string_equal(g->exec_id, second);
	assert_memory_equal(g->input.data, "second", 6);
	guest_finish(g, WIRE_STATUS_OK, 0);
	fixture_wait_exec(fx, c, second, EXEC_OK);
	assert_string_equal(fixture_exec_view(fx, c, second).note, "second");
}

static void what_was_finished_meanwhile_is_told(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE], e[ID_SIZE];
	struct scripted_guest *g;

	g = fixture_running(fx, "x", c, e);
	fixture_settle(fx);
	fixture_kill(fx);
	g->kept[0].finished = true;
	fixture_start(fx);
	RUN_UNTIL(fx, g->attaches == 1);
	guest_say_output(g, g->call, WIRE_STDOUT, 0, "all");
	guest_finish(g, WIRE_STATUS_OK, 0);
	fixture_wait_exec(fx, c, e, EXEC_OK);
	fixture_release(fx);
	assert_int_equal(g->releases, 1);
}

/* kill -9 after three were sent and before any commit about them. */
static void what_was_sent_and_not_noted_comes_one_after_the_other(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE], e[3][ID_SIZE];
	struct scripted_guest *g;
	unsigned i;

	g = fixture_running(fx, "x", c, e[0]);
	fixture_exec(fx, c, "y", e[1]);
	fixture_exec(fx, c, "z", e[2]);
	fixture_settle(fx);
	fixture_kill(fx);
	guest_keep(g, 1, e[0], true);
	guest_keep(g, 2, e[1], true);
	guest_keep(g, 3, e[2], false);
	fixture_start(fx);
	for (i = 0; i < 3; i++) {
		RUN_UNTIL(fx, g->attaches == i + 1 && g->call == i + 1);
		guest_finish(g, WIRE_STATUS_OK, 0);
		fixture_wait_exec(fx, c, e[i], EXEC_OK);
	}
	assert_int_equal(g->execs, 1);
	fixture_release(fx);
	assert_int_equal(g->releases, 3);
}

static void a_guest_cannot_keep_what_nobody_gave_it(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE], e[ID_SIZE];
	struct scripted_guest *g;

	g = fixture_running(fx, "x", c, e);
	guest_keep(g, 0xffffffffu, "exec_x", true);
	guest_hang_up(g);
	fixture_settle(fx);
	clock_advance(fx->clock, 200 * USEC_PER_MSEC);
	fixture_wait_state(fx, c, SESSION_VIEW_ENDED);
	assert_string_equal(fixture_container(fx, c).ended_reason,
			    "guest_protocol_error");
}

static void a_finished_record_is_not_run_again(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE], e[ID_SIZE];
	struct scripted_guest *g;

	g = fixture_running(fx, "x", c, e);
	guest_finish(g, WIRE_STATUS_OK, 0);
	fixture_wait_exec(fx, c, e, EXEC_OK);
	fixture_settle(fx);
	fixture_kill(fx);
	/* Its RELEASE was not on its way yet. */
	guest_keep(g, 1, e, true);
	fixture_start(fx);
	fixture_release(fx);
	assert_int_equal(g->releases, 1);
	assert_int_equal(g->attaches, 0);
	assert_int_equal(fixture_exec_view(fx, c, e).status, EXEC_OK);
}

static void a_vm_that_is_gone_has_ended_its_session(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE], e[ID_SIZE];

	(void)fixture_running(fx, "x", c, e);
	fixture_note(fx);
	fixture_kill(fx);
	guest_free(fx->vmd.vms[0].guest);
	fx->vmd.count = 0;
	fixture_start(fx);
	fixture_wait_state(fx, c, SESSION_VIEW_ENDED);
	assert_string_equal(fixture_container(fx, c).ended_reason,
			    "vm_crashed");
	assert_int_equal(fixture_exec_view(fx, c, e).status, EXEC_SESSION_LOST);
}

static void a_create_cut_short_is_boot_failed(void **state)
{
	struct fixture *fx = *state;
	struct answer a;

	fixture_start(fx);
	fixture_create_held(fx, &a);
	fixture_kill(fx);
	guest_free(fx->vmd.vms[0].guest);
	fx->vmd.count = 0;
	fx->vmd.hold_creates = false;
	fixture_start(fx);
	fixture_wait_state(fx, a.id, SESSION_VIEW_ENDED);
	assert_string_equal(fixture_container(fx, a.id).ended_reason,
			    "boot_failed");
}

static void a_create_that_vmd_dropped_is_boot_failed(void **state)
{
	struct fixture *fx = *state;
	struct answer a;

	fixture_start(fx);
	fixture_create_held(fx, &a);
	fixture_kill(fx);
	fx->vmd.vms[0].state = VMD_STATE_GONE;
	fx->vmd.vms[0].reason = VMD_REASON_ABANDONED;
	fx->vmd.hold_creates = false;
	fixture_start(fx);
	fixture_wait_state(fx, a.id, SESSION_VIEW_ENDED);
	assert_string_equal(fixture_container(fx, a.id).ended_reason,
			    "boot_failed");
}

static void a_create_that_went_through_goes_on_with_its_files(void **state)
{
	struct fixture *fx = *state;
	char file[ID_SIZE];
	const char *files[] = { file };
	struct scripted_guest *g;
	struct answer a;

	fixture_start(fx);
	fixture_upload(fx, "in.csv", "1,2,3", 5, file);
	fx->vmd.mute_guests = true;
	fixture_create(fx, files, 1, &a);
	RUN_UNTIL(fx, fx->vmd.dials == 1);
	fixture_kill(fx);
	g = fx->vmd.vms[0].guest;
	g->mute = false;
	fixture_start(fx);
	fixture_wait_state(fx, a.id, SESSION_VIEW_RUNNING);
	assert_non_null(guest_file(g, "in.csv"));
	assert_int_equal(g->puts, 1);
}

static void pool_vms_are_kept(void **state)
{
	struct fixture *fx = *state;
	struct answer a;

	fixture_set(fx, "pool.default.ready=1");
	fixture_start(fx);
	RUN_UNTIL(fx, fx->vmd.count == 1 && fx->vmd.vms[0].guest->control);
	fixture_settle(fx);
	restart(fx);
	RUN_UNTIL(fx, fx->vmd.vms[0].guest->links == 2);
	fixture_settle(fx);
	assert_int_equal(fx->vmd.creates, 1);
	fixture_create(fx, NULL, 0, &a);
	assert_string_equal(fixture_container(fx, a.id).vm,
			    fx->vmd.vms[0].create.vm_id);
}

static void pool_vms_of_another_image_are_ended(void **state)
{
	struct fixture *fx = *state;

	fixture_set(fx, "pool.default.ready=1");
	fixture_start(fx);
	RUN_UNTIL(fx, fx->vmd.count == 1 && fx->vmd.vms[0].guest->control);
	fixture_settle(fx);
	fixture_kill(fx);
	strcpy(fx->vmd.hello.pools[0].digest, "sha256:01");
	fixture_start(fx);
	RUN_UNTIL(fx, fx->vmd.vms[0].state == VMD_STATE_GONE);
	RUN_UNTIL(fx, fx->vmd.creates == 2);
}

static void vms_that_the_ledger_does_not_have_are_destroyed(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE];

	fixture_start(fx);
	(void)fixture_session(fx, c);
	fixture_kill(fx);
	strcpy(fx->vmd.vms[0].create.vm_id, "vm_0000000000000000000000");
	fixture_start(fx);
	RUN_UNTIL(fx, fx->vmd.vms[0].state == VMD_STATE_GONE);
	fixture_wait_state(fx, c, SESSION_VIEW_ENDED);
}

static void a_deleted_container_stays_deleted(void **state)
{
	struct fixture *fx = *state;
	struct answer a = { .called = false };
	struct container_view view;
	char c[ID_SIZE];

	fixture_start(fx);
	(void)fixture_session(fx, c);
	fx->vmd.hold_destroys = true;
	assert_int_equal(core_container_delete(fx->core, &fx->who, c, on_done,
					       &a, &a.err),
			 0);
	RUN_UNTIL(fx, a.called && fx->vmd.destroys == 1);
	fixture_kill(fx);
	fx->vmd.hold_destroys = false;
	fixture_start(fx);
	assert_true(core_container_get(fx->core, &fx->who, c, false, &view,
				       &a.err) < 0);
	RUN_UNTIL(fx, fx->vmd.vms[0].state == VMD_STATE_GONE);
	fixture_settle(fx);
	assert_true(core_container_get(fx->core, &fx->who, c, false, &view,
				       &a.err) < 0);
}

static void cids_are_not_used_again(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE];

	fixture_start(fx);
	(void)fixture_session(fx, c);
	restart(fx);
	(void)fixture_session(fx, c);
	assert_true(fx->vmd.vms[1].create.cid > fx->vmd.vms[0].create.cid);
}

static void the_audit_finds_nothing_and_then_what_is_wrong(void **state)
{
	struct fixture *fx = *state;
	struct answer a = { .called = false };
	char c[ID_SIZE];

	fixture_start(fx);
	(void)fixture_session(fx, c);
	fixture_settle(fx);
	assert_int_equal(core_admin_audit(fx->core, on_json, &a, &a.err), 0);
	RUN_UNTIL(fx, a.called);
	assert_non_null(strstr(a.text, "\"differences\":[]"));

	strcpy(fx->vmd.vms[0].create.vm_id, "vm_0000000000000000000000");
	a = (struct answer){ .called = false };
	assert_int_equal(core_admin_audit(fx->core, on_json, &a, &a.err), 0);
	RUN_UNTIL(fx, a.called);
	assert_non_null(strstr(a.text, "the ledger does not have it"));
	assert_non_null(strstr(a.text, "it does not run"));
}

int main(void)
{
#define TEST(f) \
	cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(an_idle_session_goes_on),
		TEST(a_container_has_the_memory_that_its_pool_had),
		TEST(a_running_execution_comes_to_its_full_result),
		TEST(what_is_over_soon_is_written_once),
		TEST(a_daemon_that_hands_over_writes_what_has_begun),
		TEST(an_execution_whose_row_was_lost_is_taken_up),
		TEST(a_guest_that_is_not_reached_again_did_boot),
		TEST(what_waited_is_run),
		TEST(what_was_finished_meanwhile_is_told),
		TEST(what_was_sent_and_not_noted_comes_one_after_the_other),
		TEST(a_guest_cannot_keep_what_nobody_gave_it),
		TEST(a_finished_record_is_not_run_again),
		TEST(a_vm_that_is_gone_has_ended_its_session),
		TEST(a_create_cut_short_is_boot_failed),
		TEST(a_create_that_vmd_dropped_is_boot_failed),
		TEST(a_create_that_went_through_goes_on_with_its_files),
		TEST(pool_vms_are_kept),
		TEST(pool_vms_of_another_image_are_ended),
		TEST(vms_that_the_ledger_does_not_have_are_destroyed),
		TEST(a_deleted_container_stays_deleted),
		TEST(cids_are_not_used_again),
		TEST(the_audit_finds_nothing_and_then_what_is_wrong),
	};

	return RUN_TESTS(tests);
}
