/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_RESPONSE_FOLLOW_H
#define API_RESPONSE_FOLLOW_H

/*
 * Following a turn for a request: to answer with the response once it is over,
 * or with each of its events as they come.
 *
 * Events are made when the client's socket takes them, so a slow reader costs a
 * cursor and one buffer.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct request;

/**
 * struct response_follow - Whom to follow, and how
 * @id:		Of the response
 * @after:	The last event that the client has, or -1
 * @abandon:	The turn ends with the request, if it is not over before
 * @as_error:	A failure becomes an HTTP error
 */
struct response_follow {
	const char *id;
	int64_t after;
	bool abandon;
	bool as_error;
};

/** response_follow_events() - Make the events the answer; as a handler */
int response_follow_events(struct request *req,
			   const struct response_follow *follow,
			   struct error *err);

/**
 * response_follow_end() - Answer once it is over
 *
 * Return: 0, and request_finish() follows, never from inside; or a negative
 * errno
 */
int response_follow_end(struct request *req,
			const struct response_follow *follow,
			struct error *err);

#endif
