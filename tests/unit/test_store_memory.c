/* What happens when the n-th allocation fails, for every n. */

#include "store_fixture.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

/* Successful allocations that are left; -1: no end. Read and written by the
 * worker threads, too, but never by two at a time: the loop waits. */
static long left = -1;
static bool failed;

static bool may_allocate(void)
{
	if (left < 0)
		return true;
	if (left == 0) {
		failed = true;
		return false;
	}
	left--;
	return true;
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

/*
 * Tries @action with one more allocation each time, until none fails. A failed
 * try must say so, and must leave everything as it was.
 */
static void try_all(struct fixture *fx, int (*action)(struct fixture *fx))
{
	long n;
	int r;

	for (n = 0; n < 1000; n++) {
		failed = false;
		left = n;
		r = action(fx);
		left = -1;
		if (!failed) {
			assert_int_equal(r, 0);
			assert_true(n > 0);
			return;
		}
		assert_true(r < 0);
	}
	fail_msg("there was no end to allocations");
}

static int open_all(struct fixture *fx)
{
	const struct blobs_config blobs = {
		.event = fx->event,
		.dir = fx->blob_dir,
	};
	struct store_config config = {
		.event = fx->event,
		.path = fx->db_path,
	};
	struct error err = ERROR_INIT;
	int r;

	r = blobs_open(&blobs, &fx->blobs, &err);
	if (r >= 0) {
		config.blobs = fx->blobs;
		r = store_open(&config, &fx->store, &err);
	}
	assert_true(r >= 0 || error_is_set(&err));
	if (r < 0) {
		blobs_free(fx->blobs);
		fx->blobs = NULL;
	}
	return r;
}

static void opening_fails_cleanly(void **state)
{
	struct fixture *fx = *state;

	fixture_close(fx);
	try_all(fx, open_all);
}

struct written {
	bool done;
	int r;
	struct blob_info info;
};

static void on_written(void *userdata, int r, const struct blob_info *info)
{
	struct written *written = userdata;

	written->done = true;
	written->r = r;
	if (info)
		written->info = *info;
}

static int write_blob(struct fixture *fx, struct blob_writer *writer,
		      const struct written *written)
{
	ssize_t n;
	int r = 0;

	n = blob_writer_append(writer, "hello", 5);
	if (n >= 0)
		r = blob_writer_finish(writer);
	while (!written->done)
		assert_true(sd_event_run(fx->event, UINT64_MAX) >= 0);
	if (n < 0)
		assert_int_equal(written->r, n);
	return r < 0 ? r : written->r;
}

static int put_file(struct fixture *fx, const struct blob_info *info)
{
	const struct store_file row = file_row("file-1", "t1", info);
	struct store_batch *batch = store_batch_new(fx->store);
	int put, r;

	put = store_batch_put_file(batch, &row);
	r = fixture_commit(fx, batch);
	assert_true(put >= 0 || put == r);
	return r;
}

static int upload(struct fixture *fx)
{
	struct written written = { .done = false };
	const struct blob_spec spec = {
		.expected_bytes = 5,
		.max_bytes = 5,
		.done = on_written,
		.userdata = &written,
	};
	struct blob_writer *writer;
	int r;

	r = blob_writer_new(fx->blobs, &spec, &writer);
	if (r < 0)
		return r;
	r = write_blob(fx, writer, &written);
	if (r >= 0)
		r = put_file(fx, &written.info);
	blob_writer_free(writer);
	return r;
}

static void uploading_fails_cleanly(void **state)
{
	const struct store_sweep_spec nothing = { .now_usec = 0 };
	struct fixture *fx = *state;
	struct store_file row;
	uint64_t size;
	int fd;

	try_all(fx, upload);
	(void)fixture_sweep(fx, &nothing);
	assert_int_equal(fixture_count_blobs(fx), 1);
	assert_int_equal(store_file_get(fx->store, "t1", "file-1", &row), 0);
	assert_int_equal(blob_open(fx->blobs, row.sha256, &fd, &size), 0);
	close_fd(&fd);
}

static int read_record(struct fixture *fx)
{
	_cleanup_(buf_done) struct buf buf = BUF_INIT(STORE_RECORD_MAX);
	struct store_record record;

	return store_execution_record(fx->store, "exec_1", &buf, &record);
}

static void reading_a_record_fails_cleanly(void **state)
{
	const struct store_execution row =
		execution_row("exec_1", "cntr_1", "t1");
	const struct store_container container = container_row("cntr_1", "t1");
	const struct store_record record = { .json = "{}", .json_size = 2 };
	struct fixture *fx = *state;
	struct store_batch *batch = store_batch_new(fx->store);

	(void)store_batch_put_container(batch, &container);
	(void)store_batch_put_execution(batch, &row, &record);
	assert_int_equal(fixture_commit(fx, batch), 0);
	try_all(fx, read_record);
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(opening_fails_cleanly),
		TEST(uploading_fails_cleanly),
		TEST(reading_a_record_fails_cleanly),
	};

	return RUN_TESTS(tests);
}
