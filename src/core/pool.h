/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_POOL_H
#define CORE_POOL_H

/*
 * Pools: which VMs there may be, and some that are ready before anybody asks.
 *
 * A VM that belongs to no container is idle: it boots or it is ready. A claim
 * takes a ready one, or the one that has booted longest, and asks nobody: from
 * then on it is the container's, and it is never handed back. Refilling starts
 * one VM at a time and waits longer after each failure. While the host's CPUs
 * are busy it starts none beyond the pool's minimum: who executes comes first.
 * An idle VM that gets old is replaced, one after the other.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/timer.h"
#include "core/pool_metrics.h"
#include "core/waiting.h"
#include "store/rows.h"
#include "vmd/vmd_proto.h"

struct core;
struct vm;

#define POOL_BACKOFF_MIN USEC_PER_SEC
#define POOL_BACKOFF_MAX (60 * USEC_PER_SEC)

/* After so many boots in a row that failed, a create may try one now and then. */
#define POOL_BOOTS_FAILED_MAX 5
#define POOL_SHUT_USEC (10 * USEC_PER_SEC)

/* When to look again whether the host is still busy. */
#define POOL_PRESSURE_PAUSE (2 * USEC_PER_SEC)

/* An idle VM that nobody claims is ended by the hypervisor process after this. */
#define POOL_VM_LIFE (12 * USEC_PER_HOUR)

TAILQ_HEAD(vm_list, vm);

struct pool {
	struct core *core;
	const char *name; /* the settings' */
	uint64_t ready_setting;
	uint64_t ready_target; /* the same, unless the operator says otherwise */
	uint64_t ready_min; /* kept whatever the host has to do */
	usec_t max_age;     /* of idle VMs */
	usec_t refill_pause;
	uint64_t max;
	uint64_t max_artifact_bytes;

	/* As the hypervisor process can serve it */
	bool known;
	uint32_t vmd_index;
	struct vmd_pool vmd;
	char image[STORE_IMAGE_SIZE]; /* "name@sha256:…" */

	struct vm_list idle; /* oldest first */
	uint64_t idle_count;
	uint64_t vm_count; /* claimed ones and dying ones, too */
	struct timer *refill;
	usec_t backoff; /* 0: the last one was fine */
	unsigned boots_failed; /* in a row, of all its VMs */
	usec_t shut_until;     /* no create boots one before; boot clock */
	struct waiting waiting;
	usec_t refill_from; /* no VM is started before; boot clock */

	struct pool_metrics metrics;
};

struct pools {
	struct pool *pool;
	size_t count;
	bool filling; /* the daemon is up and not stopping */
};

int pools_init(struct core *core);
void pools_done(struct core *core);

/** pools_update() - Take over what a HELLO says */
void pools_update(struct core *core, const struct vmd_hello *hello);

/** pools_fill() - Begin to keep VMs ready, or stop doing so and end them */
void pools_fill(struct core *core, bool fill);

/** pool_find() - By name; NULL if there is none */
struct pool *pool_find(struct core *core, const char *name);

/**
 * pool_claim() - An idle VM, which is the caller's now
 *
 * Return: NULL if none is left; *@ret_found is set in any case
 */
struct vm *pool_claim(struct pool *pool, enum claim *ret_found);

/** pool_put() - Count an idle VM in: a restored one, or a claim that failed */
void pool_put(struct pool *pool, struct vm *vm);

/** pools_have_room() - A VM or memory is free: whoever waits may try */
void pools_have_room(struct core *core);

/** pools_refuse() - Nobody waits any more; NULL: and nobody is told */
void pools_refuse(struct core *core, const struct error *err);

/* What an idle VM tells its pool. */
void pool_vm_ready(struct pool *pool, struct vm *vm);
void pool_vm_gone(struct pool *pool, struct vm *vm);

/** pool_set_ready() - Keep so many ready from now on, and end those beyond */
void pool_set_ready(struct pool *pool, uint64_t target);

/** pool_booted() - A VM of its image has become ready, or never will */
void pool_booted(struct pool *pool, bool ready);

/**
 * pool_check_boots() - Whether a VM may be booted for a create
 *
 * An image that boots no more would keep the host busy with nothing else, the
 * more so the more its clients try again.
 */
int pool_check_boots(struct pool *pool, struct error *err);

/** pool_memory_mib() - Of its VMs that ask for nothing more */
uint32_t pool_memory_mib(const struct pool *pool);

/** pool_ready_count() - VMs that a claim gets at once */
uint64_t pool_ready_count(const struct pool *pool);

/** pool_refill() - See whether VMs are missing, soon */
void pool_refill(struct pool *pool);
void pools_refill(struct core *core);

#endif
