/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_core_impl.h"

struct exec_watch {
	struct core *core;
	size_t next;
	void (*wake)(void *userdata);
	void *userdata;
	bool waiting;
};

const char *exec_status_name(enum exec_status status)
{
	static const char *const names[] = {
		"queued", "running", "ok", "error", "timeout", "interrupted",
		"output_limit", "oom", "kernel_died", "session_lost",
	};

	return names[status];
}

static void add_event(struct core *core, enum exec_event_type type)
{
	core->events = realloc(core->events, (core->event_count + 1) *
						     sizeof(*core->events));
	if (!core->events)
		abort();
	core->events[core->event_count] = (struct exec_event){
		.id = core->event_count + 1,
		.type = type,
		.view = &core->exec,
	};
	core->event_count++;
}

static void wake(struct core *core)
{
	struct exec_watch *watch = core->watch;

	if (!watch || !watch->waiting)
		return;
	watch->waiting = false;
	watch->wake(watch->userdata);
}

int core_exec_start(struct core *core, const struct principal *who,
		    const char *container, const struct exec_spec *spec,
		    exec_fn accepted, void *userdata, struct error *err)
{
	struct fake_later *later;

	(void)who;
	if (fake_core_find(core, container, err) < 0)
		return -ENOENT;
	if (spec->code_len == 4 && memcmp(spec->code, "busy", 4) == 0) {
		error_set_reason(err, "container_busy");
		return error_set(err, ERR_BUSY, "8 executions wait");
	}
	core->execs++;
	core->code_len = spec->code_len;
	snprintf(core->code, sizeof(core->code), "%s", spec->code);
	core->timeout_usec = spec->timeout_usec;
	snprintf(core->key, sizeof(core->key), "%s",
		 spec->idempotency.key ? spec->idempotency.key : "");
	core->exec = (struct exec_view){ .status = EXEC_RUNNING,
					 .created_at = 1790000000,
					 .execution_count = 3,
					 .kernel_epoch = 1 };
	if (trace_read(spec->trace, &core->trace))
		core->exec.trace_id = core->trace.id;
	strcpy(core->exec.id, FAKE_EXEC);
	strcpy(core->exec.container, container);
	snprintf(core->exec.note, sizeof(core->exec.note), "%s",
		 spec->note ? spec->note : "");
	core->event_count = 0;
	add_event(core, EXEC_EVENT_STARTED);
	if (core->hold_accept) {
		core->accepted = accepted;
		core->accepted_userdata = userdata;
		return 0;
	}
	later = fake_core_later(core, userdata);
	later->exec = accepted;
	later->exec_view = core->exec;
	return 0;
}

void fake_core_accept(struct core *core)
{
	core->accepted(core->accepted_userdata, &core->exec, NULL);
}

void fake_core_output(struct core *core, bool is_stderr, const void *data,
		      size_t size)
{
	struct exec_event *event;

	add_event(core, EXEC_EVENT_OUTPUT);
	event = &core->events[core->event_count - 1];
	event->is_stderr = is_stderr;
	event->data = data;
	event->data_len = size;
	if (!is_stderr) {
		core->exec.out = data;
		core->exec.out_len = size;
	}
	wake(core);
}

void fake_core_done(struct core *core, enum exec_status status)
{
	core->exec.status = status;
	add_event(core, EXEC_EVENT_DONE);
	wake(core);
}

static int find_exec(struct core *core, const char *id, struct error *err)
{
	if (core->execs > 0 && strcmp(id, FAKE_EXEC) == 0)
		return 0;
	return error_set(err, ERR_NOT_FOUND, "No such execution: %s", id);
}

int core_exec_get(struct core *core, const struct principal *who,
		  const char *container, const char *id,
		  struct exec_view *ret, struct error *err)
{
	(void)who;
	if (fake_core_find(core, container, err) < 0 || find_exec(core, id, err) < 0)
		return -ENOENT;
	*ret = core->exec;
	return 0;
}

int core_exec_interrupt(struct core *core, const struct principal *who,
			const char *container, const char *id,
			struct error *err)
{
	struct exec_view view;

	core->interrupts++;
	return core_exec_get(core, who, container, id, &view, err);
}

int exec_watch_new(struct core *core, const struct principal *who,
		   const char *container, const char *id, uint64_t after,
		   void (*wake_fn)(void *userdata), void *userdata,
		   struct exec_watch **ret, struct error *err)
{
	struct exec_view view;
	struct exec_watch *watch;

	if (core_exec_get(core, who, container, id, &view, err) < 0)
		return -ENOENT;
	watch = calloc(1, sizeof(*watch));
	if (!watch)
		abort();
	watch->core = core;
	watch->next = (size_t)after;
	watch->wake = wake_fn;
	watch->userdata = userdata;
	core->watch = watch;
	core->watches++;
	*ret = watch;
	return 0;
}

int exec_watch_next(struct exec_watch *watch, size_t max_data,
		    struct exec_event *ret)
{
	struct core *core = watch->core;

	(void)max_data;
	if (watch->next > 0 && watch->next == core->event_count &&
	    core->events[watch->next - 1].type == EXEC_EVENT_DONE)
		return -ENODATA;
	if (watch->next >= core->event_count) {
		watch->waiting = true;
		return 0;
	}
	*ret = core->events[watch->next++];
	return 1;
}

void exec_watch_free(struct exec_watch *watch)
{
	if (!watch)
		return;
	watch->core->watches--;
	if (watch->core->watch == watch)
		watch->core->watch = NULL;
	free(watch);
}
