/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TURN_ITEM_PRIVATE_H
#define TURN_ITEM_PRIVATE_H

/* Reading items, shared by item*.c. */

#include "base/json.h"
#include "base/json_write.h"
#include "turn/item.h"

enum {
	ITEM_PARTS_MAX = 1024,    /* of one content */
	ITEM_CALL_ID_MAX = 64,
	ITEM_NAME_MAX = 128,      /* of a function */
	ITEM_OUTPUTS_MAX = 1024,  /* of an interpreter's call */
};

/** struct item_place - Where a value is in the request: an error's param */
struct item_place {
	char path[ERROR_PARAM_MAX];
};

struct item_place item_place(const char *path, const char *member);
struct item_place item_place_at(const char *path, size_t i);

/**
 * struct item_reading - An item on its way to the kept form
 * @w:		Takes the kept form, member by member
 */
struct item_reading {
	struct core *core;
	const struct principal *who;
	struct json_writer *w;
};

/** item_refuse() - ERR_BAD_REQUEST "invalid_value" with its place */
int item_refuse(struct error *err, const char *path, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/** enum item_parts - Whose parts a content may have */
enum item_parts {
	ITEM_PARTS_GIVEN, /* to a model */
	ITEM_PARTS_SAID,  /* by it */
};

/**
 * item_parts_read() - Check parts, and write them as an array
 * @parts:	A string, which is one part, or an array
 * @key:	Of the array in the kept form
 */
int item_parts_read(const struct item_reading *reading,
		    const struct json_object *parts, const char *key,
		    const char *path, enum item_parts which,
		    struct error *err);

/** item_string_is() - Whether a value is a word; NULs inside make it another */
bool item_string_is(struct json_string s, const char *word);

/** item_type_of() - The type of a word; ITEM_TYPE_COUNT if it is none */
enum item_type item_type_of(struct json_string word);

/** item_id_kind() - What ids of a type are called */
enum id_kind item_id_kind(enum item_type type);

/**
 * item_body_read() - Check what follows id and type, and write it
 * @id:		As it was given, or NULL
 */
int item_body_read(const struct item_reading *reading, enum item_type type,
		   const struct json_object *object, const char *path,
		   const char *id, struct error *err);

#endif
