/* SPDX-License-Identifier: Apache-2.0 */
/* What the operator sees and does. */

#include "core_fixture.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "core/core_admin.h"
#include "core/core_exec.h"
#include "store/store.h"

static void assert_has(const struct answer *a, const char *text)
{
	if (!strstr(a->text, text))
		fail_msg("'%s' is not in %s", text, a->text);
}

/* ---------------------------------------------------------------------- top */

static void look(struct fixture *fx, struct answer *ret)
{
	*ret = (struct answer){ .called = false };
	assert_int_equal(core_admin_top(fx->core, on_json, ret, &ret->err), 0);
	assert_false(ret->called);
	RUN_UNTIL(fx, ret->called);
	assert_false(ret->failed);
}

static void top_has_what_core_knows_and_what_vmd_measures(void **state)
{
	struct fixture *fx = *state;
	struct scripted_guest *g;
	char c[ID_SIZE], e[ID_SIZE];
	struct answer a;

	g = fixture_running(fx, "x", c, e);
	look(fx, &a);
	assert_has(&a, c);
	assert_has(&a, "\"state\":\"executing\"");
	assert_has(&a, "\"executing\":{\"id\":\"exec_");
	assert_has(&a, "\"last_execution\":null");
	assert_has(&a, "\"cpu_usec\":5000");
	assert_has(&a, "\"disk_used_bytes\":100");
	/* What cannot be measured is no zero. */
	assert_has(&a, "\"memory_used_bytes\":null");

	guest_finish(g, WIRE_STATUS_ERROR, 0);
	fixture_wait_exec(fx, c, e, EXEC_ERROR);
	look(fx, &a);
	assert_has(&a, "\"executing\":null");
	assert_has(&a, "\"last_execution\":{\"id\":\"exec_");
	assert_has(&a, "\"status\":\"error\"");

	/* The next daemon knows it as well. */
	fixture_kill(fx);
	fixture_start(fx);
	look(fx, &a);
	assert_has(&a, "\"status\":\"error\"");
}

static void top_works_without_vms_and_without_vmd(void **state)
{
	struct fixture *fx = *state;
	struct answer a;
	char c[ID_SIZE];

	fixture_set(fx, "pool.default.ready=0");
	fixture_start(fx);
	look(fx, &a);
	assert_has(&a, "\"data\":[]");
	(void)fixture_session(fx, c);
	vmd_script_drop(&fx->vmd);
	fixture_settle(fx);
	look(fx, &a);
	assert_has(&a, c);
	assert_has(&a, "\"cpu_usec\":null");
}

/* ------------------------------------------------------------------ console */

static int read_console(struct fixture *fx, const char *id, struct answer *ret)
{
	int r;

	*ret = (struct answer){ .called = false };
	r = core_admin_console(fx->core, id, on_json, ret, &ret->err);
	if (r >= 0)
		RUN_UNTIL(fx, ret->called);
	return r;
}

static void a_console_is_found_by_container_and_vm_dead_or_alive(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE], vm[VMD_ID_MAX];
	struct answer a, gone = { .called = false };

	fx->vmd.console = "Linux version 6\n\033[2Jpanic \377";
	fx->vmd.console_lost = 1000;
	fixture_start(fx);
	(void)fixture_session(fx, c);
	strcpy(vm, fixture_container(fx, c).vm);
	assert_int_equal(read_console(fx, c, &a), 0);
	assert_has(&a, vm);
	assert_has(&a, "\"total_bytes\":1027");
	assert_has(&a, "\"omitted_bytes\":1000");
	/* What a guest writes is made fit for JSON. */
	assert_has(&a, "6\\n\\u001b[2Jpanic \357\277\275\"");
	assert_int_equal(read_console(fx, vm, &a), 0);
	assert_has(&a, "panic");

	assert_int_equal(
		core_admin_kill(fx->core, c, on_done, &gone, &gone.err), 0);
	fixture_wait_state(fx, c, SESSION_VIEW_ENDED);
	assert_int_equal(read_console(fx, c, &a), 0);
	assert_has(&a, "panic");
	fixture_kill(fx);
	fixture_start(fx);
	assert_int_equal(read_console(fx, c, &a), 0);
	assert_has(&a, "panic");
}

static void a_console_that_is_nowhere_is_not_found(void **state)
{
	struct fixture *fx = *state;
	struct answer a;
	char c[ID_SIZE];

	fixture_start(fx);
	(void)fixture_session(fx, c);
	assert_int_equal(read_console(fx, c, &a), 0);
	assert_true(a.failed);
	assert_int_equal(a.err.code, ERR_NOT_FOUND);
	assert_true(read_console(fx, "cntr_no", &a) < 0);
	assert_int_equal(a.err.code, ERR_NOT_FOUND);
	assert_true(read_console(fx, "../etc", &a) < 0);
	assert_int_equal(a.err.code, ERR_NOT_FOUND);
	vmd_script_drop(&fx->vmd);
	fixture_settle(fx);
	assert_true(read_console(fx, c, &a) < 0);
	assert_int_equal(a.err.code, ERR_HYPERVISOR);
}

/* -------------------------------------------------------------------- pools */

static int set_ready(struct fixture *fx, uint64_t ready, struct error *err)
{
	_cleanup_(buf_done) struct buf json = BUF_INIT(4096);

	return core_admin_pool_set(fx->core, "default", ready, &json, err);
}

static uint64_t running(struct fixture *fx)
{
	fixture_settle(fx);
	return vmd_running(&fx->vmd);
}

static void a_target_is_changed_while_the_daemon_runs(void **state)
{
	struct fixture *fx = *state;
	struct error err = ERROR_INIT;
	char c[ID_SIZE];

	fixture_set(fx, "pool.default.ready=1");
	fixture_set(fx, "pool.default.max=4");
	fixture_start(fx);
	(void)fixture_session(fx, c);
	RUN_UNTIL(fx, vmd_running(&fx->vmd) == 2);
	assert_int_equal(set_ready(fx, 3, &err), 0);
	RUN_UNTIL(fx, vmd_running(&fx->vmd) == 4);

	/* Fewer: those beyond end, the session does not. */
	assert_int_equal(set_ready(fx, 0, &err), 0);
	RUN_UNTIL(fx, vmd_running(&fx->vmd) == 1);
	assert_int_equal(fixture_container(fx, c).state, SESSION_VIEW_RUNNING);
	assert_int_equal(running(fx), 1);

	assert_int_equal(set_ready(fx, POOL_READY_SETTING, &err), 0);
	RUN_UNTIL(fx, vmd_running(&fx->vmd) == 2);
	assert_int_equal(running(fx), 2);
	assert_true(set_ready(fx, 5, &err) < 0);
	assert_int_equal(err.code, ERR_BAD_REQUEST);
	assert_non_null(strstr(err.message, "at most 4"));
}

static void vms_that_boot_go_before_those_that_are_ready(void **state)
{
	struct fixture *fx = *state;
	struct error err = ERROR_INIT;

	fixture_set(fx, "pool.default.ready=1");
	fixture_start(fx);
	RUN_UNTIL(fx, vmd_running(&fx->vmd) == 1);
	fixture_settle(fx);
	fx->vmd.mute_guests = true;
	assert_int_equal(set_ready(fx, 2, &err), 0);
	RUN_UNTIL(fx, vmd_running(&fx->vmd) == 2);
	assert_int_equal(set_ready(fx, 1, &err), 0);
	RUN_UNTIL(fx, vmd_running(&fx->vmd) == 1);
	assert_int_equal(vmd_vm(&fx->vmd, 0)->state, VMD_STATE_RUNNING);
}

/* --------------------------------------------------------------------- mend */

static void look_into_books(struct fixture *fx, bool mend, struct answer *ret)
{
	*ret = (struct answer){ .called = false };
	assert_int_equal((mend ? core_admin_mend : core_admin_audit)(
				 fx->core, on_json, ret, &ret->err),
			 0);
	RUN_UNTIL(fx, ret->called);
	assert_false(ret->failed);
}

/* After it was mended, and what that began is over, nothing is left. */
static void mend_and_look_again(struct fixture *fx, const char *what,
				const char *done)
{
	struct answer a;

	look_into_books(fx, false, &a);
	assert_has(&a, what);
	assert_null(strstr(a.text, "mended"));
	look_into_books(fx, true, &a);
	assert_has(&a, what);
	assert_has(&a, done);
	fixture_settle(fx);
	look_into_books(fx, false, &a);
	assert_has(&a, "\"differences\":[]");
}

static void a_stray_vm_and_an_absent_one_are_mended(void **state)
{
	struct fixture *fx = *state;
	struct answer a;
	char c[ID_SIZE];

	fixture_start(fx);
	(void)fixture_session(fx, c);
	fixture_settle(fx);
	strcpy(fx->vmd.vms[0].create.vm_id, "vm_0000000000000000000000");
	mend_and_look_again(fx, "the ledger does not have it",
			    "\"mended\":\"it is being ended\"");
	look_into_books(fx, true, &a);
	assert_has(&a, "\"differences\":[]");
	assert_string_equal(fixture_container(fx, c).ended_reason,
			    "vm_crashed");
	assert_int_equal(fx->vmd.vms[0].state, VMD_STATE_GONE);
}

static void a_vm_that_lost_a_part_ends_with_its_session(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE];

	fixture_start(fx);
	(void)fixture_session(fx, c);
	fx->vmd.vms[0].lost_parts = VMD_PART_BACKEND;
	mend_and_look_again(fx, "parts of it are missing",
			    "and its session with it");
	fixture_wait_state(fx, c, SESSION_VIEW_ENDED);
	assert_string_equal(fixture_container(fx, c).ended_reason,
			    "vm_crashed");
}

static void on_written(void *userdata, int r)
{
	assert_int_equal(r, 0);
	*(bool *)userdata = true;
}

static void lines_about_nothing_go(void **state)
{
	struct store_vm line = { .id = "vm_0000000000000000000000",
				 .pool = "default",
				 .state = "ready" };
	struct fixture *fx = *state;
	struct store_batch *batch;
	bool written = false;

	fixture_start(fx);
	batch = store_batch_new(fx->store);
	assert_int_equal(store_batch_put_vm(batch, &line), 0);
	assert_int_equal(store_commit(fx->store, batch, on_written, &written),
			 0);
	RUN_UNTIL(fx, written);
	mend_and_look_again(fx, "its line is left", "the line is removed");
}

static void a_session_that_nobody_has_ends(void **state)
{
	struct store_container row = {
		.id = "cntr_00000000000000000000000000000000",
		.tenant = "default",
		.dialect = "openai",
		.origin = "api",
		.pool = "default",
		.state = "running",
		.idle_minutes = 20,
		.created_usec = 1,
	};
	struct fixture *fx = *state;
	struct store_batch *batch;
	bool written = false;
	struct answer a;
	char c[ID_SIZE];

	fixture_start(fx);
	(void)fixture_session(fx, c);
	batch = store_batch_new(fx->store);
	assert_int_equal(store_batch_put_container(batch, &row), 0);
	assert_int_equal(store_commit(fx->store, batch, on_written, &written),
			 0);
	RUN_UNTIL(fx, written);
	mend_and_look_again(fx, "nobody has it", "its session has ended");
	assert_int_equal(fixture_container(fx, c).state, SESSION_VIEW_RUNNING);
	look_into_books(fx, false, &a);
	assert_has(&a, "\"containers\":1");
}

static void what_two_vms_claim_is_left_to_a_person(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE], d[ID_SIZE];
	struct answer a;

	fixture_start(fx);
	(void)fixture_session(fx, c);
	(void)fixture_session(fx, d);
	fx->vmd.vms[1].create.cid = fx->vmd.vms[0].create.cid;
	look_into_books(fx, true, &a);
	assert_has(&a, "another VM has its CID\",\"mended\":null");
	assert_int_equal(fixture_container(fx, c).state, SESSION_VIEW_RUNNING);
	assert_int_equal(fixture_container(fx, d).state, SESSION_VIEW_RUNNING);
}

/* -------------------------------------------------------------------- probe */

static int probe(struct fixture *fx, const char *pool, const char *accelerator,
		 struct answer *ret)
{
	int r;

	*ret = (struct answer){ .called = false };
	r = core_admin_probe(fx->core, pool, accelerator, on_json, ret,
			     &ret->err);
	if (r >= 0)
		RUN_UNTIL(fx, ret->called);
	return r;
}

static void a_probe_tells_each_stage_and_takes_room_meanwhile(void **state)
{
	struct fixture *fx = *state;
	struct answer a;
	char c[ID_SIZE];

	fixture_set(fx, "pool.default.ready=0");
	fixture_set(fx, "pool.default.max=1");
	fixture_set(fx, "host.allow_emulation=yes");
	fixture_start(fx);
	assert_int_equal(probe(fx, NULL, "qemu", &a), 0);
	assert_has(&a, "\"accelerator\":\"qemu\",\"booted\":true");
	assert_has(&a, "\"create_ms\":1.0,\"boot_ms\":2000.0,\"echo_ms\":3.0");
	assert_int_equal(probe(fx, "default", "kvm", &a), 0);
	assert_has(&a, "\"booted\":false");
	/* What was not reached took no time. */
	assert_has(&a, "\"boot_ms\":null,\"echo_ms\":null");
	fx->vmd.fail_probe = -EBUSY;
	assert_int_equal(probe(fx, "default", "kvm", &a), 0);
	assert_true(a.failed);
	assert_int_equal(a.err.code, ERR_CONFLICT);

	/* The room is given back each time, and there is none while it is full. */
	(void)fixture_session(fx, c);
	assert_true(probe(fx, NULL, "kvm", &a) < 0);
	assert_int_equal(a.err.code, ERR_CAPACITY);
}

static void a_probe_that_cannot_be_is_refused(void **state)
{
	struct fixture *fx = *state;
	struct answer a;

	fixture_set(fx, "host.allow_emulation=no");
	fixture_start(fx);
	assert_true(probe(fx, NULL, "qemu", &a) < 0);
	assert_int_equal(a.err.code, ERR_FORBIDDEN);
	assert_true(probe(fx, NULL, "none", &a) < 0);
	assert_int_equal(a.err.code, ERR_BAD_REQUEST);
	assert_true(probe(fx, "other", "kvm", &a) < 0);
	assert_int_equal(a.err.code, ERR_NOT_FOUND);
	vmd_script_drop(&fx->vmd);
	fixture_settle(fx);
	assert_true(probe(fx, NULL, "kvm", &a) < 0);
	assert_int_equal(a.err.code, ERR_HYPERVISOR);
}

int main(void)
{
#define TEST(f) \
	cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(top_has_what_core_knows_and_what_vmd_measures),
		TEST(top_works_without_vms_and_without_vmd),
		TEST(a_console_is_found_by_container_and_vm_dead_or_alive),
		TEST(a_console_that_is_nowhere_is_not_found),
		TEST(a_target_is_changed_while_the_daemon_runs),
		TEST(vms_that_boot_go_before_those_that_are_ready),
		TEST(a_stray_vm_and_an_absent_one_are_mended),
		TEST(a_vm_that_lost_a_part_ends_with_its_session),
		TEST(lines_about_nothing_go),
		TEST(a_session_that_nobody_has_ends),
		TEST(what_two_vms_claim_is_left_to_a_person),
		TEST(a_probe_tells_each_stage_and_takes_room_meanwhile),
		TEST(a_probe_that_cannot_be_is_refused),
	};

	return RUN_TESTS(tests);
}
