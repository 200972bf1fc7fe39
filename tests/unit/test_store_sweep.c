#include "store_fixture.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void put_expiring_files(struct fixture *fx, unsigned count)
{
	struct store_batch *batch = store_batch_new(fx->store);
	struct blob_info blob;
	unsigned i;

	assert_int_equal(fixture_write_blob(fx, "x", 1, NULL, &blob), 0);
	for (i = 0; i < count; i++) {
		struct store_file row;
		char id[32];

		(void)snprintf(id, sizeof(id), "file-%u", i);
		row = file_row(id, "t1", &blob);
		row.expires_usec = 100;
		(void)store_batch_put_file(batch, &row);
	}
	assert_int_equal(fixture_commit(fx, batch), 0);
}

static void files_go_when_their_time_has_come(void **state)
{
	struct fixture *fx = *state;
	struct store_sweep_spec spec = { .now_usec = 99 };
	struct store_file row;

	put_expiring_files(fx, 1);
	assert_int_equal(fixture_sweep(fx, &spec).files, 0);
	assert_int_equal(store_file_get(fx->store, "t1", "file-0", &row), 0);
	spec.now_usec = 100;
	assert_int_equal(fixture_sweep(fx, &spec).files, 1);
	assert_int_equal(store_file_get(fx->store, "t1", "file-0", &row),
			 -ENOENT);
	assert_int_equal(fixture_count_blobs(fx), 0);
}

static void a_sweep_is_bounded_and_says_so(void **state)
{
	const struct store_sweep_spec spec = { .now_usec = 100 };
	struct fixture *fx = *state;
	struct store_swept swept;

	put_expiring_files(fx, STORE_SWEEP_MAX + 1);
	swept = fixture_sweep(fx, &spec);
	assert_int_equal(swept.files, STORE_SWEEP_MAX);
	assert_true(swept.more);
	assert_int_equal(fixture_count_blobs(fx), 1);
	swept = fixture_sweep(fx, &spec);
	assert_int_equal(swept.files, 1);
	assert_false(swept.more);
	assert_int_equal(fixture_count_blobs(fx), 0);
}

/* One that ended at 100, one that lives, with a file and an execution each. */
static void put_containers(struct fixture *fx)
{
	struct store_batch *batch = store_batch_new(fx->store);
	struct store_container row = container_row("cntr_old", "t1");
	struct store_execution execution =
		execution_row("exec_old", "cntr_old", "t1");
	const struct store_record record = { .json = "{}", .json_size = 2 };
	struct store_cfile cfile;
	struct blob_info blob;

	assert_int_equal(fixture_write_blob(fx, "x", 1, NULL, &blob), 0);
	row.ended_usec = 100;
	execution.ended_usec = 90;
	(void)store_batch_put_container(batch, &row);
	(void)store_batch_put_execution(batch, &execution, &record);
	cfile = cfile_row("cfile_old", "cntr_old", "t1", "/mnt/data/a", &blob);
	(void)store_batch_put_cfile(batch, &cfile);
	row = container_row("cntr_live", "t1");
	execution = execution_row("exec_live", "cntr_live", "t1");
	cfile = cfile_row("cfile_live", "cntr_live", "t1", "/mnt/data/a",
			  &blob);
	(void)store_batch_put_container(batch, &row);
	(void)store_batch_put_execution(batch, &execution, &record);
	(void)store_batch_put_cfile(batch, &cfile);
	assert_int_equal(fixture_commit(fx, batch), 0);
}

static void what_lives_is_never_swept(void **state)
{
	const struct store_sweep_spec spec = {
		.now_usec = INT64_MAX,
		.cfiles_before_usec = INT64_MAX,
		.executions_before_usec = INT64_MAX,
		.containers_before_usec = INT64_MAX,
	};
	struct fixture *fx = *state;
	struct store_execution execution;
	struct store_container row;
	struct store_cfile cfile;
	struct store_swept swept;

	put_containers(fx);
	swept = fixture_sweep(fx, &spec);
	assert_int_equal(swept.containers, 1);
	assert_int_equal(swept.cfiles, 1);
	assert_int_equal(swept.executions, 1);
	assert_int_equal(store_container_get(fx->store, NULL, "cntr_old", &row),
			 -ENOENT);
	assert_int_equal(
		store_container_get(fx->store, "t1", "cntr_live", &row), 0);
	assert_int_equal(store_execution_get(fx->store, "t1", "cntr_live",
					     "exec_live", &execution),
			 0);
	assert_int_equal(store_cfile_get(fx->store, "t1", "cntr_live",
					 "cfile_live", &cfile),
			 0);
	assert_int_equal(fixture_count_blobs(fx), 1);
}

static void a_container_stays_as_long_as_its_files(void **state)
{
	const struct store_sweep_spec spec = {
		.cfiles_before_usec = 100,
		.executions_before_usec = 100,
		.containers_before_usec = 101,
	};
	struct fixture *fx = *state;
	struct store_container row;
	struct store_swept swept;
	struct store_cfile cfile;

	put_containers(fx);
	swept = fixture_sweep(fx, &spec);
	assert_int_equal(swept.cfiles, 0);
	assert_int_equal(swept.executions, 1);
	assert_int_equal(swept.containers, 0);
	assert_int_equal(store_container_get(fx->store, "t1", "cntr_old", &row),
			 0);
	assert_int_equal(store_cfile_get(fx->store, "t1", "cntr_old",
					 "cfile_old", &cfile),
			 0);
}

static void answers_are_forgotten_after_a_day(void **state)
{
	const usec_t begin = 1000 * USEC_PER_DAY;
	struct store_sweep_spec spec = { .now_usec = begin + USEC_PER_DAY - 1 };
	struct fixture *fx = *state;
	struct store_batch *batch = store_batch_new(fx->store);
	struct store_idempotency row = { .created_usec = begin };

	COPY(row.tenant, "t1");
	COPY(row.key, "k");
	(void)store_batch_add_idempotency(batch, &row);
	assert_int_equal(fixture_commit(fx, batch), 0);
	assert_int_equal(fixture_sweep(fx, &spec).answers, 0);
	spec.now_usec++;
	assert_int_equal(fixture_sweep(fx, &spec).answers, 1);
}

static void ignore_sweep(void *userdata, int r, const struct store_swept *swept)
{
	(void)swept;
	assert_int_equal(r, 0);
	*(bool *)userdata = true;
}

static void one_sweep_at_a_time(void **state)
{
	const struct store_sweep_spec spec = { .now_usec = 1 };
	struct fixture *fx = *state;
	bool done = false;

	assert_int_equal(store_sweep(fx->store, &spec, ignore_sweep, &done), 0);
	assert_int_equal(store_sweep(fx->store, &spec, ignore_sweep, &done),
			 -EBUSY);
	store_flush(fx->store);
	assert_true(done);
	assert_int_equal(store_sweep(fx->store, &spec, ignore_sweep, &done), 0);
	store_flush(fx->store);
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(files_go_when_their_time_has_come),
		TEST(a_sweep_is_bounded_and_says_so),
		TEST(what_lives_is_never_swept),
		TEST(a_container_stays_as_long_as_its_files),
		TEST(answers_are_forgotten_after_a_day),
		TEST(one_sweep_at_a_time),
	};

	return RUN_TESTS(tests);
}
