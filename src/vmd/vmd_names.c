#include "vmd/vmd.h"

static const char *const states[] = {
	[VMD_STATE_CREATING]	= "creating",
	[VMD_STATE_RUNNING]	= "running",
	[VMD_STATE_STOPPING]	= "stopping",
	[VMD_STATE_GONE]	= "gone",
};
static_assert(sizeof(states) / sizeof(states[0]) == VMD_STATE_COUNT,
	      "states[] doesn't match enum vmd_state");

static const char *const reasons[] = {
	[VMD_REASON_NONE]		= "none",
	[VMD_REASON_SHUTDOWN]		= "shutdown",
	[VMD_REASON_PANICKED]		= "panicked",
	[VMD_REASON_CRASHED]		= "crashed",
	[VMD_REASON_BACKEND]		= "backend-died",
	[VMD_REASON_STORAGE_FULL]	= "storage-full",
	[VMD_REASON_DESTROYED]		= "destroyed",
	[VMD_REASON_DEADLINE]		= "deadline",
	[VMD_REASON_ABANDONED]		= "abandoned",
	[VMD_REASON_EXTERNAL]		= "destroyed-externally",
	[VMD_REASON_FAILED]		= "failed",
};
static_assert(sizeof(reasons) / sizeof(reasons[0]) == VMD_REASON_COUNT,
	      "reasons[] doesn't match enum vmd_reason");

static const char *const accelerators[] = {
	[VMD_ACCELERATOR_NONE]	= "none",
	[VMD_ACCELERATOR_KVM]	= "kvm",
	[VMD_ACCELERATOR_TCG]	= "qemu",
};
static_assert(sizeof(accelerators) / sizeof(accelerators[0]) ==
	      VMD_ACCELERATOR_COUNT,
	      "accelerators[] doesn't match enum vmd_accelerator");

static const char *const vsocks[] = {
	[VMD_VSOCK_NONE]	= "none",
	[VMD_VSOCK_KERNEL]	= "kernel",
	[VMD_VSOCK_USER]	= "user",
};
static_assert(sizeof(vsocks) / sizeof(vsocks[0]) == VMD_VSOCK_COUNT,
	      "vsocks[] doesn't match enum vmd_vsock");

const char *vmd_state_name(uint32_t state)
{
	return state < VMD_STATE_COUNT ? states[state] : "unknown";
}

const char *vmd_reason_name(uint32_t reason)
{
	return reason < VMD_REASON_COUNT ? reasons[reason] : "unknown";
}

const char *vmd_accelerator_name(uint32_t accelerator)
{
	return accelerator < VMD_ACCELERATOR_COUNT ?
		accelerators[accelerator] : "unknown";
}

const char *vmd_vsock_name(uint32_t vsock)
{
	return vsock < VMD_VSOCK_COUNT ? vsocks[vsock] : "unknown";
}
