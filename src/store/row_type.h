/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUPOLA_STORE_ROW_TYPE_H
#define CUPOLA_STORE_ROW_TYPE_H

/*
 * Where each field of a row lies and which column it is.
 *
 * One table per kind of row, from which the SQL is composed, values are bound
 * and columns are read: a field is added in rows.h, in row_type.c and, for the
 * databases that exist, as a step in schema.c.
 */

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "store/rows.h"

enum row_kind {
	ROW_TENANT,
	ROW_KEY,
	ROW_FILE,
	ROW_UPLOAD,
	ROW_PART,
	ROW_CONTAINER,
	ROW_CFILE,
	ROW_EXECUTION,
	ROW_VM,
	ROW_USAGE,
	ROW_IDEMPOTENCY,
	ROW_DEFINITION,
	ROW_DEFINITION_VERSION,
	ROW_CONVERSATION,
	ROW_CONVERSATION_ITEM,
	ROW_CONVERSATION_CONTAINER,
	ROW_RESPONSE,
	ROW_RESPONSE_ITEM,

	ROW_KIND_COUNT,
};

enum field_type {
	FIELD_TEXT,
	FIELD_BYTES,
	FIELD_U64,
	FIELD_U32,
	FIELD_BOOL,
	FIELD_LONG, /* struct store_text; a row has one at most */

	FIELD_TYPE_COUNT,
};

/**
 * struct row_field - A field of a row struct and its column
 * @fixed:	An existing row keeps its value
 * @own:	Written by the store itself, never by a put
 */
struct row_field {
	const char *column;
	size_t offset;
	size_t size;
	enum field_type type;
	bool fixed;
	bool own;
};

#define ROW_NO_BLOB SIZE_MAX

/**
 * struct row_type - A kind of row
 * @size:	Of its struct
 * @blob:	Offset of the SHA-256 that names its blob, or ROW_NO_BLOB
 * @added:	A put is a plain insert: there is no id, or the schema says what
 *		to do about a row that is there
 */
struct row_type {
	const char *table;
	size_t size;
	size_t blob;
	bool added;
	const struct row_field *fields;
	size_t field_count;
};

/* The SQL of one statement; the longest has some 1,500 bytes. */
#define ROW_SQL_MAX 4096

const struct row_type *row_type_get(enum row_kind kind);

/** row_type_text() - The long text of a row, or NULL if its kind has none */
struct store_text *row_type_text(const struct row_type *type, void *row);

/**
 * row_type_check() - Whether the fields can be stored
 *
 * Return: 0; -EILSEQ for text that is not UTF-8, -E2BIG for text without an
 * end or a number above INT64_MAX
 */
int row_type_check(const struct row_type *type, const void *row);

/** row_type_add_insert() - "INSERT INTO table(columns) VALUES(…)" */
int row_type_add_insert(const struct row_type *type, struct buf *sql);

/** row_type_add_update() - " ON CONFLICT(id) DO UPDATE SET …" */
int row_type_add_update(const struct row_type *type, struct buf *sql);

/** row_type_add_select() - "SELECT columns FROM table WHERE @where" */
int row_type_add_select(const struct row_type *type, const char *where,
			struct buf *sql);

/** row_type_bind() - To the parameters of an insert; Return: SQLite's code */
int row_type_bind(const struct row_type *type, const void *row,
		  sqlite3_stmt *statement);

/**
 * row_type_read() - From the columns of a select
 *
 * Long text is the statement's, until that is stepped or reset.
 */
void row_type_read(const struct row_type *type, sqlite3_stmt *statement,
		   void *row);

#endif
