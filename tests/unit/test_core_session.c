/* SPDX-License-Identifier: Apache-2.0 */
#include "core_fixture.h"

#include <errno.h>
#include <unistd.h>

/* How sessions begin and end. */

static const char *ended_reason(struct fixture *fx, const char *id)
{
	fixture_wait_state(fx, id, SESSION_VIEW_ENDED);
	return fixture_container(fx, id).ended_reason;
}

static void nothing_is_made_before_the_intent_is_durable(void **state)
{
	struct fixture *fx = *state;
	const struct container_spec spec = { .name = "x" };
	struct answer a = { .called = false };
	struct store_container row;

	fixture_start(fx);
	assert_int_equal(core_container_create(fx->core, &fx->who, &spec,
					       on_container, &a, &a.err),
			 0);
	assert_int_equal(fx->vmd.creates, 0);
	RUN_UNTIL(fx, fx->vmd.creates == 1);
	assert_true(a.called);
	assert_int_equal(store_container_get(fx->store, "default", a.id, &row),
			 0);
	assert_string_equal(row.vm_id, fx->vmd.vms[0].create.vm_id);
	assert_true(fx->vmd.vms[0].create.cid >= 0x10000);
}

static void the_idle_limit_ends_it_and_takes_the_last_files(void **state)
{
	struct fixture *fx = *state;
	struct error err = ERROR_INIT;
	struct container_view v;
	struct scripted_guest *g;
	char c[ID_SIZE], e[ID_SIZE];

	fixture_start(fx);
	g = fixture_session(fx, c);
	clock_advance(fx->clock, 19 * USEC_PER_MINUTE);
	fixture_settle(fx);
	assert_int_equal(
		core_container_get(fx->core, &fx->who, c, true, &v, &err), 0);
	assert_int_equal(v.state, SESSION_VIEW_RUNNING);
	clock_advance(fx->clock, 19 * USEC_PER_MINUTE);
	fixture_settle(fx);
	v = fixture_container(fx, c);
	assert_int_equal(v.state, SESSION_VIEW_RUNNING);
	assert_true(v.idle_expires_at > 0);

	/* An execution stops the clock, however long it takes. */
	fixture_exec(fx, c, "x", e);
	RUN_UNTIL(fx, g->execs == 1);
	assert_int_equal(fixture_container(fx, c).idle_expires_at, 0);
	guest_finish(g, WIRE_STATUS_OK, 0);
	fixture_wait_exec(fx, c, e, EXEC_OK);
	fixture_settle(fx);

	clock_advance(fx->clock, 20 * USEC_PER_MINUTE);
	RUN_UNTIL(fx, g->quiesces == 1);
	v = fixture_container(fx, c);
	assert_int_equal(v.state, SESSION_VIEW_STOPPING);
	assert_true(v.expired);
	assert_null(v.ended_reason);
	guest_write(g, "last.txt", "mmap", 4);
	guest_say_changed(g, g->quiesce_call, "last.txt", 4, WIRE_SKIP_NONE);
	guest_say_quiesced(g, 1);
	assert_string_equal(ended_reason(fx, c), "idle_timeout");
	fixture_settle(fx);
	assert_int_equal(vmd_running(&fx->vmd), 0);
}

struct listed {
	unsigned count;
	char id[ID_SIZE];
	char path[256];
};

static void on_listed(void *userdata, const struct cfile_view *file)
{
	struct listed *l = userdata;

	l->count++;
	strcpy(l->id, file->id);
	snprintf(l->path, sizeof(l->path), "%s", file->path);
}

static void files_outlive_their_container(void **state)
{
	struct fixture *fx = *state;
	const struct core_page page = { .limit = 20 };
	struct listed l = { .count = 0 };
	struct error err = ERROR_INIT;
	struct scripted_guest *g;
	char c[ID_SIZE], e[ID_SIZE];
	struct cfile_view file;
	bool more;
	int fd;

	g = fixture_running(fx, "x", c, e);
	guest_write(g, "a.txt", "kept", 4);
	guest_say_changed(g, g->call, "a.txt", 4, WIRE_SKIP_NONE);
	guest_finish(g, WIRE_STATUS_OK, 1);
	fixture_wait_exec(fx, c, e, EXEC_OK);
	vmd_vm_gone(&fx->vmd, fixture_vm(fx, c), VMD_REASON_CRASHED);
	assert_string_equal(ended_reason(fx, c), "vm_crashed");
	fixture_settle(fx);

	assert_int_equal(core_cfile_list(fx->core, &fx->who, c, &page,
					 on_listed, &l, &more, &err),
			 0);
	assert_int_equal(l.count, 1);
	assert_string_equal(l.path, "/mnt/data/a.txt");
	assert_int_equal(
		core_cfile_open(fx->core, &fx->who, c, l.id, &file, &fd, &err),
		0);
	close(fd);
	/* And its execution reads as before. */
	assert_int_equal(fixture_exec_view(fx, c, e).status, EXEC_OK);

	/* But for the retention time only. */
	clock_advance(fx->clock, 25 * USEC_PER_HOUR);
	RUN_UNTIL(fx,
		  core_cfile_get(fx->core, &fx->who, c, l.id, &file, &err) < 0);
	assert_int_equal(err.code, ERR_NOT_FOUND);
}

static void the_hard_limit_ends_what_runs(void **state)
{
	struct fixture *fx = *state;
	struct scripted_guest *g;
	char c[ID_SIZE], e[ID_SIZE];
	struct exec_view v;

	fixture_set(fx, "session.hard=100");
	fixture_set(fx, "exec.max_timeout=300");
	fixture_set(fx, "exec.timeout=300");
	fixture_start(fx);
	g = fixture_session(fx, c);
	assert_true(fixture_container(fx, c).hard_expires_at > 0);
	RUN_UNTIL(fx, fx->vmd.deadlines == 1);
	fixture_exec(fx, c, "x", e);
	RUN_UNTIL(fx, g->execs == 1);
	guest_say_output(g, g->call, WIRE_STDERR, 0, "warn");
	fixture_settle(fx);
	clock_advance(fx->clock, 100 * USEC_PER_SEC);
	RUN_UNTIL(fx, g->quiesces == 1);
	v = fixture_exec_view(fx, c, e);
	assert_int_equal(v.status, EXEC_SESSION_LOST);
	assert_string_equal(v.error_name, "hard_limit");
	assert_memory_equal(v.err, "warn", 4);
	assert_int_equal(v.total_bytes, 4);
	/* A guest that does not answer QUIESCE is not waited for for ever. */
	clock_advance(fx->clock, 11 * USEC_PER_SEC);
	assert_string_equal(ended_reason(fx, c), "hard_limit");
}

static void a_vm_that_dies_ends_all_its_executions(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE], first[ID_SIZE], second[ID_SIZE];
	struct scripted_guest *g;
	struct exec_view v;

	fixture_start(fx);
	g = fixture_session(fx, c);
	fixture_exec(fx, c, "a", first);
	fixture_exec(fx, c, "b", second);
	RUN_UNTIL(fx, g->execs == 1);
	guest_say_output(g, g->call, WIRE_STDOUT, 0, "half");
	fixture_settle(fx);
	vmd_vm_gone(&fx->vmd, fixture_vm(fx, c), VMD_REASON_PANICKED);
	assert_string_equal(ended_reason(fx, c), "guest_panic");
	v = fixture_exec_view(fx, c, first);
	assert_int_equal(v.status, EXEC_SESSION_LOST);
	assert_string_equal(v.error_name, "guest_panic");
	assert_memory_equal(v.out, "half", 4);
	assert_int_equal(v.total_bytes, 4);
	assert_int_equal(v.omitted_bytes, 0);
	v = fixture_exec_view(fx, c, second);
	assert_int_equal(v.total_bytes, 0);
	assert_int_equal(v.duration_msec, 0);
	assert_int_equal(v.status, EXEC_SESSION_LOST);
	assert_int_equal(fixture_container(fx, c).usage.cpu_msec, 7000);
}

static void a_guest_that_powers_off_is_not_started_again(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE], id[ID_SIZE];
	struct scripted_guest *g;
	struct exec_view v;

	fixture_start(fx);
	g = fixture_session(fx, c);
	fixture_exec(fx, c, "a", id);
	RUN_UNTIL(fx, g->execs == 1);
	vmd_vm_gone(&fx->vmd, fixture_vm(fx, c), VMD_REASON_SHUTDOWN);
	assert_string_equal(ended_reason(fx, c), "guest_shutdown");
	v = fixture_exec_view(fx, c, id);
	assert_int_equal(v.status, EXEC_SESSION_LOST);
	assert_string_equal(v.error_name, "guest_shutdown");
	fixture_settle(fx);
	assert_int_equal(fx->vmd.creates, 1);
}

static void an_expired_container_says_when_why_and_what_to_do(void **state)
{
	struct fixture *fx = *state;
	const struct exec_spec spec = { .code = "x",
					.code_len = 1,
					.stdin_data = "" };
	struct answer a = { .called = false };
	struct core_upload *upload;
	char c[ID_SIZE];

	fixture_start(fx);
	(void)fixture_session(fx, c);
	vmd_vm_gone(&fx->vmd, fixture_vm(fx, c), VMD_REASON_EXTERNAL);
	assert_string_equal(ended_reason(fx, c), "destroyed_externally");
	fixture_settle(fx);
	assert_true(core_exec_start(fx->core, &fx->who, c, &spec, on_exec, &a,
				    &a.err) < 0);
	assert_int_equal(a.err.code, ERR_NOT_FOUND);
	assert_string_equal(a.err.reason, "container_expired");
	assert_non_null(strstr(a.err.message, "expired"));
	assert_non_null(strstr(a.err.message, "destroyed_externally"));
	error_clear(&a.err);
	assert_true(core_upload_new(fx->core, &fx->who, c, UINT64_MAX, NULL,
				    NULL, &upload, &a.err) < 0);
	assert_string_equal(a.err.reason, "container_expired");
}

static void erase(struct fixture *fx, const char *id)
{
	struct answer a = { .called = false };
	struct container_view view;

	if (core_container_delete(fx->core, &fx->who, id, on_done, &a, &a.err) <
	    0)
		fail_msg("%s", a.err.message);
	RUN_UNTIL(fx, a.called);
	assert_false(a.failed);
	assert_true(core_container_get(fx->core, &fx->who, id, false, &view,
				       &a.err) < 0);
	assert_int_equal(a.err.code, ERR_NOT_FOUND);
	assert_string_equal(a.err.reason, "");
	error_clear(&a.err);
	assert_true(core_container_delete(fx->core, &fx->who, id, on_done, &a,
					  &a.err) < 0);
	RUN_UNTIL(fx, vmd_running(&fx->vmd) == 0);
	fixture_settle(fx);
}

static void delete_works_in_every_state(void **state)
{
	struct fixture *fx = *state;
	struct scripted_guest *g;
	char c[ID_SIZE], e[ID_SIZE];
	struct answer a;

	fixture_start(fx);
	fixture_create_held(fx, &a);
	erase(fx, a.id); /* being created */
	fx->vmd.hold_creates = false;

	fx->vmd.mute_guests = true;
	fixture_create(fx, NULL, 0, &a);
	RUN_UNTIL(fx, fx->vmd.dials == 1);
	erase(fx, a.id); /* booting */
	fx->vmd.mute_guests = false;

	(void)fixture_session(fx, c);
	erase(fx, c); /* idle */

	g = fixture_session(fx, c);
	fixture_exec(fx, c, "x", e);
	RUN_UNTIL(fx, g->execs == 1);
	erase(fx, c); /* executing */

	g = fixture_session(fx, c);
	clock_advance(fx->clock, 20 * USEC_PER_MINUTE);
	RUN_UNTIL(fx, g->quiesces == 1);
	erase(fx, c); /* in its last harvest */

	(void)fixture_session(fx, c);
	vmd_vm_gone(&fx->vmd, fixture_vm(fx, c), VMD_REASON_CRASHED);
	(void)ended_reason(fx, c);
	erase(fx, c); /* ended */
}

static void a_vm_that_cannot_be_made_is_boot_failed(void **state)
{
	struct fixture *fx = *state;
	char e[ID_SIZE];
	struct exec_view v;
	struct answer a;

	fixture_start(fx);
	fx->vmd.hold_creates = true;
	fixture_create(fx, NULL, 0, &a);
	fixture_exec(fx, a.id, "x", e);
	assert_int_equal(fixture_exec_view(fx, a.id, e).status, EXEC_QUEUED);
	clock_advance(fx->clock, 61 * USEC_PER_SEC);
	assert_string_equal(ended_reason(fx, a.id), "boot_failed");
	v = fixture_exec_view(fx, a.id, e);
	assert_int_equal(v.status, EXEC_SESSION_LOST);
	assert_string_equal(v.error_name, "boot_failed");

	fx->vmd.hold_creates = false;
	fx->vmd.fail_create = -EIO;
	fixture_create(fx, NULL, 0, &a);
	assert_string_equal(ended_reason(fx, a.id), "boot_failed");
	fixture_settle(fx);
	assert_int_equal(vmd_running(&fx->vmd), 0);
}

static void a_guest_that_never_becomes_ready_is_boot_failed(void **state)
{
	struct fixture *fx = *state;
	struct answer a;

	fixture_start(fx);
	fx->vmd.mute_guests = true;
	fixture_create(fx, NULL, 0, &a);
	RUN_UNTIL(fx, fx->vmd.dials == 1);
	clock_advance(fx->clock, 61 * USEC_PER_SEC);
	assert_string_equal(ended_reason(fx, a.id), "boot_failed");
}

static void a_vm_that_vanished_while_vmd_was_away_has_crashed(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE];

	fixture_start(fx);
	(void)fixture_session(fx, c);
	vmd_script_drop(&fx->vmd);
	RUN_UNTIL(fx, !vmd_client_hello(fx->client));
	guest_free(fx->vmd.vms[0].guest);
	fx->vmd.count = 0;
	fixture_connect(fx);
	assert_string_equal(ended_reason(fx, c), "vm_crashed");
}

static void on_stopped(void *userdata)
{
	*(bool *)userdata = true;
}

static void stopping_drains_everything(void **state)
{
	struct fixture *fx = *state;
	const struct container_spec spec = { .name = "x" };
	struct answer a = { .called = false };
	struct scripted_guest *g;
	bool stopped = false;
	char c[ID_SIZE];

	fixture_set(fx, "pool.default.ready=1");
	fixture_start(fx);
	g = fixture_session(fx, c);
	RUN_UNTIL(fx, fx->vmd.count == 2);
	core_stop(fx->core, CORE_STOP_END, on_stopped, &stopped);
	assert_true(core_container_create(fx->core, &fx->who, &spec,
					  on_container, &a, &a.err) < 0);
	assert_int_equal(a.err.code, ERR_CAPACITY);
	RUN_UNTIL(fx, g->quiesces == 1);
	assert_false(stopped);
	guest_say_quiesced(g, 0);
	RUN_UNTIL(fx, stopped);
	assert_int_equal(vmd_running(&fx->vmd), 0);
	assert_string_equal(ended_reason(fx, c), "drained");
}

int main(void)
{
#define TEST(f) \
	cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(nothing_is_made_before_the_intent_is_durable),
		TEST(the_idle_limit_ends_it_and_takes_the_last_files),
		TEST(files_outlive_their_container),
		TEST(the_hard_limit_ends_what_runs),
		TEST(a_vm_that_dies_ends_all_its_executions),
		TEST(a_guest_that_powers_off_is_not_started_again),
		TEST(an_expired_container_says_when_why_and_what_to_do),
		TEST(delete_works_in_every_state),
		TEST(a_vm_that_cannot_be_made_is_boot_failed),
		TEST(a_guest_that_never_becomes_ready_is_boot_failed),
		TEST(a_vm_that_vanished_while_vmd_was_away_has_crashed),
		TEST(stopping_drains_everything),
	};

	return RUN_TESTS(tests);
}
