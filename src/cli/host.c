#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <inttypes.h>
#include <pwd.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/host_checks.h"
#include "cli/text.h"

#define INSTALL "install it (from a clone: contrib/install-deps)"

/* Below this a VM's scratch disk or its memory may not fit. */
#define DISK_LITTLE (2ULL * 1000 * 1000 * 1000)
#define MEMORY_LITTLE (1ULL * 1000 * 1000 * 1000)

static const char *const level_names[] = {
	[HOST_GOOD] = "good",
	[HOST_DEGRADED] = "degraded",
	[HOST_BAD] = "bad",
};
static_assert(sizeof(level_names) / sizeof(level_names[0]) == HOST_LEVEL_COUNT,
	      "level_names[] doesn't match enum host_level");

const char *host_level_name(enum host_level level)
{
	return level_names[level];
}

void host_say(struct host_finding *f, enum host_level level, const char *fmt,
	      ...)
{
	va_list ap;

	f->level = level;
	va_start(ap, fmt);
	vsnprintf(f->text, sizeof(f->text), fmt, ap);
	va_end(ap);
}

void host_advise(struct host_finding *f, const char *remedy)
{
	snprintf(f->remedy, sizeof(f->remedy), "%s", remedy);
}

bool host_read_line(const struct host_view *v, const char *path, char *line,
		    size_t size)
{
	_cleanup_(fclosep) FILE *file = NULL;
	char full[4096];

	line[0] = '\0';
	snprintf(full, sizeof(full), "%s%s", v->root, path);
	file = fopen(full, "re");
	if (!file || !fgets(line, (int)size, file))
		line[0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	return line[0] != '\0';
}

static void check_user(const struct host_view *v, struct host_finding *f)
{
	if (getpwnam(v->user)) {
		host_say(f, HOST_GOOD, "User '%s' exists", v->user);
		return;
	}
	host_say(f, geteuid() == 0 ? HOST_BAD : HOST_DEGRADED,
		 "User '%s' does not exist: where root starts the daemon, VMs "
		 "are made by it",
		 v->user);
	host_advise(f, INSTALL);
}

/* Takes over a user and its groups; only root can. */
static int become(const struct passwd *user)
{
	if (initgroups(user->pw_name, user->pw_gid) < 0 ||
	    setgid(user->pw_gid) < 0 || setuid(user->pw_uid) < 0)
		return -1;
	return 0;
}

/*
 * Whether the process that makes VMs can open a device, tried by a child that has
 * its user and groups. Root without that user, and anybody else, tries as what one
 * is.
 */
static bool can_open(const struct host_view *v, const char *path)
{
	const struct passwd *user = getpwnam(v->user);
	int status = 0;
	pid_t pid;

	(void)fflush(NULL);
	pid = fork();
	if (pid < 0)
		return false;
	if (pid == 0) {
		if (geteuid() == 0 && user && become(user) < 0)
			_exit(1);
		_exit(open(path, O_RDWR | O_CLOEXEC) < 0 ? 1 : 0);
	}
	return waitpid(pid, &status, 0) == pid && status == 0;
}

static void check_kvm(const struct host_view *v, struct host_finding *f)
{
	if (access("/dev/kvm", F_OK) < 0) {
		host_say(f, HOST_DEGRADED,
			 "/dev/kvm is missing: VMs can only be emulated, which "
			 "is slow and promises no isolation");
		host_advise(f, "switch on virtualisation in the firmware, load "
			      "kvm_intel or kvm_amd, or use another host");
	} else if (!can_open(v, "/dev/kvm")) {
		host_say(f, HOST_DEGRADED,
			 "/dev/kvm is there, but user '%s', who makes VMs, "
			 "cannot open it", v->user);
		snprintf(f->remedy, sizeof(f->remedy), "usermod -a -G kvm %s",
			 v->user);
	} else {
		host_say(
			f, HOST_GOOD,
			"/dev/kvm can be opened; whether it boots the image is "
			"tried when the daemon starts");
	}
}

/*
 * In a packaged Cupola each VM's QEMU is a user of its own, and opens /dev/kvm by
 * the group kvm alone. Whether it does is shown by booting a probe.
 */
static void check_qemu_user(const struct host_view *v, struct host_finding *f)
{
	const struct group *kvm = getgrnam("kvm");
	struct stat st;

	(void)v;
	if (stat("/dev/kvm", &st) < 0) {
		host_say(f, HOST_GOOD, "QEMU needs nothing to emulate");
		return;
	}
	if ((st.st_mode & 0006) == 0006 ||
	    ((st.st_mode & 0060) == 0060 && kvm && st.st_gid == kvm->gr_gid)) {
		host_say(f, HOST_GOOD, "QEMU's user can open /dev/kvm");
		return;
	}
	host_say(f, HOST_BAD,
		 "/dev/kvm is not for the group kvm to read and write, which is "
		 "all that a VM's QEMU has");
	host_advise(f, "chgrp kvm /dev/kvm && chmod 660 /dev/kvm, and see which "
		       "udev rule does otherwise");
}

static bool in_path(const char *program)
{
	const char *path = getenv("PATH");
	char file[4096];
	size_t length;

	for (; path && *path; path += length + (path[length] == ':')) {
		length = strcspn(path, ":");
		snprintf(file, sizeof(file), "%.*s/%s", (int)length, path,
			 program);
		if (access(file, X_OK) == 0)
			return true;
	}
	return false;
}

static void check_vsock(const struct host_view *v, struct host_finding *f)
{
	bool device = access("/dev/vhost-vsock", F_OK) == 0;

	if (device && can_open(v, "/dev/vhost-vsock")) {
		host_say(f, HOST_GOOD, "vsock by the kernel (vhost-vsock)");
	} else if (in_path("vhost-device-vsock")) {
		host_say(f, HOST_GOOD,
			 "vsock by one vhost-device-vsock per VM%s",
			 device ? ": /dev/vhost-vsock cannot be opened" : "");
	} else if (device) {
		host_say(f, HOST_BAD,
			 "/dev/vhost-vsock is there, but user '%s', who makes "
			 "VMs, cannot open it, and vhost-device-vsock is "
			 "missing: guests cannot be reached", v->user);
		snprintf(f->remedy, sizeof(f->remedy),
			 "usermod -a -G kvm %s, and see that /dev/vhost-vsock "
			 "is that group's", v->user);
	} else {
		host_say(f, HOST_BAD,
			 "Neither /dev/vhost-vsock nor vhost-device-vsock is "
			 "there: guests cannot be reached");
		host_advise(f, "modprobe vhost_vsock, or " INSTALL);
	}
}

/* The first line that a program prints; "" if it cannot be run. */
static void first_line(const char *program, const char *argument, char *line,
		       size_t size)
{
	char *argv[] = { (char *)program, (char *)argument, NULL };
	_cleanup_(fclosep) FILE *from = NULL;
	posix_spawn_file_actions_t actions;
	int fds[2], status;
	pid_t pid;

	line[0] = '\0';
	if (pipe2(fds, O_CLOEXEC) < 0)
		return;
	from = fdopen(fds[0], "r");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
	if (posix_spawnp(&pid, program, &actions, NULL, argv, environ) != 0)
		pid = -1;
	posix_spawn_file_actions_destroy(&actions);
	close_fd(&fds[1]);
	if (from && pid > 0 && fgets(line, (int)size, from))
		line[strcspn(line, "\n")] = '\0';
	if (pid > 0)
		(void)waitpid(pid, &status, 0);
}

static void check_qemu(const struct host_view *v, struct host_finding *f)
{
	char line[200];

	(void)v;
	first_line("qemu-system-x86_64", "--version", line, sizeof(line));
	if (line[0]) {
		host_say(f, HOST_GOOD, "%s", line);
		return;
	}
	host_say(f, HOST_BAD, "qemu-system-x86_64 is missing");
	host_advise(f, INSTALL);
}

/* Where the patterns match something, the first match. */
static bool first_match(const char *const *patterns, char *path, size_t size)
{
	bool found = false;
	glob_t matches;

	for (; *patterns && !found; patterns++) {
		if (glob(*patterns, 0, NULL, &matches) != 0)
			continue;
		snprintf(path, size, "%s", matches.gl_pathv[0]);
		found = true;
		globfree(&matches);
	}
	return found;
}

/*
 * This program links no libvirt, and the embedded driver has no daemon to ask:
 * the library's file name has the version, as in libvirt.so.0.9000.0.
 */
static void libvirt_version(char *version, size_t size)
{
	static const char *const patterns[] = {
		"/usr/lib/*/libvirt.so.0",
		"/usr/lib64/libvirt.so.0",
		"/usr/lib/libvirt.so.0",
		NULL,
	};
	char path[1024], target[256];
	unsigned number, micro;
	ssize_t n;

	version[0] = '\0';
	if (!first_match(patterns, path, sizeof(path)))
		return;
	n = readlink(path, target, sizeof(target) - 1);
	if (n <= 0)
		return;
	target[n] = '\0';
	if (sscanf(target, "libvirt.so.0.%u.%u", &number, &micro) == 2)
		snprintf(version, size, " %u.%u.%u", number / 1000,
			 number % 1000, micro);
}

static void check_libvirt(const struct host_view *v, struct host_finding *f)
{
	static const char *const patterns[] = {
		"/usr/lib/*/libvirt/connection-driver/libvirt_driver_qemu.so",
		"/usr/lib64/libvirt/connection-driver/libvirt_driver_qemu.so",
		"/usr/lib/libvirt/connection-driver/libvirt_driver_qemu.so",
		NULL,
	};
	char path[1024], version[64];

	(void)v;
	libvirt_version(version, sizeof(version));
	if (first_match(patterns, path, sizeof(path))) {
		host_say(f, HOST_GOOD, "libvirt%s with its QEMU driver",
			 version);
		return;
	}
	host_say(f, HOST_BAD, "libvirt%s has no QEMU driver here",
		 version[0] ? version : " is missing: it");
	host_advise(f, INSTALL);
}

/* Free space where the state is, or will be: the nearest parent that exists. */
static bool free_space(const char *state, uint64_t *ret_bytes)
{
	char path[4096];
	struct statvfs vfs;
	char *slash;

	snprintf(path, sizeof(path), "%s", state);
	while (statvfs(path, &vfs) < 0) {
		slash = strrchr(path, '/');
		if (!slash)
			return false;
		*(slash == path ? slash + 1 : slash) = '\0';
		if (slash == path && statvfs(path, &vfs) < 0)
			return false;
	}
	*ret_bytes = (uint64_t)vfs.f_bavail * vfs.f_frsize;
	return true;
}

static void check_disk(const struct host_view *v, struct host_finding *f)
{
	char room[TEXT_SHORT_MAX];
	uint64_t bytes = 0;

	if (!free_space(v->state, &bytes)) {
		host_say(f, HOST_DEGRADED, "Cannot see the free space of '%s'",
			 v->state);
		return;
	}
	host_say(f, bytes < DISK_LITTLE ? HOST_DEGRADED : HOST_GOOD,
		 "%s free for '%s'", text_bytes(bytes, room), v->state);
	if (f->level != HOST_GOOD)
		host_advise(f, "make room: scratch disks and files are kept "
			      "there");
}

static void check_memory(const struct host_view *v, struct host_finding *f)
{
	_cleanup_(fclosep) FILE *info = fopen("/proc/meminfo", "re");
	char line[256], room[TEXT_SHORT_MAX];
	uint64_t kib = 0;

	(void)v;
	while (info && fgets(line, sizeof(line), info))
		if (sscanf(line, "MemAvailable: %" SCNu64, &kib) == 1)
			break;
	host_say(f, kib * 1024 < MEMORY_LITTLE ? HOST_DEGRADED : HOST_GOOD,
		 "%s of memory available", text_bytes(kib * 1024, room));
	if (f->level != HOST_GOOD)
		host_advise(f, "make room, or give the pools less memory");
}

void host_check(const char *state, const char *user, host_fn fn,
		void *userdata)
{
	static const struct {
		const char *what;
		void (*check)(const struct host_view *v,
			      struct host_finding *f);
	} checks[] = {
		{ "user", check_user },
		{ "kvm", check_kvm },
		{ "qemu's user", check_qemu_user },
		{ "vsock", check_vsock },
		{ "kernel", host_check_kernel },
		{ "qemu", check_qemu },
		{ "libvirt", check_libvirt },
		{ "capabilities", host_check_cache },
		{ "smt", host_check_smt },
		{ "ksm", host_check_ksm },
		{ "swap", host_check_swap },
		{ "huge pages", host_check_huge_pages },
		{ "memory", check_memory },
		{ "disk", check_disk },
		{ "clock", host_check_clock },
		{ "limits", host_check_limits },
	};
	const struct host_view v = { .root = "",
				       .state = state,
				       .user = user };
	size_t i;

	for (i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		struct host_finding finding = { .what = checks[i].what };

		checks[i].check(&v, &finding);
		fn(&finding, userdata);
	}
}
