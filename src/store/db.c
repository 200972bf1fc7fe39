/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "store/db.h"

/* Waits for a lock happen while another connection closes or recovers. */
#define DB_BUSY_MSEC 1000

void db_closep(sqlite3 **db)
{
	/* Fails only with statements left, and then waits for their end. */
	(void)sqlite3_close_v2(*db);
}

void db_finalizep(sqlite3_stmt **statement)
{
	/* Repeats the failure of the last step, which was seen then. */
	(void)sqlite3_finalize(*statement);
}

static int errno_of_constraint(int extended)
{
	switch (extended) {
	case SQLITE_CONSTRAINT_UNIQUE:
	case SQLITE_CONSTRAINT_PRIMARYKEY:
		return -EEXIST;
	case SQLITE_CONSTRAINT_FOREIGNKEY:
		return -ENOENT;
	default:
		return -EINVAL;
	}
}

/* SQLite tells a full disk from others only when write() said ENOSPC. */
static int errno_of_io(sqlite3 *db)
{
	switch (sqlite3_system_errno(db)) {
	case ENOSPC:
	case EDQUOT:
	case EFBIG:
		return -ENOSPC;
	default:
		return -EIO;
	}
}

int db_errno(sqlite3 *db, int rc)
{
	switch (rc & 0xff) {
	case SQLITE_OK:
	case SQLITE_ROW:
	case SQLITE_DONE:
		return 0;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_CONSTRAINT:
		return errno_of_constraint(sqlite3_extended_errcode(db));
	case SQLITE_IOERR:
		if (sqlite3_extended_errcode(db) == SQLITE_IOERR_NOMEM)
			return -ENOMEM;
		return errno_of_io(db);
	default:
		return errno_of_io(db);
	}
}

/* SQLite makes files 0644 less umask, and its -wal and -shm like the first. */
static int create_private(const char *path)
{
	_cleanup_close_ int fd = -1;

	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	return fd < 0 ? -errno : 0;
}

int db_open(const char *path, bool readonly, sqlite3 **ret)
{
	int flags = SQLITE_OPEN_NOMUTEX;
	_cleanup_(db_closep) sqlite3 *db = NULL;
	int r, rc;

	if (readonly) {
		flags |= SQLITE_OPEN_READONLY;
	} else {
		flags |= SQLITE_OPEN_READWRITE;
		r = create_private(path);
		if (r < 0)
			return r;
	}
	rc = sqlite3_open_v2(path, &db, flags, NULL);
	if (!db)
		return -ENOMEM;
	if (rc != SQLITE_OK)
		return db_errno(db, rc);
	(void)sqlite3_extended_result_codes(db, 1);
	(void)sqlite3_busy_timeout(db, DB_BUSY_MSEC);
	/* Else a kill may leave what it was sorting in the temporary directory. */
	r = db_exec(db, "PRAGMA temp_store = MEMORY");
	if (r < 0)
		return r;
	*ret = take_ptr(db);
	return 0;
}

int db_exec(sqlite3 *db, const char *sql)
{
	return db_errno(db, sqlite3_exec(db, sql, NULL, NULL, NULL));
}

int db_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **ret)
{
	return db_errno(db, sqlite3_prepare_v3(db, sql, -1,
					       SQLITE_PREPARE_PERSISTENT, ret,
					       NULL));
}

int db_bind_text(sqlite3_stmt *statement, int at, const char *text)
{
	return db_errno(
		sqlite3_db_handle(statement),
		sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC));
}

int db_step(sqlite3_stmt *statement)
{
	int rc = sqlite3_step(statement);

	if (rc == SQLITE_ROW)
		return 1;
	return db_errno(sqlite3_db_handle(statement), rc);
}

void db_reset(sqlite3_stmt *statement)
{
	/* Repeats the failure of the last step, which was seen then. */
	(void)sqlite3_reset(statement);
	(void)sqlite3_clear_bindings(statement);
}

int db_run(sqlite3_stmt *statement)
{
	int r = db_step(statement);

	db_reset(statement);
	return r < 0 ? r : 0;
}

int db_query_int(sqlite3 *db, const char *sql, int64_t *ret)
{
	_cleanup_(db_finalizep) sqlite3_stmt *statement = NULL;
	int r;

	r = db_prepare(db, sql, &statement);
	if (r < 0)
		return r;
	r = db_step(statement);
	if (r < 0)
		return r;
	if (r == 0)
		return -ENOENT;
	*ret = sqlite3_column_int64(statement, 0);
	return 0;
}
