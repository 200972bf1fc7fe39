/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TURN_CONTEXT_H
#define TURN_CONTEXT_H

/*
 * What a model is told: the items of a talk in the form that it takes.
 *
 * Kept items become messages and calls of functions. An earlier call of the
 * interpreter becomes the call of a function with its result behind it, an
 * image that was uploaded becomes its bytes, and a file is put where code can
 * read it, of which the model is told the path.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/name.h"
#include "core/core.h"
#include "turn/tool_set.h"
#include "turn/upstream.h"

struct json_object;
struct json_writer;

enum {
	CONTEXT_CALLS_MAX = 128, /* that wait for their outputs at a time */
	CONTEXT_FILES_MAX = 4 * CORE_FILE_IDS_MAX,
	CONTEXT_DATA_MAX = 32 << 20, /* bytes of those that came in requests */
	CONTEXT_PATH_SIZE = sizeof("/mnt/data/") + NAME_FILE_MAX,
	CONTEXT_IMAGE_MAX = 4 << 20,
	CONTEXT_CALL_ID_MAX = 128,
	/* So many times of what a model is told is read, to be forgotten. */
	CONTEXT_TRUNCATED_MAX = 8,
};

/**
 * struct context_config - How items are lowered
 * @max_bytes:	Of all of them together
 * @result_max:	Bytes of a result of the interpreter
 * @secret:	For the marks of results: result.h
 * @python:	What the interpreter is called as a function
 * @interpreter: There is one: files go to it
 * @truncate:	What is too much is forgotten, instead of refused
 */
struct context_config {
	struct core *core;
	const struct principal *who;
	size_t max_bytes;
	size_t result_max;
	const uint8_t *secret;
	const char *python;
	bool interpreter;
	bool truncate;
};

/**
 * struct context_file - One that the interpreter is to have
 * @id:		file-…, or "" of one that came with its bytes
 * @name:	Under which it came
 * @path:	That it has in the container; NULL before context_settle()
 * @given:	The container has been given it before
 * @data:	Its bytes, if it has no id
 */
struct context_file {
	char id[ID_SIZE];
	char *name;
	char *path;
	bool given;
	uint8_t sha256[32];
	uint64_t bytes;
	uint8_t *data;
};

/** struct context_gap - Where a model will be told of a file */
struct context_gap {
	size_t item;
	size_t at; /* in its text, which has "{}" there */
	size_t file;
};

/**
 * struct context - Private to context*.c, but for reading
 * @container:	Of the newest call of the interpreter, or ""
 * @fresh:	What is added is this request's own; context_fresh() sets it
 * @fresh_at:	The first item of that
 * @settled:	The container for which its files have their names
 */
struct context {
	struct context_config config;
	struct upstream_item *items;
	size_t count;
	size_t room;
	size_t bytes;
	char container[ID_SIZE];
	struct context_file *files;
	size_t file_count;
	size_t data_bytes;
	struct context_gap *gaps;
	size_t gap_count;
	char settled[ID_SIZE];
	char (*waiting)[CONTEXT_CALL_ID_MAX + 1];
	size_t waiting_count;
	bool fresh;
	size_t fresh_at;
};

void context_init(struct context *c, const struct context_config *config);
void context_done(struct context *c);

/** context_fresh() - From here on it is the request's own */
void context_fresh(struct context *c);

/** context_lower() - Add a kept item */
int context_lower(struct context *c, const char *json, size_t size,
		  struct error *err);

/** context_check() - ERR_BAD_REQUEST if a call has no output */
int context_check(const struct context *c, struct error *err);

/** context_add_text() - What the model itself said */
int context_add_text(struct context *c, const char *text, size_t size);

/** context_add_thought() - … and thought, as far as its server can read it */
int context_add_thought(struct context *c, const struct buf *summary,
			const struct buf *encrypted);

/** context_add_call() - … and called; @arguments is JSON */
int context_add_call(struct context *c, const char *call_id, const char *name,
		     const char *arguments, size_t size);

/** context_add_code() - The same of the interpreter */
int context_add_code(struct context *c, const char *call_id, const char *code,
		     size_t size);

/** context_add_output() - What came of a call */
int context_add_output(struct context *c, const char *call_id,
		       const char *output, size_t size);

/* context_parts.c */

/** context_add_message() - Add a message of a client */
int context_add_message(struct context *c, const struct json_object *item,
			struct error *err);

/* context_files.c */

/**
 * context_take_upload() - Leave a gap in a message, where a file is told of
 * @text:	Of the message so far, which @w writes and which becomes the next
 *		item
 */
int context_take_upload(struct context *c, const struct file_view *file,
			struct buf *text, struct json_writer *w,
			struct error *err);

/** context_take_data() - The same of one that came as a data URL in base64 */
int context_take_data(struct context *c, const char *name, const char *url,
		      struct buf *text, struct json_writer *w,
		      struct error *err);

/** context_add_uploads() - Files that belong to no message */
int context_add_uploads(struct context *c, char (*ids)[ID_SIZE], size_t count,
			struct error *err);

/**
 * context_settle() - Give files their names, and tell the model of them
 * @container:	That code will run in, or "" for one that is to be made
 */
int context_settle(struct context *c, const char *container,
		   struct error *err);

void context_files_done(struct context *c);

/* context_shrink.c */

/** context_make_room() - For an item, by forgetting; or -EMSGSIZE */
int context_make_room(struct context *c, const char *json, size_t size);

/** context_halve() - Its server finds it too long; Return: whether that helped */
bool context_halve(struct context *c);

/* context_items.c */

/** context_begin() - Begin a text for context_add_item() */
struct buf context_begin(const struct context *c);

/** context_add_item() - Take over the text of an item of the model's */
int context_add_item(struct context *c, struct buf *text, int r);

/** context_replace_item() - Take over another text for an item */
int context_replace_item(struct context *c, struct upstream_item *item,
			 struct buf *text);

/** context_failed() - The error of those; 0 stays 0 */
int context_failed(const struct context *c, int r, struct error *err);

#endif
