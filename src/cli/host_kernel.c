#include <stdio.h>
#include <string.h>

#include "cli/host_checks.h"

/*
 * What the kernel does for, or against, VMs that must not know of each other.
 * None of it keeps a VM from running, so most of it is no more than degraded.
 */

enum { LINE_MAX_SIZE = 512, FIXED_MAX = 8 };

void host_check_smt(const struct host_view *v, struct host_finding *f)
{
	char line[LINE_MAX_SIZE];

	if (!host_read_line(v, "/sys/devices/system/cpu/smt/active", line,
			    sizeof(line)) ||
	    strcmp(line, "1") != 0) {
		host_say(f, HOST_GOOD, "No two VMs share a core at a time "
				       "(SMT is off)");
		return;
	}
	host_say(f, HOST_DEGRADED,
		 "SMT is on: two VMs may share a core, and learn from it what "
		 "the other does");
	host_advise(f, "boot with nosmt, unless all tenants trust each other");
}

void host_check_ksm(const struct host_view *v, struct host_finding *f)
{
	char line[LINE_MAX_SIZE];

	if (!host_read_line(v, "/sys/kernel/mm/ksm/run", line, sizeof(line)) ||
	    strcmp(line, "1") != 0) {
		host_say(f, HOST_GOOD, "Equal pages of VMs are not merged (KSM "
				       "is off)");
		return;
	}
	host_say(f, HOST_DEGRADED,
		 "KSM merges equal pages of VMs: one can find out by timing "
		 "what another has in memory");
	host_advise(f, "echo 2 >/sys/kernel/mm/ksm/run, and disable ksmtuned");
}

/* The first swap that is not memory itself; behind it is a line of headings. */
static bool find_swap(const struct host_view *v, char *name, size_t size)
{
	char path[LINE_MAX_SIZE], line[LINE_MAX_SIZE], word[LINE_MAX_SIZE];
	bool heading = true, found = false;
	FILE *swaps;

	snprintf(path, sizeof(path), "%s/proc/swaps", v->root);
	swaps = fopen(path, "re");
	while (swaps && !found && fgets(line, sizeof(line), swaps)) {
		if (!heading && sscanf(line, "%511s", word) == 1 &&
		    strncmp(word, "/dev/zram", strlen("/dev/zram")) != 0) {
			snprintf(name, size, "%s", word);
			found = true;
		}
		heading = false;
	}
	if (swaps)
		(void)fclose(swaps);
	return found;
}

void host_check_swap(const struct host_view *v, struct host_finding *f)
{
	char name[LINE_MAX_SIZE];

	if (!find_swap(v, name, sizeof(name))) {
		host_say(f, HOST_GOOD, "Guests' memory is not written to a "
				       "disk (no swap)");
		return;
	}
	host_say(f, HOST_DEGRADED,
		 "Swap is on: guests' memory may be written to '%.200s', and "
		 "VMs may become very slow",
		 name);
	host_advise(f, "swapoff -a, and take it out of /etc/fstab; or encrypt "
		       "it");
}

/*
 * On Intel CPUs with that fault a guest can stop the host, unless KVM makes huge
 * pages not executable. "never" and N leave them so.
 */
void host_check_huge_pages(const struct host_view *v, struct host_finding *f)
{
	char fault[LINE_MAX_SIZE], line[LINE_MAX_SIZE];

	(void)host_read_line(
		v, "/sys/devices/system/cpu/vulnerabilities/itlb_multihit",
		fault, sizeof(fault));
	if (!fault[0] || strcmp(fault, "Not affected") == 0) {
		host_say(f, HOST_GOOD,
			 "This CPU needs no nx_huge_pages (iTLB multihit: %s)",
			 fault[0] ? "not affected" : "unknown to the kernel");
		return;
	}
	if (!host_read_line(v, "/sys/module/kvm/parameters/nx_huge_pages",
			    line, sizeof(line))) {
		host_say(f, HOST_GOOD, "KVM is not loaded, so that "
				       "nx_huge_pages does not matter");
		return;
	}
	if (line[0] == 'Y' || strcmp(line, "force") == 0 ||
	    strcmp(line, "auto") == 0) {
		host_say(f, HOST_GOOD, "nx_huge_pages is on");
		return;
	}
	host_say(f, HOST_BAD,
		 "nx_huge_pages is '%.20s': a guest can stop this host (iTLB "
		 "multihit)",
		 line);
	host_advise(f, "echo auto >/sys/module/kvm/parameters/nx_huge_pages, "
		       "and options kvm nx_huge_pages=auto in "
		       "/etc/modprobe.d");
}

/* ------------------------------------------------------------------- versions */

struct version {
	unsigned major, minor, patch;
};

static int version_compare(struct version a, struct version b)
{
	if (a.major != b.major)
		return a.major < b.major ? -1 : 1;
	if (a.minor != b.minor)
		return a.minor < b.minor ? -1 : 1;
	return (a.patch > b.patch) - (a.patch < b.patch);
}

/**
 * struct hole - One in the kernel's vsock
 * @since:	First version that has it
 * @fixed:	First version of each branch that does not, in order. Later branches
 *		than the last never had it, branches between never lost it
 */
static const struct hole {
	const char *cve;
	struct version since;
	struct version fixed[FIXED_MAX];
} holes[] = {
	{ "CVE-2021-26708", { 5, 5, 0 }, { { 5, 10, 13 }, { 5, 11, 0 } } },
	{ "CVE-2024-50264",
	  { 4, 8, 0 },
	  { { 4, 19, 324 }, { 5, 4, 286 }, { 5, 10, 230 }, { 5, 15, 172 },
	    { 6, 1, 117 },  { 6, 6, 61 },  { 6, 11, 8 },   { 6, 12, 0 } } },
	{ "CVE-2025-21756",
	  { 5, 5, 0 },
	  { { 6, 1, 131 }, { 6, 6, 79 }, { 6, 12, 16 }, { 6, 13, 4 },
	    { 6, 14, 0 } } },
};

static bool has_hole(const struct hole *hole, struct version v)
{
	const struct version *fixed = hole->fixed;
	size_t i;

	if (version_compare(v, hole->since) < 0)
		return false;
	for (i = 0; i < FIXED_MAX && fixed[i].major; i++)
		if (fixed[i].major == v.major && fixed[i].minor == v.minor)
			return v.patch < fixed[i].patch;
	return version_compare(v, fixed[i - 1]) < 0;
}

/*
 * Debian names its packages' version behind the kernel's own, which stays that
 * of the ABI: "6.1.0-28-amd64 … Debian 6.1.119-1".
 */
static bool kernel_version(const struct host_view *v, struct version *ret)
{
	char line[LINE_MAX_SIZE];
	const char *debian;

	*ret = (struct version){ 0 };
	if (host_read_line(v, "/proc/version", line, sizeof(line))) {
		debian = strstr(line, " Debian ");
		if (debian && sscanf(debian, " Debian %u.%u.%u", &ret->major,
				     &ret->minor, &ret->patch) >= 2)
			return true;
	}
	return host_read_line(v, "/proc/sys/kernel/osrelease", line,
			      sizeof(line)) &&
	       sscanf(line, "%u.%u.%u", &ret->major, &ret->minor,
		      &ret->patch) >= 2;
}

void host_check_kernel(const struct host_view *v, struct host_finding *f)
{
	struct version version;
	char names[256] = "";
	size_t i;

	if (!kernel_version(v, &version)) {
		host_say(f, HOST_DEGRADED, "The kernel's version is unknown");
		return;
	}
	for (i = 0; i < sizeof(holes) / sizeof(holes[0]); i++) {
		size_t length = strlen(names);

		if (has_hole(&holes[i], version))
			snprintf(names + length, sizeof(names) - length,
				 "%s%s", length > 0 ? ", " : "", holes[i].cve);
	}
	if (!names[0]) {
		host_say(f, HOST_GOOD,
			 "Linux %u.%u.%u, with no hole in vsock that is known "
			 "here",
			 version.major, version.minor, version.patch);
		return;
	}
	host_say(f, HOST_DEGRADED, "Linux %u.%u.%u has holes in vsock: %s",
		 version.major, version.minor, version.patch, names);
	host_advise(f, "install the distribution's newest kernel; it may have "
		       "mended this under an older number, which its changelog "
		       "tells");
}
