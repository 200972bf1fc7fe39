/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUPOLA_STORE_BATCH_H
#define CUPOLA_STORE_BATCH_H

/*
 * A batch as it travels: filled on the loop (store_batch.c), queued
 * (store_commit.c), carried out on the db thread (writer.c), handed back.
 */

#include "store/row_type.h"
#include "store/store.h"

enum op_kind {
	OP_PUT,
	OP_DELETE,
	OP_ERASE_CONTAINER,
	OP_TOUCH,
	OP_SET_COUNTER,
	OP_TRIM_OUTPUTS,
	OP_APPEND,

	OP_KIND_COUNT,
};

/**
 * struct op - One line of a batch, in one piece of memory with what it holds
 * @type:	PUT, DELETE and TOUCH: of what
 * @row:	PUT: the row
 * @record:	PUT of an execution: its record, json is NULL if there is none
 * @id:		DELETE, ERASE_CONTAINER, TOUCH: of which row; TRIM_OUTPUTS, APPEND:
 *		of which response
 * @owner:	DELETE of a conversation's item: of which one
 * @counter:	SET_COUNTER: which
 * @value:	TOUCH, SET_COUNTER: to what; TRIM_OUTPUTS: how many stay
 */
struct op {
	struct op *next;
	enum op_kind kind;
	enum row_kind type;
	const void *row;
	struct store_record record;
	char id[STORE_ID_SIZE];
	char owner[STORE_ID_SIZE];
	enum store_counter counter;
	uint64_t value;
};

/**
 * struct store_batch - See store.h
 * @failed:	First failure of filling it
 * @deletes:	Holds what may leave blobs without a row
 * @result:	How it ended, for @done
 */
struct store_batch {
	struct store_batch *next;
	struct store *store;
	struct op *first;
	struct op **last;
	size_t count;
	int failed;
	bool deletes;
	int result;
	store_done_fn *done;
	void *userdata;
};

/** batch_put() - Add a PUT; the row is copied with all that it points to */
int batch_put(struct store_batch *batch, enum row_kind kind, const void *row,
	      const struct store_record *record);

/** struct op_spec - An op that is no PUT; as in struct op */
struct op_spec {
	enum op_kind kind;
	enum row_kind type;
	const char *id;
	const char *owner; /* NULL: "" */
	uint64_t value;
};

int batch_add(struct store_batch *batch, const struct op_spec *spec);

/** op_blob() - The digest of the blob that an op's row names, or NULL */
const uint8_t *op_blob(const struct op *op);

/**
 * store_batch_end() - Free a batch that was carried out
 *
 * Its blobs are held by their rows now if it succeeded.
 */
void store_batch_end(struct store_batch *batch);

#endif
