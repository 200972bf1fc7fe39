/* SPDX-License-Identifier: Apache-2.0 */
#include "turn/item.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "turn/item_private.h"

static const struct {
	const char *word;
	enum id_kind id;
} types[] = {
	[ITEM_MESSAGE] = { "message", ID_MESSAGE },
	[ITEM_CODE_INTERPRETER_CALL] = { "code_interpreter_call",
					 ID_CODE_CALL },
	[ITEM_FUNCTION_CALL] = { "function_call", ID_FUNCTION_CALL },
	[ITEM_FUNCTION_CALL_OUTPUT] = { "function_call_output",
					ID_FUNCTION_OUTPUT },
	[ITEM_REASONING] = { "reasoning", ID_REASONING },
};
static_assert(sizeof(types) / sizeof(types[0]) == ITEM_TYPE_COUNT,
	      "types[] doesn't match enum item_type");

const char *item_type_word(enum item_type type)
{
	return types[type].word;
}

bool item_string_is(struct json_string s, const char *word)
{
	return s.data && s.length == strlen(word) &&
	       memcmp(s.data, word, s.length) == 0;
}

enum item_type item_type_of(struct json_string word)
{
	int type;

	for (type = 0; type < ITEM_TYPE_COUNT; type++)
		if (item_string_is(word, types[type].word))
			break;
	return (enum item_type)type;
}

enum id_kind item_id_kind(enum item_type type)
{
	return types[type].id;
}

/* ------------------------------------------------------------------- lists */

int items_add(struct items *items, const char *id, enum item_type type,
	      char *json, size_t size)
{
	struct item *list = items->list;

	if (items->count == items->size) {
		size_t room = items->size ? 2 * items->size : 8;

		list = reallocarray(list, room, sizeof(*list));
		if (!list)
			return -ENOMEM;
		items->list = list;
		items->size = room;
	}
	assert(strlen(id) <= ID_MAX);
	list = &items->list[items->count++];
	*list = (struct item){ .type = type, .json = json, .size = size };
	strcpy(list->id, id);
	return 0;
}

int items_add_text(struct items *items, const char *json, size_t size)
{
	_cleanup_(json_freep) struct json_object *object = NULL;
	_cleanup_free_ char *copy = NULL;
	struct json_string id;
	enum item_type type;
	int r;

	r = json_parse(json, size, &object, NULL);
	if (r < 0)
		return r;
	id = json_string_of(json_member(object, "id"));
	type = item_type_of(json_string_of(json_member(object, "type")));
	if (!id.data || id.length > ID_MAX || type == ITEM_TYPE_COUNT)
		return -EBADMSG;
	copy = malloc(size + 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, json, size);
	copy[size] = '\0';
	r = items_add(items, id.data, type, copy, size);
	if (r >= 0)
		(void)take_ptr(copy);
	return r;
}

void items_truncate(struct items *items, size_t count)
{
	while (items->count > count)
		free(items->list[--items->count].json);
}

void items_done(struct items *items)
{
	items_truncate(items, 0);
	free(items->list);
	*items = (struct items){ .list = NULL };
}

/* ----------------------------------------------------------------- showing */

/** struct showing - An item on its way to a client */
struct showing {
	struct json_writer *w;
	unsigned include;
};

static int show_part_member(const char *key, struct json_object *value,
			    void *userdata)
{
	const struct showing *showing = userdata;
	struct json_writer *w = showing->w;

	if (strcmp(key, "image_url") == 0 &&
	    !(showing->include & ITEM_INCLUDE_IMAGE_URL)) {
		json_write_null(w, key);
	} else if (strcmp(key, "logprobs") == 0 &&
		   !(showing->include & ITEM_INCLUDE_LOGPROBS)) {
		json_write_array(w, key);
		json_write_close(w);
	} else {
		json_write_value(w, key, value);
	}
	return 0;
}

static void show_parts(struct showing *showing, const char *key,
		       const struct json_object *parts)
{
	size_t i;

	json_write_array(showing->w, key);
	for (i = 0; i < json_array_size(parts); i++) {
		json_write_object(showing->w, NULL);
		(void)json_each_member(json_array_at(parts, i),
				       show_part_member, showing);
		json_write_close(showing->w);
	}
	json_write_close(showing->w);
}

static int show_member(const char *key, struct json_object *value,
		       void *userdata)
{
	struct showing *showing = userdata;

	if (strcmp(key, "outputs") == 0 &&
	    !(showing->include & ITEM_INCLUDE_OUTPUTS))
		json_write_null(showing->w, key);
	else if (strcmp(key, "encrypted_content") == 0 &&
		 !(showing->include & ITEM_INCLUDE_ENCRYPTED))
		json_write_null(showing->w, key);
	else if (strcmp(key, "content") == 0 &&
		 json_kind_of(value) == JSON_ARRAY)
		show_parts(showing, key, value);
	else
		json_write_value(showing->w, key, value);
	return 0;
}

void item_write(struct json_writer *w, const char *key, const struct item *item,
		unsigned include)
{
	item_write_text(w, key, item->json, item->size, include);
}

void item_write_text(struct json_writer *w, const char *key, const char *json,
		     size_t size, unsigned include)
{
	_cleanup_(json_freep) struct json_object *object = NULL;
	struct showing showing = { .w = w, .include = include };
	int r;

	r = json_parse(json, size, &object, NULL);
	if (r < 0) {
		json_write_fail(w, r);
		return;
	}
	json_write_object(w, key);
	(void)json_each_member(object, show_member, &showing);
	json_write_close(w);
}
