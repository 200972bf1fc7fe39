#include "store_fixture.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"

static void a_row_comes_back_as_it_was_put(void **state)
{
	struct fixture *fx = *state;
	struct store_batch *batch = store_batch_new(fx->store);
	struct store_file file, got;
	struct blob_info blob;

	assert_int_equal(fixture_write_blob(fx, "x", 1, NULL, &blob), 0);
	file = file_row("file-1", "t1", &blob);
	COPY(file.filename, "Größe – 数据 \"q\" \\ %00.csv");
	file.expires_usec = INT64_MAX;
	assert_int_equal(store_batch_put_file(batch, &file), 0);
	assert_int_equal(fixture_commit(fx, batch), 0);

	assert_int_equal(store_file_get(fx->store, "t1", "file-1", &got), 0);
	assert_string_equal(got.id, file.id);
	assert_string_equal(got.tenant, "t1");
	assert_string_equal(got.filename, file.filename);
	assert_string_equal(got.purpose, file.purpose);
	assert_string_equal(got.media_type, file.media_type);
	assert_memory_equal(got.sha256, file.sha256, HASH_SIZE);
	assert_int_equal(got.bytes, 1);
	assert_int_equal(got.created_usec, file.created_usec);
	assert_int_equal(got.expires_usec, INT64_MAX);
}

static void copy_vm(void *userdata, const struct store_vm *row)
{
	struct store_vm *to = userdata;

	*to = *row;
}

static void the_ledger_of_vms_is_read_at_the_start(void **state)
{
	struct fixture *fx = *state;
	struct store_vm row = { .cid = 0x10000, .memory_mib = 512 }, got;
	struct store_batch *batch = store_batch_new(fx->store);

	COPY(row.id, "vm_1");
	memset(row.nonce, 0xa5, sizeof(row.nonce));
	row.nonce[3] = 0;
	row.hard_deadline_boot_usec = 77;
	(void)store_batch_put_vm(batch, &row);
	assert_int_equal(fixture_commit(fx, batch), 0);

	fixture_close(fx);
	fixture_open(fx, 0);
	assert_int_equal(store_vm_each(fx->store, copy_vm, &got), 0);
	assert_string_equal(got.id, "vm_1");
	assert_string_equal(got.container_id, "");
	assert_int_equal(got.cid, 0x10000);
	assert_int_equal(got.memory_mib, 512);
	assert_memory_equal(got.nonce, row.nonce, sizeof(row.nonce));
	assert_int_equal(got.hard_deadline_boot_usec, 77);

	batch = store_batch_new(fx->store);
	(void)store_batch_delete_vm(batch, "vm_1");
	assert_int_equal(fixture_commit(fx, batch), 0);
	got.id[0] = '\0';
	assert_int_equal(store_vm_each(fx->store, copy_vm, &got), 0);
	assert_string_equal(got.id, "");
}

static void a_put_of_a_known_id_keeps_what_is_fixed(void **state)
{
	struct fixture *fx = *state;
	struct store_container row = container_row("cntr_1", "t1"), got;
	struct store_batch *batch = store_batch_new(fx->store);

	(void)store_batch_put_container(batch, &row);
	COPY(row.tenant, "t2");
	COPY(row.state, "stopping");
	row.created_usec = 1;
	(void)store_batch_put_container(batch, &row);
	assert_int_equal(fixture_commit(fx, batch), 0);

	assert_int_equal(store_container_get(fx->store, "t2", "cntr_1", &got),
			 -ENOENT);
	assert_int_equal(store_container_get(fx->store, "t1", "cntr_1", &got),
			 0);
	assert_string_equal(got.state, "stopping");
	assert_int_not_equal(got.created_usec, 1);
}

static void another_tenants_ids_do_not_exist(void **state)
{
	struct fixture *fx = *state;
	struct store_container container = container_row("cntr_1", "t1");
	struct store_execution execution =
		execution_row("exec_1", "cntr_1", "t1");
	struct store_batch *batch = store_batch_new(fx->store);
	struct store_cfile cfile;
	struct store_file file;
	struct blob_info blob;

	assert_int_equal(fixture_write_blob(fx, "x", 1, NULL, &blob), 0);
	file = file_row("file-1", "t1", &blob);
	cfile = cfile_row("cfile_1", "cntr_1", "t1", "/mnt/data/a", &blob);
	(void)store_batch_put_file(batch, &file);
	(void)store_batch_put_container(batch, &container);
	(void)store_batch_put_cfile(batch, &cfile);
	(void)store_batch_put_execution(batch, &execution, NULL);
	assert_int_equal(fixture_commit(fx, batch), 0);

	assert_int_equal(store_file_get(fx->store, "t2", "file-1", &file),
			 -ENOENT);
	assert_int_equal(
		store_container_get(fx->store, "t2", "cntr_1", &container),
		-ENOENT);
	assert_int_equal(
		store_cfile_get(fx->store, "t2", "cntr_1", "cfile_1", &cfile),
		-ENOENT);
	assert_int_equal(
		store_cfile_get(fx->store, "t1", "cntr_2", "cfile_1", &cfile),
		-ENOENT);
	assert_int_equal(store_execution_get(fx->store, "t2", "cntr_1",
					     "exec_1", &execution),
			 -ENOENT);
}

static void a_file_of_a_container_has_its_tenant(void **state)
{
	struct fixture *fx = *state;
	struct store_container container = container_row("cntr_1", "t1");
	struct store_batch *batch = store_batch_new(fx->store);
	struct store_cfile cfile;
	struct blob_info blob;

	assert_int_equal(fixture_write_blob(fx, "x", 1, NULL, &blob), 0);
	(void)store_batch_put_container(batch, &container);
	cfile = cfile_row("cfile_1", "cntr_1", "t2", "/mnt/data/a", &blob);
	(void)store_batch_put_cfile(batch, &cfile);
	assert_int_equal(fixture_commit(fx, batch), -ENOENT);
}

static void text_that_is_not_utf8_never_gets_in(void **state)
{
	struct fixture *fx = *state;
	struct store_container row = container_row("cntr_1", "t1");
	struct store_execution execution =
		execution_row("exec_1", "cntr_1", "t1");
	const struct store_record record = { .json = "\xed\xa0\x80",
					     .json_size = 3 };
	struct store_batch *batch = store_batch_new(fx->store);

	COPY(row.name, "\xff");
	assert_int_equal(store_batch_put_container(batch, &row), -EILSEQ);
	assert_int_equal(fixture_commit(fx, batch), -EILSEQ);

	batch = store_batch_new(fx->store);
	assert_int_equal(store_batch_put_execution(batch, &execution, &record),
			 -EILSEQ);
	store_batch_free(batch);
}

static void text_without_an_end_is_refused(void **state)
{
	struct fixture *fx = *state;
	struct store_container row = container_row("cntr_1", "t1");
	struct store_batch *batch = store_batch_new(fx->store);

	memset(row.name, 'x', sizeof(row.name));
	assert_int_equal(store_batch_put_container(batch, &row), -E2BIG);
	store_batch_free(batch);
}

static void a_new_version_supersedes_the_old_one_which_stays(void **state)
{
	struct fixture *fx = *state;
	struct store_container container = container_row("cntr_1", "t1");
	struct store_batch *batch = store_batch_new(fx->store);
	struct blob_info one, two;
	struct store_cfile old, new, got;

	assert_int_equal(fixture_write_blob(fx, "1", 1, NULL, &one), 0);
	assert_int_equal(fixture_write_blob(fx, "2", 1, NULL, &two), 0);
	old = cfile_row("cfile_1", "cntr_1", "t1", "/mnt/data/a", &one);
	new = cfile_row("cfile_2", "cntr_1", "t1", "/mnt/data/a", &two);
	(void)store_batch_put_container(batch, &container);
	(void)store_batch_put_cfile(batch, &old);
	(void)store_batch_put_cfile(batch, &new);
	/* A late change of the old one does not bring it back. */
	COPY(old.media_type, "text/plain");
	(void)store_batch_put_cfile(batch, &old);
	assert_int_equal(fixture_commit(fx, batch), 0);

	assert_int_equal(
		store_cfile_find(fx->store, "t1", "cntr_1", "/mnt/data/a",
				 &got),
		0);
	assert_string_equal(got.id, "cfile_2");
	assert_false(got.superseded);
	assert_int_equal(
		store_cfile_get(fx->store, "t1", "cntr_1", "cfile_1", &got), 0);
	assert_true(got.superseded);
	assert_string_equal(got.media_type, "text/plain");
	assert_memory_equal(got.sha256, one.sha256, HASH_SIZE);
}

static void an_execution_gives_its_record_back(void **state)
{
	static const char out[] = "bytes \0 \xff";
	struct fixture *fx = *state;
	struct store_container container = container_row("cntr_1", "t1");
	struct store_execution row = execution_row("exec_1", "cntr_1", "t1");
	const struct store_record record = {
		.json = "{}",
		.json_size = 2,
		.out = out,
		.out_size = 9,
	};
	_cleanup_(buf_done) struct buf buf = BUF_INIT(STORE_RECORD_MAX);
	struct store_batch *batch = store_batch_new(fx->store);
	struct store_record got;

	(void)store_batch_put_container(batch, &container);
	(void)store_batch_put_execution(batch, &row, NULL);
	assert_int_equal(fixture_commit(fx, batch), 0);
	assert_int_equal(
		store_execution_record(fx->store, "exec_1", &buf, &got),
		-ENOENT);

	batch = store_batch_new(fx->store);
	COPY(row.status, "ok");
	row.ended_usec = 5;
	(void)store_batch_put_execution(batch, &row, &record);
	assert_int_equal(fixture_commit(fx, batch), 0);
	assert_int_equal(
		store_execution_get(fx->store, "t1", "cntr_1", "exec_1", &row),
		0);
	assert_true(row.has_record);
	assert_int_equal(
		store_execution_record(fx->store, "exec_1", &buf, &got), 0);
	assert_int_equal(got.json_size, 2);
	assert_memory_equal(got.json, "{}", 2);
	assert_int_equal(got.out_size, 9);
	assert_memory_equal(got.out, out, 9);
	assert_int_equal(got.err_size, 0);
}

static void put_content(struct store_batch *batch, const struct blob_info *blob,
			const char *cfile_id)
{
	const struct store_execution execution =
		execution_row("exec_1", "cntr_1", "t1");
	const struct store_cfile cfile =
		cfile_row(cfile_id, "cntr_1", "t1", "/mnt/data/a", blob);
	const struct store_record record = { .json = "{}", .json_size = 2 };

	(void)store_batch_put_cfile(batch, &cfile);
	(void)store_batch_put_execution(batch, &execution, &record);
}

static void assert_no_content(struct fixture *fx, const char *cfile_id)
{
	_cleanup_(buf_done) struct buf buf = BUF_INIT(STORE_RECORD_MAX);
	struct store_execution execution;
	struct store_record record;
	struct store_cfile cfile;

	assert_int_equal(
		store_cfile_get(fx->store, "t1", "cntr_1", cfile_id, &cfile),
		-ENOENT);
	assert_int_equal(store_execution_get(fx->store, "t1", "cntr_1",
					     "exec_1", &execution),
			 -ENOENT);
	assert_int_equal(
		store_execution_record(fx->store, "exec_1", &buf, &record),
		-ENOENT);
}

static void erasing_a_container_leaves_it_to_the_operator_only(void **state)
{
	struct fixture *fx = *state;
	struct store_container row = container_row("cntr_1", "t1");
	struct store_batch *batch = store_batch_new(fx->store);
	struct blob_info blob;

	assert_int_equal(fixture_write_blob(fx, "x", 1, NULL, &blob), 0);
	(void)store_batch_put_container(batch, &row);
	put_content(batch, &blob, "cfile_1");
	assert_int_equal(fixture_commit(fx, batch), 0);
	assert_int_equal(fixture_count_blobs(fx), 1);

	batch = store_batch_new(fx->store);
	(void)store_batch_erase_container(batch, "cntr_1");
	assert_int_equal(fixture_commit(fx, batch), 0);
	assert_int_equal(fixture_count_blobs(fx), 0);
	assert_int_equal(store_container_get(fx->store, "t1", "cntr_1", &row),
			 -ENOENT);
	assert_int_equal(store_container_get(fx->store, NULL, "cntr_1", &row),
			 0);
	assert_true(row.deleted);
	assert_no_content(fx, "cfile_1");
}

/* Its session goes on ending, which must not bring it back. */
#define COMPOSED "/mnt/data/caf\xc3\xa9"
#define DECOMPOSED "/mnt/data/cafe\xcc\x81"

static void put_named(struct fixture *fx, const char *id, const char *path,
		      const char *path_b64)
{
	struct store_batch *batch = store_batch_new(fx->store);
	struct store_cfile row;
	struct blob_info blob;

	assert_int_equal(fixture_write_blob(fx, id, 1, NULL, &blob), 0);
	row = cfile_row(id, "cntr_1", "t1", path, &blob);
	COPY(row.path_b64, path_b64);
	(void)store_batch_put_cfile(batch, &row);
	assert_int_equal(fixture_commit(fx, batch), 0);
}

static const char *find_named(struct fixture *fx, const char *path)
{
	static struct store_cfile row;
	int r = store_cfile_find(fx->store, "t1", "cntr_1", path, &row);

	assert_true(r == 0 || r == -ENOENT);
	return r == 0 ? row.id : NULL;
}

static void a_name_is_found_exactly_or_if_only_one_looks_like_it(void **state)
{
	struct fixture *fx = *state;
	struct store_container container = container_row("cntr_1", "t1");
	struct store_batch *batch = store_batch_new(fx->store);
	struct store_cfile other;

	(void)store_batch_put_container(batch, &container);
	assert_int_equal(fixture_commit(fx, batch), 0);
	put_named(fx, "cfile_d", DECOMPOSED, "");
	assert_string_equal(find_named(fx, DECOMPOSED), "cfile_d");
	assert_string_equal(find_named(fx, COMPOSED), "cfile_d");

	/* Two that look the same: each is found by its own bytes only. */
	put_named(fx, "cfile_c", COMPOSED, "");
	assert_string_equal(find_named(fx, COMPOSED), "cfile_c");
	assert_string_equal(find_named(fx, DECOMPOSED), "cfile_d");
	put_named(fx, "cfile_1", "/mnt/data/\xe1\xba\x9b\xcc\xa3", "");
	put_named(fx, "cfile_2", "/mnt/data/\xc5\xbf\xcc\xa3\xcc\x87", "");
	assert_null(find_named(fx, "/mnt/data/\xc5\xbf\xcc\x87\xcc\xa3"));

	assert_null(find_named(fx, "/mnt/data/caf"));
	assert_null(find_named(fx, "/mnt/data/caf\xff"));
	assert_null(find_named(fx, ""));
	assert_int_equal(store_cfile_find(fx->store, "t2", "cntr_1", COMPOSED,
					  &other),
			 -ENOENT);
}

static void names_that_are_not_utf8_stay_apart(void **state)
{
	static const char path[] = "/mnt/data/\xef\xbf\xbd.csv";
	struct fixture *fx = *state;
	struct store_container container = container_row("cntr_1", "t1");
	struct store_batch *batch = store_batch_new(fx->store);
	struct store_cfile row;

	(void)store_batch_put_container(batch, &container);
	assert_int_equal(fixture_commit(fx, batch), 0);
	put_named(fx, "cfile_1", path, "/y5jc3Y=");
	assert_string_equal(find_named(fx, path), "cfile_1");
	put_named(fx, "cfile_2", path, "/i5jc3Y=");
	assert_null(find_named(fx, path));
	put_named(fx, "cfile_3", path, "");
	assert_string_equal(find_named(fx, path), "cfile_3");
	/* A new version replaces the file of the same bytes, no other. */
	put_named(fx, "cfile_4", path, "/i5jc3Y=");
	assert_int_equal(
		store_cfile_get(fx->store, "t1", "cntr_1", "cfile_1", &row), 0);
	assert_false(row.superseded);
	assert_string_equal(row.path_b64, "/y5jc3Y=");
	assert_int_equal(
		store_cfile_get(fx->store, "t1", "cntr_1", "cfile_2", &row), 0);
	assert_true(row.superseded);
}

static void what_comes_too_late_for_an_erased_container_is_dropped(void **state)
{
	const struct store_sweep_spec nothing = { .now_usec = 0 };
	struct fixture *fx = *state;
	struct store_container row = container_row("cntr_1", "t1");
	struct store_batch *batch = store_batch_new(fx->store);
	struct store_totals totals;
	struct blob_info blob;

	(void)store_batch_put_container(batch, &row);
	(void)store_batch_erase_container(batch, "cntr_1");
	assert_int_equal(fixture_commit(fx, batch), 0);

	assert_int_equal(fixture_write_blob(fx, "x", 1, NULL, &blob), 0);
	batch = store_batch_new(fx->store);
	put_content(batch, &blob, "cfile_2");
	row.ended_usec = 9;
	(void)store_batch_put_container(batch, &row);
	assert_int_equal(fixture_commit(fx, batch), 0);

	assert_no_content(fx, "cfile_2");
	assert_int_equal(store_container_get(fx->store, NULL, "cntr_1", &row),
			 0);
	assert_true(row.deleted);
	assert_int_equal(row.ended_usec, 9);
	assert_int_equal(store_tenant_totals(fx->store, "t1", &totals), 0);
	assert_int_equal(totals.cfiles, 0);
	assert_int_equal(fixture_sweep(fx, &nothing).blobs, 1);
	assert_int_equal(fixture_count_blobs(fx), 0);
}

static void a_key_is_found_by_its_hash(void **state)
{
	struct fixture *fx = *state;
	struct store_batch *batch = store_batch_new(fx->store);
	struct store_key row = { .scopes = 3, .last_used_usec = 10 }, got;

	COPY(row.id, "key_1");
	COPY(row.tenant, "t1");
	assert_int_equal(hash_sha256("secret", 6, row.hash), 0);
	(void)store_batch_put_key(batch, &row);
	(void)store_batch_touch_key(batch, "key_1", 20);
	(void)store_batch_touch_key(batch, "key_1", 15);
	assert_int_equal(fixture_commit(fx, batch), 0);

	assert_int_equal(store_key_find(fx->store, row.hash, &got), 0);
	assert_string_equal(got.id, "key_1");
	assert_int_equal(got.scopes, 3);
	assert_int_equal(got.last_used_usec, 20);
	row.hash[31] ^= 1;
	assert_int_equal(store_key_find(fx->store, row.hash, &got), -ENOENT);
}

static int add_answer(struct fixture *fx, usec_t created_usec,
		      const char *answer)
{
	struct store_batch *batch = store_batch_new(fx->store);
	struct store_idempotency row = { .created_usec = created_usec };

	COPY(row.tenant, "t1");
	COPY(row.key, "retry-1");
	COPY(row.answer, answer);
	(void)store_batch_add_idempotency(batch, &row);
	return fixture_commit(fx, batch);
}

static void an_idempotency_key_is_taken_for_a_day(void **state)
{
	const usec_t begin = 1000 * USEC_PER_DAY;
	struct fixture *fx = *state;
	struct store_idempotency got;

	assert_int_equal(add_answer(fx, begin, "cntr_1"), 0);
	assert_int_equal(add_answer(fx, begin + USEC_PER_DAY - 1, "cntr_2"),
			 -EEXIST);
	assert_int_equal(store_idempotency_get(fx->store, "t1", "retry-1",
					       begin + USEC_PER_DAY - 1, &got),
			 0);
	assert_string_equal(got.answer, "cntr_1");
	assert_int_equal(
		store_idempotency_get(fx->store, "t2", "retry-1", begin, &got),
		-ENOENT);
	assert_int_equal(store_idempotency_get(fx->store, "t1", "retry-1",
					       begin + USEC_PER_DAY, &got),
			 -ENOENT);
	assert_int_equal(add_answer(fx, begin + USEC_PER_DAY, "cntr_3"), 0);
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_row_comes_back_as_it_was_put),
		TEST(the_ledger_of_vms_is_read_at_the_start),
		TEST(a_put_of_a_known_id_keeps_what_is_fixed),
		TEST(another_tenants_ids_do_not_exist),
		TEST(a_file_of_a_container_has_its_tenant),
		TEST(text_that_is_not_utf8_never_gets_in),
		TEST(text_without_an_end_is_refused),
		TEST(a_new_version_supersedes_the_old_one_which_stays),
		TEST(an_execution_gives_its_record_back),
		TEST(erasing_a_container_leaves_it_to_the_operator_only),
		TEST(a_name_is_found_exactly_or_if_only_one_looks_like_it),
		TEST(names_that_are_not_utf8_stay_apart),
		TEST(what_comes_too_late_for_an_erased_container_is_dropped),
		TEST(a_key_is_found_by_its_hash),
		TEST(an_idempotency_key_is_taken_for_a_day),
	};

	return RUN_TESTS(tests);
}
