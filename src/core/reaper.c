/* SPDX-License-Identifier: Apache-2.0 */
#include "core/container.h"

#include "base/failpoint.h"
#include "core/vm.h"

/*
 * Limits of sessions.
 *
 * Each session has one timer, set to whichever limit is sooner. Activity only
 * notes the time: the timer finds out when it fires too early, so that touching
 * a container costs nothing.
 *
 * What counts as activity is the callers' to know (core.h); that the idle clock
 * stands still while the container boots, has work queued or executing, or a
 * request body for it is under way, is known here.
 */

static void on_limit(struct timer *t, void *userdata)
{
	(void)t;
	reaper_check(userdata);
}

static void on_harvest_deadline(struct timer *t, void *userdata)
{
	struct container *c = userdata;

	(void)t;
	if (!c->harvesting) {
		c->harvesting = true;
		container_harvest(c);
		return;
	}
	log_warning(&c->scope, 0, "The last files took too long, going on");
	container_destroy_vm(c);
}

int reaper_init(struct container *c)
{
	struct core *core = c->core;
	int r;

	r = timer_new(core->event, core->clock, "session-limit", on_limit, c,
		      &c->limit);
	if (r < 0)
		return r;
	/* A limit that many reach at once is not to wait for their work. */
	timer_make_urgent(c->limit);
	return timer_new(core->event, core->guest_clock, "session-harvest",
			 on_harvest_deadline, c, &c->harvest_deadline);
}

static bool reaper_busy(const struct container *c)
{
	return c->state != SESSION_VIEW_RUNNING || c->queued > 0 ||
	       c->uploads > 0;
}

usec_t reaper_idle_deadline(const struct container *c)
{
	if (reaper_busy(c))
		return USEC_INFINITY;
	return usec_add(c->active_boot, c->idle_usec);
}

usec_t reaper_hard_deadline(const struct container *c)
{
	if (!c->vm || !c->vm->hard_boot_usec)
		return USEC_INFINITY;
	return c->vm->hard_boot_usec;
}

void reaper_touch(struct container *c)
{
	c->active_boot = clock_boot(c->core->clock);
	c->active_wall = clock_wall(c->core->clock);
}

void reaper_check(struct container *c)
{
	usec_t now = clock_boot(c->core->clock);
	usec_t idle = reaper_idle_deadline(c);
	usec_t hard = reaper_hard_deadline(c);

	if (session_state_expired(c->state) || c->reason != END_NONE)
		return;
	if (now >= hard || now >= idle)
		(void)failpoint("reap-limit-reached");
	if (now >= hard)
		container_end(c, END_HARD_LIMIT);
	else if (now >= idle)
		container_end(c, END_IDLE_TIMEOUT);
	else
		timer_set(c->limit, idle < hard ? idle : hard);
}
