/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/cleanup.h"
#include "base/timer.h"
#include "core/guest_conn_impl.h"
#include "wire/message.h"

/*
 * Theory of operation
 *
 * The connection begins in the proof: it waits for G, answers with H and its
 * own proof, waits for the guest's, and sends OPEN. From then on it cuts its
 * input into frames and asks frame_may_say() whether the peer may say each of
 * them in the phase that the owner has set.
 *
 * Input is read in pieces as large as fit and kept only as long as a frame is
 * not whole; an idle connection holds no memory. Output is written at once
 * where the kernel takes it, so that an execution costs one system call here.
 *
 * Before the proof nothing that the peer does counts as breaking a rule of
 * ours: whoever is at the other end has not shown to be the guest, and the
 * connection is simply lost.
 */

/* Read this much at a time, and more where a large frame is under way. */
#define CONN_READ_SIZE (64 * 1024)
#define CONN_READ_SIZE_BULK (256 * 1024)

#define CONN_INPUT_MAX (2 * WIRE_FRAME_MAX)

static void conn_free(void *object)
{
	struct guest_conn *conn = object;

	if (!conn)
		return;
	conn->io = sd_event_source_disable_unref(conn->io);
	timer_free(conn->stall);
	close_fd(&conn->fd);
	buf_done(&conn->in);
	buf_done(&conn->out);
	explicit_bzero(conn->nonce, sizeof(conn->nonce));
	free(conn);
}

static void conn_freep(struct guest_conn **conn)
{
	conn_free(*conn);
}

void guest_conn_close(struct guest_conn *conn)
{
	if (!conn)
		return;
	conn->ops = NULL;
	conn->io = sd_event_source_disable_unref(conn->io);
	timer_clear(conn->stall);
	close_fd(&conn->fd);
	gc_bury(conn->gc, &conn->buried, conn_free, conn);
}

static void conn_end(struct guest_conn *conn, enum guest_conn_end why,
		     const struct error *err)
{
	const struct guest_conn_ops *ops = conn->ops;

	if (!ops)
		return;
	if (conn->step != PROOF_OVER && why != GUEST_CONN_LOCAL)
		why = GUEST_CONN_LOST;
	conn->ops = NULL;
	ops->ended(why, err, conn->userdata);
}

/* Each side of the connection has its own patience; the timer has the sooner. */
static void conn_watch_stall(struct guest_conn *conn)
{
	usec_t since = conn->in_since;

	if (conn->paused)
		since = 0;
	if (conn->out_since && (!since || conn->out_since < since))
		since = conn->out_since;

	if (since)
		timer_set(conn->stall, since + GUEST_FRAME_USEC);
	else if (timer_deadline(conn->stall) != USEC_INFINITY)
		timer_clear(conn->stall);
}

static void on_stall(struct timer *t, void *userdata)
{
	struct guest_conn *conn = userdata;
	struct error err = ERROR_INIT;

	(void)t;
	error_set(&err, ERR_GUEST, "the guest left a message unfinished");
	conn_end(conn, GUEST_CONN_STALLED, &err);
}

static void conn_listen(struct guest_conn *conn)
{
	uint32_t events = conn->paused ? 0 : EPOLLIN;

	if (conn->out.length > 0)
		events |= EPOLLOUT;
	if (events == conn->events || !conn->io)
		return;
	if (sd_event_source_set_io_events(conn->io, events) >= 0)
		conn->events = events;
}

/* -EAGAIN is success: the rest waits for EPOLLOUT. */
static int conn_write(struct guest_conn *conn)
{
	while (conn->out.length > 0) {
		ssize_t n = buf_write(&conn->out, conn->fd);

		if (n == -EAGAIN || n == -EINTR)
			break;
		if (n < 0)
			return (int)n;
		conn->out_since = 0;
	}
	if (conn->out.length > 0 && !conn->out_since)
		conn->out_since = clock_boot(conn->clock);
	if (conn->out.length == 0)
		buf_done(&conn->out);
	return 0;
}

void guest_conn_hand_over(struct guest_conn *conn, void *userdata)
{
	conn->userdata = userdata;
}

struct buf *guest_conn_queue(struct guest_conn *conn)
{
	return &conn->out;
}

void guest_conn_flush(struct guest_conn *conn)
{
	/* A dead socket is found again by the loop, which may call back. */
	(void)conn_write(conn);
	conn_listen(conn);
	conn_watch_stall(conn);
}

void guest_conn_enter(struct guest_conn *conn, enum wire_phase phase)
{
	conn->phase = phase;
}

enum wire_phase guest_conn_phase(const struct guest_conn *conn)
{
	return conn->phase;
}

static int conn_got_frame(struct guest_conn *conn, const struct frame *f,
			  struct error *err)
{
	int r;

	if (!frame_may_say(WIRE_GUEST, conn->phase, f->type))
		return error_set(err, ERR_GUEST,
				 "the guest sent message 0x%04x out of turn",
				 f->type);
	r = conn->ops->frame(f, conn->userdata, err);
	/* What message.h cannot decode has no sentence of its own. */
	if (r == -EPROTO && !error_is_set(err))
		error_set(err, ERR_GUEST,
			  "the guest sent a malformed message 0x%04x", f->type);
	return r;
}

/* Hands over all whole frames; the callbacks may close or pause underway. */
static int conn_cut_frames(struct guest_conn *conn, struct error *err)
{
	size_t used_all = 0;
	int r = 0;

	while (conn->ops && !conn->paused) {
		struct frame f;
		size_t used;

		r = frame_next(conn->in.data + used_all,
			       conn->in.length - used_all, &f, &used);
		if (r < 0)
			error_set(err, ERR_GUEST,
				  "the guest sent a message "
				  "that no rule allows");
		if (r <= 0)
			break;
		used_all += used;
		r = conn_got_frame(conn, &f, err);
		if (r < 0)
			break;
	}
	buf_consume(&conn->in, used_all);
	return r < 0 ? r : 0;
}

static int conn_take_input(struct guest_conn *conn, struct error *err)
{
	size_t before = conn->in.length;
	int r;

	r = guest_conn_prove(conn, err);
	if (r >= 0 && conn->step == PROOF_OVER)
		r = conn_cut_frames(conn, err);
	if (r < 0 || !conn->ops)
		return r;

	if (conn->in.length == 0) {
		conn->in_since = conn->step == PROOF_OVER ? 0 : conn->in_since;
		buf_done(&conn->in);
	} else if (!conn->in_since || conn->in.length != before) {
		conn->in_since = clock_boot(conn->clock);
	}
	return 0;
}

static int conn_read(struct guest_conn *conn)
{
	ssize_t n = buf_read(&conn->in, conn->fd,
			     conn->in.length > 0 ? CONN_READ_SIZE_BULK :
						   CONN_READ_SIZE);

	if (n == 0)
		return -ECONNRESET;
	if (n == -EAGAIN || n == -EINTR)
		return 0;
	return n < 0 ? (int)n : 1;
}

static void conn_input(struct guest_conn *conn)
{
	struct error err = ERROR_INIT;
	int r;

	r = conn_take_input(conn, &err);
	if (!conn->ops)
		return;
	if (r >= 0) {
		conn_watch_stall(conn);
		return;
	}
	if (!error_is_set(&err))
		error_set_errno(&err, r, "Cannot handle a guest's message");
	conn_end(conn,
		 err.code == ERR_GUEST ? GUEST_CONN_BROKEN : GUEST_CONN_LOCAL,
		 &err);
}

static void conn_lost(struct guest_conn *conn, int r)
{
	struct error err = ERROR_INIT;

	error_set_errno(&err, r, "The connection to the guest was lost");
	conn_end(conn, GUEST_CONN_LOST, &err);
}

static void conn_output(struct guest_conn *conn)
{
	bool waited = conn->out.length > 0;
	int r;

	r = conn_write(conn);
	if (r < 0) {
		conn_lost(conn, r);
		return;
	}
	if (waited && conn->out.length == 0 && conn->ops->drained)
		conn->ops->drained(conn->userdata);
	if (!conn->ops)
		return;
	conn_listen(conn);
	conn_watch_stall(conn);
}

static int on_conn_io(sd_event_source *source, int fd, uint32_t revents,
		      void *userdata)
{
	struct guest_conn *conn = userdata;
	int r;

	(void)fd;
	if (revents & EPOLLOUT)
		conn_output(conn);
	if (!conn->ops)
		return 0;
	if (conn->paused) {
		/*
		 * A hang-up cannot be masked, and what came before it has yet
		 * to be read: it is looked at when reading goes on.
		 */
		if (revents & (EPOLLHUP | EPOLLERR))
			(void)sd_event_source_set_enabled(source, SD_EVENT_OFF);
		return 0;
	}
	r = conn_read(conn);
	if (r < 0)
		conn_lost(conn, r);
	else if (r > 0)
		conn_input(conn);
	return 0;
}

void guest_conn_pause(struct guest_conn *conn)
{
	conn->paused = true;
	conn_listen(conn);
	conn_watch_stall(conn);
}

void guest_conn_resume(struct guest_conn *conn)
{
	if (!conn->paused)
		return;
	conn->paused = false;
	if (conn->in_since)
		conn->in_since = clock_boot(conn->clock);
	conn_listen(conn);
	(void)sd_event_source_set_enabled(conn->io, SD_EVENT_ON);
	conn_input(conn);
}

static int conn_watch(struct guest_conn *conn,
		      const struct guest_conn_config *config)
{
	int r;

	r = timer_new(config->event, config->clock, "guest-frame", on_stall,
		      conn, &conn->stall);
	if (r < 0)
		return r;
	conn->events = EPOLLIN;
	r = sd_event_add_io(config->event, &conn->io, config->fd, EPOLLIN,
			    on_conn_io, conn);
	if (r < 0)
		return r;
	(void)sd_event_source_set_description(conn->io, "guest-conn");
	conn->in_since = clock_boot(conn->clock);
	conn_watch_stall(conn);
	return 0;
}

int guest_conn_new(const struct guest_conn_config *config,
		   struct guest_conn **ret)
{
	_cleanup_(conn_freep) struct guest_conn *conn = NULL;
	int r;

	conn = calloc(1, sizeof(*conn));
	if (!conn)
		return -ENOMEM;
	conn->fd = -1;
	conn->gc = config->gc;
	conn->clock = config->clock;
	conn->purpose = config->purpose;
	conn->phase = WIRE_PHASE_OPENING;
	memcpy(conn->nonce, config->nonce, sizeof(conn->nonce));
	conn->in = BUF_INIT(CONN_INPUT_MAX);
	conn->out = BUF_INIT(config->queue_max);
	conn->ops = config->ops;
	conn->userdata = config->userdata;

	r = conn_watch(conn, config);
	if (r < 0)
		return r;
	conn->fd = config->fd;
	*ret = take_ptr(conn);
	return 0;
}
