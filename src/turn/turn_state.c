/* SPDX-License-Identifier: Apache-2.0 */
#include "turn/turn_state.h"

#include <assert.h>

#include "turn/turn_priv.h"

#define TO(state) (1u << (state))

static const struct {
	const char *name;
	unsigned next;
} states[] = {
	[TURN_PREPARING] = { "preparing", TO(TURN_ANSWERING) | TO(TURN_SAVING) |
						  TO(TURN_OVER) },
	[TURN_ANSWERING] = { "answering", TO(TURN_SAVING) },
	[TURN_SAVING] = { "saving", TO(TURN_OVER) },
	[TURN_OVER] = { "over", 0 },
};
static_assert(sizeof(states) / sizeof(states[0]) == TURN_STATE_COUNT,
	      "states[] doesn't match enum turn_state");

static const char *const outcomes[] = {
	[TURN_NONE] = "in_progress",
	[TURN_COMPLETED] = "completed",
	[TURN_INCOMPLETE] = "incomplete",
	[TURN_FAILED] = "failed",
	[TURN_CANCELLED] = "cancelled",
};
static_assert(sizeof(outcomes) / sizeof(outcomes[0]) == TURN_OUTCOME_COUNT,
	      "outcomes[] doesn't match enum turn_outcome");

const char *turn_state_name(enum turn_state state)
{
	return states[state].name;
}

const char *turn_outcome_name(enum turn_outcome outcome)
{
	return outcomes[outcome];
}

bool turn_state_may_follow(enum turn_state from, enum turn_state to)
{
	return states[from].next & TO(to);
}

void turn_enter(struct turn *t, enum turn_state to)
{
	assert(turn_state_may_follow(t->state, to));
	log_debug(&t->scope, "Response %s: %s -> %s", t->id,
		  turn_state_name(t->state), turn_state_name(to));
	t->state = to;
}
