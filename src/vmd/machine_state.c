#include "vmd/machine_state.h"

#define TO(state) (1u << (state))

static const unsigned next[] = {
	[VMD_STATE_CREATING]	= TO(VMD_STATE_RUNNING) | TO(VMD_STATE_STOPPING) |
				  TO(VMD_STATE_GONE),
	[VMD_STATE_RUNNING]	= TO(VMD_STATE_STOPPING),
	[VMD_STATE_STOPPING]	= TO(VMD_STATE_GONE),
	[VMD_STATE_GONE]	= 0,
};
static_assert(sizeof(next) / sizeof(next[0]) == VMD_STATE_COUNT,
	      "next[] doesn't match enum vmd_state");

bool machine_state_may_follow(enum vmd_state from, enum vmd_state to)
{
	return next[from] & TO(to);
}
