/* SPDX-License-Identifier: Apache-2.0 */
#include "core/waiting.h"

#include <stdio.h>
#include <string.h>

#include "core/core_priv.h"

static void waiting_remove(struct waiting *q, struct waiter *w)
{
	TAILQ_REMOVE(&q->list, w, next);
	q->count--;
}

static void arm_deadline(struct waiting *q)
{
	struct waiter *first = TAILQ_FIRST(&q->list);

	if (first)
		timer_set(q->deadline, first->until);
	else
		timer_clear(q->deadline);
}

/*
 * A VM that ends says so. Memory that another process of the host gives back
 * does not: somebody has to look.
 */
static void look_again(struct waiting *q)
{
	usec_t next = usec_add(clock_boot(q->pool->core->guest_clock),
			       WAITING_LOOK_USEC);

	if (q->count > 0 && next < timer_deadline(q->room))
		timer_set(q->room, next);
}

static void on_deadline(struct timer *t, void *userdata)
{
	struct waiting *q = userdata;
	struct core *core = q->pool->core;
	usec_t now = clock_boot(core->guest_clock);
	struct error err = ERROR_INIT;
	struct waiter *w;

	(void)t;
	error_set(&err, ERR_CAPACITY,
		  "There was no room for another container in pool '%s' within "
		  "%llu s: %llu of at most %llu run, %u creates wait. %s",
		  q->pool->name,
		  (unsigned long long)(core->set.queue_wait / USEC_PER_SEC),
		  (unsigned long long)q->pool->vm_count,
		  (unsigned long long)q->pool->max, q->count, q->lack.message);
	error_set_reason(&err, "capacity");
	while ((w = TAILQ_FIRST(&q->list)) && w->until <= now) {
		waiting_remove(q, w);
		core->metrics.creates_late++;
		w->refused(w, &err);
	}
	arm_deadline(q);
}

static void on_room(struct timer *t, void *userdata)
{
	struct waiting *q = userdata;
	struct core *core = q->pool->core;
	usec_t now = clock_boot(core->guest_clock);
	struct waiter *w;

	(void)t;
	while ((w = TAILQ_FIRST(&q->list))) {
		usec_t since = w->until - core->set.queue_wait;

		/* Out of the queue while it tries: it may be gone afterwards. */
		waiting_remove(q, w);
		q->lack = ERROR_INIT;
		if (w->try(w, &q->lack)) {
			core->metrics.queue_usec += usec_sub(now, since);
			continue;
		}
		TAILQ_INSERT_HEAD(&q->list, w, next);
		q->count++;
		break;
	}
	arm_deadline(q);
	look_again(q);
	if (!w)
		pools_refill(core);
}

int waiting_init(struct pool *pool)
{
	struct waiting *q = &pool->waiting;
	struct core *core = pool->core;
	int r;

	q->pool = pool;
	TAILQ_INIT(&q->list);
	r = timer_new(core->event, core->guest_clock, "create-queue",
		      on_deadline, q, &q->deadline);
	if (r < 0)
		return r;
	return timer_new(core->event, core->guest_clock, "create-room", on_room,
			 q, &q->room);
}

void waiting_done(struct pool *pool)
{
	timer_free(pool->waiting.deadline);
	timer_free(pool->waiting.room);
}

bool waiting_is_empty(const struct pool *pool)
{
	return pool->waiting.count == 0;
}

int waiting_add(struct pool *pool, struct waiter *w, int r, struct error *err)
{
	struct core *core = pool->core;
	struct waiting *q = &pool->waiting;
	size_t at = strlen(err->message);

	if (q->count >= core->set.queue_max) {
		(void)snprintf(err->message + at, sizeof(err->message) - at,
			       ", and %u creates wait", q->count);
		core->metrics.creates_full++;
		return r;
	}
	core->metrics.creates_queued++;
	if (q->count == 0)
		q->lack = *err;
	w->until =
		usec_add(clock_boot(core->guest_clock), core->set.queue_wait);
	TAILQ_INSERT_TAIL(&q->list, w, next);
	q->count++;
	arm_deadline(q);
	look_again(q);
	return 0;
}

void waiting_pump(struct pool *pool)
{
	if (pool->waiting.count > 0)
		timer_set(pool->waiting.room, 0);
}

void waiting_refuse_all(struct pool *pool, const struct error *err)
{
	struct waiting *q = &pool->waiting;
	struct waiter *w;

	while ((w = TAILQ_FIRST(&q->list))) {
		waiting_remove(q, w);
		w->refused(w, err);
	}
	arm_deadline(q);
}
