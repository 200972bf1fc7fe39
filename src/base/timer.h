#ifndef CUPOLA_BASE_TIMER_H
#define CUPOLA_BASE_TIMER_H

/*
 * One deadline on the boot clock of a struct clock.
 *
 * A timer is made once by whoever has deadlines, and then set and cleared as
 * often as needed. It fires once per timer_set(). When its clock is moved it
 * arms itself anew. Setting takes a time that grows with the logarithm of how
 * many are set, and one that is not set costs nothing.
 */

#include <stdbool.h>
#include <systemd/sd-event.h>

#include "base/clock.h"

struct timer;

/**
 * timer_fn - What happens at the deadline
 *
 * The timer is not set any more when this runs. It may be set again or freed
 * in here.
 */
typedef void (*timer_fn)(struct timer *t, void *userdata);

/**
 * timer_new() - Make a timer that is not set
 * @event:	Loop that the function is called from
 * @clock:	Whose time; must outlive the timer
 * @description:	For debugging; a string that stays
 * @fn:		Called at the deadline
 * @userdata:	For @fn
 * @ret_timer:	The timer, for timer_free()
 *
 * Return: 0 or a negative errno
 */
int timer_new(sd_event *event, struct clock *clock, const char *description,
	      timer_fn fn, void *userdata, struct timer **ret_timer);

/** timer_new_urgent() - One that fires before anything else that is due */
int timer_new_urgent(sd_event *event, struct clock *clock,
		     const char *description, timer_fn fn, void *userdata,
		     struct timer **ret_timer);

/** timer_free() - End a timer, set or not */
void timer_free(struct timer *t);
void timer_freep(struct timer **t);

/**
 * timer_set() - Fire at a point of the boot clock
 * @t:		Timer
 * @deadline:	When; in the past: in the next round of the loop.
 *		USEC_INFINITY clears
 *
 * A deadline set before is forgotten. Cannot fail: what may fail was done by
 * timer_new().
 */
void timer_set(struct timer *t, usec_t deadline);

/** timer_set_after() - Fire @delay from now */
void timer_set_after(struct timer *t, usec_t delay);

/** timer_clear() - Do not fire */
void timer_clear(struct timer *t);

/** timer_deadline() - What is set; USEC_INFINITY if nothing is */
usec_t timer_deadline(const struct timer *t);

#endif
