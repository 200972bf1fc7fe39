/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/name.h"
#include "store/batch.h"
#include "store/blobs.h"
#include "store/impl.h"

struct store_batch *store_batch_new(struct store *store)
{
	struct store_batch *batch = calloc(1, sizeof(*batch));

	if (!batch)
		return NULL;
	batch->store = store;
	batch->last = &batch->first;
	return batch;
}

const uint8_t *op_blob(const struct op *op)
{
	const struct row_type *type;

	if (op->kind != OP_PUT)
		return NULL;
	type = row_type_get(op->type);
	if (type->blob == ROW_NO_BLOB)
		return NULL;
	return (const uint8_t *)op->row + type->blob;
}

static void batch_free(struct store_batch *batch, bool announced)
{
	struct op *op, *next;

	if (!batch)
		return;
	for (op = batch->first; op; op = next) {
		const uint8_t *blob = op_blob(op);

		next = op->next;
		if (blob)
			blobs_unpin(batch->store->blobs, blob, announced);
		free(op);
	}
	free(batch);
}

void store_batch_free(struct store_batch *batch)
{
	batch_free(batch, false);
}

void store_batch_end(struct store_batch *batch)
{
	batch_free(batch, batch->result == 0);
}

/* Where it failed does not matter: the batch as a whole cannot be carried out. */
static int batch_fail(struct store_batch *batch, int r)
{
	if (batch && batch->failed == 0)
		batch->failed = r;
	return r;
}

static void batch_append(struct store_batch *batch, struct op *op)
{
	*batch->last = op;
	batch->last = &op->next;
	batch->count++;
}

static int op_new(struct store_batch *batch, enum op_kind kind, size_t extra,
		  struct op **ret)
{
	struct op *op;

	if (!batch)
		return -ENOMEM;
	if (batch->failed < 0)
		return batch->failed;
	if (batch->count == STORE_BATCH_MAX)
		return batch_fail(batch, -E2BIG);
	op = calloc(1, sizeof(*op) + extra);
	if (!op)
		return batch_fail(batch, -ENOMEM);
	op->kind = kind;
	*ret = op;
	return 0;
}

static size_t record_size(const struct store_record *record)
{
	return record->json_size + record->out_size + record->err_size;
}

static int record_check(const struct store_record *record)
{
	if (record->json_size > STORE_RECORD_MAX ||
	    record->out_size > STORE_RECORD_MAX ||
	    record->err_size > STORE_RECORD_MAX ||
	    record_size(record) > STORE_RECORD_MAX)
		return -E2BIG;
	return utf8_is_valid(record->json, record->json_size) ? 0 : -EILSEQ;
}

static uint8_t *copy_piece(uint8_t *to, const void *from, size_t size)
{
	if (size > 0)
		memcpy(to, from, size);
	return to + size;
}

static void op_copy_record(struct op *op, uint8_t *to,
			   const struct store_record *record)
{
	op->record = *record;
	op->record.json = (const char *)to;
	to = copy_piece(to, record->json, record->json_size);
	op->record.out = to;
	to = copy_piece(to, record->out, record->out_size);
	op->record.err = to;
	(void)copy_piece(to, record->err, record->err_size);
}

static void op_copy_text(uint8_t *to, struct store_text *text)
{
	(void)copy_piece(to, text->data, text->size);
	text->data = (const char *)to;
}

/* How much there is behind the row itself. */
static int extra_size(const struct row_type *type, const void *row,
		      const struct store_record *record, size_t *ret)
{
	const struct store_text *text = row_type_text(type, (void *)row);
	int r;

	r = row_type_check(type, row);
	if (r >= 0 && record)
		r = record_check(record);
	if (r < 0)
		return r;
	*ret = (record ? record_size(record) : 0) + (text ? text->size : 0);
	return 0;
}

int batch_put(struct store_batch *batch, enum row_kind kind, const void *row,
	      const struct store_record *record)
{
	const struct row_type *type = row_type_get(kind);
	_cleanup_free_ struct op *op = NULL;
	struct store_text *text;
	uint8_t *extra;
	size_t size;
	int r;

	r = extra_size(type, row, record, &size);
	if (r < 0)
		return batch_fail(batch, r);
	r = op_new(batch, OP_PUT, type->size + size, &op);
	if (r < 0)
		return r;
	op->type = kind;
	extra = (uint8_t *)(op + 1);
	memcpy(extra, row, type->size);
	op->row = extra;
	text = row_type_text(type, extra);
	if (record)
		op_copy_record(op, extra + type->size, record);
	if (text)
		op_copy_text(extra + type->size, text);
	if (op_blob(op)) {
		r = blobs_pin(batch->store->blobs, op_blob(op));
		if (r < 0)
			return batch_fail(batch, r);
	}
	batch_append(batch, take_ptr(op));
	return 0;
}

int store_batch_put_tenant(struct store_batch *batch,
			   const struct store_tenant *row)
{
	return batch_put(batch, ROW_TENANT, row, NULL);
}

int store_batch_put_key(struct store_batch *batch, const struct store_key *row)
{
	return batch_put(batch, ROW_KEY, row, NULL);
}

int store_batch_put_file(struct store_batch *batch,
			 const struct store_file *row)
{
	return batch_put(batch, ROW_FILE, row, NULL);
}

int store_batch_put_upload(struct store_batch *batch,
			   const struct store_upload *row)
{
	return batch_put(batch, ROW_UPLOAD, row, NULL);
}

int store_batch_put_part(struct store_batch *batch,
			 const struct store_part *row)
{
	return batch_put(batch, ROW_PART, row, NULL);
}

int store_batch_put_container(struct store_batch *batch,
			      const struct store_container *row)
{
	return batch_put(batch, ROW_CONTAINER, row, NULL);
}

int store_batch_put_vm(struct store_batch *batch, const struct store_vm *row)
{
	return batch_put(batch, ROW_VM, row, NULL);
}

int store_batch_put_definition(struct store_batch *batch,
			       const struct store_definition *row)
{
	return batch_put(batch, ROW_DEFINITION, row, NULL);
}

int store_batch_put_definition_version(
	struct store_batch *batch, const struct store_definition_version *row)
{
	return batch_put(batch, ROW_DEFINITION_VERSION, row, NULL);
}

int store_batch_put_cfile(struct store_batch *batch,
			  const struct store_cfile *row)
{
	_cleanup_(buf_done) struct buf normal = BUF_INIT(STORE_PATH_SIZE - 1);
	struct store_cfile copy = *row;
	int r;

	r = name_add_normal(&normal, row->path,
			    strnlen(row->path, sizeof(row->path)));
	if (r < 0)
		return batch_fail(batch, r);
	strcpy(copy.path_nfc, buf_str(&normal));
	return batch_put(batch, ROW_CFILE, &copy, NULL);
}

int store_batch_put_execution(struct store_batch *batch,
			      const struct store_execution *row,
			      const struct store_record *record)
{
	return batch_put(batch, ROW_EXECUTION, row, record);
}

int store_batch_add_usage(struct store_batch *batch,
			  const struct store_usage *row)
{
	return batch_put(batch, ROW_USAGE, row, NULL);
}

int store_batch_add_idempotency(struct store_batch *batch,
				const struct store_idempotency *row)
{
	return batch_put(batch, ROW_IDEMPOTENCY, row, NULL);
}

int batch_add(struct store_batch *batch, const struct op_spec *spec)
{
	const char *owner = spec->owner ? spec->owner : "";
	struct op *op;
	int r;

	if (spec->value > INT64_MAX || strlen(spec->id) >= STORE_ID_SIZE ||
	    strlen(owner) >= STORE_ID_SIZE)
		return batch_fail(batch, -E2BIG);
	r = op_new(batch, spec->kind, 0, &op);
	if (r < 0)
		return r;
	batch->deletes |= spec->kind == OP_ERASE_CONTAINER ||
			  (spec->kind == OP_DELETE &&
			   row_type_get(spec->type)->blob != ROW_NO_BLOB);
	op->type = spec->type;
	op->value = spec->value;
	strcpy(op->id, spec->id);
	strcpy(op->owner, owner);
	batch_append(batch, op);
	return 0;
}

static int batch_delete(struct store_batch *batch, enum row_kind type,
			const char *id)
{
	return batch_add(batch, &(struct op_spec){
					.kind = OP_DELETE, .type = type, .id = id });
}

int store_batch_touch_key(struct store_batch *batch, const char *id,
			  usec_t last_used_usec)
{
	return batch_add(batch, &(struct op_spec){ .kind = OP_TOUCH,
						   .type = ROW_KEY,
						   .id = id,
						   .value = last_used_usec });
}

int store_batch_delete_file(struct store_batch *batch, const char *id)
{
	return batch_delete(batch, ROW_FILE, id);
}

int store_batch_delete_cfile(struct store_batch *batch, const char *id)
{
	return batch_delete(batch, ROW_CFILE, id);
}

int store_batch_delete_vm(struct store_batch *batch, const char *id)
{
	return batch_delete(batch, ROW_VM, id);
}

int store_batch_delete_definition(struct store_batch *batch, const char *id)
{
	return batch_delete(batch, ROW_DEFINITION, id);
}

int store_batch_delete_definition_version(struct store_batch *batch,
					  const char *id)
{
	return batch_delete(batch, ROW_DEFINITION_VERSION, id);
}

int store_batch_erase_container(struct store_batch *batch, const char *id)
{
	return batch_add(batch, &(struct op_spec){ .kind = OP_ERASE_CONTAINER,
						   .type = ROW_CONTAINER,
						   .id = id });
}

int store_batch_set_counter(struct store_batch *batch,
			    enum store_counter counter, uint64_t value)
{
	struct op *op;
	int r;

	assert(counter < STORE_COUNTER_COUNT);
	if (value > INT64_MAX)
		return batch_fail(batch, -E2BIG);
	r = op_new(batch, OP_SET_COUNTER, 0, &op);
	if (r < 0)
		return r;
	op->counter = counter;
	op->value = value;
	batch_append(batch, op);
	return 0;
}
