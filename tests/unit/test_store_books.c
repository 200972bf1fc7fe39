#include "store_fixture.h"

#include <string.h>
#include <sys/stat.h>

/* Counters, totals and usage, and what is there once for a database. */

static void the_next_cid_never_runs_backwards(void **state)
{
	struct fixture *fx = *state;
	struct store_batch *batch = store_batch_new(fx->store);
	uint64_t value = 7;

	assert_int_equal(
		store_counter_get(fx->store, STORE_COUNTER_NEXT_CID, &value),
		0);
	assert_int_equal(value, 0);
	(void)store_batch_set_counter(batch, STORE_COUNTER_NEXT_CID, 65540);
	(void)store_batch_set_counter(batch, STORE_COUNTER_NEXT_CID, 65538);
	assert_int_equal(fixture_commit(fx, batch), 0);
	assert_int_equal(
		store_counter_get(fx->store, STORE_COUNTER_NEXT_CID, &value),
		0);
	assert_int_equal(value, 65540);
}

static void
the_begin_and_the_deadline_of_a_drain_can_be_taken_back(void **state)
{
	static const enum store_counter both[] = {
		STORE_COUNTER_DRAIN_SINCE,
		STORE_COUNTER_DRAIN_DEADLINE,
	};
	struct fixture *fx = *state;
	struct store_batch *batch = store_batch_new(fx->store);
	uint64_t value;
	size_t i;

	for (i = 0; i < 2; i++) {
		(void)store_batch_set_counter(batch, both[i], 12);
		(void)store_batch_set_counter(batch, both[i], 0);
	}
	assert_int_equal(fixture_commit(fx, batch), 0);
	for (i = 0; i < 2; i++) {
		assert_int_equal(store_counter_get(fx->store, both[i], &value),
				 0);
		assert_int_equal(value, 0);
	}
}

static void totals_follow_every_row(void **state)
{
	struct fixture *fx = *state;
	struct store_container container = container_row("cntr_1", "t1");
	struct store_batch *batch = store_batch_new(fx->store);
	struct store_totals totals;
	struct store_cfile cfile;
	struct store_file file;
	struct blob_info blob;

	assert_int_equal(fixture_write_blob(fx, "1234", 4, NULL, &blob), 0);
	file = file_row("file-1", "t1", &blob);
	cfile = cfile_row("cfile_1", "cntr_1", "t1", "/mnt/data/a", &blob);
	(void)store_batch_put_file(batch, &file);
	COPY(file.id, "file-2");
	(void)store_batch_put_file(batch, &file);
	(void)store_batch_put_container(batch, &container);
	(void)store_batch_put_cfile(batch, &cfile);
	assert_int_equal(fixture_commit(fx, batch), 0);
	assert_int_equal(store_tenant_totals(fx->store, "t1", &totals), 0);
	assert_int_equal(totals.files, 2);
	assert_int_equal(totals.file_bytes, 8);
	assert_int_equal(totals.cfiles, 1);
	assert_int_equal(totals.cfile_bytes, 4);
	assert_int_equal(totals.live_containers, 1);

	batch = store_batch_new(fx->store);
	(void)store_batch_delete_file(batch, "file-1");
	(void)store_batch_erase_container(batch, "cntr_1");
	container.ended_usec = 1;
	(void)store_batch_put_container(batch, &container);
	assert_int_equal(fixture_commit(fx, batch), 0);
	assert_int_equal(store_tenant_totals(fx->store, "t1", &totals), 0);
	assert_int_equal(totals.files, 1);
	assert_int_equal(totals.file_bytes, 4);
	assert_int_equal(totals.cfiles, 0);
	assert_int_equal(totals.live_containers, 0);
	/* file-2 still needs it */
	assert_int_equal(fixture_count_blobs(fx), 1);
	assert_int_equal(store_tenant_totals(fx->store, "nobody", &totals), 0);
	assert_int_equal(totals.files, 0);
}

static void usage_is_appended(void **state)
{
	struct fixture *fx = *state;
	struct store_batch *batch = store_batch_new(fx->store);
	struct store_usage row = { .amount = 1, .at_usec = 2 };

	COPY(row.tenant, "t1");
	COPY(row.kind, "created");
	(void)store_batch_add_usage(batch, &row);
	(void)store_batch_add_usage(batch, &row);
	assert_int_equal(fixture_commit(fx, batch), 0);
}

static void the_installation_keeps_its_id(void **state)
{
	struct fixture *fx = *state;
	char id[33];

	COPY(id, store_installation_id(fx->store));
	assert_int_equal(strlen(id), 32);
	fixture_close(fx);
	fixture_open(fx, 0);
	assert_string_equal(store_installation_id(fx->store), id);
}

static void the_database_is_for_its_owner_only(void **state)
{
	struct fixture *fx = *state;
	struct stat st;
	char path[96];

	assert_int_equal(stat(fx->db_path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	(void)snprintf(path, sizeof(path), "%s-wal", fx->db_path);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_next_cid_never_runs_backwards),
		TEST(the_begin_and_the_deadline_of_a_drain_can_be_taken_back),
		TEST(totals_follow_every_row),
		TEST(usage_is_appended),
		TEST(the_installation_keeps_its_id),
		TEST(the_database_is_for_its_owner_only),
	};

	return RUN_TESTS(tests);
}
