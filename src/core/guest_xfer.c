/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "core/guest_xfer_impl.h"
#include "vmd/vmd.h"
#include "wire/message.h"

/*
 * Theory of operation
 *
 * A transfer dials, proves, names the file, and then either cuts DATA into the
 * blob writer or sends what it reads from the blob. What slows it down:
 *
 *	GET	the writer took fewer bytes than came: the rest is kept here
 *		(less than one frame), and no frame is taken until on_room()
 *	PUT	one chunk at a time is queued; the next is read from the blob
 *		when the kernel has taken it, which is on_drained()
 *
 * A guest that neither sends nor takes anything for XFER_SILENCE_USEC, while it
 * is its turn, breaks off the transfer, and with it its session.
 *
 * A GET has ended when both the guest's END has come and the blob is on the
 * disk; the guest's digest is then compared with ours. Between the two the
 * connection has nothing to do, and may be taken for the next file.
 */

static void xfer_free(void *object)
{
	struct guest_xfer *x = object;

	if (!x)
		return;
	timer_free(x->again);
	timer_free(x->silence);
	blob_writer_free(x->writer);
	buf_done(&x->kept);
	close_fd(&x->fd);
	explicit_bzero(x->nonce, sizeof(x->nonce));
	free(x);
}

void guest_xfer_freep(struct guest_xfer **x)
{
	xfer_free(*x);
}

static void xfer_hang_up(struct guest_xfer *x)
{
	if (x->dial)
		vmd_client_cancel_dial(x->config.vmd, x->dial);
	x->dial = 0;
	guest_conn_close(x->conn);
	x->conn = NULL;
	timer_clear(x->silence);
}

void guest_xfer_cancel(struct guest_xfer *x)
{
	if (!x)
		return;
	x->config.done = NULL;
	xfer_hang_up(x);
	timer_clear(x->again);
	blob_writer_free(take_ptr(x->writer));
	gc_bury(x->config.gc, &x->buried, xfer_free, x);
}

void guest_xfer_end(struct guest_xfer *x, struct xfer_end *end)
{
	void (*done)(void *userdata, struct xfer_end *end) = x->config.done;

	if (!done)
		return;
	x->config.done = NULL;
	if (end->result == XFER_OK)
		end->writer = take_ptr(x->writer);
	/* What a file came over may still be taken for another, by done(). */
	if (end->result != XFER_OK || x->put)
		xfer_hang_up(x);
	end->bytes = x->bytes;
	done(x->config.userdata, end);
	guest_xfer_cancel(x);
}

void guest_xfer_fail(struct guest_xfer *x, enum xfer_result result, int r,
		     const struct error *err)
{
	struct xfer_end end = { .result = result, .r = r, .err = err };

	guest_xfer_end(x, &end);
}

static void on_again(struct timer *t, void *userdata)
{
	struct guest_xfer *x = userdata;
	int r;

	(void)t;
	r = guest_xfer_dial(x);
	if (r < 0)
		guest_xfer_fail(x, XFER_LOST, r, NULL);
}

static void on_silence(struct timer *t, void *userdata)
{
	struct guest_xfer *x = userdata;
	struct error err = ERROR_INIT;

	(void)t;
	error_set(&err, ERR_GUEST, "the guest left a file unfinished");
	guest_xfer_fail(x, XFER_STALLED, 0, &err);
}

void guest_xfer_watch(struct guest_xfer *x)
{
	timer_set_after(x->silence, XFER_SILENCE_USEC);
}

/* The guest could not, and says why. */
void guest_xfer_refused(struct guest_xfer *x, enum wire_file_status status)
{
	struct xfer_end end = { .result = XFER_FILE, .file_status = status };

	if (status == WIRE_FILE_BUSY && ++x->tries < XFER_BUSY_TRIES) {
		xfer_hang_up(x);
		timer_set_after(x->again, XFER_BUSY_USEC);
		return;
	}
	guest_xfer_end(x, &end);
}

static int xfer_say_path(struct guest_xfer *x)
{
	const struct message_path get = {
		.path = { (const uint8_t *)x->path, strlen(x->path) },
	};
	struct message_put put = {
		.mode = XFER_FILE_MODE,
		.size = x->bytes,
		.path = get.path,
	};
	uint8_t frame[XFER_FRAME_SMALL];
	ssize_t n;

	if (x->put) {
		memcpy(put.sha256, x->sha256, sizeof(put.sha256));
		n = message_encode_put(frame, sizeof(frame), 0, &put);
	} else {
		n = message_encode_path(frame, sizeof(frame), WIRE_GET, 0,
					&get);
	}
	if (n < 0)
		return (int)n;
	return buf_add(guest_conn_queue(x->conn), frame, (size_t)n);
}

/* ------------------------------------------------------------------- PUT */

/* Queues the next chunk of the blob. */
static int xfer_send_chunk(struct guest_xfer *x)
{
	const size_t size = WIRE_CHUNK_MAX + XFER_FRAME_SMALL;
	const size_t header = sizeof(struct wire_header);
	uint64_t left = x->bytes - x->moved;
	struct buf *queue = guest_conn_queue(x->conn);
	uint8_t *room;
	ssize_t n;
	int r;

	if (left == 0)
		return 0;
	r = buf_reserve(queue, size, (void **)&room);
	if (r < 0)
		return r;
	n = pread(x->fd, room + header,
		  left < WIRE_CHUNK_MAX ? (size_t)left : WIRE_CHUNK_MAX,
		  (off_t)x->moved);
	if (n <= 0)
		return n < 0 ? -errno : -EIO;
	/* The payload of DATA is the bytes, so they were read in place. */
	frame_put_header(room, WIRE_DATA, 0, (size_t)n);
	buf_commit(queue, header + (size_t)n);
	x->moved += (uint64_t)n;
	guest_conn_flush(x->conn);
	return 0;
}

static void on_drained(void *userdata)
{
	struct guest_xfer *x = userdata;
	int r = 0;

	if (!x->put || guest_conn_phase(x->conn) != WIRE_PHASE_RECEIVING)
		return;
	guest_xfer_watch(x);
	/* As long as the kernel takes all of it at once there is no event. */
	while (r >= 0 && x->moved < x->bytes &&
	       guest_conn_queue(x->conn)->length == 0)
		r = xfer_send_chunk(x);
	if (r < 0)
		guest_xfer_fail(x, XFER_STORAGE, r, NULL);
}

static int got_put_end(struct guest_xfer *x, const struct message_end *m,
		       struct error *err)
{
	struct xfer_end end = { .result = XFER_OK };

	if (m->status != WIRE_FILE_OK) {
		guest_xfer_refused(x, m->status);
		return 0;
	}
	if (x->moved != x->bytes || memcmp(m->sha256, x->sha256, HASH_SIZE))
		return error_set(err, ERR_GUEST,
				 "the guest acknowledged a "
				 "file that it was not sent");
	guest_xfer_end(x, &end);
	return 0;
}

static int got_end(struct guest_xfer *x, const struct frame *f,
		   struct error *err)
{
	struct message_end m;
	int r;

	r = message_decode_end(f, &m);
	if (r < 0)
		return r;
	/* From here on the guest has nothing to say, unless it is asked again. */
	guest_conn_enter(x->conn, x->put ? WIRE_PHASE_CLOSED : WIRE_PHASE_GET);
	return x->put ? got_put_end(x, &m, err) :
			guest_xfer_got_get_end(x, &m, err);
}

/* ------------------------------------------------------------ connection */

static const struct {
	enum wire_type type;
	int (*handle)(struct guest_xfer *x, const struct frame *f,
		      struct error *err);
} accepted[] = {
	{ WIRE_FILE, guest_xfer_got_file },
	{ WIRE_DATA, guest_xfer_got_data },
	{ WIRE_END, got_end },
};

static int on_frame(const struct frame *f, void *userdata, struct error *err)
{
	struct guest_xfer *x = userdata;
	size_t i;

	guest_xfer_watch(x);
	for (i = 0; i < sizeof(accepted) / sizeof(accepted[0]); i++)
		if (accepted[i].type == f->type)
			return accepted[i].handle(x, f, err);
	return error_set(err, ERR_GUEST,
			 "the guest sent message 0x%04x with a file", f->type);
}

int guest_xfer_ask(struct guest_xfer *x)
{
	int r;

	r = xfer_say_path(x);
	if (r < 0)
		return r;
	guest_conn_enter(x->conn,
			 x->put ? WIRE_PHASE_RECEIVING : WIRE_PHASE_SENDING);
	guest_xfer_watch(x);
	guest_conn_flush(x->conn);
	return 0;
}

static void on_proven(void *userdata)
{
	struct guest_xfer *x = userdata;
	int r;

	r = guest_xfer_ask(x);
	if (r < 0)
		guest_xfer_fail(x, XFER_LOST, r, NULL);
	else
		on_drained(x);
}

/* Gone before it was asked, as one to a guest that gives one file over each. */
static void xfer_dial_anew(struct guest_xfer *x)
{
	int r;

	xfer_hang_up(x);
	x->used_before = false;
	r = guest_xfer_dial(x);
	if (r < 0)
		guest_xfer_fail(x, XFER_LOST, r, NULL);
}

static void on_ended(enum guest_conn_end why, const struct error *err,
		     void *userdata)
{
	struct guest_xfer *x = userdata;
	bool fault = why == GUEST_CONN_BROKEN || why == GUEST_CONN_STALLED;

	/* After END nothing more is needed from it. */
	if (x->ended && !fault) {
		guest_conn_close(x->conn);
		x->conn = NULL;
		return;
	}
	if (fault)
		guest_xfer_fail(x,
				why == GUEST_CONN_BROKEN ? XFER_BROKEN :
							   XFER_STALLED,
				0, err);
	else if (x->used_before)
		xfer_dial_anew(x);
	else
		guest_xfer_fail(x, XFER_LOST, -ECONNRESET, NULL);
}

static const struct guest_conn_ops conn_ops = {
	.proven = on_proven,
	.frame = on_frame,
	.drained = on_drained,
	.ended = on_ended,
};

static void on_dialled(int r, int fd, const struct error *err, void *userdata)
{
	struct guest_xfer *x = userdata;
	const struct guest_conn_config conn = {
		.event = x->config.event,
		.clock = x->config.clock,
		.gc = x->config.gc,
		.fd = fd,
		.nonce = x->nonce,
		.purpose = x->put ? WIRE_BULK_PUT : WIRE_BULK_GET,
		.queue_max = 2 * WIRE_FRAME_MAX,
		.ops = &conn_ops,
		.userdata = x,
	};

	(void)err;
	x->dial = 0;
	if (r >= 0)
		r = guest_conn_new(&conn, &x->conn);
	if (r < 0) {
		close_fd(&fd);
		guest_xfer_fail(x, XFER_LOST, r, NULL);
	}
}

int guest_xfer_dial(struct guest_xfer *x)
{
	usec_t deadline = clock_boot(x->config.clock) + XFER_DIAL_USEC;

	x->moved = 0;
	return vmd_client_dial(x->config.vmd, x->vm_id, deadline, on_dialled, x,
			       &x->dial);
}

int guest_xfer_new(const struct guest_xfer_config *config, bool put,
		   struct guest_xfer **ret)
{
	_cleanup_(guest_xfer_freep) struct guest_xfer *x = NULL;
	int r;

	x = calloc(1, sizeof(*x));
	if (!x)
		return -ENOMEM;
	x->fd = -1;
	x->put = put;
	x->config = *config;
	x->kept = BUF_INIT(WIRE_FRAME_MAX);
	memcpy(x->nonce, config->nonce, sizeof(x->nonce));
	if (strlen(config->path) >= sizeof(x->path) ||
	    strlen(config->vm_id) >= sizeof(x->vm_id))
		return -EINVAL;
	strcpy(x->path, config->path);
	strcpy(x->vm_id, config->vm_id);
	r = timer_new(config->event, config->clock, "guest-xfer", on_again, x,
		      &x->again);
	if (r >= 0)
		r = timer_new(config->event, config->clock,
			      "guest-xfer-silence", on_silence, x, &x->silence);
	if (r < 0)
		return r;
	*ret = take_ptr(x);
	return 0;
}

int guest_xfer_put(const struct guest_xfer_config *config,
		   const uint8_t sha256[HASH_SIZE], struct guest_xfer **ret)
{
	_cleanup_(guest_xfer_freep) struct guest_xfer *x = NULL;
	int r;

	r = guest_xfer_new(config, true, &x);
	if (r < 0)
		return r;
	memcpy(x->sha256, sha256, sizeof(x->sha256));
	r = blob_open(config->blobs, sha256, &x->fd, &x->bytes);
	if (r >= 0)
		r = guest_xfer_dial(x);
	if (r < 0)
		return r;
	*ret = take_ptr(x);
	return 0;
}
