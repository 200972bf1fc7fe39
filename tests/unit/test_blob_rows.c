/* SPDX-License-Identifier: Apache-2.0 */
#include "store_fixture.h"

#include <errno.h>

#include "base/cleanup.h"

/* A blob lives as long as a row or a writer holds it. */

static void a_blob_without_a_row_is_collected(void **state)
{
	const struct store_sweep_spec nothing = { .now_usec = 0 };
	struct fixture *fx = *state;
	struct blob_writer *writer;
	struct blob_info info;
	uint64_t size;
	int fd;

	/* Held by its writer it stays, */
	assert_int_equal(fixture_write_blob(fx, "x", 1, &writer, &info), 0);
	assert_int_equal(fixture_sweep(fx, &nothing).blobs, 0);
	assert_int_equal(blob_open(fx->blobs, info.sha256, &fd, &size), 0);
	/* then the next sweep takes it; open descriptors are not troubled. */
	blob_writer_free(writer);
	assert_int_equal(fixture_sweep(fx, &nothing).blobs, 1);
	assert_int_equal(fixture_count_blobs(fx), 0);
	close_fd(&fd);

	/* Or the next start. */
	assert_int_equal(fixture_write_blob(fx, "x", 1, NULL, &info), 0);
	fixture_close(fx);
	fixture_open(fx, 0);
	store_flush(fx->store);
	assert_int_equal(fixture_count_blobs(fx), 0);
}

static void a_row_keeps_its_blob(void **state)
{
	const struct store_sweep_spec nothing = { .now_usec = 0 };
	struct fixture *fx = *state;
	struct store_batch *batch;
	struct blob_info info;
	struct blob_writer *writer;
	struct store_file row;

	assert_int_equal(fixture_write_blob(fx, "x", 1, &writer, &info), 0);
	row = file_row("file-1", "t1", &info);
	batch = store_batch_new(fx->store);
	(void)store_batch_put_file(batch, &row);
	/* From here on the batch holds it. */
	blob_writer_free(writer);
	assert_int_equal(fixture_sweep(fx, &nothing).blobs, 0);
	assert_int_equal(fixture_commit(fx, batch), 0);
	assert_int_equal(fixture_sweep(fx, &nothing).blobs, 0);
	fixture_close(fx);
	fixture_open(fx, 0);
	store_flush(fx->store);
	assert_int_equal(fixture_sweep(fx, &nothing).blobs, 0);
	assert_int_equal(fixture_count_blobs(fx), 1);
}

static void a_failed_batch_gives_its_blob_up(void **state)
{
	const struct store_sweep_spec nothing = { .now_usec = 0 };
	struct fixture *fx = *state;
	struct store_batch *batch = store_batch_new(fx->store);
	struct blob_info info;
	struct store_file row;

	assert_int_equal(fixture_write_blob(fx, "x", 1, NULL, &info), 0);
	row = file_row("file-1", "no-such-tenant", &info);
	(void)store_batch_put_file(batch, &row);
	assert_int_equal(fixture_commit(fx, batch), -ENOENT);
	assert_int_equal(fixture_sweep(fx, &nothing).blobs, 1);
	assert_int_equal(fixture_count_blobs(fx), 0);
}

static void a_row_cannot_name_a_blob_that_is_not_there(void **state)
{
	struct fixture *fx = *state;
	struct store_batch *batch = store_batch_new(fx->store);
	struct blob_info info = { .bytes = 1 };
	struct store_file row = file_row("file-1", "t1", &info);

	(void)store_batch_put_file(batch, &row);
	assert_int_equal(fixture_commit(fx, batch), -ENOENT);
}

static void the_same_content_is_stored_once(void **state)
{
	struct fixture *fx = *state;
	struct store_batch *batch = store_batch_new(fx->store);
	struct blob_info one, two;
	struct store_file row;

	assert_int_equal(fixture_write_blob(fx, "x", 1, NULL, &one), 0);
	assert_int_equal(fixture_write_blob(fx, "x", 1, NULL, &two), 0);
	assert_memory_equal(one.sha256, two.sha256, HASH_SIZE);
	row = file_row("file-1", "t1", &one);
	(void)store_batch_put_file(batch, &row);
	row = file_row("file-2", "t2", &two);
	(void)store_batch_put_file(batch, &row);
	assert_int_equal(fixture_commit(fx, batch), 0);
	assert_int_equal(fixture_count_blobs(fx), 1);

	batch = store_batch_new(fx->store);
	(void)store_batch_delete_file(batch, "file-1");
	assert_int_equal(fixture_commit(fx, batch), 0);
	assert_int_equal(fixture_count_blobs(fx), 1);
	batch = store_batch_new(fx->store);
	(void)store_batch_delete_file(batch, "file-2");
	assert_int_equal(fixture_commit(fx, batch), 0);
	assert_int_equal(fixture_count_blobs(fx), 0);
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_blob_without_a_row_is_collected),
		TEST(a_row_keeps_its_blob),
		TEST(a_failed_batch_gives_its_blob_up),
		TEST(a_row_cannot_name_a_blob_that_is_not_there),
		TEST(the_same_content_is_stored_once),
	};

	return RUN_TESTS(tests);
}
