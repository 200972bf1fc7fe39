/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TURN_UPSTREAM_ANSWER_H
#define TURN_UPSTREAM_ANSWER_H

/*
 * What a model has said so far in a round, on its way to who asked.
 *
 * Servers may mix the pieces of several calls; here they get in order. The
 * first call is passed on as it comes, the later ones are kept until those
 * before them are known to be complete, which may be at the end only.
 */

#include "base/buf.h"
#include "base/id.h"
#include "turn/upstream.h"

enum {
	UPSTREAM_CALLS_MAX = 128,          /* in one round */
	UPSTREAM_NAME_MAX = 128,           /* of a function */
	UPSTREAM_CALL_BYTES_MAX = 8 << 20, /* of one call's arguments */
};

struct upstream_said_call;

/**
 * struct upstream_answer - Private to upstream_answer.c but for the following
 * @closed:	Nobody listens any more; nothing is told
 * @spoken:	Something was told
 * @finished:	@finish is known
 */
struct upstream_answer {
	const struct upstream_events *events;
	void *userdata;
	bool closed;
	bool spoken;
	bool finished;
	enum upstream_finish finish;
	struct upstream_usage usage;

	struct upstream_said_call *calls;
	unsigned count;
	unsigned open; /* which one is passed on */
};

void upstream_answer_init(struct upstream_answer *a,
			  const struct upstream_events *events, void *userdata);

void upstream_answer_done(struct upstream_answer *a);

/* Pieces; nothing happens if one is empty. */
void upstream_answer_text(struct upstream_answer *a, const char *data,
			  size_t size);
void upstream_answer_refusal(struct upstream_answer *a, const char *data,
			     size_t size);
void upstream_answer_reasoning(struct upstream_answer *a, const char *data,
			       size_t size);
void upstream_answer_encrypted(struct upstream_answer *a, const char *data,
			       size_t size);

/**
 * struct upstream_piece - A piece of a call
 * @has_key, @key: Which call, by the server's count
 * @id, @name:	NULL if they are not in this piece
 * @arguments, @size: May be empty
 */
struct upstream_piece {
	bool has_key;
	int64_t key;
	const char *id;
	const char *name;
	const char *arguments;
	size_t size;
};

/** upstream_answer_call() - Take a piece of a call, maybe a new one */
int upstream_answer_call(struct upstream_answer *a,
			 const struct upstream_piece *piece, struct error *err);

/** upstream_answer_call_size() - Bytes of arguments that a call has so far */
size_t upstream_answer_call_size(const struct upstream_answer *a, int64_t key);

/** upstream_answer_call_end() - Nothing more comes of this call */
int upstream_answer_call_end(struct upstream_answer *a, int64_t key,
			     struct error *err);

/** upstream_answer_finish() - Why it ended; the last reason counts */
void upstream_answer_finish(struct upstream_answer *a,
			    enum upstream_finish finish);

/** upstream_answer_end() - All that was kept is told now */
int upstream_answer_end(struct upstream_answer *a, struct error *err);

#endif
