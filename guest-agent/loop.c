/* SPDX-License-Identifier: Apache-2.0 */
#include "loop.h"

#include <errno.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#define EVENTS_AT_ONCE 8

static int epoll_fd = -1;
static struct timer *timers;	/* set ones, soonest first */

usec_t clock_boot(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_BOOTTIME, &now);
	return (usec_t)now.tv_sec * USEC_PER_SEC +
	       (usec_t)now.tv_nsec / 1000;
}

int loop_init(void)
{
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	return epoll_fd < 0 ? -errno : 0;
}

int source_open(struct source *s, int fd, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = s };

	if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0)
		return -errno;
	s->fd = fd;
	s->events = events;
	return 0;
}

void source_want(struct source *s, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = s };

	if (s->fd < 0 || s->events == events)
		return;
	/* Can't fail: the descriptor is ours and was added. */
	(void)epoll_ctl(epoll_fd, EPOLL_CTL_MOD, s->fd, &event);
	s->events = events;
}

int source_take(struct source *s)
{
	int fd = s->fd;

	if (fd >= 0)
		(void)epoll_ctl(epoll_fd, EPOLL_CTL_DEL, fd, NULL);
	s->fd = -1;
	return fd;
}

void source_close(struct source *s)
{
	int fd = source_take(s);

	if (fd >= 0)
		(void)close(fd);
}

void timer_clear(struct timer *t)
{
	struct timer **at;

	for (at = &timers; *at; at = &(*at)->next)
		if (*at == t) {
			*at = t->next;
			break;
		}
	t->at = 0;
}

void timer_set(struct timer *t, usec_t when)
{
	struct timer **at = &timers;

	timer_clear(t);
	while (*at && (*at)->at <= when)
		at = &(*at)->next;
	t->at = when;
	t->next = *at;
	*at = t;
}

static void fire_timers(void)
{
	usec_t now = clock_boot();

	while (timers && timers->at <= now) {
		struct timer *t = timers;

		timers = t->next;
		t->at = 0;
		t->fire(t);
	}
}

/* Rounded up, so that a timer is due when the wait is over. */
static int wait_msec(void)
{
	usec_t now;

	if (!timers)
		return -1;
	now = clock_boot();
	if (timers->at <= now)
		return 0;
	if (timers->at - now > 3600 * USEC_PER_SEC)
		return 3600 * 1000;
	return (int)((timers->at - now + USEC_PER_MSEC - 1) / USEC_PER_MSEC);
}

int loop_once(void)
{
	struct epoll_event events[EVENTS_AT_ONCE];
	int count, i;

	count = epoll_wait(epoll_fd, events, EVENTS_AT_ONCE, wait_msec());
	if (count < 0 && errno != EINTR)
		return -errno;
	for (i = 0; i < count; i++) {
		struct source *s = events[i].data.ptr;

		/* An earlier callback may have closed it. */
		if (s->fd >= 0)
			s->ready(s, events[i].events);
	}
	fire_timers();
	return 0;
}

int loop_run(void)
{
	int r;

	do
		r = loop_once();
	while (r >= 0);
	return r;
}
