/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUPOLA_STORE_IMPL_H
#define CUPOLA_STORE_IMPL_H

/* The store itself, shared by store*.c. */

#include <sqlite3.h>

#include "base/worker.h"
#include "store/batch.h"
#include "store/store_backup.h"
#include "store/store_usage.h"
#include "store/writer.h"

#define STORE_INSTALLATION_SIZE 33

enum store_read {
	READ_TENANT,
	READ_KEY,
	READ_KEY_BY_HASH,
	READ_FILE,
	READ_UPLOAD,
	READ_PART,
	READ_CONTAINER,
	READ_ANY_CONTAINER,
	READ_CFILE,
	READ_ANY_CFILE,
	READ_CFILE_BY_PATH,
	READ_CFILE_BY_NORMAL_PATH,
	READ_CFILE_GIVEN,
	READ_EXECUTION,
	READ_ANSWER,
	READ_DEFINITION,
	READ_DEFINITION_VERSION,
	READ_DEFINITION_VERSION_NEWEST,
	READ_CONVERSATION,
	READ_CONVERSATION_ITEM,
	READ_CONVERSATION_CONTAINER,
	READ_RESPONSE,
	READ_RECORD,
	READ_COUNTER,
	READ_TOTALS,
	READ_ASSIGNED,
	READ_DEFINITION_VERSION_COUNT,
	READ_ITEM,
	READ_RESPONSE_HEAD,
	READ_NEXT_CONVERSATION_ITEM,
	READ_NEXT_RESPONSE_INPUT,
	READ_NEXT_RESPONSE_OUTPUT,

	READ_COUNT,
};

enum store_list {
	LIST_KEYS_OF_ALL,
	LIST_KEYS,
	LIST_FILES,
	LIST_FILES_BY_PURPOSE,
	LIST_CONTAINERS_OF_ALL,
	LIST_CONTAINERS_OF_ALL_BY_NAME,
	LIST_CONTAINERS,
	LIST_CONTAINERS_BY_NAME,
	LIST_CONTAINERS_DELETED_BY_NAME,
	LIST_CFILES,
	LIST_CFILES_OF_ALL,
	LIST_EXECUTIONS,
	LIST_LIVE_CONTAINERS,
	LIST_OPEN_EXECUTIONS,
	LIST_VMS,
	LIST_TENANTS,
	LIST_DEFINITIONS,
	LIST_DEFINITION_VERSIONS,
	LIST_DEFINITION_VERSIONS_DRAFTS_TOO,
	LIST_CONVERSATION_ITEMS,
	LIST_RESPONSE_INPUTS,
	LIST_RESPONSE_OUTPUTS,
	LIST_CONVERSATION_CONTAINERS,
	LIST_OPEN_RESPONSES,

	LIST_COUNT,
};

/**
 * struct commit_job - The group that the db thread has now
 * @busy:	Handed over and not back yet
 */
struct commit_job {
	struct job job;
	struct writer *writer;
	struct store_batch *group;
	bool busy;
};

/**
 * struct asked_job - Work that somebody asked for, of each kind one at a time
 *
 * The thread's from store_job_begin() until its done() is called on the loop.
 */
struct asked_job {
	struct job job;
	struct writer *writer;
	int result;
	void *userdata;
	bool busy;
};

struct sweep_job {
	struct asked_job asked;
	struct store_sweep_spec spec;
	struct store_swept swept;
	store_swept_fn *done;
};

struct collect_job {
	struct job job;
	struct writer *writer;
	int result;
};

struct sums_job {
	struct asked_job asked;
	struct store_sums_spec spec;
	struct store_sum *sums;
	size_t count;
	store_sums_fn *done;
};

/** struct backup_job - @more: only a part was copied, there is another round */
struct backup_job {
	struct asked_job asked;
	const char *path;
	sqlite3 *to;
	sqlite3_backup *backup;
	bool more;
	int fd;
	store_backup_fn *done;
};

struct store {
	struct blobs *blobs;
	struct worker *worker;
	struct writer *writer;
	char installation_id[STORE_INSTALLATION_SIZE];

	/* Batches that wait, oldest first. */
	struct store_batch *first;
	struct store_batch **last;
	size_t waiting;
	sd_event_source *round; /* hands them over */
	struct commit_job commit;
	struct sweep_job sweep;
	struct collect_job collect;
	struct sums_job sums;
	struct backup_job copy;
	char *backup_path;

	/* The loop's own connection. */
	sqlite3 *db;
	sqlite3_stmt *reads[READ_COUNT];
	sqlite3_stmt *lists[LIST_COUNT][2]; /* descending, ascending */
	sqlite3_stmt *cursors[LIST_COUNT];
};

/** store_commit_init() - Be able to commit; Return: 0 or a negative errno */
int store_commit_init(struct store *store, sd_event *event);

/** store_commit_now() - Hand over what waits, if nothing is under way */
void store_commit_now(struct store *store);

/**
 * store_job_begin() - Have the thread do a job that is not busy
 * @run:	On the thread
 * @done:	On the loop; clears @job->busy
 */
int store_job_begin(struct store *store, struct asked_job *job,
		    void (*run)(struct job *job), void (*done)(struct job *job),
		    void *userdata);

/** store_read_prepare() - Compile the statements of store_read.c */
int store_read_prepare(struct store *store);

/**
 * store_read_texts() - Read the row that up to three texts name
 *
 * NULL ends them. Only a row without long text: that is the statement's.
 */
int store_read_texts(struct store *store, enum store_read which,
		     const char *one, const char *two, const char *three,
		     void *ret);

/** store_read_long() - The same, with the long text copied to a buffer */
int store_read_long(struct store *store, enum store_read which,
		    const char *one, const char *two, const char *three,
		    struct buf *buf, void *ret);

/** store_read_bind() - Bind up to three texts */
int store_read_bind(struct store *store, enum store_read which,
		    const char *one, const char *two, const char *three);

/** store_list_prepare() - Compile the statements of store_list.c */
int store_list_prepare(struct store *store);

#endif
