/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUPOLA_STORE_WRITER_IMPL_H
#define CUPOLA_STORE_WRITER_IMPL_H

/* Shared by writer.c and writer_sweep.c. */

#include "store/writer.h"

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
	WRITE_SWEEP_CFILES,
	WRITE_SWEEP_EXECUTIONS,
	WRITE_SWEEP_CONTAINERS,
	WRITE_SWEEP_ANSWERS,
	WRITE_UNUSED_BLOBS,
	WRITE_BLOB_REFS,
	WRITE_DELETE_BLOB,

	WRITE_COUNT,
};

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
