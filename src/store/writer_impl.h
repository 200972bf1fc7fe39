/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUPOLA_STORE_WRITER_IMPL_H
#define CUPOLA_STORE_WRITER_IMPL_H

/* Shared by writer*.c. */

#include "store/writer.h"

#define STRING_(x) #x
#define STRING(x) STRING_(x)

/* Must be STORE_IDEMPOTENCY_USEC and STORE_SWEEP_MAX, spelled for SQL. */
#define DAY_USEC 86400000000
#define BOUND 500

enum writer_statement {
	WRITE_BEGIN,
	WRITE_COMMIT,
	WRITE_ROLLBACK,
	WRITE_SAVEPOINT,
	WRITE_RELEASE,
	WRITE_ROLLBACK_TO,
	WRITE_BLOB,
	WRITE_SUPERSEDE,
	WRITE_RECORD,
	WRITE_HAS_RECORD,
	WRITE_TOUCH_KEY,
	WRITE_COUNTER,
	WRITE_DELETE_FILE,
	WRITE_DELETE_CFILE,
	WRITE_DELETE_VM,
	WRITE_ERASE_CFILES,
	WRITE_ERASE_EXECUTIONS,
	WRITE_ERASE_MARK,
	WRITE_SWEEP_FILES,
	WRITE_SWEEP_PARTS,
	WRITE_SWEEP_UPLOADS,
	WRITE_SWEEP_CFILES,
	WRITE_SWEEP_EXECUTIONS,
	WRITE_SWEEP_CONTAINERS,
	WRITE_SWEEP_ANSWERS,
	WRITE_SWEEP_USAGE,
	WRITE_ERASE_TENANT_CFILES,
	WRITE_ERASE_TENANT_EXECUTIONS,
	WRITE_ERASE_TENANT_CONTAINERS,
	WRITE_ERASE_TENANT_FILES,
	WRITE_ERASE_TENANT_PARTS,
	WRITE_ERASE_TENANT_UPLOADS,
	WRITE_ERASE_TENANT_KEYS,
	WRITE_ERASE_TENANT_ANSWERS,
	WRITE_ERASE_TENANT_USAGE,
	WRITE_ERASE_TENANTS,
	WRITE_UNUSED_BLOBS,
	WRITE_BLOB_REFS,
	WRITE_DELETE_BLOB,

	WRITE_COUNT,
};

/* In the order of the enum. */
extern const char *const writer_sql[];

struct writer {
	sqlite3 *db;
	struct blobs *blobs;
	sqlite3_stmt *insert[ROW_KIND_COUNT];
	sqlite3_stmt *statements[WRITE_COUNT];
};

/** writer_run() - A statement without rows whose parameters are bound */
int writer_run(struct writer *w, enum writer_statement which);

/** writer_commit() - End the transaction; rolled back if that fails */
int writer_commit(struct writer *w);

#endif
