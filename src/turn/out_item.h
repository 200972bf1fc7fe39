/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TURN_OUT_ITEM_H
#define TURN_OUT_ITEM_H

/*
 * An item of a response's output while it comes into being.
 *
 * Its parts are kept apart and put together when somebody wants to see it: a
 * reader of the stream as it was in the beginning and as it is in the end, a
 * client in the response, the database in its kept form.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/id.h"
#include "turn/item.h"
#include "turn/tool_set.h"

struct json_writer;

enum out_kind {
	OUT_MESSAGE,
	OUT_REFUSAL, /* a message of one refusal */
	OUT_CODE,
	OUT_FUNCTION,
	OUT_REASONING,

	OUT_KIND_COUNT,
};

enum out_status {
	OUT_IN_PROGRESS,
	OUT_COMPLETED,
	OUT_INCOMPLETE, /* it broke off */
	OUT_FAILED,     /* the container did, not the code */

	OUT_STATUS_COUNT,
};

enum {
	OUT_CALL_ID_MAX = 128, /* some servers' are longer than 64 */
	OUT_CITATIONS_MAX = 1024,
};

/** struct out_citation - Of a file in a container; in code points */
struct out_citation {
	char container[ID_SIZE];
	char file[ID_SIZE];
	char *filename;
	size_t start;
	size_t end;
};

/**
 * struct out_item - An item
 * @text:	Text, refusal, code, arguments or summary
 * @citations:	Of a message
 * @container, @outputs: Of a call of the interpreter; the latter is a JSON
 *		array, or empty as long as there are none
 * @call_id, @name: Of a call of a function
 * @encrypted:	Of reasoning, as only the model's server can read it
 */
struct out_item {
	enum out_kind kind;
	enum out_status status;
	char id[ID_SIZE];
	struct buf text;
	struct out_citation *citations;
	size_t citation_count;
	char container[ID_SIZE];
	struct buf outputs;
	char call_id[OUT_CALL_ID_MAX + 1];
	char name[TOOL_NAME_MAX + 1];
	struct buf encrypted;
};

/** enum out_view - As what it is to be seen */
enum out_view {
	OUT_AS_BEGUN, /* as when it was added */
	OUT_AS_IS,
};

/** out_item_init() - @max: bytes of its text */
int out_item_init(struct out_item *item, enum out_kind kind, size_t max);
void out_item_done(struct out_item *item);

/** out_item_cite() - Add a citation; those beyond OUT_CITATIONS_MAX are not */
int out_item_cite(struct out_item *item, const struct out_citation *citation);

/** out_item_type() - Of the kept form */
enum item_type out_item_type(const struct out_item *item);

/** out_item_write() - @include: bits of enum item_include */
void out_item_write(struct json_writer *w, const char *key,
		    const struct out_item *item, enum out_view view,
		    unsigned include);

/** out_item_write_part() - A message's only part, or a summary's */
void out_item_write_part(struct json_writer *w, const char *key,
			 const struct out_item *item, enum out_view view);

void out_citation_write(struct json_writer *w, const char *key,
			const struct out_citation *citation);

#endif
