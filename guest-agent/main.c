/* SPDX-License-Identifier: Apache-2.0 */

/*
 * cupola-guest: PID 1 of a VM.
 *
 * It boots the guest, starts the zygote, and then does what the host asks over
 * vsock. It has no heap after start and no configuration; it reads no file that
 * user code can write other than to send it; its death is a kernel panic, which
 * the host sees.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/vm_sockets.h>

#include "agent.h"
#include "boot.h"
#include "cgroup.h"
#include "report.h"
#include "stage.h"

/* More than the host has reason to open at a time. */
#define BACKLOG 16

/* The agent's part of the CPU, whatever user code does with the rest. */
#define NICE -10

/*
 * Linux spares PID 1 anyhow; this is for the zygote and those who serve files,
 * when memory is short outside of the kernel's group.
 */
static void spare_from_oom(void)
{
	static const char score[] = "-900";
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, score, sizeof(score) - 1) < 0)
		report_error(-errno, "cannot set the OOM score");
	if (fd >= 0)
		(void)close(fd);
}

static int listen_vsock(void)
{
	const struct sockaddr_vm address = {
		.svm_family = AF_VSOCK,
		.svm_cid = VMADDR_CID_ANY,
		.svm_port = WIRE_PORT,
	};
	int fd, r;

	fd = socket(AF_VSOCK, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(fd, BACKLOG) < 0) {
		r = -errno;
		(void)close(fd);
		return r;
	}
	return fd;
}

/* A guest without its agent is of no use: let it panic, which is noticed. */
static void die(int r, const char *what)
{
	report_error(r, "cannot %s", what);
	abort();
}

int main(void)
{
	static char data_path[] = "/mnt/data";
	struct boot boot = { .data = -1, .incoming = -1, .cgroup = -1,
			     .runner = -1, .preimport = -1 };
	int r, listener;

	stage_reached(WIRE_STAGE_AGENT);
	boot_or_die(&boot);
	(void)setpriority(PRIO_PROCESS, 0, NICE);
	spare_from_oom();
	r = cgroup_init(boot.cgroup);
	if (r < 0)
		die(r, "make the control group");
	r = agent_init(boot.data, boot.incoming, boot.runner, boot.preimport,
		       data_path);
	if (r >= 0)
		r = cgroup_watch();
	if (r < 0)
		die(r, "start");
	listener = listen_vsock();
	r = listener < 0 ? listener : agent_serve(listener, boot.nonce);
	explicit_bzero(boot.nonce, sizeof(boot.nonce));
	die(r, "serve");
}
