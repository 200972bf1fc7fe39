/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUPOLA_WIRE_FRAME_H
#define CUPOLA_WIRE_FRAME_H

/*
 * Frames: where one ends, and whether its sender may say it now.
 *
 * Pure functions over bytes: no state, no allocation.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/wire.h"

/**
 * struct frame - One whole frame in somebody's receive buffer
 * @type:	What it is
 * @call:	What it is about
 * @length:	Bytes at @payload
 * @payload:	Points into the buffer that was parsed, valid as long as that
 */
struct frame {
	enum wire_type type;
	uint32_t call;
	size_t length;
	const uint8_t *payload;
};

/* Who sends. */
enum wire_side {
	WIRE_HOST,
	WIRE_GUEST,

	WIRE_SIDE_COUNT,
};

/**
 * enum wire_phase - Where a connection is, after the mutual proof
 *
 *    OPENING - Nothing was said
 *        Leaves by: OPEN: control to GREETING, get to GET, put to PUT
 *
 *    GREETING - The guest owes HELLO
 *        Leaves by: HELLO, to SETUP, or to WORK if it says CONFIGURED
 *
 *    SETUP - The guest has no limits, no time and no entropy yet
 *        Leaves by: CONFIGURED, to WORK
 *
 *    WORK - Executions, files, questions
 *        Leaves by: the end of the connection
 *
 *    GET - The daemon owes the name of a file
 *        Leaves by: GET, to SENDING
 *
 *    SENDING - The guest sends FILE, DATA and END
 *        Leaves by: END, to GET; FILE with a status other than OK, too
 *
 *    PUT - The daemon owes the name of a file
 *        Leaves by: PUT, to RECEIVING
 *
 *    RECEIVING - The daemon sends DATA until the length is reached; the guest
 *    may say END at any time (a full disk is known early)
 *        Leaves by: END, to CLOSED
 *
 *    CLOSED - Nothing more may come
 */
enum wire_phase {
	WIRE_PHASE_OPENING,
	WIRE_PHASE_GREETING,
	WIRE_PHASE_SETUP,
	WIRE_PHASE_WORK,
	WIRE_PHASE_GET,
	WIRE_PHASE_SENDING,
	WIRE_PHASE_PUT,
	WIRE_PHASE_RECEIVING,
	WIRE_PHASE_CLOSED,

	WIRE_PHASE_COUNT,
};

/**
 * frame_next() - Find the frame that a buffer begins with
 * @data:	Bytes received and not used yet
 * @size:	How many
 * @ret_frame:	The frame; points into @data
 * @ret_used:	Bytes it takes of @data
 *
 * A header that cannot be right is refused at once, before its payload is
 * waited for. What the payload means is for message.h.
 *
 * Return: 1 if there is a frame, 0 if more bytes are needed, -EMSGSIZE for a
 * payload above the ceiling, -EPROTO for any other broken rule
 */
int frame_next(const uint8_t *data, size_t size, struct frame *ret_frame,
	       size_t *ret_used);

/**
 * frame_put_header() - Write a header
 * @buf:	Where to
 * @type:	What the frame is
 * @call:	What it is about
 * @length:	Bytes of payload that the caller will send after it
 */
void frame_put_header(uint8_t buf[static sizeof(struct wire_header)],
		      enum wire_type type, uint32_t call, size_t length);

/**
 * frame_may_say() - Whether a side may send this frame in this phase
 * @from:	Who sent it
 * @phase:	The connection's phase, as the receiver knows it
 * @type:	What was sent
 *
 * Whether the call exists is for the receiver to know.
 */
bool frame_may_say(enum wire_side from, enum wire_phase phase,
		   enum wire_type type);

#endif
