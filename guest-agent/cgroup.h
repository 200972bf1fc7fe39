/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GUEST_CGROUP_H
#define GUEST_CGROUP_H

/*
 * The control group that holds the kernel and all that it starts. The cgroup
 * file system is mounted where no path of the guest's leads to; only the
 * agent has descriptors into it.
 */

#include <stdint.h>
#include <sys/types.h>

struct cgroup_usage {
	uint64_t cpu_usec;
	uint64_t memory_bytes;
	uint64_t memory_peak_bytes;	/* since cgroup_reset_peak() */
	uint64_t oom_kills;
	uint32_t processes;
};

/* Make the group. @root: cgroup2's root directory. Return: 0 or -errno */
int cgroup_init(int root);

/* Have the loop listen to what Linux tells of it. Return: 0 or -errno */
int cgroup_watch(void);

/* Return: 0 or -errno */
int cgroup_set_limits(uint64_t memory_max_bytes, uint32_t pids_max);
int cgroup_add(pid_t pid);

/* SIGKILL to everything in it; @pid: the kernel, or 0 if it is gone. */
void cgroup_kill(pid_t pid);

void cgroup_reset_peak(void);

/* What is cheap to ask at the start and at the end of an execution. */
uint64_t cgroup_cpu_usec(void);
uint64_t cgroup_oom_kills_told(void);
uint64_t cgroup_peak_bytes(void);

/* As it is now; as it was told takes nothing, and may be some ms old. */
uint64_t cgroup_oom_kills(void);

/* How many threads of how many processes are in it; 0: nobody knows */
uint32_t cgroup_tasks(void);

/* Everything. Fields that cannot be read are zero. */
void cgroup_read(struct cgroup_usage *ret);

#endif
