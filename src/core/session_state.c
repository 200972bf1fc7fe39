/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session_state.h"

#include <assert.h>

#define TO(state) (1u << (SESSION_VIEW_##state))

static const struct {
	const char *name;
	unsigned next;
} states[] = {
	[SESSION_VIEW_ACCEPTED] = { "accepted", TO(BOOTING) | TO(ENDED) },
	[SESSION_VIEW_BOOTING] = { "booting", TO(RUNNING) | TO(STOPPING) },
	[SESSION_VIEW_RUNNING] = { "running", TO(EXECUTING) | TO(STOPPING) },
	[SESSION_VIEW_EXECUTING] = { "executing", TO(RUNNING) | TO(STOPPING) },
	[SESSION_VIEW_STOPPING] = { "stopping", TO(ENDED) },
	[SESSION_VIEW_ENDED] = { "ended", 0 },
};
static_assert(sizeof(states) / sizeof(states[0]) == SESSION_VIEW_COUNT,
	      "states[] doesn't match enum session_state_view");

bool session_state_may_follow(enum session_state_view from,
			      enum session_state_view to)
{
	return states[from].next & (1u << to);
}

const char *session_state_name(enum session_state_view state)
{
	return states[state].name;
}

bool session_state_expired(enum session_state_view state)
{
	return state >= SESSION_VIEW_STOPPING;
}
