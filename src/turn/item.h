/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TURN_ITEM_H
#define TURN_ITEM_H

/*
 * Items: what a model is told and what it said, one by one.
 *
 * Clients write them in several forms; kept they have one: an id, a type, a
 * status where the type has one, content as an array of parts.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/id.h"
#include "core/core.h"

struct json_object;
struct json_writer;

enum item_type {
	ITEM_MESSAGE,
	ITEM_CODE_INTERPRETER_CALL,
	ITEM_FUNCTION_CALL,
	ITEM_FUNCTION_CALL_OUTPUT,
	ITEM_REASONING,

	ITEM_TYPE_COUNT,
};

/** item_type_word() - As items have it, as in "function_call" */
const char *item_type_word(enum item_type type);

/**
 * struct item - One in its kept form
 * @json:	Text of the whole object, with everything that "include" may
 *		ask for; owned
 */
struct item {
	char id[ID_MAX + 1];
	enum item_type type;
	char *json;
	size_t size;
};

/** struct items - Several, in order; owned */
struct items {
	struct item *list;
	size_t count;
	size_t size; /* room of @list */
};

/** enum item_include - What is shown only if it is asked for, as bits */
enum item_include {
	ITEM_INCLUDE_OUTPUTS = 1 << 0,   /* code_interpreter_call.outputs */
	ITEM_INCLUDE_IMAGE_URL = 1 << 1, /* message.input_image.image_url */
	ITEM_INCLUDE_ENCRYPTED = 1 << 2, /* reasoning.encrypted_content */
	ITEM_INCLUDE_LOGPROBS = 1 << 3,  /* message.output_text.logprobs */
};

/**
 * items_read() - Check a client's input and bring it to the kept form
 * @input:	A string or an array of items
 * @path:	Where it is in the request: "input", "items"
 * @max:	Items at most
 * @ret:	Appended to; on failure as before
 * @err:	ERR_BAD_REQUEST with param such as "input[2].content[0].type"
 *
 * A reference is resolved to the item it names (an earlier one of the tenant,
 * or ERR_NOT_FOUND); an item that was given without id gets one. An id that is
 * in @ret already is refused. An interpreter's call that comes without outputs
 * has those that were kept under its id.
 */
int items_read(struct core *core, const struct principal *who,
	       const struct json_object *input, const char *path, size_t max,
	       struct items *ret, struct error *err);

/**
 * items_add() - Take over the text of a kept item and note its id and type
 * @json:	From malloc(); taken over if the call succeeds
 */
int items_add(struct items *items, const char *id, enum item_type type,
	      char *json, size_t size);

/**
 * items_add_text() - The same from the database: id and type are read out
 * @json:	Copied
 *
 * Return: 0; -ENOMEM; -EBADMSG or -EINVAL for what is no kept item
 */
int items_add_text(struct items *items, const char *json, size_t size);

/** items_truncate() - Keep the first @count only */
void items_truncate(struct items *items, size_t count);

void items_done(struct items *items);

/** item_write() - As a client is shown it */
void item_write(struct json_writer *w, const char *key, const struct item *item,
		unsigned include);

/** item_write_text() - The same of one from the database */
void item_write_text(struct json_writer *w, const char *key, const char *json,
		     size_t size, unsigned include);

/** item_include_read() - Bits of a request's "include"; unknown words are 400 */
int item_include_read(const struct json_object *include, const char *path,
		      unsigned *ret, struct error *err);

/** item_include_word() - The same of one word, for queries */
int item_include_word(const char *word, unsigned *ret, struct error *err);

#endif
