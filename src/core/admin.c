/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_write.h"
#include "base/settings.h"
#include "core/container.h"
#include "core/vm.h"

/* The operator's calls, but for keys (auth.c) and the audit (audit.c). */

/* ----------------------------------------------------------------- inspect */

static void write_vm(const struct vm *vm, struct json_writer *w,
		     const char *key)
{
	json_write_object(w, key);
	json_write_string(w, "id", vm->id);
	json_write_string(w, "state", vm_state_name(vm->state));
	json_write_string(w, "pool", vm->pool->name);
	json_write_string(w, "image", vm->image);
	json_write_string(w, "container",
			  vm->container ? vm->container->id : NULL);
	json_write_uint(w, "cid", vm->cid);
	json_write_uint(w, "memory_mib",
			vm->memory_mib ? vm->memory_mib :
					 pool_memory_mib(vm->pool));
	json_write_string(w, "accelerator",
			  vmd_accelerator_name(vm->accelerator));
	json_write_bool(w, "linked", vm_linked(vm));
	json_write_uint(w, "kernel_epoch", vm->kernel_epoch);
	json_write_uint(w, "created_at", vm->created_usec / USEC_PER_SEC);
	boot_trace_write(&vm->trace, w, "boot_ms");
	json_write_close(w);
}

static void write_exec(const struct exec *e, struct json_writer *w)
{
	json_write_object(w, NULL);
	json_write_string(w, "id", e->id);
	json_write_string(w, "state", exec_state_name(e->state));
	json_write_string(w, "trace_id", trace_id(&e->trace));
	json_write_uint(w, "created_at", e->created_usec / USEC_PER_SEC);
	json_write_close(w);
}

static void write_execs(const struct container *c, struct json_writer *w)
{
	const struct exec *e;

	json_write_array(w, "executions");
	if (c->running)
		write_exec(c->running, w);
	TAILQ_FOREACH (e, &c->queue, in_list)
		write_exec(e, w);
	json_write_close(w);
}

static void write_container(const struct container_view *v,
			    struct json_writer *w)
{
	json_write_string(w, "id", v->id);
	json_write_string(w, "object", "container");
	json_write_string(w, "tenant", v->tenant);
	json_write_string(w, "key", v->key_id);
	json_write_string(w, "origin", v->origin);
	json_write_string(w, "name", v->name);
	json_write_string(w, "dialect", dialect_name(v->dialect));
	json_write_string(
		w, "state",
		session_state_name((enum session_state_view)v->state));
	json_write_string(w, "ended_reason", v->ended_reason);
	json_write_time(w, "ended_at", v->ended_at);
	json_write_time(w, "created_at", v->created_at);
	json_write_time(w, "last_active_at", v->last_active_at);
	json_write_time(w, "idle_expires_at", v->idle_expires_at);
	json_write_time(w, "hard_expires_at", v->hard_expires_at);
	json_write_string(w, "pool", v->pool);
	json_write_string(w, "image", v->image);
	json_write_uint(w, "memory_mib", v->memory_mib);
	json_write_uint(w, "kernel_epoch", v->kernel_epoch);
	json_write_object(w, "usage");
	core_usage_write(&v->usage, w);
	json_write_close(w);
}

static int inspect_container(struct core *core, const char *id,
			     struct json_writer *w)
{
	struct container *c = map_get(&core->containers, id);
	struct store_container *row = &core->row_container;
	struct container_view view;
	int r;

	if (c) {
		container_fill_view(c, &view);
	} else {
		r = store_container_get(core->store, NULL, id, row);
		if (r < 0)
			return r;
		container_view_of_row(row, &view);
	}
	json_write_object(w, NULL);
	write_container(&view, w);
	if (c)
		write_execs(c, w);
	if (c && c->vm)
		write_vm(c->vm, w, "vm");
	json_write_close(w);
	return 0;
}

int core_admin_inspect(struct core *core, const char *id, struct buf *ret_json,
		       struct error *err)
{
	struct json_writer w = JSON_WRITER_INIT(ret_json);
	struct vm *vm = map_get(&core->vms, id);
	int r = 0;

	if (vm)
		write_vm(vm, &w, NULL);
	else
		r = id_is(ID_CONTAINER, id) ? inspect_container(core, id, &w) :
					      -ENOENT;
	if (r == -ENOENT)
		return error_set(err, ERR_NOT_FOUND,
				 "There is no container or VM '%s'", id);
	if (r >= 0)
		r = json_write_end(&w);
	return r < 0 ? error_set_errno(err, r, "Cannot inspect '%s'", id) : 0;
}

/* -------------------------------------------------------------------- kill */

struct kill {
	struct gc_node node;
	core_done_fn done;
	void *userdata;
};

static void on_killed(void *object)
{
	struct kill *k = object;

	k->done(k->userdata, NULL);
	free(k);
}

int core_admin_kill(struct core *core, const char *id, core_done_fn done,
		    void *userdata, struct error *err)
{
	struct container *c = map_get(&core->containers, id);
	struct vm *vm = map_get(&core->vms, id);
	struct kill *k;

	if (vm && vm->container)
		c = vm->container;
	if (!c && !vm)
		return error_set(err, ERR_NOT_FOUND,
				 "There is no live "
				 "container or VM '%s'",
				 id);
	k = calloc(1, sizeof(*k));
	if (!k)
		return error_set_errno(err, -ENOMEM, "Cannot end '%s'", id);
	k->done = done;
	k->userdata = userdata;
	if (c)
		container_end(c, END_OPERATOR);
	else
		vm_stop(vm, END_OPERATOR);
	/* Ending is under way whatever happens; "gone" is for ps to show. */
	gc_bury(&core->gc, &k->node, on_killed, k);
	return 0;
}

/* --------------------------------------------------------------------- nmi */

struct nmi {
	core_done_fn done;
	void *userdata;
};

static void on_nmi(int r, const struct error *err, void *userdata)
{
	struct nmi *n = userdata;

	n->done(n->userdata, r < 0 ? err : NULL);
	free(n);
}

int core_admin_nmi(struct core *core, const char *id, core_done_fn done,
		   void *userdata, struct error *err)
{
	const struct container *c = map_get(&core->containers, id);
	const struct vm *vm = c ? c->vm : map_get(&core->vms, id);
	struct nmi *n;
	int r;

	if (!vm)
		return error_set(err, ERR_NOT_FOUND,
				 "There is no live "
				 "container or VM '%s'",
				 id);
	n = calloc(1, sizeof(*n));
	if (!n)
		return error_set_errno(err, -ENOMEM, "Cannot interrupt '%s'",
				       id);
	n->done = done;
	n->userdata = userdata;
	r = vmd_client_nmi(core->vmd, vm->id, on_nmi, n);
	if (r < 0) {
		free(n);
		return error_set(
			err, ERR_HYPERVISOR,
			"Cannot interrupt '%s': "
			"the hypervisor process does not take requests "
			"now",
			id);
	}
	return 0;
}

/* ------------------------------------------------------------------ status */

static void write_pool(const struct pool *pool, struct json_writer *w)
{
	json_write_object(w, NULL);
	json_write_string(w, "name", pool->name);
	json_write_string(w, "image", pool->known ? pool->image : "");
	json_write_string(w, "problem",
			  !pool->known ? "not known to the hypervisor process" :
			  pool->vmd.problem[0] ? pool->vmd.problem :
						 NULL);
	json_write_uint(w, "vcpus", pool->vmd.vcpus);
	json_write_uint(w, "memory_mib", pool_memory_mib(pool));
	json_write_uint(w, "disk_bytes", pool->vmd.disk_bytes);
	json_write_string(w, "accelerator",
			  vmd_accelerator_name(pool->vmd.accelerator));
	json_write_uint(w, "ready_target", pool->ready_target);
	json_write_uint(w, "ready_setting", pool->ready_setting);
	json_write_uint(w, "ready", pool_ready_count(pool));
	json_write_uint(w, "idle", pool->idle_count);
	json_write_uint(w, "vms", pool->vm_count);
	json_write_uint(w, "max", pool->max);
	json_write_close(w);
}

static void write_hello(const struct vmd_hello *hello, struct json_writer *w)
{
	json_write_object(w, "hypervisor");
	json_write_int(w, "pid", hello->pid);
	json_write_string(w, "uri", hello->uri);
	json_write_string(w, "accelerator",
			  vmd_accelerator_name(hello->accelerator));
	json_write_string(w, "accelerator_reason", hello->reason);
	json_write_string(w, "vsock", vmd_vsock_name(hello->vsock));
	json_write_uint(w, "libvirt_version", hello->libvirt_version);
	json_write_uint(w, "qemu_version", hello->qemu_version);
	json_write_close(w);
}

static void write_problem(void *userdata, const char *sentence)
{
	json_write_string(userdata, NULL, sentence);
}

static void write_pools(const struct core *core, struct json_writer *w)
{
	size_t i;

	json_write_array(w, "pools");
	for (i = 0; i < core->pools.count; i++)
		write_pool(&core->pools.pool[i], w);
	json_write_close(w);
}

static int told(struct json_writer *w, const char *what, struct error *err)
{
	int r = json_write_end(w);

	return r < 0 ? error_set_errno(err, r, "Cannot tell %s", what) : 0;
}

int core_admin_pools(struct core *core, struct buf *ret_json,
		     struct error *err)
{
	struct json_writer w = JSON_WRITER_INIT(ret_json);

	json_write_object(&w, NULL);
	write_pools(core, &w);
	json_write_close(&w);
	return told(&w, "the pools", err);
}

int core_admin_pool_set(struct core *core, const char *name, uint64_t ready,
			struct buf *ret_json, struct error *err)
{
	struct json_writer w = JSON_WRITER_INIT(ret_json);
	struct pool *pool = pool_find(core, name);

	if (!pool)
		return error_set(err, ERR_NOT_FOUND, "There is no pool '%s'",
				 name);
	if (ready == POOL_READY_SETTING)
		ready = pool->ready_setting;
	if (ready > CORE_POOL_READY_MAX || ready > pool->max)
		return error_set(
			err, ERR_BAD_REQUEST,
			"Pool '%s' keeps at most %llu VMs ready", name,
			(unsigned long long)(pool->max < CORE_POOL_READY_MAX ?
						     pool->max :
						     CORE_POOL_READY_MAX));
	pool_set_ready(pool, ready);
	write_pool(pool, &w);
	return told(&w, "the pool", err);
}

/* The first pool of an image tells of all that have the same. */
static bool is_first_of_image(const struct core *core, size_t at)
{
	const struct pool *pool = core->pools.pool;
	size_t i;

	for (i = 0; i < at; i++)
		if (pool[i].known &&
		    strcmp(pool[i].image, pool[at].image) == 0)
			return false;
	return pool[at].known && pool[at].image[0];
}

static void write_image(const struct core *core, const char *image,
			struct json_writer *w)
{
	const struct pool *pool = core->pools.pool;
	size_t i;

	json_write_object(w, NULL);
	json_write_string(w, "image", image);
	json_write_array(w, "pools");
	for (i = 0; i < core->pools.count; i++)
		if (pool[i].known && strcmp(pool[i].image, image) == 0)
			json_write_string(w, NULL, pool[i].name);
	json_write_close(w);
	json_write_close(w);
}

int core_admin_images(struct core *core, struct buf *ret_json,
		      struct error *err)
{
	struct json_writer w = JSON_WRITER_INIT(ret_json);
	size_t i;

	json_write_object(&w, NULL);
	json_write_array(&w, "images");
	for (i = 0; i < core->pools.count; i++)
		if (is_first_of_image(core, i))
			write_image(core, core->pools.pool[i].image, &w);
	json_write_close(&w);
	json_write_close(&w);
	return told(&w, "the images", err);
}

int core_admin_doctor(struct core *core, struct buf *ret_json,
		      struct error *err)
{
	const struct vmd_hello *hello = vmd_client_hello(core->vmd);
	struct json_writer w = JSON_WRITER_INIT(ret_json);
	bool ready;

	json_write_object(&w, NULL);
	json_write_array(&w, "problems");
	ready = core_ready(core, write_problem, &w);
	json_write_close(&w);
	json_write_bool(&w, "ok", ready);
	if (hello)
		write_hello(hello, &w);
	json_write_close(&w);
	return told(&w, "what the host lacks", err);
}

int core_admin_status(struct core *core, struct buf *ret_json,
		      struct error *err)
{
	const struct vmd_hello *hello = vmd_client_hello(core->vmd);
	struct json_writer w = JSON_WRITER_INIT(ret_json);

	json_write_object(&w, NULL);
	json_write_array(&w, "problems");
	(void)core_ready(core, write_problem, &w);
	json_write_close(&w);
	json_write_uint(&w, "containers", core->containers.count);
	json_write_uint(&w, "vms", core->vms.count);
	json_write_uint(&w, "memory_mib", core->admission.budget_mib);
	json_write_uint(&w, "memory_taken_mib", core->admission.taken_mib);
	json_write_bool(&w, "emulation_allowed",
			settings_bool(core->settings, "host",
				      "allow_emulation"));
	drain_write(core, &w, "drain");
	if (hello)
		write_hello(hello, &w);
	write_pools(core, &w);
	json_write_close(&w);
	return told(&w, "the status", err);
}

int core_admin_advance_clock(struct core *core, usec_t by, struct error *err)
{
	if (!core->set.test_clock)
		return error_set(err, ERR_FORBIDDEN,
				 "The clock can be moved "
				 "in development mode with test.clock only");
	clock_advance(core->clock, by);
	return 0;
}
