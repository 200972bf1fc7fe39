/* SPDX-License-Identifier: Apache-2.0 */
#include "link.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include "changed.h"
#include "data.h"
#include "exec.h"
#include "kernel.h"
#include "loop.h"
#include "report.h"
#include "session.h"
#include "stage.h"
#include "vsock.h"
#include "wire/frame.h"
#include "wire/message.h"

/* No answer is longer; while there is less room, nothing is read. */
#define ANSWER_MAX 512u
#define ANSWERS_SIZE (16 * ANSWER_MAX)

/* Writes or reads before others get their turn. */
#define ROUNDS_MAX 16

#ifndef AGENT_BUILD
#define AGENT_BUILD "unknown"
#endif

static void on_link(struct source *s, uint32_t events);

static struct source link_source = { .fd = -1, .ready = on_link };
static enum wire_phase phase;
static bool ready_sent;

static uint8_t in[WIRE_FRAME_MAX];
static size_t in_size;

static uint8_t answers[ANSWERS_SIZE];
static size_t answers_size;

/* Room for a frame of any size behind others. */
static uint8_t out[2 * WIRE_FRAME_MAX];
static size_t out_at, out_size;

/* The QUIESCE being answered: the host says nothing else meanwhile. */
static struct {
	uint32_t call;		/* 0 if there is none */
	size_t at;
	struct changed_list list;
} quiesce;

static void link_close(void)
{
	source_close(&link_source);
	phase = WIRE_PHASE_CLOSED;
	in_size = answers_size = out_at = out_size = 0;
	quiesce.call = 0;
	exec_detach_all();
}

static bool can_read(void)
{
	return sizeof(answers) - answers_size >= ANSWER_MAX &&
	       quiesce.call == 0;
}

/* For "return answer(message_encode_x(answer_at(), ANSWER_MAX, ...))". */
static uint8_t *answer_at(void)
{
	return answers + answers_size;
}

static int answer(ssize_t size)
{
	assert(size > 0);	/* our own messages fit */
	answers_size += (size_t)size;
	return 0;
}

/* Tell why, if that is how @r came about. Return: 0 or @r */
static int answer_refusal(uint32_t call, int r, enum wire_refusal why)
{
	const struct message_refused m = { .why = why };

	if (r != -EBUSY)
		return r;
	return answer(message_encode_refused(answer_at(), ANSWER_MAX, call,
					     &m));
}

static int got_configure(const struct frame *f)
{
	struct message_configure m;
	int r = message_decode_configure(f, &m);

	if (r < 0)
		return r;
	session_configure(&m);
	phase = WIRE_PHASE_WORK;
	return answer(message_encode_bare(answer_at(), ANSWER_MAX,
					  WIRE_CONFIGURED, 0));
}

static int got_ping(const struct frame *f)
{
	struct message_ping m;
	int r = message_decode_ping(f, &m);

	if (r < 0)
		return r;
	return answer(message_encode_ping(answer_at(), ANSWER_MAX, WIRE_PONG,
					  &m));
}

static int got_exec(const struct frame *f)
{
	enum wire_refusal why = WIRE_REFUSED_UNKNOWN;
	struct message_exec m;
	int r = message_decode_exec(f, &m);

	if (r >= 0)
		r = exec_begin(f->call, &m, &why);
	return answer_refusal(f->call, r, why);
}

static int got_input(const struct frame *f)
{
	enum wire_refusal why = WIRE_REFUSED_UNKNOWN;
	struct message_data m;
	int r = message_decode_data(f, &m);

	if (r >= 0)
		r = exec_input(f->call, m.data, &why);
	return answer_refusal(f->call, r, why);
}

static int got_release(const struct frame *f)
{
	int r = message_decode_bare(f);

	return r < 0 ? r : exec_release(f->call);
}

static int got_attach(const struct frame *f)
{
	enum wire_refusal why = WIRE_REFUSED_UNKNOWN;
	struct message_attach m;
	int r = message_decode_attach(f, &m);

	if (r >= 0)
		r = exec_attach(f->call, &m, &why);
	return answer_refusal(f->call, r, why);
}

static int got_interrupt(const struct frame *f)
{
	int r = message_decode_bare(f);

	if (r >= 0)
		exec_interrupt(f->call);
	return r;
}

static int got_stat(const struct frame *f)
{
	struct message_status m;
	int r = message_decode_bare(f);

	if (r < 0)
		return r;
	session_status(&m);
	return answer(message_encode_status(answer_at(), ANSWER_MAX, f->call,
					    &m));
}

static int got_quiesce(const struct frame *f)
{
	int r = message_decode_bare(f);

	if (r < 0)
		return r;
	/* Stores through mmap get their ctime when they are written back. */
	(void)syncfs(data_dir());
	changed_scan(&quiesce.list);
	quiesce.call = f->call;
	quiesce.at = 0;
	return 0;
}

static int got_delete(const struct frame *f)
{
	struct message_result result;
	struct message_path m;
	int r = message_decode_path(f, &m);

	if (r < 0)
		return r;
	result.status = data_delete(m.path);
	return answer(message_encode_result(answer_at(), ANSWER_MAX, f->call,
					    &result));
}

static int got_shutdown(const struct frame *f)
{
	int r = message_decode_bare(f);

	if (r >= 0)
		session_shutdown();
	return r;
}

/* In which phase a frame is right is in the table of frame.c. */
static const struct {
	enum wire_type type;
	int (*handle)(const struct frame *f);
} handlers[] = {
	{ WIRE_CONFIGURE, got_configure },
	{ WIRE_PING, got_ping },
	{ WIRE_EXEC, got_exec },
	{ WIRE_INPUT, got_input },
	{ WIRE_RELEASE, got_release },
	{ WIRE_ATTACH, got_attach },
	{ WIRE_INTERRUPT, got_interrupt },
	{ WIRE_STAT, got_stat },
	{ WIRE_QUIESCE, got_quiesce },
	{ WIRE_DELETE, got_delete },
	{ WIRE_SHUTDOWN, got_shutdown },
};

static int dispatch(const struct frame *f)
{
	size_t i;

	if (!frame_may_say(WIRE_HOST, phase, f->type))
		return -EPROTO;
	for (i = 0; i < sizeof(handlers) / sizeof(handlers[0]); i++)
		if (handlers[i].type == f->type)
			return handlers[i].handle(f);
	return -EPROTO;
}

/* Handle the whole frames in the buffer. Return: 0 or -errno */
static int parse(void)
{
	size_t at = 0, used;
	struct frame f;
	int r = 0;

	while (can_read()) {
		r = frame_next(in + at, in_size - at, &f, &used);
		if (r <= 0)
			break;
		r = dispatch(&f);
		if (r < 0)
			break;
		at += used;
	}
	if (r < 0)
		return r;
	in_size -= at;
	memmove(in, in + at, in_size);
	return 0;
}

static ssize_t next_quiesce(uint8_t *buf, size_t size)
{
	struct message_quiesced done = { quiesce.list.count,
					 quiesce.list.unlisted };
	struct message_changed m;
	size_t from = quiesce.at;
	uint32_t call = quiesce.call;

	if (call == 0)
		return 0;
	if (from >= quiesce.list.size) {
		quiesce.call = 0;
		return message_encode_quiesced(buf, size, call, &done);
	}
	quiesce.at = changed_frame_end(&quiesce.list, from, WIRE_CHUNK_MAX,
				       &m.count);
	m.entries = (struct bytes){ quiesce.list.entries + from,
				    quiesce.at - from };
	return message_encode_changed(buf, size, call, &m);
}

static ssize_t next_ready(uint8_t *buf, size_t size)
{
	struct message_ready m = { .kernel_epoch = kernel_epoch() };

	if (ready_sent || phase != WIRE_PHASE_WORK || !kernel_is_alive())
		return 0;
	stage_reached(WIRE_STAGE_KERNEL);
	stage_read(m.stage_usec);
	ready_sent = true;
	return message_encode_ready(buf, size, 0, &m);
}

/* Return: bytes written, 0 if there is nothing to send, -ENOBUFS */
static ssize_t next_frame(uint8_t *buf, size_t size)
{
	ssize_t n = (ssize_t)answers_size;

	if (size < WIRE_FRAME_MAX)
		return -ENOBUFS;
	if (n > 0) {
		memcpy(buf, answers, answers_size);
		answers_size = 0;
		return n;
	}
	n = next_ready(buf, size);
	if (n == 0)
		n = next_quiesce(buf, size);
	if (n == 0)
		n = exec_next_frame(buf, size);
	return n;
}

/* As many frames as there is room for: one write is cheaper than two. */
static void fill(void)
{
	ssize_t n;

	out_at = out_size = 0;
	while ((n = next_frame(out + out_size, sizeof(out) - out_size)) > 0)
		out_size += (size_t)n;
}

/*
 * Return: 0 if there is nothing left to write, 1 if there is, -errno if the
 * connection is of no use any more
 */
static int write_some(void)
{
	int i;

	for (i = 0; i < ROUNDS_MAX; i++) {
		ssize_t n;

		if (out_at == out_size)
			fill();
		if (out_size == 0)
			return 0;
		n = (ssize_t)(out_size - out_at);
		n = send(link_source.fd, out + out_at,
			 n < VSOCK_SEND_MAX ? (size_t)n : VSOCK_SEND_MAX,
			 MSG_NOSIGNAL);
		if (n < 0)
			return errno == EAGAIN || errno == EINTR ? 1 : -errno;
		out_at += (size_t)n;
	}
	return 1;
}

static int read_some(void)
{
	ssize_t n;

	/* A whole frame always fits, so a full buffer has one. */
	if (!can_read() || in_size == sizeof(in))
		return 0;
	n = recv(link_source.fd, in + in_size, sizeof(in) - in_size, 0);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if (n == 0)
		return -ECONNRESET;
	in_size += (size_t)n;
	return 0;
}

/* Return: as write_some() */
static int exchange(uint32_t events)
{
	bool waited;
	int r = 0;

	if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
		r = read_some();
	do {
		if (r >= 0)
			r = parse();
		waited = !can_read();
		if (r >= 0)
			r = write_some();
		/* Frames that waited for room among the answers. */
	} while (r == 0 && waited && can_read());
	return r;
}

static void serve(uint32_t events)
{
	static bool serving;
	int r;

	/* What a frame sets off may wake us: it is sent when that is done. */
	if (serving)
		return;
	serving = true;
	r = exchange(events);
	serving = false;
	if (r < 0) {
		if (r != -ECONNRESET)
			report_error(r, "the control connection is lost");
		link_close();
		return;
	}
	source_want(&link_source, (can_read() ? EPOLLIN : 0u) |
				  (r > 0 ? EPOLLOUT : 0u));
}

static void on_link(struct source *s, uint32_t events)
{
	(void)s;
	serve(events);
}

void link_wake(void)
{
	if (link_source.fd >= 0)
		serve(0);
}

static void say_hello(void)
{
	struct message_hello m = {
		.version = WIRE_VERSION,
		.flags = WIRE_HELLO_TRACES |
			 (session_is_configured() ? WIRE_HELLO_CONFIGURED : 0),
		.build = { (const uint8_t *)AGENT_BUILD,
			   sizeof(AGENT_BUILD) - 1 },
		.kernel_epoch = kernel_epoch(),
	};

	exec_list(&m);
	(void)answer(message_encode_hello(answer_at(), ANSWER_MAX, 0, &m));
}

void link_adopt(int fd, uint16_t version, const uint8_t *rest, size_t size)
{
	if (link_source.fd >= 0)
		report("another control connection takes over");
	link_close();
	if (size > sizeof(in) || source_open(&link_source, fd, EPOLLIN) < 0) {
		(void)close(fd);
		return;
	}
	ready_sent = false;
	phase = session_is_configured() ? WIRE_PHASE_WORK : WIRE_PHASE_SETUP;
	say_hello();
	if (version != WIRE_VERSION) {
		(void)write_some();
		link_close();
		return;
	}
	memcpy(in, rest, size);
	in_size = size;
	serve(0);
}
