/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/cursor.h"

#include <errno.h>
#include <string.h>

static bool put_room(struct put *p, size_t size)
{
	if (p->error == 0 && p->size - p->used < size)
		p->error = -ENOBUFS;
	return p->error == 0;
}

struct put put_begin(uint8_t *buf, size_t size)
{
	struct put p = { .buf = buf, .size = size };

	if (put_room(&p, sizeof(struct wire_header)))
		p.used = sizeof(struct wire_header);
	return p;
}

void put_int(struct put *p, uint64_t n, unsigned width)
{
	unsigned i;

	if (!put_room(p, width))
		return;
	for (i = 0; i < width; i++, n >>= 8)
		p->buf[p->used++] = (uint8_t)n;
}

void put_raw(struct put *p, const void *data, size_t size)
{
	if (size == 0 || !put_room(p, size))
		return;
	memcpy(p->buf + p->used, data, size);
	p->used += size;
}

void put_rest(struct put *p, struct bytes b, size_t max)
{
	if (p->error == 0 && b.size > max)
		p->error = -EMSGSIZE;
	put_raw(p, b.data, b.size);
}

void put_bytes(struct put *p, struct bytes b, size_t max, unsigned width)
{
	put_int(p, b.size, width);
	put_rest(p, b, max);
}

ssize_t put_end(struct put *p, enum wire_type type, uint32_t call)
{
	size_t length = p->used - sizeof(struct wire_header);

	if (p->error < 0)
		return p->error;
	if (length > WIRE_PAYLOAD_MAX)
		return -EMSGSIZE;
	frame_put_header(p->buf, type, call, length);
	return (ssize_t)p->used;
}

struct get get_begin(const struct frame *f)
{
	return (struct get){ .at = f->payload, .left = f->length };
}

/* Return: the next @size bytes, or NULL if there are not so many */
static const uint8_t *get_take(struct get *g, size_t size)
{
	const uint8_t *at = g->at;

	if (g->bad || g->left < size) {
		g->bad = true;
		return NULL;
	}
	g->at += size;
	g->left -= size;
	return at;
}

uint64_t get_int(struct get *g, unsigned width)
{
	const uint8_t *at = get_take(g, width);
	uint64_t n = 0;

	while (at && width > 0)
		n = n << 8 | at[--width];
	get_require(g, n <= WIRE_NUMBER_MAX);
	return g->bad ? 0 : n;
}

void get_raw(struct get *g, void *ret, size_t size)
{
	const uint8_t *at = get_take(g, size);

	if (at)
		memcpy(ret, at, size);
	else
		memset(ret, 0, size);
}

struct bytes get_bytes(struct get *g, size_t max, unsigned width)
{
	size_t size = (size_t)get_int(g, width);
	const uint8_t *at;

	get_require(g, size <= max);
	at = get_take(g, size);
	return (struct bytes){ .data = at, .size = at ? size : 0 };
}

struct bytes get_rest(struct get *g, size_t max)
{
	size_t size = g->left;
	const uint8_t *at;

	get_require(g, size <= max);
	at = get_take(g, size);
	return (struct bytes){ .data = at, .size = at ? size : 0 };
}

unsigned get_enum(struct get *g, unsigned count)
{
	unsigned n = (unsigned)get_int(g, 1);

	get_require(g, n < count);
	return g->bad ? 0 : n;
}

uint8_t get_flags(struct get *g, uint8_t known)
{
	uint8_t flags = (uint8_t)get_int(g, 1);

	get_require(g, (flags & ~known) == 0);
	return flags;
}

void get_require(struct get *g, bool rule)
{
	if (!rule)
		g->bad = true;
}

int get_end(const struct get *g)
{
	return g->bad || g->left > 0 ? -EPROTO : 0;
}
