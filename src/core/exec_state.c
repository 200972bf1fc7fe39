/* SPDX-License-Identifier: Apache-2.0 */
#include "core/exec_state.h"

#include <assert.h>

#define TO(state) (1u << (EXEC_STATE_##state))

static const struct {
	const char *name;
	unsigned next;
} states[] = {
	[EXEC_STATE_QUEUED] = { "queued", TO(RUNNING) | TO(SAVING) },
	[EXEC_STATE_RUNNING] = { "running", TO(PULLING) | TO(SAVING) },
	[EXEC_STATE_PULLING] = { "pulling", TO(SAVING) },
	[EXEC_STATE_SAVING] = { "saving", TO(OVER) },
	[EXEC_STATE_OVER] = { "over", 0 },
};
static_assert(sizeof(states) / sizeof(states[0]) == EXEC_STATE_COUNT,
	      "states[] doesn't match enum exec_state");

bool exec_state_may_follow(enum exec_state from, enum exec_state to)
{
	return states[from].next & (1u << to);
}

const char *exec_state_name(enum exec_state state)
{
	return states[state].name;
}
