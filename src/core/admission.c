/* SPDX-License-Identifier: Apache-2.0 */
#include "core/admission.h"

#include <errno.h>
#include <unistd.h>

#include "base/settings.h"
#include "core/core_priv.h"
#include "core/host_room.h"

/* What the host itself needs: the rest is for VMs. */
#define ADMISSION_RESERVE_MIB 512u

static uint64_t host_memory_mib(void)
{
	uint64_t pages = (uint64_t)sysconf(_SC_PHYS_PAGES);
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t mib = pages * page >> 20;

	return mib > ADMISSION_RESERVE_MIB ? mib - ADMISSION_RESERVE_MIB : mib;
}

void admission_init(struct core *core)
{
	uint64_t bytes = settings_bytes(core->settings, "host", "memory");

	core->admission.budget_mib = bytes ? bytes >> 20 : host_memory_mib();
}

static uint64_t admission_cost(const struct core *core, uint32_t memory_mib)
{
	return (uint64_t)(memory_mib * core->set.memory_commit + 0.5);
}

/*
 * However little of it counts: that all of them use theirs at once is a matter
 * of chance, that one uses all of its own is its good right.
 */
int admission_check(const struct core *core, uint32_t memory_mib,
		    struct error *err)
{
	uint64_t budget = core->admission.budget_mib;

	if (memory_mib <= budget && admission_cost(core, memory_mib) <= budget)
		return 0;
	error_set_param(err, "memory_limit");
	error_set_reason(err, "invalid_value");
	return error_set(err, ERR_BAD_REQUEST,
			 "This host cannot give a container %u MiB of memory: "
			 "it has %llu MiB for all of them", memory_mib,
			 (unsigned long long)budget);
}

int admission_take_vm(struct core *core, struct pool *pool, uint32_t memory_mib,
		      uint64_t *ret_cost_mib, struct error *err)
{
	struct admission *a = &core->admission;
	uint64_t cost = admission_cost(core, memory_mib);
	int r;

	r = admission_check(core, memory_mib, err);
	if (r < 0)
		return r;
	if (pool->vm_count >= pool->max) {
		r = error_set(err, ERR_CAPACITY,
			      "All %llu containers of pool "
			      "'%s' are in use",
			      (unsigned long long)pool->max, pool->name);
	} else if (a->taken_mib + cost > a->budget_mib) {
		r = error_set(err, ERR_CAPACITY,
			      "The host has no memory left "
			      "for another container: %llu of %llu MiB are in "
			      "use, %llu more are needed",
			      (unsigned long long)a->taken_mib,
			      (unsigned long long)a->budget_mib,
			      (unsigned long long)cost);
	} else {
		r = host_room_check(core, err);
		if (r < 0)
			return r;
		*ret_cost_mib = admission_restore_vm(core, pool, memory_mib);
		return 0;
	}
	error_set_reason(err, "capacity");
	return r;
}

uint64_t admission_restore_vm(struct core *core, struct pool *pool,
			      uint32_t memory_mib)
{
	uint64_t cost = admission_cost(core, memory_mib);

	core->admission.taken_mib += cost;
	pool->vm_count++;
	return cost;
}

void admission_give_vm(struct core *core, struct pool *pool, uint64_t cost_mib)
{
	core->admission.taken_mib -= cost_mib;
	pool->vm_count--;
	pools_have_room(core);
}
