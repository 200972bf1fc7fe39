/* SPDX-License-Identifier: Apache-2.0 */
#include "core_fixture.h"

#include <errno.h>

#include "base/json.h"
#include "core/core_priv.h"

/* Room for sessions: who gets it, who is refused, and that it comes back. */

static void erase(struct fixture *fx, const char *id)
{
	struct answer a = { .called = false };

	assert_int_equal(core_container_delete(fx->core, &fx->who, id, on_done,
					       &a, &a.err),
			 0);
	RUN_UNTIL(fx, a.called && vmd_running(&fx->vmd) == 0);
	fixture_settle(fx);
}

static void a_claim_from_the_pool_asks_nobody(void **state)
{
	struct fixture *fx = *state;
	struct answer a;
	unsigned creates;

	fixture_set(fx, "pool.default.ready=2");
	fixture_start(fx);
	RUN_UNTIL(fx, fx->vmd.count == 2 && fx->vmd.vms[1].guest->control);
	fixture_settle(fx);
	creates = fx->vmd.creates;
	fixture_create(fx, NULL, 0, &a);
	assert_int_equal(fixture_container(fx, a.id).state,
			 SESSION_VIEW_RUNNING);
	assert_string_equal(fixture_container(fx, a.id).vm,
			    fx->vmd.vms[0].create.vm_id);
	assert_int_equal(fx->vmd.creates, creates);
	/* And then it is filled up again. */
	RUN_UNTIL(fx, fx->vmd.creates == creates + 1);
}

static void a_pool_that_fails_waits_longer_each_time(void **state)
{
	struct fixture *fx = *state;
	int i;

	fixture_set(fx, "pool.default.ready=1");
	fx->vmd.fail_create = -EIO;
	fixture_start(fx);
	/* The disk may be slow, so silence is no sign that all was tried. */
	RUN_UNTIL(fx, fx->vmd.creates == 1);
	fixture_settle(fx);
	clock_advance(fx->clock, USEC_PER_SEC);
	RUN_UNTIL(fx, fx->vmd.creates == 2);
	fixture_settle(fx);
	clock_advance(fx->clock, USEC_PER_SEC);
	fixture_settle(fx);
	assert_int_equal(fx->vmd.creates, 2);
	for (i = 0; i < 100; i++) {
		clock_advance(fx->clock, 10 * USEC_PER_SEC);
		fixture_settle(fx);
	}
	assert_in_range(fx->vmd.creates, 10, 30);
}

/* Each boot costs the host seconds, and its clients try again by themselves. */
static void an_image_that_boots_no_more_is_tried_now_and_then(void **state)
{
	struct fixture *fx = *state;
	struct answer a;
	char c[ID_SIZE];
	unsigned i;

	fx->vmd.fail_create = -EIO;
	fixture_start(fx);
	for (i = 0; i < POOL_BOOTS_FAILED_MAX; i++) {
		fixture_create(fx, NULL, 0, &a);
		fixture_settle(fx);
		assert_int_equal(fx->vmd.creates, i + 1);
	}
	for (i = 0; i < 3; i++) {
		const struct container_spec spec = { .name = "x" };

		a = (struct answer){ .called = false };
		assert_true(core_container_create(fx->core, &fx->who, &spec,
						  on_container, &a, &a.err) < 0);
		assert_int_equal(a.err.code, ERR_HYPERVISOR);
		assert_string_equal(a.err.reason, "boot_failed");
		assert_in_range(a.err.retry_after_sec, 1, 11);
	}
	assert_int_equal(fx->vmd.creates, POOL_BOOTS_FAILED_MAX);
	fx->vmd.fail_create = 0;
	clock_advance(fx->clock, POOL_SHUT_USEC);
	(void)fixture_session(fx, c);
	(void)fixture_session(fx, c);
}

static void refuse(struct fixture *fx, const struct container_spec *spec,
		   enum error_code code)
{
	struct answer a = { .called = false };

	assert_true(core_container_create(fx->core, &fx->who, spec,
					  on_container, &a, &a.err) < 0);
	assert_int_equal(a.err.code, code);
}

static void what_cannot_be_had_is_refused_and_costs_nothing(void **state)
{
	struct fixture *fx = *state;
	static const char *const missing[] = {
		"file-aaaaaaaaaaaaaaaaaaaaaaaa"
	};
	struct container_spec spec = { .name = "x" };
	struct answer a;
	char c[ID_SIZE];

	fixture_set(fx, "pool.default.max=1");
	fixture_start(fx);
	spec.pool = "none";
	refuse(fx, &spec, ERR_NOT_FOUND);
	spec.pool = NULL;
	spec.name = "a\nb";
	refuse(fx, &spec, ERR_BAD_REQUEST);
	spec.name = "x";
	spec.idle_minutes = 21;
	refuse(fx, &spec, ERR_BAD_REQUEST);
	spec.idle_minutes = 0;
	spec.memory = MEMORY_64G;
	refuse(fx, &spec, ERR_BAD_REQUEST);
	spec.memory = MEMORY_1G;
	spec.file_ids = missing;
	spec.file_count = 1;
	refuse(fx, &spec, ERR_NOT_FOUND);
	spec.file_count = 0;

	(void)fixture_session(fx, c);
	refuse(fx, &spec, ERR_CAPACITY);
	erase(fx, c);
	fixture_create(fx, NULL, 0, &a);
}

static void keep_image(void *userdata, const struct core_image *image,
		       const struct error *err)
{
	struct answer *a = userdata;

	a->called = true;
	a->failed = !image;
	if (!image) {
		a->err = *err;
		return;
	}
	assert_string_equal(image->image, "python@sha256:00");
	assert_string_equal(image->built_at, "2026-11-30T01:08:54Z");
	assert_string_equal(
		json_string_of(json_member(image->packages, "python3")).data,
		"3.13");
}

static void look_at_image(struct fixture *fx, const char *manifest,
			  struct answer *ret)
{
	*ret = (struct answer){ .called = false };
	fx->vmd.manifest = manifest;
	assert_int_equal(core_pool_image(fx->core, "default", keep_image, ret,
					 &ret->err),
			 0);
	RUN_UNTIL(fx, ret->called);
}

static void a_pools_image_can_be_looked_at(void **state)
{
	struct fixture *fx = *state;
	struct answer a;

	fixture_start(fx);
	look_at_image(fx,
		      "{\"built_at\":\"2026-11-30T01:08:54Z\","
		      "\"packages\":{\"python3\":\"3.13\"}}", &a);
	assert_false(a.failed);
	look_at_image(fx, "{\"built_at\":\"2026\"}", &a);
	assert_int_equal(a.err.code, ERR_INTERNAL);
	look_at_image(fx, "{", &a);
	assert_int_equal(a.err.code, ERR_INTERNAL);
	look_at_image(fx, NULL, &a);
	assert_int_equal(a.err.code, ERR_HYPERVISOR);
	assert_int_equal(core_pool_image(fx->core, "none", keep_image, &a,
					 &a.err),
			 -ENOENT);
}

/* That little of a VM's memory counts makes the host no larger. */
static void memory_that_the_host_does_not_have_is_refused(void **state)
{
	struct fixture *fx = *state;
	struct container_spec spec = { .name = "x" };
	struct answer a = { .called = false };

	fixture_set(fx, "host.memory=8G");
	fixture_set(fx, "host.memory_commit=0.1");
	fixture_start(fx);
	spec.memory = MEMORY_64G;
	refuse(fx, &spec, ERR_BAD_REQUEST);
	spec.memory = MEMORY_16G;
	refuse(fx, &spec, ERR_BAD_REQUEST);
	spec.memory = MEMORY_4G;
	assert_int_equal(core_container_create(fx->core, &fx->who, &spec,
					       on_container, &a, &a.err), 0);
	RUN_UNTIL(fx, a.called);
	assert_false(a.failed);
}

static void a_tenant_has_its_share_of_sessions(void **state)
{
	struct fixture *fx = *state;
	const struct container_spec spec = { .name = "x" };
	struct answer a;

	fixture_set(fx, "session.max_per_tenant=1");
	fixture_start(fx);
	fixture_create(fx, NULL, 0, &a);
	refuse(fx, &spec, ERR_LIMIT);
	erase(fx, a.id);
	fixture_create(fx, NULL, 0, &a);
}

/* Ask for as many at once. Return: how many were admitted */
static unsigned admit(struct fixture *fx, unsigned count, struct answer *ret)
{
	const struct container_spec spec = { .name = "x" };
	unsigned i, admitted = 0;

	for (i = 0; i < count; i++) {
		struct answer *a = &ret[admitted];

		*a = (struct answer){ .called = false };
		if (core_container_create(fx->core, &fx->who, &spec,
					  on_container, a, &a->err) >= 0) {
			admitted++;
			continue;
		}
		assert_int_equal(a->err.code, ERR_CAPACITY);
		assert_string_equal(a->err.reason, "capacity");
	}
	for (i = 0; i < admitted; i++) {
		RUN_UNTIL(fx, ret[i].called);
		assert_false(ret[i].failed);
	}
	return admitted;
}

#define ROOM 4

static void as_many_as_memory_allows_are_admitted_at_one_instant(void **state)
{
	struct fixture *fx = *state;
	struct answer a[2 * ROOM], gone = { .called = false };
	unsigned i;

	/* 1 GiB each, and not quite enough for one more. */
	fixture_set(fx, "host.memory=5119M");
	fixture_set(fx, "host.memory_commit=1.0");
	fixture_start(fx);
	assert_int_equal(admit(fx, 2 * ROOM, a), ROOM);
	assert_int_equal(admit(fx, 1, a + ROOM), 0);
	for (i = 0; i < ROOM; i++)
		fixture_wait_state(fx, a[i].id, SESSION_VIEW_RUNNING);
	assert_int_equal(core_container_delete(fx->core, &fx->who, a[0].id,
					       on_done, &gone, &gone.err),
			 0);
	RUN_UNTIL(fx, gone.called && vmd_running(&fx->vmd) == ROOM - 1);
	fixture_settle(fx);
	assert_int_equal(admit(fx, ROOM, a), 1);
}

static void creates_that_fail_give_back_all_they_took(void **state)
{
	struct fixture *fx = *state;
	struct answer a[2 * ROOM];
	unsigned i, failed;

	fixture_set(fx, "host.memory=5119M");
	fixture_set(fx, "host.memory_commit=1.0");
	fixture_start(fx);
	fx->vmd.fail_create = -EIO;
	for (failed = 0; failed < 1000; failed += ROOM) {
		/* What is looked at is room, not that so many fail. */
		pool_booted(pool_find(fx->core, "default"), true);
		assert_int_equal(admit(fx, ROOM + 1, a), ROOM);
		for (i = 0; i < ROOM; i++)
			fixture_wait_state(fx, a[i].id, SESSION_VIEW_ENDED);
	}
	fixture_settle(fx);
	fx->vmd.fail_create = 0;
	pool_booted(pool_find(fx->core, "default"), true);
	assert_int_equal(admit(fx, 2 * ROOM, a), ROOM);
}

static void without_a_hypervisor_process_creates_are_refused(void **state)
{
	struct fixture *fx = *state;
	const struct container_spec spec = { .name = "x" };
	char c[ID_SIZE], e[ID_SIZE];
	struct scripted_guest *g;

	fixture_start(fx);
	g = fixture_session(fx, c);
	vmd_script_drop(&fx->vmd);
	RUN_UNTIL(fx, !vmd_client_hello(fx->client));
	refuse(fx, &spec, ERR_HYPERVISOR);

	/* What runs goes on without it, and after it came back. */
	fixture_exec(fx, c, "x", e);
	RUN_UNTIL(fx, g->execs == 1);
	guest_finish(g, WIRE_STATUS_OK, 0);
	fixture_wait_exec(fx, c, e, EXEC_OK);
	fixture_connect(fx);
	RUN_UNTIL(fx, fx->vmd.lists == 2);
	fixture_settle(fx);
	assert_int_equal(fixture_container(fx, c).state, SESSION_VIEW_RUNNING);
}

static void a_destroy_that_hangs_keeps_its_room(void **state)
{
	struct fixture *fx = *state;
	const struct container_spec spec = { .name = "x" };
	struct answer a = { .called = false };
	struct scripted_vm *vm;
	char c[ID_SIZE];

	fixture_set(fx, "pool.default.max=1");
	fixture_start(fx);
	(void)fixture_session(fx, c);
	fx->vmd.hold_destroys = true;
	assert_int_equal(core_admin_kill(fx->core, c, on_done, &a, &a.err), 0);
	RUN_UNTIL(fx, fx->vmd.destroys == 1);
	fixture_settle(fx);
	assert_int_equal(fixture_container(fx, c).state, SESSION_VIEW_STOPPING);
	refuse(fx, &spec, ERR_CAPACITY);
	vm = vmd_vm(&fx->vmd, 0);
	vmd_vm_gone(&fx->vmd, vm, VMD_REASON_DESTROYED);
	fixture_wait_state(fx, c, SESSION_VIEW_ENDED);
	assert_string_equal(fixture_container(fx, c).ended_reason, "operator");
	fixture_settle(fx);
	fixture_create(fx, NULL, 0, &a);
}

static void a_cid_that_is_taken_is_followed_by_the_next(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE];

	fixture_start(fx);
	fx->vmd.taken_cids = 2;
	(void)fixture_session(fx, c);
	assert_int_equal(fx->vmd.creates, 3);
	assert_int_equal(fx->vmd.vms[0].create.cid, 0x10002);
	fixture_kill(fx);
	fixture_start(fx);
	fixture_wait_state(fx, c, SESSION_VIEW_RUNNING);
}

static void on_stopped(void *userdata)
{
	*(bool *)userdata = true;
}

static void a_stop_while_intents_are_on_their_way_leaves_nothing(void **state)
{
	struct fixture *fx = *state;
	const struct container_spec spec = { .name = "x" };
	struct answer a = { .called = false };
	bool stopped = false;

	fixture_set(fx, "pool.default.ready=1");
	fixture_start(fx);
	assert_int_equal(core_container_create(fx->core, &fx->who, &spec,
					       on_container, &a, &a.err),
			 0);
	core_stop(fx->core, CORE_STOP_END, on_stopped, &stopped);
	RUN_UNTIL(fx, stopped && a.called);
	fixture_settle(fx);
	assert_int_equal(vmd_running(&fx->vmd), 0);
}

int main(void)
{
#define TEST(f) \
	cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_claim_from_the_pool_asks_nobody),
		TEST(a_pool_that_fails_waits_longer_each_time),
		TEST(an_image_that_boots_no_more_is_tried_now_and_then),
		TEST(what_cannot_be_had_is_refused_and_costs_nothing),
		TEST(a_pools_image_can_be_looked_at),
		TEST(memory_that_the_host_does_not_have_is_refused),
		TEST(a_tenant_has_its_share_of_sessions),
		TEST(as_many_as_memory_allows_are_admitted_at_one_instant),
		TEST(creates_that_fail_give_back_all_they_took),
		TEST(without_a_hypervisor_process_creates_are_refused),
		TEST(a_destroy_that_hangs_keeps_its_room),
		TEST(a_cid_that_is_taken_is_followed_by_the_next),
		TEST(a_stop_while_intents_are_on_their_way_leaves_nothing),
	};

	return RUN_TESTS(tests);
}
