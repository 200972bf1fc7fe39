/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Group commit: while the db thread writes one group, batches gather; when it
 * is back, all that have gathered go as the next. So a lone batch never waits
 * for company, and under load one fsync serves many.
 *
 * A thread that is idle is woken in the loop's next round and not at once: it
 * would take a processor from whoever is told of the same event, as a client
 * whose answer is ready.
 */

#include <errno.h>

#include "base/cleanup.h"
#include "base/event.h"
#include "store/impl.h"

/* Bounds the time that the first of a group waits for the last. */
#define STORE_GROUP_MAX 256

static void group_next(struct store *store);

static void commit_run(struct job *job)
{
	struct commit_job *c = JOB_OWNER(job, struct commit_job, job);

	writer_commit_group(c->writer, c->group);
}

static void commit_done(struct job *job)
{
	struct commit_job *c = JOB_OWNER(job, struct commit_job, job);
	struct store *store = JOB_OWNER(c, struct store, commit);
	struct store_batch *batch = take_ptr(c->group);
	struct store_batch *next;

	c->busy = false;
	/* Before the callbacks: the thread need not wait for them. */
	group_next(store);
	for (; batch; batch = next) {
		next = batch->next;
		if (batch->done)
			batch->done(batch->userdata, batch->result);
		store_batch_end(batch);
	}
}

static void group_next(struct store *store)
{
	struct commit_job *c = &store->commit;
	struct store_batch **end = &store->first;
	size_t count = 0;

	if (c->busy || !store->first)
		return;
	while (*end && count < STORE_GROUP_MAX) {
		end = &(*end)->next;
		count++;
	}
	c->group = store->first;
	store->first = *end;
	*end = NULL;
	if (!store->first)
		store->last = &store->first;
	store->waiting -= count;

	c->job.run = commit_run;
	c->job.done = commit_done;
	c->writer = store->writer;
	c->busy = true;
	/* Cannot be full: STORE_JOBS_MAX has a place for each kind of job. */
	(void)worker_submit(store->worker, &c->job);
}

static int on_round(sd_event_source *source, void *userdata)
{
	(void)source;
	group_next(userdata);
	return 0;
}

int store_commit_init(struct store *store, sd_event *event)
{
	return event_add_defer(event, on_round, store, "store-commit",
			       &store->round);
}

void store_commit_now(struct store *store)
{
	group_next(store);
}

int store_commit(struct store *store, struct store_batch *batch,
		 store_done_fn *done, void *userdata)
{
	if (!batch)
		return -ENOMEM;
	if (batch->failed < 0)
		return batch->failed;
	if (store->waiting == STORE_WAITING_MAX)
		return -EAGAIN;
	batch->done = done;
	batch->userdata = userdata;
	*store->last = batch;
	store->last = &batch->next;
	store->waiting++;
	/* Cannot fail for a deferred source. */
	(void)sd_event_source_set_enabled(store->round, SD_EVENT_ONESHOT);
	return 0;
}

static void sweep_run(struct job *job)
{
	struct sweep_job *s = JOB_OWNER(job, struct sweep_job, asked.job);

	s->asked.result = writer_sweep(s->asked.writer, &s->spec, &s->swept);
}

static void sweep_done(struct job *job)
{
	struct sweep_job *s = JOB_OWNER(job, struct sweep_job, asked.job);

	s->asked.busy = false;
	s->done(s->asked.userdata, s->asked.result, &s->swept);
}

int store_sweep(struct store *store, const struct store_sweep_spec *spec,
		store_swept_fn *done, void *userdata)
{
	struct sweep_job *s = &store->sweep;

	if (s->asked.busy)
		return -EBUSY;
	*s = (struct sweep_job){ .spec = *spec, .done = done };
	return store_job_begin(store, &s->asked, sweep_run, sweep_done,
			       userdata);
}
