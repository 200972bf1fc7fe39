/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_SSE_H
#define API_SSE_H

/*
 * An answer of server-sent events.
 *
 * Whoever has events either puts them in when they come (sse_text() and
 * sse_wake()), or is asked for them when the client's socket takes more. While
 * there is nothing to send the library rests, and a comment now and then keeps
 * proxies from cutting the connection.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

struct request;
struct sse;

enum {
	/* What is asked for at a time, and where nothing more is asked for. */
	SSE_BATCH = 32 << 10,
};

/**
 * sse_fill_fn - Add what there is, up to SSE_BATCH or a little more
 *
 * Return: 0, or a negative errno: the answer is cut off
 */
typedef int (*sse_fill_fn)(void *userdata, struct sse *sse);

/**
 * sse_reply() - Make it the answer of a request, which owns it
 * @fill:	May be NULL
 */
int sse_reply(struct request *req, sse_fill_fn fill, void *userdata,
	      struct error *err);

/**
 * sse_resume() - Behind which event a client wants to go on
 * @ret_given:	Whether it said so, by the parameter "after" or else by the
 *		field Last-Event-ID, which browsers send when they connect again
 * @ret_after:	Stays as it is if not
 */
int sse_resume(struct request *req, bool *ret_given, uint64_t *ret_after,
	       struct error *err);

/** sse_text() - Where events are written, each with its empty line */
struct buf *sse_text(struct sse *sse);

/** sse_wake() - There is something to send, or to be asked for */
void sse_wake(struct sse *sse);

/** sse_end() - What is in the text is the last */
void sse_end(struct sse *sse);

/** sse_ended() - Whether sse_end() was called */
bool sse_ended(const struct sse *sse);

void sse_free(struct sse *sse);

#endif
