/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TURN_EVENT_LOG_H
#define TURN_EVENT_LOG_H

/*
 * The events of a response in their order, in a few bytes each.
 *
 * An event says little that is not known from the items anyway: which item it
 * is about, and for a piece of text how many bytes. So that is all that is
 * kept, and its JSON is made when somebody reads it. Any number of readers may
 * begin at any event, at any time, each at its own pace, and cost a cursor.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum event_kind {
	EVENT_CREATED,
	EVENT_QUEUED,
	EVENT_IN_PROGRESS,
	EVENT_ITEM_ADDED,
	EVENT_ITEM_DONE,
	EVENT_CODE_IN_PROGRESS,
	EVENT_CODE_DELTA,
	EVENT_CODE_DONE,
	EVENT_CODE_INTERPRETING,
	EVENT_CODE_COMPLETED,
	EVENT_PART_ADDED,
	EVENT_PART_DONE,
	EVENT_TEXT_DELTA,
	EVENT_ANNOTATION,
	EVENT_TEXT_DONE,
	EVENT_REFUSAL_DELTA,
	EVENT_REFUSAL_DONE,
	EVENT_ARGUMENTS_DELTA,
	EVENT_ARGUMENTS_DONE,
	EVENT_SUMMARY_ADDED,
	EVENT_SUMMARY_DELTA,
	EVENT_SUMMARY_TEXT_DONE,
	EVENT_SUMMARY_DONE,
	EVENT_COMPLETED,
	EVENT_INCOMPLETE,
	EVENT_FAILED,

	EVENT_KIND_COUNT,
};

/**
 * struct event - One of them
 * @item:	Which item it is about
 * @value:	Bytes of a delta; index of an annotation
 */
struct event {
	enum event_kind kind;
	size_t item;
	size_t value;
};

/** event_type() - As clients read it */
const char *event_type(enum event_kind kind);

/** event_is_delta() - Whether @value is how much text it brings */
bool event_is_delta(enum event_kind kind);

/** event_log_add() - Return: as buf_add() */
int event_log_add(struct buf *log, const struct event *event);

/**
 * event_log_next() - Read the event at a place
 * @at:		Moved behind it
 *
 * Return: false at the end
 */
bool event_log_next(const struct buf *log, size_t *at, struct event *ret);

#endif
