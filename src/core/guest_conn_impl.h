/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUPOLA_CORE_GUEST_CONN_IMPL_H
#define CUPOLA_CORE_GUEST_CONN_IMPL_H

/* What a connection and its proof share. Private to guest_conn*.c. */

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "core/guest_conn.h"

enum proof_step {
	PROOF_CHALLENGE, /* waits for G */
	PROOF_ANSWER,    /* waits for the guest's proof */
	PROOF_OVER,
};

struct guest_conn {
	struct gc *gc;
	struct gc_node buried;
	int fd;
	sd_event_source *io;
	struct timer *stall;
	struct clock *clock;
	uint32_t events; /* what io is asked for */

	enum proof_step step;
	enum wire_phase phase;
	enum wire_purpose purpose;
	uint8_t nonce[WIRE_NONCE_SIZE];
	uint8_t guest_challenge[WIRE_CHALLENGE_SIZE];
	uint8_t host_challenge[WIRE_CHALLENGE_SIZE];

	struct buf in;
	struct buf out;
	bool paused;
	usec_t in_since;  /* half a frame waits since; 0: none */
	usec_t out_since; /* nothing was taken since; 0: nothing waits */

	const struct guest_conn_ops *ops;
	void *userdata;
};

/**
 * guest_conn_prove() - Go on with the proof, as far as the input reaches
 * @conn:	Connection; nothing happens once its step is PROOF_OVER
 * @err:	Says what is wrong
 *
 * The owner's proven() is called in here, and may close the connection.
 *
 * Return: 0 or a negative errno, which ends the connection
 */
int guest_conn_prove(struct guest_conn *conn, struct error *err);

#endif
