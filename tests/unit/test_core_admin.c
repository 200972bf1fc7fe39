/* SPDX-License-Identifier: Apache-2.0 */
/* What the operator sees and does. */

#include "core_fixture.h"

#include <string.h>

#include "core/core_admin.h"
#include "core/core_exec.h"

static void assert_has(const struct answer *a, const char *text)
{
	if (!strstr(a->text, text))
		fail_msg("'%s' is not in %s", text, a->text);
}

/* ---------------------------------------------------------------------- top */

static void look(struct fixture *fx, struct answer *ret)
{
	*ret = (struct answer){ .called = false };
	assert_int_equal(core_admin_top(fx->core, on_json, ret, &ret->err), 0);
	assert_false(ret->called);
	RUN_UNTIL(fx, ret->called);
	assert_false(ret->failed);
}

static void top_has_what_core_knows_and_what_vmd_measures(void **state)
{
	struct fixture *fx = *state;
	struct scripted_guest *g;
	char c[ID_SIZE], e[ID_SIZE];
	struct answer a;

	g = fixture_running(fx, "x", c, e);
	look(fx, &a);
	assert_has(&a, c);
	assert_has(&a, "\"state\":\"executing\"");
	assert_has(&a, "\"executing\":{\"id\":\"exec_");
	assert_has(&a, "\"last_execution\":null");
	assert_has(&a, "\"cpu_usec\":5000");
	assert_has(&a, "\"disk_used_bytes\":100");
	/* What cannot be measured is no zero. */
	assert_has(&a, "\"memory_used_bytes\":null");

	guest_finish(g, WIRE_STATUS_ERROR, 0);
	fixture_wait_exec(fx, c, e, EXEC_ERROR);
	look(fx, &a);
	assert_has(&a, "\"executing\":null");
	assert_has(&a, "\"last_execution\":{\"id\":\"exec_");
	assert_has(&a, "\"status\":\"error\"");

	/* The next daemon knows it as well. */
	fixture_kill(fx);
	fixture_start(fx);
	look(fx, &a);
	assert_has(&a, "\"status\":\"error\"");
}

static void top_works_without_vms_and_without_vmd(void **state)
{
	struct fixture *fx = *state;
	struct answer a;
	char c[ID_SIZE];

	fixture_set(fx, "pool.default.ready=0");
	fixture_start(fx);
	look(fx, &a);
	assert_has(&a, "\"data\":[]");
	(void)fixture_session(fx, c);
	vmd_script_drop(&fx->vmd);
	fixture_settle(fx);
	look(fx, &a);
	assert_has(&a, c);
	assert_has(&a, "\"cpu_usec\":null");
}

int main(void)
{
#define TEST(f) \
	cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(top_has_what_core_knows_and_what_vmd_measures),
		TEST(top_works_without_vms_and_without_vmd),
	};

	return RUN_TESTS(tests);
}
