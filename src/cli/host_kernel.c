#include <stdio.h>
#include <string.h>

#include "cli/host_checks.h"

/*
 * What the kernel does for, or against, VMs that must not know of each other.
 * None of it keeps a VM from running, so most of it is no more than degraded.
 */

enum { LINE_MAX_SIZE = 512 };

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
