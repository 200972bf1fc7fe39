/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_write.h"
#include "core/container.h"
#include "core/vm.h"

/*
 * What each VM takes of the host right now. Core knows who has it, vmd what its
 * QEMU takes, and is asked for each. A figure that nobody has is null, so the
 * rest can be seen while vmd is away, too.
 */

#define TOP_JSON_MAX (16u * 1024 * 1024)

struct top_vm {
	struct top *top;
	char id[VMD_ID_MAX];
};

/**
 * struct top - One look
 * @pending:	Answers that vmd owes, and one while it is still being asked
 */
struct top {
	struct core *core;
	struct gc_node node;
	struct buf json;
	struct json_writer w;
	struct top_vm *vms;
	size_t count;
	size_t pending;
	json_fn done;
	void *userdata;
};

static void write_measured(struct json_writer *w, const char *key,
			   uint64_t value)
{
	if (value == VMD_UNKNOWN)
		json_write_null(w, key);
	else
		json_write_uint(w, key, value);
}

static void write_last(struct json_writer *w, const struct container *c)
{
	if (!c->last_exec[0]) {
		json_write_null(w, "last_execution");
		return;
	}
	json_write_object(w, "last_execution");
	json_write_string(w, "id", c->last_exec);
	json_write_string(w, "status", exec_status_name(c->last_status));
	json_write_uint(w, "ended_at", c->last_ended_usec / USEC_PER_SEC);
	json_write_close(w);
}

static void write_running(struct json_writer *w, const struct exec *e)
{
	if (!e) {
		json_write_null(w, "executing");
		return;
	}
	json_write_object(w, "executing");
	json_write_string(w, "id", e->id);
	json_write_uint(w, "started_at",
			(e->started_usec ? e->started_usec :
					   e->created_usec) / USEC_PER_SEC);
	json_write_close(w);
}

static void write_container(struct json_writer *w, const struct container *c)
{
	struct container_view view;

	container_fill_view(c, &view);
	json_write_string(w, "container", view.id);
	json_write_string(w, "name", view.name);
	json_write_string(w, "tenant", view.tenant);
	json_write_string(
		w, "state",
		session_state_name((enum session_state_view)view.state));
	json_write_int(w, "created_at", view.created_at);
	json_write_time(w, "idle_expires_at", view.idle_expires_at);
	json_write_time(w, "hard_expires_at", view.hard_expires_at);
	json_write_uint(w, "executions", view.usage.executions);
	json_write_uint(w, "queued", view.queued);
	write_running(w, c->running);
	write_last(w, c);
}

/* One that waits for its session in the pool, or for its end. */
static void write_unassigned(struct json_writer *w, const struct vm *vm)
{
	json_write_null(w, "container");
	json_write_string(w, "state", vm_state_name(vm->state));
	json_write_uint(w, "created_at", vm->created_usec / USEC_PER_SEC);
}

static void write_vm(struct json_writer *w, const struct vm *vm,
		     const struct vmd_details *d)
{
	json_write_object(w, NULL);
	json_write_string(w, "vm", vm->id);
	json_write_string(w, "pool", vm->pool->name);
	if (vm->container)
		write_container(w, vm->container);
	else
		write_unassigned(w, vm);
	json_write_uint(w, "vcpus", d ? d->vcpus : vm->pool->vmd.vcpus);
	json_write_uint(w, "memory_mib",
			vm->memory_mib ? vm->memory_mib :
					 pool_memory_mib(vm->pool));
	json_write_uint(w, "disk_bytes",
			d ? d->disk_bytes : vm->pool->vmd.disk_bytes);
	write_measured(w, "cpu_usec", d ? d->vm.cpu_usec : VMD_UNKNOWN);
	write_measured(w, "memory_used_bytes", d ? d->rss_bytes : VMD_UNKNOWN);
	write_measured(w, "disk_used_bytes",
		       d ? d->disk_used_bytes : VMD_UNKNOWN);
	json_write_close(w);
}

/* Who waits for room has no VM yet. */
static void write_waiting(void *object, void *userdata)
{
	const struct container *c = object;
	struct top *t = userdata;

	if (c->vm || c->state == SESSION_VIEW_ENDED)
		return;
	json_write_object(&t->w, NULL);
	json_write_null(&t->w, "vm");
	json_write_string(&t->w, "pool", c->pool->name);
	write_container(&t->w, c);
	json_write_close(&t->w);
}

static void top_free(struct top *t)
{
	buf_done(&t->json);
	free(t->vms);
	free(t);
}

static void top_end(void *object)
{
	struct error err = ERROR_INIT;
	struct top *t = object;
	int r;

	map_each(&t->core->containers, write_waiting, t);
	json_write_close(&t->w);
	json_write_uint(&t->w, "clock_usec", clock_boot(t->core->clock));
	json_write_close(&t->w);
	r = json_write_end(&t->w);
	if (r < 0)
		(void)error_set_errno(&err, r, "Cannot tell the VMs");
	t->done(t->userdata, r < 0 ? NULL : buf_str(&t->json), t->json.length,
		r < 0 ? &err : NULL);
	top_free(t);
}

static void answered(struct top *t)
{
	/* Not at once: the caller may still be asking. */
	if (--t->pending == 0)
		gc_bury(&t->core->gc, &t->node, top_end, t);
}

static void on_inspected(int r, const struct vmd_details *details,
			 const struct error *err, void *userdata)
{
	const struct top_vm *asked = userdata;
	struct top *t = asked->top;
	const struct vm *vm = map_get(&t->core->vms, asked->id);

	(void)err;
	if (vm)
		write_vm(&t->w, vm, r < 0 ? NULL : details);
	answered(t);
}

static void ask(void *object, void *userdata)
{
	const struct vm *vm = object;
	struct top *t = userdata;
	struct top_vm *asked = &t->vms[t->count++];

	asked->top = t;
	strcpy(asked->id, vm->id);
	t->pending++;
	if (vmd_client_inspect(t->core->vmd, vm->id, on_inspected, asked) >= 0)
		return;
	write_vm(&t->w, vm, NULL);
	t->pending--;
}

int core_admin_top(struct core *core, json_fn done, void *userdata,
		   struct error *err)
{
	struct top *t = calloc(1, sizeof(*t));

	if (t)
		t->vms = calloc(core->vms.count + 1, sizeof(*t->vms));
	if (!t || !t->vms) {
		free(t);
		return error_set_errno(err, -ENOMEM, "Cannot look at the VMs");
	}
	t->core = core;
	t->done = done;
	t->userdata = userdata;
	t->json = BUF_INIT(TOP_JSON_MAX);
	t->w = JSON_WRITER_INIT(&t->json);
	t->pending = 1;
	json_write_object(&t->w, NULL);
	json_write_string(&t->w, "object", "list");
	json_write_array(&t->w, "data");
	map_each(&core->vms, ask, t);
	answered(t);
	return 0;
}
