/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TURN_UPSTREAM_READER_H
#define TURN_UPSTREAM_READER_H

/*
 * Reads what a model's server streams, in either protocol, into an answer.
 *
 * Bytes of server-sent events go in as they arrive; what they say is told at
 * once. A server that answers with one JSON object instead is understood, too.
 */

#include "base/sse_reader.h"
#include "turn/upstream_answer.h"
#include "turn/upstream_error.h"
#include "turn/upstream_mend.h"
#include "turn/upstream_target.h"

enum {
	/* One event: a whole response at its end, with all it says. */
	UPSTREAM_EVENT_MAX = 16 << 20,
};

/**
 * struct upstream_reader - Private but for @complete
 * @complete:	The server has said that nothing more comes
 * @failure:	Why reading failed
 */
struct upstream_reader {
	const struct upstream_target *target;
	const char *key;
	struct upstream_answer *answer;
	struct sse_reader *sse;
	struct upstream_mend mend;
	bool complete;
	struct upstream_failure failure;
};

/**
 * upstream_reader_init() - Begin to read
 * @key:	To be taken out of what the server says of failures; lives as long
 *		as the reader; or NULL
 */
int upstream_reader_init(struct upstream_reader *r,
			 const struct upstream_target *target, const char *key,
			 struct upstream_answer *answer);

void upstream_reader_done(struct upstream_reader *r);

/** upstream_reader_feed() - Return: 0, or negative with @failure set */
int upstream_reader_feed(struct upstream_reader *r, const void *data,
			 size_t size);

/** upstream_reader_object() - The same for an answer that is no stream */
int upstream_reader_object(struct upstream_reader *r, const void *data,
			   size_t size);

/** upstream_reader_end() - The stream has ended; Return: as above */
int upstream_reader_end(struct upstream_reader *r);

/* ------------------------------------- between the parts of the reader */

/** upstream_chat_read() - A chunk, or a whole completion */
int upstream_chat_read(struct upstream_reader *r,
		       const struct json_object *chunk, struct error *err);

/** upstream_responses_read() - An event */
int upstream_responses_read(struct upstream_reader *r,
			    const struct json_object *event, struct error *err);

/** upstream_responses_read_whole() - A response that was not streamed */
int upstream_responses_read_whole(struct upstream_reader *r,
				  const struct json_object *response,
				  struct error *err);

/** upstream_reader_fail() - The server says that it failed; Return: negative */
int upstream_reader_fail(struct upstream_reader *r,
			 const struct json_object *error);

#endif
