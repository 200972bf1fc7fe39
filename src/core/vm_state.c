/* SPDX-License-Identifier: Apache-2.0 */
#include "core/vm_state.h"

#include <assert.h>

#define TO(state) (1u << (state))

static const struct {
	const char *name;
	unsigned next;
} states[] = {
	[VM_PLANNED] = { "planned", TO(VM_STARTING) | TO(VM_BOOTING) |
					    TO(VM_STOPPING) | TO(VM_DEAD) },
	[VM_STARTING] = { "starting",
			  TO(VM_BOOTING) | TO(VM_STOPPING) | TO(VM_DEAD) },
	[VM_BOOTING] = { "booting",
			 TO(VM_READY) | TO(VM_STOPPING) | TO(VM_DEAD) },
	[VM_READY] = { "ready", TO(VM_STOPPING) | TO(VM_DEAD) },
	[VM_STOPPING] = { "stopping", TO(VM_DEAD) },
	[VM_DEAD] = { "dead", 0 },
};
static_assert(sizeof(states) / sizeof(states[0]) == VM_STATE_COUNT,
	      "states[] doesn't match enum vm_state");

bool vm_state_may_follow(enum vm_state from, enum vm_state to)
{
	return states[from].next & TO(to);
}

const char *vm_state_name(enum vm_state state)
{
	return states[state].name;
}
