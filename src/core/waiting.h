/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_WAITING_H
#define CORE_WAITING_H

/*
 * Creates for which there is no room at the moment.
 *
 * Each pool has a queue, bounded in length and in time. Whoever comes while
 * others wait goes behind them; room that becomes free goes to the first, and
 * only what nobody waits for is left to refill the pool. Ends of VMs never wait
 * for any of this.
 */

#include <stdbool.h>
#include <sys/queue.h>

#include "base/clock.h"
#include "base/error.h"

struct core;
struct pool;

/* How often to look for room that nobody tells of. */
#define WAITING_LOOK_USEC USEC_PER_SEC

/**
 * struct waiter - One who waits; part of its owner
 * @try:	Room may be there: returns whether it waits no more. It may
 *		have been answered then, and freed; else @err says what lacks
 * @refused:	It waits no more, and there was no room
 */
struct waiter {
	TAILQ_ENTRY(waiter) next;
	usec_t until;
	bool (*try)(struct waiter *w, struct error *err);
	void (*refused)(struct waiter *w, const struct error *err);
};

TAILQ_HEAD(waiter_list, waiter);

/**
 * struct waiting - The queue of a pool
 * @lack:	Of what the first one found too little, when it last looked
 */
struct waiting {
	struct pool *pool;
	struct waiter_list list; /* oldest first: all wait equally long */
	unsigned count;
	struct error lack;
	struct timer *deadline;
	struct timer *room; /* not from within whoever left */
};

int waiting_init(struct pool *pool);
void waiting_done(struct pool *pool);

/** waiting_is_empty() - Whether nobody comes before a new create */
bool waiting_is_empty(const struct pool *pool);

/**
 * waiting_add() - Wait, with both functions set
 * @err:	Why there was no room; says also that the queue is full
 *
 * Return: 0; or the error that was, if no more may wait
 */
int waiting_add(struct pool *pool, struct waiter *w, int r, struct error *err);

/** waiting_pump() - Room may have become free: see to it soon */
void waiting_pump(struct pool *pool);

/** waiting_refuse_all() - The daemon stops */
void waiting_refuse_all(struct pool *pool, const struct error *err);

#endif
