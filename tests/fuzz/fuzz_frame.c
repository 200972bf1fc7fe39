/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Frames and messages as a hostile peer may send them. What is taken must lie
 * within the input, and what was decoded must encode to the same bytes: two
 * readings of one frame are one too many.
 */

#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "wire/message.h"

static uint8_t again[WIRE_FRAME_MAX];

static void check(const struct frame *f, ssize_t size)
{
	if (size != (ssize_t)(sizeof(struct wire_header) + f->length) ||
	    (f->length > 0 &&
	     memcmp(again + sizeof(struct wire_header), f->payload,
		    f->length) != 0))
		abort();
}

#define ROUND_TRIP(x)                                                          \
	static void try_##x(const struct frame *f)                             \
	{                                                                      \
		struct message_##x m;                                          \
									       \
		if (message_decode_##x(f, &m) == 0)                            \
			check(f, message_encode_##x(again, sizeof(again),      \
						    f->call, &m));             \
	}

ROUND_TRIP(configure)
ROUND_TRIP(ready)
ROUND_TRIP(exec)
ROUND_TRIP(attach)
ROUND_TRIP(output)
ROUND_TRIP(display)
ROUND_TRIP(error)
ROUND_TRIP(done)
ROUND_TRIP(refused)
ROUND_TRIP(status)
ROUND_TRIP(quiesced)
ROUND_TRIP(result)
ROUND_TRIP(file)
ROUND_TRIP(put)
ROUND_TRIP(end)

/* Another version's rest is not looked at, so it does not come back. */
static void try_open(const struct frame *f)
{
	struct message_open m;

	if (message_decode_open(f, &m) == 0 && m.version == WIRE_VERSION)
		check(f, message_encode_open(again, sizeof(again), 0, &m));
}

static void try_hello(const struct frame *f)
{
	struct message_hello m;

	if (message_decode_hello(f, &m) == 0 && m.version == WIRE_VERSION)
		check(f, message_encode_hello(again, sizeof(again), 0, &m));
}

static void try_ping(const struct frame *f)
{
	struct message_ping m;

	if (message_decode_ping(f, &m) == 0)
		check(f, message_encode_ping(again, sizeof(again), f->type,
					     &m));
}

static void try_data(const struct frame *f)
{
	struct message_data m;

	if (message_decode_data(f, &m) == 0)
		check(f, message_encode_data(again, sizeof(again), f->type,
					     f->call, &m));
}

static void try_path(const struct frame *f)
{
	struct message_path m;

	if (message_decode_path(f, &m) == 0)
		check(f, message_encode_path(again, sizeof(again), f->type,
					     f->call, &m));
}

static void try_bare(const struct frame *f)
{
	if (message_decode_bare(f) == 0)
		check(f, message_encode_bare(again, sizeof(again), f->type,
					     f->call));
}

static void try_changed(const struct frame *f)
{
	struct message_changed_entry entry;
	struct message_changed m;
	unsigned count = 0, told;

	if (message_decode_changed(f, &m) < 0)
		return;
	check(f, message_encode_changed(again, sizeof(again), f->call, &m));
	told = m.count;
	while (message_changed_next(&m, &entry)) {
		if (entry.name.size > 0 &&
		    (entry.name.data < f->payload ||
		     entry.name.data + entry.name.size >
			     f->payload + f->length))
			abort();
		count++;
	}
	if (count != told || m.entries.size != 0)
		abort();
}

static const struct {
	enum wire_type type;
	void (*try)(const struct frame *f);
} messages[] = {
	{ WIRE_OPEN, try_open },	 { WIRE_CONFIGURE, try_configure },
	{ WIRE_PING, try_ping },	 { WIRE_EXEC, try_exec },
	{ WIRE_INPUT, try_data },	 { WIRE_RELEASE, try_bare },
	{ WIRE_ATTACH, try_attach },	 { WIRE_INTERRUPT, try_bare },
	{ WIRE_STAT, try_bare },	 { WIRE_QUIESCE, try_bare },
	{ WIRE_DELETE, try_path },	 { WIRE_SHUTDOWN, try_bare },
	{ WIRE_HELLO, try_hello },	 { WIRE_CONFIGURED, try_bare },
	{ WIRE_READY, try_ready },	 { WIRE_PONG, try_ping },
	{ WIRE_OUTPUT, try_output },	 { WIRE_DISPLAY, try_display },
	{ WIRE_ERROR, try_error },	 { WIRE_CHANGED, try_changed },
	{ WIRE_DONE, try_done },	 { WIRE_REFUSED, try_refused },
	{ WIRE_STATUS, try_status },	 { WIRE_QUIESCED, try_quiesced },
	{ WIRE_RESULT, try_result },	 { WIRE_GET, try_path },
	{ WIRE_FILE, try_file },	 { WIRE_PUT, try_put },
	{ WIRE_DATA, try_data },	 { WIRE_END, try_end },
};

/* Each frame is one side's to say, and none may be said after the end. */
static void try_phases(const struct frame *f)
{
	unsigned phase, host = 0, guest = 0;

	for (phase = 0; phase < WIRE_PHASE_COUNT; phase++) {
		host += frame_may_say(WIRE_HOST, (enum wire_phase)phase,
				      f->type);
		guest += frame_may_say(WIRE_GUEST, (enum wire_phase)phase,
				       f->type);
	}
	/* But DATA goes where the file goes. */
	if (f->type != WIRE_DATA && (host > 0) == (guest > 0))
		abort();
	if (frame_may_say(WIRE_HOST, WIRE_PHASE_CLOSED, f->type) ||
	    frame_may_say(WIRE_GUEST, WIRE_PHASE_CLOSED, f->type))
		abort();
}

static void try_message(const struct frame *f)
{
	size_t i;

	try_phases(f);
	for (i = 0; i < sizeof(messages) / sizeof(messages[0]); i++)
		if (messages[i].type == f->type)
			messages[i].try(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Its own allocation, so that ASan sees one byte too far. */
	uint8_t *bytes = malloc(size ? size : 1);
	size_t at = 0, used;
	struct frame f;

	if (!bytes)
		abort();
	if (size > 0)
		memcpy(bytes, data, size);

	while (frame_next(bytes + at, size - at, &f, &used) > 0) {
		if (used < sizeof(struct wire_header) || used > size - at)
			abort();
		if (f.payload + f.length != bytes + at + used)
			abort();
		try_message(&f);
		at += used;
	}
	free(bytes);
	return 0;
}
