/* SPDX-License-Identifier: Apache-2.0 */
#include "core/core.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/event.h"
#include "core/budget.h"
#include "core/container.h"
#include "core/core_priv.h"
#include "core/load.h"
#include "core/vm.h"

/* Life of core as a whole: new, start, stop, free; and what all parts share. */

int core_refuse_work(struct core *core, struct error *err)
{
	int r;

	if (!core->stopping)
		return 0;
	r = error_set(err, ERR_CAPACITY, "The service is shutting down");
	error_set_reason(err, "capacity");
	return r;
}

int core_refuse(struct core *core, struct error *err)
{
	int r = core_refuse_work(core, err);

	if (r < 0 || !core->drain.on)
		return r;
	r = error_set(err, ERR_CAPACITY,
		      "The service is being drained: sessions go on, new ones "
		      "are not taken");
	error_set_reason(err, "capacity");
	error_set_retry_after(err, CORE_DRAIN_RETRY_SEC);
	return r;
}

int core_store_failed(int r, struct error *err)
{
	if (r == -ENOSPC) {
		r = error_set(err, ERR_STORAGE_FULL,
			      "The host has no disk space left");
		error_set_reason(err, "host_storage_full");
		return r;
	}
	if (r == -EAGAIN) {
		r = error_set(err, ERR_CAPACITY,
			      "The host's disk does not keep up");
		error_set_reason(err, "capacity");
		return r;
	}
	return error_set_errno(err, r, "Cannot write to the database");
}

int core_list_failed(int r, const struct core_page *page, struct error *err)
{
	if (r >= 0)
		return 0;
	if (r != -ENOENT)
		return error_set_errno(err, r, "Cannot read the database");
	r = error_set(err, ERR_BAD_REQUEST,
		      "'after' names '%s', which is not "
		      "in this list",
		      page->after);
	error_set_param(err, "after");
	error_set_reason(err, "invalid_value");
	return r;
}

/* ----------------------------------------------------------------- commits */

struct commit {
	struct core *core;
	core_done_fn done;
	void *userdata;
};

static void on_committed_for(void *userdata, int r)
{
	struct commit *commit = userdata;
	struct error err = ERROR_INIT;

	if (r < 0)
		core_store_failed(r, &err);
	commit->done(commit->userdata, r < 0 ? &err : NULL);
	free(commit);
}

int core_commit_for(struct core *core, struct store_batch *batch,
		    core_done_fn done, void *userdata, struct error *err)
{
	struct commit *commit = calloc(1, sizeof(*commit));
	int r = -ENOMEM;

	if (commit) {
		*commit = (struct commit){ core, done, userdata };
		r = store_commit(core->store, batch, on_committed_for, commit);
	}
	if (r < 0) {
		store_batch_free(batch);
		free(commit);
		return core_store_failed(r, err);
	}
	return 0;
}

static void on_committed(void *userdata, int r)
{
	(void)userdata;
	if (r < 0)
		log_error(NULL, r, "Cannot write to the database");
}

void core_commit(struct core *core, struct store_batch *batch,
		 const struct log_scope *scope)
{
	int r;

	r = store_commit(core->store, batch, on_committed, NULL);
	if (r >= 0)
		return;
	store_batch_free(batch);
	log_error(scope, r, "Cannot write to the database");
}

void core_commit_then(struct core *core, struct store_batch *batch,
		      store_done_fn *done, void *userdata)
{
	int r = store_commit(core->store, batch, done, userdata);

	if (r >= 0)
		return;
	store_batch_free(batch);
	done(userdata, r);
}

/* ------------------------------------------------------------------- sweep */

static void on_swept(void *userdata, int r, const struct store_swept *swept)
{
	struct core *core = userdata;

	if (r < 0)
		log_error(NULL, r, "Cannot remove what is old");
	else if (swept->more && !core->stopping)
		timer_set(core->sweep, 0);
	tenant_gc(core);
}

/* What is older than it is kept; 0 would mean that nothing is. */
static usec_t sweep_before(usec_t now, usec_t kept)
{
	usec_t before = usec_sub(now, kept);

	return before ? before : 1;
}

static void on_sweep(struct timer *t, void *userdata)
{
	struct core *core = userdata;
	usec_t now = clock_wall(core->clock);
	const struct store_sweep_spec spec = {
		.now_usec = now,
		.cfiles_before_usec = sweep_before(now, core->set.retention),
		.executions_before_usec =
			sweep_before(now, core->set.executions_kept),
		.containers_before_usec =
			sweep_before(now, core->set.sessions_kept),
		.talks_before_usec = sweep_before(now, core->set.talks_kept),
		.usage_before_usec = sweep_before(now, core->set.usage_kept),
	};

	timer_set_after(t, CORE_SWEEP_USEC);
	budget_enforce(core);
	(void)store_sweep(core->store, &spec, on_swept, core);
}

/* --------------------------------------------------------------------- new */

static void on_stop_deadline(struct timer *t, void *userdata);
static int on_stop_over(sd_event_source *source, void *userdata);

static int core_init_sources(struct core *core)
{
	int r;

	r = gc_init(&core->gc, core->event);
	if (r >= 0)
		r = timer_new(core->event, core->clock, "core-sweep", on_sweep,
			      core, &core->sweep);
	if (r >= 0)
		r = timer_new(core->event, core->guest_clock, "core-stop",
			      on_stop_deadline, core, &core->stop_deadline);
	if (r >= 0)
		r = event_add_defer(core->event, on_stop_over, core,
				    "core-stop-over", &core->stop_over);
	if (r >= 0)
		r = owing_init(core);
	if (r >= 0)
		r = reconcile_init(core);
	if (r >= 0)
		r = pools_init(core);
	if (r >= 0)
		r = notices_init(core);
	if (r >= 0)
		r = drain_init(core);
	if (r >= 0)
		r = definitions_init(core);
	return r;
}

static int core_init_state(struct core *core)
{
	uint64_t next_cid;
	int r;

	r = clock_boot_id(core->boot_id);
	if (r >= 0)
		r = store_counter_get(core->store, STORE_COUNTER_NEXT_CID,
				      &next_cid);
	if (r < 0)
		return r;
	core->next_cid = next_cid > CORE_CID_FIRST ? next_cid : CORE_CID_FIRST;
	admission_init(core);
	r = drain_load(core);
	return r < 0 ? r : core_load(core);
}

static void core_freep(struct core **core)
{
	core_free(*core);
}

int core_new(const struct core_config *config, struct core **ret,
	     struct error *err)
{
	_cleanup_(core_freep) struct core *core = calloc(1, sizeof(*core));
	int r = 0;

	if (!core)
		return error_set_errno(err, -ENOMEM, "Cannot begin");
	TAILQ_INIT(&core->assemblies);
	TAILQ_INIT(&core->creating);
	talks_init(core);
	core->event = sd_event_ref(config->event);
	core->clock = config->clock;
	core->guest_clock = config->guest_clock;
	core->proc = config->proc ? config->proc : "/proc";
	core->settings = config->settings;
	core->store = config->store;
	core->blobs = config->blobs;
	core->vmd = config->vmd;
	core->development = config->development;
	if (!core->guest_clock) {
		r = clock_new(&core->own_clock);
		core->guest_clock = core->own_clock;
	}
	core_settings_read(&core->set, config->settings, config->development);
	if (r >= 0)
		r = core_init_sources(core);
	if (r >= 0)
		r = core_init_state(core);
	if (r < 0)
		return error_set_errno(err, r, "Cannot take up what there is");
	*ret = take_ptr(core);
	return 0;
}

int core_start(struct core *core, void (*ready)(void *userdata), void *userdata,
	       struct error *err)
{
	struct store_batch *batch = store_batch_new(core->store);
	struct tenant *tenant;
	int r;

	/* It is never erased, so what fails here is memory, told by the commit. */
	(void)tenant_make(core, CORE_TENANT_DEFAULT, batch, &tenant, NULL);
	r = store_commit(core->store, batch, on_committed, NULL);
	if (r < 0) {
		store_batch_free(batch);
		return core_store_failed(r, err);
	}
	core->started = true;
	core->reconcile.ready = ready;
	core->reconcile.userdata = userdata;
	timer_set_after(core->sweep, CORE_SWEEP_USEC);
	core_load_start(core);
	drain_start(core);
	reconcile_now(core);
	return 0;
}

/* -------------------------------------------------------------------- stop */

static int on_stop_over(sd_event_source *source, void *userdata)
{
	struct core *core = userdata;
	void (*done)(void *userdata) = core->stop_done;

	(void)source;
	core->stop_done = NULL;
	timer_clear(core->stop_deadline);
	if (done)
		done(core->stop_userdata);
	return 0;
}

static void core_stop_over(struct core *core)
{
	/* Cannot fail for a deferred source; if it did, the deadline ends it. */
	(void)sd_event_source_set_enabled(core->stop_over, SD_EVENT_ONESHOT);
}

static void on_stop_deadline(struct timer *t, void *userdata)
{
	struct core *core = userdata;

	(void)t;
	log_warning(NULL, 0,
		    "%zu VMs are still there, leaving them to the "
		    "next start",
		    core->vms.count);
	core_stop_over(core);
}

void core_vm_is_gone(struct core *core)
{
	if (core->stop_done && core->vms.count == 0)
		core_stop_over(core);
}

static void hang_up(void *object, void *userdata)
{
	(void)userdata;
	vm_hang_up(object);
}

static void core_stop_within(struct core *core, usec_t wait)
{
	timer_set_after(core->stop_deadline, usec_add(wait, CORE_STOP_USEC));
	drain_stop(core, wait);
}

void core_stop(struct core *core, enum core_stop how,
	       void (*done)(void *userdata), void *userdata)
{
	struct error err = ERROR_INIT;

	core->stopping = true;
	core->stop_done = done;
	core->stop_userdata = userdata;
	if (core_refuse(core, &err) < 0)
		pools_refuse(core, &err);
	timer_clear(core->sweep);
	exec_save_starts(core);
	if (how == CORE_STOP_HAND_OVER) {
		core->pools.filling = false;
		map_each(&core->vms, hang_up, NULL);
		core_stop_over(core);
		return;
	}
	pools_fill(core, false);
	core_stop_within(core, core->set.drain);
	core_vm_is_gone(core);
}

void core_stop_at_once(struct core *core)
{
	if (core->stop_done)
		core_stop_within(core, 0);
}

void core_free(struct core *core)
{
	if (!core)
		return;
	pools_refuse(core, NULL);
	/* What was committed calls back into objects that still exist. */
	if (core->store)
		store_flush(core->store);
	parts_free_all(core);
	container_free_all(core);
	exec_free_all(core);
	vm_free_all(core);
	owing_done(core);
	gc_done(&core->gc);
	pools_done(core);
	definitions_done(core);
	talks_done(core);
	reconcile_done(core);
	tenants_done(core);
	notices_done(core);
	drain_done(core);
	timer_free(core->sweep);
	timer_free(core->stop_deadline);
	core->stop_over = sd_event_source_disable_unref(core->stop_over);
	clock_free(core->own_clock);
	sd_event_unref(core->event);
	free(core);
}

void core_on_revoked(struct core *core,
		     void (*revoked)(void *userdata, const char *tenant,
				     const char *key_id),
		     void *userdata)
{
	core->revoked = revoked;
	core->revoked_userdata = userdata;
}

/* ------------------------------------------------------------------- ready */

static void ready_pool(const struct pool *pool, bool *ready,
		       void (*why)(void *userdata, const char *sentence),
		       void *userdata)
{
	char sentence[ERROR_MESSAGE_MAX];

	if (pool->known && !pool->vmd.problem[0])
		return;
	*ready = false;
	(void)snprintf(sentence, sizeof(sentence), "Pool '%s': %s", pool->name,
		       pool->known ? pool->vmd.problem :
				     "the hypervisor process does not have it");
	why(userdata, sentence);
}

bool core_ready(struct core *core,
		void (*why)(void *userdata, const char *sentence),
		void *userdata)
{
	bool ready = true;
	size_t i;

	if (core->stopping) {
		why(userdata, "The service is shutting down");
		return false;
	}
	if (core->drain.on) {
		why(userdata, "The service is being drained");
		return false;
	}
	if (core->reconcile.problem[0]) {
		why(userdata, core->reconcile.problem);
		return false;
	}
	if (!core->reconcile.once) {
		why(userdata, "What runs is being compared with the ledger");
		return false;
	}
	for (i = 0; i < core->pools.count; i++)
		ready_pool(&core->pools.pool[i], &ready, why, userdata);
	return ready;
}
