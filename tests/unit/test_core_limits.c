/* SPDX-License-Identifier: Apache-2.0 */
/* What a session's limits go by, and what counts as activity. */

#include "core_fixture.h"

#include <errno.h>

#include "core/core_exec.h"

#define IDLE (20 * USEC_PER_MINUTE) /* of the dialect that tests ask in */

static bool has_expired(struct fixture *fx, const char *c)
{
	fixture_settle(fx);
	return fixture_container(fx, c).expired;
}

/* Dates that the host may be given, in microseconds since 1970. */
static const usec_t dates[] = {
	(1700000000ull + 7200) * USEC_PER_SEC,
	(1700000000ull - 7200) * USEC_PER_SEC,
	USEC_PER_HOUR,
	2208988800ull * USEC_PER_SEC,
};

static void the_hosts_date_decides_no_limit(void **state)
{
	struct fixture *fx = *state;
	struct container_view v;
	char c[ID_SIZE];
	size_t i;

	fixture_start(fx);
	for (i = 0; i < sizeof(dates) / sizeof(dates[0]); i++) {
		(void)fixture_session(fx, c);
		clock_advance(fx->clock, 10 * USEC_PER_SEC);
		clock_set_wall(fx->clock, dates[i]);
		clock_advance(fx->clock, IDLE - 11 * USEC_PER_SEC);
		assert_false(has_expired(fx, c));
		v = fixture_container(fx, c);
		assert_int_equal(v.usage.assigned_sec,
				 (IDLE - USEC_PER_SEC) / USEC_PER_SEC);
		assert_int_equal(v.idle_expires_at,
				 (int64_t)(clock_wall(fx->clock) /
					   USEC_PER_SEC) +
					 1);
		clock_advance(fx->clock, USEC_PER_SEC);
		assert_true(has_expired(fx, c));
	}
}

static void nor_does_it_at_a_restart(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE];
	size_t i;

	for (i = 0; i < sizeof(dates) / sizeof(dates[0]); i++) {
		fixture_start(fx);
		(void)fixture_session(fx, c);
		clock_advance(fx->clock, 10 * USEC_PER_SEC);
		fixture_settle(fx);
		fixture_kill(fx);
		clock_set_wall(fx->clock, dates[i]);
		fixture_start(fx);
		fixture_settle(fx);
		clock_advance(fx->clock, IDLE - 11 * USEC_PER_SEC);
		assert_false(has_expired(fx, c));
		clock_advance(fx->clock, USEC_PER_SEC);
		assert_true(has_expired(fx, c));
		fixture_kill(fx);
	}
}

static void a_host_that_slept_ends_what_is_past_its_limit(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE], e[ID_SIZE];

	fixture_set(fx, "session.hard=120");
	(void)fixture_running(fx, "x", c, e);
	clock_advance(fx->clock, 300 * USEC_PER_SEC);
	fixture_wait_exec(fx, c, e, EXEC_SESSION_LOST);
	assert_string_equal(fixture_exec_view(fx, c, e).error_name,
			    "hard_limit");
	assert_true(fixture_container(fx, c).expired);
}

static void no_cfile(void *userdata, const struct cfile_view *file)
{
	(void)userdata;
	(void)file;
}

static void no_room(void *userdata)
{
	(void)userdata;
}

/* Ways of an owner to show that a session is still wanted; each is good. */

static void look(struct fixture *fx, const struct principal *who, const char *c)
{
	struct container_view v;
	struct error err = ERROR_INIT;

	(void)core_container_get(fx->core, who, c, true, &v, &err);
}

static void list_files(struct fixture *fx, const struct principal *who,
		       const char *c)
{
	const struct core_page page = { .limit = 10 };
	struct error err = ERROR_INIT;
	bool more;

	(void)core_cfile_list(fx->core, who, c, &page, no_cfile, NULL, &more,
			      &err);
}

static void upload(struct fixture *fx, const struct principal *who,
		   const char *c)
{
	struct core_upload *u = NULL;
	struct error err = ERROR_INIT;

	if (core_upload_new(fx->core, who, c, 1, no_room, NULL, &u, &err) == 0)
		core_upload_free(u);
}

/* Ways that do not count, whoever goes them. */

static void look_on(struct fixture *fx, const struct principal *who,
		    const char *c)
{
	struct container_view v;
	struct error err = ERROR_INIT;

	(void)core_container_get(fx->core, who, c, false, &v, &err);
}

static void run_nothing(struct fixture *fx, const struct principal *who,
			const char *c)
{
	const struct exec_spec spec = { .code = "x", .code_len = 1,
					.stdin_data = "",
					.timeout_usec = USEC_PER_DAY };
	struct answer a = { .called = false };

	assert_true(core_exec_start(fx->core, who, c, &spec, on_exec, &a,
				    &a.err) < 0);
}

static void find_no_file(struct fixture *fx, const struct principal *who,
			 const char *c)
{
	struct cfile_view v;
	struct error err = ERROR_INIT;

	assert_true(core_cfile_get(fx->core, who, c, "cfile_no", &v, &err) < 0);
}

static const struct {
	void (*go)(struct fixture *fx, const struct principal *who,
		   const char *c);
	bool counts;
} ways[] = {
	{ look, true },	  { list_files, true },	  { upload, true },
	{ look_on, false }, { run_nothing, false }, { find_no_file, false },
};

static void what_counts_as_activity_moves_the_idle_limit(void **state)
{
	struct fixture *fx = *state;
	struct principal other = { .tenant = "other", .scopes = CORE_SCOPE_ALL };
	char c[ID_SIZE];
	size_t i;

	fixture_start(fx);
	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		(void)fixture_session(fx, c);
		clock_advance(fx->clock, IDLE - USEC_PER_SEC);
		fixture_settle(fx);
		ways[i].go(fx, &fx->who, c);
		clock_advance(fx->clock, USEC_PER_SEC);
		if (has_expired(fx, c) == ways[i].counts)
			fail_msg("way %zu is wrong", i);

		/* Another tenant keeps nobody's session alive. */
		(void)fixture_session(fx, c);
		clock_advance(fx->clock, IDLE - USEC_PER_SEC);
		fixture_settle(fx);
		if (ways[i].counts)
			ways[i].go(fx, &other, c);
		clock_advance(fx->clock, USEC_PER_SEC);
		assert_true(has_expired(fx, c));
	}
}

static void an_upload_under_way_stops_the_clock(void **state)
{
	struct fixture *fx = *state;
	struct core_upload *u;
	struct error err = ERROR_INIT;
	char c[ID_SIZE];

	fixture_start(fx);
	(void)fixture_session(fx, c);
	assert_int_equal(core_upload_new(fx->core, &fx->who, c, 1, no_room,
					 NULL, &u, &err),
			 0);
	clock_advance(fx->clock, 2 * IDLE);
	assert_false(has_expired(fx, c));
	core_upload_free(u);
	clock_advance(fx->clock, IDLE - USEC_PER_SEC);
	assert_false(has_expired(fx, c));
	clock_advance(fx->clock, USEC_PER_SEC);
	assert_true(has_expired(fx, c));
}

static void a_pool_is_refilled_no_faster_than_it_may(void **state)
{
	struct fixture *fx = *state;

	fixture_set(fx, "pool.default.ready=3");
	fixture_set(fx, "pool.default.refill_pause=60");
	fixture_start(fx);
	RUN_UNTIL(fx, vmd_running(&fx->vmd) == 1);
	fixture_settle(fx);
	clock_advance(fx->clock, 59 * USEC_PER_SEC);
	fixture_settle(fx);
	assert_int_equal(fx->vmd.creates, 1);
	clock_advance(fx->clock, USEC_PER_SEC);
	RUN_UNTIL(fx, fx->vmd.creates == 2);
	fixture_settle(fx);
	clock_advance(fx->clock, 60 * USEC_PER_SEC);
	RUN_UNTIL(fx, fx->vmd.creates == 3);
}

int main(void)
{
#define TEST(f) \
	cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(the_hosts_date_decides_no_limit),
		TEST(nor_does_it_at_a_restart),
		TEST(a_host_that_slept_ends_what_is_past_its_limit),
		TEST(what_counts_as_activity_moves_the_idle_limit),
		TEST(an_upload_under_way_stops_the_clock),
		TEST(a_pool_is_refilled_no_faster_than_it_may),
	};

	return RUN_TESTS(tests);
}
