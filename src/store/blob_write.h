/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUPOLA_STORE_BLOB_WRITE_H
#define CUPOLA_STORE_BLOB_WRITE_H

/*
 * The half of a blob writer that a blob thread carries out.
 *
 * The content is written under a temporary name. The last job compares length
 * and digest, syncs, pins the digest and renames, in this order: from the
 * rename on the removal of blobs can see the file, and the pin keeps it.
 */

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>

#include "store/blob_impl.h"

#define BLOB_TEMP_NAME_SIZE 24

enum blob_write_step {
	BLOB_WRITE_MORE,
	BLOB_WRITE_LAST,
	BLOB_WRITE_ABORT,

	BLOB_WRITE_STEP_COUNT,
};

/**
 * struct blob_write - What the thread works on
 * @chunk:	Bytes to write, @size of them
 * @found:	libmagic's type, or ""
 * @pinned:	The blob is in place under a pin
 */
struct blob_write {
	struct job job;
	struct blobs *blobs;
	enum blob_write_step step;
	uint8_t *chunk;
	size_t size;
	uint64_t written;
	uint64_t expected_bytes;
	bool check_sha256;
	uint8_t expected_sha256[HASH_SIZE];
	char name[256];
	char temp[BLOB_TEMP_NAME_SIZE];
	int fd;
	gnutls_hash_hd_t hash;
	char found[MEDIA_TYPE_SIZE];
	bool pinned;
	struct blob_info info;
	int result;
};

/** blob_write_run() - The job */
void blob_write_run(struct job *job);

#endif
