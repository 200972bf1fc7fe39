/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TURN_UPSTREAM_REQUEST_H
#define TURN_UPSTREAM_REQUEST_H

/*
 * Writes a round as the JSON body of a request, in either protocol.
 *
 * What goes to the server is what its protocol knows: our ids, statuses and
 * citations stay here, and so do files that only we have.
 */

#include "base/json_write.h"
#include "turn/upstream_target.h"

struct json_object;

enum {
	UPSTREAM_REQUEST_MAX = 64 << 20, /* bytes of a body */
};

/**
 * upstream_request_write() - Write the body
 * @err:	ERR_BAD_REQUEST: an item is not what it should be, as a result
 *		of a call that is not there; ERR_TOO_LARGE
 */
int upstream_request_write(const struct upstream_target *target,
			   const struct upstream_round *round, struct buf *ret,
			   struct error *err);

/* ------------------------------------ between the parts of the writer */

enum upstream_said {
	UPSTREAM_SAID_MESSAGE,
	UPSTREAM_SAID_CALL,
	UPSTREAM_SAID_RESULT,
	UPSTREAM_SAID_REASONING,
	UPSTREAM_SAID_OTHER, /* no model takes it */

	UPSTREAM_SAID_COUNT,
};

/** struct upstream_entry - An item, read */
struct upstream_entry {
	enum upstream_said said;
	struct json_object *item; /* owned */
	const char *call_id;      /* of calls and results */
};

/**
 * struct upstream_context - All of a round, read
 * @results:	Entries that are results, by call_id
 */
struct upstream_context {
	const struct upstream_target *target;
	const struct upstream_round *round;
	struct upstream_entry *entries;
	size_t count;
	const struct upstream_entry **results;
	size_t result_count;
	struct json_object *tools;
	struct json_object *choice;
	struct json_object *options;
};

/** upstream_context_result() - The result of a call, or NULL */
const struct upstream_entry *
upstream_context_result(const struct upstream_context *c, const char *call_id);

/** upstream_write_option() - Write an option under a name, if it was given */
void upstream_write_option(struct json_writer *w,
			   const struct upstream_context *c, const char *option,
			   const char *name);

/** upstream_write_note() - In place of a part that only we could open */
void upstream_write_note(struct json_writer *w, const char *type,
			 const struct json_object *part);

/* Members of the body, within its object. */
void upstream_chat_write(struct json_writer *w,
			 const struct upstream_context *c);
void upstream_responses_write(struct json_writer *w,
			      const struct upstream_context *c);

#endif
