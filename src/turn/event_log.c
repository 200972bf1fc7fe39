/* SPDX-License-Identifier: Apache-2.0 */
#include "turn/event_log.h"

#include <assert.h>

static const struct {
	const char *type;
	bool item;  /* it is about one */
	bool value; /* there is a number on top */
	bool delta;
} kinds[] = {
	[EVENT_CREATED] = { "response.created", false, false, false },
	[EVENT_QUEUED] = { "response.queued", false, false, false },
	[EVENT_IN_PROGRESS] = { "response.in_progress", false, false, false },
	[EVENT_ITEM_ADDED] = { "response.output_item.added", true, false,
			       false },
	[EVENT_ITEM_DONE] = { "response.output_item.done", true, false,
			      false },
	[EVENT_CODE_IN_PROGRESS] = {
		"response.code_interpreter_call.in_progress", true, false,
		false },
	[EVENT_CODE_DELTA] = { "response.code_interpreter_call_code.delta",
			       true, true, true },
	[EVENT_CODE_DONE] = { "response.code_interpreter_call_code.done", true,
			      false, false },
	[EVENT_CODE_INTERPRETING] = {
		"response.code_interpreter_call.interpreting", true, false,
		false },
	[EVENT_CODE_COMPLETED] = { "response.code_interpreter_call.completed",
				   true, false, false },
	[EVENT_PART_ADDED] = { "response.content_part.added", true, false,
			       false },
	[EVENT_PART_DONE] = { "response.content_part.done", true, false,
			      false },
	[EVENT_TEXT_DELTA] = { "response.output_text.delta", true, true, true },
	[EVENT_ANNOTATION] = { "response.output_text.annotation.added", true,
			       true, false },
	[EVENT_TEXT_DONE] = { "response.output_text.done", true, false, false },
	[EVENT_REFUSAL_DELTA] = { "response.refusal.delta", true, true, true },
	[EVENT_REFUSAL_DONE] = { "response.refusal.done", true, false, false },
	[EVENT_ARGUMENTS_DELTA] = { "response.function_call_arguments.delta",
				    true, true, true },
	[EVENT_ARGUMENTS_DONE] = { "response.function_call_arguments.done",
				   true, false, false },
	[EVENT_SUMMARY_ADDED] = { "response.reasoning_summary_part.added", true,
				  false, false },
	[EVENT_SUMMARY_DELTA] = { "response.reasoning_summary_text.delta", true,
				  true, true },
	[EVENT_SUMMARY_TEXT_DONE] = { "response.reasoning_summary_text.done",
				      true, false, false },
	[EVENT_SUMMARY_DONE] = { "response.reasoning_summary_part.done", true,
				 false, false },
	[EVENT_COMPLETED] = { "response.completed", false, false, false },
	[EVENT_INCOMPLETE] = { "response.incomplete", false, false, false },
	[EVENT_FAILED] = { "response.failed", false, false, false },
};
static_assert(sizeof(kinds) / sizeof(kinds[0]) == EVENT_KIND_COUNT,
	      "kinds[] doesn't match enum event_kind");

const char *event_type(enum event_kind kind)
{
	return kinds[kind].type;
}

bool event_is_delta(enum event_kind kind)
{
	return kinds[kind].delta;
}

static int add_number(struct buf *log, size_t n)
{
	int r = 0;

	for (; n >= 0x80 && r >= 0; n >>= 7)
		r = buf_add_byte(log, (uint8_t)(n | 0x80));
	return r < 0 ? r : buf_add_byte(log, (uint8_t)n);
}

static size_t read_number(const struct buf *log, size_t *at)
{
	unsigned shift = 0;
	size_t n = 0;
	uint8_t byte;

	do {
		byte = log->data[(*at)++];
		n |= (size_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return n;
}

int event_log_add(struct buf *log, const struct event *event)
{
	size_t before = log->length;
	int r;

	r = buf_add_byte(log, (uint8_t)event->kind);
	if (r >= 0 && kinds[event->kind].item)
		r = add_number(log, event->item);
	if (r >= 0 && kinds[event->kind].value)
		r = add_number(log, event->value);
	if (r < 0)
		buf_truncate(log, before);
	return r;
}

bool event_log_next(const struct buf *log, size_t *at, struct event *ret)
{
	if (*at >= log->length)
		return false;
	*ret = (struct event){ .kind = (enum event_kind)log->data[(*at)++] };
	if (kinds[ret->kind].item)
		ret->item = read_number(log, at);
	if (kinds[ret->kind].value)
		ret->value = read_number(log, at);
	return true;
}
