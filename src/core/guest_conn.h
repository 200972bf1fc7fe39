/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_GUEST_CONN_H
#define CORE_GUEST_CONN_H

/*
 * One connection to a guest: first the mutual proof, then frames.
 *
 * What the frames mean is for its owner (guest_link.c for control,
 * guest_xfer.c for files). This part keeps the rules that all connections
 * share: nothing is read before the proof, a frame that cannot be right or may
 * not be said now ends the connection, a frame must be whole within
 * GUEST_FRAME_USEC, and what is sent must be taken within the same time.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "core/gc.h"
#include "wire/frame.h"

struct guest_conn;

/* A frame that is not whole after this long never will be. */
#define GUEST_FRAME_USEC (10 * USEC_PER_SEC)

/* Why a connection ended. */
enum guest_conn_end {
	GUEST_CONN_LOST,    /* closed or reset; it may be dialled again */
	GUEST_CONN_BROKEN,  /* the peer broke a rule: the VM must go */
	GUEST_CONN_STALLED, /* half a frame for too long: likewise */
	GUEST_CONN_LOCAL,   /* this side ran out of something */
};

/**
 * struct guest_conn_ops - What the owner of a connection hears
 * @proven:	Both have proved the nonce, and OPEN was sent
 * @frame:	A frame that may be said in this phase. A negative return ends
 *		the connection: as GUEST_CONN_BROKEN with ERR_GUEST, or with
 *		-EPROTO and no sentence, else as GUEST_CONN_LOCAL
 * @drained:	All that was queued has been taken by the kernel
 * @ended:	The last call. The owner gives the connection up now, by
 *		guest_conn_close()
 */
struct guest_conn_ops {
	void (*proven)(void *userdata);
	int (*frame)(const struct frame *f, void *userdata, struct error *err);
	void (*drained)(void *userdata);
	void (*ended)(enum guest_conn_end why, const struct error *err,
		      void *userdata);
};

/**
 * struct guest_conn_config - What a connection is made of
 * @fd:		Connected, non-blocking; taken over if guest_conn_new() succeeds
 * @nonce:	WIRE_NONCE_SIZE bytes, copied
 * @purpose:	What OPEN says
 * @queue_max:	Bytes that may wait to be sent
 */
struct guest_conn_config {
	sd_event *event;
	struct clock *clock;
	struct gc *gc;
	int fd;
	const uint8_t *nonce;
	enum wire_purpose purpose;
	size_t queue_max;
	const struct guest_conn_ops *ops;
	void *userdata;
};

int guest_conn_new(const struct guest_conn_config *config,
		   struct guest_conn **ret);

/** guest_conn_hand_over() - Have the same callbacks called for another owner */
void guest_conn_hand_over(struct guest_conn *conn, void *userdata);

/** guest_conn_close() - Give it up; no callback follows. NULL is fine */
void guest_conn_close(struct guest_conn *conn);

/**
 * guest_conn_queue() - Where frames to be sent are appended
 *
 * Several may be appended, then guest_conn_flush() sends them in one write.
 */
struct buf *guest_conn_queue(struct guest_conn *conn);

/**
 * guest_conn_flush() - Send what was appended, now as far as possible
 *
 * Never calls back: a failure is told later by @ended.
 */
void guest_conn_flush(struct guest_conn *conn);

/** guest_conn_enter() - Be in this phase from the next frame on */
void guest_conn_enter(struct guest_conn *conn, enum wire_phase phase);

/** guest_conn_phase() - The phase it is in */
enum wire_phase guest_conn_phase(const struct guest_conn *conn);

/** guest_conn_pause() - Take no frames, so that the peer has to wait */
void guest_conn_pause(struct guest_conn *conn);

/** guest_conn_resume() - Take frames again; not from within @frame */
void guest_conn_resume(struct guest_conn *conn);

#endif
