#include "store_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "store/impl.h"
#include "store/writer_impl.h"

struct answers {
	unsigned count;
	int r[64];
};

struct answer {
	struct answers *all;
	unsigned number;
};

static void on_answer(void *userdata, int r)
{
	struct answer *answer = userdata;

	/* In the order in which they were committed. */
	assert_int_equal(answer->number, answer->all->count);
	answer->all->r[answer->all->count++] = r;
}

static int count_commit(void *userdata)
{
	unsigned *count = userdata;

	(*count)++;
	return 0;
}

/* What waits is handed to the thread. */
static void round_of_loop(struct fixture *fx)
{
	assert_true(sd_event_run(fx->event, 0) > 0);
}

static void commit_each(struct fixture *fx, unsigned first, unsigned end,
			unsigned foreign, struct answers *answers,
			struct answer *each)
{
	char id[32];
	unsigned i;

	for (i = first; i < end; i++) {
		struct store_batch *batch = store_batch_new(fx->store);
		struct store_container row;

		(void)snprintf(id, sizeof(id), "cntr_%u", i);
		row = container_row(id, i == foreign ? "nobody" : "t1");
		each[i] = (struct answer){ answers, i };
		(void)store_batch_put_container(batch, &row);
		assert_int_equal(
			store_commit(fx->store, batch, on_answer, &each[i]), 0);
	}
}

/* The first batch is held at its end, so that the others gather. */
static void commit_many(struct fixture *fx, unsigned count, unsigned foreign,
			struct answers *answers, struct answer *each)
{
	assert_int_equal(
		setenv("CUPOLA_FAILPOINT", "store-before-commit:sleep=50", 1),
		0);
	commit_each(fx, 0, 1, foreign, answers, each);
	round_of_loop(fx);
	commit_each(fx, 1, count, foreign, answers, each);
	store_flush(fx->store);
	assert_int_equal(unsetenv("CUPOLA_FAILPOINT"), 0);
	assert_int_equal(answers->count, count);
}

static void batches_that_wait_share_a_transaction(void **state)
{
	struct fixture *fx = *state;
	struct answers answers = { .count = 0 };
	struct answer each[21];
	unsigned transactions = 0, i;

	store_flush(fx->store);
	(void)sqlite3_commit_hook(fx->store->writer->db, count_commit,
				  &transactions);
	commit_many(fx, 21, UINT32_MAX, &answers, each);
	assert_int_equal(transactions, 2);
	for (i = 0; i < 21; i++)
		assert_int_equal(answers.r[i], 0);
}

static void batches_of_one_event_share_a_transaction(void **state)
{
	struct fixture *fx = *state;
	struct answers answers = { .count = 0 };
	struct answer each[3];
	unsigned transactions = 0;

	store_flush(fx->store);
	(void)sqlite3_commit_hook(fx->store->writer->db, count_commit,
				  &transactions);
	commit_each(fx, 0, 3, UINT32_MAX, &answers, each);
	while (answers.count < 3)
		assert_true(sd_event_run(fx->event, UINT64_MAX) >= 0);
	assert_int_equal(transactions, 1);
}

static void a_batch_that_fails_does_so_alone(void **state)
{
	struct fixture *fx = *state;
	struct answers answers = { .count = 0 };
	struct store_container row;
	struct answer each[5];
	unsigned i;

	commit_many(fx, 5, 3, &answers, each);
	for (i = 0; i < 5; i++) {
		char id[32];

		(void)snprintf(id, sizeof(id), "cntr_%u", i);
		assert_int_equal(answers.r[i], i == 3 ? -ENOENT : 0);
		assert_int_equal(store_container_get(fx->store, NULL, id, &row),
				 i == 3 ? -ENOENT : 0);
	}
}

static void a_failing_batch_is_undone_whole(void **state)
{
	struct fixture *fx = *state;
	struct store_batch *batch = store_batch_new(fx->store);
	struct store_container good = container_row("cntr_1", "t1");
	struct store_container bad = container_row("cntr_2", "nobody");

	(void)store_batch_put_container(batch, &good);
	(void)store_batch_put_container(batch, &bad);
	assert_int_equal(fixture_commit(fx, batch), -ENOENT);
	assert_int_equal(store_container_get(fx->store, NULL, "cntr_1", &good),
			 -ENOENT);
}

static void a_transaction_that_fails_is_told_to_all_in_it(void **state)
{
	struct fixture *fx = *state;
	struct store_batch *batch = store_batch_new(fx->store);
	struct store_container row = container_row("cntr_1", "t1");

	assert_int_equal(
		setenv("CUPOLA_FAILPOINT", "store-before-commit:error=5", 1),
		0);
	(void)store_batch_put_container(batch, &row);
	assert_int_equal(fixture_commit(fx, batch), -EIO);
	assert_int_equal(unsetenv("CUPOLA_FAILPOINT"), 0);
	assert_int_equal(store_container_get(fx->store, NULL, "cntr_1", &row),
			 -ENOENT);

	batch = store_batch_new(fx->store);
	(void)store_batch_put_container(batch, &row);
	assert_int_equal(fixture_commit(fx, batch), 0);
}

static void too_many_waiting_batches_are_refused(void **state)
{
	struct fixture *fx = *state;
	struct store_batch *batch;
	unsigned i;
	int r = 0;

	assert_int_equal(
		setenv("CUPOLA_FAILPOINT", "store-before-commit:sleep=200", 1),
		0);
	/* One more than may wait: the first is under way. */
	for (i = 0; i <= STORE_WAITING_MAX && r == 0; i++) {
		batch = store_batch_new(fx->store);
		r = store_commit(fx->store, batch, NULL, NULL);
		if (i == 0)
			round_of_loop(fx);
	}
	assert_int_equal(r, 0);
	batch = store_batch_new(fx->store);
	assert_int_equal(store_commit(fx->store, batch, NULL, NULL), -EAGAIN);
	store_batch_free(batch);
	assert_int_equal(unsetenv("CUPOLA_FAILPOINT"), 0);
	store_flush(fx->store);
}

static void a_batch_has_a_bound(void **state)
{
	struct fixture *fx = *state;
	struct store_batch *batch = store_batch_new(fx->store);
	unsigned i;

	for (i = 0; i < STORE_BATCH_MAX; i++)
		assert_int_equal(store_batch_delete_vm(batch, "vm_1"), 0);
	assert_int_equal(store_batch_delete_vm(batch, "vm_1"), -E2BIG);
	assert_int_equal(store_commit(fx->store, batch, NULL, NULL), -E2BIG);
	store_batch_free(batch);
}

static void a_batch_that_there_was_no_memory_for_fails_in_the_end(void **state)
{
	const struct store_container row = container_row("cntr_1", "t1");
	struct fixture *fx = *state;

	assert_int_equal(store_batch_put_container(NULL, &row), -ENOMEM);
	assert_int_equal(store_batch_delete_file(NULL, "file-1"), -ENOMEM);
	assert_int_equal(
		store_batch_set_counter(NULL, STORE_COUNTER_NEXT_CID, 1),
		-ENOMEM);
	assert_int_equal(store_commit(fx->store, NULL, NULL, NULL), -ENOMEM);
	store_batch_free(NULL);
}

static void what_was_committed_is_there_after_flush(void **state)
{
	struct fixture *fx = *state;
	struct store_batch *batch = store_batch_new(fx->store);
	struct store_container row = container_row("cntr_1", "t1");

	(void)store_batch_put_container(batch, &row);
	assert_int_equal(store_commit(fx->store, batch, NULL, NULL), 0);
	store_flush(fx->store);
	assert_int_equal(store_container_get(fx->store, "t1", "cntr_1", &row),
			 0);
}

/* ------------------------------------------------------------- full disk */

/* A small file system over the fixture's directory, in a mount namespace of
 * this process. */
static int full_setup(void **state)
{
	struct fixture *fx;

	(void)fixture_setup(state);
	fx = *state;
	fixture_close(fx);
	if (unshare(CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", fx->dir, "tmpfs", 0, "size=8m") < 0) {
		fixture_open(fx, 0);
		return 0;
	}
	fixture_open(fx, 0);
	fx->small = true;
	return 0;
}

static int full_teardown(void **state)
{
	struct fixture *fx = *state;

	fixture_close(fx);
	if (fx->small)
		assert_int_equal(umount2(fx->dir, MNT_DETACH), 0);
	fixture_open(fx, 0);
	return fixture_teardown(state);
}

/* Returns the file that takes up all the room. */
static void fill_disk(struct fixture *fx, char path[96])
{
	static const char zeros[64 * 1024];
	_cleanup_close_ int fd = -1;

	(void)snprintf(path, 96, "%s/filler", fx->dir);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	while (write(fd, zeros, sizeof(zeros)) > 0)
		;
	while (write(fd, zeros, 1) > 0)
		;
	assert_int_equal(errno, ENOSPC);
}

static int put_large_execution(struct fixture *fx, const char *id)
{
	const struct store_execution row = execution_row(id, "cntr_1", "t1");
	struct store_record record = { .json_size = 1024 * 1024 };
	struct store_batch *batch = store_batch_new(fx->store);
	char *json = malloc(record.json_size);

	assert_non_null(json);
	memset(json, ' ', record.json_size);
	record.json = json;
	assert_int_equal(store_batch_put_execution(batch, &row, &record), 0);
	free(json);
	return fixture_commit(fx, batch);
}

static void a_full_disk_fails_a_batch_and_the_next_works(void **state)
{
	struct fixture *fx = *state;
	struct store_tenant tenant = { .id = "t1" };
	struct store_container row = container_row("cntr_1", "t1");
	struct store_execution execution;
	struct store_batch *batch;
	char filler[96];

	if (!fx->small)
		skip();
	batch = store_batch_new(fx->store);
	(void)store_batch_put_tenant(batch, &tenant);
	(void)store_batch_put_container(batch, &row);
	assert_int_equal(fixture_commit(fx, batch), 0);

	fill_disk(fx, filler);
	assert_int_equal(put_large_execution(fx, "exec_1"), -ENOSPC);
	/* What can be read can be read on. */
	assert_int_equal(store_container_get(fx->store, "t1", "cntr_1", &row),
			 0);
	assert_int_equal(store_execution_get(fx->store, "t1", "cntr_1",
					     "exec_1", &execution),
			 -ENOENT);
	assert_int_equal(unlink(filler), 0);
	assert_int_equal(put_large_execution(fx, "exec_1"), 0);
}

static void a_full_disk_fails_a_blob_and_leaves_nothing(void **state)
{
	struct fixture *fx = *state;
	char filler[96], data[32 * 1024];

	if (!fx->small)
		skip();
	memset(data, 'x', sizeof(data));
	fill_disk(fx, filler);
	assert_int_equal(fixture_write_blob(fx, data, sizeof(data), NULL, NULL),
			 -ENOSPC);
	assert_int_equal(fixture_count_blobs(fx), 0);
	assert_int_equal(unlink(filler), 0);
	assert_int_equal(fixture_write_blob(fx, data, sizeof(data), NULL, NULL),
			 0);
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
#define FULL_TEST(name) \
	cmocka_unit_test_setup_teardown(name, full_setup, full_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(batches_that_wait_share_a_transaction),
		TEST(batches_of_one_event_share_a_transaction),
		TEST(a_batch_that_fails_does_so_alone),
		TEST(a_failing_batch_is_undone_whole),
		TEST(a_transaction_that_fails_is_told_to_all_in_it),
		TEST(too_many_waiting_batches_are_refused),
		TEST(a_batch_has_a_bound),
		TEST(a_batch_that_there_was_no_memory_for_fails_in_the_end),
		TEST(what_was_committed_is_there_after_flush),
		FULL_TEST(a_full_disk_fails_a_batch_and_the_next_works),
		FULL_TEST(a_full_disk_fails_a_blob_and_leaves_nothing),
	};

	return RUN_TESTS(tests);
}
