#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "vmd/backend.h"
#include "vmd/child.h"

#define BACKEND_START_USEC (5 * USEC_PER_SEC)
#define BACKEND_LOOK_USEC USEC_PER_MSEC
#define BACKEND_PATH_SIZE (sizeof(((struct sockaddr_un *)0)->sun_path))

/*
 * A guest can have the daemon complain without end, and the log lies on the
 * host's disk. Who writes more gets SIGXFSZ, and the session ends with it.
 */
#define BACKEND_LOG_MAX (1024 * 1024)

static const char *const programs[] = {
	"/usr/bin/vhost-device-vsock",
	"/usr/libexec/vhost-device-vsock",
	"/usr/local/bin/vhost-device-vsock",
};

const char *backend_program(void)
{
	size_t i;

	for (i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		if (access(programs[i], X_OK) == 0)
			return programs[i];
	return NULL;
}

/* Its log says why it ended, and is erased with the VM. */
static int open_log(const char *directory)
{
	char path[BACKEND_PATH_SIZE];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/" BACKEND_LOG, directory);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : fd;
}

static int spawn(const char *directory, const char *vm_id, uint32_t cid,
		 pid_t *ret_pid)
{
	const char *program = backend_program();
	_cleanup_close_ int log = -1;
	char vhost[BACKEND_PATH_SIZE], dial[BACKEND_PATH_SIZE], number[16];
	char *const argv[] = {
		(char *)program, "--guest-cid", number, "--socket", vhost,
		"--uds-path", dial, "--groups", (char *)vm_id, NULL
	};

	if (!program)
		return -ENOENT;
	log = open_log(directory);
	if (log < 0)
		return log;
	(void)snprintf(number, sizeof(number), "%u", cid);
	(void)snprintf(vhost, sizeof(vhost), "%s/" BACKEND_VHOST_SOCKET,
		       directory);
	(void)snprintf(dial, sizeof(dial), "%s/" BACKEND_DIAL_SOCKET,
		       directory);
	return child_spawn(argv, log, ret_pid);
}

/*
 * There is no word of readiness, only the socket's file. It appears with bind(),
 * an instant before listen(); QEMU needs 20 ms more until it connects.
 */
static int wait_for_socket(const char *directory, int pidfd)
{
	const struct timespec nap = { .tv_nsec = BACKEND_LOOK_USEC * 1000 };
	char path[BACKEND_PATH_SIZE];
	usec_t waited;

	(void)snprintf(path, sizeof(path), "%s/" BACKEND_VHOST_SOCKET,
		       directory);
	for (waited = 0; waited < BACKEND_START_USEC;
	     waited += BACKEND_LOOK_USEC) {
		if (access(path, F_OK) == 0)
			return 0;
		if (!child_is_alive(pidfd))
			return -ECHILD;
		(void)nanosleep(&nap, NULL);
	}
	return -ETIMEDOUT;
}

/* It opens no other file to write, so this limits the log and nothing else. */
static int limit_log(pid_t pid)
{
	const struct rlimit limit = { BACKEND_LOG_MAX, BACKEND_LOG_MAX };

	return prlimit(pid, RLIMIT_FSIZE, &limit, NULL) < 0 ? -errno : 0;
}

int backend_start(const char *directory, const char *vm_id, uint32_t cid,
		  struct backend *ret_backend, struct error *err)
{
	_cleanup_close_ int pidfd = -1;
	struct child_end end;
	pid_t pid = 0;
	int r;

	pidfd = spawn(directory, vm_id, cid, &pid);
	if (pidfd < 0)
		return error_set_errno(err, pidfd,
				       "Cannot start vhost-device-vsock");
	r = limit_log(pid);
	if (r >= 0)
		r = wait_for_socket(directory, pidfd);
	if (r < 0) {
		(void)child_kill(pidfd, SIGKILL);
		(void)child_wait(pidfd, USEC_INFINITY);
		(void)child_reap(pidfd, &end);
		return error_set(err, ERR_HYPERVISOR,
				 r == -ETIMEDOUT ?
				 "vhost-device-vsock made no socket in time" :
				 "vhost-device-vsock ended at once");
	}
	ret_backend->pid = pid;
	ret_backend->pidfd = take_fd(pidfd);
	return 0;
}
