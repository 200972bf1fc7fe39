#ifndef CUPOLA_BASE_CLOCK_H
#define CUPOLA_BASE_CLOCK_H

/*
 * Time.
 *
 * There is one type for it, microseconds in usec_t, and two clocks. The boot
 * clock (CLOCK_BOOTTIME) measures: it never jumps and counts while the host
 * sleeps, so every deadline is a point on it. The wall clock dates: it is what
 * clients and records see.
 *
 * Both stand behind struct clock, so that a test can let an hour pass at once.
 */

#include <stdint.h>

typedef uint64_t usec_t;

#define USEC_PER_MSEC ((usec_t)1000)
#define USEC_PER_SEC ((usec_t)1000000)
#define USEC_PER_MINUTE (60 * USEC_PER_SEC)
#define USEC_PER_HOUR (60 * USEC_PER_MINUTE)
#define USEC_PER_DAY (24 * USEC_PER_HOUR)

/* A deadline that never comes. */
#define USEC_INFINITY UINT64_MAX

/** usec_add() - a + b, USEC_INFINITY if that is too much */
static inline usec_t usec_add(usec_t a, usec_t b)
{
	return a > USEC_INFINITY - b ? USEC_INFINITY : a + b;
}

/** usec_sub() - a - b, 0 if b is later; USEC_INFINITY stays what it is */
static inline usec_t usec_sub(usec_t a, usec_t b)
{
	if (a == USEC_INFINITY)
		return a;
	return a > b ? a - b : 0;
}

struct clock;

/**
 * struct clock_watch - Somebody who must know when a clock was moved
 * @moved:	Called after the move
 * @next:	Private
 * @prev:	Private
 */
struct clock_watch {
	void (*moved)(struct clock_watch *watch);
	struct clock_watch *next;
	struct clock_watch *prev;
};

/**
 * clock_new() - A clock that follows the kernel's
 * @ret_clock:	The clock, for clock_free()
 *
 * Return: 0 or -ENOMEM
 */
int clock_new(struct clock **ret_clock);

/**
 * clock_new_manual() - A clock that stands still until clock_advance(), for
 *			unit tests
 * @boot:	Boot time it begins at
 * @wall:	Wall time it begins at
 * @ret_clock:	The clock, for clock_free()
 *
 * Return: 0 or -ENOMEM
 */
int clock_new_manual(usec_t boot, usec_t wall, struct clock **ret_clock);

/** clock_set_wall() - Have somebody set the host's date; of a manual clock only */
void clock_set_wall(struct clock *c, usec_t wall);

/** clock_free() - End a clock; nobody may be watching any more */
void clock_free(struct clock *c);
void clock_freep(struct clock **c);

/** clock_boot() - Time since the host booted: for deadlines */
usec_t clock_boot(const struct clock *c);

/** clock_wall() - Time since 1970: for dates */
usec_t clock_wall(const struct clock *c);

/**
 * clock_wall_of() - The date of a deadline
 * @c:		Clock
 * @boot:	A point on the boot clock, past or future
 *
 * Return: the wall time at which the boot clock was or will be there, as far as
 * can be told now; USEC_INFINITY for USEC_INFINITY
 */
usec_t clock_wall_of(const struct clock *c, usec_t boot);

/**
 * clock_advance() - Let time pass at once (setting test.clock)
 * @c:		Clock
 * @by:		How much
 *
 * Moves both clocks, as if that time had gone by, and then calls the watches.
 */
void clock_advance(struct clock *c, usec_t by);

/**
 * clock_kernel_boot() - The kernel's boot time that stands for a deadline
 * @c:		Clock
 * @boot:	Point on this clock
 *
 * Return: when the kernel's clock will be there; USEC_INFINITY if only
 * clock_advance() can bring it about; 0 if it is past
 */
usec_t clock_kernel_boot(const struct clock *c, usec_t boot);

/** clock_watch() - Have @watch told of moves until clock_unwatch() */
void clock_watch(struct clock *c, struct clock_watch *watch);

/** clock_next_watch() - Who watches: behind @watch, or the first for NULL */
struct clock_watch *clock_next_watch(struct clock *c,
				     struct clock_watch *watch);

/** clock_unwatch() - The opposite of clock_watch(); does nothing if not watching */
void clock_unwatch(struct clock_watch *watch);

enum {
	CLOCK_BOOT_ID_SIZE = 33, /* 32 hex digits and the NUL */
};

/**
 * clock_boot_id() - Which boot of this host it is: boot times of another one
 *		     mean nothing
 * @ret_id:	32 hex digits
 *
 * Return: 0 or a negative errno
 */
int clock_boot_id(char ret_id[CLOCK_BOOT_ID_SIZE]);

#endif
