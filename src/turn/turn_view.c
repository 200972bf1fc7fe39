/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/json_write.h"
#include "turn/turn_priv.h"

/* A response as clients see it, and each of its events. */

/* ---------------------------------------------------------------- the response */

static const char *status_of(const struct turn *t, enum turn_moment moment)
{
	bool over = moment == MOMENT_NOW && t->outcome != TURN_NONE;
	bool began = moment == MOMENT_BEGUN ||
		     (moment == MOMENT_NOW && t->state > TURN_PREPARING);

	if (over)
		return turn_outcome_name(t->outcome);
	return t->ask.background && !began ? "queued" : "in_progress";
}

static void write_error(const struct turn *t, struct json_writer *w)
{
	if (t->outcome != TURN_FAILED) {
		json_write_null(w, "error");
		return;
	}
	json_write_object(w, "error");
	json_write_string(w, "code", t->error.code == ERR_LIMIT
					     ? "rate_limit_exceeded"
					     : "server_error");
	json_write_string(w, "message", t->error.code == ERR_INTERNAL
						? "Internal error"
						: t->error.message);
	json_write_close(w);
}

static void write_details(const struct turn *t, struct json_writer *w)
{
	if (t->outcome != TURN_INCOMPLETE) {
		json_write_null(w, "incomplete_details");
		return;
	}
	json_write_object(w, "incomplete_details");
	json_write_string(w, "reason", t->why);
	json_write_close(w);
}

static void write_usage(const struct turn *t, struct json_writer *w)
{
	const struct upstream_usage *usage = &t->usage;

	json_write_object(w, "usage");
	json_write_uint(w, "input_tokens", usage->input_tokens);
	json_write_object(w, "input_tokens_details");
	json_write_uint(w, "cached_tokens", usage->cached_tokens);
	json_write_close(w);
	json_write_uint(w, "output_tokens", usage->output_tokens);
	json_write_object(w, "output_tokens_details");
	json_write_uint(w, "reasoning_tokens", usage->reasoning_tokens);
	json_write_close(w);
	json_write_uint(w, "total_tokens",
			usage->input_tokens + usage->output_tokens);
	json_write_close(w);
}

static void write_output(const struct turn *t, enum turn_moment moment,
			 unsigned include, struct json_writer *w)
{
	json_write_array(w, "output");
	for (size_t i = 0; i < t->item_count && moment == MOMENT_NOW; i++)
		out_item_write(w, NULL, &t->items[i], OUT_AS_IS,
			       include | t->ask.include);
	json_write_close(w);
}

void turn_view_write(const struct turn *t, const struct turn_view *view,
		     const char *key, struct json_writer *w)
{
	enum turn_moment moment = view->moment;
	bool over = moment == MOMENT_NOW && t->outcome != TURN_NONE;

	json_write_object(w, key);
	json_write_string(w, "id", t->id);
	json_write_string(w, "object", "response");
	json_write_int(w, "created_at", t->created_at);
	if (over && t->completed_at > 0)
		json_write_int(w, "completed_at", t->completed_at);
	else
		json_write_null(w, "completed_at");
	json_write_string(w, "status", status_of(t, moment));
	if (over) {
		write_error(t, w);
		write_details(t, w);
		write_usage(t, w);
	} else {
		json_write_null(w, "error");
		json_write_null(w, "incomplete_details");
		json_write_null(w, "usage");
	}
	json_write_members(w, t->ask.echo, t->ask.echo_size);
	/* Clients that sent none see what OpenAI has, and nothing else. */
	if (trace_id(&t->trace))
		json_write_string(w, "trace_id", trace_id(&t->trace));
	if (!view->no_output)
		write_output(t, moment, view->include, w);
	json_write_close(w);
}

/* ------------------------------------------------------------------- its events */

static const struct out_item *item_of(const struct turn *t,
				      const struct event *event)
{
	return &t->items[event->item];
}

static void write_response(const struct turn *t, const struct event *event,
			   struct json_writer *w)
{
	struct turn_view view = { .moment = MOMENT_NOW };

	if (event->kind == EVENT_CREATED || event->kind == EVENT_QUEUED)
		view.moment = MOMENT_CREATED;
	else if (event->kind == EVENT_IN_PROGRESS)
		view.moment = MOMENT_BEGUN;
	turn_view_write(t, &view, "response", w);
}

/* Where in the response it is. */
static void write_place(const struct turn *t, const struct event *event,
			bool content, struct json_writer *w)
{
	json_write_string(w, "item_id", item_of(t, event)->id);
	json_write_uint(w, "output_index", event->item);
	if (content)
		json_write_uint(w, "content_index", 0);
}

static void write_text(const struct turn *t, const struct event *event,
		       const char *key, struct json_writer *w)
{
	const struct out_item *item = item_of(t, event);

	json_write_bytes(w, key, item->text.data, item->text.length);
}

static void write_delta(const struct turn *t, const struct event *event,
			size_t offset, struct json_writer *w)
{
	const struct out_item *item = item_of(t, event);

	json_write_bytes(w, "delta", item->text.data + offset, event->value);
}

static void write_logprobs(struct json_writer *w)
{
	json_write_array(w, "logprobs");
	json_write_close(w);
}

static void write_annotation(const struct turn *t, const struct event *event,
			     struct json_writer *w)
{
	json_write_uint(w, "annotation_index", event->value);
	out_citation_write(w, "annotation",
			   &item_of(t, event)->citations[event->value]);
}

static void write_item(const struct turn *t, const struct event *event,
		       struct json_writer *w)
{
	json_write_uint(w, "output_index", event->item);
	out_item_write(w, "item", item_of(t, event),
		       event->kind == EVENT_ITEM_ADDED ? OUT_AS_BEGUN
						       : OUT_AS_IS,
		       t->ask.include);
}

static void write_part(const struct turn *t, const struct event *event,
		       struct json_writer *w)
{
	write_place(t, event, true, w);
	out_item_write_part(w, "part", item_of(t, event),
			    event->kind == EVENT_PART_ADDED ? OUT_AS_BEGUN
							    : OUT_AS_IS);
}

static void write_words(const struct turn *t, const struct event *event,
			size_t offset, struct json_writer *w)
{
	write_place(t, event, true, w);
	switch (event->kind) {
	case EVENT_TEXT_DELTA:
		write_delta(t, event, offset, w);
		write_logprobs(w);
		break;
	case EVENT_TEXT_DONE:
		write_text(t, event, "text", w);
		write_logprobs(w);
		break;
	case EVENT_REFUSAL_DELTA:
		write_delta(t, event, offset, w);
		break;
	case EVENT_REFUSAL_DONE:
		write_text(t, event, "refusal", w);
		break;
	default:
		write_annotation(t, event, w);
		break;
	}
}

static void write_summary(const struct turn *t, const struct event *event,
			  size_t offset, struct json_writer *w)
{
	write_place(t, event, false, w);
	json_write_uint(w, "summary_index", 0);
	if (event->kind == EVENT_SUMMARY_DELTA)
		write_delta(t, event, offset, w);
	else if (event->kind == EVENT_SUMMARY_TEXT_DONE)
		write_text(t, event, "text", w);
	else
		out_item_write_part(w, "part", item_of(t, event),
				    event->kind == EVENT_SUMMARY_ADDED
					    ? OUT_AS_BEGUN
					    : OUT_AS_IS);
}

static void write_call(const struct turn *t, const struct event *event,
		       size_t offset, struct json_writer *w)
{
	write_place(t, event, false, w);
	switch (event->kind) {
	case EVENT_CODE_DELTA:
	case EVENT_ARGUMENTS_DELTA:
		write_delta(t, event, offset, w);
		break;
	case EVENT_CODE_DONE:
		write_text(t, event, "code", w);
		break;
	case EVENT_ARGUMENTS_DONE:
		json_write_string(w, "name", item_of(t, event)->name);
		write_text(t, event, "arguments", w);
		break;
	default:
		break;
	}
}

void turn_event_write(const struct turn *t, const struct event *event,
		      uint64_t sequence, size_t offset, struct json_writer *w)
{
	json_write_object(w, NULL);
	json_write_string(w, "type", event_type(event->kind));
	json_write_uint(w, "sequence_number", sequence);
	switch (event->kind) {
	case EVENT_CREATED:
	case EVENT_QUEUED:
	case EVENT_IN_PROGRESS:
	case EVENT_COMPLETED:
	case EVENT_INCOMPLETE:
	case EVENT_FAILED:
		write_response(t, event, w);
		break;
	case EVENT_ITEM_ADDED:
	case EVENT_ITEM_DONE:
		write_item(t, event, w);
		break;
	case EVENT_PART_ADDED:
	case EVENT_PART_DONE:
		write_part(t, event, w);
		break;
	case EVENT_TEXT_DELTA:
	case EVENT_TEXT_DONE:
	case EVENT_REFUSAL_DELTA:
	case EVENT_REFUSAL_DONE:
	case EVENT_ANNOTATION:
		write_words(t, event, offset, w);
		break;
	case EVENT_SUMMARY_ADDED:
	case EVENT_SUMMARY_DELTA:
	case EVENT_SUMMARY_TEXT_DONE:
	case EVENT_SUMMARY_DONE:
		write_summary(t, event, offset, w);
		break;
	default:
		write_call(t, event, offset, w);
		break;
	}
	json_write_close(w);
}
