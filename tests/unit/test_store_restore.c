/* SPDX-License-Identifier: Apache-2.0 */
/* What is refused of a backup, and what is left after each failure. */

#include "store_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fs.h"
#include "store/blob_impl.h"
#include "store/db.h"
#include "store/store_backup.h"
#include "store/store_restore.h"

#define CONTENT "all that is to come back"

/* A backup in DIR/backup, of a store that has file-1 and its content. */
struct backup {
	char dir[80];
	char database[96];
	char blobs[96];
	char blob[192];
};

struct copied {
	bool called;
	int fd;
};

static void on_copied(void *userdata, int r, int fd)
{
	struct copied *c = userdata;

	assert_int_equal(r, 0);
	*c = (struct copied){ true, fd };
}

static void copy_file(int from, const char *path)
{
	_cleanup_close_ int to = -1;
	char piece[65536];
	ssize_t n;

	to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(to >= 0);
	while ((n = read(from, piece, sizeof(piece))) > 0)
		assert_int_equal(write(to, piece, (size_t)n), n);
	assert_int_equal(n, 0);
}

static void put_file(struct fixture *fx, const char *id, const char *content)
{
	struct store_batch *batch = store_batch_new(fx->store);
	struct blob_writer *writer;
	struct blob_info blob;
	struct store_file row;

	assert_int_equal(fixture_write_blob(fx, content, strlen(content),
					    &writer, &blob),
			 0);
	row = file_row(id, "t1", &blob);
	assert_int_equal(store_batch_put_file(batch, &row), 0);
	blob_writer_free(writer);
	assert_int_equal(fixture_commit(fx, batch), 0);
}

static void name_backup(const struct fixture *fx, struct backup *b)
{
	uint8_t sha256[HASH_SIZE];
	char path[BLOB_PATH_SIZE];

	assert_int_equal(hash_sha256(CONTENT, strlen(CONTENT), sha256), 0);
	blob_path(sha256, path);
	(void)snprintf(b->dir, sizeof(b->dir), "%s/backup", fx->dir);
	(void)snprintf(b->database, sizeof(b->database), "%s/db", b->dir);
	(void)snprintf(b->blobs, sizeof(b->blobs), "%s/blobs", b->dir);
	(void)snprintf(b->blob, sizeof(b->blob), "%s/%s", b->blobs, path);
}

static void take_backup(struct fixture *fx, struct backup *b)
{
	struct copied c = { .called = false };
	_cleanup_close_ int from = -1;
	char path[192];

	name_backup(fx, b);
	put_file(fx, "file-1", CONTENT);
	assert_int_equal(store_backup(fx->store, on_copied, &c), 0);
	while (!c.called)
		assert_true(sd_event_run(fx->event, UINT64_MAX) >= 0);
	assert_int_equal(mkdir(b->dir, 0700), 0);
	copy_file(c.fd, b->database);
	close_fd(&c.fd);
	/* DIR/blobs/ab/abcd to DIR/backup/blobs/ab/abcd */
	(void)snprintf(path, sizeof(path), "%s%s", fx->blob_dir,
		       b->blob + strlen(b->blobs));
	from = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(from >= 0);
	strrchr(b->blob, '/')[0] = '\0';
	assert_int_equal(fs_mkdir_p(b->blob, 0700), 0);
	name_backup(fx, b);
	copy_file(from, b->blob);
}

/* As on a new host: nothing of the store is there any more. */
static void lose_everything(struct fixture *fx)
{
	fixture_close(fx);
	assert_int_equal(unlink(fx->db_path), 0);
	assert_int_equal(fs_remove_tree(AT_FDCWD, fx->blob_dir), 0);
}

static void start_anew(struct fixture *fx)
{
	lose_everything(fx);
	fixture_open(fx, 0);
	fixture_add_tenants(fx);
}

static int restore(struct fixture *fx, const struct backup *b, bool replace,
		   struct store_restored *ret, struct error *err)
{
	_cleanup_close_ int database = open(b->database, O_RDONLY | O_CLOEXEC);
	_cleanup_close_ int blobs = fs_open_dir(AT_FDCWD, b->blobs);
	const struct store_restore_spec spec = {
		.event = fx->event,
		.path = fx->db_path,
		.blobs = fx->blob_dir,
		.from_database = database,
		.from_blobs = blobs,
		.replace = replace,
	};

	assert_true(database >= 0);
	return store_restore(&spec, ret, err);
}

static void assert_has_file(struct fixture *fx, const char *id)
{
	char text[sizeof(CONTENT)] = "";
	struct store_file file;
	uint64_t bytes;
	int fd;

	assert_int_equal(store_file_get(fx->store, "t1", id, &file), 0);
	assert_int_equal(blob_open(fx->blobs, file.sha256, &fd, &bytes), 0);
	assert_int_equal(read(fd, text, sizeof(text) - 1), bytes);
	close_fd(&fd);
	assert_string_equal(text, CONTENT);
}

static void assert_nothing_beside(const struct fixture *fx)
{
	static const char *const names[] = { ".restore", ".restore-wal",
					     ".restore-shm", "-wal", "-shm" };
	char path[128];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s%s", fx->db_path,
			       names[i]);
		assert_int_equal(access(path, F_OK), -1);
	}
}

static void a_backup_comes_back_on_a_new_host(void **state)
{
	struct fixture *fx = *state;
	struct store_restored done;
	struct error err = ERROR_INIT;
	struct backup b;

	take_backup(fx, &b);
	lose_everything(fx);
	assert_int_equal(restore(fx, &b, false, &done, &err), 0);
	assert_int_equal(done.copied, 1);
	assert_int_equal(done.missing, 0);
	assert_nothing_beside(fx);
	fixture_open(fx, 0);
	store_flush(fx->store); /* with what the start collects */
	assert_has_file(fx, "file-1");
}

static void what_is_there_is_replaced_only_when_told(void **state)
{
	struct fixture *fx = *state;
	struct store_restored done;
	struct error err = ERROR_INIT;
	struct store_file file;
	struct backup b;

	take_backup(fx, &b);
	put_file(fx, "file-2", "younger than the backup");
	fixture_close(fx);
	assert_int_equal(restore(fx, &b, false, &done, &err), -EEXIST);
	assert_int_equal(err.code, ERR_CONFLICT);
	fixture_open(fx, 0);
	assert_int_equal(store_file_get(fx->store, "t1", "file-2", &file), 0);
	fixture_close(fx);

	error_clear(&err);
	assert_int_equal(restore(fx, &b, true, &done, &err), 0);
	assert_int_equal(done.present, 1);
	assert_nothing_beside(fx);
	fixture_open(fx, 0);
	assert_has_file(fx, "file-1");
	assert_int_equal(store_file_get(fx->store, "t1", "file-2", &file),
			 -ENOENT);
	store_flush(fx->store);
	assert_int_equal(fixture_count_blobs(fx), 1);
}

/* Overwrites part of a file. */
static void spoil(const char *path, off_t at, const char *bytes, size_t size)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, bytes, size, at), size);
}

static void spoil_page(const struct backup *b)
{
	char noise[2048];

	memset(noise, 0x5a, sizeof(noise));
	spoil(b->database, 4096, noise, sizeof(noise));
}

static void spoil_header(const struct backup *b)
{
	spoil(b->database, 0, "no database", 11);
}

static void empty_database(const struct backup *b)
{
	assert_int_equal(truncate(b->database, 0), 0);
}

static void cut_database(const struct backup *b)
{
	assert_int_equal(truncate(b->database, 3 * 4096), 0);
}

static void change(const struct backup *b, const char *sql)
{
	_cleanup_(db_closep) sqlite3 *db = NULL;

	assert_int_equal(db_open(b->database, false, &db), 0);
	assert_int_equal(db_exec(db, sql), 0);
}

static void make_newer(const struct backup *b)
{
	change(b, "PRAGMA user_version = 4711");
}

static void make_foreign(const struct backup *b)
{
	change(b, "PRAGMA application_id = 4711");
}

static void break_reference(const struct backup *b)
{
	change(b, "PRAGMA foreign_keys = OFF;"
		  "DELETE FROM tenants WHERE id = 't1'");
}

static void spoil_content(const struct backup *b)
{
	spoil(b->blob, 0, "A", 1);
}

static void cut_content(const struct backup *b)
{
	assert_int_equal(truncate(b->blob, 3), 0);
}

static void lose_contents(const struct backup *b)
{
	assert_int_equal(fs_remove_tree(AT_FDCWD, b->blobs), 0);
}

static void link_content(const struct backup *b)
{
	assert_int_equal(unlink(b->blob), 0);
	assert_int_equal(symlink("/etc/passwd", b->blob), 0);
}

static void a_bad_backup_changes_nothing(void **state)
{
	static const struct {
		void (*spoil)(const struct backup *b);
		const char *why;
	} bad[] = {
		{ spoil_page, "damaged" },
		{ spoil_header, "damaged" },
		{ empty_database, "empty" },
		{ cut_database, "damaged" },
		{ make_newer, "newer" },
		{ make_foreign, "not made by Cupola" },
		{ break_reference, "damaged" },
		{ spoil_content, "damaged" },
		{ cut_content, "damaged" },
		{ lose_contents, "no directory 'blobs'" },
		{ link_content, "Cannot copy content" },
	};
	struct fixture *fx = *state;
	struct store_restored done;
	struct store_file file;
	struct backup b;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct error err = ERROR_INIT;

		take_backup(fx, &b);
		bad[i].spoil(&b);
		start_anew(fx);
		/* What is there and must stay. */
		put_file(fx, "file-2", "what is there");
		fixture_close(fx);
		assert_true(restore(fx, &b, true, &done, &err) < 0);
		if (!strstr(err.message, bad[i].why))
			fail_msg("%zu: %s", i, err.message);
		assert_nothing_beside(fx);
		fixture_open(fx, 0);
		assert_int_equal(
			store_file_get(fx->store, "t1", "file-2", &file), 0);
		assert_int_equal(fs_remove_tree(AT_FDCWD, b.dir), 0);
		start_anew(fx);
	}
}

/* It may have been deleted between the two copies. */
static void contents_that_are_missing_are_counted(void **state)
{
	struct fixture *fx = *state;
	struct store_restored done;
	struct error err = ERROR_INIT;
	struct store_file file;
	struct backup b;

	take_backup(fx, &b);
	assert_int_equal(unlink(b.blob), 0);
	lose_everything(fx);
	assert_int_equal(restore(fx, &b, false, &done, &err), 0);
	assert_int_equal(done.copied, 0);
	assert_int_equal(done.missing, 1);
	fixture_open(fx, 0);
	assert_int_equal(store_file_get(fx->store, "t1", "file-1", &file), 0);
}

static void run_until_killed(struct fixture *fx, const struct backup *b,
			     bool replace)
{
	struct store_restored done;
	struct error err = ERROR_INIT;
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		(void)setenv("CUPOLA_FAILPOINT", "restore-before-rename:kill9",
			     1);
		fx->event = NULL; /* the parent's */
		if (sd_event_new(&fx->event) < 0)
			_exit(1);
		(void)restore(fx, b, replace, &done, &err);
		_exit(2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void killed_before_the_rename_the_old_store_is_there(void **state)
{
	struct fixture *fx = *state;
	struct store_restored done;
	struct error err = ERROR_INIT;
	struct store_file file;
	struct backup b;

	take_backup(fx, &b);
	put_file(fx, "file-2", "younger than the backup");
	fixture_close(fx);
	run_until_killed(fx, &b, true);
	fixture_open(fx, 0);
	assert_int_equal(store_file_get(fx->store, "t1", "file-2", &file), 0);
	fixture_close(fx);
	assert_int_equal(restore(fx, &b, true, &done, &err), 0);
	assert_nothing_beside(fx);
	fixture_open(fx, 0);
	assert_has_file(fx, "file-1");
}

/* The commits of a daemon that was killed are in a log of their own. */
static void the_log_of_an_old_database_is_not_the_new_ones(void **state)
{
	struct fixture *fx = *state;
	struct store_restored done;
	struct error err = ERROR_INIT;
	struct store_file file;
	struct backup b;
	char wal[128];
	int status;
	pid_t pid;

	take_backup(fx, &b);
	fixture_close(fx);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		fx->event = NULL; /* the parent's */
		if (sd_event_new(&fx->event) < 0)
			_exit(1);
		fixture_open(fx, 0);
		put_file(fx, "file-3", "only in the log");
		(void)raise(SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	(void)snprintf(wal, sizeof(wal), "%s-wal", fx->db_path);
	assert_int_equal(access(wal, F_OK), 0);
	assert_int_equal(restore(fx, &b, true, &done, &err), 0);
	assert_nothing_beside(fx);
	fixture_open(fx, 0);
	assert_has_file(fx, "file-1");
	assert_int_equal(store_file_get(fx->store, "t1", "file-3", &file),
			 -ENOENT);
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_backup_comes_back_on_a_new_host),
		TEST(what_is_there_is_replaced_only_when_told),
		TEST(a_bad_backup_changes_nothing),
		TEST(contents_that_are_missing_are_counted),
		TEST(killed_before_the_rename_the_old_store_is_there),
		TEST(the_log_of_an_old_database_is_not_the_new_ones),
	};

	return RUN_TESTS(tests);
}
