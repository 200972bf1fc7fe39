#include "test.h"

#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/timer.h"

struct fixture {
	sd_event *event;
	struct clock *clock;
	struct timer *timer;
	unsigned fired;
	bool free_inside;
};

static void on_deadline(struct timer *t, void *userdata)
{
	struct fixture *fx = userdata;

	assert_int_equal(timer_deadline(t), USEC_INFINITY);
	fx->fired++;
	if (fx->free_inside) {
		timer_free(t);
		fx->timer = NULL;
	}
}

static int fixture_begin(void **state)
{
	static struct fixture fx;

	fx = (struct fixture){ .event = NULL };
	assert_true(sd_event_new(&fx.event) >= 0);
	assert_int_equal(clock_new_manual(1000, 5000, &fx.clock), 0);
	assert_int_equal(timer_new(fx.event, fx.clock, "test", on_deadline, &fx,
				   &fx.timer),
			 0);
	*state = &fx;
	return 0;
}

static int fixture_end(void **state)
{
	struct fixture *fx = *state;

	timer_free(fx->timer);
	clock_free(fx->clock);
	sd_event_unref(fx->event);
	return 0;
}

static void run(struct fixture *fx)
{
	while (sd_event_run(fx->event, 0) > 0)
		;
}

static void sums_of_times_do_not_wrap(void **state)
{
	(void)state;
	assert_int_equal(usec_add(1, 2), 3);
	assert_true(usec_add(USEC_INFINITY, 1) == USEC_INFINITY);
	assert_true(usec_add(USEC_INFINITY - 1, 5) == USEC_INFINITY);
	assert_int_equal(usec_sub(3, 2), 1);
	assert_int_equal(usec_sub(2, 3), 0);
	assert_true(usec_sub(USEC_INFINITY, 3) == USEC_INFINITY);
}

static void a_clock_follows_the_kernel_and_can_be_put_forward(void **state)
{
	_cleanup_(clock_freep) struct clock *c = NULL;
	usec_t boot, wall;

	(void)state;
	assert_int_equal(clock_new(&c), 0);
	boot = clock_boot(c);
	wall = clock_wall(c);
	assert_in_range(clock_boot(c) - boot, 0, USEC_PER_SEC);
	clock_advance(c, USEC_PER_HOUR);
	assert_in_range(clock_boot(c) - boot, USEC_PER_HOUR,
			USEC_PER_HOUR + USEC_PER_MINUTE);
	assert_in_range(clock_wall(c) - wall, USEC_PER_HOUR,
			USEC_PER_HOUR + USEC_PER_MINUTE);
	assert_in_range(clock_wall_of(c, clock_boot(c) + USEC_PER_SEC) - wall,
			USEC_PER_HOUR, USEC_PER_HOUR + USEC_PER_MINUTE);
	assert_true(clock_kernel_boot(c, boot + USEC_PER_HOUR) == boot);
}

static void deadlines_have_a_date(void **state)
{
	struct fixture *fx = *state;

	assert_int_equal(clock_wall_of(fx->clock, 1000), 5000);
	assert_int_equal(clock_wall_of(fx->clock, 1700), 5700);
	assert_int_equal(clock_wall_of(fx->clock, 300), 4300);
	assert_true(clock_wall_of(fx->clock, USEC_INFINITY) == USEC_INFINITY);
}

static void a_timer_fires_once_when_its_time_has_come(void **state)
{
	struct fixture *fx = *state;

	timer_set_after(fx->timer, USEC_PER_MINUTE);
	run(fx);
	assert_int_equal(fx->fired, 0);
	clock_advance(fx->clock, USEC_PER_MINUTE - 1);
	run(fx);
	assert_int_equal(fx->fired, 0);
	clock_advance(fx->clock, 1);
	run(fx);
	assert_int_equal(fx->fired, 1);
	clock_advance(fx->clock, USEC_PER_DAY);
	run(fx);
	assert_int_equal(fx->fired, 1);
}

static void a_deadline_in_the_past_fires_at_once(void **state)
{
	struct fixture *fx = *state;

	timer_set(fx->timer, 1);
	assert_int_equal(fx->fired, 0);
	run(fx);
	assert_int_equal(fx->fired, 1);
}

static void a_cleared_timer_does_not_fire(void **state)
{
	struct fixture *fx = *state;

	timer_set_after(fx->timer, 5);
	timer_clear(fx->timer);
	clock_advance(fx->clock, USEC_PER_DAY);
	run(fx);
	assert_int_equal(fx->fired, 0);
	assert_int_equal(timer_deadline(fx->timer), USEC_INFINITY);
}

static void the_last_deadline_counts(void **state)
{
	struct fixture *fx = *state;

	timer_set_after(fx->timer, 5);
	timer_set_after(fx->timer, 500);
	clock_advance(fx->clock, 10);
	run(fx);
	assert_int_equal(fx->fired, 0);
	clock_advance(fx->clock, 490);
	run(fx);
	assert_int_equal(fx->fired, 1);
}

static void a_timer_may_be_freed_when_it_fires(void **state)
{
	struct fixture *fx = *state;

	fx->free_inside = true;
	timer_set_after(fx->timer, 0);
	run(fx);
	assert_int_equal(fx->fired, 1);
	assert_null(fx->timer);
}

static void a_timer_on_the_real_clock_fires_when_it_is_put_forward(void **state)
{
	_cleanup_(clock_freep) struct clock *c = NULL;
	_cleanup_(timer_freep) struct timer *t = NULL;
	struct fixture *fx = *state;

	assert_int_equal(clock_new(&c), 0);
	assert_int_equal(timer_new(fx->event, c, "real", on_deadline, fx, &t),
			 0);
	timer_set_after(t, USEC_PER_HOUR);
	run(fx);
	assert_int_equal(fx->fired, 0);
	clock_advance(c, USEC_PER_HOUR + 1);
	assert_true(sd_event_run(fx->event, USEC_PER_SEC) > 0);
	assert_int_equal(fx->fired, 1);
}

static void a_boot_has_an_id(void **state)
{
	char a[CLOCK_BOOT_ID_SIZE], b[CLOCK_BOOT_ID_SIZE];

	(void)state;
	assert_int_equal(clock_boot_id(a), 0);
	assert_int_equal(clock_boot_id(b), 0);
	assert_string_equal(a, b);
	assert_int_equal(strspn(a, "0123456789abcdef"), 32);
}

#define with_fixture(test) \
	cmocka_unit_test_setup_teardown(test, fixture_begin, fixture_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_of_times_do_not_wrap),
		cmocka_unit_test(
			a_clock_follows_the_kernel_and_can_be_put_forward),
		with_fixture(deadlines_have_a_date),
		with_fixture(a_timer_fires_once_when_its_time_has_come),
		with_fixture(a_deadline_in_the_past_fires_at_once),
		with_fixture(a_cleared_timer_does_not_fire),
		with_fixture(the_last_deadline_counts),
		with_fixture(a_timer_may_be_freed_when_it_fires),
		with_fixture(
			a_timer_on_the_real_clock_fires_when_it_is_put_forward),
		cmocka_unit_test(a_boot_has_an_id),
	};

	return RUN_TESTS(tests);
}
