/* SPDX-License-Identifier: Apache-2.0 */
#include "core/pull_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/timer.h"
#include "core/container.h"
#include "core/guest_xfer.h"
#include "core/vm.h"

/* A connection that could not be made, as while vmd starts anew, is tried
 * again this often and this many times. */
#define PULL_RETRY_USEC (250 * USEC_PER_MSEC)
#define PULL_RETRIES 80

/* A file that did not hold still while it was read is read this often. */
#define PULL_CHANGED_TRIES 4

static void pull_next(struct pull *p);
static void pull_guest_failed(struct pull *p, const struct xfer_end *end);

static void on_retry(struct timer *t, void *userdata)
{
	(void)t;
	pull_next(userdata);
}

static void on_deadline(struct timer *t, void *userdata)
{
	struct error err = ERROR_INIT;
	const struct xfer_end end = { .result = XFER_STALLED, .err = &err };

	(void)t;
	error_set(&err, ERR_GUEST, "the guest does not get done with its files");
	pull_guest_failed(userdata, &end);
}

static void pull_cancel(struct pull *p)
{
	size_t i;

	for (i = 0; i < p->count; i++)
		guest_xfer_cancel(take_ptr(p->entries[i].xfer));
	p->writing = 0;
	p->over = NULL;
	timer_clear(p->retry);
	timer_clear(p->deadline);
}

static void pull_free_now(void *object)
{
	struct pull *p = object;

	pull_restart(p);
	free(p->entries);
	timer_free(p->retry);
	timer_free(p->deadline);
	store_batch_free(p->batch);
	free(p);
}

int pull_new(struct container *c, const char *exec_id,
	     void (*done)(void *userdata), void *userdata, struct pull **ret)
{
	struct pull *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return -ENOMEM;
	p->container = c;
	p->gc = &c->core->gc;
	p->done = done;
	p->userdata = userdata;
	if (exec_id)
		strncpy(p->exec_id, exec_id, sizeof(p->exec_id) - 1);
	r = timer_new(c->core->event, c->core->guest_clock, "pull-retry",
		      on_retry, p, &p->retry);
	if (r >= 0)
		r = timer_new(c->core->event, c->core->guest_clock,
			      "pull-deadline", on_deadline, p, &p->deadline);
	if (r < 0) {
		pull_free_now(p);
		return r;
	}
	*ret = p;
	return 0;
}

void pull_free(struct pull *p)
{
	if (!p)
		return;
	p->done = NULL;
	pull_cancel(p);
	gc_bury(p->gc, &p->buried, pull_free_now, p);
}

static void pull_skip(struct pull_entry *entry, enum skip_reason reason,
		      uint64_t limit_bytes)
{
	entry->skipped = true;
	entry->reason = reason;
	entry->limit_bytes = limit_bytes;
}

static int pull_keep(struct pull_entry *entry, const struct xfer_end *end)
{
	struct pull *p = entry->pull;
	struct container *c = p->container;
	struct store_cfile row = {
		.bytes = end->info->bytes,
		.created_usec = clock_wall(c->core->clock),
		.changed_during_read = end->grown,
	};
	struct cfile_view *view = &entry->file.view;
	int r;

	r = id_new(ID_CONTAINER_FILE, row.id);
	if (r < 0)
		return r;
	strcpy(row.container_id, c->id);
	strcpy(row.tenant, c->tenant->id);
	strcpy(row.path, entry->path.text);
	if (entry->path.b64)
		strcpy(row.path_b64, entry->path.b64);
	strcpy(row.source, "assistant");
	strcpy(row.media_type, end->info->media_type);
	strcpy(row.exec_id, p->exec_id);
	memcpy(row.sha256, end->info->sha256, sizeof(row.sha256));
	r = store_batch_put_cfile(p->batch, &row);
	if (r < 0)
		return r;

	entry->file.path = entry->path;
	entry->path = (struct data_path){ NULL, NULL };
	strcpy(view->id, row.id);
	strcpy(view->container, c->id);
	view->created_at = (int64_t)(row.created_usec / USEC_PER_SEC);
	view->bytes = row.bytes;
	view->path = entry->file.path.text;
	view->path_b64 = entry->file.path.b64;
	view->changed_during_read = row.changed_during_read;
	memcpy(view->sha256, row.sha256, sizeof(view->sha256));
	entry->fetched = true;
	return 0;
}

/* A file that is gone again, or was replaced by something else, is no fault. */
static enum skip_reason pull_skip_reason(const struct xfer_end *end)
{
	if (end->result == XFER_FILE)
		return skip_reason_of_status(end->file_status);
	if (end->result == XFER_STORAGE && end->r == -ENOSPC)
		return SKIP_HOST_STORAGE_FULL;
	return SKIP_FAILED;
}

static void pull_guest_failed(struct pull *p, const struct xfer_end *end)
{
	enum end_reason reason = end->result == XFER_BROKEN ?
					 END_GUEST_PROTOCOL_ERROR :
					 END_GUEST_UNRESPONSIVE;

	/* This ends the session, and with it whoever waits for this. */
	if (p->container->vm)
		vm_fail(p->container->vm, reason, end->err);
}

/* ------------------------------------------------------------------ limits */

/**
 * struct pull_limit - What the next entry is held to
 * @reason:	Why a larger file is skipped
 * @bytes:	What a client is told as the limit
 * @left:	What of that is still to be had
 */
struct pull_limit {
	enum skip_reason reason;
	uint64_t bytes;
	uint64_t left;
};

#define PULL_LIMIT_COUNT 3

static uint64_t pull_all_max(const struct pull *p)
{
	uint64_t max = p->container->pool->max_artifact_bytes;

	return max > CORE_ARTIFACTS_MAX ? max : CORE_ARTIFACTS_MAX;
}

static void pull_limits(const struct pull *p,
			struct pull_limit ret[static PULL_LIMIT_COUNT])
{
	uint64_t max = p->container->pool->max_artifact_bytes;
	uint64_t all = pull_all_max(p);

	ret[0] = (struct pull_limit){ SKIP_TOO_LARGE, max, max };
	ret[1] = (struct pull_limit){ SKIP_TOO_MUCH, all,
				      usec_sub(all, p->fetched_bytes) };
	ret[2] = (struct pull_limit){
		SKIP_QUOTA, p->room_bytes,
		usec_sub(p->room_bytes, p->fetched_bytes)
	};
}

/* What the next entry may have, whatever length it was told with. */
static uint64_t pull_max(const struct pull *p)
{
	struct pull_limit limits[PULL_LIMIT_COUNT];
	uint64_t max = UINT64_MAX;
	size_t i;

	pull_limits(p, limits);
	for (i = 0; i < PULL_LIMIT_COUNT; i++)
		if (limits[i].left < max)
			max = limits[i].left;
	return max;
}

/* Return: whether the entry was skipped, because of its length */
static bool pull_skip_large(struct pull_entry *entry)
{
	struct pull_limit limits[PULL_LIMIT_COUNT];
	size_t i;

	pull_limits(entry->pull, limits);
	for (i = 0; i < PULL_LIMIT_COUNT; i++) {
		if (entry->bytes <= limits[i].left)
			continue;
		pull_skip(entry, limits[i].reason, limits[i].bytes);
		return true;
	}
	return false;
}

/* ------------------------------------------------------------------- fetch */

/* Return: whether to ask for the entry again, as long as it is now */
static bool pull_again(struct pull_entry *entry, const struct xfer_end *end)
{
	if (end->result != XFER_FILE || end->file_status != WIRE_FILE_CHANGED)
		return false;
	entry->bytes = end->bytes;
	return ++entry->changed < PULL_CHANGED_TRIES;
}

/* The guest has done its part of it, and can go on. */
static void on_given(void *userdata, uint64_t bytes)
{
	struct pull_entry *entry = userdata;
	struct pull *p = entry->pull;

	entry->given = true;
	p->fetched_bytes += bytes;
	p->writing++;
	p->over = entry->xfer;
	p->next++;
	pull_next(p);
}

static void pull_lost(struct pull *p, const struct xfer_end *end)
{
	if (++p->retries < PULL_RETRIES)
		timer_set_after(p->retry, PULL_RETRY_USEC);
	else
		pull_guest_failed(p, end);
}

/* Return: whether the pull goes on */
static bool pull_take(struct pull_entry *entry, struct xfer_end *end)
{
	int r;

	switch (end->result) {
	case XFER_OK:
		r = pull_keep(entry, end);
		blob_writer_free(end->writer);
		if (r < 0)
			pull_skip(entry, SKIP_FAILED, 0);
		return true;
	case XFER_TOO_LARGE:
		/* It grew since its length was told. */
		entry->bytes = end->bytes;
		if (!pull_skip_large(entry))
			pull_skip(entry, SKIP_FAILED, 0);
		return true;
	case XFER_FILE:
	case XFER_STORAGE:
		if (!pull_again(entry, end))
			pull_skip(entry, pull_skip_reason(end), 0);
		return true;
	case XFER_LOST:
		pull_lost(entry->pull, end);
		return false;
	case XFER_BROKEN:
	case XFER_STALLED:
		pull_guest_failed(entry->pull, end);
		return false;
	}
	return false;
}

static void on_fetched(void *userdata, struct xfer_end *end)
{
	struct pull_entry *entry = userdata;
	struct guest_xfer *xfer = take_ptr(entry->xfer);
	struct pull *p = entry->pull;

	if (entry->given)
		p->writing--;
	if (pull_take(entry, end)) {
		if (entry->given && entry->skipped)
			p->fetched_bytes -= end->bytes;
		pull_next(p);
	}
	/* Its connection goes with it, unless it was taken just now. */
	if (p->over == xfer)
		p->over = NULL;
}

static int pull_fetch(struct pull *p, struct pull_entry *entry)
{
	const struct data_path *name = &entry->path;
	struct container *c = p->container;
	struct guest_xfer_config config;
	char path[WIRE_PATH_MAX + 1];
	int r;

	if (!c->vm)
		return -ENOTCONN;
	r = data_path_to_guest(name->text, name->b64, path);
	if (r < 0)
		return r;
	config = vm_xfer_config(c->vm, path, on_fetched, entry);
	config.given = on_given;
	return guest_xfer_get(&config, pull_max(p), take_ptr(p->over),
			      &entry->xfer);
}

/* Whether one more may come while others are on their way to the disk. */
static bool pull_may_fetch(const struct pull *p)
{
	if (p->writing == 0)
		return true;
	return p->writing < PULL_WRITING_MAX &&
	       !blob_writers_are_many(p->container->core->blobs);
}

/* A try that was to be repeated may have been, when another file was stored. */
static void pull_finish(struct pull *p)
{
	timer_clear(p->retry);
	timer_clear(p->deadline);
	if (p->done)
		p->done(p->userdata);
}

static void pull_next(struct pull *p)
{
	struct xfer_end lost = { .result = XFER_LOST };
	struct pull_entry *entry = NULL;

	while (p->next < p->count) {
		entry = &p->entries[p->next];
		if (entry->xfer)
			return;
		if (!entry->skipped && !pull_skip_large(entry))
			break;
		p->next++;
	}
	if (p->next >= p->count) {
		if (p->writing == 0)
			pull_finish(p);
		return;
	}
	if (!pull_may_fetch(p))
		return;
	lost.r = pull_fetch(p, entry);
	if (lost.r < 0)
		pull_lost(p, &lost);
}

static uint64_t pull_room(const struct container *c)
{
	struct store_totals totals;
	uint64_t quota = tenant_limits_of(c->core, c->tenant).max_bytes;

	if (quota == 0)
		return UINT64_MAX;
	if (store_tenant_totals(c->core->store, c->tenant->id, &totals) < 0)
		return 0;
	return usec_sub(quota, store_totals_bytes(&totals));
}

void pull_start(struct pull *p)
{
	p->batch = store_batch_new(p->container->core->store);
	p->room_bytes = p->count > 0 ? pull_room(p->container) : 0;
	/* Not now: whoever starts a pull is not prepared for its end. */
	timer_set(p->retry, 0);
	timer_set_after(p->deadline,
			PULL_BASE_USEC + pull_all_max(p) / PULL_BYTES_PER_SEC *
						 USEC_PER_SEC);
}

void pull_give_up(struct pull *p)
{
	size_t i;

	pull_cancel(p);
	for (i = 0; i < p->count; i++)
		if (!p->entries[i].fetched && !p->entries[i].skipped)
			pull_skip(&p->entries[i], SKIP_SESSION_ENDED, 0);
	p->next = p->count;
}

struct store_batch *pull_batch(struct pull *p)
{
	return take_ptr(p->batch);
}
