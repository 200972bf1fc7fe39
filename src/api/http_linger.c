/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http_linger.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/event.h"

enum {
	LINGERS_MAX = 64,
	LINGER_READ = 64 << 10,
};

#define LINGER_USEC (1 * USEC_PER_SEC)

struct lingering {
	TAILQ_ENTRY(lingering) entry;
	struct http_lingers *all;
	int fd;
	sd_event_source *io;
	sd_event_source *timer;
};

struct http_lingers {
	sd_event *event;
	TAILQ_HEAD(, lingering) list;
	unsigned count;
};

int http_lingers_new(sd_event *event, struct http_lingers **ret)
{
	struct http_lingers *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->event = event;
	TAILQ_INIT(&l->list);
	*ret = l;
	return 0;
}

static void linger_free(struct lingering *one)
{
	TAILQ_REMOVE(&one->all->list, one, entry);
	one->all->count--;
	sd_event_source_disable_unref(one->io);
	sd_event_source_disable_unref(one->timer);
	close_fd(&one->fd);
	free(one);
}

void http_lingers_free(struct http_lingers *l)
{
	struct lingering *one;

	if (!l)
		return;
	while ((one = TAILQ_FIRST(&l->list)))
		linger_free(one);
	free(l);
}

static int on_bytes(sd_event_source *source, int fd, uint32_t revents,
		    void *userdata)
{
	static char nowhere[LINGER_READ];
	struct lingering *one = userdata;
	ssize_t got;

	(void)source;
	(void)revents;
	got = recv(fd, nowhere, sizeof(nowhere), MSG_DONTWAIT);
	if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
		linger_free(one);
	return 0;
}

static int on_over(sd_event_source *source, uint64_t usec, void *userdata)
{
	(void)source;
	(void)usec;
	linger_free(userdata);
	return 0;
}

void http_linger(struct http_lingers *l, int fd)
{
	struct lingering *one;

	if (l->count >= LINGERS_MAX)
		return;
	one = calloc(1, sizeof(*one));
	if (!one)
		return;
	one->all = l;
	l->count++;
	TAILQ_INSERT_TAIL(&l->list, one, entry);
	one->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (one->fd < 0 ||
	    event_add_io(l->event, one->fd, EPOLLIN, on_bytes, one,
			 "http-linger", &one->io) < 0 ||
	    sd_event_add_time_relative(l->event, &one->timer, CLOCK_MONOTONIC,
				       LINGER_USEC, 100 * USEC_PER_MSEC,
				       on_over, one) < 0) {
		linger_free(one);
		return;
	}
	(void)sd_event_source_set_description(one->timer, "http-linger-end");
}
