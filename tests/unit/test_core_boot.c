/* SPDX-License-Identifier: Apache-2.0 */
/* What starts and executions took: taken apart, counted and told. */

#include "core_fixture.h"

#include "core/boot_trace.h"
#include "core/core_admin.h"

static double count_of(struct fixture *fx, enum boot_stage stage)
{
	char labels[128];

	(void)snprintf(labels, sizeof(labels), "pool=\"default\",stage=\"%s\"",
		       boot_stage_name(stage));
	return fixture_figure(fx, "cupola_boot_seconds_count", labels);
}

static usec_t sum(const struct boot_trace *t)
{
	usec_t all = 0;
	int i;

	for (i = 0; i < BOOT_TOTAL; i++)
		all += t->usec[i];
	return all;
}

static void each_stage_is_as_long_as_its_end_is_later(void **state)
{
	const struct vmd_created created = {
		.queued_usec = 1,
		.disk_usec = 2,
		.backend_usec = 3,
		.libvirt_usec = 4,
		.qemu_usec = 5,
	};
	const uint64_t stages[WIRE_STAGE_COUNT] = {
		[WIRE_STAGE_AGENT] = 100,	[WIRE_STAGE_LISTEN] = 150,
		[WIRE_STAGE_IMPORTED] = 500,	[WIRE_STAGE_CONFIGURED] = 160,
		[WIRE_STAGE_KERNEL] = 530,
	};
	struct boot_trace t = { .planned = 1000 };

	(void)state;
	boot_trace_committed(&t, 1010);
	boot_trace_created(&t, &created, 1025);
	boot_trace_ready(&t, stages, 1625);
	assert_int_equal(t.usec[BOOT_ADMISSION], 10);
	assert_int_equal(t.usec[BOOT_QEMU], 5);
	assert_int_equal(t.usec[BOOT_FIRMWARE], 70);
	assert_int_equal(t.usec[BOOT_KERNEL], 100);
	assert_int_equal(t.usec[BOOT_GUEST], 50);
	assert_int_equal(t.usec[BOOT_IMPORTS], 350);
	assert_int_equal(t.usec[BOOT_SESSION], 30);
	assert_int_equal(t.usec[BOOT_TOTAL], 625);
	assert_int_equal(sum(&t), t.usec[BOOT_TOTAL]);
}

/* Its figures are its own, but its time is ours. */
static void a_guest_that_lies_fills_no_more_than_the_time_it_had(void **state)
{
	const uint64_t stages[WIRE_STAGE_COUNT] = {
		[WIRE_STAGE_AGENT] = UINT64_MAX,
		[WIRE_STAGE_LISTEN] = 1,
		[WIRE_STAGE_IMPORTED] = UINT64_MAX,
		[WIRE_STAGE_KERNEL] = 0,
	};
	const struct vmd_created created = { 0 };
	struct boot_trace t = { .planned = 1000 };

	(void)state;
	boot_trace_created(&t, &created, 1000);
	boot_trace_ready(&t, stages, 1600);
	assert_int_equal(t.usec[BOOT_TOTAL], 600);
	assert_int_equal(sum(&t), 600);
}

static void each_start_is_counted_once_and_so_is_its_first_execution(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE], e[ID_SIZE];
	struct scripted_guest *g;
	int i;

	g = fixture_running(fx, "1", c, e);
	for (i = 0; i <= BOOT_TOTAL; i++)
		assert_true(count_of(fx, (enum boot_stage)i) == 1);
	assert_true(count_of(fx, BOOT_FIRST_EXECUTION) == 0);
	guest_finish(g, WIRE_STATUS_OK, 0);
	fixture_wait_exec(fx, c, e, EXEC_OK);
	fixture_exec(fx, c, "2", e);
	RUN_UNTIL(fx, g->execs == 2 && g->input.length > 0);
	guest_finish(g, WIRE_STATUS_OK, 0);
	fixture_wait_exec(fx, c, e, EXEC_OK);
	assert_true(count_of(fx, BOOT_FIRST_EXECUTION) == 1);

	/* Greeting again is no start. */
	fixture_kill(fx);
	fixture_start(fx);
	fixture_wait_state(fx, c, SESSION_VIEW_RUNNING);
	fixture_settle(fx);
	fixture_exec(fx, c, "3", e);
	RUN_UNTIL(fx, g->execs == 3 && g->input.length > 0);
	guest_finish(g, WIRE_STATUS_OK, 0);
	fixture_wait_exec(fx, c, e, EXEC_OK);
	for (i = 0; i < BOOT_STAGE_COUNT; i++)
		assert_true(count_of(fx, (enum boot_stage)i) == 0);
}

static void an_executions_time_is_told_from_outside_to_inside(void **state)
{
	const struct message_done done = {
		.status = WIRE_STATUS_OK,
		.wall_usec = 2 * USEC_PER_SEC,
		.cpu_usec = USEC_PER_SEC,
		.kernel_epoch = 1,
	};
	struct fixture *fx = *state;
	char c[ID_SIZE], e[ID_SIZE];
	struct scripted_guest *g;

	g = fixture_running(fx, "1", c, e);
	clock_advance(fx->clock, 3 * USEC_PER_SEC);
	guest_say_done(g, g->call, &done);
	fixture_wait_exec(fx, c, e, EXEC_OK);
	assert_true(fixture_figure(fx, "cupola_executing_awaited_seconds_total",
			      "") == 3);
	assert_true(fixture_figure(fx, "cupola_executing_seconds_total", "") == 2);
	assert_true(fixture_figure(fx, "cupola_executing_cpu_seconds_total", "") ==
		    1);
}

int main(void)
{
#define TEST(f) \
	cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(each_stage_is_as_long_as_its_end_is_later),
		TEST(a_guest_that_lies_fills_no_more_than_the_time_it_had),
		TEST(each_start_is_counted_once_and_so_is_its_first_execution),
		TEST(an_executions_time_is_told_from_outside_to_inside),
	};

	return RUN_TESTS(tests);
}
