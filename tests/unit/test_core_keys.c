/* SPDX-License-Identifier: Apache-2.0 */
#include "tenant_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/sanitizer.h"

/* Keys: what they open, how often, and what becomes of them. */

static void requests_are_counted_and_paced(void **state)
{
	const struct key_spec spec = {
		.tenant = "acme",
		.max_requests = 2,
		.requests_per_minute = 30, /* 5 at once, then one in 2 s */
	};
	struct fixture *fx = *state;
	struct error err = ERROR_INIT;
	struct principal who;
	char key[128];
	int i;

	fixture_start(fx);
	tenant_make_key(fx, &spec, key, &who);
	assert_int_equal(core_request_begin(fx->core, &who, &err), 0);
	assert_int_equal(core_request_begin(fx->core, &who, &err), 0);
	assert_true(core_request_begin(fx->core, &who, &err) < 0);
	assert_int_equal(err.code, ERR_LIMIT);
	assert_non_null(strstr(err.message, "All 2 requests"));
	core_request_end(fx->core, &who);
	core_request_end(fx->core, &who);
	for (i = 0; i < 3; i++) {
		assert_int_equal(core_request_begin(fx->core, &who, NULL), 0);
		core_request_end(fx->core, &who);
	}
	error_clear(&err);
	assert_true(core_request_begin(fx->core, &who, &err) < 0);
	assert_non_null(strstr(err.message, "30 requests a minute"));
	assert_in_range(err.retry_after_sec, 1, 3);
	clock_advance(fx->clock, 2 * USEC_PER_SEC);
	assert_int_equal(core_request_begin(fx->core, &who, NULL), 0);
	core_request_end(fx->core, &who);
	assert_true(core_request_begin(fx->core, &who, NULL) < 0);
}

static struct {
	unsigned count;
	char tenant[CORE_TENANT_MAX + 1];
	char key_id[ID_SIZE];
} told;

static void on_revoked(void *userdata, const char *tenant, const char *key_id)
{
	(void)userdata;
	told.count++;
	strcpy(told.tenant, tenant);
	strcpy(told.key_id, key_id ? key_id : "all");
}

static void a_revoked_key_is_told_of_and_its_sessions_stay(void **state)
{
	const struct key_spec spec = { .tenant = "acme" };
	struct fixture *fx = *state;
	struct answer a, r = { .called = false };
	struct container_view view;
	struct principal who;
	char key[128];

	fixture_start(fx);
	told.count = 0;
	core_on_revoked(fx->core, on_revoked, NULL);
	tenant_make_key(fx, &spec, key, &who);
	assert_int_equal(tenant_create(fx, &who, &a), 0);
	assert_int_equal(core_request_begin(fx->core, &who, NULL), 0);
	assert_int_equal(core_admin_key_revoke(fx->core, who.key_id, on_done,
					       &r, &r.err),
			 0);
	RUN_UNTIL(fx, r.called);
	assert_int_equal(told.count, 1);
	assert_string_equal(told.tenant, "acme");
	assert_string_equal(told.key_id, who.key_id);
	core_request_end(fx->core, &who);
	assert_true(core_authenticate(fx->core, key, strlen(key), &who,
				      &r.err) < 0);
	assert_int_equal(r.err.code, ERR_UNAUTHORIZED);
	who = tenant_act_for(fx, "acme");
	assert_int_equal(core_container_get(fx->core, &who, a.id, false, &view,
					    &r.err),
			 0);
}

static void owned_by(struct fixture *fx, const char *id, const char *tenant)
{
	char owner[CORE_TENANT_MAX + 1] = "before";

	core_admin_owner(fx->core, id, owner);
	assert_string_equal(owner, tenant);
}

/* By its id alone, alive or not: for the audit log. */
static void whose_a_thing_is_can_be_told(void **state)
{
	const struct key_spec spec = { .tenant = "acme" };
	struct fixture *fx = *state;
	struct answer a, r = { .called = false };
	struct principal who;
	char key[128], vm[ID_SIZE];

	fixture_start(fx);
	tenant_make_key(fx, &spec, key, &who);
	assert_int_equal(tenant_create(fx, &who, &a), 0);
	owned_by(fx, who.key_id, "acme");
	owned_by(fx, a.id, "acme");
	fx->who = who;
	fixture_settle(fx);
	strcpy(vm, fixture_vm(fx, a.id)->create.vm_id);
	owned_by(fx, vm, "acme");

	assert_int_equal(core_admin_key_revoke(fx->core, who.key_id, on_done,
					       &r, &r.err),
			 0);
	RUN_UNTIL(fx, r.called);
	owned_by(fx, who.key_id, "acme");
	fixture_kill(fx);
	fixture_start(fx);
	owned_by(fx, a.id, "acme");

	owned_by(fx, "cntr_0", "");
	owned_by(fx, "acme", "");
	owned_by(fx, "", "");
}

static void an_expired_key_opens_nothing(void **state)
{
	const struct key_spec spec = { .tenant = "acme",
				       .expires_after_sec = 10 };
	struct fixture *fx = *state;
	struct error err = ERROR_INIT;
	struct principal who;
	char key[128];

	fixture_start(fx);
	tenant_make_key(fx, &spec, key, &who);
	clock_advance(fx->clock, 10 * USEC_PER_SEC);
	assert_true(core_authenticate(fx->core, key, strlen(key), &who, &err) <
		    0);
	assert_string_equal(err.reason, "invalid_api_key");
}

static void the_last_use_is_noted_once_a_minute(void **state)
{
	const struct key_spec spec = { .tenant = "acme" };
	struct fixture *fx = *state;
	struct store_key row;
	struct principal who;
	char key[128];
	usec_t first;

	fixture_start(fx);
	tenant_make_key(fx, &spec, key, &who);
	fixture_settle(fx);
	assert_int_equal(store_key_get(fx->store, who.key_id, &row), 0);
	first = row.last_used_usec;
	assert_int_equal(first, clock_wall(fx->clock));
	clock_advance(fx->clock, 30 * USEC_PER_SEC);
	assert_int_equal(core_authenticate(fx->core, key, strlen(key), &who,
					   NULL),
			 0);
	fixture_settle(fx);
	assert_int_equal(store_key_get(fx->store, who.key_id, &row), 0);
	assert_int_equal(row.last_used_usec, first);
	clock_advance(fx->clock, 31 * USEC_PER_SEC);
	assert_int_equal(core_authenticate(fx->core, key, strlen(key), &who,
					   NULL),
			 0);
	RUN_UNTIL(fx, store_key_get(fx->store, who.key_id, &row) == 0 &&
			      row.last_used_usec > first);
}

enum { WRONG_KEYS = 64 };

/* Keys that are wrong in one byte, each in another way. */
static void spoil(const char *key, size_t at, char ret[WRONG_KEYS][128])
{
	unsigned i;

	for (i = 0; i < WRONG_KEYS; i++) {
		memset(ret[i], 0, sizeof(ret[i]));
		strcpy(ret[i], key);
		ret[i][at] = (char)('!' + i);
		if (ret[i][at] == key[at])
			ret[i][at] = '~';
	}
}

/* What watches memory has times of its own: they are shown, not judged. */
#define TIMES_ARE_OURS (!WITH_ADDRESS_SANITIZER)

/* From one place in memory: where the bytes lie has a time of its own. */
static int64_t time_of(struct fixture *fx, const char *wrong, size_t length)
{
	static char key[128];
	struct timespec from, to;
	struct principal who;

	memcpy(key, wrong, sizeof(key));
	clock_gettime(CLOCK_MONOTONIC, &from);
	assert_true(core_authenticate(fx->core, key, length, &who, NULL) < 0);
	clock_gettime(CLOCK_MONOTONIC, &to);
	return (to.tv_sec - from.tv_sec) * 1000000000ll + to.tv_nsec -
	       from.tv_nsec;
}

/*
 * Pairs of wrong keys, one wrong in its first byte and one in its last: which of
 * the two takes longer is a coin's toss. They are asked in either order, and are
 * many, since two digests may well differ in their time. Ten standard deviations:
 * a machine that does other things must not fail the test, and a comparison byte
 * by byte would always have the same one slower.
 */
static void time_does_not_tell_where_a_key_is_wrong(void **state)
{
	enum { PAIRS = 4096, SIGMA = 32 /* sqrt(PAIRS) / 2 */ };
	static char first[WRONG_KEYS][128], last[WRONG_KEYS][128];
	const struct key_spec spec = { .tenant = "acme" };
	struct fixture *fx = *state;
	int64_t a, b, slower = 0;
	struct principal who;
	char key[128];
	size_t length;
	unsigned i;

	fixture_start(fx);
	tenant_make_key(fx, &spec, key, &who);
	length = strlen(key);
	spoil(key, 0, first);
	spoil(key, length - 1, last);
	for (i = 0; i < PAIRS; i++) {
		unsigned n = i / 2 % WRONG_KEYS;

		if (i & 1) {
			a = time_of(fx, first[n], length);
			b = time_of(fx, last[n], length);
		} else {
			b = time_of(fx, last[n], length);
			a = time_of(fx, first[n], length);
		}
		slower += (a > b) - (a < b);
	}
	print_message("one was slower %lld times more often, of %d\n",
		      (long long)slower, PAIRS);
	if (TIMES_ARE_OURS)
		assert_true(llabs(slower) <= 2 * 10 * SIGMA);
}

static bool file_has(const char *path, const char *text)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(64 * 1024 * 1024);

	return fs_read_file(AT_FDCWD, path, &b) >= 0 &&
	       memmem(b.data, b.length, text, strlen(text));
}

static void a_key_is_nowhere_on_the_disk(void **state)
{
	static const char *const names[] = { "db.sqlite", "db.sqlite-wal" };
	const struct key_spec spec = { .tenant = "acme", .name = "visible" };
	struct fixture *fx = *state;
	struct principal who;
	char key[128], path[128];
	bool seen = false;
	size_t i;

	fixture_start(fx);
	tenant_make_key(fx, &spec, key, &who);
	for (i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s", fx->dir, names[i]);
		assert_false(file_has(path, key));
		seen |= file_has(path, "visible");
	}
	assert_true(seen); /* so the right files were searched */
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(requests_are_counted_and_paced),
		TEST(a_revoked_key_is_told_of_and_its_sessions_stay),
		TEST(whose_a_thing_is_can_be_told),
		TEST(an_expired_key_opens_nothing),
		TEST(the_last_use_is_noted_once_a_minute),
		TEST(time_does_not_tell_where_a_key_is_wrong),
		TEST(a_key_is_nowhere_on_the_disk),
	};

	return RUN_TESTS(tests);
}
