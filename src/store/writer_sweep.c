/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "store/blobs.h"
#include "store/db.h"
#include "store/writer_impl.h"

static int sweep_rows(struct writer *w, enum writer_statement which,
		      usec_t before, unsigned *ret_count)
{
	int rc, r;

	if (before == 0)
		return 0;
	if (before > INT64_MAX)
		return -EINVAL;
	rc = sqlite3_bind_int64(w->statements[which], 1, (int64_t)before);
	if (rc != SQLITE_OK)
		return db_errno(w->db, rc);
	r = writer_run(w, which);
	if (r < 0)
		return r;
	*ret_count = (unsigned)sqlite3_changes(w->db);
	return 0;
}

/* Containers last: only those go that have nothing left. */
static int sweep_all_rows(struct writer *w, const struct store_sweep_spec *spec,
			  struct store_swept *swept)
{
	const struct {
		enum writer_statement which;
		usec_t before;
		unsigned *count;
	} kinds[] = {
		{ WRITE_SWEEP_FILES, spec->now_usec, &swept->files },
		{ WRITE_SWEEP_PARTS, spec->now_usec, &swept->parts },
		{ WRITE_SWEEP_UPLOADS, spec->now_usec, &swept->uploads },
		{ WRITE_SWEEP_ANSWERS, spec->now_usec, &swept->answers },
		{ WRITE_SWEEP_CFILES, spec->cfiles_before_usec,
		  &swept->cfiles },
		{ WRITE_SWEEP_EXECUTIONS, spec->executions_before_usec,
		  &swept->executions },
		{ WRITE_SWEEP_CONTAINERS, spec->containers_before_usec,
		  &swept->containers },
		{ WRITE_SWEEP_USAGE, spec->usage_before_usec, &swept->usage },
		{ WRITE_SWEEP_CONVERSATION_ITEMS, spec->talks_before_usec,
		  &swept->conversation_items },
		{ WRITE_SWEEP_CONVERSATIONS, spec->talks_before_usec,
		  &swept->conversations },
		{ WRITE_SWEEP_RESPONSE_ITEMS, spec->talks_before_usec,
		  &swept->response_items },
		{ WRITE_SWEEP_RESPONSES, spec->talks_before_usec,
		  &swept->responses },
	};
	size_t i;
	int r = 0;

	for (i = 0; r >= 0 && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		r = sweep_rows(w, kinds[i].which, kinds[i].before,
			       kinds[i].count);
		swept->more |= *kinds[i].count == STORE_SWEEP_MAX;
	}
	return r;
}

/*
 * What closed tenants had, a bounded part of each kind at a time. A container
 * goes when it has ended; that of a live one is written once more then. The
 * tenant's own row is the last, so that a crash forgets nothing.
 */
static int erase_tenants(struct writer *w, struct store_swept *swept)
{
	int which, changes, r;

	for (which = WRITE_ERASE_TENANT_CFILES;
	     which <= WRITE_ERASE_TENANT_USAGE; which++) {
		r = writer_run(w, (enum writer_statement)which);
		if (r < 0)
			return r;
		changes = sqlite3_changes(w->db);
		swept->erased += (unsigned)changes;
		swept->more |= changes == STORE_SWEEP_MAX;
	}
	r = writer_run(w, WRITE_ERASE_TENANTS);
	if (r >= 0)
		swept->tenants = (unsigned)sqlite3_changes(w->db);
	return r;
}

/* Up to STORE_SWEEP_MAX digests, copied out before the table is changed. */
static int list_unused(struct writer *w, uint8_t found[][HASH_SIZE])
{
	sqlite3_stmt *statement = w->statements[WRITE_UNUSED_BLOBS];
	int count = 0, r;

	for (;;) {
		r = db_step(statement);
		if (r <= 0 || count == STORE_SWEEP_MAX)
			break;
		memcpy(found[count++], sqlite3_column_blob(statement, 0),
		       HASH_SIZE);
	}
	db_reset(statement);
	return r < 0 ? r : count;
}

static int remove_blob(struct writer *w, const uint8_t sha256[HASH_SIZE])
{
	sqlite3_stmt *statement = w->statements[WRITE_DELETE_BLOB];
	int r, rc;

	/* The file first: a row without a file is found again by the next
	 * sweep, a file without a row only at the next start. */
	r = blobs_remove(w->blobs, sha256);
	if (r < 0)
		return r;
	rc = sqlite3_bind_blob(statement, 1, sha256, HASH_SIZE, SQLITE_STATIC);
	return rc != SQLITE_OK ? db_errno(w->db, rc) : db_run(statement);
}

/* Return: how many rows name the blob; -ENOENT if it was never announced. */
static int64_t blob_refs(struct writer *w, const uint8_t sha256[HASH_SIZE])
{
	sqlite3_stmt *statement = w->statements[WRITE_BLOB_REFS];
	int64_t refs = -ENOENT;
	int r, rc;

	rc = sqlite3_bind_blob(statement, 1, sha256, HASH_SIZE, SQLITE_STATIC);
	if (rc != SQLITE_OK)
		return db_errno(w->db, rc);
	r = db_step(statement);
	if (r > 0)
		refs = sqlite3_column_int64(statement, 0);
	db_reset(statement);
	return r < 0 ? r : refs;
}

/* Blobs whose writer or batch came to nothing. */
static int sweep_orphans(struct writer *w)
{
	uint8_t sha256[HASH_SIZE];
	int count = 0, r;

	while (count < STORE_SWEEP_MAX && blobs_take_orphan(w->blobs, sha256)) {
		if (blob_refs(w, sha256) != -ENOENT)
			continue; /* the rows decide */
		r = blobs_remove(w->blobs, sha256);
		if (r < 0 && r != -EBUSY)
			return r;
		count++;
	}
	return count;
}

int writer_sweep_blobs(struct writer *w)
{
	uint8_t found[STORE_SWEEP_MAX][HASH_SIZE];
	int count, removed = 0, i, r;

	r = writer_run(w, WRITE_BEGIN);
	if (r < 0)
		return r;
	count = list_unused(w, found);
	for (i = 0, r = count; r >= 0 && i < count; i++) {
		r = remove_blob(w, found[i]);
		if (r == -EBUSY)
			r = 0; /* about to be announced again */
		else if (r >= 0)
			removed++;
	}
	if (r >= 0)
		r = writer_commit(w);
	else if (sqlite3_get_autocommit(w->db) == 0)
		(void)writer_run(w, WRITE_ROLLBACK);
	return r < 0 ? r : removed;
}

int writer_sweep(struct writer *w, const struct store_sweep_spec *spec,
		 struct store_swept *swept)
{
	int r;

	r = writer_run(w, WRITE_BEGIN);
	if (r < 0)
		return r;
	r = sweep_all_rows(w, spec, swept);
	if (r >= 0)
		r = erase_tenants(w, swept);
	if (r >= 0)
		r = writer_commit(w);
	else if (sqlite3_get_autocommit(w->db) == 0)
		(void)writer_run(w, WRITE_ROLLBACK);
	if (r < 0)
		return r;

	r = writer_sweep_blobs(w);
	if (r < 0)
		return r;
	swept->blobs = (unsigned)r;
	r = sweep_orphans(w);
	if (r < 0)
		return r;
	swept->blobs += (unsigned)r;
	swept->more |= swept->blobs >= STORE_SWEEP_MAX;
	return 0;
}

static int collect_one(void *userdata, const uint8_t sha256[HASH_SIZE])
{
	struct writer *w = userdata;
	int64_t refs;
	int r;

	refs = blob_refs(w, sha256);
	if (refs >= 0)
		return 0;
	if (refs != -ENOENT)
		return (int)refs;
	r = blobs_remove(w->blobs, sha256);
	return r == -EBUSY ? 0 : r;
}

int writer_collect(struct writer *w)
{
	return blobs_each(w->blobs, collect_one, w);
}
