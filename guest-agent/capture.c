/* SPDX-License-Identifier: Apache-2.0 */
#include "capture.h"

#include <string.h>
#include <unistd.h>

#include "data.h"
#include "report.h"

#define MIN(a, b) ((a) < (b) ? (a) : (b))

/* Return: how long the sequence that begins with @c is, 1 if it is none */
static size_t utf8_length(uint8_t c)
{
	if (c >= 0xf0 && c <= 0xf4)
		return 4;
	if (c >= 0xe0 && c <= 0xef)
		return 3;
	if (c >= 0xc2 && c <= 0xdf)
		return 2;
	return 1;
}

static bool utf8_continues(uint8_t c)
{
	return (c & 0xc0) == 0x80;
}

size_t utf8_whole(const uint8_t *data, size_t size)
{
	size_t back = 1;

	while (back <= 3 && back <= size && utf8_continues(data[size - back]))
		back++;
	if (back > 3 || back > size)
		return size;
	return utf8_length(data[size - back]) > back ? size - back : size;
}

void capture_begin(struct capture *c, size_t head_max, size_t tail_max,
		   uint64_t spill_max, const char *spill_name)
{
	c->total = c->spilled = 0;
	c->head_max = head_max;
	c->tail_max = tail_max;
	c->spill_max = spill_max;
	c->spill_fd = -1;
	c->spill_failed = c->finished = false;
	(void)strncpy(c->spill_name, spill_name, sizeof(c->spill_name) - 1);
}

static bool capture_overflows(const struct capture *c, size_t more)
{
	return c->total + more > c->head_max + c->tail_max;
}

/*
 * User code may have filled the disk. Then the file is as long as it is, and
 * the counters say what was kept.
 */
static void spill_write(struct capture *c, const uint8_t *data, size_t size)
{
	size = (size_t)MIN(size, c->spill_max - c->spilled);
	while (size > 0 && !c->spill_failed) {
		ssize_t n = write(c->spill_fd, data, size);

		if (n <= 0) {
			c->spill_failed = true;
			break;
		}
		data += n;
		size -= (size_t)n;
		c->spilled += (size_t)n;
	}
}

/* Called before the first byte is lost: head and tail are all there is. */
static void spill_begin(struct capture *c)
{
	size_t in_tail = (size_t)(c->total - MIN(c->total, c->head_max));

	c->spill_fd = data_create(c->spill_name);
	if (c->spill_fd < 0) {
		report_error(c->spill_fd, "cannot keep output in a file");
		c->spill_failed = true;
		return;
	}
	spill_write(c, c->head, (size_t)MIN(c->total, c->head_max));
	spill_write(c, c->tail, in_tail);
}

static void tail_take(struct capture *c, uint64_t offset, const uint8_t *data,
		      size_t size)
{
	size_t at, n;

	if (size > c->tail_max) {
		offset += size - c->tail_max;
		data += size - c->tail_max;
		size = c->tail_max;
	}
	while (size > 0) {
		at = (size_t)((offset - c->head_max) % c->tail_max);
		n = MIN(size, c->tail_max - at);
		memcpy(c->tail + at, data, n);
		data += n;
		size -= n;
		offset += n;
	}
}

void capture_take(struct capture *c, const uint8_t *data, size_t size)
{
	size_t n;

	if (c->spill_max > 0 && !c->spill_failed &&
	    capture_overflows(c, size)) {
		if (c->spill_fd < 0)
			spill_begin(c);
		spill_write(c, data, size);
	}
	if (c->total < c->head_max) {
		n = (size_t)MIN(size, c->head_max - c->total);
		memcpy(c->head + c->total, data, n);
		c->total += n;
		data += n;
		size -= n;
	}
	tail_take(c, c->total, data, size);
	c->total += size;
}

void capture_finish(struct capture *c)
{
	c->finished = true;
	if (c->spill_fd >= 0)
		(void)close(c->spill_fd);
	c->spill_fd = -1;
}

/*
 * Where the head ends for the reader. If nothing was omitted in the end, that
 * is where the stream ends.
 */
static uint64_t head_end(const struct capture *c)
{
	if (c->finished && !capture_overflows(c, 0))
		return c->total;
	return utf8_whole(c->head, (size_t)MIN(c->total, c->head_max));
}

static uint8_t tail_byte(const struct capture *c, uint64_t offset)
{
	return c->tail[(offset - c->head_max) % c->tail_max];
}

/* Where the tail begins for the reader. */
static uint64_t tail_begin(const struct capture *c)
{
	uint64_t at;
	int i;

	if (!capture_overflows(c, 0))
		return head_end(c);
	at = c->total - c->tail_max;
	for (i = 0; i < 3 && at < c->total && utf8_continues(tail_byte(c, at));
	     i++)
		at++;
	return at;
}

uint64_t capture_omitted(const struct capture *c)
{
	return tail_begin(c) - head_end(c);
}

/* Copy bytes that are known to be kept. */
static void copy_out(const struct capture *c, uint64_t position, uint8_t *buf,
		     size_t size)
{
	size_t at, n;

	while (size > 0) {
		if (position < c->head_max) {
			at = (size_t)position;
			n = MIN(size, c->head_max - at);
			memcpy(buf, c->head + at, n);
		} else {
			at = (size_t)((position - c->head_max) % c->tail_max);
			n = MIN(size, c->tail_max - at);
			memcpy(buf, c->tail + at, n);
		}
		position += n;
		buf += n;
		size -= n;
	}
}

size_t capture_read(const struct capture *c, uint64_t *position, uint8_t *buf,
		    size_t size)
{
	uint64_t end = head_end(c);

	if (*position >= end) {
		if (!c->finished || *position >= c->total)
			return 0;
		if (*position < tail_begin(c))
			*position = tail_begin(c);
		end = c->total;
	}
	size = (size_t)MIN(size, end - *position);
	copy_out(c, *position, buf, size);
	return *position + size == end ? size : utf8_whole(buf, size);
}
