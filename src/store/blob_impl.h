/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUPOLA_STORE_BLOB_IMPL_H
#define CUPOLA_STORE_BLOB_IMPL_H

/* Shared by blob*.c. */

#include <pthread.h>

#include "base/worker.h"
#include "store/blobs.h"

#define BLOB_TEMP_DIR "tmp"

/* "ab/", the digest in hexadecimal, NUL */
#define BLOB_PATH_SIZE (3 + 2 * HASH_SIZE + 1)

#define BLOB_PIN_BUCKETS 1024

/*
 * Most of the time that a small blob takes is spent waiting: for the disk, twice,
 * and for a processor after each wait. Syncs that come together are one for the
 * file system's journal and for the disk's cache.
 */
#define BLOB_THREADS 4

/**
 * struct blob_pin - A blob that somebody holds, or held in vain
 * @count:	How many hold it; 0: an orphan
 * @announced:	A row names it, or did
 */
struct blob_pin {
	struct blob_pin *next;
	uint8_t sha256[HASH_SIZE];
	unsigned count;
	bool announced;
};

/* libmagic's database; used by one blob thread at a time, loaded at first use. */
struct blob_sniffer {
	pthread_mutex_t lock;
	void *cookie;
	bool tried;
};

/**
 * struct blobs - See blob.h
 * @lock:	Protects pins and orphans
 * @writers:	How many exist, those included whose abort is under way
 */
struct blobs {
	int dir;
	int temp_dir;
	uint64_t free_floor_bytes;
	struct worker *worker;
	struct blob_sniffer sniffer;
	size_t writers;
	uint64_t temp_number;

	pthread_mutex_t lock;
	struct blob_pin *pins[BLOB_PIN_BUCKETS];
	size_t orphans;
};

/** blob_path() - Where a blob lies below the directory */
void blob_path(const uint8_t sha256[HASH_SIZE], char ret_path[BLOB_PATH_SIZE]);

/** blob_sniff() - What libmagic takes content for; "" if it says nothing */
void blob_sniff(struct blob_sniffer *sniffer, const void *data, size_t size,
		char ret_type[MEDIA_TYPE_SIZE]);
void blob_sniffer_done(struct blob_sniffer *sniffer);

#endif
