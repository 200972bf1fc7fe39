/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUPOLA_CORE_GUEST_XFER_IMPL_H
#define CUPOLA_CORE_GUEST_XFER_IMPL_H

/* What the two halves of a transfer share. Private to guest_xfer*.c. */

#include "base/buf.h"
#include "base/timer.h"
#include "core/guest_conn.h"
#include "core/guest_xfer.h"
#include "vmd/vmd.h"
#include "wire/message.h"

#define XFER_FRAME_SMALL (WIRE_PATH_MAX + 256u)

#define XFER_FILE_MODE 0644

struct guest_xfer {
	struct gc_node buried;
	struct guest_xfer_config config;
	char vm_id[VMD_ID_MAX];
	uint8_t nonce[WIRE_NONCE_SIZE];
	char path[WIRE_PATH_MAX + 1];
	bool put;

	uint64_t dial; /* call to cancel; 0: none under way */
	struct guest_conn *conn;
	struct timer *again;
	struct timer *silence; /* runs while it is the guest's turn */
	unsigned tries;

	uint64_t bytes; /* length of the file */
	uint64_t moved;
	/* GET */
	uint64_t max_bytes;
	bool used_before; /* the connection, and no answer has come yet */
	struct blob_writer *writer;
	struct buf kept; /* what the writer did not take */
	bool ended;      /* END has come */
	bool grown;      /* as it said */
	uint8_t guest_sha256[WIRE_SHA256_SIZE];
	/* PUT */
	int fd;
	uint8_t sha256[HASH_SIZE];
};

/**
 * guest_xfer_new() - Make a transfer that has not dialled
 * @config:	What its caller wants
 * @put:	Whether the file goes to the guest
 * @ret:	The transfer, for guest_xfer_freep() until it has dialled
 *
 * Return: 0 or a negative errno
 */
int guest_xfer_new(const struct guest_xfer_config *config, bool put,
		   struct guest_xfer **ret);
void guest_xfer_freep(struct guest_xfer **x);

/** guest_xfer_dial() - Begin, or begin again; Return: 0 or a negative errno */
int guest_xfer_dial(struct guest_xfer *x);

/** guest_xfer_ask() - Name the file; Return: 0 or a negative errno */
int guest_xfer_ask(struct guest_xfer *x);

/** guest_xfer_watch() - The guest's turn begins, or it did something */
void guest_xfer_watch(struct guest_xfer *x);

/** guest_xfer_end() - Tell the owner how it ended, once, and bury it */
void guest_xfer_end(struct guest_xfer *x, struct xfer_end *end);

/** guest_xfer_fail() - guest_xfer_end() for what went wrong on our side */
void guest_xfer_fail(struct guest_xfer *x, enum xfer_result result, int r,
		     const struct error *err);

/** guest_xfer_refused() - The guest could not; tries again if it was busy */
void guest_xfer_refused(struct guest_xfer *x, enum wire_file_status status);

/* Frames of a GET. Return: 0 or a negative errno, which ends the connection */
int guest_xfer_got_file(struct guest_xfer *x, const struct frame *f,
			struct error *err);
int guest_xfer_got_data(struct guest_xfer *x, const struct frame *f,
			struct error *err);
int guest_xfer_got_get_end(struct guest_xfer *x, const struct message_end *m,
			   struct error *err);

#endif
