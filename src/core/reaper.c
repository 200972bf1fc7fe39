/* SPDX-License-Identifier: Apache-2.0 */
#include "core/container.h"

#include <systemd/sd-id128.h>

#include "base/failpoint.h"
#include "core/notice.h"
#include "core/vm.h"

/*
 * Limits of sessions.
 *
 * Each session has one timer, set to whichever limit, or the warning of it, is
 * sooner. Activity only
 * notes the time: the timer finds out when it fires too early, so that touching
 * a container costs nothing.
 *
 * What counts as activity is the callers' to know (core.h); that the idle clock
 * stands still while the container boots, has work queued or executing, or a
 * request body for it is under way, is known here.
 */

/* An event that operators script on; in the manual by this id. */
static const sd_id128_t message_session_warning = SD_ID128_MAKE(
	7c, 1d, 0f, 5a, 35, 5e, 4b, 7e, 9a, 5c, 8e, 1b, 62, 4f, 0a, 13);

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

	/* A limit that many reach at once is not to wait for their work. */
	r = timer_new_urgent(core->event, core->clock, "session-limit",
			     on_limit, c, &c->limit);
	if (r < 0)
		return r;
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

void reaper_touch_by_id(struct core *core, const char *container)
{
	struct container *c = map_get(&core->containers, container);

	if (c && !session_state_expired(c->state))
		reaper_touch(c);
}

/**
 * struct limit - One of a session's two
 * @at:		On the boot clock; USEC_INFINITY: not now
 * @length:	From its beginning
 * @warned:	The @at that was warned of: activity moves it on
 */
struct limit {
	enum end_reason reason;
	usec_t at;
	usec_t length;
	usec_t *warned;
};

/* When to look at a limit that is not reached. */
static usec_t limit_wake(const struct container *c, const struct limit *l)
{
	usec_t warning = c->core->set.warning;

	if (l->at == USEC_INFINITY || *l->warned == l->at ||
	    warning == 0 || l->length <= warning)
		return l->at;
	return l->at - warning;
}

static void limit_warn(struct container *c, const struct limit *l, usec_t now)
{
	usec_t left = l->at - now;

	*l->warned = l->at;
	log_event(&c->scope, LOG_INFO, message_session_warning,
		  "Session ends in %llu s (%s)",
		  (unsigned long long)(left / USEC_PER_SEC),
		  end_reason_name(l->reason));
	notice_warning(c, l->reason, left);
}

void reaper_check(struct container *c)
{
	const struct limit limits[] = {
		{ END_HARD_LIMIT, reaper_hard_deadline(c), c->core->set.hard,
		  &c->warned_hard },
		{ END_IDLE_TIMEOUT, reaper_idle_deadline(c), c->idle_usec,
		  &c->warned_idle },
	};
	usec_t now = clock_boot(c->core->clock);
	usec_t next = USEC_INFINITY;
	size_t i;

	if (session_state_expired(c->state) || c->reason != END_NONE)
		return;
	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		if (now < limits[i].at)
			continue;
		(void)failpoint("reap-limit-reached");
		container_end(c, limits[i].reason);
		return;
	}
	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		usec_t wake = limit_wake(c, &limits[i]);

		if (wake <= now) {
			limit_warn(c, &limits[i], now);
			wake = limits[i].at;
		}
		next = wake < next ? wake : next;
	}
	timer_set(c->limit, next);
}
