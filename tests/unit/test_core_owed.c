/* SPDX-License-Identifier: Apache-2.0 */
/* What could not be written down, and is tried again. */

#include "core_fixture.h"

#include "core/core_priv.h"
#include "core/owed.h"

/** struct fact - @fails: So often it cannot be written; @other: dropped by it */
struct fact {
	struct core *core;
	struct owed owed;
	struct fact *other;
	unsigned fails, tried;
	bool written, forgotten;
};

static void forget(void *object)
{
	((struct fact *)object)->forgotten = true;
}

static void write_down(void *object)
{
	struct fact *f = object;

	if (f->other)
		owed_drop(f->core, &f->other->owed);
	if (f->tried++ < f->fails)
		owed_add(f->core, &f->owed, write_down, forget, f);
	else
		f->written = true;
}

static void owe(struct fixture *fx, struct fact *f)
{
	f->core = fx->core;
	owed_add(fx->core, &f->owed, write_down, forget, f);
}

/* Once a second, however many rounds the loop makes. */
static void pass_second(struct fixture *fx)
{
	clock_advance(fx->clock, OWED_RETRY_USEC);
	fixture_settle(fx);
}

static void it_is_tried_each_second_until_it_is_written(void **state)
{
	struct fixture *fx = *state;
	struct fact a = { .fails = 2 }, b = { .fails = 0 };

	fixture_start(fx);
	owe(fx, &a);
	owe(fx, &b);
	owe(fx, &b); /* once is enough */
	fixture_settle(fx);
	assert_int_equal(a.tried + b.tried, 0);
	pass_second(fx);
	assert_true(b.written);
	assert_int_equal(a.tried, 1);
	pass_second(fx);
	assert_false(a.written);
	pass_second(fx);
	assert_true(a.written);
	pass_second(fx);
	assert_int_equal(a.tried, 3);
	assert_int_equal(b.tried, 1);
}

static void one_that_drops_the_last_keeps_nobody_from_anything(void **state)
{
	struct fixture *fx = *state;
	struct fact b = { .fails = 0 }, a = { .fails = 2, .other = &b };

	fixture_start(fx);
	owe(fx, &a);
	owe(fx, &b);
	pass_second(fx);
	assert_int_equal(b.tried, 0);
	/* As many tries as there were facts, and not until it is written. */
	assert_in_range(a.tried, 1, 2);
	pass_second(fx);
	pass_second(fx);
	assert_true(a.written);
}

static void the_rest_is_forgotten_in_the_end(void **state)
{
	struct fixture *fx = *state;
	static struct fact a;

	a = (struct fact){ .fails = 100 };
	fixture_start(fx);
	owe(fx, &a);
	owing_done(fx->core);
	assert_true(a.forgotten);
	assert_int_equal(a.tried, 0);
}

int main(void)
{
#define TEST(f) \
	cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(it_is_tried_each_second_until_it_is_written),
		TEST(one_that_drops_the_last_keeps_nobody_from_anything),
		TEST(the_rest_is_forgotten_in_the_end),
	};

	return RUN_TESTS(tests);
}
