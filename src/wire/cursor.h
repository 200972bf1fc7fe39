/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUPOLA_WIRE_CURSOR_H
#define CUPOLA_WIRE_CURSOR_H

/*
 * Reading and writing payloads field by field; for the message_*.c files only.
 *
 * Both cursors are sticky: after the first field that does not fit, every
 * further call does nothing, and the end tells. So a message is a list of
 * fields with one check behind it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire/frame.h"
#include "wire/message.h"

/**
 * struct put - Where the next field is written
 * @buf:	The frame's first byte
 * @size:	Room there
 * @used:	Bytes written, header included
 * @error:	The first thing that went wrong, or 0
 */
struct put {
	uint8_t *buf;
	size_t size;
	size_t used;
	int error;
};

struct put put_begin(uint8_t *buf, size_t size);
void put_int(struct put *p, uint64_t n, unsigned width);
void put_raw(struct put *p, const void *data, size_t size);

/* A string above @max makes the frame -EMSGSIZE; @width is of its length. */
void put_bytes(struct put *p, struct bytes b, size_t max, unsigned width);

/* Without a length: the rest of the payload. */
void put_rest(struct put *p, struct bytes b, size_t max);

/* Write the header. Return: as the encoders of message.h. */
ssize_t put_end(struct put *p, enum wire_type type, uint32_t call);

/**
 * struct get - Where the next field is read
 * @at:		Its first byte
 * @left:	Bytes from there on
 * @bad:	A field was missing or wrong
 */
struct get {
	const uint8_t *at;
	size_t left;
	bool bad;
};

struct get get_begin(const struct frame *f);
/* At most WIRE_NUMBER_MAX. */
uint64_t get_int(struct get *g, unsigned width);
void get_raw(struct get *g, void *ret, size_t size);
struct bytes get_bytes(struct get *g, size_t max, unsigned width);
struct bytes get_rest(struct get *g, size_t max);

/* A number below @count. */
unsigned get_enum(struct get *g, unsigned count);

/* A byte with no other bits than @known. */
uint8_t get_flags(struct get *g, uint8_t known);

/* Note a rule that is not about one field. */
void get_require(struct get *g, bool rule);

/* Return: 0 if everything was there and nothing is left, else -EPROTO */
int get_end(const struct get *g);

#endif
