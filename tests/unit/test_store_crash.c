/* Daemons that die in the middle, and what the next one finds. */

#include "store_fixture.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "store/store_usage.h"

/* Runs @body as a daemon of its own until SIGKILL, then starts the next. */
static void die_in(struct fixture *fx, const char *failpoint,
		   void (*body)(struct fixture *fx))
{
	int status;
	pid_t pid;

	fixture_close(fx);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (failpoint)
			(void)setenv("CUPOLA_FAILPOINT", failpoint, 1);
		fx->event = NULL; /* the parent's */
		if (sd_event_new(&fx->event) < 0)
			_exit(1);
		fixture_open(fx, 0);
		body(fx);
		_exit(2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
	fixture_open(fx, 0);
	store_flush(fx->store);
}

static void put_container_and_file(struct fixture *fx)
{
	struct store_batch *batch = store_batch_new(fx->store);
	struct store_container container = container_row("cntr_1", "t1");
	struct blob_info blob;
	struct store_file file;

	if (fixture_write_blob(fx, "x", 1, NULL, &blob) < 0)
		_exit(3);
	file = file_row("file-1", "t1", &blob);
	(void)store_batch_put_container(batch, &container);
	(void)store_batch_put_file(batch, &file);
	(void)fixture_commit(fx, batch);
}

static void killed_before_the_commit_nothing_has_happened(void **state)
{
	struct fixture *fx = *state;
	struct store_container container;
	struct store_file file;

	die_in(fx, "store-before-commit:kill9", put_container_and_file);
	assert_int_equal(
		store_container_get(fx->store, NULL, "cntr_1", &container),
		-ENOENT);
	assert_int_equal(store_file_get(fx->store, "t1", "file-1", &file),
			 -ENOENT);
	assert_int_equal(fixture_count_blobs(fx), 0);
}

static void killed_after_the_commit_all_of_it_has(void **state)
{
	struct fixture *fx = *state;
	struct store_container container;
	struct store_file file;
	uint64_t size;
	int fd;

	die_in(fx, "store-after-commit:kill9", put_container_and_file);
	assert_int_equal(
		store_container_get(fx->store, "t1", "cntr_1", &container), 0);
	assert_int_equal(store_file_get(fx->store, "t1", "file-1", &file), 0);
	assert_int_equal(blob_open(fx->blobs, file.sha256, &fd, &size), 0);
	assert_int_equal(size, 1);
	close_fd(&fd);
}

static void killed_between_blob_and_row_the_blob_goes(void **state)
{
	struct fixture *fx = *state;

	die_in(fx, "blob-after-rename:kill9", put_container_and_file);
	assert_int_equal(fixture_count_blobs(fx), 0);
}

static void delete_file(struct fixture *fx)
{
	struct store_batch *batch = store_batch_new(fx->store);

	(void)store_batch_delete_file(batch, "file-1");
	(void)fixture_commit(fx, batch);
}

static void killed_between_row_and_blob_the_blob_goes(void **state)
{
	const struct store_sweep_spec nothing = { .now_usec = 0 };
	struct fixture *fx = *state;
	struct store_file file;

	put_container_and_file(fx);
	die_in(fx, "store-after-commit:kill9", delete_file);
	assert_int_equal(store_file_get(fx->store, "t1", "file-1", &file),
			 -ENOENT);
	assert_int_equal(fixture_sweep(fx, &nothing).blobs, 1);
	assert_int_equal(fixture_count_blobs(fx), 0);
}

static int announce_fd;

/* Two rows per batch; the number is told when they are durable. */
static void put_pairs_until_killed(struct fixture *fx)
{
	unsigned i;

	for (i = 0; i < 100000; i++) {
		struct store_batch *batch = store_batch_new(fx->store);
		struct store_container row;
		char id[32];

		(void)snprintf(id, sizeof(id), "cntr_a%u", i);
		row = container_row(id, "t1");
		(void)store_batch_put_container(batch, &row);
		(void)snprintf(id, sizeof(id), "cntr_b%u", i);
		row = container_row(id, "t1");
		(void)store_batch_put_container(batch, &row);
		if (fixture_commit(fx, batch) < 0)
			_exit(4);
		if (write(announce_fd, &i, sizeof(i)) != sizeof(i))
			_exit(5);
		/* At an uneven moment, from another process. */
		if (i == 30 && fork() == 0) {
			(void)usleep(1234);
			(void)kill(getppid(), SIGKILL);
			_exit(0);
		}
	}
}

static void what_was_announced_is_there_whenever_it_is_killed(void **state)
{
	struct fixture *fx = *state;
	struct store_container row;
	unsigned announced = 0, i;
	int pipes[2];
	char id[32];

	assert_int_equal(pipe(pipes), 0);
	announce_fd = pipes[1];
	die_in(fx, NULL, put_pairs_until_killed);
	close_fd(&pipes[1]);
	while (read(pipes[0], &i, sizeof(i)) == sizeof(i))
		announced = i;
	close_fd(&pipes[0]);
	assert_true(announced >= 30);

	for (i = 0; i <= announced + 1; i++) {
		int a, b;

		(void)snprintf(id, sizeof(id), "cntr_a%u", i);
		a = store_container_get(fx->store, "t1", id, &row);
		(void)snprintf(id, sizeof(id), "cntr_b%u", i);
		b = store_container_get(fx->store, "t1", id, &row);
		assert_int_equal(a, b);
		if (i <= announced)
			assert_int_equal(a, 0);
	}
}

/* The end of a session and what it used, as core writes them: in one batch. */
static int close_batch(struct fixture *fx)
{
	struct store_batch *batch = store_batch_new(fx->store);
	struct store_container container = container_row("cntr_1", "t1");
	struct store_usage usage = { .amount = 60, .at_usec = 1 };

	COPY(usage.tenant, "t1");
	COPY(usage.container_id, "cntr_1");
	COPY(usage.kind, "ended");
	container.ended_usec = 1;
	(void)store_batch_put_container(batch, &container);
	(void)store_batch_add_usage(batch, &usage);
	return fixture_commit(fx, batch);
}

static void close_account(struct fixture *fx)
{
	(void)close_batch(fx);
}

static void killed_at_the_end_of_a_session_its_account_is_closed_once(
	void **state)
{
	struct fixture *fx = *state;
	struct store_container container;
	uint64_t assigned = 1;

	die_in(fx, "store-before-commit:kill9", close_account);
	assert_int_equal(store_usage_assigned(fx->store, "t1", 0, &assigned),
			 0);
	assert_int_equal(assigned, 0);
	assert_int_equal(
		store_container_get(fx->store, NULL, "cntr_1", &container),
		-ENOENT);
	die_in(fx, "store-after-commit:kill9", close_account);
	assert_int_equal(store_usage_assigned(fx->store, "t1", 0, &assigned),
			 0);
	assert_int_equal(assigned, 60);
	assert_int_equal(
		store_container_get(fx->store, NULL, "cntr_1", &container), 0);
	assert_int_equal(container.ended_usec, 1);
	/* Whoever tried again would change nothing. */
	assert_int_equal(close_batch(fx), -EEXIST);
	assert_int_equal(store_usage_assigned(fx->store, "t1", 0, &assigned),
			 0);
	assert_int_equal(assigned, 60);
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(killed_at_the_end_of_a_session_its_account_is_closed_once),
		TEST(killed_before_the_commit_nothing_has_happened),
		TEST(killed_after_the_commit_all_of_it_has),
		TEST(killed_between_blob_and_row_the_blob_goes),
		TEST(killed_between_row_and_blob_the_blob_goes),
		TEST(what_was_announced_is_there_whenever_it_is_killed),
	};

	return RUN_TESTS(tests);
}
