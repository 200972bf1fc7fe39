/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_ADMISSION_H
#define CORE_ADMISSION_H

/*
 * How much of the host VMs may have; what a tenant may have is tenant.h's.
 *
 * Room is taken in the same step in which a VM is decided on, before
 * anything is done for it, and given back exactly when nothing of it is left.
 * Refusals name the limit and the numbers.
 */

#include <stdint.h>

#include "base/error.h"

struct core;
struct pool;

struct admission {
	uint64_t budget_mib; /* memory of the host */
	uint64_t taken_mib;  /* by VMs, already weighted */
};

/** admission_init() - Find out what the host has */
void admission_init(struct core *core);

/**
 * admission_take_vm() - Take room for one VM of a pool
 * @ret_cost_mib:	What it costs; to be given back
 */
int admission_take_vm(struct core *core, struct pool *pool, uint32_t memory_mib,
		      uint64_t *ret_cost_mib, struct error *err);

/**
 * admission_check() - Whether an empty host would have the room
 *
 * Return: 0, or -EINVAL (ERR_BAD_REQUEST): asking again will not help
 */
int admission_check(const struct core *core, uint32_t memory_mib,
		    struct error *err);

/** admission_restore_vm() - Count a VM that exists already */
uint64_t admission_restore_vm(struct core *core, struct pool *pool,
			      uint32_t memory_mib);

void admission_give_vm(struct core *core, struct pool *pool, uint64_t cost_mib);

#endif
