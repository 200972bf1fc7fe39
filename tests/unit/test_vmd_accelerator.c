/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <systemd/sd-event.h>

#include "base/settings.h"
#include "kvm_access.h"
#include "vmd/accelerator.h"
#include "vmd/host.h"
#include "vmd/pools.h"

/* A host without KVM says so, and emulates only where that is allowed. */

struct fixture {
	struct host host;
	struct pools pools;
	struct accelerator_summary summary;
	bool done;
};

static int setup(void **state)
{
	struct fixture *fx = calloc(1, sizeof(*fx));

	assert_non_null(fx);
	host_init(&fx->host);
	assert_true(sd_event_new(&fx->host.event) >= 0);
	assert_int_equal(settings_new(settings_table, settings_table_count,
				      &fx->host.settings),
			 0);
	*state = fx;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fx = *state;

	settings_free(fx->host.settings);
	sd_event_unref(fx->host.event);
	free(fx);
	return 0;
}

static void on_done(const struct accelerator_summary *summary, void *userdata)
{
	struct fixture *fx = userdata;

	fx->summary = *summary;
	fx->done = true;
}

/* Two pools, so that one that has a problem does not end the search. */
static void decide(struct fixture *fx, int kvm, const char *accel,
		   const char *emulation)
{
	struct error err = ERROR_INIT;
	char text[64];

	kvm_errno = kvm;
	fx->done = false;
	fx->pools = (struct pools){ .count = 2 };
	(void)snprintf(text, sizeof(text), "hypervisor.accel=%s", accel);
	assert_int_equal(settings_set(fx->host.settings, text, &err), 0);
	(void)snprintf(text, sizeof(text), "host.allow_emulation=%s",
		       emulation);
	assert_int_equal(settings_set(fx->host.settings, text, &err), 0);
	assert_int_equal(accelerator_decide(&fx->host, &fx->pools, on_done,
					    fx),
			 0);
	while (!fx->done)
		assert_true(sd_event_run(fx->host.event, 10000) >= 0);
}

static void expect(const struct fixture *fx, enum vmd_accelerator accelerator,
		   const char *problem)
{
	size_t i;

	for (i = 0; i < fx->pools.count; i++) {
		assert_int_equal(fx->pools.pool[i].accelerator, accelerator);
		assert_string_equal(fx->pools.pool[i].problem, problem);
	}
}

static void without_kvm_nothing_is_emulated_that_may_not_be(void **state)
{
	struct fixture *fx = *state;

	decide(fx, ENOENT, "auto", "no");
	expect(fx, VMD_ACCELERATOR_NONE,
	       "this host has no /dev/kvm, and emulation is not allowed "
	       "(host.allow_emulation)");
	assert_string_equal(fx->summary.reason, "this host has no /dev/kvm");
	decide(fx, EACCES, "auto", "no");
	expect(fx, VMD_ACCELERATOR_NONE,
	       "/dev/kvm may not be opened (group kvm), and emulation is not "
	       "allowed (host.allow_emulation)");
	decide(fx, ENOENT, "qemu", "no");
	expect(fx, VMD_ACCELERATOR_NONE,
	       "the settings say qemu, and emulation is not allowed "
	       "(host.allow_emulation)");
	decide(fx, ENOENT, "auto", "yes");
	expect(fx, VMD_ACCELERATOR_TCG, "");
}

static void who_says_kvm_gets_kvm_or_is_told_what_is_missing(void **state)
{
	struct fixture *fx = *state;

	decide(fx, ENOENT, "kvm", "yes");
	expect(fx, VMD_ACCELERATOR_NONE,
	       "this host has no /dev/kvm, and the settings say kvm "
	       "(hypervisor.accel)");
	decide(fx, EACCES, "kvm", "yes");
	expect(fx, VMD_ACCELERATOR_NONE,
	       "/dev/kvm may not be opened (group kvm), and the settings say "
	       "kvm (hypervisor.accel)");
	decide(fx, 0, "kvm", "no");
	expect(fx, VMD_ACCELERATOR_KVM, "");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(without_kvm_nothing_is_emulated_that_may_not_be),
		TEST(who_says_kvm_gets_kvm_or_is_told_what_is_missing),
	};

	return RUN_TESTS(tests);
}
