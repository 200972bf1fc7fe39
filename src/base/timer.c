#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/timer.h"

/*
 * Theory of operation: sd-event keeps every source in its heaps, armed or not,
 * and looks into the source to compare two. A daemon with ten thousand sessions
 * has a hundred thousand timers, most of them not set, and each that is set would
 * walk through memory that no cache holds.
 *
 * So all timers of a loop, a clock and a priority share one source. Those that
 * are set lie in a heap of ours, which has the deadlines in itself; the source
 * waits for the first. The queue comes with its first timer and goes with its
 * last.
 */

enum {
	/* How late the loop may fire, for the kernel to gather wake-ups. */
	TIMER_ACCURACY_USEC = 1000,
	/* How many fire until the loop looks at all else again. */
	TIMER_BATCH = 8,
	QUEUE_ROOM_MIN = 16,
};

/* Not set: no place in the heap. */
#define NOWHERE SIZE_MAX

struct item {
	usec_t deadline;
	struct timer *timer;
};

/**
 * struct queue - The timers of a loop, a clock and a priority
 * @watch:	Of the clock; by it the queue is found, too
 * @source:	Waits for @armed
 * @items:	The heap: an item's children, at twice its place and one and two
 *		more, are not before it
 * @count:	How many are set
 * @room:	Of @items: enough for all timers, so that setting cannot fail
 * @timers:	How many there are, set or not
 * @armed:	What @source was told, by @clock; USEC_INFINITY: nothing
 * @firing:	Arming and freeing wait until all that is due has fired
 */
struct queue {
	sd_event *event;
	struct clock *clock;
	int64_t priority;
	struct clock_watch watch;
	sd_event_source *source;
	struct item *items;
	size_t count;
	size_t room;
	size_t timers;
	usec_t armed;
	bool firing;
};

/**
 * struct timer - See timer.h
 * @place:	In the heap, or NOWHERE
 * @description: For whoever looks with a debugger
 */
struct timer {
	struct queue *queue;
	size_t place;
	timer_fn fn;
	void *userdata;
	const char *description;
};

/* --- the heap --- */

static void heap_put(struct queue *q, size_t place, struct item item)
{
	q->items[place] = item;
	item.timer->place = place;
}

/* Towards the first, over all that is later. */
static void heap_rise(struct queue *q, size_t place, struct item item)
{
	while (place > 0) {
		size_t parent = (place - 1) / 2;

		if (q->items[parent].deadline <= item.deadline)
			break;
		heap_put(q, place, q->items[parent]);
		place = parent;
	}
	heap_put(q, place, item);
}

/* The other way, under all that is earlier. */
static void heap_sink(struct queue *q, size_t place, struct item item)
{
	for (;;) {
		size_t child = 2 * place + 1;

		if (child >= q->count)
			break;
		if (child + 1 < q->count &&
		    q->items[child + 1].deadline < q->items[child].deadline)
			child++;
		if (item.deadline <= q->items[child].deadline)
			break;
		heap_put(q, place, q->items[child]);
		place = child;
	}
	heap_put(q, place, item);
}

static void heap_move(struct queue *q, size_t place, struct item item)
{
	if (item.deadline < q->items[place].deadline)
		heap_rise(q, place, item);
	else
		heap_sink(q, place, item);
}

static void heap_remove(struct queue *q, struct timer *t)
{
	size_t place = t->place;
	struct item last;

	t->place = NOWHERE;
	last = q->items[--q->count];
	/* The last one takes the place, unless it had it. */
	if (place < q->count)
		heap_move(q, place, last);
}

static void heap_set(struct queue *q, struct timer *t, usec_t deadline)
{
	const struct item item = { deadline, t };

	if (t->place != NOWHERE)
		heap_move(q, t->place, item);
	else
		heap_rise(q, q->count++, item);
}

/* --- the queue --- */

/*
 * sd-event knows the kernel's boot clock only, so the deadline is translated,
 * and again whenever the clock was moved. The calls fail only for a source of
 * another process or type.
 */
static void queue_arm_anew(struct queue *q)
{
	usec_t at;

	q->armed = q->count > 0 ? q->items[0].deadline : USEC_INFINITY;
	at = clock_kernel_boot(q->clock, q->armed);
	if (at == USEC_INFINITY) {
		(void)sd_event_source_set_enabled(q->source, SD_EVENT_OFF);
		return;
	}
	(void)sd_event_source_set_time(q->source, at);
	(void)sd_event_source_set_enabled(q->source, SD_EVENT_ONESHOT);
}

static void queue_arm(struct queue *q)
{
	usec_t first = q->count > 0 ? q->items[0].deadline : USEC_INFINITY;

	if (!q->firing && first != q->armed)
		queue_arm_anew(q);
}

static struct queue *queue_of(struct clock_watch *watch)
{
	return (struct queue *)(void *)((char *)watch -
					offsetof(struct queue, watch));
}

static void on_clock_moved(struct clock_watch *watch)
{
	struct queue *q = queue_of(watch);

	if (!q->firing)
		queue_arm_anew(q);
}

static void queue_free(struct queue *q)
{
	clock_unwatch(&q->watch);
	q->source = sd_event_source_disable_unref(q->source);
	free(q->items);
	free(q);
}

static void queue_freep(struct queue **q)
{
	if (*q)
		queue_free(*q);
}

static void fire(struct queue *q)
{
	struct timer *t = q->items[0].timer;

	heap_remove(q, t);
	t->fn(t, t->userdata);
}

static int on_due(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct queue *q = userdata;
	unsigned i;

	(void)source;
	(void)usec;
	q->firing = true;
	for (i = 0; i < TIMER_BATCH && q->count > 0 &&
		    q->items[0].deadline <= clock_boot(q->clock);
	     i++)
		fire(q);
	q->firing = false;
	if (q->timers == 0)
		queue_free(q);
	else
		queue_arm_anew(q);
	return 0;
}

static int queue_new(sd_event *event, struct clock *clock, int64_t priority,
		     struct queue **ret)
{
	_cleanup_(queue_freep) struct queue *q = calloc(1, sizeof(*q));
	int r;

	if (!q)
		return -ENOMEM;
	q->event = event;
	q->clock = clock;
	q->priority = priority;
	q->armed = USEC_INFINITY;
	r = sd_event_add_time(event, &q->source, CLOCK_BOOTTIME, 0,
			      TIMER_ACCURACY_USEC, on_due, q);
	if (r >= 0)
		r = sd_event_source_set_enabled(q->source, SD_EVENT_OFF);
	if (r >= 0)
		r = sd_event_source_set_priority(q->source, priority);
	if (r < 0)
		return r;
	(void)sd_event_source_set_description(q->source, "timers");
	q->watch.moved = on_clock_moved;
	clock_watch(clock, &q->watch);
	*ret = take_ptr(q);
	return 0;
}

/* A clock has few: one for each loop and priority. */
static int queue_get(sd_event *event, struct clock *clock, int64_t priority,
		     struct queue **ret)
{
	struct clock_watch *watch;

	for (watch = clock_next_watch(clock, NULL); watch;
	     watch = clock_next_watch(clock, watch)) {
		struct queue *q = queue_of(watch);

		if (watch->moved != on_clock_moved || q->event != event ||
		    q->priority != priority)
			continue;
		*ret = q;
		return 0;
	}
	return queue_new(event, clock, priority, ret);
}

static int queue_make_room(struct queue *q)
{
	size_t room = q->room ? 2 * q->room : QUEUE_ROOM_MIN;
	struct item *items;

	if (q->timers < q->room)
		return 0;
	items = reallocarray(q->items, room, sizeof(*items));
	if (!items)
		return -ENOMEM;
	q->items = items;
	q->room = room;
	return 0;
}

static void queue_drop(struct queue *q)
{
	if (q->timers == 0 && !q->firing)
		queue_free(q);
}

/* --- timers --- */

static int new_timer(sd_event *event, struct clock *clock, int64_t priority,
		     const struct timer *from, struct timer **ret_timer)
{
	struct timer *t = malloc(sizeof(*t));
	struct queue *q;
	int r;

	if (!t)
		return -ENOMEM;
	r = queue_get(event, clock, priority, &q);
	if (r < 0) {
		free(t);
		return r;
	}
	r = queue_make_room(q);
	if (r < 0) {
		free(t);
		queue_drop(q);
		return r;
	}
	*t = *from;
	t->queue = q;
	t->place = NOWHERE;
	q->timers++;
	*ret_timer = t;
	return 0;
}

int timer_new(sd_event *event, struct clock *clock, const char *description,
	      timer_fn fn, void *userdata, struct timer **ret_timer)
{
	const struct timer t = { .fn = fn,
				 .userdata = userdata,
				 .description = description };

	return new_timer(event, clock, SD_EVENT_PRIORITY_NORMAL, &t, ret_timer);
}

int timer_new_urgent(sd_event *event, struct clock *clock,
		     const char *description, timer_fn fn, void *userdata,
		     struct timer **ret_timer)
{
	const struct timer t = { .fn = fn,
				 .userdata = userdata,
				 .description = description };

	return new_timer(event, clock, SD_EVENT_PRIORITY_IMPORTANT, &t,
			 ret_timer);
}

void timer_free(struct timer *t)
{
	struct queue *q;

	if (!t)
		return;
	q = t->queue;
	timer_clear(t);
	free(t);
	q->timers--;
	queue_drop(q);
}

void timer_freep(struct timer **t)
{
	timer_free(*t);
}

void timer_set(struct timer *t, usec_t deadline)
{
	if (deadline != USEC_INFINITY)
		heap_set(t->queue, t, deadline);
	else if (t->place != NOWHERE)
		heap_remove(t->queue, t);
	queue_arm(t->queue);
}

void timer_set_after(struct timer *t, usec_t delay)
{
	timer_set(t, usec_add(clock_boot(t->queue->clock), delay));
}

void timer_clear(struct timer *t)
{
	timer_set(t, USEC_INFINITY);
}

usec_t timer_deadline(const struct timer *t)
{
	return t->place == NOWHERE ? USEC_INFINITY :
				     t->queue->items[t->place].deadline;
}
