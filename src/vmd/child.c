#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "vmd/child.h"

/* glibc names it only together with <linux/wait.h>, which clashes. */
#ifndef P_PIDFD
#define P_PIDFD 3
#endif

enum {
	CMDLINE_MAX = 64 << 10,
};

/* The set-up that can fail, apart from what it is used for. */
static int spawn(char *const argv[], int out, bool own_session,
		 posix_spawn_file_actions_t *actions, posix_spawnattr_t *attr,
		 pid_t *ret_pid)
{
	char *const environment[] = {
		"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", NULL
	};
	int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
		    (own_session ? POSIX_SPAWN_SETSID : 0);
	sigset_t none, all;
	int r;

	(void)sigemptyset(&none);
	(void)sigfillset(&all);
	(void)posix_spawnattr_setsigmask(attr, &none);
	(void)posix_spawnattr_setsigdefault(attr, &all);
	(void)posix_spawnattr_setflags(attr, (short)flags);
	r = posix_spawn_file_actions_addopen(actions, STDIN_FILENO,
					     "/dev/null", O_RDONLY, 0);
	if (r == 0)
		r = posix_spawn_file_actions_adddup2(actions, out,
						     STDOUT_FILENO);
	if (r == 0)
		r = posix_spawn_file_actions_adddup2(actions, out,
						     STDERR_FILENO);
	if (r == 0)
		r = posix_spawn(ret_pid, argv[0], actions, attr, argv,
				environment);
	return -r;
}

static int spawn_held(char *const argv[], int out, bool own_session,
		      pid_t *ret_pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	pid_t pid = 0;
	int r, fd;

	r = posix_spawn_file_actions_init(&actions);
	if (r != 0)
		return -r;
	r = posix_spawnattr_init(&attr);
	if (r != 0) {
		(void)posix_spawn_file_actions_destroy(&actions);
		return -r;
	}
	r = spawn(argv, out, own_session, &actions, &attr, &pid);
	(void)posix_spawnattr_destroy(&attr);
	(void)posix_spawn_file_actions_destroy(&actions);
	if (r < 0)
		return r;

	/* Nobody but us reaps it, so the pid is still its own. */
	fd = pidfd_open(pid, 0);
	if (fd < 0) {
		r = -errno;
		(void)kill(pid, SIGKILL);
		(void)waitpid(pid, NULL, 0);
		return r;
	}
	*ret_pid = pid;
	return fd;
}

int child_spawn(char *const argv[], int out, pid_t *ret_pid)
{
	return spawn_held(argv, out, true, ret_pid);
}

int child_run(char *const argv[], int out)
{
	_cleanup_close_ int fd = -1;
	struct child_end end;
	pid_t pid;
	int r;

	fd = spawn_held(argv, out, false, &pid);
	if (fd < 0)
		return fd;
	(void)child_wait(fd, USEC_INFINITY);
	r = child_reap(fd, &end);
	if (r < 0)
		return r;
	return WIFEXITED(end.status) ? WEXITSTATUS(end.status) :
				       128 + WTERMSIG(end.status);
}

/*
 * Finds field @number of /proc/PID/stat, counted as proc(5) does, from 3 on.
 * The second field is the name, which may have anything in it; the last ')'
 * ends it.
 */
static bool read_stat(pid_t pid, int number, char *buffer, size_t size,
		      const char **ret_field)
{
	_cleanup_close_ int fd = -1;
	char path[32], *at;
	ssize_t n;
	int i;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, buffer, size - 1);
	if (n <= 0)
		return false;
	buffer[n] = '\0';
	at = strrchr(buffer, ')');
	for (i = 2; at && i < number; i++) {
		at = strchr(at, ' ');
		if (at)
			at++;
	}
	*ret_field = at;
	return at != NULL;
}

uint64_t child_start_time(pid_t pid)
{
	char buffer[1024];
	const char *field;

	if (!read_stat(pid, 22, buffer, sizeof(buffer), &field))
		return 0;
	return strtoull(field, NULL, 10);
}

int child_find(pid_t pid, uint64_t start)
{
	_cleanup_close_ int fd = -1;

	if (pid <= 0)
		return -ESRCH;
	fd = pidfd_open(pid, 0);
	if (fd < 0)
		return -errno;
	/* Looked at after it is held, so that it cannot change any more. */
	if (child_start_time(pid) != start)
		return -ESRCH;
	return take_fd(fd);
}

/*
 * Whether a process has an argument that begins with some bytes; with their NUL
 * among them, whether it has exactly that argument.
 */
static bool has_argument(pid_t pid, const char *bytes, size_t size)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(CMDLINE_MAX);
	_cleanup_close_ int fd = -1;
	char path[32];
	const uint8_t *at;

	(void)snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	while (buf_read(&text, fd, CMDLINE_MAX) > 0)
		;
	at = text.length > 0 ? memmem(text.data, text.length, bytes, size) :
			       NULL;
	/* The NUL of the argument before it. */
	return at && at > text.data && at[-1] == '\0';
}

bool child_has_argument_like(pid_t pid, const char *beginning)
{
	return has_argument(pid, beginning, strlen(beginning));
}

int child_find_by_argument(const char *argument, pid_t *ret_pid)
{
	_cleanup_(closedirp) DIR *dir = opendir("/proc");
	struct dirent *entry;
	int fd = -ESRCH;
	pid_t pid;

	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		pid = (pid_t)strtol(entry->d_name, NULL, 10);
		if (pid <= 0 || !has_argument(pid, argument, strlen(argument) + 1))
			continue;
		fd = child_find(pid, child_start_time(pid));
		if (fd >= 0 && has_argument(pid, argument, strlen(argument) + 1)) {
			*ret_pid = pid;
			return fd;
		}
		close_fd(&fd);
	}
	return -ESRCH;
}

unsigned child_kill_all_like(const char *beginning)
{
	_cleanup_(closedirp) DIR *dir = opendir("/proc");
	struct dirent *entry;
	unsigned count = 0;
	pid_t pid;

	while (dir && (entry = readdir(dir))) {
		_cleanup_close_ int fd = -1;

		pid = (pid_t)strtol(entry->d_name, NULL, 10);
		if (pid <= 0 || !child_has_argument_like(pid, beginning))
			continue;
		/* Looked at again when it is held, as in child_find(). */
		fd = pidfd_open(pid, 0);
		if (fd >= 0 && child_has_argument_like(pid, beginning) &&
		    child_kill(fd, SIGKILL) >= 0)
			count++;
	}
	return count;
}

static bool runs_our_program(pid_t pid)
{
	struct stat ours, theirs;
	char path[32];

	(void)snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	return stat("/proc/self/exe", &ours) == 0 &&
	       stat(path, &theirs) == 0 && ours.st_dev == theirs.st_dev &&
	       ours.st_ino == theirs.st_ino;
}

static bool thread_has_forks(const char *thread)
{
	_cleanup_(fclosep) FILE *f = NULL;
	char path[64];
	int pid;

	(void)snprintf(path, sizeof(path), "/proc/self/task/%.20s/children",
		       thread);
	f = fopen(path, "re");
	while (f && fscanf(f, "%d", &pid) == 1)
		if (runs_our_program(pid))
			return true;
	return false;
}

bool child_has_forks(void)
{
	_cleanup_(closedirp) DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && thread_has_forks(entry->d_name))
			return true;
	return false;
}

int child_kill(int pidfd, int signo)
{
	return pidfd_send_signal(pidfd, signo, NULL, 0) < 0 ? -errno : 0;
}

static usec_t timeval_usec(struct timeval tv)
{
	return (usec_t)tv.tv_sec * USEC_PER_SEC + (usec_t)tv.tv_usec;
}

int child_reap(int pidfd, struct child_end *ret_end)
{
	siginfo_t info = {};
	struct rusage usage = {};

	/* glibc's waitid() leaves out the kernel's fifth argument. */
	if (syscall(SYS_waitid, P_PIDFD, pidfd, &info, WEXITED | WNOHANG,
		    &usage) < 0)
		return -errno;
	if (info.si_pid == 0)
		return -EAGAIN;
	ret_end->status = info.si_code == CLD_EXITED ? info.si_status << 8 :
						       info.si_status;
	ret_end->cpu_usec = timeval_usec(usage.ru_utime) +
			    timeval_usec(usage.ru_stime);
	return 0;
}

bool child_is_alive(int pidfd)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };

	return poll(&p, 1, 0) == 0;
}

int child_wait(int pidfd, usec_t timeout_usec)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };
	int timeout = timeout_usec == USEC_INFINITY ?
			      -1 : (int)(timeout_usec / USEC_PER_MSEC);
	int r;

	do
		r = poll(&p, 1, timeout);
	while (r < 0 && errno == EINTR);
	return r > 0 ? 0 : -ETIMEDOUT;
}

uint64_t child_cpu_usec(pid_t pid)
{
	struct timespec ts;
	clockid_t clock;

	if (pid <= 0 || clock_getcpuclockid(pid, &clock) != 0 ||
	    clock_gettime(clock, &ts) < 0)
		return UINT64_MAX;
	return (usec_t)ts.tv_sec * USEC_PER_SEC + (usec_t)ts.tv_nsec / 1000;
}

uint64_t child_rss_bytes(pid_t pid)
{
	char buffer[1024];
	const char *field;

	if (pid <= 0 || !read_stat(pid, 24, buffer, sizeof(buffer), &field))
		return UINT64_MAX;
	return strtoull(field, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static bool is_orphan_zombie(pid_t pid)
{
	char buffer[1024];
	const char *field;
	pid_t session;

	if (!read_stat(pid, 3, buffer, sizeof(buffer), &field) ||
	    *field != 'Z' ||
	    !read_stat(pid, 6, buffer, sizeof(buffer), &field))
		return false;
	session = (pid_t)strtol(field, NULL, 10);
	return session != getsid(0);
}

void child_reap_orphans(bool (*is_held)(pid_t pid, void *userdata),
			void *userdata)
{
	_cleanup_(fclosep) FILE *f = NULL;
	char path[64];
	int pid;

	/* Children are listed by thread; orphans go to the first one. */
	(void)snprintf(path, sizeof(path), "/proc/self/task/%d/children",
		       getpid());
	f = fopen(path, "re");
	while (f && fscanf(f, "%d", &pid) == 1)
		if (is_orphan_zombie(pid) && !is_held(pid, userdata))
			(void)waitpid(pid, NULL, WNOHANG);
}
