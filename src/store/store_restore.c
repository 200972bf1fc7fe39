/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store_restore.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/failpoint.h"
#include "base/fs.h"
#include "base/hex.h"
#include "store/blob_write.h"
#include "store/db.h"
#include "store/schema.h"

/* Beside the database while it is looked through. */
#define COPY_SUFFIX ".restore"

struct restore {
	const struct store_restore_spec *spec;
	char *copy;
	struct blobs *blobs;
	uint8_t chunk[BLOB_CHUNK_SIZE];
	struct store_restored restored;
};

static void blobs_freep(struct blobs **blobs)
{
	blobs_free(*blobs);
}

/* SQLite's own files beside a database that is closed, and the file itself. */
static int remove_files(const char *path, bool itself)
{
	static const char *const suffixes[] = { "-wal", "-shm", "" };
	_cleanup_free_ char *name = NULL;
	size_t i;
	int r = 0;

	for (i = 0; i < 2 + (size_t)itself && r >= 0; i++) {
		free(take_ptr(name));
		if (asprintf(&name, "%s%s", path, suffixes[i]) < 0) {
			name = NULL;
			return -ENOMEM;
		}
		if (unlink(name) < 0 && errno != ENOENT)
			r = -errno;
	}
	return r;
}

static int sync_directory_of(const char *path)
{
	_cleanup_free_ char *copy = strdup(path);

	return copy ? fs_sync_dir(AT_FDCWD, dirname(copy)) : -ENOMEM;
}

/* --- the database, under another name --- */

static int copy_bytes(struct restore *re, int to)
{
	ssize_t n, written;

	while ((n = read(re->spec->from_database, re->chunk,
			 sizeof(re->chunk))) > 0) {
		written = write(to, re->chunk, (size_t)n);
		if (written != n)
			return written < 0 ? -errno : -ENOSPC;
	}
	if (n < 0 || fsync(to) < 0)
		return -errno;
	return 0;
}

static int copy_database(struct restore *re, struct error *err)
{
	_cleanup_close_ int to = -1;
	int r = remove_files(re->copy, true);

	if (r >= 0) {
		to = open(re->copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
			  0600);
		r = to < 0 ? -errno : copy_bytes(re, to);
	}
	return r < 0 ? error_set_errno(err, r, "Cannot copy the database") : 0;
}

/* Return: 1 or 0 for what @sql answers, or a negative errno */
static int holds(sqlite3 *db, const char *sql)
{
	int64_t value = 0;
	int r = db_query_int(db, sql, &value);

	return r < 0 ? r : value != 0;
}

static int refuse_damaged(struct error *err)
{
	(void)error_set(err, ERR_BAD_REQUEST,
			"The database of the backup is damaged, or none: take "
			"another backup");
	return -EBADMSG;
}

/* A file of nothing passes for a new database elsewhere, and is no backup. */
static int check_ours(struct restore *re, sqlite3 *db, struct error *err)
{
	struct error why = ERROR_INIT;
	int r = schema_check(db, schema_step_count, &why);

	if (r == -EIO)
		return refuse_damaged(err);
	if (r < 0)
		return error_set(err, ERR_BAD_REQUEST, "%s", why.message);
	if (r == 0)
		return error_set(err, ERR_BAD_REQUEST,
				 "The database of the backup is empty");
	re->restored.version = r;
	return 0;
}

static int check_whole(sqlite3 *db, struct error *err)
{
	int r = holds(db, "SELECT group_concat(integrity_check) = 'ok'"
			  " FROM pragma_integrity_check");

	if (r > 0)
		r = holds(db, "SELECT count(*) = 0"
			      " FROM pragma_foreign_key_check");
	return r > 0 ? 0 : refuse_damaged(err);
}

static int check_database(struct restore *re, sqlite3 *db, struct error *err)
{
	int r;

	/* What is written in a schema must not run with more than SQL's power. */
	r = db_exec(db, "PRAGMA trusted_schema = OFF");
	if (r < 0)
		return error_set_errno(err, r, "Cannot read the backup");
	r = check_ours(re, db, err);
	return r < 0 ? r : check_whole(db, err);
}

/* --- contents --- */

/* With the calls that write uploads, on this thread: digest, floor and fsync. */
static int copy_content(struct restore *re, int from,
			const uint8_t sha256[HASH_SIZE])
{
	struct blob_write w = {
		.blobs = re->blobs,
		.step = BLOB_WRITE_MORE,
		.chunk = re->chunk,
		.expected_bytes = BLOB_LENGTH_UNKNOWN,
		.check_sha256 = true,
		.temp = "restore",
		.fd = -1,
	};
	ssize_t n;

	memcpy(w.expected_sha256, sha256, HASH_SIZE);
	do {
		n = read(from, re->chunk, sizeof(re->chunk));
		w.size = n > 0 ? (size_t)n : 0;
		if (n == 0)
			w.step = BLOB_WRITE_LAST;
		else if (n < 0)
			w.step = BLOB_WRITE_ABORT;
		blob_write_run(&w.job);
	} while (n > 0 && w.result >= 0);
	return n < 0 ? -EIO : w.result;
}

static int open_content(const struct restore *re,
			const uint8_t sha256[HASH_SIZE])
{
	char path[BLOB_PATH_SIZE];
	int fd;

	if (re->spec->from_blobs < 0)
		return -ENOENT;
	blob_path(sha256, path);
	fd = openat(re->spec->from_blobs, path,
		    O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

static int restore_content(struct restore *re, const uint8_t sha256[HASH_SIZE],
			   struct error *err)
{
	char name[2 * HASH_SIZE + 1];
	_cleanup_close_ int fd = -1;
	int r;

	if (blobs_have(re->blobs, sha256)) {
		re->restored.present++;
		return 0;
	}
	fd = open_content(re, sha256);
	if (fd == -ENOENT) {
		re->restored.missing++;
		return 0;
	}
	r = fd < 0 ? fd : copy_content(re, fd, sha256);
	if (r >= 0) {
		re->restored.copied++;
		return 0;
	}
	hex_encode(sha256, HASH_SIZE, name);
	if (r == -EBADMSG)
		(void)error_set(err, ERR_BAD_REQUEST,
				"Content '%s' of the backup is damaged: take "
				"another backup",
				name);
	return error_set_errno(err, r, "Cannot copy content '%s'", name);
}

static int restore_contents(struct restore *re, sqlite3 *db, struct error *err)
{
	_cleanup_(db_finalizep) sqlite3_stmt *named = NULL;
	int r = db_prepare(db, "SELECT sha256 FROM blobs WHERE refs > 0",
			   &named);

	if (r < 0)
		return error_set_errno(err, r, "Cannot read the backup");
	while ((r = db_step(named)) > 0) {
		if (sqlite3_column_bytes(named, 0) != HASH_SIZE)
			return refuse_damaged(err);
		r = restore_content(re, sqlite3_column_blob(named, 0), err);
		if (r < 0)
			return r;
	}
	if (r < 0)
		return error_set_errno(err, r, "Cannot read the backup");
	/* Some may have been deleted meanwhile, but hardly all. */
	if (re->restored.missing > 0 && re->spec->from_blobs < 0)
		return error_set(err, ERR_BAD_REQUEST,
				 "The backup names %llu contents and has no "
				 "directory 'blobs': put it beside its "
				 "'db.sqlite'",
				 (unsigned long long)re->restored.missing);
	return 0;
}

/* --- the swap --- */

static int check_vacant(const struct store_restore_spec *spec,
			struct error *err)
{
	if (spec->replace || access(spec->path, F_OK) < 0)
		return 0;
	(void)error_set(err, ERR_CONFLICT,
			"There is a database already, '%s': restore into "
			"another directory, or add --replace, which discards "
			"all that this one has",
			spec->path);
	return -EEXIST;
}

/*
 * What an old database has in its write-ahead log would be taken for the new
 * one's, so the log must go first; folded in, for the old one is to be whole if
 * the process dies before the rename.
 */
static int retire_old(const char *path)
{
	_cleanup_(db_closep) sqlite3 *db = NULL;
	int r = 0;

	if (access(path, F_OK) >= 0) {
		r = db_open(path, false, &db);
		if (r >= 0)
			r = db_exec(db, "PRAGMA wal_checkpoint(TRUNCATE)");
		db_closep(&db);
		db = NULL;
	}
	if (r >= 0)
		r = remove_files(path, false);
	return r < 0 ? r : sync_directory_of(path);
}

static int put_in_place(struct restore *re, struct error *err)
{
	const char *path = re->spec->path;
	int r = retire_old(path);

	if (r < 0)
		return error_set_errno(err, r,
				       "Cannot close the database that is "
				       "there; move '%s', '-wal' and '-shm' "
				       "away by hand",
				       path);
	r = failpoint("restore-before-rename");
	if (r >= 0 && rename(re->copy, path) < 0)
		r = -errno;
	if (r >= 0)
		r = sync_directory_of(path);
	return r < 0 ? error_set_errno(err, r,
				       "Cannot put the database in "
				       "place") :
		       0;
}

/* The database is closed on the way out, and its log with it. */
static int check_and_copy(struct restore *re, struct error *err)
{
	_cleanup_(db_closep) sqlite3 *db = NULL;
	int r = copy_database(re, err);

	if (r < 0)
		return r;
	r = db_open(re->copy, false, &db);
	if (r < 0)
		return error_set_errno(err, r, "Cannot read the backup");
	r = check_database(re, db, err);
	return r < 0 ? r : restore_contents(re, db, err);
}

static int restore(struct restore *re, struct error *err)
{
	const struct blobs_config config = {
		.event = re->spec->event,
		.dir = re->spec->blobs,
		.free_floor_bytes = re->spec->free_floor_bytes,
	};
	_cleanup_(blobs_freep) struct blobs *blobs = NULL;
	int r = blobs_open(&config, &blobs, err);

	if (r < 0)
		return r;
	re->blobs = blobs;
	r = check_and_copy(re, err);
	if (r >= 0)
		r = put_in_place(re, err);
	if (r < 0)
		(void)remove_files(re->copy, true);
	return r;
}

int store_restore(const struct store_restore_spec *spec,
		  struct store_restored *ret_restored, struct error *err)
{
	_cleanup_free_ struct restore *re = calloc(1, sizeof(*re));
	_cleanup_free_ char *copy = NULL;
	int r = check_vacant(spec, err);

	if (r < 0)
		return r;
	if (!re || asprintf(&copy, "%s" COPY_SUFFIX, spec->path) < 0) {
		copy = NULL;
		return error_set_errno(err, -ENOMEM, "Cannot restore");
	}
	re->spec = spec;
	re->copy = copy;
	r = restore(re, err);
	if (r < 0)
		return r;
	*ret_restored = re->restored;
	return 0;
}
