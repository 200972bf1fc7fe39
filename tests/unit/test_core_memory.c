/* SPDX-License-Identifier: Apache-2.0 */
/* A call of core for which the n-th allocation fails, for every n. */

#include "core_fixture.h"

#include "core/container.h"
#include "core/core_exec.h"
#include "core/owed.h"
#include "core/vm.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *text);

/* Of the thread that calls core: until the one that fails; -1: none does. */
static __thread long left = -1;
static bool failed;

static bool may_allocate(void)
{
	if (left < 0 || left-- > 0)
		return true;
	failed = true;
	return false;
}

void *__wrap_malloc(size_t size)
{
	return may_allocate() ? __real_malloc(size) : NULL;
}

void *__wrap_calloc(size_t count, size_t size)
{
	return may_allocate() ? __real_calloc(count, size) : NULL;
}

void *__wrap_realloc(void *old, size_t size)
{
	return may_allocate() ? __real_realloc(old, size) : NULL;
}

char *__wrap_strdup(const char *text)
{
	return may_allocate() ? __real_strdup(text) : NULL;
}

enum { TRIES_MAX = 1000 };

/* A call of core; @a is what is said later. Return: as the call does */
typedef int (*call_fn)(struct fixture *fx, const char *c, struct answer *a);

/*
 * Either the call fails and says so, or its callback does, or it has gone well
 * without; and the next call finds everything as it should be.
 */
static void try_all(struct fixture *fx, const char *c, call_fn call,
		    void (*then)(struct fixture *fx, const char *c,
				 const struct answer *a))
{
	struct answer a;
	long n;
	int r;

	for (n = 0; n < TRIES_MAX; n++) {
		a = (struct answer){ .called = false };
		failed = false;
		left = n;
		r = call(fx, c, &a);
		left = -1;
		if (r < 0)
			assert_true(failed && error_is_set(&a.err));
		else
			RUN_UNTIL(fx, a.called);
		if (r >= 0 && !a.failed)
			then(fx, c, &a);
		if (!failed) {
			assert_true(n > 0 && r >= 0 && !a.failed);
			return;
		}
	}
	fail_msg("there was no end to allocations");
}

static int create(struct fixture *fx, const char *c, struct answer *a)
{
	const struct container_spec spec = {
		.name = "x",
		.idempotency = { .key = NULL },
	};

	(void)c;
	return core_container_create(fx->core, &fx->who, &spec, on_container,
				     a, &a->err);
}

static void erase(struct fixture *fx, const char *c, const struct answer *a)
{
	struct answer gone = { .called = false };

	(void)c;
	assert_int_equal(core_container_delete(fx->core, &fx->who, a->id,
					       on_done, &gone, &gone.err),
			 0);
	RUN_UNTIL(fx, gone.called && vmd_running(&fx->vmd) == 0);
	fixture_settle(fx);
}

/* There is room for one: what a failed create kept would stop the next. */
static void a_create_without_memory_keeps_nothing(void **state)
{
	struct fixture *fx = *state;

	fixture_set(fx, "pool.default.max=1");
	fixture_set(fx, "session.max_per_tenant=1");
	fixture_start(fx);
	try_all(fx, NULL, create, erase);
	assert_int_equal(vmd_running(&fx->vmd), 0);
}

static int run(struct fixture *fx, const char *c, struct answer *a)
{
	const struct exec_spec spec = { .code = "x", .code_len = 1,
					.stdin_data = "" };

	return core_exec_start(fx->core, &fx->who, c, &spec, on_exec, a,
			       &a->err);
}

/* What the guest was told to run: no more than what has gone well. */
static unsigned runs;

static void finish(struct fixture *fx, const char *c, const struct answer *a)
{
	struct scripted_guest *g = fixture_guest(fx, c);

	runs++;
	if (failed)
		clock_advance(fx->clock, CONTAINER_PUMP_USEC);
	RUN_UNTIL(fx, g->execs >= runs);
	assert_int_equal(g->execs, runs);
	guest_finish(g, WIRE_STATUS_OK, 0);
	fixture_wait_exec(fx, c, a->id, EXEC_OK);
}

/* One execution at a time: what a failed one kept would stop the next. */
static void an_execution_without_memory_keeps_nothing(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE];

	fixture_set(fx, "tenant.executions=1");
	fixture_start(fx);
	(void)fixture_session(fx, c);
	runs = 0;
	try_all(fx, c, run, finish);
	assert_int_equal(fixture_container(fx, c).state, SESSION_VIEW_RUNNING);
}

static void count_vm(void *userdata, const struct store_vm *row)
{
	(void)row;
	++*(unsigned *)userdata;
}

static void count_container(void *userdata, const struct store_container *row)
{
	(void)row;
	++*(unsigned *)userdata;
}

/* Lines of VMs, and rows of containers that live */
static unsigned ledger_count(struct fixture *fx)
{
	unsigned count = 0;

	assert_int_equal(store_vm_each(fx->store, count_vm, &count), 0);
	assert_int_equal(
		store_container_each_live(fx->store, count_container, &count),
		0);
	return count;
}

/* Nobody waits for what has happened: it is written once there is memory. */
static void an_end_without_memory_is_written_later(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE];
	long n;

	fixture_set(fx, "pool.default.max=1");
	fixture_start(fx);
	for (n = 0, failed = true; failed && n < TRIES_MAX; n++) {
		struct vmd_gone gone = { .reason = VMD_REASON_CRASHED };
		struct scripted_vm *vm;

		(void)fixture_session(fx, c);
		vm = fixture_vm(fx, c);
		strcpy(gone.vm_id, vm->create.vm_id);
		failed = false;
		left = n;
		core_vmd_gone(fx->core, &gone);
		left = -1;
		/* Told again, as by a list. */
		vmd_vm_gone(&fx->vmd, vm, VMD_REASON_CRASHED);
		fixture_settle(fx);
		clock_advance(fx->clock, OWED_RETRY_USEC);
		fixture_settle(fx);
		assert_int_equal(ledger_count(fx), 0);
	}
	assert_in_range(n, 5, TRIES_MAX - 1);
}

int main(void)
{
#define TEST(f) \
	cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_create_without_memory_keeps_nothing),
		TEST(an_execution_without_memory_keeps_nothing),
		TEST(an_end_without_memory_is_written_later),
	};

	return RUN_TESTS(tests);
}
