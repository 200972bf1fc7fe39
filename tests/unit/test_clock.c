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

enum { MANY = 3000, ROUNDS = 20000 };

/* Timers by number; each tells when it fired, and what else it is to do. */
struct many {
	struct fixture *fx;
	struct one {
		struct many *all;
		struct timer *timer;
		usec_t wanted; /* USEC_INFINITY: not set */
	} one[MANY];
	usec_t last;
	unsigned fired;
	uint64_t random;
};

static uint64_t next_random(struct many *m)
{
	m->random = m->random * 6364136223846793005u + 1442695040888963407u;
	return m->random >> 33;
}

static void on_one(struct timer *t, void *userdata)
{
	struct one *one = userdata;
	struct many *m = one->all;

	assert_ptr_equal(t, one->timer);
	assert_true(one->wanted <= clock_boot(m->fx->clock));
	/* The earliest of all that are set. */
	assert_true(one->wanted >= m->last);
	m->last = one->wanted;
	one->wanted = USEC_INFINITY;
	m->fired++;
}

static struct many *many_new(struct fixture *fx)
{
	struct many *m = calloc(1, sizeof(*m));
	size_t i;

	assert_non_null(m);
	m->fx = fx;
	for (i = 0; i < MANY; i++) {
		m->one[i].all = m;
		m->one[i].wanted = USEC_INFINITY;
		assert_int_equal(timer_new(fx->event, fx->clock, "one", on_one,
					   &m->one[i], &m->one[i].timer),
				 0);
	}
	return m;
}

static void many_free(struct many *m)
{
	size_t i;

	for (i = 0; i < MANY; i++)
		timer_free(m->one[i].timer);
	free(m);
}

/* Set, set again to sooner and later, cleared and freed, in any order. */
static void change_one(struct many *m)
{
	struct one *one = &m->one[next_random(m) % MANY];
	usec_t now = clock_boot(m->fx->clock);

	switch (next_random(m) % 8) {
	case 0:
		timer_clear(one->timer);
		one->wanted = USEC_INFINITY;
		break;
	case 1:
		timer_free(one->timer);
		one->wanted = USEC_INFINITY;
		assert_int_equal(timer_new(m->fx->event, m->fx->clock, "one",
					   on_one, one, &one->timer),
				 0);
		break;
	default:
		one->wanted = now + 1 + next_random(m) % 1000;
		timer_set(one->timer, one->wanted);
	}
	assert_true(timer_deadline(one->timer) == one->wanted);
}

static void many_timers_fire_in_their_order(void **state)
{
	struct fixture *fx = *state;
	struct many *m = many_new(fx);
	unsigned before = 0;
	size_t i;

	for (i = 0; i < ROUNDS; i++) {
		change_one(m);
		if (i % 100 != 99)
			continue;
		clock_advance(fx->clock, 1 + next_random(m) % 50);
		m->last = 0;
		run(fx);
	}
	assert_true(m->fired > ROUNDS / 4);
	m->last = 0;
	clock_advance(fx->clock, 1000);
	run(fx);
	before = m->fired;
	for (i = 0; i < MANY; i++)
		assert_true(m->one[i].wanted == USEC_INFINITY);
	clock_advance(fx->clock, USEC_PER_DAY);
	run(fx);
	assert_int_equal(m->fired, before);
	many_free(m);
}

static int on_idle(sd_event_source *source, void *userdata)
{
	const struct many *m = userdata;

	(void)source;
	m->fx->fired = m->fired;
	return 0;
}

static void many_that_are_due_keep_nothing_else_waiting(void **state)
{
	sd_event_source *source = NULL;
	struct fixture *fx = *state;
	struct many *m = many_new(fx);
	size_t i;

	for (i = 0; i < MANY; i++) {
		m->one[i].wanted = clock_boot(fx->clock) + 1;
		timer_set(m->one[i].timer, m->one[i].wanted);
	}
	assert_true(sd_event_add_defer(fx->event, &source, on_idle, m) >= 0);
	clock_advance(fx->clock, 1);
	fx->fired = MANY;
	run(fx);
	assert_true(fx->fired < MANY / 2);
	assert_int_equal(m->fired, MANY);
	sd_event_source_disable_unref(source);
	many_free(m);
}

struct ending {
	struct timer *timers[3];
	unsigned fired;
};

static void on_ending(struct timer *t, void *userdata)
{
	struct ending *e = userdata;
	size_t i;

	(void)t;
	e->fired++;
	for (i = 0; i < 3; i++) {
		timer_free(e->timers[i]);
		e->timers[i] = NULL;
	}
}

/* Others that are due, too, and the last of all. */
static void a_timer_may_free_all_others_when_it_fires(void **state)
{
	_cleanup_(clock_freep) struct clock *c = NULL;
	struct fixture *fx = *state;
	struct ending e = { .fired = 0 };
	size_t i;

	assert_int_equal(clock_new_manual(0, 0, &c), 0);
	for (i = 0; i < 3; i++) {
		assert_int_equal(timer_new(fx->event, c, "end", on_ending, &e,
					   &e.timers[i]),
				 0);
		timer_set(e.timers[i], 1);
	}
	clock_advance(c, 1);
	run(fx);
	assert_int_equal(e.fired, 1);
}

static void on_urgent(struct timer *t, void *userdata)
{
	struct many *m = userdata;

	(void)t;
	m->fx->fired = m->fired;
}

static void an_urgent_timer_fires_before_all_others(void **state)
{
	struct fixture *fx = *state;
	struct many *m = many_new(fx);
	struct timer *urgent = NULL;
	size_t i;

	assert_int_equal(timer_new_urgent(fx->event, fx->clock, "urgent",
					  on_urgent, m, &urgent),
			 0);
	for (i = 0; i < MANY; i++) {
		m->one[i].wanted = clock_boot(fx->clock) + 1;
		timer_set(m->one[i].timer, m->one[i].wanted);
	}
	timer_set_after(urgent, 2);
	fx->fired = MANY;
	clock_advance(fx->clock, 2);
	run(fx);
	assert_int_equal(fx->fired, 0);
	assert_int_equal(m->fired, MANY);
	timer_free(urgent);
	many_free(m);
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
		with_fixture(a_timer_may_free_all_others_when_it_fires),
		with_fixture(many_timers_fire_in_their_order),
		with_fixture(many_that_are_due_keep_nothing_else_waiting),
		with_fixture(an_urgent_timer_fires_before_all_others),
		with_fixture(
			a_timer_on_the_real_clock_fires_when_it_is_put_forward),
		cmocka_unit_test(a_boot_has_an_id),
	};

	return RUN_TESTS(tests);
}
