/* SPDX-License-Identifier: Apache-2.0 */
#include "streams.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "loop.h"

#define READ_SIZE (64u * 1024)

/* Most executions are over sooner, and nobody sees a stream stand still. */
#define REST (10 * USEC_PER_MSEC)

/* A writer of so much at a time is not to be kept waiting. */
#define REST_BELOW 4096u

static void on_output(struct source *s, uint32_t events);
static void on_rested(struct timer *t);

static struct source streams[2] = {
	[WIRE_STDOUT] = { .fd = -1, .ready = on_output },
	[WIRE_STDERR] = { .fd = -1, .ready = on_output },
};
static struct timer rest = { .fire = on_rested };
static void (*user_output)(enum wire_stream stream, const uint8_t *data,
			   size_t size);
static uint8_t output[READ_SIZE];

void streams_init(void (*callback)(enum wire_stream stream, const uint8_t *data,
				   size_t size))
{
	user_output = callback;
}

int streams_open(enum wire_stream stream, int fd)
{
	return source_open(&streams[stream], fd, EPOLLIN);
}

void streams_close(void)
{
	source_close(&streams[WIRE_STDOUT]);
	source_close(&streams[WIRE_STDERR]);
	timer_clear(&rest);
}

static void streams_want(uint32_t events)
{
	source_want(&streams[WIRE_STDOUT], events);
	source_want(&streams[WIRE_STDERR], events);
}

void streams_rest(void)
{
	streams_want(0);
	timer_set(&rest, clock_boot() + REST);
}

static void on_rested(struct timer *t)
{
	(void)t;
	streams_want(EPOLLIN);
}

/* Return: bytes told */
static size_t read_stream(enum wire_stream stream)
{
	ssize_t n = read(streams[stream].fd, output, sizeof(output));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0) {
		/* Nobody can write to it any more. */
		source_close(&streams[stream]);
		return 0;
	}
	user_output(stream, output, (size_t)n);
	return (size_t)n;
}

static void on_output(struct source *s, uint32_t events)
{
	(void)events;
	if (read_stream((enum wire_stream)(s - streams)) < REST_BELOW)
		streams_rest();
}

void streams_drain(void)
{
	unsigned i;

	for (i = 0; i < 2; i++) {
		size_t n = 1;
		int left = 0;

		if (streams[i].fd < 0 ||
		    ioctl(streams[i].fd, FIONREAD, &left) < 0)
			continue;
		while (left > 0 && n > 0 && streams[i].fd >= 0) {
			n = read_stream((enum wire_stream)i);
			left -= (int)n;
		}
	}
}
