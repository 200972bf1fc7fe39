/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/failpoint.h"
#include "core/container.h"
#include "core/handle.h"
#include "core/usage.h"
#include "core/vm.h"
#include "core/waiting.h"

/*
 * Creating a container: room is taken, a VM is claimed or planned, and one
 * batch makes all of it durable. Then it is answered, and only then is anything
 * done for it. Deleting one, at the other end of its life, is here as well.
 *
 * Where names are handles (handle.h), a create for a name that stands for a
 * container is answered with that one, once it is durable.
 */

/** struct create - A create whose answer is still to be given */
struct create {
	struct gc_node node;
	struct waiter waiter;      /* for room */
	struct store_batch *batch; /* meanwhile */
	struct create *next;       /* waits for the same container */
	struct core *core;
	struct container *container;
	struct principal who;
	char earlier[ID_SIZE]; /* what the same key gave before */
	char *key;             /* Idempotency-Key, or NULL */
	bool pinned;           /* to the container's image */
	uint8_t body_sha256[HASH_SIZE];
	container_fn done;
	void *userdata;
};

static void create_free(struct create *cr)
{
	free(cr->key);
	free(cr);
}

static void create_freep(struct create **cr)
{
	if (*cr)
		create_free(*cr);
}

/* ------------------------------------------------------------------ checks */

static int check_minutes(const struct container_spec *spec, struct error *err)
{
	int r;

	if (spec->dialect != DIALECT_OPENAI ||
	    spec->idle_minutes <= CORE_MINUTES_DEFAULT)
		return 0;
	r = error_set(err, ERR_BAD_REQUEST,
		      "'expires_after.minutes' is %u, at "
		      "most %u is allowed",
		      spec->idle_minutes, CORE_MINUTES_DEFAULT);
	error_set_param(err, "expires_after.minutes");
	error_set_reason(err, "integer_above_max_value");
	return r;
}

/* ------------------------------------------------------------------ commit */

static void create_answer(void *object)
{
	struct create *cr = object;
	struct container_view view;
	struct error err = ERROR_INIT;
	int r = 0;

	if (cr->container)
		container_fill_view(cr->container, &view);
	else
		r = core_container_get(cr->core, &cr->who, cr->earlier, true,
				       &view, &err);
	cr->done(cr->userdata, r < 0 ? NULL : &view, r < 0 ? &err : NULL);
	create_free(cr);
}

/* Return: 1 if the key has an answer already, 0 if it is new */
static int create_earlier(struct create *cr, struct error *err)
{
	struct store_idempotency row;
	int r;

	r = store_idempotency_get(cr->core->store, cr->who.tenant, cr->key,
				  clock_wall(cr->core->clock), &row);
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return error_set_errno(err, r, "Cannot look up the key");
	if (memcmp(row.body_sha256, cr->body_sha256, HASH_SIZE))
		return error_set(err, ERR_UNPROCESSABLE,
				 "Idempotency-Key was "
				 "used with another request");
	strcpy(cr->earlier, row.answer);
	return 1;
}

static void create_fail(struct create *cr, const struct error *err)
{
	cr->done(cr->userdata, NULL, err);
	create_free(cr);
}

/* Answer those who asked for it while it was not durable; NULL: it now is. */
static void answer_waiting(struct create *waiting, const struct error *err)
{
	while (waiting) {
		struct create *cr = waiting;

		waiting = cr->next;
		if (err)
			create_fail(cr, err);
		else
			create_answer(cr);
	}
}

static void on_create_committed(void *userdata, int r)
{
	struct create *cr = userdata;
	struct container *c = cr->container;
	struct create *waiting = take_ptr(c->waiting);
	struct error err = ERROR_INIT;

	(void)failpoint("create-intent-written");
	if (r >= 0) {
		/* The answer is "booting", whatever follows at once. */
		container_begin(c);
		create_answer(cr);
		answer_waiting(waiting, NULL);
		return;
	}
	cr->container = NULL;
	container_forget(c);
	core_store_failed(r, &err);
	answer_waiting(waiting, &err);
	if (r == -EEXIST && cr->key && create_earlier(cr, &err) > 0)
		create_answer(cr);
	else
		create_fail(cr, &err);
}

static void put_key(const struct create *cr, struct store_batch *batch)
{
	struct store_idempotency row = {
		.created_usec = clock_wall(cr->core->clock),
	};

	strcpy(row.tenant, cr->who.tenant);
	strncpy(row.key, cr->key, sizeof(row.key) - 1);
	strcpy(row.answer, cr->container->id);
	memcpy(row.body_sha256, cr->body_sha256, sizeof(row.body_sha256));
	(void)store_batch_add_idempotency(batch, &row);
}

/* What its VM needs beyond what those of its pool have; 0: nothing. */
static uint32_t special_memory_mib(const struct container *c)
{
	uint32_t mib = memory_tier_mib(c->memory);

	if (c->memory == MEMORY_1G || mib <= pool_memory_mib(c->pool))
		return 0;
	return mib;
}

/* A ready VM if there is one and it is enough, else one of its own. */
static int take_vm(struct container *c, struct error *err)
{
	uint32_t mib = special_memory_mib(c);
	int r;

	c->found = CLAIM_SPECIAL;
	c->vm = mib == 0 ? pool_claim(c->pool, &c->found) : NULL;
	if (!c->vm) {
		r = vm_new(c->core, c->pool, mib, &c->vm, err);
		if (r < 0)
			return r;
	}
	/* Once, however often a create that waits has tried. */
	c->core->metrics.claims[c->found]++;
	c->memory_mib = mib ? mib : pool_memory_mib(c->pool);
	c->vm->container = c;
	strcpy(c->image, c->vm->image);
	return 0;
}

static int create_commit(struct create *cr, struct store_batch *batch,
			 struct error *err)
{
	struct container *c = cr->container;
	int r;

	(void)failpoint("create-before-intent");
	vm_put_row(c->vm, batch);
	usage_add(c, batch, "created", dialect_name(c->dialect), 1);
	if (cr->key)
		put_key(cr, batch);
	r = store_commit(cr->core->store, batch, on_create_committed, cr);
	return r < 0 ? core_store_failed(r, err) : 0;
}

/* Nothing of it is left; without an error, at the end of core, without a word. */
static void create_give_up(struct create *cr, const struct error *err)
{
	struct container *c = take_ptr(cr->container);
	struct create *waiting = take_ptr(c->waiting);

	store_batch_free(take_ptr(cr->batch));
	container_forget(c);
	if (err) {
		answer_waiting(waiting, err);
		create_fail(cr, err);
		return;
	}
	while (waiting) {
		struct create *next = waiting->next;

		create_free(waiting);
		waiting = next;
	}
	create_free(cr);
}

static struct create *create_of(struct waiter *w)
{
	return (struct create *)((char *)w - offsetof(struct create, waiter));
}

static void on_refused(struct waiter *w, const struct error *err)
{
	create_give_up(create_of(w), err);
}

/* With a VM, all of it becomes durable. */
static int create_go_on(struct create *cr, struct error *err)
{
	struct container *c = cr->container;
	int r = 0;

	/* It waited, and the pool has got another image. */
	if (cr->pinned && strcmp(c->image, c->pool->image) != 0)
		r = container_pool_moved_on(c->pool, c->image, err);
	if (r >= 0)
		r = take_vm(c, err);
	if (r < 0)
		return r;
	container_put_row(c, cr->batch);
	r = create_commit(cr, cr->batch, err);
	if (r >= 0)
		cr->batch = NULL; /* the store's */
	return r;
}

static bool on_room(struct waiter *w, struct error *err)
{
	struct create *cr = create_of(w);

	if (!vmd_client_hello(cr->core->vmd)) {
		(void)container_pool_unserved(err);
		return false;
	}
	if (create_go_on(cr, err) < 0) {
		if (err->code == ERR_CAPACITY)
			return false;
		create_give_up(cr, err);
	}
	return true;
}

/* Behind those who came before; what can never be had is refused at once. */
static int create_or_wait(struct create *cr, struct error *err)
{
	struct pool *pool = cr->container->pool;
	uint32_t mib = special_memory_mib(cr->container);
	int r;

	r = admission_check(cr->core, mib ? mib : pool_memory_mib(pool), err);
	if (r >= 0)
		r = pool_check_boots(pool, err);
	if (r < 0)
		return r;
	if (waiting_is_empty(pool))
		r = create_go_on(cr, err);
	else
		r = error_set(err, ERR_CAPACITY,
			      "All room of pool '%s' is spoken for",
			      pool->name);
	if (r >= 0 || err->code != ERR_CAPACITY)
		return r;
	error_set_reason(err, "capacity");
	cr->waiter.try = on_room;
	cr->waiter.refused = on_refused;
	return waiting_add(pool, &cr->waiter, r, err);
}

static int create_start(struct create *cr, const struct container_spec *spec,
			struct container *c, struct error *err)
{
	struct core *core = cr->core;
	int r;

	r = tenant_take_session(core, c->tenant, err);
	if (r < 0) {
		container_free(c);
		return r;
	}
	r = map_put(&core->containers, &c->node, c->id, c);
	if (r >= 0) {
		r = handle_take(c);
		if (r < 0)
			map_remove(&core->containers, &c->node);
	}
	if (r < 0) {
		tenant_give_session(core, c->tenant);
		container_free(c);
		return error_set_errno(err, r, "Cannot make a container");
	}
	cr->container = c;
	cr->batch = store_batch_new(core->store);
	/* The row names the state it is in once the row is there. */
	container_put_row(c, cr->batch);
	r = stage_files(c, &cr->who, spec, cr->batch, err);
	if (r >= 0)
		r = create_or_wait(cr, err);
	if (r < 0) {
		store_batch_free(take_ptr(cr->batch));
		container_forget(c);
	}
	return r;
}

static int create_new(struct core *core, const struct principal *who,
		      const struct container_spec *spec, container_fn done,
		      void *userdata, struct create **ret)
{
	_cleanup_(create_freep) struct create *cr = calloc(1, sizeof(*cr));

	if (!cr)
		return -ENOMEM;
	cr->core = core;
	cr->who = *who;
	cr->done = done;
	cr->userdata = userdata;
	cr->pinned = spec->image != NULL;
	if (spec->idempotency.key) {
		memcpy(cr->body_sha256, spec->idempotency.body_sha256,
		       sizeof(cr->body_sha256));
		cr->key = strdup(spec->idempotency.key);
		if (!cr->key)
			return -ENOMEM;
	}
	*ret = take_ptr(cr);
	return 0;
}

/* Return: whether the name stands for a container, whose view is the answer */
static bool create_join(struct create *cr, const struct container_spec *spec)
{
	const char *pool = spec->pool ? spec->pool : CORE_POOL_DEFAULT;
	struct core *core = cr->core;
	struct container *c;

	if (!handle_is_used_by(spec->dialect))
		return false;
	c = handle_find(core, &cr->who, spec->dialect, pool, spec->name);
	if (!c)
		return false;
	strcpy(cr->earlier, c->id);
	if (c->state == SESSION_VIEW_ACCEPTED) {
		cr->next = c->waiting;
		c->waiting = cr;
	} else {
		gc_bury(&core->gc, &cr->node, create_answer, cr);
	}
	return true;
}

int core_container_create(struct core *core, const struct principal *who,
			  const struct container_spec *spec, container_fn done,
			  void *userdata, struct error *err)
{
	_cleanup_(create_freep) struct create *cr = NULL;
	struct pool *pool = NULL;
	struct container *c;
	int r;

	r = create_new(core, who, spec, done, userdata, &cr);
	if (r < 0)
		return error_set_errno(err, r, "Cannot make a container");
	r = cr->key ? create_earlier(cr, err) : 0;
	if (r > 0) {
		struct create *later = take_ptr(cr);

		gc_bury(&core->gc, &later->node, create_answer, later);
		return 0;
	}
	if (r >= 0 && create_join(cr, spec)) {
		(void)take_ptr(cr); /* answers later */
		return 0;
	}
	if (r >= 0)
		r = core_refuse(core, err);
	if (r >= 0)
		r = check_minutes(spec, err);
	if (r >= 0)
		r = container_pool_find(core, spec, &pool, err);
	if (r >= 0)
		r = container_new(core, spec, who, pool, &c, err);
	if (r < 0)
		return r;
	r = create_start(cr, spec, c, err);
	if (r >= 0)
		(void)take_ptr(cr); /* its commit, or the queue, owns it */
	return r;
}

/* ------------------------------------------------------------------ delete */

int core_container_delete(struct core *core, const struct principal *who,
			  const char *id, core_done_fn done, void *userdata,
			  struct error *err)
{
	struct container *c = map_get(&core->containers, id);
	struct store_batch *batch;
	int r;

	r = container_check(core, who, id, err);
	if (r < 0)
		return r;
	batch = store_batch_new(core->store);
	(void)store_batch_erase_container(batch, id);
	r = core_commit_for(core, batch, done, userdata, err);
	if (r < 0)
		return r;
	/* From here on nothing of it is written but how it ended. */
	if (c) {
		(void)failpoint("delete-asked");
		c->erased = true;
		container_end(c, END_DELETED);
	}
	return 0;
}
