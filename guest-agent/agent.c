/* SPDX-License-Identifier: Apache-2.0 */
#include "agent.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bulk.h"
#include "changed.h"
#include "data.h"
#include "exec.h"
#include "kernel.h"
#include "link.h"
#include "loop.h"
#include "report.h"
#include "session.h"
#include "stage.h"
#include "visitor.h"
#include "zygote.h"

static void on_child(struct source *s, uint32_t events);

static struct source children = { .fd = -1, .ready = on_child };

/* Return: a child that is dead and still has its number, or 0 */
static pid_t dead_child(void)
{
	siginfo_t info = { 0 };

	if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
		return 0;
	return info.si_pid;
}

/*
 * Reaps everything. Most are orphans of user code, which nobody knows. Until
 * one is reaped its number is not given to another: that is why signals sent
 * by number, to the kernel and the zygote, reach nobody else. Both numbers are
 * forgotten in the same step that reaps their process.
 */
static void on_child(struct source *s, uint32_t events)
{
	struct signalfd_siginfo info;
	int status;
	pid_t pid;

	(void)events;
	while (read(s->fd, &info, sizeof(info)) == sizeof(info))
		;
	while ((pid = dead_child()) > 0) {
		kernel_before_reaping();
		if (waitpid(pid, &status, 0) == pid &&
		    !kernel_reaped(pid, status) && !bulk_reaped(pid))
			(void)zygote_reaped(pid);
	}
}

static int watch_children(void)
{
	sigset_t set;
	int fd;

	(void)signal(SIGPIPE, SIG_IGN);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	return fd < 0 ? -errno : source_open(&children, fd, EPOLLIN);
}

static void on_zygote_ready(void)
{
	stage_reached(WIRE_STAGE_IMPORTED);
	session_measure();
	kernel_want();
}

int agent_init(int data, int incoming, int runner, int preimport,
	       char *data_path)
{
	int r = loop_init();

	if (r < 0)
		return r;
	data_init(data, incoming);
	changed_init();
	exec_init(link_wake);
	kernel_init(&exec_kernel_events);
	zygote_init(runner, preimport, data_path, on_zygote_ready);
	r = watch_children();
	if (r >= 0)
		r = bulk_init();
	if (r >= 0)
		r = zygote_start();
	return r;
}

int agent_serve(int listener, uint8_t nonce[static WIRE_NONCE_SIZE])
{
	int r = visitor_listen(listener, nonce);

	explicit_bzero(nonce, WIRE_NONCE_SIZE);
	if (r < 0)
		return r;
	stage_reached(WIRE_STAGE_LISTEN);
	/* Not for the operator alone: see doc/guest-protocol.md. */
	report("listening");
	return loop_run();
}
