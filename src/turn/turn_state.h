/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TURN_TURN_STATE_H
#define TURN_TURN_STATE_H

#include <stdbool.h>

/**
 * enum turn_state - Where a turn is in its life
 *
 *    PREPARING - It is checked, its history is read, its intent is written; it
 *    may wait for an earlier turn of its conversation
 *        Leaves by: the last of its steps, to ANSWERING; a failure or its
 *        client's leaving, to SAVING, or to OVER if nobody was told of it
 *
 *    ANSWERING - Its model is asked, code runs, the model is asked again
 *        Leaves by: the end of a round that asks for nothing more, a failure or
 *        a cancel, to SAVING
 *        Timer: the model's and the execution's own
 *
 *    SAVING - It has come to something, which is being written
 *        Leaves by: the commit, to OVER
 *        Caveat: callbacks that core still owes are ignored from here on, but
 *        for an execution that begins: that is interrupted
 *
 *    OVER - Its readers have been told; it is freed when they have gone
 */
enum turn_state {
	TURN_PREPARING,
	TURN_ANSWERING,
	TURN_SAVING,
	TURN_OVER,

	TURN_STATE_COUNT,
};

/** enum turn_outcome - What it came to, once it is over */
enum turn_outcome {
	TURN_NONE,
	TURN_COMPLETED,
	TURN_INCOMPLETE,
	TURN_FAILED,
	TURN_CANCELLED,

	TURN_OUTCOME_COUNT,
};

const char *turn_state_name(enum turn_state state);

/** turn_outcome_name() - As clients read it */
const char *turn_outcome_name(enum turn_outcome outcome);

bool turn_state_may_follow(enum turn_state from, enum turn_state to);

struct turn;

/** turn_enter() - The only writer of a turn's state */
void turn_enter(struct turn *t, enum turn_state to);

#endif
