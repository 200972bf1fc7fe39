/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UNIT_SCRIPTED_MODEL_H
#define UNIT_SCRIPTED_MODEL_H

/*
 * upstream.h without a server: linked in place of it. What it is asked is kept
 * for the test to look at, and it says what the test has it say.
 */

#include "base/buf.h"
#include "turn/upstream.h"

enum { SCRIPTED_ASKED_MAX = 64 };

/** struct upstream_call - One round that is under way */
struct upstream_call {
	struct upstream *upstream;
	const struct upstream_events *events;
	void *userdata;
	bool freed; /* while it speaks */
};

/**
 * struct upstream - What there is of it
 * @asked:	The last question: all that it consisted of, an item a line
 * @rounds:	How often it was asked
 * @call:	The last one that is under way, or NULL
 */
struct upstream {
	struct buf asked;
	unsigned rounds;
	unsigned freed; /* calls that were given up */
	struct upstream_call *call;
	struct upstream_usage usage; /* that each round reports */
};

void model_text(struct upstream *model, const char *text);
void model_refusal(struct upstream *model, const char *text);
void model_thought(struct upstream *model, const char *text);
void model_encrypted(struct upstream *model, const char *text);
void model_call(struct upstream *model, unsigned index, const char *id,
		const char *name);
void model_arguments(struct upstream *model, unsigned index, const char *text);

/** model_python() - A whole call, in pieces of a few bytes */
void model_python(struct upstream *model, unsigned index, const char *id,
		  const char *arguments);
void model_end(struct upstream *model, enum upstream_finish finish);
void model_fail_with(struct upstream *model, const struct error *err);
void model_fail(struct upstream *model, enum error_code code,
		const char *message);

#endif
