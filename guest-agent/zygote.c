/* SPDX-License-Identifier: Apache-2.0 */
#include "zygote.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "loop.h"
#include "report.h"
#include "runner.h"
#include "sandbox.h"

/* Python crashing at once must not become a busy loop. */
#define RESTART_PAUSE (1 * USEC_PER_SEC)

/* What the zygote finds open: standard ones, then these. */
enum { CONTROL_FD = 3, RUNNER_FD = 4, PREIMPORT_FD = 5, FD_COUNT = 6 };

static void on_zygote(struct source *s, uint32_t events);
static void on_restart(struct timer *t);

static struct source control = { .fd = -1, .ready = on_zygote };
static struct timer restart = { .fire = on_restart };
static int runner_fd = -1, preimport_fd = -1;
static void (*ready_callback)(void);
static pid_t zygote_pid;
static bool ready;

static char *arguments[] = {
	"python3", "-I", "-B", "-X", "utf8", "/proc/self/fd/4", NULL, NULL,
};
#define DATA_ARGUMENT 6

static char *const environment[] = {
	"HOME=/home/zygote",
	"USER=sandbox",
	"LOGNAME=sandbox",
	"SHELL=/bin/bash",
	"PATH=/home/sandbox/.local/bin:/usr/local/bin:/usr/bin:/bin",
	"LANG=C.UTF-8",
	"LC_ALL=C.UTF-8",
	"TZ=UTC",
	"TERM=dumb",
	"MPLBACKEND=module://matplotlib_inline.backend_inline",
	NULL,
};

void zygote_init(int runner, int preimport, char *data_path,
		 void (*on_ready)(void))
{
	arguments[DATA_ARGUMENT] = data_path;
	runner_fd = runner;
	preimport_fd = preimport;
	ready_callback = on_ready;
}

/*
 * Put descriptors where they belong. First out of the way, so that none is
 * overwritten before it is moved.
 */
static int arrange_fds(int socket)
{
	int wanted[FD_COUNT] = { -1, -1, STDERR_FILENO,
				 socket, runner_fd, preimport_fd };
	int i;

	wanted[0] = open("/dev/null", O_RDWR);
	wanted[1] = STDERR_FILENO;
	for (i = 0; i < FD_COUNT; i++) {
		wanted[i] = fcntl(wanted[i], F_DUPFD_CLOEXEC, FD_COUNT);
		if (wanted[i] < 0)
			return -errno;
	}
	for (i = 0; i < FD_COUNT; i++)
		if (dup2(wanted[i], i) < 0)
			return -errno;
	return 0;
}

/* In the child. */
static void become_zygote(int socket)
{
	int r;

	(void)setsid();
	r = arrange_fds(socket);
	if (r >= 0)
		r = sandbox_enter_zygote();
	if (r >= 0) {
		(void)execve("/usr/bin/python3", arguments, environment);
		r = -errno;
	}
	report_error(r, "cannot start Python");
	_exit(127);
}

int zygote_start(void)
{
	int pair[2], r;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC,
		       0, pair) < 0)
		return -errno;
	/* Python wants its end to block. */
	(void)fcntl(pair[1], F_SETFL, O_RDWR);
	zygote_pid = fork();
	if (zygote_pid == 0)
		become_zygote(pair[1]);
	r = zygote_pid < 0 ? -errno : 0;
	(void)close(pair[1]);
	if (r >= 0)
		r = source_open(&control, pair[0], EPOLLIN);
	if (r < 0)
		(void)close(pair[0]);
	return r;
}

bool zygote_is_ready(void)
{
	return ready;
}

static void on_zygote(struct source *s, uint32_t events)
{
	uint8_t type;
	ssize_t n = recv(s->fd, &type, 1, 0);

	(void)events;
	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		/* Its end is seen by reaping it. */
		source_close(s);
		return;
	}
	if (type == RUNNER_IMPORTED && !ready) {
		ready = true;
		ready_callback();
	}
}

int zygote_fork(int kernel, int out, int err)
{
	const int fds[3] = { kernel, out, err };
	uint8_t type = RUNNER_FORK;
	struct iovec iov = { .iov_base = &type, .iov_len = 1 };
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(fds))];
	} ancillary;
	struct msghdr message = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &ancillary,
		.msg_controllen = sizeof(ancillary),
	};

	if (!ready)
		return -ENOTCONN;
	ancillary.header = (struct cmsghdr){
		.cmsg_level = SOL_SOCKET,
		.cmsg_type = SCM_RIGHTS,
		.cmsg_len = CMSG_LEN(sizeof(fds)),
	};
	memcpy(CMSG_DATA(&ancillary.header), fds, sizeof(fds));
	return sendmsg(control.fd, &message, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

void zygote_kill(void)
{
	if (zygote_pid > 0)
		(void)kill(zygote_pid, SIGKILL);
}

static void on_restart(struct timer *t)
{
	int r = zygote_start();

	if (r < 0) {
		report_error(r, "cannot fork the zygote");
		timer_set(t, clock_boot() + RESTART_PAUSE);
	}
}

bool zygote_reaped(pid_t pid)
{
	if (pid != zygote_pid)
		return false;
	report("the zygote has ended, starting another");
	zygote_pid = 0;
	ready = false;
	source_close(&control);
	timer_set(&restart, clock_boot() + RESTART_PAUSE);
	return true;
}
