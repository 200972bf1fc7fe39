/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of tenants that are closed, of what they used, and of copies. */

#include "store_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "store/db.h"
#include "store/store_backup.h"
#include "store/store_usage.h"

#define DAY_USEC (24 * 3600 * USEC_PER_SEC)

static struct store_usage usage_row(const char *tenant, const char *container,
				    const char *kind, uint64_t amount,
				    usec_t at)
{
	struct store_usage row = { .amount = amount, .at_usec = at };

	COPY(row.tenant, tenant);
	COPY(row.container_id, container);
	COPY(row.kind, kind);
	return row;
}

static int add_usage(struct fixture *fx, const struct store_usage *row)
{
	struct store_batch *batch = store_batch_new(fx->store);

	(void)store_batch_add_usage(batch, row);
	return fixture_commit(fx, batch);
}

struct sums {
	bool called;
	int r;
	struct store_sum sum[8];
	size_t count;
};

static void on_sums(void *userdata, int r, const struct store_sum *sums,
		    size_t count)
{
	struct sums *s = userdata;
	size_t i;

	s->called = true;
	s->r = r;
	s->count = count;
	for (i = 0; i < count && i < 8; i++)
		s->sum[i] = sums[i];
}

static struct sums sum_up(struct fixture *fx, int64_t since, enum store_sums_by by,
			  const char *tenant)
{
	struct store_sums_spec spec = { .since_day = since, .by = by };
	struct sums s = { .called = false };

	COPY(spec.tenant, tenant);
	assert_int_equal(store_usage_sums(fx->store, &spec, on_sums, &s), 0);
	/* One report at a time. */
	assert_int_equal(store_usage_sums(fx->store, &spec, on_sums, &s),
			 -EBUSY);
	while (!s.called)
		assert_true(sd_event_run(fx->event, UINT64_MAX) >= 0);
	assert_int_equal(s.r, 0);
	return s;
}

static void the_ledger_is_summed_up_by_origin_and_by_key(void **state)
{
	static const char *const kinds[] = { "response", "tokens_in",
					     "tokens_out", "tool_calls",
					     "held" };
	struct fixture *fx = *state;
	struct sums s;
	size_t i;

	for (i = 0; i < 5; i++) {
		struct store_usage row = usage_row("t1", "c1", kinds[i], i + 1,
						   10 * DAY_USEC);

		COPY(row.origin, "conv_1");
		COPY(row.key_id, i < 3 ? "key_1" : "key_2");
		assert_int_equal(add_usage(fx, &row), 0);
	}
	s = sum_up(fx, 0, STORE_SUMS_BY_ORIGIN, "");
	assert_int_equal(s.count, 1);
	assert_string_equal(s.sum[0].part, "conv_1");
	assert_int_equal(s.sum[0].responses, 1);
	assert_int_equal(s.sum[0].tokens_in, 2);
	assert_int_equal(s.sum[0].tokens_out, 3);
	assert_int_equal(s.sum[0].tool_calls, 4);
	assert_int_equal(s.sum[0].held_usec, 5);
	s = sum_up(fx, 0, STORE_SUMS_BY_KEY, "t1");
	assert_int_equal(s.count, 2);
	assert_string_equal(s.sum[0].part, "key_1");
	assert_int_equal(s.sum[0].tokens_in, 2);
	assert_string_equal(s.sum[1].part, "key_2");
	assert_int_equal(s.sum[1].tokens_in, 0);
	assert_int_equal(s.sum[1].tool_calls, 4);
	/* The sums by day have them, too. */
	s = sum_up(fx, 0, STORE_SUMS_BY_DAY, "t1");
	assert_int_equal(s.sum[0].responses, 1);
	assert_int_equal(s.sum[0].held_usec, 5);
	assert_int_equal(sum_up(fx, 11, STORE_SUMS_BY_KEY, "").count, 0);
}

static void the_ledger_is_summed_up_by_tenant_and_day(void **state)
{
	struct fixture *fx = *state;
	const struct store_usage rows[] = {
		usage_row("t1", "c1", "created", 1, 10 * DAY_USEC),
		usage_row("t1", "c1", "execution", 7, 10 * DAY_USEC),
		usage_row("t1", "c1", "ended", 100, 11 * DAY_USEC),
		usage_row("t1", "c2", "ended", 50, 11 * DAY_USEC + 1),
		usage_row("t2", "c3", "ended", 5, 11 * DAY_USEC),
	};
	uint64_t assigned;
	struct sums s;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(add_usage(fx, &rows[i]), 0);
	s = sum_up(fx, 0, STORE_SUMS_BY_TENANT, "");
	assert_int_equal(s.count, 2);
	assert_string_equal(s.sum[0].tenant, "t1");
	assert_int_equal(s.sum[0].day, -1);
	assert_int_equal(s.sum[0].sessions, 1);
	assert_int_equal(s.sum[0].executions, 1);
	assert_int_equal(s.sum[0].executing_usec, 7);
	assert_int_equal(s.sum[0].assigned_usec, 150);
	assert_int_equal(s.sum[1].assigned_usec, 5);
	s = sum_up(fx, 10, STORE_SUMS_BY_DAY, "t1");
	assert_int_equal(s.count, 2);
	assert_int_equal(s.sum[0].day, 10);
	assert_int_equal(s.sum[1].assigned_usec, 150);
	assert_int_equal(sum_up(fx, 11, STORE_SUMS_BY_TENANT, "t1").sum[0].sessions, 0);
	assert_int_equal(sum_up(fx, 12, STORE_SUMS_BY_TENANT, "").count, 0);
	assert_int_equal(store_usage_assigned(fx->store, "t1", 11, &assigned),
			 0);
	assert_int_equal(assigned, 150);
	assert_int_equal(store_usage_assigned(fx->store, "t1", 12, &assigned),
			 0);
	assert_int_equal(assigned, 0);
}

static void put_origin(struct fixture *fx, const char *origin, const char *tenant,
		       const char *container, uint64_t assigned, usec_t at)
{
	struct store_usage row = usage_row(tenant, container, "created", 1, at);

	COPY(row.origin, origin);
	assert_int_equal(add_usage(fx, &row), 0);
	COPY(row.kind, "ended");
	row.amount = assigned;
	assert_int_equal(add_usage(fx, &row), 0);
}

static void the_ledger_is_summed_up_by_what_made_the_sessions(void **state)
{
	struct fixture *fx = *state;
	struct sums s;

	put_origin(fx, "api", "t1", "c1", 100, 10 * DAY_USEC);
	put_origin(fx, "conv_1", "t1", "c2", 300, 10 * DAY_USEC);
	put_origin(fx, "conv_1", "t1", "c3", 400, 12 * DAY_USEC);
	put_origin(fx, "conv_2", "t1", "c4", 400, 9 * DAY_USEC + 1);
	put_origin(fx, "conv_1", "t2", "c5", 5, 11 * DAY_USEC);
	s = sum_up(fx, 0, STORE_SUMS_BY_ORIGIN, "");
	assert_int_equal(s.count, 4);
	/* Who used most comes first, and no tenant's are another's. */
	assert_string_equal(s.sum[0].part, "conv_1");
	assert_string_equal(s.sum[0].tenant, "t1");
	assert_int_equal(s.sum[0].sessions, 2);
	assert_int_equal(s.sum[0].assigned_usec, 700);
	assert_string_equal(s.sum[1].part, "conv_2");
	assert_string_equal(s.sum[2].part, "api");
	assert_string_equal(s.sum[3].tenant, "t2");
	assert_int_equal(s.sum[3].assigned_usec, 5);
	s = sum_up(fx, 10, STORE_SUMS_BY_ORIGIN, "t1");
	assert_int_equal(s.count, 2);
	s = sum_up(fx, 11, STORE_SUMS_BY_ORIGIN, "t1");
	assert_int_equal(s.count, 1);
	assert_int_equal(s.sum[0].assigned_usec, 400);
	assert_int_equal(s.sum[0].day, -1);
}

static void an_account_is_closed_once(void **state)
{
	struct fixture *fx = *state;
	const struct store_usage end = usage_row("t1", "c1", "ended", 1, 1);

	assert_int_equal(add_usage(fx, &end), 0);
	assert_int_equal(add_usage(fx, &end), -EEXIST);
	assert_int_equal(sum_up(fx, 0, STORE_SUMS_BY_TENANT, "t1").sum[0].assigned_usec, 1);
}

static void entries_go_and_sums_stay(void **state)
{
	const struct store_sweep_spec spec = { .usage_before_usec = DAY_USEC };
	struct fixture *fx = *state;
	const struct store_usage old = usage_row("t1", "c1", "ended", 9, 1);
	const struct store_usage young =
		usage_row("t1", "c2", "ended", 1, DAY_USEC);

	assert_int_equal(add_usage(fx, &old), 0);
	assert_int_equal(add_usage(fx, &young), 0);
	assert_int_equal(fixture_sweep(fx, &spec).usage, 1);
	assert_int_equal(fixture_sweep(fx, &spec).usage, 0);
	assert_int_equal(sum_up(fx, 0, STORE_SUMS_BY_TENANT, "t1").sum[0].assigned_usec, 10);
}

/* ------------------------------------------------------------------ tenants */

static void put_files(struct store_batch *batch, const struct blob_info *blob,
		      unsigned count)
{
	char id[32];
	unsigned i;

	for (i = 0; i < count; i++) {
		struct store_file file;

		(void)snprintf(id, sizeof(id), "file-%u", i);
		file = file_row(id, "t1", blob);
		(void)store_batch_put_file(batch, &file);
	}
}

/* All kinds of rows that a tenant can have, and one file of another's. */
static void furnish(struct fixture *fx, unsigned files, usec_t ended)
{
	struct store_batch *batch = store_batch_new(fx->store);
	struct store_container container = container_row("cntr_1", "t1");
	const struct store_usage usage =
		usage_row("t1", "cntr_1", "ended", 60, 1);
	struct store_key key = { .scopes = 1, .created_usec = 1 };
	struct store_idempotency answer = { .created_usec = 1 };
	struct store_execution execution;
	struct store_cfile cfile;
	struct store_file other;
	struct blob_info blob;

	assert_int_equal(fixture_write_blob(fx, "x", 1, NULL, &blob), 0);
	container.ended_usec = ended;
	(void)store_batch_put_container(batch, &container);
	put_files(batch, &blob, files);
	other = file_row("file-other", "t2", &blob);
	(void)store_batch_put_file(batch, &other);
	cfile = cfile_row("cfile_1", "cntr_1", "t1", "/mnt/data/a", &blob);
	(void)store_batch_put_cfile(batch, &cfile);
	execution = execution_row("exec_1", "cntr_1", "t1");
	(void)store_batch_put_execution(batch, &execution, NULL);
	COPY(key.id, "key_1");
	COPY(key.tenant, "t1");
	(void)store_batch_put_key(batch, &key);
	COPY(answer.tenant, "t1");
	COPY(answer.key, "k");
	COPY(answer.answer, "cntr_1");
	(void)store_batch_add_idempotency(batch, &answer);
	(void)store_batch_add_usage(batch, &usage);
	assert_int_equal(fixture_commit(fx, batch), 0);
}

static void close_tenant(struct fixture *fx)
{
	struct store_batch *batch = store_batch_new(fx->store);
	struct store_tenant row = { .closed_usec = 5 };

	COPY(row.id, "t1");
	(void)store_batch_put_tenant(batch, &row);
	assert_int_equal(fixture_commit(fx, batch), 0);
}

static void nothing_of_a_closed_tenant_is_left(void **state)
{
	const struct store_sweep_spec spec = { .now_usec = 10 };
	struct fixture *fx = *state;
	struct store_container container;
	struct store_tenant tenant;
	struct store_swept swept;
	struct store_file file;
	struct store_key key;
	struct sums s;

	furnish(fx, 3, 4);
	close_tenant(fx);
	swept = fixture_sweep(fx, &spec);
	assert_int_equal(swept.tenants, 1);
	assert_int_equal(store_tenant_get(fx->store, "t1", &tenant), -ENOENT);
	assert_int_equal(store_key_get(fx->store, "key_1", &key), -ENOENT);
	assert_int_equal(store_container_get(fx->store, NULL, "cntr_1",
					     &container),
			 -ENOENT);
	assert_int_equal(store_file_get(fx->store, "t1", "file-0", &file),
			 -ENOENT);
	/* Another tenant's file holds the content, and the books the sum. */
	assert_int_equal(store_file_get(fx->store, "t2", "file-other", &file),
			 0);
	assert_int_equal(fixture_count_blobs(fx), 1);
	s = sum_up(fx, 0, STORE_SUMS_BY_TENANT, "");
	assert_int_equal(s.count, 1);
	assert_string_equal(s.sum[0].tenant, "");
	assert_int_equal(s.sum[0].assigned_usec, 60);
}

static void erasing_is_bounded_and_waits_for_what_lives(void **state)
{
	const struct store_sweep_spec spec = { .now_usec = 10 };
	struct fixture *fx = *state;
	struct store_container container = container_row("cntr_1", "t1");
	struct store_batch *batch;
	struct store_swept swept;

	furnish(fx, STORE_SWEEP_MAX + 1, 0);
	close_tenant(fx);
	swept = fixture_sweep(fx, &spec);
	assert_true(swept.more);
	assert_int_equal(swept.tenants, 0);
	swept = fixture_sweep(fx, &spec);
	assert_false(swept.more);
	assert_int_equal(swept.tenants, 0);
	batch = store_batch_new(fx->store);
	container.ended_usec = 7;
	(void)store_batch_put_container(batch, &container);
	assert_int_equal(fixture_commit(fx, batch), 0);
	assert_int_equal(fixture_sweep(fx, &spec).tenants, 1);
}

/* ------------------------------------------------------------------- copies */

struct copy {
	bool called;
	int r;
	int fd;
};

static void on_copied(void *userdata, int r, int fd)
{
	struct copy *c = userdata;

	*c = (struct copy){ true, r, fd };
}

static void save(int fd, const char *path)
{
	_cleanup_close_ int to = -1;
	char piece[65536];
	ssize_t n;

	to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(to >= 0);
	while ((n = read(fd, piece, sizeof(piece))) > 0)
		assert_int_equal(write(to, piece, (size_t)n), n);
}

/* More than is copied in one round. */
static void put_much(struct fixture *fx)
{
	enum { SIZE = 4 * 1024 * 1024 };
	_cleanup_free_ char *text = calloc(1, SIZE);
	const struct store_record record = { "{}", 2, text, SIZE, "", 0 };
	const struct store_execution row =
		execution_row("exec_2", "cntr_1", "t1");
	struct store_batch *batch = store_batch_new(fx->store);

	assert_non_null(text);
	(void)store_batch_put_execution(batch, &row, &record);
	assert_int_equal(fixture_commit(fx, batch), 0);
}

static void a_copy_made_under_writes_is_whole(void **state)
{
	struct fixture *fx = *state;
	_cleanup_(db_closep) sqlite3 *db = NULL;
	struct copy c = { .called = false };
	char path[128], backup[128];
	int64_t files, ok;
	unsigned i = 0;
	struct stat st;

	furnish(fx, 2000, 0);
	put_much(fx);
	assert_int_equal(store_backup(fx->store, on_copied, &c), 0);
	assert_int_equal(store_backup(fx->store, on_copied, &c), -EBUSY);
	for (; !c.called; i++) {
		struct store_usage row = usage_row("t2", "c", "cpu", i, 1);

		assert_int_equal(add_usage(fx, &row), 0);
	}
	assert_int_equal(c.r, 0);
	assert_true(i > 1);
	(void)snprintf(backup, sizeof(backup), "%s.backup", fx->db_path);
	assert_int_equal(stat(backup, &st), -1); /* it has no name */
	assert_int_equal(fstat(c.fd, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	(void)snprintf(path, sizeof(path), "%s/copy", fx->dir);
	save(c.fd, path);
	close_fd(&c.fd);
	assert_int_equal(db_open(path, false, &db), 0);
	assert_int_equal(db_query_int(db, "SELECT count(*) FROM files", &files),
			 0);
	assert_int_equal(files, 2001);
	assert_int_equal(db_query_int(db,
				      "SELECT integrity_check = 'ok'"
				      " FROM pragma_integrity_check",
				      &ok),
			 0);
	assert_int_equal(ok, 1);
}

static void a_restored_copy_opens(void **state)
{
	struct fixture *fx = *state;
	struct copy c = { .called = false };
	struct store_file file;

	furnish(fx, 1, 0);
	assert_int_equal(store_backup(fx->store, on_copied, &c), 0);
	while (!c.called)
		assert_true(sd_event_run(fx->event, UINT64_MAX) >= 0);
	fixture_close(fx);
	save(c.fd, fx->db_path);
	close_fd(&c.fd);
	fixture_open(fx, 0);
	assert_int_equal(store_file_get(fx->store, "t1", "file-0", &file), 0);
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_ledger_is_summed_up_by_tenant_and_day),
		TEST(the_ledger_is_summed_up_by_origin_and_by_key),
		TEST(the_ledger_is_summed_up_by_what_made_the_sessions),
		TEST(an_account_is_closed_once),
		TEST(entries_go_and_sums_stay),
		TEST(nothing_of_a_closed_tenant_is_left),
		TEST(erasing_is_bounded_and_waits_for_what_lives),
		TEST(a_copy_made_under_writes_is_whole),
		TEST(a_restored_copy_opens),
	};

	return RUN_TESTS(tests);
}
