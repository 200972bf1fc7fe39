/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/failpoint.h"
#include "core/container.h"
#include "core/exec.h"
#include "core/pull.h"
#include "core/usage.h"
#include "core/vm.h"

/*
 * From the guest's DONE to the record.
 *
 *	exec_done()	numbers are taken, the changed files are fetched
 *	exec_pulled()	figures get the ids of their files
 *	exec_finish()	row, record and files go into one batch; readers are told
 *			at once, or after the commit if there are files: what was
 *			announced must not be lost
 *	exec_lose()	the session ended first: the same, with what there is
 */

static const enum exec_status statuses[] = {
	[WIRE_STATUS_OK] = EXEC_OK,
	[WIRE_STATUS_ERROR] = EXEC_ERROR,
	[WIRE_STATUS_TIMEOUT] = EXEC_TIMEOUT,
	[WIRE_STATUS_INTERRUPTED] = EXEC_INTERRUPTED,
	[WIRE_STATUS_OUTPUT_LIMIT] = EXEC_OUTPUT_LIMIT,
	[WIRE_STATUS_OOM] = EXEC_OOM,
	[WIRE_STATUS_KERNEL_DIED] = EXEC_KERNEL_DIED,
};
static_assert(sizeof(statuses) / sizeof(statuses[0]) == WIRE_STATUS_COUNT,
	      "statuses[] doesn't match enum wire_status");

static void set_error(struct exec *e, const char *name, const char *value)
{
	free(e->error_name);
	free(e->error_value);
	e->error_name = strdup(name);
	e->error_value = strdup(value);
	if (!e->error_traceback)
		e->error_traceback = strdup("");
}

/* Of the guest's signals, which are this host's: Linux has no others. */
static void name_signal(unsigned number, char *name, size_t size)
{
	const char *abbrev = sigabbrev_np((int)number);
	const int real_time = (int)number - SIGRTMIN;

	if (abbrev)
		(void)snprintf(name, size, "SIG%s", abbrev);
	else if (real_time >= 0 && (int)number <= SIGRTMAX)
		(void)snprintf(name, size, "SIGRTMIN+%d", real_time);
	else
		(void)snprintf(name, size, "signal");
}

/* How a kernel died is told like an exception: by name and value. */
static void set_death(struct exec *e, const struct message_done *m)
{
	char name[32], value[16];

	if (m->signal) {
		name_signal(m->signal, name, sizeof(name));
		(void)snprintf(value, sizeof(value), "%u", m->signal);
	} else {
		(void)snprintf(name, sizeof(name), "exit");
		(void)snprintf(value, sizeof(value), "%u", m->exit_code);
	}
	set_error(e, name, value);
}

static void exec_take_numbers(struct exec *e, const struct message_done *m)
{
	usec_t longest = exec_longest(e);

	e->status = statuses[m->status];
	e->duration_usec = m->wall_usec < longest ? m->wall_usec : longest;
	e->cpu_usec = m->cpu_usec;
	e->peak_memory_bytes = m->memory_peak_bytes;
	e->execution_count = m->execution_count;
	e->kernel_epoch = m->kernel_epoch;
	e->state_lost = m->flags & WIRE_DONE_STATE_LOST;
	e->total_bytes = usec_add(m->total[WIRE_STDOUT], m->total[WIRE_STDERR]);
	e->omitted_bytes =
		usec_add(m->omitted[WIRE_STDOUT], m->omitted[WIRE_STDERR]);
	e->truncated[0] = m->omitted[WIRE_STDOUT] > 0;
	e->truncated[1] = m->omitted[WIRE_STDERR] > 0;
	if (m->status == WIRE_STATUS_KERNEL_DIED)
		set_death(e, m);
}

void exec_done(struct exec *e, const struct message_done *m)
{
	(void)failpoint("exec-done");
	exec_take_numbers(e, m);
	if (e->sent_usec) {
		e->core->metrics.awaited_usec += exec_longest(e);
		vm_executed(e->container->vm, exec_longest(e));
	}
	e->bundle_open = false;
	exec_tell_results(e, false);
	exec_enter(e, EXEC_STATE_PULLING);
	e->container->kernel_epoch = e->kernel_epoch;
	e->container->vm->kernel_epoch = e->kernel_epoch;
	pull_add_unlisted(e->pull, m->unlisted);
	if (pull_count(e->pull) == 0) {
		exec_pulled(e);
		return;
	}
	e->pull_usec = clock_boot(e->core->guest_clock);
	pull_start(e->pull);
}

/* --------------------------------------------------------------- results */

static const struct exec_artifact *find_artifact(const struct exec *e,
						 const char *relative)
{
	const size_t prefix = strlen(CORE_DATA_DIR);
	size_t i;

	for (i = 0; i < e->artifact_count; i++)
		if (strcmp(e->artifacts[i].path.text + prefix, relative) == 0)
			return &e->artifacts[i];
	return NULL;
}

/* Return: false if its file was skipped, so that there is nothing to show */
static bool resolve_datum(const struct exec *e, struct exec_datum *d)
{
	const struct exec_artifact *a;

	if (!exec_datum_is_file(d))
		return true;
	a = find_artifact(e, d->data);
	free((char *)d->data);
	d->data = NULL;
	d->data_len = 0;
	if (a) {
		strcpy(d->file_id, a->view.id);
		return true;
	}
	free((char *)d->mime);
	d->mime = NULL;
	return false;
}

/* A datum that is a file gets its id; one without a file is left out. */
static void resolve_result(struct exec *e, size_t result)
{
	struct exec_datum *data = &e->data[e->result_first[result]];
	size_t i, kept = 0;

	for (i = 0; i < e->results[result].count; i++) {
		if (!resolve_datum(e, &data[i]))
			continue;
		if (kept != i) {
			data[kept] = data[i];
			data[i] = (struct exec_datum){ 0 };
		}
		kept++;
	}
	e->results[result].count = kept;
}

/* Results of which nothing is left go; none of those was announced. */
static void resolve_figures(struct exec *e)
{
	size_t i, kept = 0;

	for (i = 0; i < e->result_count; i++) {
		resolve_result(e, i);
		if (e->results[i].count == 0)
			continue;
		e->results[kept] = e->results[i];
		e->result_first[kept++] = e->result_first[i];
	}
	e->result_count = kept;
}

/* What has been fetched is known by as much as @e has taken of it. */
static void exec_take_pulled(struct exec *e)
{
	struct store_batch *batch = pull_batch(e->pull);

	resolve_figures(e);
	exec_tell_results(e, true);
	pull_free(take_ptr(e->pull));
	exec_finish(e, batch);
}

static void exec_pulled_again(void *object)
{
	exec_pulled(object);
}

void exec_pulled(struct exec *e)
{
	int r = exec_files_take(e);

	if (r >= 0) {
		exec_take_pulled(e);
		return;
	}
	/* Files that are here had better be told of, if a moment later. */
	log_error(&e->scope, r, "Cannot tell of files");
	owed_add(e->core, &e->owed, exec_pulled_again, NULL, e);
}

/* ----------------------------------------------------------------- record */

static void exec_tell_done(struct exec *e)
{
	if (e->told)
		return;
	e->told = true;
	exec_wake(e);
}

/* Its files are on the disk, with the record. */
static void count_harvest(const struct exec *e, int r)
{
	usec_t now = clock_boot(e->core->guest_clock);

	if (r >= 0 && e->pull_usec && e->container)
		pool_metrics_harvest(&e->container->pool->metrics,
				     HARVEST_EXECUTION,
				     usec_sub(now, e->pull_usec));
}

static void on_saved(void *userdata, int r)
{
	struct exec *e = userdata;

	(void)failpoint("exec-record-written");
	if (r < 0) {
		log_error(&e->scope, r,
			  "Cannot keep the record of an execution");
		exec_files_drop(e);
	}
	count_harvest(e, r);
	exec_pin(e);
	exec_tell_done(e);
	exec_over(e, r);
	exec_unpin(e);
}

/*
 * A record that cannot be made is none, whatever else there is of the execution;
 * but one that may be made when there is memory again is waited for.
 */
static int exec_put_all(struct exec *e, struct store_batch *batch)
{
	_cleanup_(buf_done) struct buf json = BUF_INIT(STORE_RECORD_MAX);
	const struct store_record no_record = { .json = "{}", .json_size = 2 };
	struct store_record record;
	int r;

	r = exec_write_record(e, &json);
	record = (struct store_record){
		.json = (const char *)json.data,
		.json_size = json.length,
		.out = e->out[WIRE_STDOUT].data,
		.out_size = e->out[WIRE_STDOUT].length,
		.err = e->out[WIRE_STDERR].data,
		.err_size = e->out[WIRE_STDERR].length,
	};
	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		log_error(&e->scope, r, "Cannot write the record");
		record = no_record;
	}
	exec_put_row(e, batch, &record);
	if (e->container) {
		usage_add_exec(e, batch);
		container_put_row(e->container, batch);
	}
	return 0;
}

static void exec_commit(struct exec *e, struct store_batch *batch,
			store_done_fn *done)
{
	int r = exec_put_all(e, batch);

	if (r >= 0) {
		core_commit_then(e->core, batch, done, e);
		return;
	}
	store_batch_free(batch);
	done(e, r);
}

static void exec_save_again(void *object);

static void on_saved_again(void *userdata, int r)
{
	struct exec *e = userdata;

	if (r >= 0)
		exec_saved_late(e);
	else if (e->unsaved)
		owed_add(e->core, &e->owed, exec_save_again, NULL, e);
	exec_unpin(e);
}

/* By now there may be room for it; its files were given up. */
static void exec_save_again(void *object)
{
	struct exec *e = object;

	exec_pin(e);
	exec_commit(e, store_batch_new(e->core->store), on_saved_again);
}

void exec_keep_unsaved(struct exec *e)
{
	e->unsaved = true;
	owed_add(e->core, &e->owed, exec_save_again, NULL, e);
}

static void exec_count(struct exec *e)
{
	struct metrics *m = &e->core->metrics;
	struct container *c = e->container;

	m->executions[e->status]++;
	m->executing_usec += e->duration_usec;
	m->executing_cpu_usec += e->cpu_usec;
	pool_metrics_execution(&c->pool->metrics, e->duration_usec);
	c->usage.executions++;
	c->executing_usec += e->duration_usec;
}

void exec_finish(struct exec *e, struct store_batch *batch)
{
	struct container *c = e->container;

	exec_enter(e, EXEC_STATE_SAVING);
	/* The row of its end has all of that one. */
	timer_clear(e->start);
	e->ended_usec = clock_wall(e->core->clock);
	exec_count(e);
	exec_uncount(e);
	log_debug(&e->scope, "Execution ended (%s) after %llu us",
		  exec_status_name(e->status),
		  (unsigned long long)e->duration_usec);
	if (e->artifact_count == 0)
		exec_tell_done(e);
	container_exec_over(c, e);

	if (!batch)
		batch = store_batch_new(e->core->store);
	/* What was deleted in the meantime must not come back. */
	if (c->erased) {
		store_batch_free(batch);
		on_saved(e, 0);
		return;
	}
	(void)failpoint("exec-before-record");
	exec_commit(e, batch, on_saved);
}

void exec_cancel(struct exec *e)
{
	e->status = EXEC_INTERRUPTED;
	set_error(e, "KeyboardInterrupt", "interrupted before it began");
	exec_finish(e, NULL);
}

void exec_refused_memory(struct exec *e)
{
	e->status = EXEC_OOM;
	set_error(e, "MemoryError", "the guest has no memory for the source");
	exec_finish(e, NULL);
}

/* No DONE came that would count: what was heard, and the time until now. */
static void count_what_came(struct exec *e)
{
	usec_t now = clock_wall(e->core->clock);
	int i;

	for (i = 0; i < 2; i++) {
		uint64_t omitted = e->position[i] - e->out[i].length;

		e->total_bytes += e->position[i];
		e->omitted_bytes += omitted;
		e->truncated[i] = omitted > 0;
	}
	if (e->started_usec > 0 && now > e->started_usec)
		e->duration_usec = now - e->started_usec;
}

void exec_lose(struct exec *e, enum end_reason reason)
{
	int r;

	if (e->state >= EXEC_STATE_SAVING)
		return;
	if (e->state == EXEC_STATE_PULLING) {
		/* What it came to is known; files not here yet are lost. */
		pull_give_up(e->pull);
		owed_drop(e->core, &e->owed);
		r = exec_files_take(e);
		if (r < 0)
			log_error(&e->scope, r, "Cannot tell of files");
		exec_take_pulled(e);
		return;
	}
	e->status = EXEC_SESSION_LOST;
	e->bundle_open = false;
	set_error(e, end_reason_name(reason), end_reason_sentence(reason));
	count_what_came(e);
	resolve_figures(e);
	exec_tell_results(e, true);
	pull_free(take_ptr(e->pull));
	exec_finish(e, NULL);
}
