/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http_turns.h"

#include <errno.h>
#include <sys/epoll.h>

#include "api/http_server.h"
#include "base/event.h"
#include "base/log.h"

enum {
	/* How long to wait before a turn that will probably be in vain. */
	STUCK_MSEC = 5,
};

/*
 * Timeouts only ever move on, so a timer that is set too early is left as it
 * is: it costs one turn.
 */
static void set_timer(struct http_turns *t, uint64_t wait_msec)
{
	usec_t now = 0, at;
	int enabled = SD_EVENT_OFF;

	(void)sd_event_now(t->event, CLOCK_MONOTONIC, &now);
	at = usec_add(now, usec_add(wait_msec * USEC_PER_MSEC, USEC_PER_MSEC));
	(void)sd_event_source_get_enabled(t->timer, &enabled);
	if (enabled != SD_EVENT_OFF && t->timer_usec <= at)
		return;
	t->timer_usec = at;
	(void)sd_event_source_set_time(t->timer, at);
	(void)sd_event_source_set_enabled(t->timer, SD_EVENT_ONESHOT);
}

static void run(struct http_turns *t)
{
	unsigned calls = http_server_calls(t->server);
	MHD_UNSIGNED_LONG_LONG wait_msec;

	if (MHD_run(t->mhd) != MHD_YES)
		log_error(NULL, 0, "The HTTP library failed in its turn");
	if (MHD_get_timeout(t->mhd, &wait_msec) == MHD_YES) {
		if (wait_msec > 0)
			set_timer(t, wait_msec);
		else if (http_server_calls(t->server) == calls &&
			 http_server_may_be_stuck(t->server))
			set_timer(t, STUCK_MSEC);
		else
			(void)sd_event_source_set_enabled(t->again,
							  SD_EVENT_ONESHOT);
	}
	/* May free all of it. */
	http_server_check_drained(t->server);
}

static int on_io(sd_event_source *source, int fd, uint32_t revents,
		 void *userdata)
{
	(void)source;
	(void)fd;
	(void)revents;
	run(userdata);
	return 0;
}

static int on_turn_due(sd_event_source *source, void *userdata)
{
	(void)source;
	run(userdata);
	return 0;
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	(void)source;
	(void)usec;
	run(userdata);
	return 0;
}

void http_turns_wake(struct http_turns *t)
{
	(void)sd_event_source_set_enabled(t->wake, SD_EVENT_ONESHOT);
}

static int add_sources(struct http_turns *t)
{
	const union MHD_DaemonInfo *info;
	int r;

	info = MHD_get_daemon_info(t->mhd, MHD_DAEMON_INFO_EPOLL_FD);
	if (!info)
		return -EINVAL;
	r = event_add_io(t->event, info->epoll_fd, EPOLLIN, on_io, t, "http",
			 &t->io);
	if (r < 0)
		return r;
	r = event_add_defer(t->event, on_turn_due, t, "http-wake", &t->wake);
	if (r < 0)
		return r;
	/* Somebody's answer is ready: what else came of the same event can wait. */
	r = sd_event_source_set_priority(t->wake, SD_EVENT_PRIORITY_IMPORTANT);
	if (r < 0)
		return r;
	r = event_add_defer(t->event, on_turn_due, t, "http-again",
			    &t->again);
	if (r < 0)
		return r;
	/* Whoever keeps the library busy must not keep others from the loop. */
	r = sd_event_source_set_priority(t->again, SD_EVENT_PRIORITY_IDLE);
	if (r < 0)
		return r;
	r = sd_event_add_time(t->event, &t->timer, CLOCK_MONOTONIC, 0,
			      USEC_PER_MSEC, on_timer, t);
	if (r < 0)
		return r;
	(void)sd_event_source_set_description(t->timer, "http-timeout");
	return sd_event_source_set_enabled(t->timer, SD_EVENT_OFF);
}

int http_turns_begin(struct http_turns *t, struct http_server *server,
		     sd_event *event, struct MHD_Daemon *mhd)
{
	t->mhd = mhd;
	t->server = server;
	t->event = event;
	return add_sources(t);
}

void http_turns_done(struct http_turns *t)
{
	if (t->mhd) {
		(void)MHD_run(t->mhd);
		MHD_stop_daemon(t->mhd);
	}
	sd_event_source_disable_unref(t->io);
	sd_event_source_disable_unref(t->wake);
	sd_event_source_disable_unref(t->again);
	sd_event_source_disable_unref(t->timer);
	*t = (struct http_turns){ .mhd = NULL };
}
