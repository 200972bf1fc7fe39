#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cli/signals.h"

int signals_open(void)
{
	sigset_t set;
	int fd;

	/* A closed pipe ends our writes with EPIPE, so that we tidy up. */
	(void)signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

int signals_take(int signals)
{
	struct signalfd_siginfo info;

	if (read(signals, &info, sizeof(info)) != sizeof(info))
		return 0;
	return (int)info.ssi_signo;
}

int signals_await(int signals, int fd, int msec)
{
	struct pollfd waits[] = {
		{ .fd = signals, .events = POLLIN },
		{ .fd = fd, .events = POLLIN },
	};
	int ready, number;

	do {
		ready = poll(waits, 2, msec);
		number = signals_take(signals);
	} while (number == 0 && ready < 0 && errno == EINTR);
	return number;
}
