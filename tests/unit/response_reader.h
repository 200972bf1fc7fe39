/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UNIT_RESPONSE_READER_H
#define UNIT_RESPONSE_READER_H

/*
 * Takes the events of a response as client libraries do, and fails the test
 * where those would throw: see doc/api.md, "Streaming".
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/id.h"

enum { READER_ITEMS_MAX = 16 };

struct reader_item {
	char id[ID_SIZE];
	char type[32];
	char status[16];	/* of output_item.done; "" before */
	char kind;		/* of its part: 't', 'r', 's', or 0 */
	bool code_done;
	bool interpreting;
	bool completed;
	bool text_done;
	bool part_done;
	unsigned annotations;
	struct buf text;	/* joined deltas */
};

/**
 * struct response_reader - All zeros at first, but for @next
 * @order:	Types of the events without "response.", a line each; deltas of
 *		a row once
 * @last:	The event that ended it; "" before
 * @response:	JSON of the last event that had one
 */
struct response_reader {
	uint64_t next;
	char id[ID_SIZE];
	struct reader_item items[READER_ITEMS_MAX];
	size_t count;
	struct buf order;
	char last[32];
	struct buf response;
};

void reader_init(struct response_reader *reader);
void reader_done(struct response_reader *reader);

/** reader_take() - The next event */
void reader_take(struct response_reader *reader, const char *type,
		 const char *json, size_t size);

#endif
