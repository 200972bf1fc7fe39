/* SPDX-License-Identifier: Apache-2.0 */
#include "cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "knob.h"
#include "loop.h"

/*
 * Its weight against the agent's processes, which are in the root group: an
 * all-out load of the kernel must leave the agent its share.
 */
#define CPU_WEIGHT "20"

static int group = -1;
static int cpu_fd = -1, tasks_fd = -1;
static uint64_t oom_kills_told;

static void on_events(struct source *s, uint32_t events);

/* Linux wakes whoever waits for memory.events when it says something else. */
static struct source events_source = { .fd = -1, .ready = on_events };
static int events_fd = -1;
/* Peaks are per descriptor from Linux 6.12 on: ours is reset by writing. */
static int peak_fd = -1;

static ssize_t read_fd(int fd, char *text, size_t size)
{
	ssize_t n = fd < 0 ? -1 : pread(fd, text, size - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	return n;
}

static uint64_t read_number_fd(int fd)
{
	char text[32];

	(void)read_fd(fd, text, sizeof(text));
	return strtoull(text, NULL, 10);
}

static uint64_t read_number(const char *name)
{
	int fd = openat(group, name, O_RDONLY | O_CLOEXEC);
	uint64_t number = read_number_fd(fd);

	if (fd >= 0)
		(void)close(fd);
	return number;
}

/* The number after "key " in a file of such lines. */
static uint64_t read_key(int fd, const char *key)
{
	char text[512];
	const char *at = text;
	size_t length = strlen(key);

	(void)read_fd(fd, text, sizeof(text));
	while (at && *at) {
		if (strncmp(at, key, length) == 0 && at[length] == ' ')
			return strtoull(at + length + 1, NULL, 10);
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	return 0;
}

int cgroup_init(int root)
{
	int r = knob_write(root, "cgroup.subtree_control",
			   "+memory +pids +cpu");

	if (r < 0)
		return r;
	if (mkdirat(root, "kernel", 0700) < 0 && errno != EEXIST)
		return -errno;
	group = openat(root, "kernel", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (group < 0)
		return -errno;
	cpu_fd = openat(group, "cpu.stat", O_RDONLY | O_CLOEXEC);
	events_fd = openat(group, "memory.events", O_RDONLY | O_CLOEXEC);
	peak_fd = openat(group, "memory.peak", O_RDWR | O_CLOEXEC);
	tasks_fd = openat(group, "pids.current", O_RDONLY | O_CLOEXEC);
	if (cpu_fd < 0 || events_fd < 0 || peak_fd < 0 || tasks_fd < 0)
		return -errno;
	return knob_write(group, "cpu.weight", CPU_WEIGHT);
}

int cgroup_set_limits(uint64_t memory_max_bytes, uint32_t pids_max)
{
	char text[24];
	int r;

	(void)snprintf(text, sizeof(text), "%llu",
		       (unsigned long long)memory_max_bytes);
	r = knob_write(group, "memory.max", text);
	if (r < 0)
		return r;
	(void)snprintf(text, sizeof(text), "%u", pids_max);
	return knob_write(group, "pids.max", text);
}

int cgroup_add(pid_t pid)
{
	char text[16];

	(void)snprintf(text, sizeof(text), "%d", pid);
	return knob_write(group, "cgroup.procs", text);
}

void cgroup_kill(pid_t pid)
{
	(void)pid;
	/* Fails only if the group is gone, which nobody removes. */
	(void)knob_write(group, "cgroup.kill", "1");
}

void cgroup_reset_peak(void)
{
	(void)!pwrite(peak_fd, "1", 1, 0);
}

uint64_t cgroup_peak_bytes(void)
{
	return read_number_fd(peak_fd);
}

uint64_t cgroup_cpu_usec(void)
{
	return read_key(cpu_fd, "usage_usec");
}

uint64_t cgroup_oom_kills(void)
{
	return read_key(events_fd, "oom_kill");
}

uint64_t cgroup_oom_kills_told(void)
{
	return oom_kills_told;
}

static void on_events(struct source *s, uint32_t events)
{
	(void)s;
	(void)events;
	/* To read it is also what ends the event. */
	oom_kills_told = cgroup_oom_kills();
}

int cgroup_watch(void)
{
	return source_open(&events_source, events_fd, EPOLLPRI);
}

uint32_t cgroup_tasks(void)
{
	return (uint32_t)read_number_fd(tasks_fd);
}

void cgroup_read(struct cgroup_usage *ret)
{
	*ret = (struct cgroup_usage){
		.cpu_usec = cgroup_cpu_usec(),
		.memory_bytes = read_number("memory.current"),
		.memory_peak_bytes = cgroup_peak_bytes(),
		.oom_kills = cgroup_oom_kills(),
		.processes = cgroup_tasks(),
	};
}
