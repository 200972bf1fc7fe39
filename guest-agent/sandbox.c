/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdint.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "data.h"
#include "seccomp.h"

#define CAP(x) (1ull << CAP_##x)
#define CAP_NUMBER_MAX 63

static const struct {
	int resource;
	struct rlimit limit;
} limits[] = {
	{ RLIMIT_CORE, { 0, 0 } },
	{ RLIMIT_NOFILE, { 4096, 4096 } },
	{ RLIMIT_MEMLOCK, { 64 * 1024, 64 * 1024 } },
	{ RLIMIT_RTPRIO, { 0, 0 } },
	{ RLIMIT_NICE, { 0, 0 } },
};

static int set_limits(void)
{
	size_t i;

	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		if (setrlimit(limits[i].resource, &limits[i].limit) < 0)
			return -errno;
	/* The agent's own is raised. */
	return setpriority(PRIO_PROCESS, 0, 0) < 0 ? -errno : 0;
}

/* The kernel refuses numbers above its last: the end. */
static void drop_bounding(uint64_t keep)
{
	int cap;

	for (cap = 0; cap <= CAP_NUMBER_MAX; cap++)
		if (!(keep & 1ull << cap) &&
		    prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
			break;
}

static int set_caps(uint64_t caps, uint64_t inheritable)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2] = {
		{ (uint32_t)caps, (uint32_t)caps, (uint32_t)inheritable },
		{ (uint32_t)(caps >> 32), (uint32_t)(caps >> 32),
		  (uint32_t)(inheritable >> 32) },
	};

	return syscall(SYS_capset, &header, data) < 0 ? -errno : 0;
}

static void reset_signals(void)
{
	sigset_t none;

	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)signal(SIGPIPE, SIG_DFL);
}

int sandbox_enter_zygote(void)
{
	const uint64_t keep = CAP(SETUID) | CAP(SETGID);
	int r;

	reset_signals();
	r = set_limits();
	if (r < 0)
		return r;
	drop_bounding(keep);
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0 || setgroups(0, NULL) < 0 ||
	    setresgid(ZYGOTE_ID, ZYGOTE_ID, ZYGOTE_ID) < 0 ||
	    setresuid(ZYGOTE_ID, ZYGOTE_ID, ZYGOTE_ID) < 0)
		return -errno;
	r = set_caps(keep, keep);
	if (r < 0)
		return r;
	/* Ambient ones outlive the exec of Python. */
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SETUID, 0, 0) < 0 ||
	    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SETGID, 0, 0) < 0)
		return -errno;
	return seccomp_install();
}

int sandbox_enter_files(void)
{
	if (setgroups(0, NULL) < 0)
		return -errno;
	(void)setfsgid(SANDBOX_ID);
	(void)setfsuid(SANDBOX_ID);
	/* Neither call can say that it failed, but asking again does. */
	if (setfsuid((uid_t)-1) != SANDBOX_ID || setfsgid((gid_t)-1) != SANDBOX_ID)
		return -EPERM;
	return set_caps(CAP(DAC_READ_SEARCH), 0);
}
