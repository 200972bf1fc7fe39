/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "turn/item_private.h"

/*
 * A client's items, in whatever form they come, become items of the kept form:
 * id and type first, then what their type has (item_kinds.c), and nothing that
 * was not checked.
 */

/* ------------------------------------------------------------------ places */

/* What is longer is cut: a path is for people to find the field with. */
__attribute__((format(printf, 1, 2))) static struct item_place
place_of(const char *fmt, ...)
{
	struct item_place place;
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(place.path, sizeof(place.path), fmt, ap);
	va_end(ap);
	return place;
}

struct item_place item_place(const char *path, const char *member)
{
	return place_of("%s.%s", path, member);
}

struct item_place item_place_at(const char *path, size_t i)
{
	return place_of("%s[%zu]", path, i);
}

int item_refuse(struct error *err, const char *path, const char *fmt, ...)
{
	char why[ERROR_MESSAGE_MAX];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	return error_refuse(err, path, "invalid_value",
			    "Invalid value for '%s': %s", path, why);
}

/* --------------------------------------------------------------------- ids */

static bool id_is_fit(struct json_string id)
{
	static const char letters[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "abcdefghijklmnopqrstuvwxyz_-";

	return id.length > 0 && id.length <= ID_MAX &&
	       strspn(id.data, letters) == id.length;
}

static int check_id(const struct items *items, struct json_string id,
		    const char *path, struct error *err)
{
	size_t i;

	if (!id_is_fit(id))
		return item_refuse(err, path,
				   "an id has 1 to %d letters, digits, '_' or "
				   "'-'",
				   ID_MAX);
	for (i = 0; i < items->count; i++)
		if (strcmp(items->list[i].id, id.data) == 0)
			return item_refuse(err, path,
					   "there is an item '%s' already", id.data);
	return 0;
}

/* --------------------------------------------------------------- references */

static int add_reference(struct core *core, const struct principal *who,
			 const char *id, const char *path, struct items *ret,
			 struct error *err)
{
	struct talk_item found;
	int r;

	r = core_item_find(core, who, id, &found, err);
	if (r < 0) {
		error_set_param(err, "%s", path);
		return r;
	}
	r = items_add_text(ret, found.json, found.size);
	return r < 0 ? error_set_errno(err, r, "Cannot refer to an item") : 0;
}

/* ------------------------------------------------------------------ one item */

/**
 * struct head - What tells items apart
 * @type:	ITEM_TYPE_COUNT: it refers to another one
 * @id:		As given, or drawn
 */
struct head {
	enum item_type type;
	char id[ID_SIZE];
	bool drawn;
};

struct head_fields {
	struct json_string type;
	struct json_string id;
	struct json_string role;
};

static int refuse_type(const char *type, const char *path, struct error *err)
{
	return item_refuse(err, item_place(path, "type").path,
			   "it is '%.64s' and must be one of 'message', "
			   "'code_interpreter_call', 'function_call', "
			   "'function_call_output', 'reasoning', "
			   "'item_reference'",
			   type);
}

/* Without a type it is a message, or refers to another item. */
static int find_type(const struct head_fields *f, const char *path,
		     enum item_type *ret, struct error *err)
{
	bool refers;

	if (f->type.data)
		refers = item_string_is(f->type, "item_reference");
	else
		refers = f->id.data && !f->role.data;
	*ret = ITEM_TYPE_COUNT;
	if (refers)
		return 0;
	*ret = f->type.data ? item_type_of(f->type) : ITEM_MESSAGE;
	return *ret == ITEM_TYPE_COUNT ? refuse_type(f->type.data, path, err) :
					 0;
}

static int find_id(const struct items *items, const struct head_fields *f,
		   const char *path, struct head *ret, struct error *err)
{
	const struct item_place place = item_place(path, "id");
	int r;

	ret->drawn = !f->id.data;
	if (f->id.data) {
		r = check_id(items, f->id, place.path, err);
		if (r >= 0)
			memcpy(ret->id, f->id.data, f->id.length + 1);
		return r;
	}
	if (ret->type == ITEM_TYPE_COUNT) {
		error_set_param(err, "%s", place.path);
		error_set_reason(err, "missing_required_parameter");
		return error_set(err, ERR_BAD_REQUEST,
				 "Missing required parameter: '%s'",
				 place.path);
	}
	r = id_new(item_id_kind(ret->type), ret->id);
	return r < 0 ? error_set_errno(err, r, "Cannot make an item") : 0;
}

static int read_head(const struct items *items,
		     const struct json_object *object, const char *path,
		     struct head *ret, struct error *err)
{
	static const struct json_field table[] = {
		JSON_STRING_FIELD("type", struct head_fields, type),
		JSON_STRING_FIELD("id", struct head_fields, id),
		JSON_STRING_FIELD("role", struct head_fields, role),
	};
	struct head_fields f = { .role = { .data = NULL } };
	int r;

	if (json_kind_of(object) == JSON_NULL)
		return item_refuse(err, path, "an item is an object");
	r = json_read_fields(object, path, table,
			     sizeof(table) / sizeof(table[0]),
			     JSON_UNKNOWN_IGNORED, &f, err);
	if (r >= 0)
		r = find_type(&f, path, &ret->type, err);
	if (r >= 0)
		r = find_id(items, &f, path, ret, err);
	return r;
}

static int too_large(const char *path, struct error *err)
{
	error_set_param(err, "%s", path);
	error_set_reason(err, "string_above_max_length");
	return error_set(err, ERR_BAD_REQUEST,
			 "Invalid '%s': an item has at most %d bytes", path,
			 CORE_ITEM_MAX);
}

static int add_item(const struct item_reading *reading, const struct head *head,
		    const struct buf *text, const char *path,
		    struct items *ret, struct error *err)
{
	_cleanup_free_ char *json = NULL;
	int r;

	r = json_write_end(reading->w);
	if (r == -EMSGSIZE)
		return too_large(path, err);
	if (r >= 0) {
		json = strndup(buf_str(text), text->length);
		r = json ? items_add(ret, head->id, head->type, json,
				     text->length) :
			   -ENOMEM;
	}
	if (r < 0)
		return error_set_errno(err, r, "Cannot keep an item");
	(void)take_ptr(json);
	return 0;
}

static int read_item(struct core *core, const struct principal *who,
		     const struct json_object *object, const char *path,
		     struct items *ret, struct error *err)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(CORE_ITEM_MAX);
	struct json_writer w = JSON_WRITER_INIT(&text);
	const struct item_reading reading = { core, who, &w };
	struct head head;
	int r;

	r = read_head(ret, object, path, &head, err);
	if (r < 0)
		return r;
	if (head.type == ITEM_TYPE_COUNT)
		return add_reference(core, who, head.id,
				     item_place(path, "id").path, ret, err);
	json_write_object(&w, NULL);
	json_write_string(&w, "id", head.id);
	json_write_string(&w, "type", item_type_word(head.type));
	r = item_body_read(&reading, head.type, object, path,
			   head.drawn ? NULL : head.id, err);
	json_write_close(&w);
	return r < 0 ? r : add_item(&reading, &head, &text, path, ret, err);
}

/* ------------------------------------------------------------------ all of them */

static int read_array(struct core *core, const struct principal *who,
		      const struct json_object *input, const char *path,
		      size_t max, struct items *ret, struct error *err)
{
	size_t count = json_array_size(input), i;
	int r = 0;

	if (count > max) {
		error_set_param(err, "%s", path);
		error_set_reason(err, "array_above_max_length");
		return error_set(err, ERR_BAD_REQUEST,
				 "Invalid '%s': it has %zu items, at most %zu "
				 "are allowed",
				 path, count, max);
	}
	for (i = 0; r >= 0 && i < count; i++)
		r = read_item(core, who, json_array_at(input, i),
			      item_place_at(path, i).path, ret, err);
	return r;
}

/* A string is what the user says. */
static int read_string(struct core *core, const struct principal *who,
		       const struct json_object *input, const char *path,
		       struct items *ret, struct error *err)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(CORE_ITEM_MAX);
	struct json_writer w = JSON_WRITER_INIT(&text);
	const struct item_reading reading = { core, who, &w };
	struct head head = { .type = ITEM_MESSAGE, .drawn = true };
	int r;

	r = id_new(ID_MESSAGE, head.id);
	if (r < 0)
		return error_set_errno(err, r, "Cannot make an item");
	json_write_object(&w, NULL);
	json_write_string(&w, "id", head.id);
	json_write_string(&w, "type", item_type_word(head.type));
	json_write_string(&w, "status", "completed");
	json_write_string(&w, "role", "user");
	r = item_parts_read(&reading, input, "content", path, ITEM_PARTS_GIVEN,
			    err);
	json_write_close(&w);
	return r < 0 ? r : add_item(&reading, &head, &text, path, ret, err);
}

int items_read(struct core *core, const struct principal *who,
	       const struct json_object *input, const char *path, size_t max,
	       struct items *ret, struct error *err)
{
	const size_t before = ret->count;
	int r;

	switch (json_kind_of(input)) {
	case JSON_NULL:
		r = 0;
		break;
	case JSON_STRING:
		r = read_string(core, who, input, path, ret, err);
		break;
	case JSON_ARRAY:
		r = read_array(core, who, input, path, max, ret, err);
		break;
	default:
		r = error_set(err, ERR_BAD_REQUEST,
			      "Invalid type for '%s': expected a string or an "
			      "array of items, but got %s instead",
			      path, json_kind_name(json_kind_of(input)));
		error_set_param(err, "%s", path);
		error_set_reason(err, "invalid_type");
	}
	if (r < 0)
		items_truncate(ret, before);
	return r;
}
