/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "turn/item_private.h"

/* What items of each type have, beside id and type. */

static const char *const statuses[] = { "in_progress", "completed",
					"incomplete", NULL };

static void write_status(struct json_writer *w, struct json_string status)
{
	json_write_string(w, "status",
			  status.data ? status.data : "completed");
}

/* ---------------------------------------------------------------- messages */

struct message_fields {
	struct json_string role;
	struct json_string status;
};

static int read_message(const struct item_reading *reading,
			const struct json_object *object, const char *path,
			const char *id, struct error *err)
{
	static const char *const roles[] = { "user", "assistant", "system",
					     "developer", NULL };
	static const struct json_field table[] = {
		JSON_STRING_FIELD("role", struct message_fields, role,
				  .required = true, .choices = roles),
		JSON_STRING_FIELD("status", struct message_fields, status,
				  .choices = statuses),
	};
	struct message_fields f = { .status = { .data = NULL } };
	bool said;
	int r;

	(void)id;
	r = json_read_fields(object, path, table,
			     sizeof(table) / sizeof(table[0]),
			     JSON_UNKNOWN_IGNORED, &f, err);
	if (r < 0)
		return r;
	write_status(reading->w, f.status);
	json_write_string(reading->w, "role", f.role.data);
	said = strcmp(f.role.data, "assistant") == 0;
	return item_parts_read(reading, json_member(object, "content"),
			       "content", item_place(path, "content").path,
			       said ? ITEM_PARTS_SAID : ITEM_PARTS_GIVEN, err);
}

/* ------------------------------------------------------ interpreter's calls */

static int read_call_output(const struct item_reading *reading,
			    const struct json_object *output, const char *path,
			    struct error *err)
{
	static const char *const words[] = { "logs", "image", NULL };
	static const struct json_field type_table[] = {
		{ .name = "type", .kind = JSON_STRING, .required = true,
		  .choices = words },
	};
	struct json_string type = { .data = NULL }, text = { .data = NULL };
	struct json_field field = { .kind = JSON_STRING, .required = true,
				    .text = true };
	int r;

	r = json_read_fields(output, path, type_table, 1, JSON_UNKNOWN_IGNORED,
			     &type, err);
	if (r < 0)
		return r;
	field.name = strcmp(type.data, "logs") == 0 ? "logs" : "url";
	r = json_read_fields(output, path, &field, 1, JSON_UNKNOWN_IGNORED,
			     &text, err);
	if (r < 0)
		return r;
	json_write_object(reading->w, NULL);
	json_write_string(reading->w, "type", type.data);
	json_write_bytes(reading->w, field.name, text.data, text.length);
	json_write_close(reading->w);
	return 0;
}

static int read_call_outputs(const struct item_reading *reading,
			     const struct json_object *outputs,
			     const char *path, struct error *err)
{
	size_t i;
	int r = 0;

	json_write_array(reading->w, "outputs");
	for (i = 0; r >= 0 && i < json_array_size(outputs); i++)
		r = read_call_output(reading, json_array_at(outputs, i),
				     item_place_at(path, i).path, err);
	json_write_close(reading->w);
	return r;
}

/* The call without its outputs is what clients get unless they ask for them. */
static void write_kept_outputs(const struct item_reading *reading,
			       const char *id)
{
	_cleanup_(json_freep) struct json_object *kept = NULL;
	struct talk_item item;

	if (id && core_item_find(reading->core, reading->who, id, &item,
				 NULL) >= 0)
		(void)json_parse(item.json, item.size, &kept, NULL);
	json_write_value(reading->w, "outputs", json_member(kept, "outputs"));
}

struct call_fields {
	struct json_string status;
	struct json_string container_id;
	struct json_string code;
	struct json_object *outputs;
};

static int read_code_call(const struct item_reading *reading,
			  const struct json_object *object, const char *path,
			  const char *id, struct error *err)
{
	static const char *const words[] = { "in_progress",  "interpreting",
					     "completed",    "incomplete",
					     "failed",	     NULL };
	static const struct json_field table[] = {
		JSON_STRING_FIELD("status", struct call_fields, status,
				  .choices = words),
		JSON_STRING_FIELD("container_id", struct call_fields,
				  container_id, .required = true, .min = 1,
				  .max = ID_MAX),
		JSON_STRING_FIELD("code", struct call_fields, code, .text = true,
				  .max = CORE_CODE_MAX),
		JSON_ARRAY_FIELD("outputs", struct call_fields, outputs,
				 .max = ITEM_OUTPUTS_MAX),
	};
	struct call_fields f = { .outputs = NULL };
	int r;

	r = json_read_fields(object, path, table,
			     sizeof(table) / sizeof(table[0]),
			     JSON_UNKNOWN_IGNORED, &f, err);
	if (r < 0)
		return r;
	write_status(reading->w, f.status);
	json_write_bytes(reading->w, "container_id", f.container_id.data,
			 f.container_id.length);
	if (f.code.data)
		json_write_bytes(reading->w, "code", f.code.data,
				 f.code.length);
	else
		json_write_null(reading->w, "code");
	if (f.outputs)
		return read_call_outputs(reading, f.outputs,
					 item_place(path, "outputs").path, err);
	write_kept_outputs(reading, id);
	return 0;
}

/* --------------------------------------------------------------- functions */

struct function_fields {
	struct json_string status;
	struct json_string call_id;
	struct json_string name;
	struct json_string arguments;
};

#define CALL_ID_FIELD                                                  \
	JSON_STRING_FIELD("call_id", struct function_fields, call_id,  \
			  .required = true, .min = 1,                  \
			  .max = ITEM_CALL_ID_MAX)
#define STATUS_FIELD                                                   \
	JSON_STRING_FIELD("status", struct function_fields, status,    \
			  .choices = statuses)

/* What a call and its output have in common, and what else is in @table. */
static int read_function(const struct item_reading *reading,
			 const struct json_object *object, const char *path,
			 const struct json_field *table, size_t count,
			 struct function_fields *ret, struct error *err)
{
	int r;

	r = json_read_fields(object, path, table, count, JSON_UNKNOWN_IGNORED,
			     ret, err);
	if (r < 0)
		return r;
	write_status(reading->w, ret->status);
	json_write_bytes(reading->w, "call_id", ret->call_id.data,
			 ret->call_id.length);
	return 0;
}

static int read_function_call(const struct item_reading *reading,
			      const struct json_object *object,
			      const char *path, const char *id,
			      struct error *err)
{
	static const struct json_field table[] = {
		STATUS_FIELD,
		CALL_ID_FIELD,
		JSON_STRING_FIELD("name", struct function_fields, name,
				  .required = true, .min = 1,
				  .max = ITEM_NAME_MAX),
		JSON_STRING_FIELD("arguments", struct function_fields,
				  arguments, .required = true, .text = true),
	};
	struct function_fields f = { .status = { .data = NULL } };
	struct json_writer *w = reading->w;
	int r;

	(void)id;
	r = read_function(reading, object, path, table,
			  sizeof(table) / sizeof(table[0]), &f, err);
	if (r < 0)
		return r;
	json_write_bytes(w, "name", f.name.data, f.name.length);
	json_write_bytes(w, "arguments", f.arguments.data, f.arguments.length);
	return 0;
}

static int read_function_output(const struct item_reading *reading,
				const struct json_object *object,
				const char *path, const char *id,
				struct error *err)
{
	static const struct json_field table[] = { STATUS_FIELD,
						   CALL_ID_FIELD };
	const struct json_object *output = json_member(object, "output");
	struct function_fields f = { .status = { .data = NULL } };
	struct json_writer *w = reading->w;
	int r;

	(void)id;
	r = read_function(reading, object, path, table,
			  sizeof(table) / sizeof(table[0]), &f, err);
	if (r < 0)
		return r;
	if (json_kind_of(output) == JSON_STRING) {
		json_write_value(w, "output", output);
		return 0;
	}
	return item_parts_read(reading, output, "output",
			       item_place(path, "output").path,
			       ITEM_PARTS_GIVEN, err);
}

/* --------------------------------------------------------------- reasoning */

struct reasoning_fields {
	struct json_string status;
	struct json_object *summary;
	struct json_object *content;
	struct json_string encrypted;
};

/* Texts of one type each, which is what both lists consist of. */
static int read_thoughts(const struct item_reading *reading, const char *key,
			 const struct json_object *list, const char *type,
			 const char *path, struct error *err)
{
	const char *const words[] = { type, NULL };
	const struct json_field table[] = {
		{ .name = "type", .kind = JSON_STRING, .required = true,
		  .choices = words, .offset = 0 },
		{ .name = "text", .kind = JSON_STRING, .required = true,
		  .text = true, .offset = sizeof(struct json_string) },
	};
	struct json_string read[2] = { { .data = NULL } };
	size_t i;
	int r = 0;

	json_write_array(reading->w, key);
	for (i = 0; r >= 0 && i < json_array_size(list); i++) {
		r = json_read_fields(json_array_at(list, i),
				     item_place_at(path, i).path, table, 2,
				     JSON_UNKNOWN_IGNORED, read, err);
		if (r < 0)
			break;
		json_write_object(reading->w, NULL);
		json_write_string(reading->w, "type", type);
		json_write_bytes(reading->w, "text", read[1].data,
				 read[1].length);
		json_write_close(reading->w);
	}
	json_write_close(reading->w);
	return r;
}

static int read_reasoning(const struct item_reading *reading,
			  const struct json_object *object, const char *path,
			  const char *id, struct error *err)
{
	static const struct json_field table[] = {
		JSON_STRING_FIELD("status", struct reasoning_fields, status,
				  .choices = statuses),
		JSON_ARRAY_FIELD("summary", struct reasoning_fields, summary,
				 .max = ITEM_PARTS_MAX),
		JSON_ARRAY_FIELD("content", struct reasoning_fields, content,
				 .max = ITEM_PARTS_MAX),
		JSON_STRING_FIELD("encrypted_content", struct reasoning_fields,
				  encrypted),
	};
	struct reasoning_fields f = { .summary = NULL };
	struct json_writer *w = reading->w;
	int r;

	(void)id;
	r = json_read_fields(object, path, table,
			     sizeof(table) / sizeof(table[0]),
			     JSON_UNKNOWN_IGNORED, &f, err);
	if (r < 0)
		return r;
	write_status(w, f.status);
	r = read_thoughts(reading, "summary", f.summary, "summary_text",
			  item_place(path, "summary").path, err);
	if (r >= 0 && f.content)
		r = read_thoughts(reading, "content", f.content,
				  "reasoning_text",
				  item_place(path, "content").path, err);
	if (r >= 0 && f.encrypted.data)
		json_write_bytes(w, "encrypted_content", f.encrypted.data,
				 f.encrypted.length);
	return r;
}

/* ----------------------------------------------------------------- the table */

static int (*const readers[])(const struct item_reading *reading,
			      const struct json_object *object,
			      const char *path, const char *id,
			      struct error *err) = {
	[ITEM_MESSAGE] = read_message,
	[ITEM_CODE_INTERPRETER_CALL] = read_code_call,
	[ITEM_FUNCTION_CALL] = read_function_call,
	[ITEM_FUNCTION_CALL_OUTPUT] = read_function_output,
	[ITEM_REASONING] = read_reasoning,
};
static_assert(sizeof(readers) / sizeof(readers[0]) == ITEM_TYPE_COUNT,
	      "readers[] doesn't match enum item_type");

int item_body_read(const struct item_reading *reading, enum item_type type,
		   const struct json_object *object, const char *path,
		   const char *id, struct error *err)
{
	return readers[type](reading, object, path, id, err);
}
