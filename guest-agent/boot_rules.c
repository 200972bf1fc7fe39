/* SPDX-License-Identifier: Apache-2.0 */

/* What the guest's Linux is told to refuse, and the one network it has. */

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "boot.h"
#include "knob.h"
#include "report.h"

#define SYSCTL "/proc/sys/"

static const struct {
	const char *path;
	const char *value;
} sysctls[] = {
	{ SYSCTL "fs/protected_symlinks", "1" },
	{ SYSCTL "fs/protected_hardlinks", "1" },
	{ SYSCTL "fs/protected_fifos", "2" },
	{ SYSCTL "fs/protected_regular", "2" },
	{ SYSCTL "fs/suid_dumpable", "0" },
	/* A lease makes whoever opens the file wait, for 45 s. */
	{ SYSCTL "fs/leases-enable", "0" },
	{ SYSCTL "kernel/dmesg_restrict", "1" },
	{ SYSCTL "kernel/kptr_restrict", "2" },
	{ SYSCTL "kernel/perf_event_paranoid", "3" },
	{ SYSCTL "kernel/unprivileged_bpf_disabled", "1" },
	{ SYSCTL "kernel/yama/ptrace_scope", "2" },
	{ SYSCTL "kernel/sysrq", "0" },
	/*
	 * System V objects outlive their makers and go on counting against
	 * the kernel's cgroup: without these limits one execution could leave
	 * so much that no later one ever had memory again.
	 */
	{ SYSCTL "kernel/shm_rmid_forced", "1" },
	{ SYSCTL "kernel/msgmni", "32" },
	{ SYSCTL "kernel/sem", "250 8000 32 32" },
	{ SYSCTL "kernel/kexec_load_disabled", "1" },
	{ SYSCTL "kernel/io_uring_disabled", "2" },
	{ SYSCTL "user/max_user_namespaces", "0" },
	{ SYSCTL "vm/unprivileged_userfaultfd", "0" },
	/* A panic is seen by the host through pvpanic and ends the VM. */
	{ SYSCTL "kernel/panic", "-1" },
	{ SYSCTL "kernel/panic_on_oops", "1" },
	/* An NMI is the operator's way to end a guest that hangs. Where it came
	 * from Linux reads at a port that microvm does not have, as all ones:
	 * a bus error. */
	{ SYSCTL "kernel/unknown_nmi_panic", "1" },
	{ SYSCTL "kernel/panic_on_io_nmi", "1" },
	{ SYSCTL "kernel/panic_on_unrecovered_nmi", "1" },
	/* All modules are in. */
	{ SYSCTL "kernel/modules_disabled", "1" },
};

/* One that this Linux lacks is no harm; any other failure is told. */
int boot_write_sysctls(struct boot *b)
{
	size_t i;
	int r;

	(void)b;
	for (i = 0; i < sizeof(sysctls) / sizeof(sysctls[0]); i++) {
		r = knob_write(AT_FDCWD, sysctls[i].path, sysctls[i].value);
		if (r < 0 && r != -ENOENT)
			report_error(r, "cannot write %s", sysctls[i].path);
	}
	return 0;
}

/*
 * Libraries talk to themselves over 127.0.0.1 (multiprocessing managers, test
 * servers). There is no other device and no route.
 */
int boot_raise_loopback(struct boot *b)
{
	struct ifreq request = { .ifr_name = "lo",
				 .ifr_flags = IFF_UP | IFF_RUNNING };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), r = 0;

	(void)b;
	if (fd < 0)
		return -errno;
	if (ioctl(fd, SIOCSIFFLAGS, &request) < 0)
		r = -errno;
	(void)close(fd);
	return r;
}
