/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "base/cleanup.h"
#include "base/failpoint.h"
#include "core/container.h"
#include "core/pull.h"
#include "core/vm.h"

/*
 * The last files of a session that ends at a limit or when the daemon is
 * drained: QUIESCE syncs the guest and lists what changed since the last
 * execution, through memory maps for example. What cannot be fetched within
 * CONTAINER_HARVEST_USEC of the end's beginning is lost; what was, is kept.
 */

static void on_harvest_saved(void *userdata, int r)
{
	(void)userdata;
	if (r < 0)
		log_error(NULL, r, "Cannot keep the last files of a session");
}

static void count_file(void *userdata, struct pulled *file)
{
	struct container *c = userdata;

	c->usage.bytes_out += file->view.bytes;
}

static void count_skipped(void *userdata, const struct exec_skipped *skipped)
{
	uint64_t *count = userdata;

	*count += skipped->count > 0 ? skipped->count : 1;
}

/* Nobody asks what became of these: the log has to say it. */
static void tell_skipped(struct container *c)
{
	uint64_t count = 0;

	pull_each_skipped(c->harvest, count_skipped, &count);
	if (count > 0)
		log_warning(&c->scope, 0,
			    "%llu of the session's last files are not kept",
			    (unsigned long long)count);
}

/* What is here by now, be it all of it or not. */
static void harvest_keep(struct container *c)
{
	struct store_batch *batch;

	pull_give_up(c->harvest);
	tell_skipped(c);
	batch = pull_batch(c->harvest);
	if (!batch)
		return; /* the guest has not told all of the list */
	pull_each(c->harvest, count_file, c);
	(void)failpoint("harvest-before-commit");
	/* The end of the session is committed later, so this is seen first. */
	core_commit_then(c->core, batch, on_harvest_saved, NULL);
}

static void on_pulled(void *userdata)
{
	/* Which stops the harvest, and so keeps the files. */
	container_destroy_vm(userdata);
}

bool harvest_start(struct container *c)
{
	int r;

	if (c->harvest)
		return true;
	if (!vm_linked(c->vm))
		return false;
	r = pull_new(c, NULL, on_pulled, c, &c->harvest);
	if (r >= 0) {
		c->vm->quiesce_call = vm_request(c->vm);
		r = guest_link_quiesce(c->vm->link, c->vm->quiesce_call);
	}
	if (r < 0) {
		log_warning(&c->scope, r, "Cannot ask for the last files");
		harvest_stop(c);
		return false;
	}
	return true;
}

int harvest_frame(struct container *c, const struct frame *f, struct error *err)
{
	struct message_quiesced quiesced;
	struct message_changed changed;
	int r;

	if (!c->harvest)
		return 0;
	if (f->type == WIRE_CHANGED) {
		r = message_decode_changed(f, &changed);
		return r < 0 ? r : pull_add(c->harvest, &changed, err);
	}
	if (f->type != WIRE_QUIESCED)
		return error_set(err, ERR_GUEST,
				 "the guest answered QUIESCE with 0x%04x",
				 f->type);
	r = message_decode_quiesced(f, &quiesced);
	if (r >= 0)
		r = pull_check_count(c->harvest, quiesced.changed, err);
	if (r < 0)
		return r;
	c->vm->quiesce_call = 0;
	pull_add_unlisted(c->harvest, quiesced.unlisted);
	(void)failpoint("harvest-listed");
	pull_start(c->harvest);
	return 0;
}

static void count_harvest(struct container *c)
{
	usec_t now = clock_boot(c->core->guest_clock);

	if (c->harvest_since)
		pool_metrics_harvest(&c->pool->metrics, HARVEST_SESSION,
				     usec_sub(now, c->harvest_since));
	c->harvest_since = 0;
}

void harvest_stop(struct container *c)
{
	timer_clear(c->harvest_deadline);
	count_harvest(c);
	if (c->vm)
		c->vm->quiesce_call = 0;
	if (!c->harvest)
		return;
	harvest_keep(c);
	/* Maybe from within its own callback: it frees itself when it can. */
	pull_free(take_ptr(c->harvest));
}
