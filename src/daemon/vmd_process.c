#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/event.h"
#include "base/log.h"
#include "base/timer.h"
#include "daemon/vmd_process.h"

#define PAUSE_FIRST (200 * USEC_PER_MSEC)
#define PAUSE_MAX (10 * USEC_PER_SEC)
/* One that has lived so long was well: the next pause is a short one again. */
#define LIVED_WELL (30 * USEC_PER_SEC)

struct vmd_process {
	struct vmd_process_config config;
	char **arguments;
	pid_t pid; /* 0: none */
	int pidfd;
	sd_event_source *exited;
	struct timer *again;
	usec_t pause;
	usec_t started;
	bool stopping;
	sd_event_source *stopped; /* tells that there is none to wait for */
	void (*gone)(void *userdata);
	void *gone_userdata;
};

static int open_beside(const char *name)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path));
	char *slash;

	if (n < 0)
		return -errno;
	if ((size_t)n == sizeof(path))
		return -ENAMETOOLONG;
	path[n] = '\0';
	slash = strrchr(path, '/');
	if (!slash || (size_t)(slash - path) + 1 + strlen(name) >= sizeof(path))
		return -ENAMETOOLONG;
	strcpy(slash + 1, name);
	n = open(path, O_PATH | O_CLOEXEC);
	return n < 0 ? -errno : (int)n;
}

int vmd_process_open(struct error *err)
{
	int fd = open_beside("cupola-vmd");

	if (fd < 0)
		fd = open(PKGLIBEXECDIR "/cupola-vmd", O_PATH | O_CLOEXEC);
	if (fd < 0)
		return error_set(err, ERR_INTERNAL,
				 "cupola-vmd is neither beside cupolad nor in "
				 "'%s': build or install all of Cupola",
				 PKGLIBEXECDIR);
	return fd;
}

static int arguments_copy(struct vmd_process *p, const char *const *from)
{
	size_t count = 0, i;

	while (from[count])
		count++;
	p->arguments = calloc(count + 1, sizeof(*p->arguments));
	if (!p->arguments)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		p->arguments[i] = strdup(from[i]);
		if (!p->arguments[i])
			return -ENOMEM;
	}
	return 0;
}

/*
 * In the child, between fork() and exec: other threads' locks may be held for
 * ever here, so only what is safe in a signal handler is called.
 */
static void become_vmd(const struct vmd_process *p, int socket)
{
	sigset_t none;
	int binary;

	/* The loop's signals are blocked, and the mask would be inherited. */
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)signal(SIGPIPE, SIG_DFL);
	/* The binary may be where the socket must go. */
	binary = fcntl(p->config.binary, F_DUPFD_CLOEXEC, VMD_PROCESS_FD + 1);
	if (binary < 0)
		_exit(126);
	/* dup2() of a descriptor onto itself would keep CLOEXEC. */
	if (socket == VMD_PROCESS_FD)
		(void)fcntl(socket, F_SETFD, 0);
	else if (dup2(socket, VMD_PROCESS_FD) < 0)
		_exit(126);
	(void)fexecve(binary, p->arguments, environ);
	_exit(127);
}

static void start_again_later(struct vmd_process *p)
{
	if (clock_boot(p->config.clock) - p->started > LIVED_WELL)
		p->pause = PAUSE_FIRST;
	timer_set_after(p->again, p->pause);
	p->pause = p->pause * 2 < PAUSE_MAX ? p->pause * 2 : PAUSE_MAX;
}

static void log_end(const siginfo_t *info)
{
	if (info->si_code == CLD_EXITED && info->si_status == 127)
		log_error(NULL, 0, "cupola-vmd cannot be executed");
	else if (info->si_code == CLD_EXITED)
		log_warning(NULL, 0, "cupola-vmd ended with status %d",
			    info->si_status);
	else
		log_warning(NULL, 0, "cupola-vmd was killed by signal %d",
			    info->si_status);
}

static int on_exit_of_vmd(sd_event_source *source, int fd, uint32_t revents,
			  void *userdata)
{
	struct vmd_process *p = userdata;
	siginfo_t info = { 0 };

	(void)source;
	(void)revents;
	if (waitid(P_PIDFD, (id_t)fd, &info, WEXITED | WNOHANG) < 0 ||
	    info.si_pid == 0)
		return 0;
	p->exited = sd_event_source_disable_unref(p->exited);
	close_fd(&p->pidfd);
	p->pid = 0;
	if (p->stopping) {
		p->gone(p->gone_userdata);
		return 0;
	}
	log_end(&info);
	start_again_later(p);
	return 0;
}

static int watch_child(struct vmd_process *p, pid_t pid)
{
	p->pidfd = pidfd_open(pid, 0);
	if (p->pidfd < 0)
		return -errno;
	return event_add_io(p->config.event, p->pidfd, EPOLLIN, on_exit_of_vmd,
			    p, "cupola-vmd's end", &p->exited);
}

/* A child that cannot be watched must not run: it would be started twice. */
static int watch_or_kill(struct vmd_process *p, pid_t pid)
{
	int r = watch_child(p, pid);

	if (r >= 0) {
		p->pid = pid;
		return 0;
	}
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	close_fd(&p->pidfd);
	return r;
}

static int process_start(struct vmd_process *p)
{
	_cleanup_close_ int ours = -1, theirs = -1;
	int pair[2], r;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	ours = pair[0];
	theirs = pair[1];
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0)
		become_vmd(p, theirs);
	p->started = clock_boot(p->config.clock);
	r = watch_or_kill(p, pid);
	if (r < 0)
		return r;
	r = p->config.connected(ours, p->config.userdata);
	if (r >= 0)
		(void)take_fd(ours);
	return r;
}

static void on_again(struct timer *t, void *userdata)
{
	struct vmd_process *p = userdata;
	int r;

	(void)t;
	r = process_start(p);
	if (r < 0 && p->pid == 0) {
		log_error(NULL, r, "Cannot start cupola-vmd");
		start_again_later(p);
	}
}

int vmd_process_new(const struct vmd_process_config *config,
		    struct vmd_process **ret_process, struct error *err)
{
	_cleanup_(vmd_process_freep) struct vmd_process *p =
		calloc(1, sizeof(*p));
	int r = -ENOMEM;

	if (p) {
		p->config = *config;
		p->pidfd = -1;
		p->pause = PAUSE_FIRST;
		r = arguments_copy(p, config->arguments);
	}
	if (r >= 0)
		r = timer_new(config->event, config->clock,
			      "cupola-vmd's next start", on_again, p,
			      &p->again);
	if (r >= 0)
		r = process_start(p);
	if (r < 0)
		return error_set_errno(err, r, "Cannot start cupola-vmd");
	*ret_process = take_ptr(p);
	return 0;
}

static int on_nothing_left(sd_event_source *source, void *userdata)
{
	struct vmd_process *p = userdata;

	(void)source;
	p->gone(p->gone_userdata);
	return 0;
}

void vmd_process_stop(struct vmd_process *p, void (*gone)(void *userdata),
		      void *userdata)
{
	p->stopping = true;
	p->gone = gone;
	p->gone_userdata = userdata;
	timer_clear(p->again);
	if (p->pid != 0)
		return;
	if (event_add_defer(p->config.event, on_nothing_left, p,
			    "no cupola-vmd left", &p->stopped) >= 0)
		(void)sd_event_source_set_enabled(p->stopped, SD_EVENT_ONESHOT);
	else
		gone(userdata);
}

void vmd_process_wait(struct vmd_process *p, usec_t patience)
{
	struct pollfd end = { .fd = p->pidfd, .events = POLLIN };

	if (p->pidfd >= 0)
		(void)poll(&end, 1, (int)(patience / USEC_PER_MSEC));
}

void vmd_process_kill(struct vmd_process *p)
{
	if (p->pidfd >= 0)
		(void)pidfd_send_signal(p->pidfd, SIGKILL, NULL, 0);
}

void vmd_process_free(struct vmd_process *p)
{
	char **argument;

	if (!p)
		return;
	sd_event_source_disable_unref(p->exited);
	sd_event_source_disable_unref(p->stopped);
	timer_free(p->again);
	close_fd(&p->pidfd);
	for (argument = p->arguments; argument && *argument; argument++)
		free(*argument);
	free(p->arguments);
	free(p);
}
