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

/* ------------------------------------------------------------------ commits */

static void container_write(void *object);

static void write_later(struct container *c, int r)
{
	log_error(&c->scope, r, "Cannot write down what became of the session");
	owed_add(c->core, &c->owed, container_write, NULL, c);
}

static void on_saved(void *userdata, int r)
{
	struct container *c = userdata;

	c->owes_row |= r < 0;
	if (r < 0)
		write_later(c, r);
}

void container_save(struct container *c)
{
	struct store_batch *batch = store_batch_new(c->core->store);

	c->owes_row = false;
	container_put_row(c, batch);
	core_commit_then(c->core, batch, on_saved, c);
}

static void on_assigned_saved(void *userdata, int r)
{
	struct container *c = userdata;

	c->owes_assigned |= r < 0;
	if (r < 0)
		write_later(c, r);
}

void container_save_assigned(struct container *c)
{
	struct store_batch *batch = store_batch_new(c->core->store);

	if (c->vm)
		vm_put_row(c->vm, batch);
	c->owes_assigned = false;
	usage_add(c, batch, "assigned", NULL, 1);
	core_commit_then(c->core, batch, on_assigned_saved, c);
}

static void on_end_saved(void *userdata, int r)
{
	struct container *c = userdata;

	/* A daemon that ends before finds the row unfinished and its VM gone. */
	if (r < 0)
		write_later(c, r);
	else
		container_bury(c);
}

void container_save_end(struct container *c)
{
	struct store_batch *batch = store_batch_new(c->core->store);

	container_put_row(c, batch);
	if (c->owes_assigned)
		usage_add(c, batch, "assigned", NULL, 1);
	usage_add_end(c, batch);
	core_commit_then(c->core, batch, on_end_saved, c);
}

static void container_write(void *object)
{
	struct container *c = object;

	if (c->state == SESSION_VIEW_ENDED) {
		container_save_end(c);
		return;
	}
	if (c->owes_assigned)
		container_save_assigned(c);
	if (c->owes_row)
		container_save(c);
}
