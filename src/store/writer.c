/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Theory of operation: every put, delete and removal of blobs happens here, on
 * one thread, one after the other. That order is what makes it safe to look
 * whether a blob exists before a row names it: nobody can remove it in
 * between.
 */

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/failpoint.h"
#include "store/blobs.h"
#include "store/db.h"
#include "store/schema.h"
#include "store/writer_impl.h"

/* FULL: a commit is on the disk when it returns, not only in order. */
static const char pragmas[] = "PRAGMA journal_mode = WAL;"
			      "PRAGMA synchronous = FULL;"
			      "PRAGMA foreign_keys = ON;"
			      "PRAGMA trusted_schema = OFF;"
			      "PRAGMA journal_size_limit = 16777216;";

static int prepare_insert(struct writer *w, enum row_kind kind)
{
	const struct row_type *type = row_type_get(kind);
	_cleanup_(buf_done) struct buf sql = BUF_INIT(ROW_SQL_MAX);
	int r;

	r = row_type_add_insert(type, &sql);
	if (r < 0)
		return r;
	if (kind == ROW_IDEMPOTENCY)
		r = buf_add_str(&sql,
				" ON CONFLICT (tenant, key) DO UPDATE SET"
				" body_sha256 = excluded.body_sha256,"
				" answer = excluded.answer,"
				" created_usec = excluded.created_usec"
				" WHERE created_usec + " STRING(
					DAY_USEC) " <= excluded.created_usec");
	else if (!type->added)
		r = row_type_add_update(type, &sql);
	if (r < 0)
		return r;
	return db_prepare(w->db, buf_str(&sql), &w->insert[kind]);
}

static int writer_prepare(struct writer *w)
{
	size_t i;
	int r = 0;

	for (i = 0; r >= 0 && i < WRITE_COUNT; i++)
		r = db_prepare(w->db, writer_sql[i], &w->statements[i]);
	for (i = 0; r >= 0 && i < ROW_KIND_COUNT; i++)
		r = prepare_insert(w, i);
	return r;
}

static void writer_freep(struct writer **w)
{
	writer_free(*w);
}

int writer_open(const char *path, struct blobs *blobs, struct writer **ret,
		struct error *err)
{
	_cleanup_(writer_freep) struct writer *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return error_set_errno(err, -ENOMEM,
				       "Cannot open the database");
	w->blobs = blobs;
	r = db_open(path, false, &w->db);
	if (r < 0)
		return error_set_errno(err, r, "Cannot open the database '%s'",
				       path);
	/* Before the first change: it may not be ours. */
	r = schema_check(w->db, schema_step_count, err);
	if (r < 0)
		return r;
	r = db_exec(w->db, pragmas);
	if (r < 0)
		return error_set_errno(err, r, "Cannot set up the database");
	r = schema_apply(w->db, schema_steps, schema_step_count, err);
	if (r < 0)
		return r;
	r = writer_prepare(w);
	if (r < 0)
		return error_set_errno(err, r, "Cannot set up the database");
	*ret = take_ptr(w);
	return 0;
}

void writer_free(struct writer *w)
{
	size_t i;

	if (!w)
		return;
	for (i = 0; i < WRITE_COUNT; i++)
		db_finalizep(&w->statements[i]);
	for (i = 0; i < ROW_KIND_COUNT; i++)
		db_finalizep(&w->insert[i]);
	db_closep(&w->db);
	free(w);
}

sqlite3 *writer_db(struct writer *w)
{
	return w->db;
}

int writer_run(struct writer *w, enum writer_statement which)
{
	return db_run(w->statements[which]);
}

static int run_with_id(struct writer *w, enum writer_statement which,
		       const char *id)
{
	int r = db_bind_text(w->statements[which], 1, id);

	return r < 0 ? r : writer_run(w, which);
}

static int run_with_value(struct writer *w, enum writer_statement which,
			  uint64_t value)
{
	int rc = sqlite3_bind_int64(w->statements[which], 2, (int64_t)value);

	return rc != SQLITE_OK ? db_errno(w->db, rc) : writer_run(w, which);
}

/* The blob must be there before a row may name it. */
static int announce_blob(struct writer *w, const uint8_t *sha256)
{
	sqlite3_stmt *statement = w->statements[WRITE_BLOB];
	int rc;

	if (!blobs_have(w->blobs, sha256))
		return -ENOENT;
	rc = sqlite3_bind_blob(statement, 1, sha256, HASH_SIZE, SQLITE_STATIC);
	return rc != SQLITE_OK ? db_errno(w->db, rc) : db_run(statement);
}

static int supersede(struct writer *w, const struct store_cfile *row)
{
	sqlite3_stmt *statement = w->statements[WRITE_SUPERSEDE];
	int r;

	r = db_bind_text(statement, 1, row->container_id);
	if (r >= 0)
		r = db_bind_text(statement, 2, row->path);
	if (r >= 0)
		r = db_bind_text(statement, 3, row->path_b64);
	if (r >= 0)
		r = db_bind_text(statement, 4, row->id);
	return r < 0 ? r : db_run(statement);
}

/* An empty piece is bound as such: SQLite takes a NULL pointer for NULL. */
static int bind_piece(sqlite3_stmt *statement, int at, const void *data,
		      size_t size)
{
	return sqlite3_bind_blob64(statement, at, size > 0 ? data : "", size,
				   SQLITE_STATIC);
}

static int put_record(struct writer *w, const char *id,
		      const struct store_record *record)
{
	sqlite3_stmt *statement = w->statements[WRITE_RECORD];
	int rc, r;

	rc = sqlite3_bind_text(statement, 1, id, -1, SQLITE_STATIC);
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_text64(statement, 2, record->json,
					 record->json_size, SQLITE_STATIC,
					 SQLITE_UTF8);
	if (rc == SQLITE_OK)
		rc = bind_piece(statement, 3, record->out, record->out_size);
	if (rc == SQLITE_OK)
		rc = bind_piece(statement, 4, record->err, record->err_size);
	if (rc != SQLITE_OK)
		return db_errno(w->db, rc);
	r = db_run(statement);
	return r < 0 ? r : run_with_id(w, WRITE_HAS_RECORD, id);
}

static int insert_row(struct writer *w, const struct op *op)
{
	sqlite3_stmt *statement = w->insert[op->type];
	int rc, r;

	rc = row_type_bind(row_type_get(op->type), op->row, statement);
	if (rc != SQLITE_OK)
		return db_errno(w->db, rc);
	r = db_run(statement);
	/* The one insert whose conflict is told by doing nothing. */
	if (r >= 0 && op->type == ROW_IDEMPOTENCY &&
	    sqlite3_changes(w->db) == 0)
		return -EEXIST;
	return r;
}

static int apply_put(struct writer *w, const struct op *op)
{
	const uint8_t *blob = op_blob(op);
	int r = 0;

	if (blob)
		r = announce_blob(w, blob);
	if (r >= 0 && op->type == ROW_CFILE)
		r = supersede(w, op->row);
	if (r >= 0)
		r = insert_row(w, op);
	if (r >= 0 && op->record.json) {
		const struct store_execution *row = op->row;

		r = put_record(w, row->id, &op->record);
	}
	return r;
}

static int drop_item(struct writer *w, const struct op *op)
{
	sqlite3_stmt *statement = w->statements[WRITE_DELETE_CONVERSATION_ITEM];
	int r;

	r = db_bind_text(statement, 2, op->owner);
	return r < 0 ? r : run_with_id(w, WRITE_DELETE_CONVERSATION_ITEM, op->id);
}

static int apply_delete(struct writer *w, const struct op *op)
{
	switch (op->type) {
	case ROW_FILE:
		return run_with_id(w, WRITE_DELETE_FILE, op->id);
	case ROW_CFILE:
		return run_with_id(w, WRITE_DELETE_CFILE, op->id);
	case ROW_VM:
		return run_with_id(w, WRITE_DELETE_VM, op->id);
	case ROW_DEFINITION:
		return run_with_id(w, WRITE_DELETE_DEFINITION, op->id);
	case ROW_DEFINITION_VERSION:
		return run_with_id(w, WRITE_DELETE_DEFINITION_VERSION, op->id);
	case ROW_CONVERSATION:
		return run_with_id(w, WRITE_DELETE_CONVERSATION, op->id);
	case ROW_CONVERSATION_ITEM:
		return drop_item(w, op);
	case ROW_RESPONSE:
		return run_with_id(w, WRITE_DELETE_RESPONSE, op->id);
	default:
		return -EINVAL;
	}
}

static int apply_erase_container(struct writer *w, const struct op *op)
{
	int r;

	r = run_with_id(w, WRITE_ERASE_CFILES, op->id);
	if (r >= 0)
		r = run_with_id(w, WRITE_ERASE_EXECUTIONS, op->id);
	if (r >= 0)
		r = run_with_id(w, WRITE_ERASE_MARK, op->id);
	return r;
}

static int run_with_both(struct writer *w, enum writer_statement which,
			 const struct op *op)
{
	int r = db_bind_text(w->statements[which], 1, op->id);

	return r < 0 ? r : run_with_value(w, which, op->value);
}

static int apply_touch(struct writer *w, const struct op *op)
{
	return run_with_both(w, op->type == ROW_KEY ? WRITE_TOUCH_KEY :
						      WRITE_TOUCH_CONVERSATION,
			     op);
}

static int apply_trim_outputs(struct writer *w, const struct op *op)
{
	return run_with_both(w, WRITE_TRIM_OUTPUTS, op);
}

static int apply_append(struct writer *w, const struct op *op)
{
	return run_with_id(w, WRITE_APPEND, op->id);
}

static int apply_set_counter(struct writer *w, const struct op *op)
{
	int rc = sqlite3_bind_int64(w->statements[WRITE_COUNTER], 1,
				    op->counter);

	if (rc != SQLITE_OK)
		return db_errno(w->db, rc);
	return run_with_value(w, WRITE_COUNTER, op->value);
}

static int (*const apply[])(struct writer *w, const struct op *op) = {
	[OP_PUT] = apply_put,
	[OP_DELETE] = apply_delete,
	[OP_ERASE_CONTAINER] = apply_erase_container,
	[OP_TOUCH] = apply_touch,
	[OP_SET_COUNTER] = apply_set_counter,
	[OP_TRIM_OUTPUTS] = apply_trim_outputs,
	[OP_APPEND] = apply_append,
};
static_assert(sizeof(apply) / sizeof(apply[0]) == OP_KIND_COUNT,
	      "apply[] doesn't match enum op_kind");

static int apply_batch(struct writer *w, const struct store_batch *batch)
{
	const struct op *op;
	int r = 0;

	for (op = batch->first; r >= 0 && op; op = op->next)
		r = apply[op->kind](w, op);
	return r;
}

/* Return: whether the transaction still stands. */
static bool apply_in_savepoint(struct writer *w, struct store_batch *batch)
{
	int r;

	r = writer_run(w, WRITE_SAVEPOINT);
	if (r >= 0) {
		r = apply_batch(w, batch);
		/* SQLite gives up the whole transaction when the disk is full
		 * or broken. */
		if (r < 0 && sqlite3_get_autocommit(w->db) == 0)
			(void)writer_run(w, WRITE_ROLLBACK_TO);
		if (sqlite3_get_autocommit(w->db) == 0 &&
		    writer_run(w, WRITE_RELEASE) < 0)
			return false;
	}
	batch->result = r < 0 ? r : 0;
	return sqlite3_get_autocommit(w->db) == 0;
}

int writer_commit(struct writer *w)
{
	int r;

	r = failpoint("store-before-commit");
	if (r >= 0)
		r = writer_run(w, WRITE_COMMIT);
	if (r < 0 && sqlite3_get_autocommit(w->db) == 0)
		(void)writer_run(w, WRITE_ROLLBACK);
	if (r >= 0)
		(void)failpoint("store-after-commit");
	return r;
}

static int commit_once(struct writer *w, struct store_batch *group)
{
	struct store_batch *batch;
	int r;

	r = writer_run(w, WRITE_BEGIN);
	if (r < 0)
		return r;
	for (batch = group; batch; batch = batch->next) {
		/*
		 * Without memory for one, none: tried again later, it would
		 * come after those that were behind it.
		 */
		if (apply_in_savepoint(w, batch) && batch->result != -ENOMEM)
			continue;
		if (sqlite3_get_autocommit(w->db) == 0)
			(void)writer_run(w, WRITE_ROLLBACK);
		return batch->result < 0 ? batch->result : -EIO;
	}
	return writer_commit(w);
}

static void commit_alone(struct writer *w, struct store_batch *batch)
{
	struct store_batch *next = batch->next;
	int r;

	batch->next = NULL;
	r = commit_once(w, batch);
	if (r < 0)
		batch->result = r;
	batch->next = next;
}

void writer_commit_group(struct writer *w, struct store_batch *group)
{
	struct store_batch *batch;
	bool deletes = false;
	int r;

	r = commit_once(w, group);
	if (r < 0 && (group->next || r == -ENOMEM))
		for (batch = group; batch; batch = batch->next)
			commit_alone(w, batch);
	else if (r < 0)
		group->result = r;

	for (batch = group; batch; batch = batch->next)
		deletes |= batch->deletes && batch->result == 0;
	/* What a client deletes is gone when it is told so. What fails or is
	 * too much here is left to the next sweep. */
	if (deletes)
		(void)writer_sweep_blobs(w);
}
