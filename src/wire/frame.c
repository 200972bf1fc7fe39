/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/frame.h"

#include <errno.h>
#include <string.h>

#define IN(phase) (1u << WIRE_PHASE_##phase)

/*
 * Every frame: its name, whose it is, in which phases, and whether it is about
 * a call. SENDING and RECEIVING share DATA and END, whose sides differ: two
 * rows.
 */
static const struct {
	enum wire_type type;
	const char *name;
	enum wire_side from;
	bool has_call;
	unsigned phases;
} wire_types[] = {
	{ WIRE_OPEN,	   "OPEN",	 WIRE_HOST,  false, IN(OPENING) },
	{ WIRE_CONFIGURE,  "CONFIGURE",	 WIRE_HOST,  false, IN(SETUP) },
	{ WIRE_PING,	   "PING",	 WIRE_HOST,  false, IN(SETUP) | IN(WORK) },
	{ WIRE_EXEC,	   "EXEC",	 WIRE_HOST,  true,  IN(WORK) },
	{ WIRE_INPUT,	   "INPUT",	 WIRE_HOST,  true,  IN(WORK) },
	{ WIRE_RELEASE,	   "RELEASE",	 WIRE_HOST,  true,  IN(WORK) },
	{ WIRE_ATTACH,	   "ATTACH",	 WIRE_HOST,  true,  IN(WORK) },
	{ WIRE_INTERRUPT,  "INTERRUPT",	 WIRE_HOST,  true,  IN(WORK) },
	{ WIRE_STAT,	   "STAT",	 WIRE_HOST,  true,  IN(SETUP) | IN(WORK) },
	{ WIRE_QUIESCE,	   "QUIESCE",	 WIRE_HOST,  true,  IN(WORK) },
	{ WIRE_DELETE,	   "DELETE",	 WIRE_HOST,  true,  IN(WORK) },
	{ WIRE_SHUTDOWN,   "SHUTDOWN",	 WIRE_HOST,  false, IN(SETUP) | IN(WORK) },

	{ WIRE_HELLO,	   "HELLO",	 WIRE_GUEST, false, IN(GREETING) },
	{ WIRE_CONFIGURED, "CONFIGURED", WIRE_GUEST, false, IN(SETUP) },
	{ WIRE_READY,	   "READY",	 WIRE_GUEST, false, IN(WORK) },
	{ WIRE_PONG,	   "PONG",	 WIRE_GUEST, false, IN(SETUP) | IN(WORK) },
	{ WIRE_OUTPUT,	   "OUTPUT",	 WIRE_GUEST, true,  IN(WORK) },
	{ WIRE_DISPLAY,	   "DISPLAY",	 WIRE_GUEST, true,  IN(WORK) },
	{ WIRE_ERROR,	   "ERROR",	 WIRE_GUEST, true,  IN(WORK) },
	{ WIRE_CHANGED,	   "CHANGED",	 WIRE_GUEST, true,  IN(WORK) },
	{ WIRE_DONE,	   "DONE",	 WIRE_GUEST, true,  IN(WORK) },
	{ WIRE_REFUSED,	   "REFUSED",	 WIRE_GUEST, true,  IN(WORK) },
	{ WIRE_STATUS,	   "STATUS",	 WIRE_GUEST, true,  IN(SETUP) | IN(WORK) },
	{ WIRE_QUIESCED,   "QUIESCED",	 WIRE_GUEST, true,  IN(WORK) },
	{ WIRE_RESULT,	   "RESULT",	 WIRE_GUEST, true,  IN(WORK) },

	{ WIRE_GET,	   "GET",	 WIRE_HOST,  false, IN(GET) },
	{ WIRE_FILE,	   "FILE",	 WIRE_GUEST, false, IN(SENDING) },
	{ WIRE_PUT,	   "PUT",	 WIRE_HOST,  false, IN(PUT) },
	{ WIRE_DATA,	   "DATA",	 WIRE_GUEST, false, IN(SENDING) },
	{ WIRE_DATA,	   "DATA",	 WIRE_HOST,  false, IN(RECEIVING) },
	{ WIRE_END,	   "END",	 WIRE_GUEST, false, IN(SENDING) | IN(RECEIVING) },
};
#define TYPE_COUNT (sizeof(wire_types) / sizeof(wire_types[0]))

/* Return: the first row about a type, or TYPE_COUNT if there is none */
static size_t type_find(unsigned type)
{
	size_t i;

	for (i = 0; i < TYPE_COUNT; i++)
		if (wire_types[i].type == type)
			return i;
	return TYPE_COUNT;
}

int frame_next(const uint8_t *data, size_t size, struct frame *ret_frame,
	       size_t *ret_used)
{
	struct wire_header header;
	uint32_t length, call;
	size_t type;

	if (size < sizeof(header))
		return 0;

	/* Copied, not cast: the bytes may lie at any address. */
	memcpy(&header, data, sizeof(header));
	length = le32_get(header.length);
	call = le32_get(header.call);
	type = type_find(le16_get(header.type));

	/* Refused before waiting for the payload, which may never fit. */
	if (length > WIRE_PAYLOAD_MAX)
		return -EMSGSIZE;
	if (type == TYPE_COUNT || le16_get(header.reserved) != 0)
		return -EPROTO;
	if ((call != 0) != wire_types[type].has_call)
		return -EPROTO;

	if (size - sizeof(header) < length)
		return 0;

	*ret_frame = (struct frame){
		.type = wire_types[type].type,
		.call = call,
		.length = length,
		.payload = data + sizeof(header),
	};
	*ret_used = sizeof(header) + length;
	return 1;
}

void frame_put_header(uint8_t buf[static sizeof(struct wire_header)],
		      enum wire_type type, uint32_t call, size_t length)
{
	struct wire_header header = {
		.length = le32_put((uint32_t)length),
		.type = le16_put((uint16_t)type),
		.call = le32_put(call),
	};

	assert(length <= WIRE_PAYLOAD_MAX);
	memcpy(buf, &header, sizeof(header));
}

bool frame_may_say(enum wire_side from, enum wire_phase phase,
		   enum wire_type type)
{
	size_t i;

	for (i = 0; i < TYPE_COUNT; i++)
		if (wire_types[i].type == type && wire_types[i].from == from)
			return wire_types[i].phases & 1u << phase;
	return false;
}

const char *wire_type_name(enum wire_type type)
{
	size_t i = type_find(type);

	return i < TYPE_COUNT ? wire_types[i].name : NULL;
}
