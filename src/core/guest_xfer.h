/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_GUEST_XFER_H
#define CORE_GUEST_XFER_H

/*
 * One file to or from a guest. A connection is made for it, which costs more than
 * a small file does: so one that a file came over may be used for the next, as
 * soon as all of the file has come, while its blob is still on its way to the disk.
 *
 * Bytes go straight between the socket and the blob store, in constant memory:
 * a disk that is slow makes the guest wait, and a guest that is slow is read
 * for no faster than it takes. Length and SHA-256 are checked at both ends.
 */

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "base/clock.h"
#include "base/error.h"
#include "core/gc.h"
#include "store/blob.h"
#include "wire/wire.h"

struct blobs;
struct guest_xfer;
struct vmd_client;

/* Dialling and the proof: the guest listens already. */
#define XFER_DIAL_USEC (10 * USEC_PER_SEC)

/* How long a guest may neither send nor take a byte, flushing its disk say. */
#define XFER_SILENCE_USEC (60 * USEC_PER_SEC)

/* A guest with all its bulk connections busy is asked again, this often. */
#define XFER_BUSY_USEC (50 * USEC_PER_MSEC)
#define XFER_BUSY_TRIES 100

/**
 * enum xfer_result - How a transfer ended
 *
 * XFER_FILE leaves the reason in the file status: the guest was asked and could
 * not. XFER_BROKEN and XFER_STALLED are the guest's fault and end its session.
 */
enum xfer_result {
	XFER_OK,
	XFER_FILE,      /* enum wire_file_status says why not */
	XFER_TOO_LARGE, /* longer than allowed */
	XFER_STORAGE,   /* the blob store refused: errno in r */
	XFER_LOST,      /* no connection, or it went away */
	XFER_BROKEN,
	XFER_STALLED,
};

/**
 * struct xfer_end - What a transfer came to
 * @r:		Negative errno of XFER_STORAGE and XFER_LOST
 * @file_status: Of XFER_FILE
 * @grown:	Of a GET that is XFER_OK: the file changed while it was read, and
 *		this is its beginning as of one moment
 * @bytes:	Length of the file, as far as known
 * @info:	Of a GET that is XFER_OK: the finished blob
 * @writer:	It, pinned until this is freed; the callback takes it over
 * @err:	Of XFER_BROKEN and XFER_STALLED: what the guest did
 */
struct xfer_end {
	enum xfer_result result;
	int r;
	enum wire_file_status file_status;
	bool grown;
	uint64_t bytes;
	const struct blob_info *info;
	struct blob_writer *writer;
	const struct error *err;
};

/**
 * struct guest_xfer_config - What both directions need
 * @vm_id:	Copied
 * @nonce:	Copied
 * @path:	Relative to /mnt/data, copied
 * @given:	Of a GET: all of the file has come, and is these bytes long; another
 *		may be asked for over its connection until done() has returned.
 *		May be NULL
 * @done:	Called exactly once unless the transfer is cancelled, never from
 *		within a call here
 */
struct guest_xfer_config {
	sd_event *event;
	struct clock *clock; /* the guest's */
	struct gc *gc;
	struct blobs *blobs;
	struct vmd_client *vmd;
	const char *vm_id;
	const uint8_t *nonce;
	const char *path;
	void (*given)(void *userdata, uint64_t bytes);
	void (*done)(void *userdata, struct xfer_end *end);
	void *userdata;
};

/**
 * guest_xfer_get() - Fetch a file of at most @max_bytes into a blob
 * @over:	One that has given its file: its connection is taken from it, if it
 *		is still there and this succeeds. NULL: over a new one
 */
int guest_xfer_get(const struct guest_xfer_config *config, uint64_t max_bytes,
		   struct guest_xfer *over, struct guest_xfer **ret);

/** guest_xfer_put() - Write a blob to a file that the sandbox user owns */
int guest_xfer_put(const struct guest_xfer_config *config,
		   const uint8_t sha256[HASH_SIZE], struct guest_xfer **ret);

/** guest_xfer_cancel() - Want it no more; NULL is fine. done() does not come */
void guest_xfer_cancel(struct guest_xfer *xfer);

#endif
