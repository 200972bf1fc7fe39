/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/cleanup.h"
#include "core/container.h"
#include "core/exec.h"

/* What the ledger knows of an execution, beside the record of its end. */

void exec_put_row(const struct exec *e, struct store_batch *batch,
		  const struct store_record *record)
{
	struct store_execution row = {
		.number = e->number,
		.created_usec = e->created_usec,
		.started_usec = e->started_usec,
		.ended_usec = e->ended_usec,
		.duration_usec = e->duration_usec,
		.cpu_usec = e->cpu_usec,
		.peak_memory_bytes = e->peak_memory_bytes,
		.total_bytes = e->total_bytes,
		.omitted_bytes = e->omitted_bytes,
		.execution_count = e->execution_count,
		.kernel_epoch = e->kernel_epoch,
		.out_truncated = e->truncated[0],
		.err_truncated = e->truncated[1],
		.state_lost = e->state_lost,
	};

	strcpy(row.id, e->id);
	strcpy(row.container_id, e->container_id);
	strcpy(row.tenant, e->tenant);
	strcpy(row.status, exec_status_name(e->status));
	strcpy(row.note, e->note);
	strcpy(row.trace, e->trace.parent);
	/* What fails is kept in the batch and told by its commit. */
	(void)store_batch_put_execution(batch, &row, record);
}

/* The source of one that has to wait is kept, so that it outlives a crash. */
static int put_waiting(struct exec *e, struct store_batch *batch)
{
	_cleanup_(buf_done) struct buf json = BUF_INIT(256);
	struct store_record record;
	int r;

	r = buf_printf(&json, "{\"timeout_usec\":%llu,\"spill\":%s}",
		       (unsigned long long)e->timeout_usec,
		       e->spill ? "true" : "false");
	if (r < 0)
		return r;
	record = (struct store_record){
		.json = buf_str(&json),
		.json_size = json.length,
		.out = e->code,
		.out_size = e->code_len,
		.err = e->stdin_data,
		.err_size = e->stdin_len,
	};
	e->queued_on_disk = true;
	exec_put_row(e, batch, &record);
	return 0;
}

void exec_put_start(struct exec *e, struct store_batch *batch)
{
	if (e->state != EXEC_STATE_QUEUED || put_waiting(e, batch) < 0)
		exec_put_row(e, batch, NULL);
}

/* ------------------------------------------------------------- its beginning */

static void write_start(struct exec *e)
{
	struct store_batch *batch = store_batch_new(e->core->store);

	exec_put_start(e, batch);
	core_commit(e->core, batch, &e->scope);
}

static void on_start_due(struct timer *t, void *userdata)
{
	(void)t;
	write_start(userdata);
}

int exec_init_start(struct exec *e)
{
	return timer_new(e->core->event, e->core->guest_clock, "exec-start",
			 on_start_due, e, &e->start);
}

void exec_save_start(struct exec *e)
{
	if (e->state == EXEC_STATE_QUEUED)
		write_start(e);
	else
		timer_set_after(e->start, EXEC_START_USEC);
}

static void save_start_now(void *object, void *userdata)
{
	struct exec *e = object;

	(void)userdata;
	if (timer_deadline(e->start) == USEC_INFINITY)
		return;
	timer_clear(e->start);
	write_start(e);
}

void exec_save_starts(struct core *core)
{
	map_each(&core->execs, save_start_now, NULL);
}
