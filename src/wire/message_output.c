/* SPDX-License-Identifier: Apache-2.0 */

/* Messages of the guest about an execution. */

#include "wire/message.h"

#include <errno.h>

#include "wire/cursor.h"

ssize_t message_encode_output(uint8_t *buf, size_t size, uint32_t call,
			      const struct message_output *m)
{
	struct put p = put_begin(buf, size);

	put_int(&p, m->stream, 1);
	put_int(&p, m->offset, 8);
	put_rest(&p, m->data, WIRE_CHUNK_MAX);
	return put_end(&p, WIRE_OUTPUT, call);
}

int message_decode_output(const struct frame *f, struct message_output *ret)
{
	struct get g = get_begin(f);

	ret->stream = (enum wire_stream)get_enum(&g, WIRE_DISPLAYS);
	ret->offset = get_int(&g, 8);
	ret->data = get_rest(&g, WIRE_CHUNK_MAX);
	get_require(&g, ret->data.size > 0);
	/* So that the receiver can add without looking. */
	get_require(&g, ret->offset <= UINT64_MAX - ret->data.size);
	return get_end(&g);
}

ssize_t message_encode_display(uint8_t *buf, size_t size, uint32_t call,
			       const struct message_display *m)
{
	struct put p = put_begin(buf, size);

	put_int(&p, m->flags, 1);
	put_int(&p, m->item, 4);
	put_int(&p, m->bundle, 4);
	put_bytes(&p, m->mime, WIRE_MIME_MAX, 1);
	put_rest(&p, m->data, WIRE_DISPLAY_DATA_MAX);
	return put_end(&p, WIRE_DISPLAY, call);
}

int message_decode_display(const struct frame *f, struct message_display *ret)
{
	struct get g = get_begin(f);

	ret->flags = get_flags(&g, WIRE_DISPLAY_FLAGS);
	ret->item = (uint32_t)get_int(&g, 4);
	ret->bundle = (uint32_t)get_int(&g, 4);
	ret->mime = get_bytes(&g, WIRE_MIME_MAX, 1);
	ret->data = get_rest(&g, WIRE_DISPLAY_DATA_MAX);
	get_require(&g, wire_mime_valid(ret->mime));
	if (ret->flags & WIRE_DISPLAY_FILE)
		get_require(&g, wire_path_valid(ret->data));
	return get_end(&g);
}

ssize_t message_encode_error(uint8_t *buf, size_t size, uint32_t call,
			     const struct message_error *m)
{
	struct put p = put_begin(buf, size);

	put_bytes(&p, m->name, WIRE_ERROR_NAME_MAX, 2);
	put_bytes(&p, m->value, WIRE_ERROR_VALUE_MAX, 4);
	put_bytes(&p, m->traceback, WIRE_TRACEBACK_MAX, 4);
	return put_end(&p, WIRE_ERROR, call);
}

int message_decode_error(const struct frame *f, struct message_error *ret)
{
	struct get g = get_begin(f);

	ret->name = get_bytes(&g, WIRE_ERROR_NAME_MAX, 2);
	ret->value = get_bytes(&g, WIRE_ERROR_VALUE_MAX, 4);
	ret->traceback = get_bytes(&g, WIRE_TRACEBACK_MAX, 4);
	return get_end(&g);
}

ssize_t message_changed_add(uint8_t *buf, size_t size,
			    const struct message_changed_entry *e)
{
	struct put p = { .buf = buf, .size = size };

	put_int(&p, e->skip, 1);
	put_int(&p, e->size, 8);
	put_bytes(&p, e->name, WIRE_PATH_MAX, 2);
	return p.error < 0 ? p.error : (ssize_t)p.used;
}

static void get_entry(struct get *g, struct message_changed_entry *ret)
{
	ret->skip = (enum wire_skip)get_enum(g, WIRE_SKIP_COUNT);
	ret->size = get_int(g, 8);
	ret->name = get_bytes(g, WIRE_PATH_MAX, 2);
	if (ret->skip == WIRE_SKIP_NONE)
		get_require(g, wire_path_valid(ret->name));
}

int message_changed_next(struct message_changed *m,
			 struct message_changed_entry *ret)
{
	struct get g = { .at = m->entries.data, .left = m->entries.size };

	if (m->count == 0)
		return 0;
	get_entry(&g, ret);
	m->entries = (struct bytes){ .data = g.at, .size = g.left };
	m->count--;
	return 1;
}

ssize_t message_encode_changed(uint8_t *buf, size_t size, uint32_t call,
			       const struct message_changed *m)
{
	struct put p = put_begin(buf, size);

	put_int(&p, m->count, 2);
	put_rest(&p, m->entries, WIRE_PAYLOAD_MAX - 2);
	return put_end(&p, WIRE_CHANGED, call);
}

int message_decode_changed(const struct frame *f, struct message_changed *ret)
{
	struct get g = get_begin(f), walk;
	struct message_changed_entry entry;
	unsigned i;

	ret->count = (uint16_t)get_int(&g, 2);
	get_require(&g, ret->count > 0 && ret->count <= WIRE_CHANGED_MAX);
	walk = g;
	ret->entries = get_rest(&g, WIRE_PAYLOAD_MAX);
	if (g.bad)
		return -EPROTO;
	for (i = 0; i < ret->count && !walk.bad; i++)
		get_entry(&walk, &entry);
	return get_end(&walk);
}

static void put_counts(struct put *p, const uint64_t *n, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		put_int(p, n[i], 8);
}

static void get_counts(struct get *g, uint64_t *ret, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		ret[i] = get_int(g, 8);
}

ssize_t message_encode_done(uint8_t *buf, size_t size, uint32_t call,
			    const struct message_done *m)
{
	struct put p = put_begin(buf, size);

	put_int(&p, m->status, 1);
	put_int(&p, m->flags, 1);
	put_int(&p, m->signal, 1);
	put_int(&p, m->exit_code, 1);
	put_int(&p, m->execution_count, 4);
	put_int(&p, m->kernel_epoch, 4);
	put_int(&p, m->wall_usec, 8);
	put_int(&p, m->cpu_usec, 8);
	put_int(&p, m->memory_peak_bytes, 8);
	put_counts(&p, m->total, WIRE_STREAM_COUNT);
	put_counts(&p, m->omitted, WIRE_STREAM_COUNT);
	put_counts(&p, m->spilled, 2);
	put_int(&p, m->changed, 4);
	put_int(&p, m->unlisted, 4);
	return put_end(&p, WIRE_DONE, call);
}

int message_decode_done(const struct frame *f, struct message_done *ret)
{
	struct get g = get_begin(f);
	size_t i;

	ret->status = (enum wire_status)get_enum(&g, WIRE_STATUS_COUNT);
	ret->flags = get_flags(&g, WIRE_DONE_FLAGS);
	ret->signal = (uint8_t)get_int(&g, 1);
	ret->exit_code = (uint8_t)get_int(&g, 1);
	ret->execution_count = (uint32_t)get_int(&g, 4);
	ret->kernel_epoch = (uint32_t)get_int(&g, 4);
	ret->wall_usec = get_int(&g, 8);
	ret->cpu_usec = get_int(&g, 8);
	ret->memory_peak_bytes = get_int(&g, 8);
	get_counts(&g, ret->total, WIRE_STREAM_COUNT);
	get_counts(&g, ret->omitted, WIRE_STREAM_COUNT);
	get_counts(&g, ret->spilled, 2);
	ret->changed = (uint32_t)get_int(&g, 4);
	ret->unlisted = (uint32_t)get_int(&g, 4);

	for (i = 0; i < WIRE_STREAM_COUNT; i++)
		get_require(&g, ret->omitted[i] <= ret->total[i]);
	get_require(&g, ret->changed <= WIRE_CHANGED_MAX);
	return get_end(&g);
}

ssize_t message_encode_refused(uint8_t *buf, size_t size, uint32_t call,
			       const struct message_refused *m)
{
	struct put p = put_begin(buf, size);

	put_int(&p, m->why, 1);
	return put_end(&p, WIRE_REFUSED, call);
}

int message_decode_refused(const struct frame *f, struct message_refused *ret)
{
	struct get g = get_begin(f);

	ret->why = (enum wire_refusal)get_enum(&g, WIRE_REFUSAL_COUNT);
	return get_end(&g);
}
