/* SPDX-License-Identifier: Apache-2.0 */
#include "core/guest_link.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/id.h"
#include "base/timer.h"

/* Room for any frame that has no bulk in it. */
#define LINK_FRAME_SMALL 1024u

/* Processes of one kernel. */
#define LINK_PIDS_MAX 512

struct guest_link {
	struct gc *gc;
	struct gc_node buried;
	struct guest_conn *conn;
	struct timer *ping;
	struct timer *release; /* for those below */
	struct clock *wall;
	char hostname[WIRE_HOSTNAME_MAX + 1];
	bool emulated;
	bool ready;
	bool traces; /* the guest can be told the trace of an execution */
	uint64_t memory_max_bytes;
	uint32_t ping_sequence; /* of the last PING */
	uint32_t pong_sequence; /* of the last PONG */
	unsigned pings_missed;
	uint32_t released[WIRE_RETAINED_MAX];
	unsigned released_count;

	const struct guest_link_ops *ops;
	void *userdata;
};

static void link_free(void *object)
{
	struct guest_link *link = object;

	timer_free(link->ping);
	timer_free(link->release);
	free(link);
}

void guest_link_close(struct guest_link *link)
{
	if (!link)
		return;
	link->ops = NULL;
	link->ready = false;
	guest_conn_close(link->conn);
	link->conn = NULL;
	timer_clear(link->ping);
	timer_clear(link->release);
	gc_bury(link->gc, &link->buried, link_free, link);
}

static void link_end(struct guest_link *link, enum guest_conn_end why,
		     const struct error *err)
{
	const struct guest_link_ops *ops = link->ops;

	if (!ops)
		return;
	link->ops = NULL;
	link->ready = false;
	ops->ended(why, err, link->userdata);
}

bool guest_link_open(const struct guest_link *link)
{
	return link && link->ready;
}

/* Reserves room for one frame; what the encoder makes of it is committed. */
static int link_room(struct guest_link *link, size_t size, void **ret)
{
	if (!link || !link->ops || !link->conn ||
	    guest_conn_phase(link->conn) < WIRE_PHASE_SETUP)
		return -ENOTCONN;
	return buf_reserve(guest_conn_queue(link->conn), size, ret);
}

static int link_keep(struct guest_link *link, ssize_t n)
{
	if (n < 0)
		return (int)n;
	buf_commit(guest_conn_queue(link->conn), (size_t)n);
	return 0;
}

static int link_send(struct guest_link *link, ssize_t n)
{
	int r = link_keep(link, n);

	if (r >= 0)
		guest_conn_flush(link->conn);
	return r;
}

static int link_send_bare(struct guest_link *link, enum wire_type type,
			  uint32_t call)
{
	void *room;
	int r;

	r = link_room(link, LINK_FRAME_SMALL, &room);
	if (r < 0)
		return r;
	return link_send(
		link, message_encode_bare(room, LINK_FRAME_SMALL, type, call));
}

static int link_configure(struct guest_link *link)
{
	struct message_configure m = {
		.flags = link->emulated ? WIRE_CONFIGURE_EMULATED : 0,
		.wall_usec = clock_wall(link->wall),
		.memory_max_bytes = link->memory_max_bytes,
		.pids_max = LINK_PIDS_MAX,
		.hostname = { (const uint8_t *)link->hostname,
			      strlen(link->hostname) },
	};
	void *room;
	int r;

	r = random_bytes(m.entropy, sizeof(m.entropy));
	if (r >= 0)
		r = link_room(link, LINK_FRAME_SMALL, &room);
	if (r >= 0)
		r = link_send(link, message_encode_configure(
					    room, LINK_FRAME_SMALL, 0, &m));
	explicit_bzero(m.entropy, sizeof(m.entropy));
	return r;
}

static int got_hello(struct guest_link *link, const struct frame *f,
		     struct error *err)
{
	struct message_hello hello;
	bool configured;
	int r;

	r = message_decode_hello(f, &hello);
	if (r < 0)
		return r;
	if (hello.version != WIRE_VERSION)
		return error_set(err, ERR_GUEST,
				 "the guest speaks version %u "
				 "of the protocol, not %u",
				 hello.version, WIRE_VERSION);

	link->traces = hello.flags & WIRE_HELLO_TRACES;
	configured = hello.flags & WIRE_HELLO_CONFIGURED;
	guest_conn_enter(link->conn,
			 configured ? WIRE_PHASE_WORK : WIRE_PHASE_SETUP);
	r = link->ops->greeted(&hello, link->userdata, err);
	if (r < 0 || !link->ops || configured)
		return r;
	return link_configure(link);
}

static int got_configured(struct guest_link *link, const struct frame *f,
			  struct error *err)
{
	(void)err;
	guest_conn_enter(link->conn, WIRE_PHASE_WORK);
	return message_decode_bare(f);
}

static int got_ready(struct guest_link *link, const struct frame *f,
		     struct error *err)
{
	struct message_ready ready;
	int r;

	r = message_decode_ready(f, &ready);
	if (r < 0)
		return r;
	if (link->ready)
		return error_set(err, ERR_GUEST,
				 "the guest said twice that it is ready");
	link->ready = true;
	link->ops->ready(&ready, link->userdata);
	return 0;
}

static int got_pong(struct guest_link *link, const struct frame *f,
		    struct error *err)
{
	struct message_ping pong;
	int r;

	r = message_decode_ping(f, &pong);
	if (r < 0)
		return r;
	/* One answer to each, in their order: a flood of them is none. */
	if (pong.sequence <= link->pong_sequence ||
	    pong.sequence > link->ping_sequence)
		return error_set(err, ERR_GUEST,
				 "the guest answered a question nobody asked");
	link->pong_sequence = pong.sequence;
	if (pong.sequence == link->ping_sequence)
		link->pings_missed = 0;
	return 0;
}

static int got_for_owner(struct guest_link *link, const struct frame *f,
			 struct error *err)
{
	return link->ops->frame(f, link->userdata, err);
}

/*
 * What a guest may say on a control connection. When it may is
 * frame_may_say()'s to know, and was asked before.
 */
static const struct {
	enum wire_type type;
	int (*handle)(struct guest_link *link, const struct frame *f,
		      struct error *err);
} accepted[] = {
	{ WIRE_HELLO, got_hello },        { WIRE_CONFIGURED, got_configured },
	{ WIRE_READY, got_ready },        { WIRE_PONG, got_pong },
	{ WIRE_OUTPUT, got_for_owner },   { WIRE_DISPLAY, got_for_owner },
	{ WIRE_ERROR, got_for_owner },    { WIRE_CHANGED, got_for_owner },
	{ WIRE_DONE, got_for_owner },     { WIRE_REFUSED, got_for_owner },
	{ WIRE_QUIESCED, got_for_owner }, { WIRE_RESULT, got_for_owner },
};

static int on_frame(const struct frame *f, void *userdata, struct error *err)
{
	struct guest_link *link = userdata;
	size_t i;

	for (i = 0; i < sizeof(accepted) / sizeof(accepted[0]); i++)
		if (accepted[i].type == f->type)
			return accepted[i].handle(link, f, err);
	return error_set(err, ERR_GUEST,
			 "the guest sent message 0x%04x, which is no answer",
			 f->type);
}

static void on_ended(enum guest_conn_end why, const struct error *err,
		     void *userdata)
{
	link_end(userdata, why, err);
}

static void on_proven(void *userdata)
{
	struct guest_link *link = userdata;

	timer_set_after(link->ping, LINK_PING_USEC);
}

/*
 * Missed pings are counted when the next is due, not measured: a clock that
 * jumps, or a host that was asleep, must not end a session.
 */
static void on_ping(struct timer *t, void *userdata)
{
	struct guest_link *link = userdata;
	struct error err = ERROR_INIT;
	struct message_ping m;
	void *room;
	int r;

	if (link->pings_missed >= LINK_PINGS_MISSED_MAX) {
		error_set(&err, ERR_GUEST, "the guest does not answer");
		link_end(link, GUEST_CONN_STALLED, &err);
		return;
	}
	timer_set_after(t, LINK_PING_USEC);

	/* A guest that has not greeted yet has the boot deadline. */
	r = link_room(link, LINK_FRAME_SMALL, &room);
	if (r < 0)
		return;
	m.sequence = ++link->ping_sequence;
	link->pings_missed++;
	(void)link_send(link, message_encode_ping(room, LINK_FRAME_SMALL,
						  WIRE_PING, &m));
}

static const struct guest_conn_ops conn_ops = {
	.proven = on_proven,
	.frame = on_frame,
	.ended = on_ended,
};

/* Those that find no room are told by the next greeting. */
static void link_queue_released(struct guest_link *link)
{
	const size_t size = LINK_FRAME_SMALL;
	const uint32_t *call = link->released;
	void *room;

	for (; link->released_count > 0; link->released_count--, call++)
		if (link_room(link, size, &room) >= 0)
			(void)link_keep(link, message_encode_bare(
						      room, size, WIRE_RELEASE, *call));
	timer_clear(link->release);
}

static void on_release(struct timer *t, void *userdata)
{
	struct guest_link *link = userdata;

	(void)t;
	link_queue_released(link);
	if (link->ops)
		guest_conn_flush(link->conn);
}

static int link_connect(struct guest_link *link,
			const struct guest_link_config *config)
{
	const struct guest_conn_config conn = {
		.event = config->event,
		.clock = config->clock,
		.gc = config->gc,
		.fd = config->fd,
		.nonce = config->nonce,
		.purpose = WIRE_CONTROL,
		.queue_max = LINK_QUEUE_MAX,
		.ops = &conn_ops,
		.userdata = link,
	};
	int r;

	r = timer_new(config->event, config->clock, "guest-ping", on_ping, link,
		      &link->ping);
	if (r >= 0)
		r = timer_new(config->event, config->clock, "guest-release",
			      on_release, link, &link->release);
	return r < 0 ? r : guest_conn_new(&conn, &link->conn);
}

int guest_link_new(const struct guest_link_config *config,
		   struct guest_link **ret)
{
	struct guest_link *link;
	int r;

	link = calloc(1, sizeof(*link));
	if (!link)
		return -ENOMEM;
	link->gc = config->gc;
	link->wall = config->wall;
	link->emulated = config->emulated;
	link->memory_max_bytes = config->memory_max_bytes;
	link->ops = config->ops;
	link->userdata = config->userdata;
	strncpy(link->hostname, config->hostname, sizeof(link->hostname) - 1);

	r = link_connect(link, config);
	if (r < 0) {
		link_free(link);
		return r;
	}
	*ret = link;
	return 0;
}

/* Source and stdin follow EXEC in pieces, all in one write. */
static int link_queue_input(struct guest_link *link, uint32_t call,
			    const char *data, size_t size)
{
	const size_t room_size = WIRE_CHUNK_MAX + LINK_FRAME_SMALL;
	int r = 0;

	while (r >= 0 && size > 0) {
		size_t chunk = size < WIRE_CHUNK_MAX ? size : WIRE_CHUNK_MAX;
		const struct message_data m = {
			.data = { (const uint8_t *)data, chunk },
		};
		void *room;

		r = link_room(link, room_size, &room);
		if (r >= 0)
			r = link_keep(link, message_encode_data(room, room_size,
								WIRE_INPUT,
								call, &m));
		data += chunk;
		size -= chunk;
	}
	return r;
}

static int link_queue_exec(struct guest_link *link,
			   const struct link_exec *exec)
{
	struct message_exec m = {
		.flags = exec->spill ? WIRE_EXEC_SPILL : 0,
		.timeout_usec = exec->timeout_usec,
		.head_max = WIRE_HEAD_MAX,
		.tail_max = WIRE_TAIL_MAX,
		.spill_max = WIRE_SPILL_MAX,
		.output_max = WIRE_OUTPUT_MAX,
		.source_size = (uint32_t)exec->code_len,
		.stdin_size = (uint32_t)exec->stdin_len,
		.id = { (const uint8_t *)exec->id, strlen(exec->id) },
	};
	void *room;
	int r;

	if (exec->trace && link->traces) {
		m.flags |= WIRE_EXEC_TRACE;
		m.trace = (struct bytes){ (const uint8_t *)exec->trace,
					  strlen(exec->trace) };
	}
	r = link_room(link, LINK_FRAME_SMALL, &room);
	if (r >= 0)
		r = link_keep(link, message_encode_exec(room, LINK_FRAME_SMALL,
							exec->call, &m));
	if (r >= 0)
		r = link_queue_input(link, exec->call, exec->code,
				     exec->code_len);
	if (r >= 0)
		r = link_queue_input(link, exec->call, exec->stdin_data,
				     exec->stdin_len);
	return r;
}

int guest_link_exec(struct guest_link *link, const struct link_exec *exec)
{
	struct buf *queue;
	size_t before;
	int r;

	if (!guest_link_open(link))
		return -ENOTCONN;
	/* First, since it makes room for this one. */
	link_queue_released(link);
	queue = guest_conn_queue(link->conn);
	before = queue->length;
	r = link_queue_exec(link, exec);
	if (r < 0)
		buf_truncate(queue, before);
	else
		guest_conn_flush(link->conn);
	return r;
}

int guest_link_attach(struct guest_link *link, uint32_t call,
		      const uint64_t position[WIRE_STREAM_COUNT])
{
	struct message_attach m;
	void *room;
	int r;

	memcpy(m.position, position, sizeof(m.position));
	r = link_room(link, LINK_FRAME_SMALL, &room);
	if (r < 0)
		return r;
	return link_send(
		link, message_encode_attach(room, LINK_FRAME_SMALL, call, &m));
}

int guest_link_interrupt(struct guest_link *link, uint32_t call)
{
	return link_send_bare(link, WIRE_INTERRUPT, call);
}

int guest_link_release(struct guest_link *link, uint32_t call)
{
	if (!link || !link->ops || !link->conn)
		return -ENOTCONN;
	link->released[link->released_count++] = call;
	if (link->released_count == WIRE_RETAINED_MAX)
		on_release(link->release, link);
	else if (link->released_count == 1)
		timer_set_after(link->release, LINK_RELEASE_USEC);
	return 0;
}

int guest_link_quiesce(struct guest_link *link, uint32_t call)
{
	return link_send_bare(link, WIRE_QUIESCE, call);
}

int guest_link_delete(struct guest_link *link, uint32_t call, const char *path)
{
	const struct message_path m = { { (const uint8_t *)path, strlen(path) } };
	const size_t size = WIRE_PATH_MAX + LINK_FRAME_SMALL;
	void *room;
	int r;

	r = link_room(link, size, &room);
	if (r < 0)
		return r;
	return link_send(
		link, message_encode_path(room, size, WIRE_DELETE, call, &m));
}
