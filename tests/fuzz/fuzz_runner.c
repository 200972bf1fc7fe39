/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What user code may say to the agent in the guest, as its runner or as itself.
 * Whatever it is, the agent must make of it only frames that the daemon takes:
 * a refused one would end the session.
 *
 * An input is pieces of a length (2 bytes) and that many bytes: output when the
 * length's highest bit is set (of stderr, if the next is too), else a message.
 */

#include "fuzz.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "exec_slot.h"
#include "runner.h"

enum {
	PIECE_OUTPUT = 0x8000,
	PIECE_STDERR = 0x4000,
	PIECE_SIZE = 0x3fff,
	HEAD_SIZE = 200,
	TAIL_SIZE = 100,
};

struct execution exec_slots[WIRE_RETAINED_MAX];

struct execution *exec_find(uint32_t call)
{
	return call == exec_slots[0].call ? &exec_slots[0] : NULL;
}

/* Files are listed by another module, and none here. */
size_t changed_frame_end(const struct changed_list *list, size_t from,
			 size_t room, uint16_t *ret_count)
{
	(void)list;
	(void)from;
	(void)room;
	(void)ret_count;
	abort();
}

static void begin(struct execution *e)
{
	unsigned i;

	e->state = EXEC_RUNNING;
	e->call = 1;
	e->displays.total = e->displays.kept = e->displays.bundle = 0;
	e->displays.size = 0;
	memset(&e->failure, 0, sizeof(e->failure));
	e->done = (struct message_done){ .execution_count = 1 };
	for (i = 0; i < 2; i++)
		capture_begin(&e->streams[i], HEAD_SIZE, TAIL_SIZE, 0, "");
}

static void take(struct execution *e, unsigned kind, const uint8_t *data,
		 size_t size)
{
	/* Its own allocation, so that ASan sees one byte too far. */
	uint8_t *bytes = malloc(size ? size : 1);
	bool failed;

	if (!bytes)
		abort();
	if (size > 0)
		memcpy(bytes, data, size);
	if (kind & PIECE_OUTPUT)
		capture_take(&e->streams[kind & PIECE_STDERR ? 1 : 0], bytes,
			     size);
	else if (size > 0)
		(void)exec_got_message(e, bytes, size, &failed);
	free(bytes);
}

struct heard {
	uint64_t position[WIRE_STREAM_COUNT];
	uint32_t bundle;
	size_t bytes[WIRE_STREAM_COUNT];
	unsigned items, errors;
};

/* The rules of core/exec_output.c. */
static void hear_output(struct heard *h, const struct frame *f)
{
	struct message_output m;

	if (message_decode_output(f, &m) < 0 ||
	    m.offset < h->position[m.stream])
		abort();
	h->position[m.stream] = m.offset + m.data.size;
	h->bytes[m.stream] += m.data.size;
	if (h->bytes[m.stream] > HEAD_SIZE + TAIL_SIZE)
		abort();
}

static void hear_display(struct heard *h, const struct frame *f)
{
	struct message_display m;

	if (message_decode_display(f, &m) < 0 ||
	    m.item < h->position[WIRE_DISPLAYS] || m.bundle < h->bundle)
		abort();
	h->position[WIRE_DISPLAYS] = (uint64_t)m.item + 1;
	h->bundle = m.bundle;
	h->bytes[WIRE_DISPLAYS] += m.data.size;
	if (++h->items > WIRE_DISPLAY_ITEMS_MAX ||
	    h->bytes[WIRE_DISPLAYS] > WIRE_DISPLAY_MAX)
		abort();
}

static void hear(struct heard *h, const uint8_t *data, size_t size)
{
	struct message_error error;
	struct message_done done;
	struct frame f;
	size_t used;

	if (frame_next(data, size, &f, &used) != 1 || used != size)
		abort();
	if (f.type == WIRE_OUTPUT)
		hear_output(h, &f);
	else if (f.type == WIRE_DISPLAY)
		hear_display(h, &f);
	else if (f.type == WIRE_ERROR ?
			 message_decode_error(&f, &error) < 0 || h->errors++ :
			 message_decode_done(&f, &done) < 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct message_attach attach = { .position = { 0 } };
	static uint8_t frame[WIRE_FRAME_MAX];
	struct execution *e = &exec_slots[0];
	struct heard h = { .items = 0 };
	enum wire_refusal refusal;
	ssize_t n;

	begin(e);
	while (size >= 2) {
		unsigned kind = data[0] | (unsigned)data[1] << 8;
		size_t length = kind & PIECE_SIZE;

		length = length < size - 2 ? length : size - 2;
		take(e, kind, data + 2, length);
		data += 2 + length;
		size -= 2 + length;
	}
	capture_finish(&e->streams[0]);
	capture_finish(&e->streams[1]);
	e->state = EXEC_FINISHED;
	if (exec_attach(1, &attach, &refusal) < 0)
		abort();
	while ((n = exec_next_frame(frame, sizeof(frame))) > 0)
		hear(&h, frame, (size_t)n);
	if (n < 0)
		abort();
	return 0;
}
