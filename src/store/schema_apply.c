/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>

#include "store/db.h"
#include "store/schema.h"

/* Bringing a database up to date; the steps themselves are in schema.c. */

int schema_check(sqlite3 *db, size_t count, struct error *err)
{
	int64_t application, tables, version;
	int r;

	r = db_query_int(db, "PRAGMA application_id", &application);
	if (r >= 0)
		r = db_query_int(db, "PRAGMA user_version", &version);
	if (r >= 0)
		r = db_query_int(db, "SELECT count(*) FROM sqlite_schema",
				 &tables);
	if (r < 0)
		return error_set_errno(err, r, "Cannot read the database");
	if (application != SCHEMA_APPLICATION_ID &&
	    (application != 0 || tables > 0)) {
		error_set(err, ERR_INTERNAL,
			  "The database was not made by Cupola");
		return -EINVAL;
	}
	if (version < 0 || (uint64_t)version > count) {
		error_set(err, ERR_INTERNAL,
			  "The database has version %lld, made by a newer "
			  "Cupola; this one knows versions up to %zu",
			  (long long)version, count);
		return -EINVAL;
	}
	return (int)version;
}

static int schema_step(sqlite3 *db, const char *step, size_t version)
{
	char pragmas[96];
	int r;

	(void)snprintf(pragmas, sizeof(pragmas),
		       "PRAGMA user_version = %zu; PRAGMA application_id = %d",
		       version, SCHEMA_APPLICATION_ID);
	r = db_exec(db, "BEGIN IMMEDIATE");
	if (r < 0)
		return r;
	r = db_exec(db, step);
	if (r >= 0)
		r = db_exec(db, pragmas);
	if (r >= 0)
		r = db_exec(db, "COMMIT");
	if (r < 0)
		(void)db_exec(db, "ROLLBACK"); /* may have happened already */
	return r;
}

int schema_apply(sqlite3 *db, const char *const *steps, size_t count,
		 struct error *err)
{
	size_t i;
	int r;

	r = schema_check(db, count, err);
	if (r < 0)
		return r;
	for (i = (size_t)r; i < count; i++) {
		r = schema_step(db, steps[i], i + 1);
		if (r < 0)
			return error_set_errno(err, r,
					       "Cannot bring the database from "
					       "version %zu to %zu",
					       i, i + 1);
	}
	return 0;
}
