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

static void kernels_with_holes_in_vsock_are_known(void **state)
{
	static const struct {
		const char *release;
		const char *holes; /* NULL: none */
	} kernels[] = {
		{ "4.4.0-generic", NULL },
		{ "4.19.300", "CVE-2024-50264" },
		{ "4.19.324", NULL },
		{ "5.10.12", "CVE-2021-26708, CVE-2024-50264, CVE-2025-21756" },
		{ "5.10.230", "CVE-2025-21756" },
		{ "6.1.0-28-amd64", "CVE-2024-50264, CVE-2025-21756" },
		{ "6.1.117", "CVE-2025-21756" },
		{ "6.1.131", NULL },
		{ "6.5.13", "CVE-2024-50264, CVE-2025-21756" },
		{ "6.6.78", "CVE-2025-21756" },
		{ "6.6.79", NULL },
		{ "6.12.15", "CVE-2025-21756" },
		{ "6.12.48+deb13-amd64", NULL },
		{ "6.14.0-rc1", NULL },
		{ "7.0.1", NULL },
	};
	struct fixture *fx = *state;
	size_t i;

	for (i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
		host_has(fx, "/proc/sys/kernel/osrelease", kernels[i].release);
		assert_int_equal(judge(fx, host_check_kernel),
				 kernels[i].holes ? HOST_DEGRADED : HOST_GOOD);
		if (kernels[i].holes &&
		    !strstr(fx->finding.text, kernels[i].holes))
			fail_msg("%s: %s", kernels[i].release,
				 fx->finding.text);
	}
	/* What Debian mended counts, whatever the release says. */
	host_has(fx, "/proc/sys/kernel/osrelease", "6.1.0-28-amd64");
	host_has(fx, "/proc/version",
		 "Linux version 6.1.0-28-amd64 (debian-kernel@lists.debian.org) "
		 "#1 SMP PREEMPT_DYNAMIC Debian 6.1.147-1 (2025-08-02)\n");
	assert_int_equal(judge(fx, host_check_kernel), HOST_GOOD);
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
		TEST(kernels_with_holes_in_vsock_are_known),
		TEST(what_is_used_up_is_bad),
		TEST(a_process_needs_files),
		TEST(a_cache_without_kvm_is_asked_again_for_each_vm),
		TEST(a_clock_that_is_slow_to_read_is_told),
	};

	return RUN_TESTS(tests);
}
