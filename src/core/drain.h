/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_DRAIN_H
#define CORE_DRAIN_H

/*
 * Taking a host out of use without taking anything from those who use it.
 *
 * While it is drained there are no new sessions and no idle VMs. Sessions that
 * live go on until they end by themselves, or until the deadline: then their
 * last files are fetched and they end as "drained". That is kept in the database
 * until it is undone: a daemon that comes back by itself, after a crash or with
 * its host, does not put the host into use again.
 *
 * The end of the daemon is the same, except that only work under way is waited
 * for; see core_stop().
 */

#include <stdbool.h>

#include "base/clock.h"

struct container;
struct core;
struct json_writer;
struct timer;

/**
 * struct drain - Whether, and until when
 * @deadline:	On the boot clock; USEC_INFINITY: none
 * @told:	That no session is left
 */
struct drain {
	bool on;
	bool told;
	usec_t since_usec; /* wall */
	usec_t deadline;
	struct timer *timer;
};

int drain_init(struct core *core);
void drain_done(struct core *core);

/** drain_load() - Go on with what an earlier daemon was told */
int drain_load(struct core *core);

/** drain_start() - Sessions are loaded: end those whose time is over */
void drain_start(struct core *core);

/** drain_stop() - The daemon ends: wait for what runs, @wait at most */
void drain_stop(struct core *core, usec_t wait);

/** drain_work_over() - An execution less */
void drain_work_over(struct container *c);

/** drain_session_over() - One session less */
void drain_session_over(struct core *core);

/** drain_write() - Its state as an object's member; NULL: as the object */
void drain_write(const struct core *core, struct json_writer *w,
		 const char *key);

#endif
