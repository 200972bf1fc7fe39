#include "store_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fs.h"
#include "store/db.h"
#include "store/schema.h"
#include "store/store_usage.h"

#define SQL_MAX (1024 * 1024)

static const char *const steps[] = {
	"CREATE TABLE a (x INTEGER); INSERT INTO a VALUES (1);",
	"ALTER TABLE a ADD COLUMN y INTEGER NOT NULL DEFAULT 7;",
	"CREATE TABLE b (z INTEGER); INSERT INTO nowhere VALUES (1);",
};

static int64_t query(sqlite3 *db, const char *sql)
{
	int64_t value = -1;

	assert_int_equal(db_query_int(db, sql, &value), 0);
	return value;
}

static void each_step_is_taken_once(void **state)
{
	_cleanup_(db_closep) sqlite3 *db = NULL;
	struct error err = ERROR_INIT;

	(void)state;
	assert_int_equal(sqlite3_open(":memory:", &db), 0);
	assert_int_equal(schema_apply(db, steps, 1, &err), 0);
	assert_int_equal(query(db, "PRAGMA user_version"), 1);
	assert_int_equal(schema_apply(db, steps, 2, &err), 0);
	assert_int_equal(schema_apply(db, steps, 2, &err), 0);
	assert_int_equal(query(db, "PRAGMA user_version"), 2);
	assert_int_equal(query(db, "SELECT sum(x * 10 + y) FROM a"), 17);
}

static void a_failed_step_leaves_the_version_before_it(void **state)
{
	_cleanup_(db_closep) sqlite3 *db = NULL;
	struct error err = ERROR_INIT;

	(void)state;
	assert_int_equal(sqlite3_open(":memory:", &db), 0);
	assert_true(schema_apply(db, steps, 3, &err) < 0);
	assert_non_null(strstr(err.message, "from version 2 to 3"));
	assert_int_equal(query(db, "PRAGMA user_version"), 2);
	assert_int_equal(query(db, "SELECT count(*) FROM sqlite_schema"
				   " WHERE name = 'b'"),
			 0);
}

/* Lets a statement change the database while no store has it open. */
static void change(struct fixture *fx, const char *sql)
{
	_cleanup_(db_closep) sqlite3 *db = NULL;

	assert_int_equal(db_open(fx->db_path, false, &db), 0);
	assert_int_equal(db_exec(db, sql), 0);
}

static int open_store(struct fixture *fx, struct error *err)
{
	const struct store_config config = {
		.event = fx->event,
		.path = fx->db_path,
		.blobs = fx->blobs,
	};

	return store_open(&config, &fx->store, err);
}

static void close_store(struct fixture *fx)
{
	store_free(fx->store);
	fx->store = NULL;
}

static void a_newer_database_is_refused_and_left_alone(void **state)
{
	struct fixture *fx = *state;
	struct error err = ERROR_INIT;
	_cleanup_(db_closep) sqlite3 *db = NULL;

	close_store(fx);
	change(fx, "PRAGMA user_version = 99");
	assert_int_equal(open_store(fx, &err), -EINVAL);
	assert_non_null(strstr(err.message, "version 99"));
	assert_non_null(strstr(err.message, "newer"));
	assert_int_equal(db_open(fx->db_path, false, &db), 0);
	assert_int_equal(query(db, "PRAGMA user_version"), 99);
}

static void a_database_of_another_program_is_refused(void **state)
{
	struct fixture *fx = *state;
	struct error err = ERROR_INIT;

	close_store(fx);
	change(fx, "PRAGMA application_id = 1");
	assert_int_equal(open_store(fx, &err), -EINVAL);
	assert_string_equal(err.message, "The database was not made by Cupola");
}

static void a_file_that_is_no_database_is_refused(void **state)
{
	static const char text[] = "This is a letter, and a long one, too. "
				   "It has more than a hundred characters, "
				   "so that it might be a header.";
	struct fixture *fx = *state;
	struct error err = ERROR_INIT;

	close_store(fx);
	assert_int_equal(fs_write_file_atomic(AT_FDCWD, fx->db_path, text,
					      sizeof(text), 0600),
			 0);
	assert_true(open_store(fx, &err) < 0);
	assert_true(error_is_set(&err));
}

static void read_version_1(struct buf *sql)
{
	char path[512];

	test_source_path("tests/unit/data/store-v1.sql", path, sizeof(path));
	assert_int_equal(fs_read_file(AT_FDCWD, path, sql), 0);
}

static void a_database_of_version_1_is_brought_up_to_date(void **state)
{
	struct fixture *fx = *state;
	_cleanup_(buf_done) struct buf sql = BUF_INIT(SQL_MAX);
	_cleanup_(buf_done) struct buf record_buf = BUF_INIT(STORE_RECORD_MAX);
	struct error err = ERROR_INIT;
	struct store_container container;
	struct store_record record;
	struct store_file file;

	read_version_1(&sql);
	close_store(fx);
	assert_int_equal(fs_remove_tree(AT_FDCWD, fx->db_path), 0);
	change(fx, buf_str(&sql));
	if (open_store(fx, &err) < 0)
		fail_msg("%s", err.message);

	assert_string_equal(store_installation_id(fx->store),
			    "0123456789abcdef0123456789abcdef");
	assert_int_equal(
		store_container_get(fx->store, "t1", "cntr_1", &container), 0);
	assert_string_equal(container.name, "demo");
	assert_int_equal(container.idle_minutes, 20);
	assert_int_equal(store_file_get(fx->store, "t1", "file-1", &file), 0);
	assert_int_equal(file.bytes, 1);
	assert_int_equal(store_execution_record(fx->store, "exec_1",
						&record_buf, &record),
			 0);
	assert_memory_equal(record.json, "{}", 2);
	assert_string_equal(container.origin, "api");
}

/* The days of an old ledger, of which one entry was written twice. */
static void an_old_ledger_is_summed_up(void **state)
{
	static const char ledger[] =
		"DELETE FROM usage;"
		"INSERT INTO usage (tenant, key_id, container_id, vm_id,"
		" exec_id, kind, detail, amount, at_usec) VALUES"
		" ('t1', '', 'c1', '', '', 'created', '', 1, 86400000000),"
		" ('t1', '', 'c1', '', '', 'ended', '', 7, 86400000001),"
		" ('t1', '', 'c1', '', '', 'ended', '', 9, 86400000002),"
		" ('t1', '', 'c2', '', '', 'ended', '', 5, 86400000003);";
	_cleanup_(buf_done) struct buf sql = BUF_INIT(SQL_MAX);
	struct fixture *fx = *state;
	struct error err = ERROR_INIT;
	uint64_t assigned;

	read_version_1(&sql);
	close_store(fx);
	assert_int_equal(fs_remove_tree(AT_FDCWD, fx->db_path), 0);
	change(fx, buf_str(&sql));
	change(fx, ledger);
	if (open_store(fx, &err) < 0)
		fail_msg("%s", err.message);
	assert_int_equal(store_usage_assigned(fx->store, "t1", 1, &assigned),
			 0);
	assert_int_equal(assigned, 12);
}

/* Toolboxes were all that had versions once. */
static void old_toolboxes_are_kept(void **state)
{
	static const char toolboxes[] =
		"INSERT INTO toolboxes (seq, id, tenant, project, name,"
		" default_version, last_version, created_usec, updated_usec)"
		" VALUES (7, 'tbx_1', 't1', 'p1', 'box', 2, 3, 11, 12);"
		"INSERT INTO toolbox_versions (id, toolbox_id, tenant, version,"
		" definition, created_usec) VALUES"
		" ('tbxv_2', 'tbx_1', 't1', 2, '{\"tools\":[]}', 13);";
	_cleanup_(buf_done) struct buf sql = BUF_INIT(SQL_MAX);
	struct store_definition_version version;
	struct store_definition row;
	struct fixture *fx = *state;
	struct error err = ERROR_INIT;
	_cleanup_(db_closep) sqlite3 *db = NULL;

	read_version_1(&sql);
	close_store(fx);
	assert_int_equal(fs_remove_tree(AT_FDCWD, fx->db_path), 0);
	assert_int_equal(db_open(fx->db_path, false, &db), 0);
	assert_int_equal(db_exec(db, buf_str(&sql)), 0);
	assert_int_equal(schema_apply(db, schema_steps, 6, &err), 0);
	assert_int_equal(db_exec(db, toolboxes), 0);
	db_closep(&db);
	db = NULL;
	if (open_store(fx, &err) < 0)
		fail_msg("%s", err.message);
	assert_int_equal(store_definition_get(fx->store, "t1", "toolbox", "p1",
					      "box", &row),
			 0);
	assert_string_equal(row.id, "tbx_1");
	assert_int_equal(row.default_version, 2);
	assert_int_equal(row.last_version, 3);
	assert_false(row.disabled);
	assert_int_equal(row.updated_usec, 12);
	assert_int_equal(store_definition_version_get(fx->store, "t1", "tbx_1",
						      2, &version),
			 0);
	assert_string_equal(version.text, "{\"tools\":[]}");
	assert_int_equal(version.created_usec, 13);
	assert_int_equal(store_definition_get(fx->store, "t1", "agent", "p1",
					      "box", &row),
			 -ENOENT);
}

/* What migration makes of version 1 is what a new installation has. */
static void both_ways_lead_to_the_same_tables(void **state)
{
	static const char digest[] =
		"SELECT sum(length(sql)) FROM sqlite_schema";
	struct fixture *fx = *state;
	_cleanup_(db_closep) sqlite3 *fresh = NULL;
	_cleanup_(db_closep) sqlite3 *old = NULL;
	_cleanup_(buf_done) struct buf sql = BUF_INIT(SQL_MAX);
	struct error err = ERROR_INIT;

	(void)fx;
	read_version_1(&sql);
	assert_int_equal(sqlite3_open(":memory:", &fresh), 0);
	assert_int_equal(sqlite3_open(":memory:", &old), 0);
	assert_int_equal(
		schema_apply(fresh, schema_steps, schema_step_count, &err), 0);
	assert_int_equal(db_exec(old, buf_str(&sql)), 0);
	assert_int_equal(
		schema_apply(old, schema_steps, schema_step_count, &err), 0);
	assert_int_equal(query(fresh, digest), query(old, digest));
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_step_is_taken_once),
		cmocka_unit_test(a_failed_step_leaves_the_version_before_it),
		TEST(a_newer_database_is_refused_and_left_alone),
		TEST(a_database_of_another_program_is_refused),
		TEST(a_file_that_is_no_database_is_refused),
		TEST(a_database_of_version_1_is_brought_up_to_date),
		TEST(an_old_ledger_is_summed_up),
		TEST(old_toolboxes_are_kept),
		TEST(both_ways_lead_to_the_same_tables),
	};

	return RUN_TESTS(tests);
}
