/* SPDX-License-Identifier: Apache-2.0 */
#include "core/pool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/settings.h"
#include "core/core_priv.h"
#include "core/pressure.h"
#include "core/vm.h"

static void on_refill(struct timer *t, void *userdata);

static int pool_init(struct core *core, struct pool *pool, const char *name)
{
	const struct settings *s = core->settings;
	char section[STORE_NAME_SIZE];
	int r;

	(void)snprintf(section, sizeof(section), "pool.%s", name);
	*pool = (struct pool){
		.core = core,
		.name = name,
		.ready_setting = settings_uint(s, section, "ready"),
		.ready_min = settings_uint(s, section, "min"),
		.max_age = settings_usec(s, section, "max_age"),
		.refill_pause = settings_usec(s, section, "refill_pause"),
		.max = settings_uint(s, section, "max"),
		.max_artifact_bytes =
			settings_bytes(s, section, "max_artifact"),
	};
	pool->ready_target = pool->ready_setting;
	pool->vmd.memory_mib =
		(uint32_t)(settings_bytes(s, section, "memory") >> 20);
	TAILQ_INIT(&pool->idle);
	r = waiting_init(pool);
	if (r < 0)
		return r;
	return timer_new(core->event, core->guest_clock, "pool-refill",
			 on_refill, pool, &pool->refill);
}

static void pool_done(struct pool *pool)
{
	timer_free(pool->refill);
	waiting_done(pool);
}

int pools_init(struct core *core)
{
	struct pools *pools = &core->pools;
	const char *name;
	size_t count = 0;
	int r;

	while (settings_instance(core->settings, "pool", count))
		count++;
	pools->pool = calloc(count ? count : 1, sizeof(*pools->pool));
	if (!pools->pool)
		return -ENOMEM;
	while (pools->count < count) {
		name = settings_instance(core->settings, "pool", pools->count);
		r = pool_init(core, &pools->pool[pools->count++], name);
		if (r < 0)
			return r;
	}
	return 0;
}

void pools_done(struct core *core)
{
	size_t i;

	for (i = 0; i < core->pools.count; i++)
		pool_done(&core->pools.pool[i]);
	free(core->pools.pool);
	core->pools = (struct pools){ 0 };
}

struct pool *pool_find(struct core *core, const char *name)
{
	size_t i;

	for (i = 0; i < core->pools.count; i++)
		if (strcmp(core->pools.pool[i].name, name) == 0)
			return &core->pools.pool[i];
	return NULL;
}

static void pool_update(struct pool *pool, const struct vmd_hello *hello)
{
	uint32_t i;

	pool->known = false;
	for (i = 0; i < hello->pool_count && i < VMD_POOLS_MAX; i++) {
		if (strcmp(hello->pools[i].name, pool->name) != 0)
			continue;
		pool->known = true;
		pool->vmd_index = i;
		pool->vmd = hello->pools[i];
		(void)snprintf(pool->image, sizeof(pool->image), "%s@%s",
			       pool->vmd.image, pool->vmd.digest);
	}
}

/* VMs of an image that is not the pool's any more are of no use to anybody. */
static void pool_drop_stale(struct pool *pool)
{
	struct vm *vm, *next;

	for (vm = TAILQ_FIRST(&pool->idle); vm; vm = next) {
		next = TAILQ_NEXT(vm, in_pool);
		if (strcmp(vm->image, pool->image) != 0)
			vm_stop(vm, END_IMAGE_REMOVED);
	}
}

void pools_update(struct core *core, const struct vmd_hello *hello)
{
	size_t i;

	for (i = 0; i < core->pools.count; i++) {
		pool_update(&core->pools.pool[i], hello);
		pool_drop_stale(&core->pools.pool[i]);
		core->pools.pool[i].backoff = 0;
		core->pools.pool[i].boots_failed = 0;
		pool_refill(&core->pools.pool[i]);
		waiting_pump(&core->pools.pool[i]);
	}
}

void pools_have_room(struct core *core)
{
	size_t i;

	for (i = 0; i < core->pools.count; i++)
		waiting_pump(&core->pools.pool[i]);
}

void pools_refuse(struct core *core, const struct error *err)
{
	size_t i;

	for (i = 0; i < core->pools.count; i++)
		waiting_refuse_all(&core->pools.pool[i], err);
}

/* Claims go before: what is free is not for idle VMs while somebody waits. */
static bool pools_somebody_waits(const struct core *core)
{
	size_t i;

	for (i = 0; i < core->pools.count; i++)
		if (!waiting_is_empty(&core->pools.pool[i]))
			return true;
	return false;
}

static void pool_end(struct pool *pool)
{
	struct vm *vm, *next;

	for (vm = TAILQ_FIRST(&pool->idle); vm; vm = next) {
		next = TAILQ_NEXT(vm, in_pool);
		vm_stop(vm, END_DRAINED);
	}
}

void pools_fill(struct core *core, bool fill)
{
	size_t i;

	core->pools.filling = fill;
	for (i = 0; i < core->pools.count; i++) {
		if (fill)
			pool_refill(&core->pools.pool[i]);
		else
			pool_end(&core->pools.pool[i]);
	}
}

void pool_put(struct pool *pool, struct vm *vm)
{
	vm->pooled_usec = clock_boot(pool->core->guest_clock);
	TAILQ_INSERT_TAIL(&pool->idle, vm, in_pool);
	pool->idle_count++;
}

static void pool_take(struct pool *pool, struct vm *vm)
{
	TAILQ_REMOVE(&pool->idle, vm, in_pool);
	pool->idle_count--;
}

static struct vm *pool_find_state(struct pool *pool, enum vm_state from,
				  enum vm_state to)
{
	struct vm *vm;

	TAILQ_FOREACH (vm, &pool->idle, in_pool)
		if (vm->state >= from && vm->state <= to)
			return vm;
	return NULL;
}

struct vm *pool_claim(struct pool *pool, enum claim *ret_found)
{
	struct vm *vm;

	*ret_found = CLAIM_READY;
	vm = pool_find_state(pool, VM_READY, VM_READY);
	if (!vm) {
		*ret_found = CLAIM_BOOTING;
		vm = pool_find_state(pool, VM_STARTING, VM_BOOTING);
	}
	if (!vm) {
		*ret_found = CLAIM_NOTHING;
		return NULL;
	}
	pool_take(pool, vm);
	pool_refill(pool);
	return vm;
}

void pool_vm_ready(struct pool *pool, struct vm *vm)
{
	(void)vm;
	pool->backoff = 0;
	pool_refill(pool);
	waiting_pump(pool);
}

void pool_vm_gone(struct pool *pool, struct vm *vm)
{
	/*
	 * One that an earlier daemon started says nothing about this one, nor
	 * does one that was ended because nothing is kept ready any more.
	 */
	bool failed = !vm->was_ready && !vm->restored &&
		      pool->core->pools.filling;

	pool_take(pool, vm);
	if (failed) {
		pool->backoff = pool->backoff ? 2 * pool->backoff :
						POOL_BACKOFF_MIN;
		if (pool->backoff > POOL_BACKOFF_MAX)
			pool->backoff = POOL_BACKOFF_MAX;
	}
	pool_refill(pool);
}

void pool_booted(struct pool *pool, bool ready)
{
	if (ready) {
		pool->boots_failed = 0;
		return;
	}
	if (++pool->boots_failed == POOL_BOOTS_FAILED_MAX)
		log_error(NULL, 0,
			  "The last %d VMs of pool '%s' did not boot, one is "
			  "tried each %d s",
			  POOL_BOOTS_FAILED_MAX, pool->name,
			  (int)(POOL_SHUT_USEC / USEC_PER_SEC));
	pool->shut_until = usec_add(clock_boot(pool->core->guest_clock),
				    POOL_SHUT_USEC);
}

int pool_check_boots(struct pool *pool, struct error *err)
{
	usec_t now = clock_boot(pool->core->guest_clock);

	if (pool->boots_failed < POOL_BOOTS_FAILED_MAX ||
	    pool_find_state(pool, VM_READY, VM_READY))
		return 0;
	if (now >= pool->shut_until) {
		/* This one finds out for those that come behind it. */
		pool->shut_until = usec_add(now, POOL_SHUT_USEC);
		return 0;
	}
	err->retry_after_sec =
		(unsigned)((pool->shut_until - now) / USEC_PER_SEC) + 1;
	error_set_reason(err, end_reason_name(END_BOOT_FAILED));
	return error_set(err, ERR_HYPERVISOR,
			 "The last virtual machines of pool '%s' did not boot",
			 pool->name);
}

uint32_t pool_memory_mib(const struct pool *pool)
{
	return pool->vmd.memory_mib;
}

uint64_t pool_ready_count(const struct pool *pool)
{
	const struct vm *vm;
	uint64_t count = 0;

	TAILQ_FOREACH (vm, &pool->idle, in_pool)
		count += vm->state == VM_READY;
	return count;
}

void pool_refill(struct pool *pool)
{
	if (!pool->core->pools.filling || pool->core->stopping)
		return;
	timer_set_after(pool->refill, pool->backoff);
}

void pools_refill(struct core *core)
{
	size_t i;

	for (i = 0; i < core->pools.count; i++)
		pool_refill(&core->pools.pool[i]);
}

/* The intent first, then the VM. */
static int pool_start_vm(struct pool *pool, struct error *err)
{
	struct core *core = pool->core;
	struct store_batch *batch;
	struct vm *vm;
	int r;

	r = vm_new(core, pool, 0, &vm, err);
	if (r < 0)
		return r;
	pool_put(pool, vm);
	batch = store_batch_new(core->store);
	vm_put_row(vm, batch);
	r = vm_commit(vm, batch);
	if (r < 0) {
		store_batch_free(batch);
		vm_forget(vm);
		return core_store_failed(r, err);
	}
	return 0;
}

/* The oldest goes; its end calls for the next. */
static void pool_retire(struct pool *pool)
{
	usec_t now = clock_boot(pool->core->guest_clock);
	struct vm *vm = pool_find_state(pool, VM_READY, VM_READY);

	if (!vm || pool_find_state(pool, VM_STOPPING, VM_STOPPING))
		return;
	if (now < usec_add(vm->pooled_usec, pool->max_age)) {
		timer_set(pool->refill,
			  usec_add(vm->pooled_usec, pool->max_age));
		return;
	}
	log_info(&vm->scope, "An idle VM is too old, replacing it");
	vm_stop(vm, END_DRAINED);
}

static uint64_t pool_living(const struct pool *pool)
{
	const struct vm *vm;
	uint64_t count = 0;

	TAILQ_FOREACH (vm, &pool->idle, in_pool)
		count += vm->state < VM_STOPPING;
	return count;
}

/* The newest go: those that still boot, before any that is ready. */
void pool_set_ready(struct pool *pool, uint64_t target)
{
	uint64_t living = pool_living(pool);
	struct vm *vm, *before;

	log_notice(NULL, "Pool '%s' keeps %llu VMs ready, instead of %llu",
		   pool->name, (unsigned long long)target,
		   (unsigned long long)pool->ready_target);
	pool->ready_target = target;
	for (vm = TAILQ_LAST(&pool->idle, vm_list); vm && living > target;
	     vm = before) {
		before = TAILQ_PREV(vm, vm_list, in_pool);
		if (vm->state >= VM_STOPPING)
			continue;
		vm_stop(vm, END_DRAINED);
		living--;
	}
	pool->backoff = 0;
	pool_refill(pool);
}

/* How long a refill has to wait; 0 if it may begin. */
static usec_t pool_wait(const struct pool *pool)
{
	usec_t now = clock_boot(pool->core->guest_clock);

	if (now < pool->refill_from)
		return pool->refill_from - now;
	if (pool_ready_count(pool) < pool->ready_min)
		return 0;
	return pressure_cpu(pool->core) >
			       (int)pool->core->set.refill_pressure ?
		       POOL_PRESSURE_PAUSE :
		       0;
}

/* One boots at a time, so that a refill leaves room for claims to start. */
static void on_refill(struct timer *t, void *userdata)
{
	struct pool *pool = userdata;
	struct error err = ERROR_INIT;
	usec_t wait;
	int r;

	if (!pool->core->pools.filling || !pool->known ||
	    pools_somebody_waits(pool->core) || pool->vmd.problem[0] ||
	    !vmd_client_hello(pool->core->vmd) ||
	    pool_find_state(pool, VM_PLANNED, VM_BOOTING))
		return;
	if (pool->idle_count >= pool->ready_target) {
		pool_retire(pool);
		return;
	}
	wait = pool_wait(pool);
	if (wait > 0) {
		timer_set_after(t, wait);
		return;
	}
	r = pool_start_vm(pool, &err);
	if (r >= 0) {
		pool->refill_from =
			usec_add(clock_boot(pool->core->guest_clock),
				 pool->refill_pause);
		return;
	}
	/* A full host is no fault; VMs that end call for a refill anyway. */
	if (err.code != ERR_CAPACITY)
		log_warning(NULL, 0, "Cannot refill pool '%s': %s", pool->name,
			    err.message);
	pool->backoff = POOL_BACKOFF_MAX;
	timer_set_after(pool->refill, pool->backoff);
}
