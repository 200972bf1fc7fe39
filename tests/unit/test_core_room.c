/* SPDX-License-Identifier: Apache-2.0 */
/* What the host has left, who waits for it, and what a tenant has used up. */

#include "core_fixture.h"

#include "core/core_admin.h"
#include "core/host_room.h"
#include "core/waiting.h"
#include "tenant_fixture.h"

static void a_host_below_its_floors_starts_nothing(void **state)
{
	const struct container_spec spec = { .name = "x" };
	struct fixture *fx = *state;
	struct answer a = { .called = false };

	fixture_set(fx, "host.memory_reserve=64T");
	fixture_start(fx);
	assert_true(core_container_create(fx->core, &fx->who, &spec,
					  on_container, &a, &a.err) < 0);
	assert_int_equal(a.err.code, ERR_CAPACITY);
	assert_non_null(strstr(a.err.message, "below 67108864 MiB"));
	fixture_kill(fx);

	fixture_set(fx, "host.memory_reserve=0");
	fixture_set(fx, "host.disk_reserve=64T");
	fixture_start(fx);
	a.err = ERROR_INIT;
	assert_true(core_container_create(fx->core, &fx->who, &spec,
					  on_container, &a, &a.err) < 0);
	assert_int_equal(a.err.code, ERR_STORAGE_FULL);
	assert_string_equal(a.err.reason, "host_storage_full");
	assert_non_null(strstr(a.err.message, "67108864 MiB"));
	assert_int_equal(fx->vmd.creates, 0);
}

/* No VM of ours ends: it is another process that gives memory back. */
static void who_waits_for_the_hosts_memory_gets_it_once_it_is_free(void **state)
{
	const struct container_spec spec = { .name = "x" };
	struct answer a[2] = { { .called = false }, { .called = false } };
	struct fixture *fx = *state;
	unsigned i;

	fixture_set(fx, "host.memory_reserve=256M");
	fixture_set(fx, "session.queue=2");
	fixture_set(fx, "session.queue_wait=60");
	fixture_host(fx, 255, 0);
	fixture_start(fx);
	for (i = 0; i < 2; i++)
		assert_int_equal(core_container_create(fx->core, &fx->who,
						       &spec, on_container,
						       &a[i], &a[i].err),
				 0);
	for (i = 0; i < 5; i++) {
		clock_advance(fx->clock, WAITING_LOOK_USEC);
		fixture_settle(fx);
	}
	assert_false(a[0].called || a[1].called);
	assert_int_equal(fx->vmd.creates, 0);

	fixture_host(fx, 256, 0);
	clock_advance(fx->clock, WAITING_LOOK_USEC);
	RUN_UNTIL(fx, a[0].called && a[1].called);
	assert_false(a[0].failed || a[1].failed);
	/* Five tries in vain are two creates nevertheless. */
	assert_true(fixture_figure(fx, "cupola_claims_total", "found=\"nothing\"") ==
		    2);
	assert_true(fixture_figure(fx, "cupola_creates_queue_seconds_total", "") ==
		    12);
}

/* Not only that a pool with room had none. */
static void who_waited_in_vain_is_told_what_the_host_lacks(void **state)
{
	const struct container_spec spec = { .name = "x" };
	struct answer a = { .called = false };
	struct fixture *fx = *state;

	fixture_set(fx, "host.memory_reserve=256M");
	fixture_set(fx, "session.queue=1");
	fixture_set(fx, "session.queue_wait=10");
	fixture_host(fx, 200, 0);
	fixture_start(fx);
	assert_int_equal(core_container_create(fx->core, &fx->who, &spec,
					       on_container, &a, &a.err),
			 0);
	/* What it is told is how it was when last looked at. */
	fixture_host(fx, 255, 0);
	clock_advance(fx->clock, WAITING_LOOK_USEC);
	fixture_settle(fx);
	clock_advance(fx->clock, 10 * USEC_PER_SEC);
	RUN_UNTIL(fx, a.called);
	assert_true(a.failed);
	assert_int_equal(a.err.code, ERR_CAPACITY);
	assert_non_null(strstr(a.err.message, "within 10 s: 0 of at most"));
	assert_non_null(strstr(a.err.message,
			       "The host has 255 MiB of memory left; below "
			       "256 MiB no container is started"));
}

static const char PINNED[] = "python@0123456789ab";

static void set_digest(struct fixture *fx, const char *first)
{
	(void)snprintf(fx->vmd.hello.pools[0].digest,
		       sizeof(fx->vmd.hello.pools[0].digest), "sha256:%s%s",
		       first, "0123456789012345678901234567890123456789abcdef012345");
}

static int create_pinned(struct fixture *fx, const char *image,
			 struct answer *ret)
{
	const struct container_spec spec = { .name = "x", .image = image };

	*ret = (struct answer){ .called = false };
	return core_container_create(fx->core, &fx->who, &spec, on_container,
				     ret, &ret->err);
}

static void a_pin_is_served_by_its_image_only(void **state)
{
	static const char *const others[] = {
		"python@0123456789ac", "pytho@0123456789ab",
		"python3@0123456789ab", "python@0123456789a",
		"python@0123456789abc", "python@", "python", "@", "",
	};
	struct fixture *fx = *state;
	struct answer a;
	size_t i;

	set_digest(fx, "0123456789ab");
	fixture_start(fx);
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		assert_true(create_pinned(fx, others[i], &a) < 0);
		assert_int_equal(a.err.code, ERR_NOT_FOUND);
		assert_string_equal(a.err.param, "image");
	}
	assert_int_equal(create_pinned(fx, PINNED, &a), 0);
	RUN_UNTIL(fx, a.called);
	assert_false(a.failed);
}

/* Between the question and the room for it the operator changed the image. */
static void a_pin_that_waits_gets_no_other_image(void **state)
{
	struct fixture *fx = *state;
	struct answer a;

	set_digest(fx, "0123456789ab");
	fixture_set(fx, "host.memory_reserve=256M");
	fixture_set(fx, "session.queue=1");
	fixture_set(fx, "session.queue_wait=60");
	fixture_host(fx, 255, 0);
	fixture_start(fx);
	assert_int_equal(create_pinned(fx, PINNED, &a), 0);
	vmd_script_drop(&fx->vmd);
	RUN_UNTIL(fx, !vmd_client_hello(fx->client));
	set_digest(fx, "ffff56789abc");
	fixture_connect(fx);
	fixture_host(fx, 256, 0);
	clock_advance(fx->clock, WAITING_LOOK_USEC);
	RUN_UNTIL(fx, a.called);
	assert_true(a.failed);
	assert_int_equal(a.err.code, ERR_NOT_FOUND);
	assert_non_null(strstr(a.err.message, "runs image 'python@sha256:ffff"));
	assert_int_equal(fx->vmd.creates, 0);
}

static void the_kernels_figure_of_memory_is_read(void **state)
{
	uint64_t bytes = 0;

	(void)state;
	assert_int_equal(host_room_memory("MemTotal:  9 kB\nMemFree: 1 kB\n"
					  "MemAvailable:    2048 kB\n",
					  &bytes),
			 0);
	assert_int_equal(bytes, 2 << 20);
	assert_true(host_room_memory("MemTotal: 9 kB\n", &bytes) < 0);
	assert_true(host_room_memory("x\nMemAvailable: lots\n", &bytes) < 0);
	assert_true(host_room_memory("", &bytes) < 0);
}

static void the_queue_is_counted(void **state)
{
	const struct container_spec spec = { .name = "x" };
	struct fixture *fx = *state;
	struct answer a, late = { .called = false }, full = { .called = false };
	struct answer served = { .called = false }, gone = { .called = false };

	fixture_set(fx, "pool.default.max=1");
	fixture_set(fx, "session.queue=1");
	fixture_start(fx);
	fixture_create(fx, NULL, 0, &a);
	assert_int_equal(core_container_create(fx->core, &fx->who, &spec,
					       on_container, &late, &late.err),
			 0);
	assert_true(fixture_figure(fx, "cupola_pool_waiting_creates",
			      "pool=\"default\"") == 1);
	assert_true(core_container_create(fx->core, &fx->who, &spec,
					  on_container, &full, &full.err) < 0);
	clock_advance(fx->clock, 10 * USEC_PER_SEC);
	RUN_UNTIL(fx, late.called);
	assert_true(late.failed);
	assert_int_equal(core_container_create(fx->core, &fx->who, &spec,
					       on_container, &served,
					       &served.err),
			 0);
	clock_advance(fx->clock, 3 * USEC_PER_SEC);
	assert_int_equal(core_container_delete(fx->core, &fx->who, a.id,
					       on_done, &gone, &gone.err),
			 0);
	RUN_UNTIL(fx, served.called);
	assert_false(served.failed);
	assert_true(fixture_figure(fx, "cupola_creates_queued_total", "") == 2);
	assert_true(fixture_figure(fx, "cupola_creates_refused_total",
			      "why=\"late\"") == 1);
	assert_true(fixture_figure(fx, "cupola_creates_refused_total",
			      "why=\"queue_full\"") == 1);
	assert_true(fixture_figure(fx, "cupola_creates_queue_seconds_total", "") ==
		    3);
}

static void a_budget_counts_each_session_from_its_own_begin(void **state)
{
	struct fixture *fx = *state;
	struct answer a, b;
	char c[ID_SIZE];

	fixture_start(fx);
	tenant_set(fx, "default", false,
		   (struct tenant_limits){ .session_seconds_per_day = 600 },
		   &a);
	(void)fixture_session(fx, c);
	clock_advance(fx->clock, 200 * USEC_PER_SEC);
	(void)fixture_session(fx, c);
	/* 200 of the first, then 2 a second: 200 s later all is spent. */
	clock_advance(fx->clock, 199 * USEC_PER_SEC);
	assert_int_equal(tenant_create(fx, &fx->who, &b), 0);
	clock_advance(fx->clock, USEC_PER_SEC);
	assert_true(tenant_create(fx, &fx->who, &b) < 0);
	assert_string_equal(b.err.reason, "budget");
}

/* The fixture's wall clock stands at 22:13:20 UTC. */
static void a_budget_begins_anew_at_midnight_for_what_lives(void **state)
{
	struct fixture *fx = *state;
	struct answer a, b;
	char c[ID_SIZE];

	fixture_set(fx, "session.hard=24h");
	fixture_set(fx, "session.idle=24h");
	fixture_start(fx);
	tenant_set(fx, "default", false,
		   (struct tenant_limits){ .session_seconds_per_day = 6600 },
		   &a);
	clock_advance(fx->clock, 6300 * USEC_PER_SEC);
	(void)fixture_session(fx, c);
	/* 100 s before midnight, and 300 s of them yesterday's. */
	clock_advance(fx->clock, 900 * USEC_PER_SEC);
	assert_int_equal(tenant_create(fx, &fx->who, &b), 0);
	fixture_kill(fx);
	fixture_start(fx);
	assert_int_equal(tenant_create(fx, &fx->who, &b), 0);
}

int main(void)
{
#define TEST(f) \
	cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_host_below_its_floors_starts_nothing),
		TEST(who_waits_for_the_hosts_memory_gets_it_once_it_is_free),
		TEST(who_waited_in_vain_is_told_what_the_host_lacks),
		TEST(a_pin_is_served_by_its_image_only),
		TEST(a_pin_that_waits_gets_no_other_image),
		cmocka_unit_test(the_kernels_figure_of_memory_is_read),
		TEST(the_queue_is_counted),
		TEST(a_budget_counts_each_session_from_its_own_begin),
		TEST(a_budget_begins_anew_at_midnight_for_what_lives),
	};

	return RUN_TESTS(tests);
}
