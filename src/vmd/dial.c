#include <errno.h>
#include <linux/vm_sockets.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/event.h"
#include "base/log.h"
#include "base/timer.h"
#include "vmd/backend.h"
#include "vmd/dial.h"
#include "vmd/machine.h"

/*
 * With the kernel's vsock a refused connection is a refused connect(). With the
 * vsock daemon connect() always works, then the port is asked for in a line of
 * text, and a refusal is the end of the connection.
 *
 * vhost-device-vsock 0.3.0 must not be asked too early. Before it has the
 * guest's memory it closes connections at once, which does no harm. But when one
 * comes between that and the last of its queues, while the guest's driver
 * starts, the thread that serves the queues ends without a word, and the VM
 * can't be reached any more. With an attempt every few milliseconds that was one
 * boot in ten on a busy machine. So the guest has to say first that it listens.
 * Should its line be lost, it is dialled as well, but late and seldom. An
 * attempt is given up after a while, or one that nobody answers would last until
 * the deadline.
 */

/* Between two attempts that were refused */
#define DIAL_PAUSE_USEC (5 * USEC_PER_MSEC)
#define DIAL_BLIND_PAUSE_USEC USEC_PER_SEC
#define DIAL_ATTEMPT_USEC USEC_PER_SEC

/* "OK " and the port that the daemon chose */
#define DIAL_ANSWER_MAX 32

enum dial_step {
	DIAL_PAUSING,
	DIAL_CONNECTING,	/* kernel: until connect() is through */
	DIAL_ASKING,		/* daemon: until it says OK */
};

struct dial {
	struct dial *next;
	struct machine *machine;
	enum dial_step step;
	int fd;
	sd_event_source *io;
	struct timer *timer;
	usec_t started, deadline, attempt_ends;
	unsigned attempts;
	void (*done)(struct dial *dial, int r, int fd, unsigned attempts,
		     usec_t usec, void *userdata);
	void *userdata;
};

static usec_t now(const struct dial *dial)
{
	return clock_boot(dial->machine->host->clock);
}

static void hang_up(struct dial *dial)
{
	dial->io = sd_event_source_disable_unref(dial->io);
	close_fd(&dial->fd);
}

static void dial_free(struct dial *dial)
{
	hang_up(dial);
	timer_free(dial->timer);
	free(dial);
}

static void unlink_dial(struct dial *dial)
{
	struct dial **at;

	for (at = &dial->machine->dials; *at; at = &(*at)->next)
		if (*at == dial) {
			*at = dial->next;
			return;
		}
}

void dial_cancel(struct dial *dial)
{
	if (!dial)
		return;
	unlink_dial(dial);
	dial_free(dial);
}

static void finish(struct dial *dial, int r)
{
	usec_t usec = usec_sub(now(dial), dial->started);
	int fd = -1;

	unlink_dial(dial);
	if (r >= 0) {
		dial->io = sd_event_source_disable_unref(dial->io);
		fd = take_fd(dial->fd);
	}
	dial->done(dial, r, fd, dial->attempts, usec, dial->userdata);
	dial_free(dial);
}

void dial_fail_all(struct machine *m)
{
	while (m->dials)
		finish(m->dials, -ENOENT);
}

static bool is_blind(const struct dial *dial)
{
	return dial->machine->record.vsock == VMD_VSOCK_USER &&
	       !dial->machine->listens;
}

/* The next attempt, or the end if that is sooner. */
static void attempt_at(struct dial *dial, usec_t when)
{
	dial->step = DIAL_PAUSING;
	timer_set(dial->timer, when < dial->deadline ? when : dial->deadline);
}

static void pause_dial(struct dial *dial)
{
	hang_up(dial);
	attempt_at(dial, usec_add(now(dial), is_blind(dial) ?
						     DIAL_BLIND_PAUSE_USEC :
						     DIAL_PAUSE_USEC));
}

void dial_hurry(struct machine *m)
{
	struct dial *dial;

	for (dial = m->dials; dial; dial = dial->next)
		if (dial->step == DIAL_PAUSING)
			attempt_at(dial, now(dial));
}

static int connect_kernel(struct dial *dial)
{
	const struct sockaddr_vm address = {
		.svm_family = AF_VSOCK,
		.svm_port = VMD_GUEST_PORT,
		.svm_cid = dial->machine->record.cid,
	};

	dial->fd = socket(AF_VSOCK,
			  SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (dial->fd < 0)
		return -errno;
	dial->step = DIAL_CONNECTING;
	if (connect(dial->fd, (const struct sockaddr *)&address,
		    sizeof(address)) < 0 && errno != EINPROGRESS)
		return -errno;
	return 0;
}

static int connect_user(struct dial *dial)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	_cleanup_free_ char *path = NULL;
	char question[32];
	int n;

	path = host_path(dial->machine->host, dial->machine->record.vm_id,
			 BACKEND_DIAL_SOCKET);
	if (!path || strlen(path) >= sizeof(address.sun_path))
		return -ENOMEM;
	strcpy(address.sun_path, path);
	dial->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
			  0);
	if (dial->fd < 0)
		return -errno;
	dial->step = DIAL_ASKING;
	if (connect(dial->fd, (struct sockaddr *)&address,
		    sizeof(address)) < 0)
		return -errno;
	n = snprintf(question, sizeof(question), "CONNECT %d\n",
		     VMD_GUEST_PORT);
	if (send(dial->fd, question, (size_t)n, MSG_NOSIGNAL) != n)
		return -EIO;
	return 0;
}

/* Returns 1 when connected, 0 if not yet, negative errno if refused. */
static int finish_kernel(struct dial *dial)
{
	socklen_t size = sizeof(int);
	int error = 0;

	if (getsockopt(dial->fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
		return -errno;
	return error ? -error : 1;
}

/*
 * Reads the daemon's line and not a byte more: what follows is the guest's. So
 * it is looked at first, and taken when it is complete.
 */
static int finish_user(struct dial *dial)
{
	char answer[DIAL_ANSWER_MAX], *end;
	ssize_t n;

	n = recv(dial->fd, answer, sizeof(answer), MSG_PEEK);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if (n == 0)
		return -ECONNREFUSED;
	end = memchr(answer, '\n', (size_t)n);
	if (!end)
		return n == DIAL_ANSWER_MAX ? -EPROTO : 0;
	if (end - answer < 3 || memcmp(answer, "OK ", 3) != 0)
		return -EPROTO;
	n = end - answer + 1;
	return recv(dial->fd, answer, (size_t)n, 0) == n ? 1 : -EPROTO;
}

static int on_dial_io(sd_event_source *source, int fd, uint32_t revents,
		      void *userdata)
{
	struct dial *dial = userdata;
	int r;

	(void)source;
	(void)fd;
	(void)revents;
	r = dial->step == DIAL_CONNECTING ? finish_kernel(dial) :
					    finish_user(dial);
	if (r > 0)
		finish(dial, 0);
	else if (r < 0)
		pause_dial(dial);
	return 0;
}

static void attempt(struct dial *dial)
{
	int r;

	dial->attempts++;
	dial->attempt_ends = usec_add(now(dial), DIAL_ATTEMPT_USEC);
	r = dial->machine->record.vsock == VMD_VSOCK_KERNEL ?
		    connect_kernel(dial) : connect_user(dial);
	if (r >= 0)
		r = event_add_io(dial->machine->host->event, dial->fd,
				 dial->step == DIAL_CONNECTING ? EPOLLOUT :
								 EPOLLIN,
				 on_dial_io, dial, "vm-dial", &dial->io);
	if (r < 0) {
		pause_dial(dial);
		return;
	}
	timer_set(dial->timer, dial->attempt_ends < dial->deadline ?
				       dial->attempt_ends : dial->deadline);
}

static void on_dial_timer(struct timer *timer, void *userdata)
{
	struct dial *dial = userdata;

	(void)timer;
	if (now(dial) >= dial->deadline) {
		(void)log_warning(&dial->machine->scope, 0,
				  "The guest took none of %u connections",
				  dial->attempts);
		console_log_tail(&dial->machine->console,
				 &dial->machine->scope);
		finish(dial, -ETIMEDOUT);
		return;
	}
	hang_up(dial);
	attempt(dial);
}

int dial_start(struct machine *m, usec_t deadline_usec,
	       void (*done)(struct dial *dial, int r, int fd,
			    unsigned attempts, usec_t usec, void *userdata),
	       void *userdata, struct dial **ret_dial)
{
	struct dial *dial;
	int r;

	dial = calloc(1, sizeof(*dial));
	if (!dial)
		return -ENOMEM;
	dial->machine = m;
	dial->fd = -1;
	dial->deadline = deadline_usec;
	dial->done = done;
	dial->userdata = userdata;
	dial->started = now(dial);
	r = timer_new(m->host->event, m->host->clock, "vm-dial",
		      on_dial_timer, dial, &dial->timer);
	if (r < 0) {
		free(dial);
		return r;
	}
	dial->next = m->dials;
	m->dials = dial;
	/* The first attempt too is made from the loop: done() may not be called
	 * before the caller has the dial. */
	attempt_at(dial, is_blind(dial) && m->blind_from > dial->started ?
				 m->blind_from : dial->started);
	*ret_dial = dial;
	return 0;
}
