/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/name.h"
#include "store/row_type.h"

#define FIELD(row, member, type_, ...)                                    \
	{                                                                 \
		.column = #member, .type = type_,                         \
		.offset = offsetof(struct row, member),                   \
		.size = sizeof(((struct row *)NULL)->member), __VA_ARGS__ \
	}
#define FIXED .fixed = true
#define OWN .own = true

/* clang-format off */

static const struct row_field tenant_fields[] = {
#define F(...) FIELD(store_tenant, __VA_ARGS__)
	F(id, FIELD_TEXT, FIXED),
	F(created_usec, FIELD_U64, FIXED),
	F(closed_usec, FIELD_U64),
	F(max_sessions, FIELD_U64),
	F(max_executions, FIELD_U64),
	F(max_requests, FIELD_U64),
	F(requests_per_minute, FIELD_U64),
	F(max_bytes, FIELD_U64),
	F(session_seconds_per_day, FIELD_U64),
#undef F
};

static const struct row_field key_fields[] = {
#define F(...) FIELD(store_key, __VA_ARGS__)
	F(id, FIELD_TEXT, FIXED),
	F(tenant, FIELD_TEXT, FIXED),
	F(hash, FIELD_BYTES, FIXED),
	F(name, FIELD_TEXT),
	F(scopes, FIELD_U32),
	F(created_usec, FIELD_U64, FIXED),
	F(expires_usec, FIELD_U64),
	F(revoked_usec, FIELD_U64),
	F(last_used_usec, FIELD_U64),
	F(max_requests, FIELD_U64),
	F(requests_per_minute, FIELD_U64),
#undef F
};

static const struct row_field file_fields[] = {
#define F(...) FIELD(store_file, __VA_ARGS__)
	F(id, FIELD_TEXT, FIXED),
	F(tenant, FIELD_TEXT, FIXED),
	F(filename, FIELD_TEXT),
	F(purpose, FIELD_TEXT),
	F(media_type, FIELD_TEXT),
	F(sha256, FIELD_BYTES, FIXED),
	F(bytes, FIELD_U64, FIXED),
	F(created_usec, FIELD_U64, FIXED),
	F(expires_usec, FIELD_U64),
#undef F
};

static const struct row_field upload_fields[] = {
#define F(...) FIELD(store_upload, __VA_ARGS__)
	F(id, FIELD_TEXT, FIXED),
	F(tenant, FIELD_TEXT, FIXED),
	F(filename, FIELD_TEXT, FIXED),
	F(purpose, FIELD_TEXT, FIXED),
	F(bytes, FIELD_U64, FIXED),
	F(created_usec, FIELD_U64, FIXED),
	F(expires_usec, FIELD_U64, FIXED),
	F(file_expires_sec, FIELD_U64, FIXED),
	F(status, FIELD_TEXT),
	F(file_id, FIELD_TEXT),
#undef F
};

static const struct row_field part_fields[] = {
#define F(...) FIELD(store_part, __VA_ARGS__)
	F(id, FIELD_TEXT, FIXED),
	F(upload_id, FIELD_TEXT, FIXED),
	F(tenant, FIELD_TEXT, FIXED),
	F(sha256, FIELD_BYTES, FIXED),
	F(bytes, FIELD_U64, FIXED),
	F(created_usec, FIELD_U64, FIXED),
#undef F
};

static const struct row_field container_fields[] = {
#define F(...) FIELD(store_container, __VA_ARGS__)
	F(id, FIELD_TEXT, FIXED),
	F(tenant, FIELD_TEXT, FIXED),
	F(key_id, FIELD_TEXT, FIXED),
	F(name, FIELD_TEXT),
	F(dialect, FIELD_TEXT, FIXED),
	F(origin, FIELD_TEXT, FIXED),
	F(pool, FIELD_TEXT),
	F(image, FIELD_TEXT),
	F(vm_id, FIELD_TEXT),
	F(state, FIELD_TEXT),
	F(memory_mib, FIELD_U32),
	F(vm_memory_mib, FIELD_U32),
	F(idle_minutes, FIELD_U32),
	F(kernel_epoch, FIELD_U32),
	F(created_usec, FIELD_U64, FIXED),
	F(last_active_usec, FIELD_U64),
	F(ended_usec, FIELD_U64),
	F(ended_reason, FIELD_TEXT),
	F(usage_executions, FIELD_U64),
	F(usage_assigned_usec, FIELD_U64),
	F(usage_executing_usec, FIELD_U64),
	F(usage_cpu_usec, FIELD_U64),
	F(usage_bytes_in, FIELD_U64),
	F(usage_bytes_out, FIELD_U64),
	F(deleted, FIELD_BOOL, OWN),
#undef F
};

static const struct row_field cfile_fields[] = {
#define F(...) FIELD(store_cfile, __VA_ARGS__)
	F(id, FIELD_TEXT, FIXED),
	F(container_id, FIELD_TEXT, FIXED),
	F(tenant, FIELD_TEXT, FIXED),
	F(path, FIELD_TEXT, FIXED),
	F(path_b64, FIELD_TEXT, FIXED),
	F(path_nfc, FIELD_TEXT, FIXED),
	F(source, FIELD_TEXT),
	F(media_type, FIELD_TEXT),
	F(exec_id, FIELD_TEXT, FIXED),
	F(sha256, FIELD_BYTES, FIXED),
	F(bytes, FIELD_U64, FIXED),
	F(created_usec, FIELD_U64, FIXED),
	F(changed_during_read, FIELD_BOOL, FIXED),
	F(superseded, FIELD_BOOL, OWN),
#undef F
};

static const struct row_field execution_fields[] = {
#define F(...) FIELD(store_execution, __VA_ARGS__)
	F(id, FIELD_TEXT, FIXED),
	F(container_id, FIELD_TEXT, FIXED),
	F(tenant, FIELD_TEXT, FIXED),
	F(number, FIELD_U64, FIXED),
	F(status, FIELD_TEXT),
	F(created_usec, FIELD_U64, FIXED),
	F(started_usec, FIELD_U64),
	F(ended_usec, FIELD_U64),
	F(duration_usec, FIELD_U64),
	F(cpu_usec, FIELD_U64),
	F(peak_memory_bytes, FIELD_U64),
	F(total_bytes, FIELD_U64),
	F(omitted_bytes, FIELD_U64),
	F(execution_count, FIELD_U32),
	F(kernel_epoch, FIELD_U32),
	F(out_truncated, FIELD_BOOL),
	F(err_truncated, FIELD_BOOL),
	F(state_lost, FIELD_BOOL),
	F(note, FIELD_TEXT, FIXED),
	F(has_record, FIELD_BOOL, OWN),
#undef F
};

static const struct row_field vm_fields[] = {
#define F(...) FIELD(store_vm, __VA_ARGS__)
	F(id, FIELD_TEXT, FIXED),
	F(container_id, FIELD_TEXT),
	F(pool, FIELD_TEXT),
	F(pool_generation, FIELD_U32),
	F(image, FIELD_TEXT),
	F(state, FIELD_TEXT),
	F(cid, FIELD_U32, FIXED),
	F(memory_mib, FIELD_U32),
	F(disk_bytes, FIELD_U64),
	F(nonce, FIELD_BYTES, FIXED),
	F(boot_id, FIELD_TEXT, FIXED),
	F(created_usec, FIELD_U64, FIXED),
	F(assigned_usec, FIELD_U64),
	F(assigned_boot_usec, FIELD_U64),
	F(hard_deadline_boot_usec, FIELD_U64),
#undef F
};

static const struct row_field usage_fields[] = {
#define F(...) FIELD(store_usage, __VA_ARGS__)
	F(tenant, FIELD_TEXT),
	F(key_id, FIELD_TEXT),
	F(container_id, FIELD_TEXT),
	F(vm_id, FIELD_TEXT),
	F(exec_id, FIELD_TEXT),
	F(origin, FIELD_TEXT),
	F(kind, FIELD_TEXT),
	F(detail, FIELD_TEXT),
	F(amount, FIELD_U64),
	F(at_usec, FIELD_U64),
#undef F
};

static const struct row_field idempotency_fields[] = {
#define F(...) FIELD(store_idempotency, __VA_ARGS__)
	F(tenant, FIELD_TEXT),
	F(key, FIELD_TEXT),
	F(body_sha256, FIELD_BYTES),
	F(answer, FIELD_TEXT),
	F(created_usec, FIELD_U64),
#undef F
};

static const struct row_field definition_fields[] = {
#define F(...) FIELD(store_definition, __VA_ARGS__)
	F(id, FIELD_TEXT, FIXED),
	F(tenant, FIELD_TEXT, FIXED),
	F(kind, FIELD_TEXT, FIXED),
	F(project, FIELD_TEXT, FIXED),
	F(name, FIELD_TEXT, FIXED),
	F(default_version, FIELD_U64),
	F(last_version, FIELD_U64),
	F(disabled, FIELD_BOOL),
	F(profile, FIELD_TEXT),
	F(created_usec, FIELD_U64, FIXED),
	F(updated_usec, FIELD_U64),
#undef F
};

static const struct row_field definition_version_fields[] = {
#define F(...) FIELD(store_definition_version, __VA_ARGS__)
	F(id, FIELD_TEXT, FIXED),
	F(definition_id, FIELD_TEXT, FIXED),
	F(tenant, FIELD_TEXT, FIXED),
	F(version, FIELD_U64, FIXED),
	F(draft, FIELD_BOOL, FIXED),
	F(text, FIELD_TEXT, FIXED),
	F(created_usec, FIELD_U64, FIXED),
#undef F
};

/* clang-format on */

#define TYPE(table_, row_, fields_, blob_)                            \
	{                                                             \
		.table = (table_), .size = sizeof(struct row_),       \
		.blob = (blob_), .fields = (fields_),                 \
		.field_count = sizeof(fields_) / sizeof((fields_)[0]) \
	}

static const struct row_type types[] = {
	[ROW_TENANT] =
		TYPE("tenants", store_tenant, tenant_fields, ROW_NO_BLOB),
	[ROW_KEY] = TYPE("keys", store_key, key_fields, ROW_NO_BLOB),
	[ROW_FILE] = TYPE("files", store_file, file_fields,
			  offsetof(struct store_file, sha256)),
	[ROW_UPLOAD] =
		TYPE("uploads", store_upload, upload_fields, ROW_NO_BLOB),
	[ROW_PART] = TYPE("parts", store_part, part_fields,
			  offsetof(struct store_part, sha256)),
	[ROW_CONTAINER] = TYPE("containers", store_container, container_fields,
			       ROW_NO_BLOB),
	[ROW_CFILE] = TYPE("cfiles", store_cfile, cfile_fields,
			   offsetof(struct store_cfile, sha256)),
	[ROW_EXECUTION] = TYPE("executions", store_execution, execution_fields,
			       ROW_NO_BLOB),
	[ROW_VM] = TYPE("vms", store_vm, vm_fields, ROW_NO_BLOB),
	[ROW_USAGE] = TYPE("usage", store_usage, usage_fields, ROW_NO_BLOB),
	[ROW_IDEMPOTENCY] = TYPE("idempotency", store_idempotency,
				 idempotency_fields, ROW_NO_BLOB),
	[ROW_DEFINITION] = TYPE("definitions", store_definition,
				definition_fields, ROW_NO_BLOB),
	[ROW_DEFINITION_VERSION] =
		TYPE("definition_versions", store_definition_version,
		     definition_version_fields, ROW_NO_BLOB),
};
static_assert(sizeof(types) / sizeof(types[0]) == ROW_KIND_COUNT,
	      "types[] doesn't match enum row_kind");

const struct row_type *row_type_get(enum row_kind kind)
{
	return &types[kind];
}

static const void *field_at(const struct row_field *f, const void *row)
{
	return (const uint8_t *)row + f->offset;
}

static int field_check(const struct row_field *f, const void *row)
{
	const void *value = field_at(f, row);
	uint64_t number;
	size_t length;

	switch (f->type) {
	case FIELD_TEXT:
		length = strnlen(value, f->size);
		if (length == f->size)
			return -E2BIG;
		return utf8_is_valid(value, length) ? 0 : -EILSEQ;
	case FIELD_U64:
		memcpy(&number, value, sizeof(number));
		return number <= INT64_MAX ? 0 : -E2BIG;
	default:
		return 0;
	}
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
	uint64_t number;
	uint32_t small;
	bool flag;

	switch (f->type) {
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
	uint64_t number;
	uint32_t small;
	bool flag;

	if (f->type == FIELD_TEXT || f->type == FIELD_BYTES) {
		read_bytes(f, statement, column, value);
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
