/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUPOLA_STORE_STORE_H
#define CUPOLA_STORE_STORE_H

/*
 * Everything that must survive a crash: a SQLite database beside the blobs.
 *
 * Writes are batches. A batch is filled on the loop, handed over with
 * store_commit(), and carried out by the "db" worker in one piece or not at
 * all; its done() is called on the loop once it is on the disk. Batches are
 * carried out in the order they were committed, several per transaction when
 * they wait, and one that fails does so alone.
 *
 * Reads happen on the loop, through a second, read-only connection, and see
 * what has been committed: a batch is visible when its done() is called, and
 * not for sure before. Every read is bounded by a limit or concerns one id.
 * With 10,000 containers and 100,000 files a get takes 5 to 10 us, a page of 100
 * some 100 us, the longest page of 10,000 about 4 ms, the record of an
 * execution with 2 MiB of output 0.4 ms (test_store_speed prints them).
 *
 * The tenant is part of every question that a client can cause, so that
 * another tenant's id is answered as one that does not exist: -ENOENT.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "base/buf.h"
#include "base/error.h"
#include "store/blob.h"
#include "store/rows.h"

struct store;
struct store_batch;

/* Batches that may wait for the disk; more are refused. */
#define STORE_WAITING_MAX 4096

/* Rows a batch may hold. */
#define STORE_BATCH_MAX 4096

/* Rows of one page; a larger limit is cut to it. */
#define STORE_PAGE_MAX 10000

/* How long an Idempotency-Key is remembered. */
#define STORE_IDEMPOTENCY_USEC (24 * 3600 * USEC_PER_SEC)

/* ------------------------------------------------------------------ life */

/**
 * struct store_config - Where the database is
 * @event:	The loop; borrowed
 * @path:	DIR/db.sqlite, made if it is missing
 * @blobs:	Where the contents are; borrowed, freed after the store
 */
struct store_config {
	sd_event *event;
	const char *path;
	struct blobs *blobs;
};

/**
 * store_open() - Open the database, bringing an older one up to date
 *
 * Refuses a database that a newer Cupola wrote, and a file that is none of
 * ours. Blobs that no row names are removed by the worker afterwards.
 */
int store_open(const struct store_config *config, struct store **ret,
	       struct error *err);

/**
 * store_flush() - Wait until all that was committed is on the disk
 *
 * Blocks; for shutdown only. The done() of each batch has been called when it
 * returns.
 */
void store_flush(struct store *store);

/** store_free() - Flush and close; takes NULL */
void store_free(struct store *store);

/** store_installation_id() - Drawn when the database was made; 32 hex digits */
const char *store_installation_id(struct store *store);

/* ---------------------------------------------------------------- writes */

/**
 * store_batch_new() - Begin a batch
 *
 * The functions below add to it in order. They return 0 or a negative errno:
 * -EILSEQ for text that is not UTF-8, -E2BIG for more than a batch or a field
 * can hold, -ENOMEM. The first failure is kept and store_commit() returns it
 * again, so a caller may ignore it where it happens.
 *
 * A put adds a row or, when its id exists, updates the fields that are not
 * fixed. Rows are copied.
 *
 * Return: a batch, or NULL if there is no memory. NULL stands for a batch that
 * has failed with -ENOMEM and may be used as one
 */
struct store_batch *store_batch_new(struct store *store);

/** store_batch_free() - Drop a batch that was not committed; takes NULL */
void store_batch_free(struct store_batch *batch);

int store_batch_put_tenant(struct store_batch *batch,
			   const struct store_tenant *row);
int store_batch_put_key(struct store_batch *batch, const struct store_key *row);
int store_batch_put_file(struct store_batch *batch,
			 const struct store_file *row);
/** store_batch_put_upload() - One that is not "pending" loses its parts */
int store_batch_put_upload(struct store_batch *batch,
			   const struct store_upload *row);
int store_batch_put_part(struct store_batch *batch,
			 const struct store_part *row);
int store_batch_put_container(struct store_batch *batch,
			      const struct store_container *row);
int store_batch_put_vm(struct store_batch *batch, const struct store_vm *row);

int store_batch_put_definition(struct store_batch *batch,
			       const struct store_definition *row);
int store_batch_put_definition_version(
	struct store_batch *batch, const struct store_definition_version *row);

/** store_batch_put_cfile() - A new version supersedes others of its path */
int store_batch_put_cfile(struct store_batch *batch,
			  const struct store_cfile *row);

#define STORE_RECORD_MAX (32 * 1024 * 1024)

/**
 * struct store_record - What an execution left to read, in three pieces
 * @json:	Core's own description of results, error and artifacts: UTF-8
 * @out:	Kept standard output, any bytes
 * @err:	Kept standard error, any bytes
 *
 * Together at most STORE_RECORD_MAX bytes.
 */
struct store_record {
	const char *json;
	size_t json_size;
	const void *out;
	size_t out_size;
	const void *err;
	size_t err_size;
};

/**
 * store_batch_put_execution() - An execution and, at its end, its record
 * @record:	Copied; replaces an earlier one. NULL leaves it as it is
 */
int store_batch_put_execution(struct store_batch *batch,
			      const struct store_execution *row,
			      const struct store_record *record);

/** store_batch_add_usage() - Append to the usage ledger */
int store_batch_add_usage(struct store_batch *batch,
			  const struct store_usage *row);

/**
 * store_batch_add_idempotency() - Remember an answer
 *
 * The batch fails with -EEXIST if the tenant used the key in the last 24 h
 * (before the row's created_usec).
 */
int store_batch_add_idempotency(struct store_batch *batch,
				const struct store_idempotency *row);

/** store_batch_touch_key() - Note when a key was last used */
int store_batch_touch_key(struct store_batch *batch, const char *id,
			  usec_t last_used_usec);

/*
 * Deletes. What does not exist is deleted already: no failure.
 */
int store_batch_delete_file(struct store_batch *batch, const char *id);
int store_batch_delete_cfile(struct store_batch *batch, const char *id);
int store_batch_delete_vm(struct store_batch *batch, const char *id);

/** store_batch_delete_definition() - With all of its versions */
int store_batch_delete_definition(struct store_batch *batch, const char *id);
int store_batch_delete_definition_version(struct store_batch *batch,
					  const char *id);

/**
 * store_batch_erase_container() - Forget a container's content for good
 *
 * Its files and executions go, and no tenant can see it any more; those that
 * are put later are dropped, without failing their batch. The row itself stays
 * for the operator, marked deleted, until the sweep, and may be put on.
 */
int store_batch_erase_container(struct store_batch *batch, const char *id);

/**
 * enum store_counter - Numbers that outlive the daemon; 0 before the first set
 *
 * Values are ids in the database: new ones go to the end.
 *
 *    NEXT_CID - Must not run backwards, so that no CID names two VMs
 *    DRAIN_SINCE - When a drain began, wall clock; 0: there is none
 *    DRAIN_DEADLINE - When it ends the sessions left, wall clock; 0: never
 */
enum store_counter {
	STORE_COUNTER_NEXT_CID,
	STORE_COUNTER_DRAIN_SINCE,
	STORE_COUNTER_DRAIN_DEADLINE,

	STORE_COUNTER_COUNT,
};

int store_batch_set_counter(struct store_batch *batch,
			    enum store_counter counter, uint64_t value);

/**
 * store_done_fn - How a batch ended
 * @r:		0 when it is on the disk. -ENOSPC: the disk is full, nothing of
 *		it happened, later ones may succeed. -EEXIST: an id or key is
 *		taken. -ENOENT: a row names a tenant, container or blob that
 *		does not exist (any more). Otherwise an I/O error
 */
typedef void store_done_fn(void *userdata, int r);

/**
 * store_commit() - Hand a batch over to be carried out
 * @batch:	Taken over if the call succeeds
 * @done:	Called exactly once, later; NULL if nobody waits
 *
 * Return: 0; the batch's first failure; -EAGAIN when STORE_WAITING_MAX wait
 */
int store_commit(struct store *store, struct store_batch *batch,
		 store_done_fn *done, void *userdata);

/* ----------------------------------------------------------------- reads */

/*
 * Each returns 0 with *@ret filled in, -ENOENT with it untouched, or another
 * negative errno when the database is broken.
 */
int store_tenant_get(struct store *store, const char *id,
		     struct store_tenant *ret);

/** store_key_find() - Revoked and expired ones too: the caller judges */
int store_key_find(struct store *store, const uint8_t hash[HASH_SIZE],
		   struct store_key *ret);
int store_key_get(struct store *store, const char *id, struct store_key *ret);

int store_file_get(struct store *store, const char *tenant, const char *id,
		   struct store_file *ret);

int store_upload_get(struct store *store, const char *tenant, const char *id,
		     struct store_upload *ret);
int store_part_get(struct store *store, const char *tenant,
		   const char *upload_id, const char *id,
		   struct store_part *ret);

/** store_container_get() - @tenant NULL: the operator, deleted ones too */
int store_container_get(struct store *store, const char *tenant, const char *id,
			struct store_container *ret);

/** store_cfile_get() - @tenant NULL: the operator, of any container */
int store_cfile_get(struct store *store, const char *tenant,
		    const char *container_id, const char *id,
		    struct store_cfile *ret);

/**
 * store_cfile_find() - The newest version of the file that a path names
 * @path:	Absolute
 *
 * The file of exactly that name or, if there is none, the only one whose name
 * is the same in Unicode's normal form C. A name that is not UTF-8 is found by
 * what stands for it, if that is unique.
 */
int store_cfile_find(struct store *store, const char *tenant,
		     const char *container_id, const char *path,
		     struct store_cfile *ret);

/**
 * store_cfile_given() - Whether a client gave these bytes under this very path
 *
 * Versions that were replaced or are gone from the guest count as well.
 * Return: 0, or -ENOENT
 */
int store_cfile_given(struct store *store, const char *container_id,
		      const char *path, const uint8_t sha256[HASH_SIZE]);

int store_execution_get(struct store *store, const char *tenant,
			const char *container_id, const char *id,
			struct store_execution *ret);

/**
 * store_execution_record() - What an execution left to read
 * @buf:	Emptied, then holds the bytes; its maximum must allow for
 *		STORE_RECORD_MAX
 * @ret:	Points into @buf
 */
int store_execution_record(struct store *store, const char *id, struct buf *buf,
			   struct store_record *ret);

/** store_idempotency_get() - An answer not older than 24 h at @now_usec */
int store_idempotency_get(struct store *store, const char *tenant,
			  const char *key, usec_t now_usec,
			  struct store_idempotency *ret);

int store_definition_get(struct store *store, const char *tenant,
			 const char *kind, const char *project,
			 const char *name, struct store_definition *ret);
int store_definition_version_get(struct store *store, const char *tenant,
				 const char *definition_id, uint64_t version,
				 struct store_definition_version *ret);

/**
 * store_definition_version_newest() - The one that counts when another goes
 * @but:	Which one goes; 0: none
 *
 * The newest that is no draft or, if there are only drafts, of those.
 */
int store_definition_version_newest(struct store *store, const char *tenant,
				    const char *definition_id, uint64_t but,
				    struct store_definition_version *ret);

/** store_definition_version_count() - Of all definitions of a tenant */
int store_definition_version_count(struct store *store, const char *tenant,
				   uint64_t *ret);

/** store_counter_get() - Its value; 0 if it was never set */
int store_counter_get(struct store *store, enum store_counter counter,
		      uint64_t *ret);

/**
 * struct store_totals - What a tenant holds, for quotas
 * @…_bytes:	Sum over files and container files, counted per row: shared
 *		content is charged to each
 * @talk_bytes:	Of conversations, responses and their items
 */
struct store_totals {
	uint64_t files;
	uint64_t file_bytes;
	uint64_t cfiles;
	uint64_t cfile_bytes;
	uint64_t talk_bytes;
	uint64_t live_containers;
};

/** store_totals_bytes() - What counts against a quota of bytes */
static inline uint64_t store_totals_bytes(const struct store_totals *totals)
{
	return totals->file_bytes + totals->cfile_bytes + totals->talk_bytes;
}

/** store_tenant_totals() - Zeros for a tenant that does not exist */
int store_tenant_totals(struct store *store, const char *tenant,
			struct store_totals *ret);

/**
 * struct store_page - Which part of a list is wanted
 * @after:	Id of the last row seen; NULL or "": from the beginning
 * @limit:	Rows at most
 * @ascending:	Oldest first; otherwise newest first
 *
 * Order is that of creation, to the row: lists never skip or repeat one,
 * whatever its second.
 */
struct store_page {
	const char *after;
	unsigned limit;
	bool ascending;
};

/*
 * Lists call @each for every row of the page, in order; the row is valid only
 * during the call, which must not read from the store. They return 0, or
 * -ENOENT when there is no row @after in the list's own scope. *@ret_more
 * tells whether rows follow the page; it may be NULL.
 */

typedef void store_key_fn(void *userdata, const struct store_key *row);
typedef void store_file_fn(void *userdata, const struct store_file *row);
typedef void store_container_fn(void *userdata,
				const struct store_container *row);
typedef void store_cfile_fn(void *userdata, const struct store_cfile *row);
typedef void store_execution_fn(void *userdata,
				const struct store_execution *row);
typedef void store_vm_fn(void *userdata, const struct store_vm *row);
typedef void store_tenant_fn(void *userdata, const struct store_tenant *row);
typedef void store_definition_fn(void *userdata,
				 const struct store_definition *row);
typedef void
store_definition_version_fn(void *userdata,
			    const struct store_definition_version *row);

/** store_key_list() - @tenant NULL: of all */
int store_key_list(struct store *store, const char *tenant,
		   const struct store_page *page, store_key_fn *each,
		   void *userdata, bool *ret_more);

/** store_file_list() - @purpose NULL: all */
int store_file_list(struct store *store, const char *tenant,
		    const char *purpose, const struct store_page *page,
		    store_file_fn *each, void *userdata, bool *ret_more);

/**
 * store_container_list() - Live and ended containers
 * @tenant:	NULL: the operator, of all tenants and deleted ones too
 * @name:	Exact name, or NULL for all
 */
int store_container_list(struct store *store, const char *tenant,
			 const char *name, const struct store_page *page,
			 store_container_fn *each, void *userdata,
			 bool *ret_more);

/** store_container_list_deleted() - Those of a name that were deleted, no others */
int store_container_list_deleted(struct store *store, const char *tenant,
				 const char *name,
				 const struct store_page *page,
				 store_container_fn *each, void *userdata);

/**
 * store_cfile_list() - The newest version of each path
 * @tenant:	NULL: the operator, all versions in all containers
 */
int store_cfile_list(struct store *store, const char *tenant,
		     const char *container_id, const struct store_page *page,
		     store_cfile_fn *each, void *userdata, bool *ret_more);

int store_definition_list(struct store *store, const char *tenant,
			  const char *kind, const char *project,
			  const struct store_page *page,
			  store_definition_fn *each, void *userdata,
			  bool *ret_more);

/** store_definition_version_list() - @drafts: those, too */
int store_definition_version_list(struct store *store, const char *tenant,
				  const char *definition_id, bool drafts,
				  const struct store_page *page,
				  store_definition_version_fn *each,
				  void *userdata, bool *ret_more);

int store_execution_list(struct store *store, const char *tenant,
			 const char *container_id,
			 const struct store_page *page,
			 store_execution_fn *each, void *userdata,
			 bool *ret_more);

/*
 * For the start: everything that was not over, oldest first, without a limit
 * since all of it has to be dealt with.
 */
int store_container_each_live(struct store *store, store_container_fn *each,
			      void *userdata);
int store_execution_each_open(struct store *store, store_execution_fn *each,
			      void *userdata);
int store_vm_each(struct store *store, store_vm_fn *each, void *userdata);

/** store_tenant_each() - All tenants, closed ones too */
int store_tenant_each(struct store *store, store_tenant_fn *each,
		      void *userdata);

/* In a header of its own for length alone. */
#include "store/store_sweep.h"

#endif
