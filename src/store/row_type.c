/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "base/name.h"
#include "store/row_type.h"

static const void *field_at(const struct row_field *f, const void *row)
{
	return (const uint8_t *)row + f->offset;
}

static int field_check(const struct row_field *f, const void *row)
{
	const void *value = field_at(f, row);
	struct store_text text;
	uint64_t number;
	size_t length;

	switch (f->type) {
	case FIELD_TEXT:
		length = strnlen(value, f->size);
		if (length == f->size)
			return -E2BIG;
		return utf8_is_valid(value, length) ? 0 : -EILSEQ;
	case FIELD_LONG:
		memcpy(&text, value, sizeof(text));
		if (text.size > STORE_TEXT_MAX)
			return -E2BIG;
		return utf8_is_valid(text.data, text.size) ? 0 : -EILSEQ;
	case FIELD_U64:
		memcpy(&number, value, sizeof(number));
		return number <= INT64_MAX ? 0 : -E2BIG;
	default:
		return 0;
	}
}

struct store_text *row_type_text(const struct row_type *type, void *row)
{
	size_t i;

	for (i = 0; i < type->field_count; i++)
		if (type->fields[i].type == FIELD_LONG)
			return (struct store_text *)((uint8_t *)row +
						     type->fields[i].offset);
	return NULL;
}

int row_type_check(const struct row_type *type, const void *row)
{
	size_t i;
	int r;

	for (i = 0; i < type->field_count; i++) {
		r = field_check(&type->fields[i], row);
		if (r < 0)
			return r;
	}
	return 0;
}

int row_type_add_insert(const struct row_type *type, struct buf *sql)
{
	const char *separator = "";
	size_t i;
	int r;

	r = buf_printf(sql, "INSERT INTO %s(", type->table);
	for (i = 0; r >= 0 && i < type->field_count; i++) {
		if (type->fields[i].own)
			continue;
		r = buf_printf(sql, "%s%s", separator, type->fields[i].column);
		separator = ", ";
	}
	if (r >= 0)
		r = buf_add_str(sql, ") VALUES (");
	separator = "";
	for (i = 0; r >= 0 && i < type->field_count; i++) {
		if (type->fields[i].own)
			continue;
		r = buf_printf(sql, "%s?", separator);
		separator = ", ";
	}
	return r < 0 ? r : buf_add_str(sql, ")");
}

int row_type_add_update(const struct row_type *type, struct buf *sql)
{
	const char *separator = " UPDATE SET ";
	size_t i, count = 0;
	int r;

	r = buf_add_str(sql, " ON CONFLICT(id) DO");
	for (i = 0; r >= 0 && i < type->field_count; i++) {
		const struct row_field *f = &type->fields[i];

		if (f->own || f->fixed)
			continue;
		r = buf_printf(sql, "%s%s = excluded.%s", separator, f->column,
			       f->column);
		separator = ", ";
		count++;
	}
	if (r >= 0 && count == 0)
		r = buf_add_str(sql, " NOTHING");
	return r;
}

int row_type_add_select(const struct row_type *type, const char *where,
			struct buf *sql)
{
	size_t i;
	int r;

	r = buf_add_str(sql, "SELECT ");
	for (i = 0; r >= 0 && i < type->field_count; i++)
		r = buf_printf(sql, "%s%s", i > 0 ? ", " : "",
			       type->fields[i].column);
	if (r >= 0)
		r = buf_printf(sql, " FROM %s WHERE %s", type->table, where);
	return r;
}

/*
 * SQLITE_STATIC throughout: the row outlives the step, and the caller clears
 * the bindings after it.
 */
static int field_bind(const struct row_field *f, const void *row,
		      sqlite3_stmt *statement, int at)
{
	const void *value = field_at(f, row);
	struct store_text text;
	uint64_t number;
	uint32_t small;
	bool flag;

	switch (f->type) {
	case FIELD_LONG:
		memcpy(&text, value, sizeof(text));
		return sqlite3_bind_text64(statement, at,
					   text.size > 0 ? text.data : "",
					   text.size, SQLITE_STATIC,
					   SQLITE_UTF8);
	case FIELD_TEXT:
		return sqlite3_bind_text(statement, at, value, -1,
					 SQLITE_STATIC);
	case FIELD_BYTES:
		return sqlite3_bind_blob(statement, at, value, (int)f->size,
					 SQLITE_STATIC);
	case FIELD_U64:
		memcpy(&number, value, sizeof(number));
		return sqlite3_bind_int64(statement, at, (int64_t)number);
	case FIELD_U32:
		memcpy(&small, value, sizeof(small));
		return sqlite3_bind_int64(statement, at, small);
	case FIELD_BOOL:
		memcpy(&flag, value, sizeof(flag));
		return sqlite3_bind_int64(statement, at, flag);
	default:
		return SQLITE_MISUSE;
	}
}

int row_type_bind(const struct row_type *type, const void *row,
		  sqlite3_stmt *statement)
{
	int at = 0, rc = SQLITE_OK;
	size_t i;

	for (i = 0; rc == SQLITE_OK && i < type->field_count; i++)
		if (!type->fields[i].own)
			rc = field_bind(&type->fields[i], row, statement, ++at);
	return rc;
}

static void read_bytes(const struct row_field *f, sqlite3_stmt *statement,
		       int column, void *value)
{
	/* The blob (or text) first: asking for its size may convert it. */
	const void *data = sqlite3_column_blob(statement, column);
	size_t length = (size_t)sqlite3_column_bytes(statement, column);
	size_t max = f->type == FIELD_TEXT ? f->size - 1 : f->size;

	memset(value, 0, f->size);
	if (data)
		memcpy(value, data, length < max ? length : max);
}

static void field_read(const struct row_field *f, sqlite3_stmt *statement,
		       int column, void *row)
{
	void *value = (uint8_t *)row + f->offset;
	struct store_text text;
	uint64_t number;
	uint32_t small;
	bool flag;

	if (f->type == FIELD_TEXT || f->type == FIELD_BYTES) {
		read_bytes(f, statement, column, value);
		return;
	}
	if (f->type == FIELD_LONG) {
		text.data = (const char *)sqlite3_column_text(statement, column);
		text.size = (size_t)sqlite3_column_bytes(statement, column);
		memcpy(value, &text, sizeof(text));
		return;
	}
	number = (uint64_t)sqlite3_column_int64(statement, column);
	small = (uint32_t)number;
	flag = number != 0;
	if (f->type == FIELD_U64)
		memcpy(value, &number, sizeof(number));
	else if (f->type == FIELD_U32)
		memcpy(value, &small, sizeof(small));
	else
		memcpy(value, &flag, sizeof(flag));
}

void row_type_read(const struct row_type *type, sqlite3_stmt *statement,
		   void *row)
{
	size_t i;

	for (i = 0; i < type->field_count; i++)
		field_read(&type->fields[i], statement, (int)i, row);
}
