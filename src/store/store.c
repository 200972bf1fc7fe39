/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "store/db.h"
#include "store/impl.h"

/* A group, a sweep, the collection at the start, a report and a backup. */
#define STORE_JOBS_MAX 5

int store_job_begin(struct store *store, struct asked_job *job,
		    void (*run)(struct job *job), void (*done)(struct job *job),
		    void *userdata)
{
	int r;

	job->job.run = run;
	job->job.done = done;
	job->writer = store->writer;
	job->userdata = userdata;
	r = worker_submit(store->worker, &job->job);
	job->busy = r >= 0;
	return r;
}

static void collect_run(struct job *job)
{
	struct collect_job *c = JOB_OWNER(job, struct collect_job, job);

	c->result = writer_collect(c->writer);
}

static void collect_done(struct job *job)
{
	struct collect_job *c = JOB_OWNER(job, struct collect_job, job);

	if (c->result < 0)
		log_warning(NULL, c->result,
			    "Cannot look for blobs without rows, ignoring");
}

static int read_installation_id(struct store *store)
{
	_cleanup_(db_finalizep) sqlite3_stmt *statement = NULL;
	const void *value;
	int r;

	r = db_prepare(store->db,
		       "SELECT value FROM settings"
		       " WHERE name = 'installation_id'",
		       &statement);
	if (r < 0)
		return r;
	r = db_step(statement);
	if (r < 0)
		return r;
	value = r > 0 ? sqlite3_column_text(statement, 0) : NULL;
	if (!value || strlen(value) >= sizeof(store->installation_id))
		return -EIO;
	memcpy(store->installation_id, value, strlen(value) + 1);
	return 0;
}

static int open_reader(struct store *store, const char *path)
{
	int r;

	r = db_open(path, true, &store->db);
	if (r >= 0)
		r = read_installation_id(store);
	if (r >= 0)
		r = store_read_prepare(store);
	if (r >= 0)
		r = store_list_prepare(store);
	return r;
}

static void store_freep(struct store **store)
{
	store_free(*store);
}

int store_open(const struct store_config *config, struct store **ret,
	       struct error *err)
{
	_cleanup_(store_freep) struct store *store = calloc(1, sizeof(*store));
	int r;

	if (!store)
		return error_set_errno(err, -ENOMEM, "Cannot open the store");
	store->blobs = config->blobs;
	store->last = &store->first;
	if (asprintf(&store->backup_path, "%s.backup", config->path) < 0)
		return error_set_errno(err, -ENOMEM, "Cannot open the store");
	r = writer_open(config->path, config->blobs, &store->writer, err);
	if (r < 0)
		return r;
	r = open_reader(store, config->path);
	if (r < 0)
		return error_set_errno(err, r, "Cannot read the database");
	r = worker_new(config->event, "db", 1, STORE_JOBS_MAX, &store->worker);
	if (r >= 0)
		r = store_commit_init(store, config->event);
	if (r < 0)
		return error_set_errno(err, r, "Cannot start the db worker");

	store->collect.job.run = collect_run;
	store->collect.job.done = collect_done;
	store->collect.writer = store->writer;
	r = worker_submit(store->worker, &store->collect.job);
	if (r < 0)
		return error_set_errno(err, r, "Cannot start the db worker");
	*ret = take_ptr(store);
	return 0;
}

void store_flush(struct store *store)
{
	/* What is told of the end of one may commit another. */
	do {
		store_commit_now(store);
		worker_drain(store->worker);
	} while (store->first);
}

void store_free(struct store *store)
{
	size_t i;

	if (!store)
		return;
	if (store->worker)
		store_flush(store);
	worker_free(store->worker);
	store->round = sd_event_source_disable_unref(store->round);
	for (i = 0; i < READ_COUNT; i++)
		db_finalizep(&store->reads[i]);
	for (i = 0; i < LIST_COUNT; i++) {
		db_finalizep(&store->lists[i][0]);
		db_finalizep(&store->lists[i][1]);
		db_finalizep(&store->cursors[i]);
	}
	db_closep(&store->db);
	/* Last, so that the write-ahead log is folded in and removed. */
	writer_free(store->writer);
	free(store->backup_path);
	free(store);
}

const char *store_installation_id(struct store *store)
{
	return store->installation_id;
}
