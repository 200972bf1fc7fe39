/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUPOLA_STORE_BLOBS_H
#define CUPOLA_STORE_BLOBS_H

/*
 * The directory of blobs, as the rest of the store sees it.
 *
 * A pin keeps a blob that no committed row names yet. Pins live in memory, are
 * set by writers (blob threads) and batches (loop), and looked at by the one who
 * removes (db thread), so these functions may be called from any thread.
 */

#include <stdbool.h>

#include "store/blob.h"

/** blobs_pin() - Keep a blob; Return: 0 or -ENOMEM */
int blobs_pin(struct blobs *blobs, const uint8_t sha256[HASH_SIZE]);

/**
 * blobs_unpin() - The reverse
 * @announced:	A committed row names it
 *
 * When the last pin goes and nobody has announced the blob, it becomes an
 * orphan.
 */
void blobs_unpin(struct blobs *blobs, const uint8_t sha256[HASH_SIZE],
		 bool announced);

/** blobs_take_orphan() - The next orphan, which is none any more, if any */
bool blobs_take_orphan(struct blobs *blobs, uint8_t ret_sha256[HASH_SIZE]);

/** blobs_have() - Whether the blob's file exists */
bool blobs_have(struct blobs *blobs, const uint8_t sha256[HASH_SIZE]);

/**
 * blobs_remove() - Unlink a blob's file, if it exists
 *
 * Only for the db thread, which knows the rows. Return: 0; -EBUSY if it is
 * pinned; or another negative errno
 */
int blobs_remove(struct blobs *blobs, const uint8_t sha256[HASH_SIZE]);

/** blobs_each() - Call @each for every file, until it fails */
int blobs_each(struct blobs *blobs,
	       int (*each)(void *userdata, const uint8_t sha256[HASH_SIZE]),
	       void *userdata);

#endif
