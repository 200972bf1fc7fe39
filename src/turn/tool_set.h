/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TURN_TOOL_SET_H
#define TURN_TOOL_SET_H

/*
 * The tools of a request, and which of them a model may, must or may not use.
 *
 * A model knows functions only. So the interpreter is offered as one, next to
 * those that the client answers itself.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "core/core.h"

struct json_object;
struct json_writer;

enum {
	TOOLS_MAX = 128,
	TOOL_NAME_MAX = 64,
};

/** enum tool_choice - What of them the model has to use */
enum tool_choice {
	CHOICE_AUTO,
	CHOICE_NONE,
	CHOICE_REQUIRED, /* any */
	CHOICE_TOOL,     /* the one that is named */
};

/**
 * struct tool_function - One that the client answers
 * @json:	As models are told of it
 * @allowed:	The choice does not exclude it
 */
struct tool_function {
	char name[TOOL_NAME_MAX + 1];
	char *json;
	size_t size;
	bool allowed;
};

/**
 * struct tool_set - All that are there
 * @interpreter: There is one, and it is not excluded
 * @python:	What it is called, unless a function of the client has the name
 * @container:	The one to run code in; "" if one is to be found or made
 * @file_ids:	What such a one is to have, from its tool
 * @choice, @choice_name: The latter with CHOICE_TOOL
 */
struct tool_set {
	bool has_interpreter; /* of the next; excluded or not */
	bool interpreter;
	const char *python;
	unsigned interpreter_index; /* in the request, for messages */
	char container[ID_SIZE];
	enum memory_tier memory;
	char (*file_ids)[ID_SIZE];
	size_t file_count;
	struct tool_function *functions;
	size_t function_count;
	enum tool_choice choice;
	char choice_name[TOOL_NAME_MAX + 1];
};

/**
 * tool_set_read() - Read and check "tools" and "tool_choice"
 * @tools, @choice: NULL if absent
 * @ret:	For tool_set_done(), also on failure
 */
int tool_set_read(const struct json_object *tools,
		  const struct json_object *choice, struct tool_set *ret,
		  struct error *err);
void tool_set_done(struct tool_set *set);

/** tool_set_function() - The client's function of that name, or NULL */
const struct tool_function *tool_set_function(const struct tool_set *set,
					      const char *name);

/**
 * tool_set_write() - As a model is offered them: an array of functions
 * @python:	With the interpreter
 *
 * Return: how many there are
 */
size_t tool_set_write(const struct tool_set *set, bool python,
		      struct json_writer *w);

/**
 * tool_set_write_choice() - The choice, as a model's server is told it
 * @first:	In the first round: later nothing is forced any more
 */
void tool_set_write_choice(const struct tool_set *set, bool python, bool first,
			   struct json_writer *w);

/* tool_choice.c */
int tool_choice_read(const struct json_object *choice, struct tool_set *ret,
		     struct error *err);

#endif
