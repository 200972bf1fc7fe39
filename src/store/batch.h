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
	OP_TOUCH_KEY,
	OP_SET_COUNTER,

	OP_KIND_COUNT,
};

/**
 * struct op - One line of a batch, in one piece of memory with what it holds
 * @type:	PUT and DELETE: of what
 * @row:	PUT: the row
 * @record:	PUT of an execution: its record, json is NULL if there is none
 * @id:		DELETE, ERASE_CONTAINER, TOUCH_KEY: of which row
 * @counter:	SET_COUNTER: which
 * @value:	TOUCH_KEY, SET_COUNTER: to what
 */
struct op {
	struct op *next;
	enum op_kind kind;
	enum row_kind type;
	const void *row;
	struct store_record record;
	char id[STORE_ID_SIZE];
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

/** op_blob() - The digest of the blob that an op's row names, or NULL */
const uint8_t *op_blob(const struct op *op);

/**
 * store_batch_end() - Free a batch that was carried out
 *
 * Its blobs are held by their rows now if it succeeded.
 */
void store_batch_end(struct store_batch *batch);

#endif
