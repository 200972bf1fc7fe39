/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <string.h>

#include "base/hex.h"
#include "base/id.h"
#include "core/guest_conn_impl.h"
#include "store/hash.h"
#include "wire/message.h"
#include "wire/proof.h"

/* How a connection begins: each end shows that it knows the boot nonce. */

static int conn_proof(struct guest_conn *conn, enum wire_side side,
		      uint8_t ret_proof[WIRE_PROOF_SIZE])
{
	uint8_t input[PROOF_INPUT_MAX];
	size_t size;

	size = proof_input(side, conn->guest_challenge, conn->host_challenge,
			   input);
	return hash_hmac_sha256(conn->nonce, sizeof(conn->nonce), input, size,
				ret_proof);
}

static int conn_answer_challenge(struct guest_conn *conn)
{
	uint8_t proof[WIRE_PROOF_SIZE];
	int r;

	memcpy(conn->guest_challenge, conn->in.data, WIRE_CHALLENGE_SIZE);
	buf_consume(&conn->in, WIRE_CHALLENGE_SIZE);

	r = random_bytes(conn->host_challenge, sizeof(conn->host_challenge));
	if (r >= 0)
		r = conn_proof(conn, WIRE_HOST, proof);
	if (r >= 0)
		r = buf_add(&conn->out, conn->host_challenge,
			    sizeof(conn->host_challenge));
	if (r >= 0)
		r = buf_add(&conn->out, proof, sizeof(proof));
	if (r < 0)
		return r;
	guest_conn_flush(conn);
	conn->step = PROOF_ANSWER;
	return 0;
}

static int conn_send_open(struct guest_conn *conn)
{
	const struct message_open open = {
		.version = WIRE_VERSION,
		.purpose = conn->purpose,
	};
	uint8_t frame[64];
	ssize_t n;

	n = message_encode_open(frame, sizeof(frame), 0, &open);
	return n < 0 ? (int)n : buf_add(&conn->out, frame, (size_t)n);
}

static int conn_check_answer(struct guest_conn *conn, struct error *err)
{
	static const enum wire_phase phases[] = {
		[WIRE_CONTROL] = WIRE_PHASE_GREETING,
		[WIRE_BULK_GET] = WIRE_PHASE_GET,
		[WIRE_BULK_PUT] = WIRE_PHASE_PUT,
	};
	uint8_t proof[WIRE_PROOF_SIZE];
	int r;

	r = conn_proof(conn, WIRE_GUEST, proof);
	if (r < 0)
		return r;
	if (!secret_equal(proof, conn->in.data, sizeof(proof)))
		return error_set(err, ERR_GUEST,
				 "the guest could not prove "
				 "that it is the one that was started");
	buf_consume(&conn->in, WIRE_PROOF_SIZE);

	r = conn_send_open(conn);
	if (r < 0)
		return r;
	conn->step = PROOF_OVER;
	conn->phase = phases[conn->purpose];
	conn->ops->proven(conn->userdata);
	if (conn->ops)
		guest_conn_flush(conn);
	return 0;
}

int guest_conn_prove(struct guest_conn *conn, struct error *err)
{
	static_assert(WIRE_CHALLENGE_SIZE == WIRE_PROOF_SIZE,
		      "both steps wait for the same number of bytes");
	int r = 0;

	while (r >= 0 && conn->ops && conn->step != PROOF_OVER &&
	       conn->in.length >= WIRE_CHALLENGE_SIZE)
		r = conn->step == PROOF_CHALLENGE ?
			    conn_answer_challenge(conn) :
			    conn_check_answer(conn, err);
	return r;
}
