#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/host_checks.h"

/* The doctor on hosts that are made up: what the kernel would say is in files. */

struct fixture {
	char root[32];
	struct host_view view;
	struct host_finding finding;
};

static int setup(void **state)
{
	struct fixture *fx = calloc(1, sizeof(*fx));

	assert_non_null(fx);
	strcpy(fx->root, "/tmp/host-XXXXXX");
	assert_non_null(mkdtemp(fx->root));
	fx->view = (struct host_view){ .root = fx->root, .state = "/state" };
	*state = fx;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fx = *state;
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", fx->root);
	assert_int_equal(system(command), 0);
	free(fx);
	return 0;
}

static void host_has(struct fixture *fx, const char *path, const char *text)
{
	_cleanup_(fclosep) FILE *file = NULL;
	char full[256];
	char *slash;

	snprintf(full, sizeof(full), "%s%s", fx->root, path);
	for (slash = full + strlen(fx->root) + 1; (slash = strchr(slash, '/'));
	     slash++) {
		*slash = '\0';
		(void)mkdir(full, 0755);
		*slash = '/';
	}
	file = fopen(full, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
}

static enum host_level judge(struct fixture *fx,
			     void (*check)(const struct host_view *v,
					   struct host_finding *f))
{
	fx->finding = (struct host_finding){ .what = "x" };
	check(&fx->view, &fx->finding);
	assert_true(fx->finding.text[0] != '\0');
	/* Whatever is not good says what to do. */
	assert_int_equal(fx->finding.level == HOST_GOOD,
			 fx->finding.remedy[0] == '\0');
	return fx->finding.level;
}

static void an_unknown_host_is_no_bad_host(void **state)
{
	struct fixture *fx = *state;

	assert_int_equal(judge(fx, host_check_smt), HOST_GOOD);
	assert_int_equal(judge(fx, host_check_ksm), HOST_GOOD);
	assert_int_equal(judge(fx, host_check_swap), HOST_GOOD);
	assert_int_equal(judge(fx, host_check_huge_pages), HOST_GOOD);
	assert_int_equal(judge(fx, host_check_limits), HOST_GOOD);
	assert_int_equal(judge(fx, host_check_cache), HOST_GOOD);
}

static void what_vms_share_is_told(void **state)
{
	struct fixture *fx = *state;

	host_has(fx, "/sys/devices/system/cpu/smt/active", "1\n");
	assert_int_equal(judge(fx, host_check_smt), HOST_DEGRADED);
	host_has(fx, "/sys/devices/system/cpu/smt/active", "0\n");
	assert_int_equal(judge(fx, host_check_smt), HOST_GOOD);
	host_has(fx, "/sys/kernel/mm/ksm/run", "1\n");
	assert_int_equal(judge(fx, host_check_ksm), HOST_DEGRADED);
	host_has(fx, "/sys/kernel/mm/ksm/run", "2\n");
	assert_int_equal(judge(fx, host_check_ksm), HOST_GOOD);
}

static void swap_on_a_disk_is_told_and_in_memory_is_not(void **state)
{
	static const char heading[] = "Filename\tType\tSize\tUsed\tPriority\n";
	struct fixture *fx = *state;
	char text[256];

	host_has(fx, "/proc/swaps", heading);
	assert_int_equal(judge(fx, host_check_swap), HOST_GOOD);
	snprintf(text, sizeof(text), "%s/dev/zram0 partition 1 0 100\n",
		 heading);
	host_has(fx, "/proc/swaps", text);
	assert_int_equal(judge(fx, host_check_swap), HOST_GOOD);
	strcat(text, "/dev/sda2 partition 1 0 -2\n");
	host_has(fx, "/proc/swaps", text);
	assert_int_equal(judge(fx, host_check_swap), HOST_DEGRADED);
	assert_non_null(strstr(fx->finding.text, "/dev/sda2"));
}

static void a_guest_must_not_stop_the_host_by_its_pages(void **state)
{
	static const char fault[] =
		"/sys/devices/system/cpu/vulnerabilities/itlb_multihit";
	static const char mended[] = "/sys/module/kvm/parameters/nx_huge_pages";
	struct fixture *fx = *state;

	host_has(fx, mended, "N\n");
	host_has(fx, fault, "Not affected\n");
	assert_int_equal(judge(fx, host_check_huge_pages), HOST_GOOD);
	host_has(fx, fault, "KVM: Vulnerable\n");
	assert_int_equal(judge(fx, host_check_huge_pages), HOST_BAD);
	host_has(fx, mended, "never\n");
	assert_int_equal(judge(fx, host_check_huge_pages), HOST_BAD);
	host_has(fx, mended, "Y\n");
	assert_int_equal(judge(fx, host_check_huge_pages), HOST_GOOD);
}

/* What is said of a kernel, by its release and, where there is one, its banner. */
static const char *told_of(struct fixture *fx, const char *release,
			   const char *version)
{
	host_has(fx, "/proc/sys/kernel/osrelease", release);
	host_has(fx, "/proc/version", version);
	(void)judge(fx, host_check_kernel);
	return fx->finding.text;
}

static void named(struct fixture *fx, const char *release, const char *cve,
		  bool expected)
{
	const char *text = told_of(fx, release, "");
	/* That there is none names the last one, too. */
	bool has = fx->finding.level == HOST_DEGRADED && strstr(text, cve);

	if (has != expected)
		fail_msg("%s %s %s: %s", release, expected ? "has" : "has not",
			 cve, text);
}

/* The last release with it, and the first without, of each branch that is left. */
static void a_hole_is_there_until_its_branch_was_mended(void **state)
{
	static const struct {
		const char *cve;
		const char *last[11];	/* one step further it is mended */
	} holes[] = {
		{ "CVE-2021-26708", { "5.10.12" } },
		{ "CVE-2022-48786", { "4.19.230", "5.4.180", "5.10.101",
				      "5.15.24", "5.16.10" } },
		{ "CVE-2024-50264", { "4.19.323", "5.4.285", "5.10.229",
				      "5.15.171", "6.1.116", "6.6.60",
				      "6.11.7" } },
		{ "CVE-2025-21756", { "5.10.234", "5.15.178", "6.1.130",
				      "6.6.78", "6.12.15", "6.13.3" } },
		{ "CVE-2025-38618", { "5.4.296", "5.10.240", "5.15.189",
				      "6.1.147", "6.6.101", "6.12.41",
				      "6.15.9", "6.16.0" } },
		{ "CVE-2025-40248", { "5.4.301", "5.10.246", "5.15.196",
				      "6.1.158", "6.6.117", "6.12.59",
				      "6.17.9" } },
		{ "CVE-2026-23069", { "6.1.161", "6.6.121", "6.12.67",
				      "6.18.7" } },
		{ "CVE-2026-23086", { "6.1.161", "6.6.121", "6.12.67",
				      "6.18.7" } },
		{ "CVE-2026-53132", { "6.12.93", "6.18.35", "7.0.12" } },
	};
	struct fixture *fx = *state;
	unsigned major, minor, patch;
	char next[32];

	for (size_t i = 0; i < sizeof(holes) / sizeof(holes[0]); i++) {
		for (size_t j = 0; holes[i].last[j]; j++) {
			named(fx, holes[i].last[j], holes[i].cve, true);
			assert_int_equal(sscanf(holes[i].last[j], "%u.%u.%u",
						&major, &minor, &patch), 3);
			(void)snprintf(next, sizeof(next), "%u.%u.%u", major,
				       minor, patch + 1);
			named(fx, next, holes[i].cve, false);
		}
	}
}

static void a_hole_begins_and_branches_between_never_lost_it(void **state)
{
	struct fixture *fx = *state;

	named(fx, "5.4.200", "CVE-2021-26708", false);
	named(fx, "5.5.0", "CVE-2021-26708", true);
	named(fx, "5.9.16", "CVE-2021-26708", true);
	named(fx, "5.11.0", "CVE-2021-26708", false);
	named(fx, "6.5.13", "CVE-2024-50264", true);
	named(fx, "6.12.0", "CVE-2024-50264", false);
	named(fx, "5.4.300", "CVE-2025-21756", false);
	named(fx, "6.14.0", "CVE-2025-38618", true);
	named(fx, "6.17.0", "CVE-2025-38618", false);
	named(fx, "6.18.0", "CVE-2025-40248", false);
	named(fx, "6.19.0", "CVE-2026-23086", false);
	/* A stable release brought it into 6.1, where nobody mended it. */
	named(fx, "6.1.62", "CVE-2026-53132", false);
	named(fx, "6.1.63", "CVE-2026-53132", true);
	named(fx, "6.1.192", "CVE-2026-53132", true);
	named(fx, "6.2.16", "CVE-2026-53132", false);
	named(fx, "6.3.0", "CVE-2026-53132", true);
	named(fx, "6.6.150", "CVE-2026-53132", true);
	named(fx, "7.1.0", "CVE-2026-53132", false);
}

static void what_guests_can_use_is_told_apart(void **state)
{
	struct fixture *fx = *state;

	assert_string_equal(told_of(fx, "6.1.160", ""),
			    "Linux 6.1.160 has holes in vsock; guests can use: "
			    "CVE-2026-23069, CVE-2026-23086, CVE-2026-53132; "
			    "processes of this host: none");
	assert_string_equal(told_of(fx, "5.4.301", ""),
			    "Linux 5.4.301 has holes in vsock; guests can use: "
			    "CVE-2026-23069, CVE-2026-23086; processes of this "
			    "host: CVE-2025-40248");
	assert_non_null(strstr(told_of(fx, "7.1.3-arch1-1", ""),
			       "has none of the holes"));
	/* All at a time: nothing is cut off. */
	assert_non_null(strstr(told_of(fx, "5.10.12", ""), "CVE-2021-26708"));
	assert_non_null(strstr(told_of(fx, "5.10.12", ""), "CVE-2025-40248"));
	(void)told_of(fx, "unknown", "");
	assert_int_equal(fx->finding.level, HOST_DEGRADED);
}

/* Its package's version counts: the release stays that of the ABI. */
static void debians_kernels_are_judged_by_their_packages_version(void **state)
{
#define BANNER(version)                                             \
	"Linux version x (debian-kernel@lists.debian.org) (gcc) "   \
	"#1 SMP PREEMPT_DYNAMIC Debian " version " (2025-08-02)\n"
	struct fixture *fx = *state;

	(void)told_of(fx, "6.1.0-28-amd64", BANNER("6.1.119-1"));
	assert_non_null(strstr(fx->finding.text, "Linux 6.1.119 has holes"));
	assert_null(strstr(fx->finding.text, "CVE-2024-50264"));
	assert_non_null(strstr(fx->finding.text, "CVE-2025-21756"));
	assert_non_null(strstr(fx->finding.remedy, "Debian's newest"));

	(void)told_of(fx, "6.12.48+deb13-amd64", BANNER("6.12.48-1"));
	assert_null(strstr(fx->finding.text, "CVE-2025-38618"));
	assert_non_null(strstr(fx->finding.text, "CVE-2026-23086"));
	(void)told_of(fx, "6.12.93+deb12-amd64", BANNER("6.12.93-1~bpo12+1"));
	assert_non_null(strstr(fx->finding.text, "CVE-2026-53132"));
	(void)told_of(fx, "6.12.118+deb13-amd64", BANNER("6.12.118-1"));
	assert_int_equal(fx->finding.level, HOST_GOOD);
}

/* It accuses nobody of what the distribution may have mended. */
static void a_number_that_stays_says_what_to_look_for(void **state)
{
	static const char *const frozen[] = {
		"5.14.0-503.el9.x86_64", "6.8.0-45-generic",
		"6.4.0-150600.23-default", "6.1.0-28-amd64",
	};
	struct fixture *fx = *state;

	for (size_t i = 0; i < sizeof(frozen) / sizeof(frozen[0]); i++) {
		(void)told_of(fx, frozen[i], "");
		assert_int_equal(fx->finding.level, HOST_DEGRADED);
		assert_non_null(strstr(fx->finding.text, "mended under this"));
		assert_non_null(strstr(fx->finding.remedy, "changelog"));
	}
	/* These follow the stable releases, or are the developers' own. */
	assert_null(strstr(told_of(fx, "6.17.9-300.fc43.x86_64", ""), "mended"));
	assert_null(strstr(told_of(fx, "6.16.0-rc1", ""), "mended"));
	assert_null(strstr(told_of(fx, "6.16.0", ""), "mended"));
}

static void what_is_used_up_is_bad(void **state)
{
	struct fixture *fx = *state;

	host_has(fx, "/proc/sys/fs/file-nr", "900\t0\t1000\n");
	assert_int_equal(judge(fx, host_check_limits), HOST_BAD);
	assert_non_null(strstr(fx->finding.text, "900 of 1000 files"));
	host_has(fx, "/proc/sys/fs/file-nr", "100\t0\t1000\n");
	host_has(fx, "/proc/loadavg", "0.20 0.18 0.12 1/950 11206\n");
	host_has(fx, "/proc/sys/kernel/threads-max", "100000\n");
	assert_int_equal(judge(fx, host_check_limits), HOST_GOOD);
	host_has(fx, "/proc/sys/kernel/pid_max", "1000\n");
	assert_int_equal(judge(fx, host_check_limits), HOST_BAD);
	assert_non_null(strstr(fx->finding.text, "950 of 1000 threads"));
}

static void a_process_needs_files(void **state)
{
	static const char heading[] =
		"Limit                     Soft Limit           Hard Limit\n";
	struct fixture *fx = *state;
	char text[256];

	host_check_process(&fx->view, 7, &fx->finding);
	assert_int_equal(fx->finding.level, HOST_DEGRADED);
	snprintf(text, sizeof(text),
		 "%sMax open files            256                  4096\n",
		 heading);
	host_has(fx, "/proc/7/limits", text);
	host_check_process(&fx->view, 7, &fx->finding);
	assert_int_equal(fx->finding.level, HOST_DEGRADED);
	assert_non_null(strstr(fx->finding.text, "some 32 VMs"));
	snprintf(text, sizeof(text),
		 "%sMax open files            524288               524288\n",
		 heading);
	host_has(fx, "/proc/7/limits", text);
	host_check_process(&fx->view, 7, &fx->finding);
	assert_int_equal(fx->finding.level, HOST_GOOD);
}

static void a_cache_without_kvm_is_asked_again_for_each_vm(void **state)
{
	static const char with[] = "<emulator>/usr/bin/qemu-system-x86_64"
				   "</emulator>\n<flag name='kvm'/>\n";
	static const char without[] = "<emulator>/usr/bin/qemu-system-x86_64"
				      "</emulator>\n<blocker name='kvm'/>\n";
	static const char other[] = "<emulator>/usr/bin/qemu-system-arm"
				    "</emulator>\n";
	static const char dir[] = "/state/libvirt/cache/qemu/capabilities";
	struct fixture *fx = *state;
	char path[128];

	host_has(fx, "/var/cache/libvirt/qemu/capabilities/1.xml", with);
	host_has(fx, "/dev/kvm", "");
	assert_int_equal(judge(fx, host_check_cache), HOST_GOOD);
	snprintf(path, sizeof(path), "%s/2.xml", dir);
	host_has(fx, path, other);
	assert_int_equal(judge(fx, host_check_cache), HOST_GOOD);
	host_has(fx, path, without);
	assert_int_equal(judge(fx, host_check_cache), HOST_BAD);
	/* Where there is no KVM it has nothing to remember. */
	snprintf(path, sizeof(path), "%s/dev/kvm", fx->root);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(judge(fx, host_check_cache), HOST_GOOD);
}

static void a_clock_that_is_slow_to_read_is_told(void **state)
{
	struct fixture *fx = *state;

	host_has(fx,
		 "/sys/devices/system/clocksource/clocksource0/"
		 "current_clocksource",
		 "hpet\n");
	assert_int_equal(judge(fx, host_check_clock), HOST_DEGRADED);
	assert_non_null(strstr(fx->finding.text, "hpet"));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(an_unknown_host_is_no_bad_host),
		TEST(what_vms_share_is_told),
		TEST(swap_on_a_disk_is_told_and_in_memory_is_not),
		TEST(a_guest_must_not_stop_the_host_by_its_pages),
		TEST(a_hole_is_there_until_its_branch_was_mended),
		TEST(a_hole_begins_and_branches_between_never_lost_it),
		TEST(what_guests_can_use_is_told_apart),
		TEST(debians_kernels_are_judged_by_their_packages_version),
		TEST(a_number_that_stays_says_what_to_look_for),
		TEST(what_is_used_up_is_bad),
		TEST(a_process_needs_files),
		TEST(a_cache_without_kvm_is_asked_again_for_each_vm),
		TEST(a_clock_that_is_slow_to_read_is_told),
	};

	return RUN_TESTS(tests);
}
