/* SPDX-License-Identifier: Apache-2.0 */
#include "response_reader.h"

#include "test.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/json_write.h"

#define PREFIX "response."

void reader_init(struct response_reader *reader)
{
	*reader = (struct response_reader){
		.order = BUF_INIT(1 << 20),
		.response = BUF_INIT(64 << 20),
	};
}

void reader_done(struct response_reader *reader)
{
	for (size_t i = 0; i < reader->count; i++)
		buf_done(&reader->items[i].text);
	buf_done(&reader->order);
	buf_done(&reader->response);
}

static const char *string_at(const struct json_object *object, const char *key)
{
	struct json_string s = json_string_of(json_member(object, key));

	assert_non_null(s.data);
	return s.data;
}

static size_t number_at(const struct json_object *object, const char *key)
{
	const struct json_object *value = json_member(object, key);

	assert_int_equal(json_kind_of(value), JSON_INT);
	return (size_t)json_number_of(value);
}

static bool is(const char *type, const char *what)
{
	return strcmp(type + strlen(PREFIX), what) == 0;
}

static bool is_delta(const char *type)
{
	return strcmp(type + strlen(type) - strlen(".delta"), ".delta") == 0;
}

static void note_order(struct response_reader *reader, const char *type)
{
	const char *line = type + strlen(PREFIX);
	char whole[128];
	size_t size = (size_t)snprintf(whole, sizeof(whole), "%s\n", line);

	if (is_delta(type) && reader->order.length >= size &&
	    memcmp(reader->order.data + reader->order.length - size, whole,
		   size) == 0)
		return;
	assert_int_equal(buf_add(&reader->order, whole, size), 0);
}

/* The item that an event is about, which has to be the one at its index. */
static struct reader_item *item_at(struct response_reader *reader,
				   const struct json_object *event)
{
	size_t i = number_at(event, "output_index");

	assert_true(i < reader->count);
	assert_string_equal(string_at(event, "item_id"), reader->items[i].id);
	assert_string_equal(reader->items[i].status, "");
	return &reader->items[i];
}

/* ------------------------------------------------------------------ the response */

static void take_response(struct response_reader *reader, const char *type,
			  const struct json_object *event)
{
	const struct json_object *response = json_member(event, "response");
	struct json_writer w = JSON_WRITER_INIT(&reader->response);
	const struct json_object *output = json_member(response, "output");
	const char *id = string_at(response, "id");
	bool over = !is(type, "created") && !is(type, "queued") &&
		    !is(type, "in_progress");

	if (!reader->id[0])
		strcpy(reader->id, id);
	assert_string_equal(reader->id, id);
	buf_clear(&reader->response);
	json_write_value(&w, NULL, response);
	assert_int_equal(json_write_end(&w), 0);
	assert_int_equal(json_kind_of(output), JSON_ARRAY);
	if (!over) {
		assert_int_equal(json_array_size(output), 0);
		return;
	}
	strcpy(reader->last, type + strlen(PREFIX));
	assert_int_equal(json_array_size(output), reader->count);
	for (size_t i = 0; i < reader->count; i++)
		assert_string_equal(
			string_at(json_array_at(output, i), "id"),
			reader->items[i].id);
}

/* ------------------------------------------------------------------------ items */

static void take_added(struct response_reader *reader,
		       const struct json_object *event)
{
	const struct json_object *object = json_member(event, "item");
	struct reader_item *item = &reader->items[reader->count];

	assert_true(reader->count < READER_ITEMS_MAX);
	assert_int_equal(number_at(event, "output_index"), reader->count);
	/* One after the other. */
	if (reader->count > 0)
		assert_string_not_equal(item[-1].status, "");
	*item = (struct reader_item){ .text = BUF_INIT(64 << 20) };
	(void)snprintf(item->id, sizeof(item->id), "%s",
		       string_at(object, "id"));
	(void)snprintf(item->type, sizeof(item->type), "%s",
		       string_at(object, "type"));
	assert_string_equal(string_at(object, "status"), "in_progress");
	for (size_t i = 0; i < reader->count; i++)
		assert_string_not_equal(reader->items[i].id, item->id);
	if (strcmp(item->type, "code_interpreter_call") == 0) {
		assert_string_equal(string_at(object, "code"), "");
		assert_true(strlen(string_at(object, "container_id")) > 0);
	} else if (strcmp(item->type, "message") == 0) {
		assert_int_equal(json_array_size(json_member(object, "content")),
				 0);
	} else if (strcmp(item->type, "reasoning") == 0) {
		assert_int_equal(json_array_size(json_member(object, "summary")),
				 0);
	} else {
		assert_string_equal(string_at(object, "arguments"), "");
	}
	reader->count++;
}

static void take_done(struct response_reader *reader,
		      const struct json_object *event)
{
	const struct json_object *object = json_member(event, "item");
	size_t i = number_at(event, "output_index");
	struct reader_item *item = &reader->items[i];
	bool whole;

	assert_true(i < reader->count);
	assert_string_equal(string_at(object, "id"), item->id);
	assert_string_equal(string_at(object, "type"), item->type);
	assert_string_equal(item->status, "");
	(void)snprintf(item->status, sizeof(item->status), "%s",
		       string_at(object, "status"));
	whole = strcmp(item->status, "completed") == 0;
	if (strcmp(item->type, "code_interpreter_call") == 0) {
		assert_string_equal(string_at(object, "code"),
				    buf_str(&item->text));
		assert_true(item->code_done);
		assert_int_equal(item->completed, whole);
	} else if (strcmp(item->type, "message") == 0) {
		assert_true(item->text_done && item->part_done);
	} else if (strcmp(item->type, "reasoning") == 0) {
		assert_int_equal(json_array_size(json_member(object, "summary")),
				 item->part_done);
		assert_int_equal(item->text.length > 0, item->part_done);
	} else {
		assert_string_equal(string_at(object, "arguments"),
				    buf_str(&item->text));
		assert_true(item->text_done);
	}
}

static void take_code(struct response_reader *reader, const char *type,
		      const struct json_object *event)
{
	struct reader_item *item = item_at(reader, event);

	assert_string_equal(item->type, "code_interpreter_call");
	if (is(type, "code_interpreter_call_code.delta")) {
		struct json_string delta =
			json_string_of(json_member(event, "delta"));

		assert_false(item->code_done);
		assert_true(delta.length > 0);
		assert_int_equal(buf_add(&item->text, delta.data, delta.length),
				 0);
	} else if (is(type, "code_interpreter_call_code.done")) {
		item->code_done = true;
		assert_string_equal(string_at(event, "code"),
				    buf_str(&item->text));
	} else if (is(type, "code_interpreter_call.interpreting")) {
		assert_true(item->code_done);
		item->interpreting = true;
	} else if (is(type, "code_interpreter_call.completed")) {
		assert_true(item->interpreting);
		item->completed = true;
	} else {
		assert_true(is(type, "code_interpreter_call.in_progress"));
		assert_int_equal(item->text.length, 0);
	}
}

static void take_arguments(struct response_reader *reader, const char *type,
			   const struct json_object *event)
{
	struct reader_item *item = item_at(reader, event);

	assert_string_equal(item->type, "function_call");
	if (is_delta(type)) {
		assert_int_equal(
			buf_add_str(&item->text, string_at(event, "delta")),
			0);
		return;
	}
	item->text_done = true;
	assert_string_equal(string_at(event, "arguments"),
			    buf_str(&item->text));
	assert_true(strlen(string_at(event, "name")) > 0);
}

static void take_part(struct response_reader *reader, const char *type,
		      const struct json_object *event)
{
	struct reader_item *item = item_at(reader, event);
	const struct json_object *part = json_member(event, "part");
	const char *key = "text";

	assert_int_equal(number_at(event, "content_index"), 0);
	if (strcmp(string_at(part, "type"), "refusal") == 0)
		key = "refusal";
	assert_string_equal(string_at(part, key), buf_str(&item->text));
	if (strcmp(key, "text") == 0) {
		assert_int_equal(
			json_array_size(json_member(part, "annotations")),
			item->annotations);
		assert_int_equal(json_kind_of(json_member(part, "logprobs")),
				 JSON_ARRAY);
	}
	if (is(type, "content_part.added")) {
		assert_int_equal(item->kind, 0);
		item->kind = key[0];
	} else {
		assert_int_equal(item->kind, key[0]);
		assert_true(item->text_done);
		item->part_done = true;
	}
}

static void take_summary(struct response_reader *reader, const char *type,
			 const struct json_object *event)
{
	struct reader_item *item = item_at(reader, event);
	const struct json_object *part = json_member(event, "part");

	assert_string_equal(item->type, "reasoning");
	assert_int_equal(number_at(event, "summary_index"), 0);
	if (part) {
		assert_string_equal(string_at(part, "type"), "summary_text");
		assert_string_equal(string_at(part, "text"),
				    buf_str(&item->text));
		assert_int_equal(item->kind ? 's' : 0, item->kind);
		item->part_done = item->kind == 's';
		item->kind = 's';
	} else if (is_delta(type)) {
		assert_int_equal(item->kind, 's');
		assert_int_equal(
			buf_add_str(&item->text, string_at(event, "delta")),
			0);
	} else {
		item->text_done = true;
		assert_string_equal(string_at(event, "text"),
				    buf_str(&item->text));
	}
}

static void take_words(struct response_reader *reader, const char *type,
		       const struct json_object *event)
{
	struct reader_item *item = item_at(reader, event);
	bool refusal = strncmp(type, PREFIX "refusal.", 17) == 0;

	assert_int_equal(item->kind, refusal ? 'r' : 't');
	assert_int_equal(number_at(event, "content_index"), 0);
	if (is(type, "output_text.annotation.added")) {
		assert_false(item->text_done);
		assert_int_equal(number_at(event, "annotation_index"),
				 item->annotations);
		item->annotations++;
	} else if (is_delta(type)) {
		assert_false(item->text_done);
		assert_int_equal(
			buf_add_str(&item->text, string_at(event, "delta")),
			0);
	} else {
		item->text_done = true;
		assert_string_equal(
			string_at(event, refusal ? "refusal" : "text"),
			buf_str(&item->text));
	}
}

/* -------------------------------------------------------------------------- any */

static const struct {
	const char *prefix;
	void (*take)(struct response_reader *reader, const char *type,
		     const struct json_object *event);
} takers[] = {
	{ PREFIX "code_interpreter_call", take_code },
	{ PREFIX "function_call_arguments.", take_arguments },
	{ PREFIX "content_part.", take_part },
	{ PREFIX "output_text.", take_words },
	{ PREFIX "refusal.", take_words },
	{ PREFIX "reasoning_summary_", take_summary },
	{ PREFIX "created", take_response },
	{ PREFIX "queued", take_response },
	{ PREFIX "in_progress", take_response },
	{ PREFIX "completed", take_response },
	{ PREFIX "incomplete", take_response },
	{ PREFIX "failed", take_response },
};

void reader_take(struct response_reader *reader, const char *type,
		 const char *json, size_t size)
{
	_cleanup_(json_freep) struct json_object *event = NULL;

	assert_string_equal(reader->last, "");
	assert_int_equal(json_parse(json, size, &event, NULL), 0);
	assert_string_equal(string_at(event, "type"), type);
	assert_int_equal(number_at(event, "sequence_number"), reader->next);
	assert_null(json_member(event, "error"));
	if (reader->next++ == 0)
		assert_string_equal(type, PREFIX "created");
	note_order(reader, type);
	if (strcmp(type, PREFIX "output_item.added") == 0) {
		take_added(reader, event);
		return;
	}
	if (strcmp(type, PREFIX "output_item.done") == 0) {
		take_done(reader, event);
		return;
	}
	for (size_t i = 0; i < sizeof(takers) / sizeof(takers[0]); i++) {
		if (strncmp(type, takers[i].prefix,
			    strlen(takers[i].prefix)) != 0)
			continue;
		takers[i].take(reader, type, event);
		return;
	}
	fail_msg("unknown event %s", type);
}
