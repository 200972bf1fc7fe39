/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "core/container.h"
#include "core/usage.h"
#include "core/vm.h"

/* What the ledger knows of a container that lives. */

void container_put_row(const struct container *c, struct store_batch *batch)
{
	struct store_container row = {
		.memory_mib = memory_tier_mib(c->memory),
		.vm_memory_mib = c->memory_mib,
		.idle_minutes = c->idle_minutes,
		.kernel_epoch = c->kernel_epoch,
		.created_usec = c->created_usec,
		.last_active_usec = c->active_wall,
		.ended_usec = c->ended_usec,
		.usage_executions = c->usage.executions,
		.usage_assigned_usec = usage_assigned(c),
		.usage_executing_usec = c->executing_usec,
		.usage_cpu_usec = c->cpu_usec,
		.usage_bytes_in = c->usage.bytes_in,
		.usage_bytes_out = c->usage.bytes_out,
	};

	strcpy(row.id, c->id);
	strcpy(row.tenant, c->tenant->id);
	strcpy(row.key_id, c->key_id);
	strcpy(row.name, c->name);
	strcpy(row.origin, c->origin);
	strcpy(row.dialect, dialect_name(c->dialect));
	strcpy(row.pool, c->pool->name);
	strcpy(row.image, c->image);
	if (c->vm)
		strcpy(row.vm_id, c->vm->id);
	strcpy(row.state, session_state_name(c->state));
	strcpy(row.ended_reason, end_reason_name(c->reason));
	/* What fails is kept in the batch and told by its commit. */
	(void)store_batch_put_container(batch, &row);
}

void container_save(struct container *c)
{
	struct store_batch *batch = store_batch_new(c->core->store);

	container_put_row(c, batch);
	core_commit(c->core, batch, &c->scope);
}
