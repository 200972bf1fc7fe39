/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUPOLA_STORE_BLOB_H
#define CUPOLA_STORE_BLOB_H

/*
 * File contents, stored once under their SHA-256.
 *
 *	DIR/blobs/ab/abcdef…	a finished blob, mode 0600, never written again
 *	DIR/blobs/tmp/…		one that is still being written
 *
 * A blob is written by a struct blob_writer, whose bytes go to disk on the
 * "blob" worker, and becomes permanent when a row that names it is committed
 * (store.h). Until then it is pinned by its writer, afterwards by the rows;
 * what nothing holds is removed by store_sweep(), and whatever a crash left
 * behind at the next start. A blob that a committed row names is never removed.
 *
 * All functions are called on the loop's thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "base/error.h"
#include "base/media_type.h"
#include "store/hash.h"

struct blobs;
struct blob_writer;

/* Bytes that a writer holds in memory: one chunk being filled while another
 * is on its way to the disk. */
#define BLOB_CHUNK_SIZE (256 * 1024)

/* Writers that may exist at a time: each has at most one job in the queue. */
#define BLOB_WRITERS_MAX 1024

/* From this many on nobody takes one that can wait. */
#define BLOB_WRITERS_MANY (BLOB_WRITERS_MAX / 4)

/**
 * struct blobs_config - Where blobs live
 * @event:	The loop; borrowed
 * @dir:	DIR/blobs, made if it is missing
 * @free_floor_bytes: Space on that file system that writing never touches
 */
struct blobs_config {
	sd_event *event;
	const char *dir;
	uint64_t free_floor_bytes;
};

/**
 * blobs_open() - Begin to use a directory of blobs
 *
 * Removes what an earlier process was still writing: the directory must be
 * ours alone (the daemon's lock file sees to that).
 */
int blobs_open(const struct blobs_config *config, struct blobs **ret,
	       struct error *err);

/**
 * blobs_free() - Finish queued writes and close
 *
 * Every writer must be freed before, and the store that uses the blobs.
 */
void blobs_free(struct blobs *blobs);

/** struct blob_info - What a finished blob is */
struct blob_info {
	uint8_t sha256[HASH_SIZE];
	uint64_t bytes;
	char media_type[MEDIA_TYPE_SIZE];
};

#define BLOB_LENGTH_UNKNOWN UINT64_MAX

/**
 * struct blob_spec - What is known before the first byte
 * @expected_bytes: Exact length, or BLOB_LENGTH_UNKNOWN
 * @max_bytes:	Longer content is refused
 * @expected_sha256: Announced digest, or NULL
 * @name:	File name, for the media type; NULL if there is none
 * @room:	Called, never from within a call here, when
 *		blob_writer_append() takes bytes again after it took fewer than
 *		offered; may be NULL
 * @done:	Called exactly once unless the writer is freed before, never
 *		from within a call here; not in the order in which writers were
 *		finished. With r = 0 and @info: the blob is on
 *		the disk for good, after blob_writer_finish(). With r < 0 and
 *		no @info: it failed, perhaps before finish. -ENOSPC: disk full
 *		or free-space floor; -EFBIG: over @max_bytes; -EBADMSG: length
 *		or digest are not the expected ones; otherwise an I/O error
 *
 * The writer may be freed inside either callback.
 */
struct blob_spec {
	uint64_t expected_bytes;
	uint64_t max_bytes;
	const uint8_t *expected_sha256;
	const char *name;
	void (*room)(void *userdata);
	void (*done)(void *userdata, int r, const struct blob_info *info);
	void *userdata;
};

/**
 * blob_writer_new() - Begin a blob
 *
 * Return: 0; -ENOSPC when the expected length does not fit above the
 * free-space floor; -EFBIG when it is over the maximum; -EAGAIN when
 * BLOB_WRITERS_MAX exist
 */
int blob_writer_new(struct blobs *blobs, const struct blob_spec *spec,
		    struct blob_writer **ret);

/**
 * blob_writer_append() - Hand over the next bytes; they are copied
 *
 * Return: how many were taken, from 0 to @size (when fewer than @size,
 * @room follows); or the negative errno that @done was or will be called with
 */
ssize_t blob_writer_append(struct blob_writer *writer, const void *data,
			   size_t size);

/**
 * blob_writer_finish() - That was all; @done follows
 *
 * Called at most once. Return: 0, or as blob_writer_append() if it has failed
 */
int blob_writer_finish(struct blob_writer *writer);

/**
 * blob_writer_free() - End a writer; NULL is fine
 *
 * Before @done it aborts; what it wrote is removed by the worker, or by the next
 * sweep if it was complete. After @done, rows that name the blob must already
 * be in a batch, which pins it from store_batch_put_…() on.
 */
void blob_writer_free(struct blob_writer *writer);

/**
 * blob_open() - Read a blob
 * @ret_fd:	Read-only descriptor, for the caller to close
 *
 * The content stays readable through the descriptor whatever happens to its
 * rows. Return: 0, or -ENOENT
 */
int blob_open(struct blobs *blobs, const uint8_t sha256[HASH_SIZE], int *ret_fd,
	      uint64_t *ret_bytes);

/** blob_writers_are_many() - Whether a writer is for those who cannot wait */
bool blob_writers_are_many(const struct blobs *blobs);

/** blobs_free_bytes() - Space that may still be written, above the floor */
int blobs_free_bytes(struct blobs *blobs, uint64_t *ret_bytes);

#endif
