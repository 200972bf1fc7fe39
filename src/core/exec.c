/* SPDX-License-Identifier: Apache-2.0 */
#include "core/exec.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/failpoint.h"
#include "core/container.h"
#include "core/exec_watch.h"
#include "core/pull.h"
#include "core/vm.h"

/* The only place that writes e->state. */
void exec_enter(struct exec *e, enum exec_state to)
{
	assert(exec_state_may_follow(e->state, to));
	log_debug(&e->scope, "Execution %s -> %s", exec_state_name(e->state),
		  exec_state_name(to));
	e->state = to;
	/* Only the guest's running time is watched here. */
	timer_clear(e->deadline);
}

static void exec_free_result(struct exec *e)
{
	size_t i;

	for (i = 0; i < e->datum_count; i++) {
		free((char *)e->data[i].mime);
		free((char *)e->data[i].data);
	}
	exec_files_free(e);
	free(e->data);
	free(e->results);
	free(e->result_first);
	free(e->error_name);
	free(e->error_value);
	free(e->error_traceback);
}

void exec_uncount(struct exec *e)
{
	if (e->counted)
		e->counted->executions--;
	e->counted = NULL;
}

static void exec_free(void *object)
{
	struct exec *e = object;

	if (!e)
		return;
	exec_uncount(e);
	owed_drop(e->core, &e->owed);
	pull_free(e->pull);
	timer_free(e->deadline);
	timer_free(e->start);
	exec_free_result(e);
	buf_done(&e->out[WIRE_STDOUT]);
	buf_done(&e->out[WIRE_STDERR]);
	buf_done(&e->parts);
	free(e->code);
	free(e->stdin_data);
	free(e);
}

void exec_freep(struct exec **e)
{
	exec_free(*e);
}

/* The guest had more than its time, and has said nothing. */
static void on_deadline(struct timer *t, void *userdata)
{
	struct exec *e = userdata;
	struct error err = ERROR_INIT;

	(void)t;
	if (!e->container || !e->container->vm)
		return;
	error_set(&err, ERR_GUEST,
		  "the guest did not end execution '%s' at "
		  "its time limit",
		  e->id);
	vm_fail(e->container->vm, END_GUEST_UNRESPONSIVE, &err);
}

int exec_alloc(struct core *core, const char *id, struct exec **ret)
{
	_cleanup_(exec_freep) struct exec *e = NULL;
	int r;

	e = calloc(1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	e->core = core;
	e->out[WIRE_STDOUT] = BUF_INIT(EXEC_STREAM_MAX);
	e->out[WIRE_STDERR] = BUF_INIT(EXEC_STREAM_MAX);
	e->parts = BUF_INIT(EXEC_PARTS_MAX);
	e->events = 1; /* STARTED */
	e->scope.exec_id = e->id;
	LIST_INIT(&e->watches);
	r = timer_new(core->event, core->guest_clock, "exec-deadline",
		      on_deadline, e, &e->deadline);
	if (r >= 0)
		r = exec_init_start(e);
	if (r < 0)
		return r;
	if (!id)
		r = id_new(ID_EXEC, e->id);
	else
		strncpy(e->id, id, sizeof(e->id) - 1);
	if (r < 0)
		return r;
	*ret = take_ptr(e);
	return 0;
}

void exec_set_trace(struct exec *e, const char *parent)
{
	(void)trace_read(parent, &e->trace);
	e->scope.trace_id = trace_id(&e->trace);
}

/* Entries of the log about it are found by the request, too. */
static void exec_set_request(struct exec *e, const char *request)
{
	if (!request)
		return;
	(void)snprintf(e->request, sizeof(e->request), "%s", request);
	e->scope.request_id = e->request;
}

/* One of a live container: in the map, and in nobody's list yet. */
static int exec_join(struct exec *e, struct container *c)
{
	e->container = c;
	strcpy(e->container_id, c->id);
	strcpy(e->tenant, c->tenant->id);
	e->scope.session_id = e->container_id;
	e->counted = c->tenant;
	e->counted->executions++;
	return map_put(&c->core->execs, &e->node, e->id, e);
}

/* What a client sent, with a NUL behind it that does not count. */
static char *copy_bytes(const char *data, size_t size)
{
	char *copy = malloc(size + 1);

	if (!copy)
		return NULL;
	if (size > 0)
		memcpy(copy, data, size);
	copy[size] = '\0';
	return copy;
}

static_assert((int)CORE_NOTE_SIZE == (int)STORE_NOTE_SIZE,
	      "the store keeps a note as it is");
static_assert((int)TRACE_PARENT_SIZE == (int)STORE_TRACE_SIZE,
	      "the store keeps a trace as it is");
static_assert((int)TRACE_PARENT_SIZE == (int)WIRE_TRACE_SIZE + 1,
	      "the guest is told a trace as it is");

int exec_take_source(struct exec *e, const char *code, size_t code_len,
		     const char *stdin_data, size_t stdin_len)
{
	e->code = copy_bytes(code, code_len);
	e->code_len = code_len;
	e->stdin_data = copy_bytes(stdin_data, stdin_len);
	e->stdin_len = stdin_len;
	return e->code && e->stdin_data ? 0 : -ENOMEM;
}

int exec_new(struct container *c, const struct exec_spec *spec,
	     struct exec **ret)
{
	_cleanup_(exec_freep) struct exec *e = NULL;
	int r;

	r = exec_alloc(c->core, NULL, &e);
	if (r >= 0)
		r = exec_take_source(e, spec->code, spec->code_len,
				     spec->stdin_data, spec->stdin_len);
	if (r < 0)
		return r;
	e->status = EXEC_QUEUED;
	e->timeout_usec = spec->timeout_usec ? spec->timeout_usec :
					       c->core->set.exec_timeout;
	e->spill = spec->spill;
	(void)snprintf(e->note, sizeof(e->note), "%s",
		       spec->note ? spec->note : "");
	exec_set_request(e, spec->request);
	exec_set_trace(e, spec->trace);
	e->created_usec = clock_wall(c->core->clock);
	e->kernel_epoch = c->kernel_epoch;
	r = exec_join(e, c);
	if (r < 0)
		return r;
	e->number = c->next_number++;
	*ret = take_ptr(e);
	return 0;
}

static usec_t exec_patience(const struct exec *e)
{
	const struct vm *vm = e->container->vm;
	bool emulated = vm && vm->accelerator == VMD_ACCELERATOR_TCG;

	return usec_add(e->timeout_usec,
			emulated ? EXEC_GRACE_EMULATED_USEC : EXEC_GRACE_USEC);
}

usec_t exec_longest(const struct exec *e)
{
	/* When another daemon sent it is known by another clock. */
	if (!e->sent_usec)
		return exec_patience(e);
	return clock_boot(e->core->guest_clock) - e->sent_usec;
}

int exec_restore(struct container *c, const struct store_execution *row,
		 struct exec **ret)
{
	bool queued = strcmp(row->status, exec_status_name(EXEC_QUEUED)) == 0;
	_cleanup_(exec_freep) struct exec *e = NULL;
	int r;

	r = exec_alloc(c->core, row->id, &e);
	if (r < 0)
		return r;
	e->restored = true;
	e->number = (uint32_t)row->number;
	strcpy(e->note, row->note);
	exec_set_trace(e, row->trace);
	e->created_usec = row->created_usec;
	e->started_usec = row->started_usec;
	/* The record of one that waits has more; it is read when all are here. */
	e->timeout_usec = c->core->set.exec_max_timeout;
	e->status = queued ? EXEC_QUEUED : EXEC_RUNNING;
	e->queued_on_disk = queued;
	r = exec_join(e, c);
	if (r < 0)
		return r;
	if (!queued) {
		exec_enter(e, EXEC_STATE_RUNNING);
		timer_set_after(e->deadline, exec_patience(e));
	}
	*ret = take_ptr(e);
	return 0;
}

int exec_adopt(struct container *c, const char *id, uint32_t number,
	       struct exec **ret)
{
	_cleanup_(exec_freep) struct exec *e = NULL;
	int r;

	r = exec_alloc(c->core, id, &e);
	if (r >= 0)
		r = exec_join(e, c);
	if (r < 0)
		return r;
	e->restored = true;
	e->number = number;
	e->timeout_usec = c->core->set.exec_max_timeout;
	e->created_usec = clock_wall(c->core->clock);
	*ret = take_ptr(e);
	return 0;
}

int exec_send(struct exec *e)
{
	const struct link_exec exec = {
		.call = e->number,
		.id = e->id,
		.code = e->code,
		.code_len = e->code_len,
		.stdin_data = e->stdin_data,
		.stdin_len = e->stdin_len,
		.timeout_usec = e->timeout_usec,
		.spill = e->spill,
		.trace = trace_parent(&e->trace),
	};
	int r;

	(void)failpoint("exec-before-guest");
	r = guest_link_exec(e->container->vm->link, &exec);
	if (r < 0)
		return r;
	(void)failpoint("exec-sent");
	if (e->state == EXEC_STATE_QUEUED)
		exec_enter(e, EXEC_STATE_RUNNING);
	e->status = EXEC_RUNNING;
	e->started_usec = clock_wall(e->core->clock);
	e->sent_usec = clock_boot(e->core->guest_clock);
	timer_set_after(e->deadline, exec_patience(e));
	return 0;
}

void exec_resume(struct exec *e)
{
	exec_enter(e, EXEC_STATE_RUNNING);
	e->status = EXEC_RUNNING;
	e->started_usec = clock_wall(e->core->clock);
	timer_set_after(e->deadline, exec_patience(e));
}

int exec_attach(struct exec *e)
{
	/* The guest tells all entries and the error again. */
	if (e->pull)
		pull_restart(e->pull);
	e->error_told = false;
	return guest_link_attach(e->container->vm->link, e->number,
				 e->position);
}

void exec_cancel_new(struct exec *e)
{
	e->container = NULL;
	exec_uncount(e);
	exec_enter(e, EXEC_STATE_SAVING);
	exec_enter(e, EXEC_STATE_OVER);
	/* Whoever made it has it pinned. */
}

void exec_pin(struct exec *e)
{
	e->pins++;
}

static void exec_bury(struct exec *e)
{
	map_remove(&e->core->execs, &e->node);
	gc_bury(&e->core->gc, &e->buried, exec_free, e);
}

void exec_unpin(struct exec *e)
{
	if (--e->pins == 0 && e->state == EXEC_STATE_OVER && !e->unsaved)
		exec_bury(e);
}

void exec_over(struct exec *e, int r)
{
	struct container *c = e->container;

	/*
	 * What the disk does not have stays here as long as its session does,
	 * and may be written after all.
	 */
	if (r < 0 && c)
		exec_keep_unsaved(e);
	exec_enter(e, EXEC_STATE_OVER);
	if (c && !e->unsaved) {
		e->container = NULL;
		container_exec_saved(c, e);
	}
	if (e->pins == 0 && !e->unsaved)
		exec_bury(e);
}

void exec_saved_late(struct exec *e)
{
	struct container *c = e->container;

	/* Its session may have gone meanwhile. */
	if (!e->unsaved)
		return;
	e->unsaved = false;
	e->container = NULL;
	container_exec_saved(c, e);
}

void exec_detach(struct exec *e)
{
	exec_uncount(e);
	e->container = NULL;
	if (!e->unsaved)
		return;
	e->unsaved = false;
	owed_drop(e->core, &e->owed);
	if (e->pins == 0)
		exec_bury(e);
}

static void exec_free_one(void *object, void *userdata)
{
	struct exec *e = object;
	struct core *core = userdata;

	map_remove(&core->execs, &e->node);
	exec_free(e);
}

void exec_free_all(struct core *core)
{
	map_each(&core->execs, exec_free_one, core);
	map_done(&core->execs);
}
