#include "store_fixture.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "store/impl.h"

#define ROWS 25

struct seen {
	char ids[64][STORE_ID_SIZE];
	unsigned count;
};

static void see(struct seen *seen, const char *id)
{
	assert_true(seen->count < 64);
	COPY(seen->ids[seen->count], id);
	seen->count++;
}

static void see_file(void *userdata, const struct store_file *row)
{
	see(userdata, row->id);
}

static void see_container(void *userdata, const struct store_container *row)
{
	see(userdata, row->id);
}

static void see_cfile(void *userdata, const struct store_cfile *row)
{
	see(userdata, row->id);
}

static void see_execution(void *userdata, const struct store_execution *row)
{
	see(userdata, row->id);
}

/* All of the same second, some of another tenant in between. */
static void add_files(struct fixture *fx)
{
	struct store_batch *batch = store_batch_new(fx->store);
	struct blob_info blob;
	char id[32];
	int i;

	assert_int_equal(fixture_write_blob(fx, "x", 1, NULL, &blob), 0);
	for (i = 0; i < ROWS; i++) {
		struct store_file row;

		(void)snprintf(id, sizeof(id), "file-%02d", i);
		row = file_row(id, "t1", &blob);
		if (i % 5 == 0)
			COPY(row.purpose, "batch");
		(void)store_batch_put_file(batch, &row);
		(void)snprintf(id, sizeof(id), "file-other-%02d", i);
		row = file_row(id, "t2", &blob);
		(void)store_batch_put_file(batch, &row);
	}
	assert_int_equal(fixture_commit(fx, batch), 0);
}

static void page_through(struct fixture *fx, bool ascending, unsigned limit)
{
	struct store_page page = { .limit = limit, .ascending = ascending };
	struct seen seen = { .count = 0 };
	char after[STORE_ID_SIZE], id[32];
	bool more = true;
	unsigned i;

	while (more) {
		unsigned before = seen.count;

		assert_int_equal(store_file_list(fx->store, "t1", NULL, &page,
						 see_file, &seen, &more),
				 0);
		assert_true(seen.count - before <= limit);
		assert_true(seen.count > before);
		COPY(after, seen.ids[seen.count - 1]);
		page.after = after;
	}
	assert_int_equal(seen.count, ROWS);
	for (i = 0; i < ROWS; i++) {
		(void)snprintf(id, sizeof(id), "file-%02u",
			       ascending ? i : ROWS - 1 - i);
		assert_string_equal(seen.ids[i], id);
	}
}

static void paging_neither_skips_nor_repeats_rows_of_one_second(void **state)
{
	struct fixture *fx = *state;
	unsigned limit;

	add_files(fx);
	for (limit = 1; limit <= ROWS + 1; limit++) {
		page_through(fx, true, limit);
		page_through(fx, false, limit);
	}
}

static void a_filter_keeps_the_order(void **state)
{
	const struct store_page page = { .limit = 3, .after = "file-20" };
	struct fixture *fx = *state;
	struct seen seen = { .count = 0 };
	bool more = false;

	add_files(fx);
	assert_int_equal(store_file_list(fx->store, "t1", "batch", &page,
					 see_file, &seen, &more),
			 0);
	assert_int_equal(seen.count, 3);
	assert_string_equal(seen.ids[0], "file-15");
	assert_string_equal(seen.ids[2], "file-05");
	assert_true(more);
}

static void an_unknown_or_foreign_cursor_is_told_apart(void **state)
{
	struct store_page page = { .limit = 3, .after = "file-nope" };
	struct fixture *fx = *state;
	struct seen seen = { .count = 0 };

	add_files(fx);
	assert_int_equal(store_file_list(fx->store, "t1", NULL, &page, see_file,
					 &seen, NULL),
			 -ENOENT);
	page.after = "file-other-03";
	assert_int_equal(store_file_list(fx->store, "t1", NULL, &page, see_file,
					 &seen, NULL),
			 -ENOENT);
	assert_int_equal(seen.count, 0);
}

static void an_empty_list_is_no_failure(void **state)
{
	const struct store_page page = { .limit = 3 };
	struct fixture *fx = *state;
	struct seen seen = { .count = 0 };
	bool more = true;

	assert_int_equal(store_file_list(fx->store, "t1", NULL, &page, see_file,
					 &seen, &more),
			 0);
	assert_int_equal(seen.count, 0);
	assert_false(more);
}

static void add_containers(struct fixture *fx)
{
	struct store_container one = container_row("cntr_1", "t1");
	struct store_container two = container_row("cntr_2", "t1");
	struct store_container three = container_row("cntr_3", "t2");
	struct store_container four = container_row("cntr_4", "t1");
	struct store_batch *batch = store_batch_new(fx->store);

	COPY(two.name, "other");
	one.ended_usec = 7;
	(void)store_batch_put_container(batch, &one);
	(void)store_batch_put_container(batch, &two);
	(void)store_batch_put_container(batch, &three);
	(void)store_batch_put_container(batch, &four);
	(void)store_batch_erase_container(batch, "cntr_4");
	assert_int_equal(fixture_commit(fx, batch), 0);
}

static void the_operator_sees_containers_of_all(void **state)
{
	const struct store_page page = { .limit = 10, .ascending = true };
	struct fixture *fx = *state;
	struct seen all = { .count = 0 }, named = { .count = 0 },
		    own = { .count = 0 }, own_named = { .count = 0 };

	add_containers(fx);
	assert_int_equal(store_container_list(fx->store, NULL, NULL, &page,
					      see_container, &all, NULL),
			 0);
	assert_int_equal(all.count, 4);
	assert_int_equal(store_container_list(fx->store, NULL, "demo", &page,
					      see_container, &named, NULL),
			 0);
	assert_int_equal(named.count, 3);
	assert_int_equal(store_container_list(fx->store, "t1", NULL, &page,
					      see_container, &own, NULL),
			 0);
	assert_int_equal(own.count, 2);
	assert_string_equal(own.ids[0], "cntr_1");
	assert_string_equal(own.ids[1], "cntr_2");
	assert_int_equal(store_container_list(fx->store, "t1", "other", &page,
					      see_container, &own_named, NULL),
			 0);
	assert_int_equal(own_named.count, 1);
}

static void what_was_not_over_is_found_at_the_start(void **state)
{
	struct fixture *fx = *state;
	struct store_execution running =
		execution_row("exec_1", "cntr_2", "t1");
	struct store_execution over = execution_row("exec_2", "cntr_2", "t1");
	struct seen containers = { .count = 0 }, executions = { .count = 0 };
	struct store_batch *batch;

	add_containers(fx);
	batch = store_batch_new(fx->store);
	over.ended_usec = 8;
	(void)store_batch_put_execution(batch, &over, NULL);
	(void)store_batch_put_execution(batch, &running, NULL);
	assert_int_equal(fixture_commit(fx, batch), 0);

	assert_int_equal(store_container_each_live(fx->store, see_container,
						   &containers),
			 0);
	/* The erased one's VM has not been seen dead either. */
	assert_int_equal(containers.count, 3);
	assert_string_equal(containers.ids[0], "cntr_2");
	assert_int_equal(store_execution_each_open(fx->store, see_execution,
						   &executions),
			 0);
	assert_int_equal(executions.count, 1);
	assert_string_equal(executions.ids[0], "exec_1");
}

static void a_list_of_files_shows_the_newest_of_each_path(void **state)
{
	struct store_page page = { .limit = 10, .ascending = true };
	struct fixture *fx = *state;
	struct store_batch *batch;
	struct seen seen = { .count = 0 };
	struct store_cfile row;
	struct blob_info blob;

	add_containers(fx);
	assert_int_equal(fixture_write_blob(fx, "x", 1, NULL, &blob), 0);
	batch = store_batch_new(fx->store);
	row = cfile_row("cfile_1", "cntr_2", "t1", "/mnt/data/a", &blob);
	(void)store_batch_put_cfile(batch, &row);
	row = cfile_row("cfile_2", "cntr_2", "t1", "/mnt/data/b", &blob);
	(void)store_batch_put_cfile(batch, &row);
	row = cfile_row("cfile_3", "cntr_2", "t1", "/mnt/data/a", &blob);
	(void)store_batch_put_cfile(batch, &row);
	assert_int_equal(fixture_commit(fx, batch), 0);

	/* A reader whose cursor was superseded meanwhile goes on from there. */
	page.after = "cfile_1";
	assert_int_equal(store_cfile_list(fx->store, "t1", "cntr_2", &page,
					  see_cfile, &seen, NULL),
			 0);
	assert_int_equal(seen.count, 2);
	assert_string_equal(seen.ids[0], "cfile_2");
	assert_string_equal(seen.ids[1], "cfile_3");
	seen.count = 0;
	page.after = NULL;
	assert_int_equal(store_cfile_list(fx->store, "t2", "cntr_2", &page,
					  see_cfile, &seen, NULL),
			 0);
	assert_int_equal(seen.count, 0);
}

/* Explains a prepared statement and returns its plan, a line per step. */
static void explain(struct fixture *fx, sqlite3_stmt *statement, char *plan,
		    size_t size)
{
	sqlite3_stmt *explained;
	char sql[ROW_SQL_MAX];
	size_t used = 0;

	(void)snprintf(sql, sizeof(sql), "EXPLAIN QUERY PLAN %s",
		       sqlite3_sql(statement));
	assert_int_equal(
		sqlite3_prepare_v2(fx->store->db, sql, -1, &explained, NULL),
		SQLITE_OK);
	plan[0] = '\0';
	while (sqlite3_step(explained) == SQLITE_ROW && used < size)
		used += (size_t)snprintf(plan + used, size - used, "%s\n",
					 sqlite3_column_text(explained, 3));
	assert_true(used < size);
	(void)sqlite3_finalize(explained);
}

static void every_page_is_read_along_an_index(void **state)
{
	struct fixture *fx = *state;
	char plan[1024];
	size_t i;

	for (i = 0; i < LIST_LIVE_CONTAINERS; i++) {
		explain(fx, fx->store->lists[i][0], plan, sizeof(plan));
		if (strstr(plan, "SCAN") || strstr(plan, "TEMP"))
			fail_msg("list %zu: %s", i, plan);
		explain(fx, fx->store->lists[i][1], plan, sizeof(plan));
		if (strstr(plan, "SCAN") || strstr(plan, "TEMP"))
			fail_msg("list %zu: %s", i, plan);
		explain(fx, fx->store->cursors[i], plan, sizeof(plan));
		if (strstr(plan, "SCAN"))
			fail_msg("cursor %zu: %s", i, plan);
	}
	for (i = 0; i < READ_COUNT; i++) {
		explain(fx, fx->store->reads[i], plan, sizeof(plan));
		if (strstr(plan, "SCAN "))
			fail_msg("read %zu: %s", i, plan);
	}
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(paging_neither_skips_nor_repeats_rows_of_one_second),
		TEST(a_filter_keeps_the_order),
		TEST(an_unknown_or_foreign_cursor_is_told_apart),
		TEST(an_empty_list_is_no_failure),
		TEST(the_operator_sees_containers_of_all),
		TEST(what_was_not_over_is_found_at_the_start),
		TEST(a_list_of_files_shows_the_newest_of_each_path),
		TEST(every_page_is_read_along_an_index),
	};

	return RUN_TESTS(tests);
}
