/* SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/random.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/reboot.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#include "cgroup.h"
#include "data.h"
#include "exec.h"
#include "kernel.h"
#include "knob.h"
#include "loop.h"
#include "report.h"
#include "stage.h"

/*
 * Of the memory that is free before the first kernel, what user code does not
 * get: for files on their way, for what Linux and the agent take later, and so
 * that Linux need not look for memory all the time.
 */
#define RESERVE_BYTES (6ull * 1024 * 1024)
#define RESERVE_PART 32

#define DROP_CACHES "/proc/sys/vm/drop_caches"
#define DROP_PAGES "1"

/*
 * What Linux itself keeps free, as a part of that: below about twice as much it
 * begins to look for memory. Left alone it takes a twentieth of all, for huge
 * pages.
 */
#define MIN_FREE "/proc/sys/vm/min_free_kbytes"
#define MIN_FREE_PART 8

#define GRACE_USEC (1 * USEC_PER_SEC)
#define GRACE_EMULATED_USEC (3 * USEC_PER_SEC)

static bool configured;
static uint64_t memory_room;	/* for kernels; 0 until the zygote is ready */
static uint64_t memory_wanted;
static uint32_t pids_max;

bool session_is_configured(void)
{
	return configured;
}

static uint64_t memory_total(void)
{
	struct sysinfo info;

	if (sysinfo(&info) < 0)
		return 0;
	return (uint64_t)info.totalram * info.mem_unit;
}

static void complain(int r, const char *what)
{
	if (r < 0)
		report_error(r, "cannot set %s", what);
}

/*
 * The kernel's limit must be what makes it end. If it may have so much that the
 * guest runs out of memory first, Linux evicts the pages of Python's code to
 * find some, over and over as they are read again, and does not see that there
 * is nothing left to find: what should be over at once goes on for minutes.
 */
static void set_limits(void)
{
	uint64_t max = memory_room;

	if (!configured || memory_room == 0)
		return;
	if (memory_wanted > 0 && memory_wanted < max)
		max = memory_wanted;
	complain(cgroup_set_limits(max, pids_max), "limits");
}

/*
 * What remains is measured, not guessed, since images differ in what they
 * import. The files that this was read from will not be read again: without
 * them only code that is in use is cached, which nothing should evict.
 */
void session_measure(void)
{
	uint64_t unit, reserve;
	struct sysinfo info;
	char text[24];

	if (memory_room > 0)
		return;
	reserve = memory_total() / RESERVE_PART + RESERVE_BYTES;
	(void)snprintf(text, sizeof(text), "%llu",
		       (unsigned long long)reserve / MIN_FREE_PART / 1024);
	complain(knob_write(AT_FDCWD, MIN_FREE, text), "what stays free");
	complain(knob_write(AT_FDCWD, DROP_CACHES, DROP_PAGES),
		 "the cache free");
	if (sysinfo(&info) < 0)
		return;
	unit = info.mem_unit;
	memory_room = info.freeram * unit;
	memory_room = memory_room > 2 * reserve ? memory_room - reserve :
						  memory_room / 2;
	set_limits();
}

static int set_clock(uint64_t wall_usec)
{
	const struct timespec now = {
		.tv_sec = (time_t)(wall_usec / USEC_PER_SEC),
		.tv_nsec = (long)(wall_usec % USEC_PER_SEC * 1000),
	};

	return clock_settime(CLOCK_REALTIME, &now) < 0 ? -errno : 0;
}

static int add_entropy(const uint8_t bytes[static WIRE_ENTROPY_SIZE])
{
	/* A header, and the bytes right behind it. */
	union {
		struct rand_pool_info info;
		uint8_t room[sizeof(struct rand_pool_info) + WIRE_ENTROPY_SIZE];
	} pool = { .info = { .entropy_count = 8 * WIRE_ENTROPY_SIZE,
			     .buf_size = WIRE_ENTROPY_SIZE } };
	int fd = open("/dev/random", O_RDWR | O_CLOEXEC), r = 0;

	if (fd < 0)
		return -errno;
	memcpy(pool.room + sizeof(pool.info), bytes, WIRE_ENTROPY_SIZE);
	if (ioctl(fd, RNDADDENTROPY, &pool) < 0 ||
	    ioctl(fd, RNDRESEEDCRNG) < 0)
		r = -errno;
	(void)close(fd);
	explicit_bzero(&pool, sizeof(pool));
	return r;
}

static int set_hostname(struct bytes name)
{
	return sethostname((const char *)name.data, name.size) < 0 ? -errno : 0;
}

void session_configure(const struct message_configure *m)
{
	complain(set_clock(m->wall_usec), "the clock");
	complain(add_entropy(m->entropy), "entropy");
	complain(set_hostname(m->hostname), "the host name");
	memory_wanted = m->memory_max_bytes;
	pids_max = m->pids_max;
	exec_set_grace(m->flags & WIRE_CONFIGURE_EMULATED ?
			       GRACE_EMULATED_USEC : GRACE_USEC);
	configured = true;
	set_limits();
	stage_reached(WIRE_STAGE_CONFIGURED);
}

void session_status(struct message_status *ret)
{
	struct cgroup_usage usage;
	struct statvfs disk = { 0 };

	cgroup_read(&usage);
	(void)fstatvfs(data_dir(), &disk);
	*ret = (struct message_status){
		.memory_total_bytes = memory_total(),
		.memory_used_bytes = usage.memory_bytes,
		.cpu_usec = usage.cpu_usec,
		.disk_total_bytes = (uint64_t)disk.f_blocks * disk.f_frsize,
		.disk_free_bytes = (uint64_t)disk.f_bavail * disk.f_frsize,
		.uptime_usec = clock_boot(),
		.processes = usage.processes,
		.kernel_epoch = kernel_epoch(),
	};
}

void session_shutdown(void)
{
	kernel_kill();
	sync();
	(void)reboot(RB_POWER_OFF);
	report_error(-errno, "cannot power off");
}
