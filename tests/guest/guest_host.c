/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The guest agent as a process of any host: over a Unix socket instead of
 * vsock, without a machine of its own to set up, limit or switch off.
 *
 * What is missing here is what only a VM can have: boot, control groups,
 * capabilities. The zygote does run under the system call filter.
 *
 *	guest_host SOCKET DIRECTORY RUNNER NONCE
 *
 * DIRECTORY gets data/ and incoming/; NONCE is 64 hexadecimal digits.
 */

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent.h"
#include "bounds.h"
#include "cgroup.h"
#include "data.h"
#include "exec.h"
#include "sandbox.h"
#include "seccomp.h"
#include "session.h"

static bool configured;

int cgroup_add(pid_t pid)
{
	(void)pid;
	return 0;
}

/* The kernel leads a session; what left its process group is spared here. */
void cgroup_kill(pid_t pid)
{
	if (pid > 0)
		(void)kill(-pid, SIGKILL);
}

void cgroup_reset_peak(void)
{
}

uint64_t cgroup_cpu_usec(void)
{
	return 0;
}

uint64_t cgroup_oom_kills(void)
{
	return 0;
}

uint64_t cgroup_oom_kills_told(void)
{
	return 0;
}

uint32_t cgroup_tasks(void)
{
	return 0;
}

uint64_t cgroup_peak_bytes(void)
{
	return 0;
}

void __real_bounds_survey(pid_t kernel);
void __real_bounds_restore(pid_t kernel);
void __wrap_bounds_survey(pid_t kernel);
void __wrap_bounds_restore(pid_t kernel);

/*
 * A process's limits are for its own user, and for a capability that root has in
 * a guest but in few containers. The real user is what Linux compares.
 */
static void as_sandbox(void (*call)(pid_t kernel), pid_t kernel)
{
	uid_t uid = getuid();
	gid_t gid = getgid();

	(void)!setresgid(SANDBOX_ID, (gid_t)-1, (gid_t)-1);
	(void)!setresuid(SANDBOX_ID, (uid_t)-1, (uid_t)-1);
	call(kernel);
	(void)!setresuid(uid, (uid_t)-1, (uid_t)-1);
	(void)!setresgid(gid, (gid_t)-1, (gid_t)-1);
}

void __wrap_bounds_survey(pid_t kernel)
{
	as_sandbox(__real_bounds_survey, kernel);
}

void __wrap_bounds_restore(pid_t kernel)
{
	as_sandbox(__real_bounds_restore, kernel);
}

int sandbox_enter_zygote(void)
{
	sigset_t none;

	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)signal(SIGPIPE, SIG_DFL);
	return seccomp_install();
}

int sandbox_enter_files(void)
{
	(void)setfsgid(SANDBOX_ID);
	(void)setfsuid(SANDBOX_ID);
	return 0;
}

void session_configure(const struct message_configure *m)
{
	(void)m;
	exec_set_grace(1000000);
	configured = true;
}

void session_measure(void)
{
}

bool session_is_configured(void)
{
	return configured;
}

void session_status(struct message_status *ret)
{
	*ret = (struct message_status){ .processes = 1 };
}

void session_shutdown(void)
{
	exit(0);
}

static int listen_unix(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0 || strlen(path) >= sizeof(address.sun_path))
		errx(1, "cannot listen at %s", path);
	strcpy(address.sun_path, path);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(fd, 16) < 0)
		err(1, "cannot listen at %s", path);
	return fd;
}

static int make_dir(const char *parent, const char *name)
{
	int dir = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd;

	if (dir < 0 || (mkdirat(dir, name, 0755) < 0 && errno != EEXIST))
		err(1, "cannot make %s/%s", parent, name);
	(void)!fchownat(dir, name, SANDBOX_ID, SANDBOX_ID, 0);
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	(void)close(dir);
	return fd;
}

static void read_nonce(const char *hex, uint8_t nonce[static WIRE_NONCE_SIZE])
{
	size_t i;

	for (i = 0; i < WIRE_NONCE_SIZE; i++)
		if (sscanf(hex + 2 * i, "%2hhx", &nonce[i]) != 1)
			errx(1, "the nonce is not hexadecimal");
}

int main(int argc, char *argv[])
{
	uint8_t nonce[WIRE_NONCE_SIZE];
	static char path[1024];
	int runner, preimport, r;

	if (argc != 5 || strlen(argv[4]) != sizeof(nonce) * 2)
		errx(2, "usage: guest_host SOCKET DIRECTORY RUNNER NONCE");
	read_nonce(argv[4], nonce);
	/* In a guest, orphans come to PID 1 by themselves. */
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	runner = open(argv[3], O_RDONLY | O_CLOEXEC);
	preimport = memfd_create("preimport", MFD_CLOEXEC);
	if (runner < 0 || preimport < 0)
		err(1, "cannot open %s", argv[3]);
	(void)snprintf(path, sizeof(path), "%s/data", argv[2]);
	r = agent_init(make_dir(argv[2], "data"), make_dir(argv[2], "incoming"),
		       runner, preimport, path);
	if (r >= 0)
		r = agent_serve(listen_unix(argv[1]), nonce);
	errno = -r;
	err(1, "cannot serve");
}
