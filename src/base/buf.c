#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"

/*
 * Memory is laid out as
 *
 *	| head: given back | length: the bytes | NUL | room |
 *	                   ^ data
 *	|<-------------------- capacity ------------------->|
 *
 * Bytes are moved to the front only when room is needed and at least half of
 * what is used lies in front of them, so that a queue costs O(1) per byte.
 */

enum {
	BUF_CAPACITY_MIN = 64,
};

static uint8_t *buf_start(const struct buf *b)
{
	return b->data ? b->data - b->head : NULL;
}

void buf_done(struct buf *b)
{
	free(buf_start(b));
	*b = BUF_INIT(b->max);
}

void buf_clear(struct buf *b)
{
	b->data = buf_start(b);
	b->head = 0;
	b->length = 0;
	b->starved = false;
	if (b->data)
		b->data[0] = '\0';
}

int buf_check(const struct buf *b)
{
	return b->starved ? -ENOMEM : 0;
}

/* Gives the bytes a new home with place for @need bytes and the NUL. */
static int buf_grow(struct buf *b, size_t need)
{
	size_t capacity = b->capacity < BUF_CAPACITY_MIN ? BUF_CAPACITY_MIN :
							   b->capacity;
	uint8_t *start;

	while (capacity <= need) {
		if (capacity > SIZE_MAX / 2)
			return -ENOMEM;
		capacity *= 2;
	}
	/* No need to go far beyond the ceiling for the last doubling. */
	if (capacity > b->max && need <= b->max && b->max < SIZE_MAX)
		capacity = b->max + 1;

	start = malloc(capacity);
	if (!start) {
		b->starved = true;
		return -ENOMEM;
	}
	if (b->data)
		memcpy(start, b->data, b->length);
	start[b->length] = '\0';
	free(buf_start(b));
	b->data = start;
	b->head = 0;
	b->capacity = capacity;
	return 0;
}

int buf_reserve(struct buf *b, size_t size, void **ret_room)
{
	int r;

	if (b->length > b->max || size > b->max - b->length)
		return -EMSGSIZE;

	/* No overflow below: length + size is at most max. */
	if (b->data && b->head >= b->length + size &&
	    b->capacity - b->head <= b->length + size) {
		memmove(buf_start(b), b->data, b->length + 1);
		b->data = buf_start(b);
		b->head = 0;
	}
	if (b->capacity - b->head <= b->length + size) {
		r = buf_grow(b, b->length + size);
		if (r < 0)
			return r;
	}
	*ret_room = b->data + b->length;
	return 0;
}

void buf_commit(struct buf *b, size_t size)
{
	if (size == 0)
		return;
	assert(b->data && b->capacity - b->head - b->length > size);
	b->length += size;
	b->data[b->length] = '\0';
}

int buf_add(struct buf *b, const void *data, size_t size)
{
	void *room;
	int r;

	if (size == 0)
		return 0;
	r = buf_reserve(b, size, &room);
	if (r < 0)
		return r;
	memcpy(room, data, size);
	buf_commit(b, size);
	return 0;
}

int buf_add_byte(struct buf *b, uint8_t byte)
{
	return buf_add(b, &byte, 1);
}

int buf_add_str(struct buf *b, const char *s)
{
	return buf_add(b, s, strlen(s));
}

int buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
	void *room;
	va_list again;
	int n, r;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n < 0)
		return -EINVAL;
	r = buf_reserve(b, (size_t)n, &room);
	if (r < 0)
		return r;
	/* There is place for the NUL behind what was reserved. */
	(void)vsnprintf(room, (size_t)n + 1, fmt, ap);
	buf_commit(b, (size_t)n);
	return 0;
}

int buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = buf_vprintf(b, fmt, ap);
	va_end(ap);
	return r;
}

void buf_consume(struct buf *b, size_t size)
{
	assert(size <= b->length);
	if (size == b->length) {
		buf_clear(b);
		return;
	}
	b->data += size;
	b->head += size;
	b->length -= size;
}

void buf_truncate(struct buf *b, size_t length)
{
	assert(length <= b->length);
	b->length = length;
	if (b->data)
		b->data[length] = '\0';
}

const char *buf_str(const struct buf *b)
{
	return b->data ? (const char *)b->data : "";
}

char *buf_take(struct buf *b, size_t *ret_length)
{
	uint8_t *start;

	if (!b->data && buf_grow(b, 0) < 0)
		return NULL;
	start = buf_start(b);
	if (b->head > 0)
		memmove(start, b->data, b->length + 1);
	if (ret_length)
		*ret_length = b->length;
	*b = BUF_INIT(b->max);
	return (char *)start;
}

ssize_t buf_read(struct buf *b, int fd, size_t size)
{
	void *room;
	ssize_t n;
	int r;

	if (size > buf_room(b))
		size = buf_room(b);
	if (size == 0)
		return -EMSGSIZE;
	r = buf_reserve(b, size, &room);
	if (r < 0)
		return r;
	do
		n = read(fd, room, size);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	buf_commit(b, (size_t)n);
	return n;
}

ssize_t buf_write(struct buf *b, int fd)
{
	ssize_t n;

	if (b->length == 0)
		return 0;
	do {
		n = send(fd, b->data, b->length, MSG_NOSIGNAL);
		if (n < 0 && errno == ENOTSOCK)
			n = write(fd, b->data, b->length);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	buf_consume(b, (size_t)n);
	return n;
}
