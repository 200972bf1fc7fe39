/* SPDX-License-Identifier: Apache-2.0 */
#include "core/usage.h"

#include <string.h>

#include "core/container.h"
#include "core/vm.h"

usec_t usage_assigned(const struct container *c)
{
	const struct vm *vm = c->vm;

	if (!vm || !vm->assigned_usec || c->state == SESSION_VIEW_ENDED ||
	    strcmp(vm->boot_id, c->core->boot_id) != 0)
		return c->assigned_usec;
	/* Not by dates: somebody may set the host's. */
	return usec_sub(clock_boot(c->core->clock), vm->assigned_boot_usec);
}

static uint64_t memory_used(uint32_t memory_mib, usec_t assigned_usec)
{
	return memory_mib * (assigned_usec / USEC_PER_MSEC);
}

void usage_fill_view(const struct container *c, struct usage_view *ret)
{
	usec_t assigned = usage_assigned(c);

	*ret = c->usage;
	ret->assigned_sec = assigned / USEC_PER_SEC;
	ret->executing_msec = c->executing_usec / USEC_PER_MSEC;
	ret->cpu_msec = c->cpu_usec / USEC_PER_MSEC;
	ret->memory_mib_msec = memory_used(c->memory_mib, assigned);
}

void usage_view_of_row(const struct store_container *row,
		       struct usage_view *ret)
{
	*ret = (struct usage_view){
		.executions = row->usage_executions,
		.assigned_sec = row->usage_assigned_usec / USEC_PER_SEC,
		.executing_msec = row->usage_executing_usec / USEC_PER_MSEC,
		.cpu_msec = row->usage_cpu_usec / USEC_PER_MSEC,
		.memory_mib_msec = memory_used(row->vm_memory_mib,
					       row->usage_assigned_usec),
		.bytes_in = row->usage_bytes_in,
		.bytes_out = row->usage_bytes_out,
	};
}

static void usage_row(const struct container *c, const char *kind,
		      const char *detail, uint64_t amount,
		      struct store_usage *ret)
{
	*ret = (struct store_usage){
		.amount = amount,
		.at_usec = clock_wall(c->core->clock),
	};
	strcpy(ret->tenant, c->tenant->id);
	strcpy(ret->key_id, c->key_id);
	strcpy(ret->container_id, c->id);
	strcpy(ret->origin, c->origin);
	if (c->vm)
		strcpy(ret->vm_id, c->vm->id);
	strncpy(ret->kind, kind, sizeof(ret->kind) - 1);
	if (detail)
		strncpy(ret->detail, detail, sizeof(ret->detail) - 1);
}

void usage_add(const struct container *c, struct store_batch *batch,
	       const char *kind, const char *detail, uint64_t amount)
{
	struct store_usage row;

	usage_row(c, kind, detail, amount, &row);
	/* What fails is kept in the batch and told by its commit. */
	(void)store_batch_add_usage(batch, &row);
}

void usage_add_exec(const struct exec *e, struct store_batch *batch)
{
	struct store_usage row;

	usage_row(e->container, "execution", exec_status_name(e->status),
		  e->duration_usec, &row);
	strcpy(row.exec_id, e->id);
	(void)store_batch_add_usage(batch, &row);
}

/* What of the session's VM time was on days before, for the budget of today. */
static void add_before(const struct container *c, struct store_batch *batch)
{
	usec_t today = clock_wall(c->core->clock) % USEC_PER_DAY;
	usec_t before = usec_sub(usage_assigned(c), today);

	if (before > 0)
		usage_add(c, batch, "before", NULL, before);
}

void usage_add_response(struct core *core, const struct principal *who,
			const char *id, const struct response_usage *usage,
			struct store_batch *batch)
{
	const struct {
		const char *kind;
		const char *detail;
		uint64_t amount;
	} entries[] = {
		{ "response", usage->outcome, usage->took_usec },
		{ "tokens_in", "", usage->input_tokens },
		{ "tokens_out", "", usage->output_tokens },
		{ "tool_calls", "", usage->tool_calls },
		{ "held", "", usage->held_usec },
	};
	struct store_usage row = { .at_usec = clock_wall(core->clock) };

	strcpy(row.tenant, who->tenant);
	strcpy(row.key_id, who->key_id);
	strcpy(row.response_id, id);
	strncpy(row.container_id, usage->container,
		sizeof(row.container_id) - 1);
	strncpy(row.origin, usage->origin ? usage->origin : CORE_ORIGIN_API,
		sizeof(row.origin) - 1);
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		/* The first says that there was a response at all. */
		if (i > 0 && entries[i].amount == 0)
			continue;
		row.amount = entries[i].amount;
		strncpy(row.kind, entries[i].kind, sizeof(row.kind) - 1);
		strncpy(row.detail, entries[i].detail, sizeof(row.detail) - 1);
		(void)store_batch_add_usage(batch, &row);
	}
}

void usage_add_end(const struct container *c, struct store_batch *batch)
{
	usage_add(c, batch, "cpu", NULL, c->cpu_usec);
	usage_add(c, batch, "memory", NULL,
		  memory_used(c->memory_mib, usage_assigned(c)));
	usage_add(c, batch, "bytes_in", NULL, c->usage.bytes_in);
	usage_add(c, batch, "bytes_out", NULL, c->usage.bytes_out);
	usage_add(c, batch, "ended", end_reason_name(c->reason),
		  usage_assigned(c));
	add_before(c, batch);
}
