/* SPDX-License-Identifier: Apache-2.0 */
#include "tenant_fixture.h"

/* Session hours of a tenant per day. */

static void a_spent_budget_refuses_and_ends_until_midnight(void **state)
{
	struct fixture *fx = *state;
	struct container_view view;
	struct answer a, b;
	char c[ID_SIZE];

	fixture_start(fx);
	tenant_set(fx, "default", false,
		   (struct tenant_limits){ .session_seconds_per_day = 600 },
		   &a);
	(void)fixture_session(fx, c);
	assert_int_equal(tenant_create(fx, &fx->who, &b), 0);
	clock_advance(fx->clock, 601 * USEC_PER_SEC);
	assert_true(tenant_create(fx, &fx->who, &b) < 0);
	assert_int_equal(b.err.code, ERR_LIMIT);
	assert_string_equal(b.err.reason, "budget");
	assert_true(b.err.retry_after_sec > 60);
	RUN_UNTIL(fx, (clock_advance(fx->clock, USEC_PER_SEC),
		       view = fixture_container(fx, c),
		       view.state == SESSION_VIEW_ENDED));
	assert_string_equal(view.ended_reason, "budget");
	RUN_UNTIL(fx, (clock_advance(fx->clock, USEC_PER_SEC),
		       vmd_running(&fx->vmd) == 0));
	fixture_settle(fx);
	clock_advance(fx->clock, USEC_PER_DAY);
	assert_int_equal(tenant_create(fx, &fx->who, &b), 0);
}

/* From wherever the fixture's date is. */
static void go_to(struct fixture *fx, usec_t of_day)
{
	usec_t now = clock_wall(fx->clock) % USEC_PER_DAY;

	clock_advance(fx->clock,
		      (of_day + USEC_PER_DAY - now) % USEC_PER_DAY);
}

static void a_session_over_midnight_counts_on_both_days(void **state)
{
	struct fixture *fx = *state;
	struct answer a, b;
	char c[ID_SIZE];

	fixture_set(fx, "session.hard=7200");
	fixture_set(fx, "session.idle=7200");
	fixture_start(fx);
	tenant_set(fx, "default", false,
		   (struct tenant_limits){ .session_seconds_per_day = 1000 },
		   &a);
	go_to(fx, USEC_PER_DAY - 900 * USEC_PER_SEC);
	(void)fixture_session(fx, c);
	/* 900 s on the day that ends, 300 on the one that begins. */
	go_to(fx, 300 * USEC_PER_SEC);
	a = (struct answer){ .called = false };
	assert_int_equal(core_container_delete(fx->core, &fx->who, c, on_done,
					       &a, &a.err),
			 0);
	RUN_UNTIL(fx, a.called && vmd_running(&fx->vmd) == 0);
	fixture_settle(fx);
	assert_int_equal(tenant_create(fx, &fx->who, &b), 0);
	fixture_wait_state(fx, b.id, SESSION_VIEW_RUNNING);
	go_to(fx, 990 * USEC_PER_SEC);
	assert_int_equal(tenant_create(fx, &fx->who, &b), 0);
	go_to(fx, 1300 * USEC_PER_SEC);
	assert_true(tenant_create(fx, &fx->who, &b) < 0);
	assert_string_equal(b.err.reason, "budget");
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_spent_budget_refuses_and_ends_until_midnight),
		TEST(a_session_over_midnight_counts_on_both_days),
	};

	return RUN_TESTS(tests);
}
