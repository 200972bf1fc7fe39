/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TURN_UPSTREAM_CALL_H
#define TURN_UPSTREAM_CALL_H

/*
 * One round with a model, from the request to its end, repetitions included.
 */

#include "base/buf.h"
#include "base/timer.h"
#include "turn/upstream_answer.h"
#include "turn/upstream_private.h"
#include "turn/upstream_reader.h"
#include "turn/upstream_transfers.h"

/**
 * enum upstream_call_state - Where a round is
 *
 *    ASKING - A transfer is under way
 *        Timer: patience, by the idle time; to FAILED or ENDED
 *        Leaves by: the end of the transfer, to ENDED, or to WAITING if it may
 *        be repeated
 *
 *    WAITING - Between two tries
 *        Timer: patience, to ASKING
 *
 *    ENDED - The end has been told; only upstream_call_free() follows
 *
 * In all but ENDED the deadline ends the round.
 */
enum upstream_call_state {
	UPSTREAM_CALL_ASKING,
	UPSTREAM_CALL_WAITING,
	UPSTREAM_CALL_ENDED,

	UPSTREAM_CALL_STATE_COUNT,
};

/**
 * struct upstream_call - Private to upstream_call.c and upstream_try.c
 * @busy:	Calls of ours that are on the stack: it is not freed below them
 * @freed:	Its owner has gone
 * @try:	How many tries there were before this one
 * @key:	The one that all tries send; owned; or NULL. The model's own may be
 *		another by the time that this one has to be taken out of a text
 * @body:	Of the request, until it cannot be repeated any more
 * @text:	Of an answer that is no stream
 * @bytes:	Of this try's answer so far
 * @status:	Of this try's answer; 0 until it is known
 * @events:	This try's answer is a stream
 */
struct upstream_call {
	struct upstream *upstream;
	struct upstream_target *target;
	struct upstream_events events;
	void *userdata;
	enum upstream_call_state state;
	unsigned busy;
	bool freed;

	unsigned try;
	char *key;
	struct buf body;
	struct curl_slist *headers;
	struct timer *patience;
	struct timer *deadline;
	usec_t began_usec;
	usec_t first_usec; /* boot clock of the first piece; or 0 */

	struct upstream_answer answer;
	struct upstream_reader reader;
	struct upstream_transfer transfer;
	struct buf text;
	uint64_t bytes;
	long status;
	bool streams;
};

/* ------------------------------------------------------- upstream_try.c */

/** upstream_try_begin() - Send the request, once more */
int upstream_try_begin(struct upstream_call *call);

/** upstream_try_end() - Forget this try's transfer and what it brought */
void upstream_try_end(struct upstream_call *call);

/** upstream_try_take() - Read what has arrived; Return: negative, @ret set */
int upstream_try_take(struct upstream_call *call, struct upstream_failure *ret);

/** upstream_try_judge() - The transfer is over: was it an answer? */
int upstream_try_judge(struct upstream_call *call, CURLcode result,
		       struct upstream_failure *ret);

/**
 * upstream_try_headers() - Those that all tries have; NULL without memory
 * @key:	Of the model's server, or NULL
 * @trace:	traceparent, or NULL
 */
struct curl_slist *upstream_try_headers(const char *key, const char *trace);

/* ------------------------------------------------------ upstream_call.c */

void upstream_call_arrived(void *call);
void upstream_call_transferred(void *call, CURLcode result);

#endif
