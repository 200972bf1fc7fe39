/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/name.h"
#include "store/db.h"
#include "store/impl.h"

/* Reads of whole rows: what they find is a row of @kind. */
static const struct {
	enum row_kind kind;
	const char *where;
} rows[] = {
	[READ_TENANT] = { ROW_TENANT, "id = ?1" },
	[READ_KEY] = { ROW_KEY, "id = ?1" },
	[READ_KEY_BY_HASH] = { ROW_KEY, "hash = ?1" },
	[READ_FILE] = { ROW_FILE, "id = ?1 AND tenant = ?2" },
	[READ_UPLOAD] = { ROW_UPLOAD, "id = ?1 AND tenant = ?2" },
	[READ_PART] = { ROW_PART, "id = ?1 AND tenant = ?2 AND upload_id = ?3" },
	[READ_CONTAINER] = { ROW_CONTAINER,
			     "id = ?1 AND tenant = ?2 AND deleted = 0" },
	[READ_ANY_CONTAINER] = { ROW_CONTAINER, "id = ?1" },
	[READ_CFILE] = { ROW_CFILE,
			 "id = ?1 AND tenant = ?2 AND container_id = ?3" },
	[READ_ANY_CFILE] = { ROW_CFILE, "id = ?1" },
	[READ_CFILE_BY_PATH] = { ROW_CFILE,
				 "path = ?1 AND tenant = ?2 AND container_id = ?3"
				 " AND path_b64 = '' AND superseded = 0" },
	/* The only one, or none. */
	[READ_CFILE_BY_NORMAL_PATH] =
		{ ROW_CFILE, "path_nfc = ?1 AND tenant = ?2 AND container_id = ?3"
			     " AND superseded = 0 AND NOT EXISTS"
			     " (SELECT 1 FROM cfiles o WHERE o.path_nfc = ?1"
			     " AND o.container_id = ?3 AND o.superseded = 0"
			     " AND o.id <> cfiles.id)" },
	[READ_CFILE_GIVEN] = { ROW_CFILE,
			       "path = ?1 AND container_id = ?2"
			       " AND hex(sha256) = ?3 AND source = 'user'"
			       " LIMIT 1" },
	[READ_EXECUTION] = { ROW_EXECUTION,
			     "id = ?1 AND tenant = ?2 AND container_id = ?3" },
	[READ_ANSWER] = { ROW_IDEMPOTENCY, "tenant = ?1 AND key = ?2" },
	[READ_DEFINITION] = { ROW_DEFINITION,
			      "name = ?1 AND tenant = ?2 AND project = ?3"
			      " AND kind = ?4" },
	[READ_DEFINITION_VERSION] = { ROW_DEFINITION_VERSION,
				      "definition_id = ?1 AND tenant = ?2"
				      " AND version = ?3" },
	[READ_DEFINITION_VERSION_NEWEST] = { ROW_DEFINITION_VERSION,
					     "definition_id = ?1"
					     " AND tenant = ?2"
					     " AND version <> ?3"
					     " ORDER BY draft, version DESC"
					     " LIMIT 1" },
	[READ_CONVERSATION] = { ROW_CONVERSATION, "id = ?1 AND tenant = ?2" },
	[READ_CONVERSATION_ITEM] = { ROW_CONVERSATION_ITEM,
				     "id = ?1 AND tenant = ?2 AND owner = ?3" },
	[READ_CONVERSATION_CONTAINER] = { ROW_CONVERSATION_CONTAINER,
					  "agent = ?1 AND tenant = ?2"
					  " AND conversation_id = ?3" },
	[READ_RESPONSE] = { ROW_RESPONSE, "id = ?1 AND tenant = ?2" },
};

static const char assigned_sql[] =
	"SELECT sum(CASE kind WHEN 'ended' THEN amount ELSE -amount END)"
	" FROM usage_days WHERE tenant = ?1 AND day = ?2"
	" AND kind IN ('ended', 'before')";

static const char totals_sql[] =
	"SELECT files, file_bytes, cfiles, cfile_bytes, talk_bytes,"
	" (SELECT count(*) FROM containers"
	" WHERE tenant = ?1 AND ended_usec = 0)"
	" FROM tenants WHERE id = ?1";

/* The item that follows one, in a place that is read piece by piece. */
#define NEXT(table, list)                                                      \
	"SELECT seq, id, json FROM " table " WHERE owner = ?1 AND tenant = ?2" \
	list " AND seq > ?3 ORDER BY seq LIMIT 1"

/* The others, which are read by hand. */
static const char *const values[READ_COUNT] = {
	[READ_RECORD] = "SELECT json, out, err FROM records WHERE id = ?1",
	[READ_COUNTER] = "SELECT value FROM counters WHERE id = ?1",
	[READ_TOTALS] = totals_sql,
	[READ_ASSIGNED] = assigned_sql,
	[READ_DEFINITION_VERSION_COUNT] =
		"SELECT count(*) FROM definition_versions WHERE tenant = ?1",
	[READ_ITEM] = "SELECT json FROM items WHERE id = ?1 AND tenant = ?2"
		      " ORDER BY seq DESC LIMIT 1",
	[READ_RESPONSE_HEAD] = "SELECT previous, items, item_bytes, open"
			       " FROM responses WHERE id = ?1 AND tenant = ?2",
	[READ_NEXT_CONVERSATION_ITEM] = NEXT("conversation_entries", ""),
	[READ_NEXT_RESPONSE_INPUT] =
		NEXT("response_entries", " AND output = 0"),
	[READ_NEXT_RESPONSE_OUTPUT] =
		NEXT("response_entries", " AND output = 1"),
};
static_assert(sizeof(rows) / sizeof(rows[0]) == READ_RECORD,
	      "rows[] doesn't match enum store_read");

int store_read_prepare(struct store *store)
{
	size_t i;
	int r;

	for (i = 0; i < READ_COUNT; i++) {
		_cleanup_(buf_done) struct buf sql = BUF_INIT(ROW_SQL_MAX);

		if (values[i])
			r = buf_add_str(&sql, values[i]);
		else
			r = row_type_add_select(row_type_get(rows[i].kind),
						rows[i].where, &sql);
		if (r >= 0)
			r = db_prepare(store->db, buf_str(&sql),
				       &store->reads[i]);
		if (r < 0)
			return r;
	}
	return 0;
}

/*
 * Step a bound statement and fill in one row. Its long text is kept in @buf,
 * whose ceiling allows for it; NULL: it has none.
 */
static int read_row(struct store *store, enum store_read which,
		    struct buf *buf, void *ret)
{
	const struct row_type *type = row_type_get(rows[which].kind);
	sqlite3_stmt *statement = store->reads[which];
	struct store_text *text;
	int r;

	r = db_step(statement);
	if (r > 0)
		row_type_read(type, statement, ret);
	else if (r == 0)
		r = -ENOENT;
	text = row_type_text(type, ret);
	if (r > 0 && text) {
		buf_clear(buf);
		r = buf_add(buf, text->data, text->size);
		text->data = buf_str(buf);
	}
	db_reset(statement);
	return r < 0 ? r : 0;
}

int store_read_bind(struct store *store, enum store_read which,
		    const char *one, const char *two, const char *three)
{
	const char *const texts[] = { one, two, three };
	size_t i;
	int r = 0;

	for (i = 0; r >= 0 && i < 3 && texts[i]; i++)
		r = db_bind_text(store->reads[which], (int)i + 1, texts[i]);
	return r;
}

int store_read_texts(struct store *store, enum store_read which,
		     const char *one, const char *two, const char *three,
		     void *ret)
{
	return store_read_long(store, which, one, two, three, NULL, ret);
}

int store_read_long(struct store *store, enum store_read which,
		    const char *one, const char *two, const char *three,
		    struct buf *buf, void *ret)
{
	int r;

	r = store_read_bind(store, which, one, two, three);
	return r < 0 ? r : read_row(store, which, buf, ret);
}

int store_tenant_get(struct store *store, const char *id,
		     struct store_tenant *ret)
{
	return store_read_texts(store, READ_TENANT, id, NULL, NULL, ret);
}

int store_key_find(struct store *store, const uint8_t hash[HASH_SIZE],
		   struct store_key *ret)
{
	int rc = sqlite3_bind_blob(store->reads[READ_KEY_BY_HASH], 1, hash,
				   HASH_SIZE, SQLITE_STATIC);

	if (rc != SQLITE_OK)
		return db_errno(store->db, rc);
	return read_row(store, READ_KEY_BY_HASH, NULL, ret);
}

int store_key_get(struct store *store, const char *id, struct store_key *ret)
{
	return store_read_texts(store, READ_KEY, id, NULL, NULL, ret);
}

int store_file_get(struct store *store, const char *tenant, const char *id,
		   struct store_file *ret)
{
	return store_read_texts(store, READ_FILE, id, tenant, NULL, ret);
}

int store_upload_get(struct store *store, const char *tenant, const char *id,
		     struct store_upload *ret)
{
	return store_read_texts(store, READ_UPLOAD, id, tenant, NULL, ret);
}

int store_part_get(struct store *store, const char *tenant,
		   const char *upload_id, const char *id,
		   struct store_part *ret)
{
	return store_read_texts(store, READ_PART, id, tenant, upload_id, ret);
}

int store_container_get(struct store *store, const char *tenant, const char *id,
			struct store_container *ret)
{
	if (!tenant)
		return store_read_texts(store, READ_ANY_CONTAINER, id, NULL, NULL,
				    ret);
	return store_read_texts(store, READ_CONTAINER, id, tenant, NULL, ret);
}

int store_cfile_get(struct store *store, const char *tenant,
		    const char *container_id, const char *id,
		    struct store_cfile *ret)
{
	if (!tenant)
		return store_read_texts(store, READ_ANY_CFILE, id, NULL, NULL, ret);
	return store_read_texts(store, READ_CFILE, id, tenant, container_id, ret);
}

int store_cfile_find(struct store *store, const char *tenant,
		     const char *container_id, const char *path,
		     struct store_cfile *ret)
{
	_cleanup_(buf_done) struct buf normal = BUF_INIT(STORE_PATH_SIZE - 1);
	int r;

	r = store_read_texts(store, READ_CFILE_BY_PATH, path, tenant, container_id,
			 ret);
	if (r != -ENOENT)
		return r;
	r = name_add_normal(&normal, path, strlen(path));
	/* No file is called what is no name. */
	if (r == -EILSEQ || r == -EMSGSIZE)
		return -ENOENT;
	if (r < 0)
		return r;
	return store_read_texts(store, READ_CFILE_BY_NORMAL_PATH, buf_str(&normal),
			    tenant, container_id, ret);
}

int store_cfile_given(struct store *store, const char *container_id,
		      const char *path, const uint8_t sha256[HASH_SIZE])
{
	struct store_cfile row;
	char digest[2 * HASH_SIZE + 1];
	size_t i;

	for (i = 0; i < HASH_SIZE; i++)
		(void)snprintf(digest + 2 * i, 3, "%02X", sha256[i]);
	return store_read_texts(store, READ_CFILE_GIVEN, path, container_id,
				digest, &row);
}

int store_execution_get(struct store *store, const char *tenant,
			const char *container_id, const char *id,
			struct store_execution *ret)
{
	return store_read_texts(store, READ_EXECUTION, id, tenant, container_id,
			    ret);
}

/* Only the offset is known until the buffer stops growing. */
static int add_piece(sqlite3_stmt *statement, int column, struct buf *buf,
		     size_t *ret_size)
{
	const void *data = sqlite3_column_blob(statement, column);

	*ret_size = (size_t)sqlite3_column_bytes(statement, column);
	return buf_add(buf, data, *ret_size);
}

static int read_record(sqlite3_stmt *statement, struct buf *buf,
		       struct store_record *ret)
{
	struct store_record record;
	int r;

	buf_clear(buf);
	r = add_piece(statement, 0, buf, &record.json_size);
	if (r >= 0)
		r = add_piece(statement, 1, buf, &record.out_size);
	if (r >= 0)
		r = add_piece(statement, 2, buf, &record.err_size);
	if (r < 0)
		return r;
	record.json = buf_str(buf);
	record.out = record.json + record.json_size;
	record.err = record.json + record.json_size + record.out_size;
	*ret = record;
	return 0;
}

int store_execution_record(struct store *store, const char *id, struct buf *buf,
			   struct store_record *ret)
{
	sqlite3_stmt *statement = store->reads[READ_RECORD];
	int r;

	r = db_bind_text(statement, 1, id);
	if (r < 0)
		return r;
	r = db_step(statement);
	if (r > 0)
		r = read_record(statement, buf, ret);
	else if (r == 0)
		r = -ENOENT;
	db_reset(statement);
	return r;
}

int store_idempotency_get(struct store *store, const char *tenant,
			  const char *key, usec_t now_usec,
			  struct store_idempotency *ret)
{
	struct store_idempotency row;
	int r;

	r = store_read_texts(store, READ_ANSWER, tenant, key, NULL, &row);
	if (r < 0)
		return r;
	if (usec_add(row.created_usec, STORE_IDEMPOTENCY_USEC) <= now_usec)
		return -ENOENT;
	*ret = row;
	return 0;
}

int store_definition_get(struct store *store, const char *tenant,
			 const char *kind, const char *project,
			 const char *name, struct store_definition *ret)
{
	int r = db_bind_text(store->reads[READ_DEFINITION], 4, kind);

	if (r < 0)
		return r;
	return store_read_texts(store, READ_DEFINITION, name, tenant, project, ret);
}

static int read_version(struct store *store, enum store_read which,
			const char *tenant, const char *definition_id,
			uint64_t version, struct store_definition_version *ret)
{
	sqlite3_stmt *statement = store->reads[which];
	int rc;

	if (version > INT64_MAX)
		return -ENOENT;
	rc = sqlite3_bind_int64(statement, 3, (int64_t)version);
	if (rc != SQLITE_OK)
		return db_errno(store->db, rc);
	return store_read_texts(store, which, definition_id, tenant, NULL, ret);
}

int store_definition_version_get(struct store *store, const char *tenant,
				 const char *definition_id, uint64_t version,
				 struct store_definition_version *ret)
{
	return read_version(store, READ_DEFINITION_VERSION, tenant,
			    definition_id, version, ret);
}

int store_definition_version_newest(struct store *store, const char *tenant,
				    const char *definition_id, uint64_t but,
				    struct store_definition_version *ret)
{
	return read_version(store, READ_DEFINITION_VERSION_NEWEST, tenant,
			    definition_id, but, ret);
}

int store_definition_version_count(struct store *store, const char *tenant,
				   uint64_t *ret)
{
	sqlite3_stmt *statement = store->reads[READ_DEFINITION_VERSION_COUNT];
	int r;

	r = db_bind_text(statement, 1, tenant);
	if (r < 0)
		return r;
	r = db_step(statement);
	if (r > 0)
		*ret = (uint64_t)sqlite3_column_int64(statement, 0);
	db_reset(statement);
	return r < 0 ? r : 0;
}

int store_counter_get(struct store *store, enum store_counter counter,
		      uint64_t *ret)
{
	sqlite3_stmt *statement = store->reads[READ_COUNTER];
	int rc, r;

	assert(counter < STORE_COUNTER_COUNT);
	rc = sqlite3_bind_int64(statement, 1, counter);
	if (rc != SQLITE_OK)
		return db_errno(store->db, rc);
	r = db_step(statement);
	if (r >= 0)
		*ret = r > 0 ? (uint64_t)sqlite3_column_int64(statement, 0) : 0;
	db_reset(statement);
	return r < 0 ? r : 0;
}

int store_tenant_totals(struct store *store, const char *tenant,
			struct store_totals *ret)
{
	sqlite3_stmt *statement = store->reads[READ_TOTALS];
	struct store_totals totals = { 0 };
	uint64_t *const fields[] = { &totals.files, &totals.file_bytes,
				     &totals.cfiles, &totals.cfile_bytes,
				     &totals.talk_bytes,
				     &totals.live_containers };
	size_t i;
	int r;

	r = db_bind_text(statement, 1, tenant);
	if (r < 0)
		return r;
	r = db_step(statement);
	if (r > 0)
		for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
			*fields[i] = (uint64_t)sqlite3_column_int64(statement,
								    (int)i);
	db_reset(statement);
	if (r < 0)
		return r;
	*ret = totals;
	return 0;
}
