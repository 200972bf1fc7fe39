#include <glob.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/host_checks.h"
#include "cli/text.h"

enum { LINE_MAX_SIZE = 512, PATH_SIZE = 4096 };

/* Files that cupola-vmd has open for each VM, and some for itself. */
#define VMD_FILES_PER_VM 8
#define VMD_FILES_LITTLE 1024

/* Of all that the kernel gives out. */
#define USED_MUCH 0.8

/* ---------------------------------------------------------------------- clock */

/* Those that are read without leaving the program, or nearly so. */
static bool is_fast(const char *source)
{
	static const char *const fast[] = {
		"tsc", "kvm-clock", "hyperv_clocksource_tsc_page",
		"arch_sys_counter",
	};
	size_t i;

	for (i = 0; i < sizeof(fast) / sizeof(fast[0]); i++)
		if (strcmp(source, fast[i]) == 0)
			return true;
	return false;
}

void host_check_clock(const struct host_view *v, struct host_finding *f)
{
	struct timex state = { .modes = 0 };
	char source[LINE_MAX_SIZE];

	(void)host_read_line(v,
			     "/sys/devices/system/clocksource/clocksource0/"
			     "current_clocksource",
			     source, sizeof(source));
	if (source[0] && !is_fast(source)) {
		host_say(f, HOST_DEGRADED,
			 "The clock is '%.50s', which is slow to read, for "
			 "guests as well",
			 source);
		host_advise(f, "see in the kernel's log why the TSC is not "
			       "used");
		return;
	}
	if (adjtimex(&state) < 0 || (state.status & STA_UNSYNC)) {
		host_say(f, HOST_DEGRADED,
			 "The clock is not synchronised: dates of files, keys "
			 "and bills may be wrong");
		host_advise(f, "run chrony or systemd-timesyncd");
		return;
	}
	host_say(f, HOST_GOOD, "The clock is synchronised, and read from %s",
		 source[0] ? source : "an unknown source");
}

/* --------------------------------------------------------------------- limits */

/* The @at-th word of a file's first line, as a number; 0 if there is none. */
static uint64_t read_number(const struct host_view *v, const char *path,
			    unsigned at)
{
	char line[LINE_MAX_SIZE], *word, *rest = NULL;

	(void)host_read_line(v, path, line, sizeof(line));
	word = strtok_r(line, " \t/", &rest);
	while (word && at-- > 0)
		word = strtok_r(NULL, " \t/", &rest);
	return word ? strtoull(word, NULL, 10) : 0;
}

/* What no host reaches is no number that a person could use. */
static const char *number_or_any(uint64_t number, char *room, size_t size)
{
	if (number >= INT64_MAX)
		return "any number";
	(void)snprintf(room, size, "%" PRIu64, number);
	return room;
}

void host_check_limits(const struct host_view *v, struct host_finding *f)
{
	uint64_t files = read_number(v, "/proc/sys/fs/file-nr", 0);
	uint64_t files_max = read_number(v, "/proc/sys/fs/file-nr", 2);
	/* "0.20 0.18 0.12 1/80 11206": 80 there are */
	uint64_t threads = read_number(v, "/proc/loadavg", 4);
	uint64_t threads_max =
		read_number(v, "/proc/sys/kernel/threads-max", 0);
	uint64_t pids_max = read_number(v, "/proc/sys/kernel/pid_max", 0);
	char room[TEXT_SHORT_MAX];

	if (pids_max > 0 && pids_max < threads_max)
		threads_max = pids_max;
	if (files_max > 0 &&
	    (double)files > USED_MUCH * (double)files_max) {
		host_say(f, HOST_BAD, "%" PRIu64 " of %" PRIu64 " files are "
				      "open", files, files_max);
		host_advise(f, "raise fs.file-max");
	} else if (threads_max > 0 &&
		   (double)threads > USED_MUCH * (double)threads_max) {
		host_say(f, HOST_BAD, "%" PRIu64 " of %" PRIu64 " threads "
				      "run", threads, threads_max);
		host_advise(f, "raise kernel.pid_max and kernel.threads-max");
	} else {
		host_say(f, HOST_GOOD,
			 "%" PRIu64 " files are open and %" PRIu64 " threads "
			 "run, of %s and %" PRIu64, files, threads,
			 number_or_any(files_max, room, sizeof(room)),
			 threads_max);
	}
}

/* "Max open files            1024                 524288               files" */
static bool open_files(const struct host_view *v, long long pid, uint64_t *ret)
{
	static const char title[] = "Max open files";
	char path[PATH_SIZE], line[LINE_MAX_SIZE];
	_cleanup_(fclosep) FILE *limits = NULL;

	snprintf(path, sizeof(path), "%s/proc/%lld/limits", v->root, pid);
	limits = fopen(path, "re");
	while (limits && fgets(line, sizeof(line), limits)) {
		if (strncmp(line, title, sizeof(title) - 1) != 0)
			continue;
		if (strstr(line, "unlimited"))
			*ret = UINT64_MAX;
		else if (sscanf(line + sizeof(title) - 1, "%" SCNu64, ret) != 1)
			return false;
		return true;
	}
	return false;
}

void host_check_process(const struct host_view *v, long long pid,
			struct host_finding *f)
{
	uint64_t files = 0;

	if (!open_files(v, pid, &files)) {
		host_say(f, HOST_DEGRADED,
			 "The limits of cupola-vmd (%lld) cannot be read", pid);
	} else if (files < VMD_FILES_LITTLE) {
		host_say(f, HOST_DEGRADED,
			 "cupola-vmd may have %" PRIu64 " files open, enough for "
			 "some %" PRIu64 " VMs",
			 files, files / VMD_FILES_PER_VM);
		host_advise(f, "raise LimitNOFILE of its unit, or ulimit -n "
			       "where it is started");
	} else {
		host_say(f, HOST_GOOD, "cupola-vmd may have %s files open",
			 files == UINT64_MAX ? "any number of" : "enough");
	}
}

/* ------------------------------------------------------------ libvirt's cache */

static bool file_has(const char *path, const char *text)
{
	_cleanup_(fclosep) FILE *file = fopen(path, "re");
	char line[LINE_MAX_SIZE];

	while (file && fgets(line, sizeof(line), file))
		if (strstr(line, text))
			return true;
	return false;
}

/*
 * libvirt writes down what QEMU can do, and asks it again when that seems to be
 * out of date. Where libvirt may open /dev/kvm and the QEMU that it asks may not,
 * it always does: each VM then takes a minute to make.
 */
static void judge_cache(const struct host_view *v, const glob_t *files,
			struct host_finding *f)
{
	char kvm[PATH_SIZE];
	size_t i, without = 0;

	snprintf(kvm, sizeof(kvm), "%s/dev/kvm", v->root);
	for (i = 0; i < files->gl_pathc; i++) {
		const char *file = files->gl_pathv[i];

		without += file_has(file, "qemu-system-x86_64") &&
			   !file_has(file, "<flag name='kvm'/>");
	}
	if (without == 0 || access(kvm, R_OK | W_OK) < 0) {
		host_say(f, HOST_GOOD, "libvirt remembers what QEMU can do");
		return;
	}
	host_say(f, HOST_BAD,
		 "libvirt remembers a QEMU without KVM, and asks it again for "
		 "every VM, which takes most of a minute");
	host_advise(f, "let QEMU's user open /dev/kvm (group kvm), remove the "
		       "files of libvirt's cache/qemu/capabilities, and start "
		       "libvirt or cupola-vmd again");
}

void host_check_cache(const struct host_view *v, struct host_finding *f)
{
	char path[PATH_SIZE];
	glob_t files = { 0 };

	snprintf(path, sizeof(path),
		 "%s/var/cache/libvirt/qemu/capabilities/*.xml", v->root);
	(void)glob(path, 0, NULL, &files);
	snprintf(path, sizeof(path),
		 "%s%s/libvirt/cache/qemu/capabilities/*.xml", v->root,
		 v->state);
	(void)glob(path, files.gl_pathv ? GLOB_APPEND : 0, NULL, &files);
	if (files.gl_pathc == 0)
		host_say(f, HOST_GOOD, "libvirt has not asked QEMU yet what it "
				       "can do: the first start does");
	else
		judge_cache(v, &files, f);
	globfree(&files);
}
