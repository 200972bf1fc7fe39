/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUPOLA_STORE_DB_H
#define CUPOLA_STORE_DB_H

/*
 * SQLite's calls in the manner of this code base: negative errno, statements
 * that are always reset.
 *
 * A connection belongs to one thread and has no locks of its own.
 */

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

void db_closep(sqlite3 **db);
void db_finalizep(sqlite3_stmt **statement);

/**
 * db_open() - Open a connection
 * @readonly:	For reading a database that another connection has opened
 *		before, else made if missing, mode 0600
 */
int db_open(const char *path, bool readonly, sqlite3 **ret);

/**
 * db_errno() - SQLite's last failure on @db as an errno
 * @rc:		What the call returned
 *
 * -ENOSPC, -EEXIST (a key is taken), -ENOENT (a foreign key leads nowhere),
 * -ENOMEM, -EBUSY, -EINVAL (another constraint), else -EIO.
 */
int db_errno(sqlite3 *db, int rc);

/** db_exec() - Run SQL without results */
int db_exec(sqlite3 *db, const char *sql);

/** db_prepare() - Compile a statement that lives as long as the connection */
int db_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **ret);

/** db_bind_text() - NULL binds NULL; the text outlives the step */
int db_bind_text(sqlite3_stmt *statement, int at, const char *text);

/**
 * db_step() - Run a bound statement up to its next row
 *
 * Return: 1 for a row, 0 at the end, or a negative errno
 */
int db_step(sqlite3_stmt *statement);

/** db_reset() - Make a statement ready for its next use, without bindings */
void db_reset(sqlite3_stmt *statement);

/** db_run() - db_step() for a statement without rows, then db_reset() */
int db_run(sqlite3_stmt *statement);

/** db_query_int() - First column of the first row of a query */
int db_query_int(sqlite3 *db, const char *sql, int64_t *ret);

#endif
