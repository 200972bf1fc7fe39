/* SPDX-License-Identifier: Apache-2.0 */
#include "core/drain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json_write.h"
#include "base/log.h"
#include "base/timer.h"
#include "core/container.h"
#include "core/core_admin.h"
#include "core/core_priv.h"
#include "core/notice.h"

/* Of its answer, whose fields are few and short. */
enum { DRAIN_JSON_MAX = 1024 };

static const char *drain_state(const struct core *core)
{
	if (!core->drain.on)
		return "off";
	return core->containers.count > 0 ? "draining" : "drained";
}

static void tell(struct core *core)
{
	notice_drain(core, drain_state(core), core->containers.count);
	log_notice(NULL, "Drain: %s, %zu sessions live", drain_state(core),
		   core->containers.count);
}

static void end_session(void *object, void *userdata)
{
	(void)userdata;
	container_end(object, END_DRAINED);
}

static void on_deadline(struct timer *t, void *userdata)
{
	struct core *core = userdata;

	(void)t;
	map_each(&core->containers, end_session, NULL);
}

int drain_init(struct core *core)
{
	core->drain.deadline = USEC_INFINITY;
	return timer_new(core->event, core->clock, "drain", on_deadline, core,
			 &core->drain.timer);
}

void drain_done(struct core *core)
{
	timer_free(core->drain.timer);
}

int drain_load(struct core *core)
{
	struct drain *d = &core->drain;
	uint64_t since, deadline;
	int r;

	r = store_counter_get(core->store, STORE_COUNTER_DRAIN_SINCE, &since);
	if (r >= 0)
		r = store_counter_get(core->store, STORE_COUNTER_DRAIN_DEADLINE,
				      &deadline);
	if (r < 0 || since == 0)
		return r;
	d->on = true;
	d->since_usec = since;
	if (deadline != 0)
		d->deadline = usec_add(clock_boot(core->clock),
				       usec_sub(deadline,
						clock_wall(core->clock)));
	return 0;
}

void drain_write(const struct core *core, struct json_writer *w,
		 const char *key)
{
	const struct drain *d = &core->drain;
	usec_t now = clock_boot(core->clock);

	json_write_object(w, key);
	json_write_string(w, "state", drain_state(core));
	json_write_uint(w, "sessions", core->containers.count);
	if (d->on)
		json_write_uint(w, "since", d->since_usec / USEC_PER_SEC);
	if (d->on && d->deadline != USEC_INFINITY)
		json_write_uint(w, "deadline_at",
				usec_add(clock_wall(core->clock),
					 usec_sub(d->deadline, now)) /
					USEC_PER_SEC);
	json_write_close(w);
}

/* ------------------------------------------------------------- the operator */

struct answer {
	struct core *core;
	json_fn done;
	void *userdata;
};

static int answer_write(const struct core *core, struct buf *json,
			struct error *err)
{
	struct json_writer w = JSON_WRITER_INIT(json);
	int r;

	drain_write(core, &w, NULL);
	r = json_write_end(&w);
	return r < 0 ? error_set_errno(err, r, "Cannot tell of the drain") : 0;
}

static void on_kept(void *userdata, int r)
{
	_cleanup_(buf_done) struct buf json = BUF_INIT(DRAIN_JSON_MAX);
	struct answer *a = userdata;
	struct error err = ERROR_INIT;

	if (r < 0) {
		r = core_store_failed(r, &err);
		error_wrap(&err, r, "It holds until the daemon ends, but not "
				    "after that");
	} else {
		r = answer_write(a->core, &json, &err);
	}
	a->done(a->userdata, r < 0 ? NULL : buf_str(&json), json.length,
		r < 0 ? &err : NULL);
	free(a);
}

/* The deadline on the wall clock, since the boot clock may not be the next's. */
static struct store_batch *state_batch(const struct core *core)
{
	struct store_batch *batch = store_batch_new(core->store);
	const struct drain *d = &core->drain;
	usec_t left = usec_sub(d->deadline, clock_boot(core->clock));
	usec_t deadline = 0;

	if (d->on && d->deadline != USEC_INFINITY)
		deadline = usec_add(clock_wall(core->clock), left);
	(void)store_batch_set_counter(batch, STORE_COUNTER_DRAIN_SINCE,
				      d->on ? d->since_usec : 0);
	(void)store_batch_set_counter(batch, STORE_COUNTER_DRAIN_DEADLINE,
				      deadline);
	return batch;
}

static int drain_keep(struct core *core, struct answer *a, struct error *err)
{
	struct store_batch *batch = state_batch(core);
	int r = store_commit(core->store, batch, on_kept, a);

	if (r >= 0)
		return 0;
	store_batch_free(batch);
	return core_store_failed(r, err);
}

static void drain_begin(struct core *core, usec_t wait)
{
	struct drain *d = &core->drain;
	struct error err = ERROR_INIT;

	if (!d->on)
		d->since_usec = clock_wall(core->clock);
	d->on = true;
	d->deadline = usec_add(clock_boot(core->clock), wait);
	timer_set(d->timer, d->deadline);
	(void)core_refuse(core, &err);
	pools_refuse(core, &err);
	pools_fill(core, false);
	d->told = core->containers.count == 0;
	tell(core);
}

static void drain_undo(struct core *core)
{
	struct drain *d = &core->drain;

	if (!d->on)
		return;
	d->on = false;
	timer_clear(d->timer);
	pools_fill(core, core->reconcile.once && !core->stopping);
	tell(core);
}

/* @wait: NULL to undo it */
static int drain_change(struct core *core, const usec_t *wait,
			const struct answer *answer, struct error *err)
{
	_cleanup_free_ struct answer *a = NULL;
	int r = core->stopping ? core_refuse(core, err) : 0;

	if (r < 0)
		return r;
	a = malloc(sizeof(*a));
	if (!a)
		return error_set_errno(err, -ENOMEM, "Cannot change the drain");
	*a = *answer;
	if (wait)
		drain_begin(core, *wait);
	else
		drain_undo(core);
	r = drain_keep(core, a, err);
	if (r >= 0)
		(void)take_ptr(a);
	return r;
}

int core_admin_drain(struct core *core, usec_t wait, json_fn done,
		     void *userdata, struct error *err)
{
	const struct answer a = { core, done, userdata };

	return drain_change(core, &wait, &a, err);
}

int core_admin_undrain(struct core *core, json_fn done, void *userdata,
		       struct error *err)
{
	const struct answer a = { core, done, userdata };

	return drain_change(core, NULL, &a, err);
}

int core_admin_drain_get(struct core *core, struct buf *ret_json,
			 struct error *err)
{
	return answer_write(core, ret_json, err);
}

void drain_start(struct core *core)
{
	struct drain *d = &core->drain;

	if (!d->on)
		return;
	d->told = core->containers.count == 0;
	timer_set(d->timer, d->deadline);
	tell(core);
}

void drain_session_over(struct core *core)
{
	struct drain *d = &core->drain;

	if (!d->on || d->told || core->containers.count > 0)
		return;
	d->told = true;
	tell(core);
}

/* ------------------------------------------------------ the end of the daemon */

static void end_idle(void *object, void *userdata)
{
	(void)userdata;
	drain_work_over(object);
}

void drain_stop(struct core *core, usec_t wait)
{
	timer_set(core->drain.timer,
		  usec_add(clock_boot(core->clock), wait));
	if (wait == 0)
		on_deadline(core->drain.timer, core);
	else
		map_each(&core->containers, end_idle, NULL);
}

void drain_work_over(struct container *c)
{
	if (c->core->stopping && !c->running && c->queued == 0)
		container_end(c, END_DRAINED);
}
