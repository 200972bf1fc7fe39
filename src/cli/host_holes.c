#include <stdio.h>
#include <string.h>

#include "cli/host_checks.h"

/*
 * Which known holes in vsock this host's kernel has, judged by its version.
 *
 * The table has those that corrupt memory, and those by which a guest takes the
 * host's memory. Versions are those of the kernel developers' own records of the
 * CVEs, and of CVE-2021-26708, which is older than those, of its report.
 *
 * A number says something where it is that of a stable release: of the developers
 * themselves, and of distributions that take these over, as Debian does (what is
 * in front of the dash in 6.1.119-1). Others keep one number for years and mend
 * under it: of these it can only be told what to look for.
 */

enum { LINE_MAX_SIZE = 512, FIXED_MAX = 10, NAMES_SIZE = 256 };

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
 * @guest:	A guest can use it, by vhost-vsock; else a process of the host can
 * @since:	First version that has it
 * @fixed:	First version of each branch that does not, in order. Later branches
 *		than the last never had it, branches between never lost it
 *
 * One that a stable release brought into an older branch has a line for that.
 */
static const struct hole {
	const char *cve;
	bool guest;
	struct version since;
	struct version fixed[FIXED_MAX];
} holes[] = {
	/* Races for a socket's transport: a use after free. */
	{ "CVE-2021-26708", false, { 5, 5, 0 },
	  { { 5, 10, 13 }, { 5, 11, 0 } } },
	/* connect() given up by a signal, and done again: a list is corrupted. */
	{ "CVE-2022-48786", false, { 3, 9, 0 },
	  { { 4, 19, 231 }, { 5, 4, 181 }, { 5, 10, 102 }, { 5, 15, 25 },
	    { 5, 16, 11 }, { 5, 17, 0 } } },
	/* vsk->trans of a socket that connects to itself: a use after free. */
	{ "CVE-2024-50264", false, { 4, 8, 0 },
	  { { 4, 19, 324 }, { 5, 4, 286 }, { 5, 10, 230 }, { 5, 15, 172 },
	    { 6, 1, 117 }, { 6, 6, 61 }, { 6, 11, 8 }, { 6, 12, 0 } } },
	/* A binding that goes before its socket: a use after free. */
	{ "CVE-2025-21756", false, { 5, 5, 0 },
	  { { 5, 10, 235 }, { 5, 15, 179 }, { 6, 1, 131 }, { 6, 6, 79 },
	    { 6, 12, 16 }, { 6, 13, 4 }, { 6, 14, 0 } } },
	/* Port VMADDR_PORT_ANY: the same by another way. */
	{ "CVE-2025-38618", false, { 3, 9, 0 },
	  { { 5, 4, 297 }, { 5, 10, 241 }, { 5, 15, 190 }, { 6, 1, 148 },
	    { 6, 6, 102 }, { 6, 12, 42 }, { 6, 15, 10 }, { 6, 16, 1 },
	    { 6, 17, 0 } } },
	/* connect() given up when it was done: a use after free. */
	{ "CVE-2025-40248", false, { 3, 9, 0 },
	  { { 5, 4, 302 }, { 5, 10, 247 }, { 5, 15, 197 }, { 6, 1, 159 },
	    { 6, 6, 118 }, { 6, 12, 60 }, { 6, 17, 10 }, { 6, 18, 0 } } },
	/* A guest that takes credit back: more is queued for it than it may. */
	{ "CVE-2026-23069", true, { 4, 8, 0 },
	  { { 6, 1, 162 }, { 6, 6, 122 }, { 6, 12, 68 }, { 6, 18, 8 },
	    { 6, 19, 0 } } },
	/* A guest says how much the host queues for it. */
	{ "CVE-2026-23086", true, { 4, 8, 0 },
	  { { 6, 1, 162 }, { 6, 6, 122 }, { 6, 12, 68 }, { 6, 18, 8 },
	    { 6, 19, 0 } } },
	/* Packets of no bytes are queued without end. */
	{ "CVE-2026-53132", true, { 6, 1, 63 }, { { 6, 2, 0 } } },
	{ "CVE-2026-53132", true, { 6, 3, 0 },
	  { { 6, 12, 94 }, { 6, 18, 36 }, { 7, 0, 13 }, { 7, 1, 0 } } },
};

enum { HOLES = sizeof(holes) / sizeof(holes[0]) };

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

/* Those that guests can use, or that processes can; Return: how many there are. */
static size_t name_holes(struct version v, bool guest, char names[NAMES_SIZE])
{
	size_t i, used = 0, count = 0;

	(void)snprintf(names, NAMES_SIZE, "none");
	for (i = 0; i < HOLES; i++) {
		if (holes[i].guest != guest || !has_hole(&holes[i], v))
			continue;
		used += (size_t)snprintf(names + used, NAMES_SIZE - used,
					 "%s%s", count > 0 ? ", " : "",
					 holes[i].cve);
		count++;
	}
	return count;
}

/* ---------------------------------------------------------------- this kernel */

/**
 * struct kernel - What runs here
 * @release:	As uname -r has it
 * @version:	Of the release that it was made from
 * @debian:	That is Debian's package's, whatever the release says
 * @frozen:	The number stays while its distribution mends things
 */
struct kernel {
	char release[LINE_MAX_SIZE];
	struct version version;
	bool debian;
	bool frozen;
};

static bool read_version(const char *text, struct version *ret)
{
	*ret = (struct version){ 0 };
	return sscanf(text, "%u.%u.%u", &ret->major, &ret->minor,
		      &ret->patch) >= 2;
}

/*
 * Debian names its package's version behind the kernel's own, which stays that
 * of the ABI: "6.1.0-28-amd64 … Debian 6.1.119-1". Others that have a .0 with
 * something behind it have that for years: 5.14.0-503.el9, 6.8.0-45-generic.
 */
static bool read_kernel(const struct host_view *v, struct kernel *ret)
{
	char line[LINE_MAX_SIZE];
	const char *debian = NULL, *behind;

	*ret = (struct kernel){ .frozen = false };
	if (!host_read_line(v, "/proc/sys/kernel/osrelease", ret->release,
			    sizeof(ret->release)) ||
	    !read_version(ret->release, &ret->version))
		return false;
	if (host_read_line(v, "/proc/version", line, sizeof(line)))
		debian = strstr(line, " Debian ");
	ret->debian = debian && read_version(debian + strlen(" Debian "),
					     &ret->version);
	behind = strchr(ret->release, '-');
	ret->frozen = !ret->debian && ret->version.patch == 0 && behind &&
		      strncmp(behind, "-rc", strlen("-rc")) != 0;
	return true;
}

static void advise_update(const struct kernel *k, struct host_finding *f)
{
	if (k->frozen)
		host_advise(f, "look for each in the changelog of the kernel's "
			       "package, or in what the distribution says of "
			       "the CVE; install its newest kernel");
	else if (k->debian)
		host_advise(f, "install Debian's newest linux-image, and boot "
			       "it; if that has holes yet, Debian's security "
			       "tracker tells of each CVE whether it was mended "
			       "ahead of the number, and linux-image from "
			       "backports is of a later branch");
	else
		host_advise(f, "install the newest release of this branch, or "
			       "of a later one, and boot it");
}

void host_check_kernel(const struct host_view *v, struct host_finding *f)
{
	char guests[NAMES_SIZE], processes[NAMES_SIZE];
	struct kernel k;
	size_t count;

	if (!read_kernel(v, &k)) {
		host_say(f, HOST_DEGRADED,
			 "The kernel's version is unknown, and so are its "
			 "holes in vsock");
		host_advise(f, "see what uname -r says, and whether it is the "
			       "newest of its branch");
		return;
	}
	count = name_holes(k.version, true, guests);
	count += name_holes(k.version, false, processes);
	if (count == 0) {
		host_say(f, HOST_GOOD,
			 "Linux %u.%u.%u has none of the holes in vsock that "
			 "are known here, the last of which is %s",
			 k.version.major, k.version.minor, k.version.patch,
			 holes[HOLES - 1].cve);
		return;
	}
	host_say(f, HOST_DEGRADED,
		 "Linux %u.%u.%u has holes in vsock%s; guests can use: %s; "
		 "processes of this host: %s",
		 k.version.major, k.version.minor, k.version.patch,
		 k.frozen ? ", but for what its distribution mended under this "
			    "number"
			  : "",
		 guests, processes);
	advise_update(&k, f);
}
