/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GUEST_LOOP_H
#define GUEST_LOOP_H

/*
 * The agent's one loop: descriptors and deadlines.
 *
 * Sources and timers are embedded in the static objects that use them; the
 * loop holds pointers and allocates nothing. Every descriptor is non-blocking,
 * so a callback that comes for nothing does no harm.
 */

#include <stdint.h>

/* Microseconds since the guest's kernel started. */
typedef uint64_t usec_t;

#define USEC_PER_SEC 1000000ull
#define USEC_PER_MSEC 1000ull

usec_t clock_boot(void);

/**
 * struct source - A descriptor that is waited for
 * @fd:		-1 while there is none; closing it is the owner's business
 * @events:	EPOLLIN and the like, as last asked for
 * @ready:	Called with what happened
 */
struct source {
	int fd;
	uint32_t events;
	void (*ready)(struct source *s, uint32_t events);
};

/**
 * struct timer - A moment that is waited for
 * @at:		When; 0 while it is not set
 * @fire:	Called once, after which the timer is not set
 */
struct timer {
	usec_t at;
	void (*fire)(struct timer *t);
	struct timer *next;
};

/* Return: 0 or negative errno */
int loop_init(void);

/* Wait for @fd, which must be non-blocking. Return: 0 or negative errno */
int source_open(struct source *s, int fd, uint32_t events);

/* Change what is waited for; nothing happens if it is the same already. */
void source_want(struct source *s, uint32_t events);

/* Stop waiting and close the descriptor; may be called at any time. */
void source_close(struct source *s);

/* Stop waiting. Return: the descriptor, which is the caller's now */
int source_take(struct source *s);

void timer_set(struct timer *t, usec_t at);
void timer_clear(struct timer *t);

/* Handle events and timers, once or for ever. Return: negative errno */
int loop_once(void);
int loop_run(void);

#endif
