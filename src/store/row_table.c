/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>

#include "store/row_type.h"

/* The tables of row_type.h. */

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
	F(trace, FIELD_TEXT, FIXED),
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
	F(response_id, FIELD_TEXT),
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

static const struct row_field conversation_fields[] = {
#define F(...) FIELD(store_conversation, __VA_ARGS__)
	F(id, FIELD_TEXT, FIXED),
	F(tenant, FIELD_TEXT, FIXED),
	F(created_usec, FIELD_U64, FIXED),
	F(changed_usec, FIELD_U64),
	F(items, FIELD_U64, OWN),
	F(item_bytes, FIELD_U64, OWN),
	F(metadata, FIELD_LONG),
#undef F
};

static const struct row_field conversation_item_fields[] = {
#define F(...) FIELD(store_item, __VA_ARGS__)
	F(id, FIELD_TEXT),
	F(tenant, FIELD_TEXT),
	F(owner, FIELD_TEXT),
	F(json, FIELD_LONG),
#undef F
};

static const struct row_field conversation_container_fields[] = {
#define F(...) FIELD(store_conversation_container, __VA_ARGS__)
	F(conversation_id, FIELD_TEXT),
	F(tenant, FIELD_TEXT),
	F(agent, FIELD_TEXT),
	F(id, FIELD_TEXT),
#undef F
};

static const struct row_field response_fields[] = {
#define F(...) FIELD(store_response, __VA_ARGS__)
	F(id, FIELD_TEXT, FIXED),
	F(tenant, FIELD_TEXT, FIXED),
	F(key_id, FIELD_TEXT, FIXED),
	F(previous, FIELD_TEXT, FIXED),
	F(conversation, FIELD_TEXT),
	F(open, FIELD_BOOL),
	F(created_usec, FIELD_U64, FIXED),
	F(changed_usec, FIELD_U64),
	F(items, FIELD_U64, OWN),
	F(item_bytes, FIELD_U64, OWN),
	F(json, FIELD_LONG),
#undef F
};

static const struct row_field response_item_fields[] = {
#define F(...) FIELD(store_item, __VA_ARGS__)
	F(id, FIELD_TEXT),
	F(tenant, FIELD_TEXT),
	F(owner, FIELD_TEXT),
	F(output, FIELD_BOOL),
	F(position, FIELD_U32),
	F(json, FIELD_LONG),
#undef F
};

/* clang-format on */

#define TYPE(table_, row_, fields_, blob_, ...)                        \
	{                                                              \
		.table = (table_), .size = sizeof(struct row_),        \
		.blob = (blob_), .fields = (fields_),                  \
		.field_count = sizeof(fields_) / sizeof((fields_)[0]), \
		__VA_ARGS__                                            \
	}
#define ADDED .added = true

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
	[ROW_USAGE] = TYPE("usage", store_usage, usage_fields, ROW_NO_BLOB,
			   ADDED),
	[ROW_IDEMPOTENCY] = TYPE("idempotency", store_idempotency,
				 idempotency_fields, ROW_NO_BLOB),
	[ROW_DEFINITION] = TYPE("definitions", store_definition,
				definition_fields, ROW_NO_BLOB),
	[ROW_DEFINITION_VERSION] =
		TYPE("definition_versions", store_definition_version,
		     definition_version_fields, ROW_NO_BLOB),
	[ROW_CONVERSATION] = TYPE("conversations", store_conversation,
				  conversation_fields, ROW_NO_BLOB),
	[ROW_CONVERSATION_ITEM] =
		TYPE("conversation_entries", store_item,
		     conversation_item_fields, ROW_NO_BLOB, ADDED),
	[ROW_CONVERSATION_CONTAINER] =
		TYPE("conversation_containers", store_conversation_container,
		     conversation_container_fields, ROW_NO_BLOB, ADDED),
	[ROW_RESPONSE] = TYPE("responses", store_response, response_fields,
			      ROW_NO_BLOB),
	[ROW_RESPONSE_ITEM] = TYPE("response_entries", store_item,
				   response_item_fields, ROW_NO_BLOB, ADDED),
};
static_assert(sizeof(types) / sizeof(types[0]) == ROW_KIND_COUNT,
	      "types[] doesn't match enum row_kind");

const struct row_type *row_type_get(enum row_kind kind)
{
	return &types[kind];
}
