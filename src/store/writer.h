/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUPOLA_STORE_WRITER_H
#define CUPOLA_STORE_WRITER_H

/*
 * The connection that writes. Opened on the loop's thread, then used by the db
 * worker alone.
 */

#include <sqlite3.h>

#include "store/batch.h"

struct writer;

/** writer_open() - Open the database for writing, and bring it up to date */
int writer_open(const char *path, struct blobs *blobs, struct writer **ret,
		struct error *err);

void writer_free(struct writer *w);

/** writer_db() - Its connection, for other jobs of the db worker */
sqlite3 *writer_db(struct writer *w);

/**
 * writer_commit_group() - Carry out batches in one transaction
 * @group:	List; each batch's result is set
 *
 * Each stands in a savepoint of its own, so that one which fails is undone
 * alone. When the transaction as a whole fails, each is tried by itself.
 */
void writer_commit_group(struct writer *w, struct store_batch *group);

/** writer_sweep() - store_sweep(), blobs included */
int writer_sweep(struct writer *w, const struct store_sweep_spec *spec,
		 struct store_swept *swept);

/**
 * writer_sweep_blobs() - Remove up to STORE_SWEEP_MAX blobs that no row names
 *
 * Return: how many, or a negative errno
 */
int writer_sweep_blobs(struct writer *w);

/** writer_collect() - Remove blobs that a crash left without a row */
int writer_collect(struct writer *w);

#endif
