/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "core/guest_xfer_impl.h"
#include "wire/message.h"

/* The half of a transfer that takes a file from a guest; see guest_xfer.c. */

static void xfer_get_stored(struct guest_xfer *x, const struct blob_info *info)
{
	struct xfer_end end = {
		.result = XFER_OK,
		.grown = x->grown,
		.info = info,
	};
	struct error err = ERROR_INIT;

	if (memcmp(info->sha256, x->guest_sha256, HASH_SIZE) == 0) {
		guest_xfer_end(x, &end);
		return;
	}
	error_set(&err, ERR_GUEST,
		  "the guest sent a file that differs from its digest");
	guest_xfer_fail(x, XFER_BROKEN, 0, &err);
}

static void on_blob_done(void *userdata, int r, const struct blob_info *info)
{
	struct guest_xfer *x = userdata;

	if (r < 0)
		guest_xfer_fail(x, r == -EFBIG ? XFER_TOO_LARGE : XFER_STORAGE,
				r, NULL);
	else
		xfer_get_stored(x, info);
}

/* Feeds what is kept, and says whether the writer has taken all of it. */
static int xfer_feed(struct guest_xfer *x)
{
	ssize_t n;

	if (x->kept.length == 0)
		return 1;
	n = blob_writer_append(x->writer, x->kept.data, x->kept.length);
	if (n < 0)
		return 0; /* on_blob_done() tells why */
	buf_consume(&x->kept, (size_t)n);
	if (x->kept.length > 0)
		return 0;
	buf_done(&x->kept);
	return 1;
}

static void on_room(void *userdata)
{
	struct guest_xfer *x = userdata;

	if (!x->conn || !xfer_feed(x))
		return;
	guest_xfer_watch(x);
	guest_conn_resume(x->conn);
}

int guest_xfer_got_file(struct guest_xfer *x, const struct frame *f,
			struct error *err)
{
	const struct blob_spec spec = {
		.expected_bytes = BLOB_LENGTH_UNKNOWN,
		.max_bytes = x->max_bytes,
		.name = x->path,
		.room = on_room,
		.done = on_blob_done,
		.userdata = x,
	};
	struct message_file m;
	int r;

	r = message_decode_file(f, &m);
	if (r < 0)
		return r;
	x->used_before = false;
	/* A second writer would take the first one's place, and lose it. */
	if (x->writer)
		return error_set(err, ERR_GUEST,
				 "the guest began a file a second time");
	if (m.status != WIRE_FILE_OK) {
		guest_xfer_refused(x, m.status);
		return 0;
	}
	x->bytes = m.size;
	guest_conn_enter(x->conn, WIRE_PHASE_SENDING);
	if (m.size > x->max_bytes) {
		guest_xfer_fail(x, XFER_TOO_LARGE, -EFBIG, NULL);
		return 0;
	}
	r = blob_writer_new(x->config.blobs, &spec, &x->writer);
	if (r < 0)
		guest_xfer_fail(x, XFER_STORAGE, r, NULL);
	return 0;
}

int guest_xfer_got_data(struct guest_xfer *x, const struct frame *f,
			struct error *err)
{
	struct message_data m;
	ssize_t n;
	int r;

	r = message_decode_data(f, &m);
	if (r < 0)
		return r;
	if (!x->writer || m.data.size > x->bytes - x->moved)
		return error_set(err, ERR_GUEST,
				 "the guest sent more of a file than it has");
	x->moved += m.data.size;

	n = blob_writer_append(x->writer, m.data.data, m.data.size);
	if (n < 0 || (size_t)n == m.data.size)
		return 0;
	/* An error was told by on_blob_done() or will be. */
	r = buf_add(&x->kept, m.data.data + n, m.data.size - (size_t)n);
	if (r < 0)
		return r;
	/* Now the guest waits for our disk. */
	timer_clear(x->silence);
	guest_conn_pause(x->conn);
	return 0;
}

int guest_xfer_got_get_end(struct guest_xfer *x, const struct message_end *m,
			   struct error *err)
{
	int r;

	/* To try again would be a second writer, as above. */
	if (m->status == WIRE_FILE_BUSY && x->writer)
		return error_set(err, ERR_GUEST,
				 "the guest was busy after a file had begun");
	x->grown = m->status == WIRE_FILE_GROWN;
	if (m->status != WIRE_FILE_OK && !x->grown) {
		guest_xfer_refused(x, m->status);
		return 0;
	}
	if (!x->writer || x->moved != x->bytes)
		return error_set(err, ERR_GUEST,
				 "the guest sent less of a file than it said");
	memcpy(x->guest_sha256, m->sha256, sizeof(x->guest_sha256));
	x->ended = true;
	timer_clear(x->silence);
	r = blob_writer_finish(x->writer);
	if (r < 0)
		guest_xfer_fail(x, XFER_STORAGE, r, NULL);
	else if (x->config.given)
		x->config.given(x->config.userdata, x->bytes);
	return 0;
}

/* Go on with a connection that the guest listens on already. */
static int xfer_get_over(struct guest_xfer *x, struct guest_xfer *over)
{
	int r;

	x->conn = over->conn;
	x->used_before = true;
	r = guest_xfer_ask(x);
	if (r < 0) {
		timer_clear(x->silence);
		x->conn = NULL;
		return r;
	}
	guest_conn_hand_over(take_ptr(over->conn), x);
	return 0;
}

int guest_xfer_get(const struct guest_xfer_config *config, uint64_t max_bytes,
		   struct guest_xfer *over, struct guest_xfer **ret)
{
	_cleanup_(guest_xfer_freep) struct guest_xfer *x = NULL;
	int r;

	r = guest_xfer_new(config, false, &x);
	if (r < 0)
		return r;
	x->max_bytes = max_bytes;
	r = over && over->conn ? xfer_get_over(x, over) : guest_xfer_dial(x);
	if (r < 0)
		return r;
	*ret = take_ptr(x);
	return 0;
}
