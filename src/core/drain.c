/* SPDX-License-Identifier: Apache-2.0 */
#include "core/drain.h"

#include <stdio.h>

#include "base/json_write.h"
#include "base/log.h"
#include "base/timer.h"
#include "core/container.h"
#include "core/core_admin.h"
#include "core/core_priv.h"
#include "core/notice.h"

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

static int drain_answer(struct core *core, struct buf *ret_json,
			struct error *err)
{
	struct json_writer w = JSON_WRITER_INIT(ret_json);
	int r;

	drain_write(core, &w, NULL);
	r = json_write_end(&w);
	return r < 0 ? error_set_errno(err, r, "Cannot tell of the drain") : 0;
}

int core_admin_drain(struct core *core, usec_t wait, struct buf *ret_json,
		     struct error *err)
{
	int r = core->stopping ? core_refuse(core, err) : 0;

	if (r < 0)
		return r;
	drain_begin(core, wait);
	return drain_answer(core, ret_json, err);
}

int core_admin_undrain(struct core *core, struct buf *ret_json,
		       struct error *err)
{
	int r = core->stopping ? core_refuse(core, err) : 0;

	if (r < 0)
		return r;
	drain_undo(core);
	return drain_answer(core, ret_json, err);
}

int core_admin_drain_get(struct core *core, struct buf *ret_json,
			 struct error *err)
{
	return drain_answer(core, ret_json, err);
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
