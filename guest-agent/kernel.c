/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bounds.h"
#include "cgroup.h"
#include "data.h"
#include "loop.h"
#include "report.h"
#include "runner.h"
#include "streams.h"
#include "zygote.h"

/* Generous: emulation with both CPUs taken. */
#define START_TIMEOUT (60 * USEC_PER_SEC)
#define FORK_PAUSE (USEC_PER_SEC / 2)

/*
 * Of one execution. One that did not heed so many gets the signal alone, since
 * what it leaves in the socket takes the next one's room.
 */
#define INTERRUPTS_TOLD_MAX 64

#define PIPE_SIZE (256 * 1024)
#define SOCKET_BUFFER (512 * 1024)

static void on_control(struct source *s, uint32_t events);
static void on_slow(struct timer *t);
static void on_pause(struct timer *t);

static struct source control = { .fd = -1, .ready = on_control };
static struct timer slow = { .fire = on_slow };
static struct timer pause_timer = { .fire = on_pause };
static const struct kernel_events *user;

static enum kernel_state state;
static pid_t kernel_pid;
static uint32_t epoch = 1;
static struct bytes unsent;	/* source that the socket had no room for */
static uint32_t unsent_interrupt;	/* whom to interrupt behind it, or 0 */
static unsigned interrupts_told;	/* of the execution that runs */
static bool is_crowded;		/* others are left of the one before */

static uint8_t message[RUNNER_MESSAGE_MAX];

#define TO(state) (1u << (state))

static const unsigned moves[] = {
	[KERNEL_ABSENT] = TO(KERNEL_FORKING),
	[KERNEL_FORKING] = TO(KERNEL_STARTING) | TO(KERNEL_ABSENT),
	[KERNEL_STARTING] = TO(KERNEL_ALIVE) | TO(KERNEL_ABSENT),
	[KERNEL_ALIVE] = TO(KERNEL_DYING) | TO(KERNEL_ABSENT),
	[KERNEL_DYING] = TO(KERNEL_ABSENT),
};
static_assert(sizeof(moves) / sizeof(moves[0]) == KERNEL_STATE_COUNT,
	      "moves[] doesn't match enum kernel_state");

/* The only place that writes the state. */
static void kernel_enter(enum kernel_state to)
{
	assert(moves[state] & TO(to));
	/* One that never lived is no epoch. */
	if (state == KERNEL_ALIVE)
		epoch++;
	state = to;
	timer_clear(&slow);
}

void kernel_init(const struct kernel_events *events)
{
	user = events;
	streams_init(events->output);
}

bool kernel_is_alive(void)
{
	return state == KERNEL_ALIVE;
}

uint32_t kernel_epoch(void)
{
	return epoch;
}

static void close_pair(int pair[2])
{
	int i;

	for (i = 0; i < 2; i++)
		if (pair[i] >= 0)
			(void)close(pair[i]);
}

/* Both ends of the kernel's three channels; ours first. */
static int make_channels(int pairs[3][2])
{
	const int size = SOCKET_BUFFER;
	int i, on = 1;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pairs[0]) < 0)
		return -errno;
	for (i = 1; i < 3; i++) {
		if (pipe2(pairs[i], O_CLOEXEC) < 0)
			return -errno;
		(void)fcntl(pairs[i][1], F_SETPIPE_SZ, PIPE_SIZE);
		/* So that user code may open /dev/stdout, as shells do. */
		(void)!fchown(pairs[i][1], SANDBOX_ID, SANDBOX_ID);
	}
	/* Only our ends: the kernel's may block. */
	for (i = 0; i < 3; i++)
		if (fcntl(pairs[i][0], F_SETFL, O_NONBLOCK) < 0)
			return -errno;
	for (i = 0; i < 2; i++)
		(void)setsockopt(pairs[0][i], SOL_SOCKET, SO_SNDBUFFORCE,
				 &size, sizeof(size));
	if (setsockopt(pairs[0][0], SOL_SOCKET, SO_PASSCRED, &on,
		       sizeof(on)) < 0)
		return -errno;
	return 0;
}

static int open_sources(int pairs[3][2])
{
	int i, r;

	for (i = 0; i < 3; i++) {
		r = i == 0 ? source_open(&control, pairs[i][0], EPOLLIN) :
			     streams_open(i == 1 ? WIRE_STDOUT : WIRE_STDERR,
					  pairs[i][0]);
		if (r < 0)
			return r;
		pairs[i][0] = -1;
	}
	return 0;
}

static void close_sources(void)
{
	source_close(&control);
	streams_close();
	unsent.size = unsent_interrupt = 0;
}

static int ask_zygote(void)
{
	int pairs[3][2] = { { -1, -1 }, { -1, -1 }, { -1, -1 } };
	int i, r;

	r = make_channels(pairs);
	if (r >= 0)
		r = zygote_fork(pairs[0][1], pairs[1][1], pairs[2][1]);
	if (r >= 0)
		r = open_sources(pairs);
	for (i = 0; i < 3; i++)
		close_pair(pairs[i]);
	return r;
}

void kernel_want(void)
{
	int r;

	if (state != KERNEL_ABSENT || !zygote_is_ready())
		return;
	r = ask_zygote();
	if (r < 0) {
		report_error(r, "cannot ask for a kernel");
		close_sources();
		timer_set(&pause_timer, clock_boot() + FORK_PAUSE);
		return;
	}
	kernel_enter(KERNEL_FORKING);
	timer_set(&slow, clock_boot() + START_TIMEOUT);
}

static void on_pause(struct timer *t)
{
	(void)t;
	kernel_want();
}

/* Nobody said hello, or whoever did does not get on. */
static void on_slow(struct timer *t)
{
	(void)t;
	report("the kernel does not start");
	if (state == KERNEL_STARTING) {
		kernel_kill();
		return;
	}
	close_sources();
	kernel_enter(KERNEL_ABSENT);
	zygote_kill();
}

/* Its children must not be spared by the OOM killer as the zygote is. */
static void make_killable(pid_t pid)
{
	char path[40];
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", pid);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	(void)!write(fd, "500", 3);
	(void)close(fd);
}

static void got_hello(pid_t pid)
{
	const uint8_t go = RUNNER_GO;
	int r = cgroup_add(pid);

	kernel_pid = pid;
	kernel_enter(KERNEL_STARTING);
	timer_set(&slow, clock_boot() + START_TIMEOUT);
	make_killable(pid);
	if (r >= 0 && send(control.fd, &go, 1, MSG_NOSIGNAL) < 0)
		r = -errno;
	if (r < 0) {
		report_error(r, "cannot let the kernel go");
		(void)kill(pid, SIGKILL);
	}
}

static void got_message(size_t size, pid_t pid)
{
	if (state == KERNEL_FORKING && message[0] == RUNNER_HELLO && pid > 1) {
		got_hello(pid);
	} else if (state == KERNEL_STARTING && message[0] == RUNNER_READY) {
		bounds_survey(kernel_pid);
		is_crowded = false;
		kernel_enter(KERNEL_ALIVE);
		user->ready();
	} else if (state == KERNEL_ALIVE || state == KERNEL_DYING) {
		user->message(message, size);
	}
}

static pid_t sender_of(struct msghdr *m)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(m);
	struct ucred credentials;

	if (!c || c->cmsg_level != SOL_SOCKET ||
	    c->cmsg_type != SCM_CREDENTIALS)
		return 0;
	memcpy(&credentials, CMSG_DATA(c), sizeof(credentials));
	return credentials.pid;
}

/*
 * No room is given for descriptors: what user code sends along is closed by
 * Linux. Return: whether to go on
 */
static bool receive_one(void)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(struct ucred))];
	} ancillary;
	struct iovec iov = { .iov_base = message, .iov_len = sizeof(message) };
	struct msghdr m = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &ancillary,
		.msg_controllen = sizeof(ancillary),
	};
	ssize_t n = recvmsg(control.fd, &m, MSG_CMSG_CLOEXEC);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	/* An empty message has a sender, the end has none. */
	if (n == 0 && sender_of(&m) > 0)
		return true;
	if (n <= 0) {
		/* User code closed it, or is dead, which will be seen. */
		source_close(&control);
		if (kernel_pid > 0)
			kernel_kill();
		return false;
	}
	if (!(m.msg_flags & MSG_TRUNC))
		got_message((size_t)n, sender_of(&m));
	return control.fd >= 0;
}

static void send_unsent(void)
{
	while (unsent.size > 0) {
		size_t n = unsent.size < RUNNER_PIECE_MAX ? unsent.size :
							    RUNNER_PIECE_MAX;
		uint8_t type = RUNNER_MORE;
		struct iovec iov[2] = {
			{ .iov_base = &type, .iov_len = 1 },
			{ .iov_base = (void *)unsent.data, .iov_len = n },
		};
		struct msghdr m = { .msg_iov = iov, .msg_iovlen = 2 };

		if (sendmsg(control.fd, &m, MSG_NOSIGNAL) < 0)
			break;
		unsent.data += n;
		unsent.size -= n;
	}
	source_want(&control, unsent.size > 0 ? EPOLLIN | EPOLLOUT : EPOLLIN);
	if (unsent.size == 0 && unsent_interrupt > 0)
		kernel_interrupt(unsent_interrupt);
}

/* Some at a time, so that no flood keeps the loop from its other work. */
static void on_control(struct source *s, uint32_t events)
{
	int i;

	(void)s;
	if (events & EPOLLOUT)
		send_unsent();
	for (i = 0; i < 16; i++)
		if (!receive_one())
			break;
}

static size_t put_run(uint8_t *at, const struct kernel_work *work,
		      uint32_t count)
{
	const le32 numbers[2] = { le32_put(count),
				  le32_put((uint32_t)work->source.size) };
	uint8_t *const begin = at;

	*at++ = RUNNER_RUN;
	*at++ = work->stdin_fd >= 0 ? RUNNER_RUN_STDIN : 0;
	*at++ = (uint8_t)work->id.size;
	*at++ = (uint8_t)work->trace.size;
	at = mempcpy(at, numbers, sizeof(numbers));
	at = mempcpy(at, work->id.data, work->id.size);
	at = mempcpy(at, work->trace.data, work->trace.size);
	return (size_t)(at - begin);
}

static int send_run(struct iovec *iov, size_t count, int stdin_fd)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} ancillary = { .header = { .cmsg_level = SOL_SOCKET,
				    .cmsg_type = SCM_RIGHTS,
				    .cmsg_len = CMSG_LEN(sizeof(int)) } };
	struct msghdr m = { .msg_iov = iov, .msg_iovlen = count };

	if (stdin_fd >= 0) {
		m.msg_control = &ancillary;
		m.msg_controllen = sizeof(ancillary);
		memcpy(CMSG_DATA(&ancillary.header), &stdin_fd, sizeof(int));
	}
	return sendmsg(control.fd, &m, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int kernel_run(const struct kernel_work *work, uint32_t count)
{
	uint8_t head[16 + WIRE_EXEC_ID_MAX + WIRE_TRACE_SIZE];
	const struct bytes source = work->source;
	size_t first = source.size < RUNNER_PIECE_MAX ? source.size :
							RUNNER_PIECE_MAX;
	struct iovec iov[2] = {
		{ .iov_base = head, .iov_len = put_run(head, work, count) },
		{ .iov_base = (void *)source.data, .iov_len = first },
	};
	int r;

	/* They may have changed them once more. */
	if (is_crowded)
		bounds_restore(kernel_pid);
	r = control.fd < 0 ? -ENOTCONN : send_run(iov, 2, work->stdin_fd);
	if (r < 0) {
		kernel_kill();
		return r;
	}
	/* What it prints now is for the most part all of it, and then its end. */
	streams_rest();
	interrupts_told = unsent_interrupt = 0;
	unsent = (struct bytes){ source.data + first, source.size - first };
	if (unsent.size > 0)
		send_unsent();
	return 0;
}

void kernel_settle(void)
{
	uint8_t type;

	if (state != KERNEL_ALIVE || control.fd < 0)
		return;
	is_crowded = cgroup_tasks() != 1;
	bounds_restore(kernel_pid);
	type = is_crowded ? RUNNER_CROWDED : RUNNER_ALONE;
	(void)send(control.fd, &type, 1, MSG_NOSIGNAL);
}

/* What finds no room is the last of many that user code has not heeded. */
static void tell_interrupt(uint32_t count)
{
	const le32 number = le32_put(count);
	uint8_t m[1 + sizeof(number)] = { RUNNER_INTERRUPT };

	if (control.fd < 0 || interrupts_told == INTERRUPTS_TOLD_MAX)
		return;
	interrupts_told++;
	memcpy(m + 1, &number, sizeof(number));
	(void)send(control.fd, m, sizeof(m), MSG_NOSIGNAL);
}

void kernel_interrupt(uint32_t count)
{
	/* Behind the source, of which it would be taken for a piece. */
	if (unsent.size > 0) {
		unsent_interrupt = count;
		return;
	}
	tell_interrupt(count);
	/* It is not reaped before we know, so the number is still its own. */
	if (kernel_pid > 0 && kill(-kernel_pid, SIGINT) < 0)
		(void)kill(kernel_pid, SIGINT);
}

void kernel_kill(void)
{
	cgroup_kill(kernel_pid);
	if (state == KERNEL_ALIVE)
		kernel_enter(KERNEL_DYING);
}

void kernel_before_reaping(void)
{
	while (state == KERNEL_FORKING && receive_one())
		;
}

bool kernel_reaped(pid_t pid, int status)
{
	bool ran = state == KERNEL_ALIVE || state == KERNEL_DYING;

	if (pid != kernel_pid || kernel_pid == 0)
		return false;
	/* Children that outlive it would write into its successor's life. */
	cgroup_kill(pid);
	kernel_pid = 0;
	streams_drain();
	close_sources();
	kernel_enter(KERNEL_ABSENT);
	if (ran)
		kernel_want();
	else
		timer_set(&pause_timer, clock_boot() + FORK_PAUSE);
	user->died(status);
	return true;
}
