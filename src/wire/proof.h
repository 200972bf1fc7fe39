/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUPOLA_WIRE_PROOF_H
#define CUPOLA_WIRE_PROOF_H

/*
 * The mutual proof that begins every connection, before any frame:
 *
 *	guest -> host	G, 32 random bytes
 *	host -> guest	H, 32 random bytes, then HMAC(nonce, "host" G H)
 *	guest -> host	HMAC(nonce, "guest" G H)
 *
 * HMAC is HMAC-SHA256 and the nonce is its 32-byte key. Each side compares in
 * constant time and closes without a word when the proof is wrong. The words
 * differ so that neither proof can be played back as the other. wire has no
 * cryptography of its own: callers bring theirs (GnuTLS, nettle) and ask here
 * what to feed it.
 */

#include <stddef.h>
#include <stdint.h>

#include "wire/frame.h"
#include "wire/wire.h"

#define PROOF_INPUT_MAX (5 + 2 * WIRE_CHALLENGE_SIZE)

/* What the host sends in one piece. */
#define PROOF_HOST_SIZE (WIRE_CHALLENGE_SIZE + WIRE_PROOF_SIZE)

/**
 * proof_input() - The bytes that a side's HMAC is computed over
 * @side:	Whose proof
 * @guest:	G
 * @host:	H
 * @ret_input:	Receives them
 *
 * Return: how many
 */
size_t proof_input(enum wire_side side,
		   const uint8_t guest[static WIRE_CHALLENGE_SIZE],
		   const uint8_t host[static WIRE_CHALLENGE_SIZE],
		   uint8_t ret_input[static PROOF_INPUT_MAX]);

/* Return: whether two proofs are the same, in constant time */
int proof_equal(const uint8_t a[static WIRE_PROOF_SIZE],
		const uint8_t b[static WIRE_PROOF_SIZE]);

#endif
