#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/timer.h"

enum {
	/* How late the loop may fire, for the kernel to gather wake-ups. */
	TIMER_ACCURACY_USEC = 1000,
};

struct timer {
	struct clock *clock;
	struct clock_watch watch;
	sd_event_source *source;
	timer_fn fn;
	void *userdata;
	usec_t deadline;
};

/*
 * sd-event knows the kernel's boot clock only, so the deadline is translated,
 * and again whenever the clock was moved. The two calls fail only for a source
 * of another process or type.
 */
static void timer_arm(struct timer *t)
{
	usec_t at = clock_kernel_boot(t->clock, t->deadline);

	if (at == USEC_INFINITY) {
		(void)sd_event_source_set_enabled(t->source, SD_EVENT_OFF);
		return;
	}
	(void)sd_event_source_set_time(t->source, at);
	(void)sd_event_source_set_enabled(t->source, SD_EVENT_ONESHOT);
}

static void on_clock_moved(struct clock_watch *watch)
{
	timer_arm((struct timer *)(void *)((char *)watch -
					   offsetof(struct timer, watch)));
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct timer *t = userdata;

	(void)source;
	(void)usec;
	t->deadline = USEC_INFINITY;
	t->fn(t, t->userdata);
	return 0;
}

int timer_new(sd_event *event, struct clock *clock, const char *description,
	      timer_fn fn, void *userdata, struct timer **ret_timer)
{
	_cleanup_(timer_freep) struct timer *t = NULL;
	int r;

	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->clock = clock;
	t->fn = fn;
	t->userdata = userdata;
	t->deadline = USEC_INFINITY;
	r = sd_event_add_time(event, &t->source, CLOCK_BOOTTIME, 0,
			      TIMER_ACCURACY_USEC, on_timer, t);
	if (r < 0)
		return r;
	r = sd_event_source_set_enabled(t->source, SD_EVENT_OFF);
	if (r < 0)
		return r;
	(void)sd_event_source_set_description(t->source, description);
	t->watch.moved = on_clock_moved;
	clock_watch(clock, &t->watch);
	*ret_timer = take_ptr(t);
	return 0;
}

void timer_free(struct timer *t)
{
	if (!t)
		return;
	clock_unwatch(&t->watch);
	t->source = sd_event_source_disable_unref(t->source);
	free(t);
}

void timer_freep(struct timer **t)
{
	timer_free(*t);
}

void timer_set(struct timer *t, usec_t deadline)
{
	t->deadline = deadline;
	timer_arm(t);
}

void timer_make_urgent(struct timer *t)
{
	/* Fails only for a source of another process. */
	(void)sd_event_source_set_priority(t->source,
					   SD_EVENT_PRIORITY_IMPORTANT);
}

void timer_set_after(struct timer *t, usec_t delay)
{
	timer_set(t, usec_add(clock_boot(t->clock), delay));
}

void timer_clear(struct timer *t)
{
	timer_set(t, USEC_INFINITY);
}

usec_t timer_deadline(const struct timer *t)
{
	return t->deadline;
}
