/* SPDX-License-Identifier: Apache-2.0 */

/* What the host is told about executions, frame by frame. */

#include <errno.h>
#include <string.h>

#include "exec_slot.h"

static uint8_t piece[WIRE_CHUNK_MAX];

void exec_list(struct message_hello *m)
{
	size_t i;

	m->count = 0;
	for (i = 0; i < WIRE_RETAINED_MAX; i++) {
		const struct execution *e = &exec_slots[i];

		if (e->state == EXEC_FREE || e->state == EXEC_RECEIVING)
			continue;
		m->exec[m->count++] = (struct message_hello_exec){
			.call = e->call,
			.finished = e->state == EXEC_FINISHED,
			.id = { (const uint8_t *)e->id, e->id_size },
		};
	}
}

/* Return: the item at an offset, and where its MIME type begins */
static struct display_item item_at(const struct displays *d, size_t at,
				   const uint8_t **ret_mime)
{
	struct display_item item;

	memcpy(&item, d->items + at, sizeof(item));
	*ret_mime = d->items + at + sizeof(item);
	return item;
}

static size_t item_end(const struct display_item *item, size_t at)
{
	return at + sizeof(*item) + item->mime_size + item->data_size;
}

int exec_attach(uint32_t call, const struct message_attach *m,
		enum wire_refusal *ret_refusal)
{
	struct execution *e = exec_find(call);
	const uint8_t *mime;

	if (!e || e->state == EXEC_RECEIVING) {
		*ret_refusal = WIRE_REFUSED_UNKNOWN;
		return -EBUSY;
	}
	e->sent = (struct attachment){ .is_on = true };
	memcpy(e->sent.position, m->position, sizeof(m->position));
	while (e->sent.display_at < e->displays.size) {
		struct display_item item =
			item_at(&e->displays, e->sent.display_at, &mime);

		if (item.item >= m->position[WIRE_DISPLAYS])
			break;
		e->sent.display_at = item_end(&item, e->sent.display_at);
	}
	return 0;
}

static ssize_t next_output(struct execution *e, enum wire_stream stream,
			   uint8_t *buf, size_t size)
{
	uint64_t *position = &e->sent.position[stream];
	struct message_output m = { .stream = stream };
	size_t n;

	n = capture_read(&e->streams[stream], position, piece, sizeof(piece));
	if (n == 0)
		return 0;
	m.offset = *position;
	m.data = (struct bytes){ piece, n };
	*position += n;
	return message_encode_output(buf, size, e->call, &m);
}

static ssize_t next_display(struct execution *e, uint8_t *buf, size_t size)
{
	struct attachment *s = &e->sent;
	struct message_display m;
	struct display_item item;
	const uint8_t *mime;

	if (s->display_at >= e->displays.size)
		return 0;
	item = item_at(&e->displays, s->display_at, &mime);
	m = (struct message_display){
		.flags = item.flags,
		.item = item.item,
		.bundle = item.bundle,
		.mime = { mime, item.mime_size },
		.data = { mime + item.mime_size, item.data_size },
	};
	s->display_at = item_end(&item, s->display_at);
	return message_encode_display(buf, size, e->call, &m);
}

static ssize_t next_error(struct execution *e, uint8_t *buf, size_t size)
{
	const struct failure *f = &e->failure;
	const struct message_error m = {
		.name = { f->name, f->name_size },
		.value = { f->value, f->value_size },
		.traceback = { f->traceback, f->traceback_size },
	};

	if (!f->is_set || e->sent.error_sent)
		return 0;
	e->sent.error_sent = true;
	return message_encode_error(buf, size, e->call, &m);
}

static ssize_t next_changed(struct execution *e, uint8_t *buf, size_t size)
{
	size_t from = e->sent.changed_at;
	struct message_changed m;

	if (from >= e->changed.size)
		return 0;
	e->sent.changed_at = changed_frame_end(&e->changed, from,
					       WIRE_CHUNK_MAX, &m.count);
	m.entries = (struct bytes){ e->changed.entries + from,
				    e->sent.changed_at - from };
	return message_encode_changed(buf, size, e->call, &m);
}

static ssize_t next_done(struct execution *e, uint8_t *buf, size_t size)
{
	if (e->sent.done_sent)
		return 0;
	e->sent.done_sent = true;
	return message_encode_done(buf, size, e->call, &e->done);
}

static ssize_t next_frame_of(struct execution *e, uint8_t *buf, size_t size)
{
	ssize_t n = next_output(e, WIRE_STDOUT, buf, size);

	if (n == 0)
		n = next_output(e, WIRE_STDERR, buf, size);
	if (n == 0)
		n = next_display(e, buf, size);
	if (n != 0 || e->state != EXEC_FINISHED)
		return n;
	n = next_error(e, buf, size);
	if (n == 0)
		n = next_changed(e, buf, size);
	if (n == 0)
		n = next_done(e, buf, size);
	return n;
}

ssize_t exec_next_frame(uint8_t *buf, size_t size)
{
	ssize_t n = 0;
	size_t i;

	/* Asked first: what was read for a frame must be sent. */
	if (size < WIRE_FRAME_MAX)
		return -ENOBUFS;
	for (i = 0; i < WIRE_RETAINED_MAX && n == 0; i++)
		if (exec_slots[i].state != EXEC_FREE && exec_slots[i].sent.is_on)
			n = next_frame_of(&exec_slots[i], buf, size);
	return n;
}
