/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GUEST_CAPTURE_H
#define GUEST_CAPTURE_H

/*
 * What is kept of one output stream: its beginning, its end, and, if wanted, a
 * file with more of it.
 *
 *	0		  head_max			       total
 *	|----- head ------|------- omitted -------|--- tail ---|
 *
 * Nothing is omitted while the stream is no longer than head and tail. Where
 * something is, both cuts are moved to character borders: the head ends before
 * an unfinished UTF-8 sequence, the tail begins after one.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire/wire.h"

struct capture {
	uint64_t total;
	size_t head_max, tail_max;
	uint64_t spill_max, spilled;
	int spill_fd;
	bool spill_failed;
	bool finished;
	char spill_name[16 + WIRE_EXEC_ID_MAX];
	uint8_t head[WIRE_HEAD_MAX];
	uint8_t tail[WIRE_TAIL_MAX];	/* a ring */
};

/**
 * capture_begin() - Empty it for a new execution
 * @c:		Any state
 * @head_max:	At most WIRE_HEAD_MAX
 * @tail_max:	At most WIRE_TAIL_MAX
 * @spill_max:	Bytes of the file; 0 for none
 * @spill_name:	Its name in the data directory, shorter than the field
 */
void capture_begin(struct capture *c, size_t head_max, size_t tail_max,
		   uint64_t spill_max, const char *spill_name);

/* Take what the stream brought. */
void capture_take(struct capture *c, const uint8_t *data, size_t size);

/* The stream has ended; closes the file. */
void capture_finish(struct capture *c);

/* Return: bytes of the stream that capture_read() will never give */
uint64_t capture_omitted(const struct capture *c);

/**
 * capture_read() - Copy what is kept from a position on
 * @c:		Stream
 * @position:	Wanted position; moved to that of the first byte copied, which
 *		lies further on where bytes were omitted
 * @buf:	Receives the bytes
 * @size:	Room there
 *
 * Ends inside a UTF-8 sequence only where the stream itself does.
 *
 * Return: bytes copied; 0 if there is nothing at or after it now
 */
size_t capture_read(const struct capture *c, uint64_t *position, uint8_t *buf,
		    size_t size);

/* Return: @size without the UTF-8 sequence that is cut off at its end */
size_t utf8_whole(const uint8_t *data, size_t size);

#endif
