/* SPDX-License-Identifier: Apache-2.0 */
#include "scripted_guest.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/id.h"
#include "store/hash.h"
#include "wire/proof.h"

enum line_step {
	LINE_CHALLENGED,
	LINE_PROVEN,
};

/* One connection to the guest. */
struct guest_line {
	LIST_ENTRY(guest_line) next;
	struct scripted_guest *guest;
	int fd;
	sd_event_source *io;
	enum line_step step;
	uint8_t challenge[WIRE_CHALLENGE_SIZE];
	struct buf in;
	struct buf out;

	/* PUT under way */
	struct message_put put;
	char path[WIRE_PATH_MAX + 1];
	struct buf file;
	bool receiving;
};

static void line_free(struct guest_line *l)
{
	if (l->guest->control == l)
		l->guest->control = NULL;
	LIST_REMOVE(l, next);
	l->io = sd_event_source_disable_unref(l->io);
	close_fd(&l->fd);
	buf_done(&l->in);
	buf_done(&l->out);
	buf_done(&l->file);
	free(l);
}

static void line_flush(struct guest_line *l)
{
	uint32_t events = EPOLLIN;

	while (l->out.length > 0 && buf_write(&l->out, l->fd) > 0)
		;
	if (l->out.length > 0)
		events |= EPOLLOUT;
	assert_true(sd_event_source_set_io_events(l->io, events) >= 0);
}

static void line_say(struct guest_line *l, const void *data, size_t size)
{
	assert_int_equal(buf_add(&l->out, data, size), 0);
	line_flush(l);
}

#define SAY(line, encode, ...)                                          \
	do {                                                            \
		uint8_t *say_frame = malloc(WIRE_FRAME_MAX);            \
		ssize_t say_n;                                          \
		assert_non_null(say_frame);                             \
		say_n = encode(say_frame, WIRE_FRAME_MAX, __VA_ARGS__); \
		assert_true(say_n > 0);                                 \
		line_say(line, say_frame, (size_t)say_n);               \
		free(say_frame);                                        \
	} while (0)

/* ------------------------------------------------------------------ files */

static void say_end(struct guest_line *l, enum wire_file_status status,
		    const void *data, size_t size)
{
	struct message_end end = { .status = status };

	if (status == WIRE_FILE_OK || status == WIRE_FILE_GROWN)
		assert_int_equal(hash_sha256(data, size, end.sha256), 0);
	if (l->guest->wrong_digest)
		end.sha256[0] ^= 1;
	SAY(l, message_encode_end, 0, &end);
}

static void got_get(struct guest_line *l, const struct frame *f)
{
	const struct guest_file *file;
	struct message_file answer = { .status = WIRE_FILE_OK };
	struct message_path m;
	char path[WIRE_PATH_MAX + 1] = "";
	size_t at;

	assert_int_equal(message_decode_path(f, &m), 0);
	memcpy(path, m.path.data, m.path.size);
	l->guest->gets++;
	if (l->guest->bulk) {
		line_say(l, l->guest->bulk->data, l->guest->bulk->length);
		return;
	}
	file = guest_file(l->guest, path);
	if (!file) {
		answer.status = WIRE_FILE_NOT_FOUND;
		SAY(l, message_encode_file, 0, &answer);
		return;
	}
	answer.size = file->size;
	SAY(l, message_encode_file, 0, &answer);
	for (at = 0; at < file->size; at += WIRE_CHUNK_MAX) {
		size_t left = file->size - at;
		const struct message_data data = {
			.data = { (const uint8_t *)file->data + at,
				  left < WIRE_CHUNK_MAX ? left :
							  WIRE_CHUNK_MAX },
		};

		SAY(l, message_encode_data, WIRE_DATA, 0, &data);
	}
	if (l->guest->file_twice)
		SAY(l, message_encode_file, 0, &answer);
	if (l->guest->busy_late)
		say_end(l, WIRE_FILE_BUSY, NULL, 0);
	else if (l->guest->changing > 0 && l->guest->changing--)
		say_end(l, WIRE_FILE_CHANGED, NULL, 0);
	else if (l->guest->growing)
		say_end(l, WIRE_FILE_GROWN, file->data, file->size);
	else if (!l->guest->no_end)
		say_end(l, WIRE_FILE_OK, file->data, file->size);
	if (l->guest->one_file_each)
		assert_int_equal(shutdown(l->fd, SHUT_RDWR), 0);
}

static void put_check(struct guest_line *l)
{
	if (!l->receiving || l->file.length < l->put.size)
		return;
	l->receiving = false;
	l->guest->puts++;
	if (l->guest->put_status != WIRE_FILE_OK) {
		say_end(l, l->guest->put_status, NULL, 0);
		return;
	}
	guest_write(l->guest, l->path,
		    l->file.data ? l->file.data : (uint8_t *)"",
		    l->file.length);
	say_end(l, WIRE_FILE_OK, l->file.data, l->file.length);
}

static void got_put(struct guest_line *l, const struct frame *f)
{
	assert_int_equal(message_decode_put(f, &l->put), 0);
	memcpy(l->path, l->put.path.data, l->put.path.size);
	l->receiving = true;
	if (l->guest->bulk)
		line_say(l, l->guest->bulk->data, l->guest->bulk->length);
	else
		put_check(l);
}

static void got_data(struct guest_line *l, const struct frame *f)
{
	struct message_data m;

	assert_int_equal(message_decode_data(f, &m), 0);
	assert_int_equal(buf_add(&l->file, m.data.data, m.data.size), 0);
	put_check(l);
}

/* ---------------------------------------------------------------- control */

static void say_ready(struct guest_line *l)
{
	struct message_ready ready = {
		.kernel_epoch = l->guest->kernel_epoch,
	};

	if (!l->guest->never_ready)
		SAY(l, message_encode_ready, 0, &ready);
}

static void got_open(struct guest_line *l, const struct frame *f)
{
	struct scripted_guest *g = l->guest;
	struct message_hello hello = {
		.version = WIRE_VERSION,
		.flags = (g->configured ? WIRE_HELLO_CONFIGURED : 0) |
			 (g->knows_no_traces ? 0 : WIRE_HELLO_TRACES),
		.build = { (const uint8_t *)"test", 4 },
		.kernel_epoch = g->kernel_epoch,
		.count = g->kept_count,
	};
	struct message_open open;

	assert_int_equal(message_decode_open(f, &open), 0);
	g->get_lines += open.purpose == WIRE_BULK_GET;
	if (open.purpose != WIRE_CONTROL)
		return;
	g->control = l;
	g->links++;
	memcpy(hello.exec, g->kept, sizeof(hello.exec));
	SAY(l, message_encode_hello, 0, &hello);
	if (g->configured)
		say_ready(l);
}

static void got_configure(struct guest_line *l, const struct frame *f)
{
	struct message_configure m;

	assert_int_equal(message_decode_configure(f, &m), 0);
	assert_false(l->guest->configured);
	assert_true(m.wall_usec > 0);
	l->guest->configured = true;
	SAY(l, message_encode_bare, WIRE_CONFIGURED, 0);
	say_ready(l);
}

static void got_exec(struct guest_line *l, const struct frame *f)
{
	struct scripted_guest *g = l->guest;

	assert_int_equal(message_decode_exec(f, &g->exec), 0);
	memset(g->exec_id, 0, sizeof(g->exec_id));
	memcpy(g->exec_id, g->exec.id.data, g->exec.id.size);
	memset(g->trace, 0, sizeof(g->trace));
	if (g->exec.trace.size > 0)
		memcpy(g->trace, g->exec.trace.data, g->exec.trace.size);
	g->call = f->call;
	g->execs++;
	buf_clear(&g->input);
	guest_keep(g, f->call, g->exec_id, false);
}

static void got_input(struct guest_line *l, const struct frame *f)
{
	struct message_data m;

	assert_int_equal(message_decode_data(f, &m), 0);
	assert_int_equal(buf_add(&l->guest->input, m.data.data, m.data.size),
			 0);
}

static void got_release(struct guest_line *l, const struct frame *f)
{
	struct scripted_guest *g = l->guest;
	size_t i;

	g->releases++;
	g->released = f->call;
	for (i = 0; i < g->kept_count; i++) {
		if (g->kept[i].call != f->call)
			continue;
		if (i == --g->kept_count)
			return;
		g->kept[i] = g->kept[g->kept_count];
		strcpy(g->kept_id[i], g->kept_id[g->kept_count]);
		g->kept[i].id.data = (const uint8_t *)g->kept_id[i];
	}
}

static void got_attach(struct guest_line *l, const struct frame *f)
{
	struct message_attach m;

	assert_int_equal(message_decode_attach(f, &m), 0);
	memcpy(l->guest->position, m.position, sizeof(m.position));
	l->guest->call = f->call;
	l->guest->attaches++;
}

static void got_ping(struct guest_line *l, const struct frame *f)
{
	struct message_ping m;

	assert_int_equal(message_decode_ping(f, &m), 0);
	l->guest->pings++;
	if (!l->guest->no_pong)
		SAY(l, message_encode_ping, WIRE_PONG, &m);
}

static void got_delete(struct guest_line *l, const struct frame *f)
{
	struct message_result result = { .status = WIRE_FILE_OK };
	struct scripted_guest *g = l->guest;
	struct message_path m;

	assert_int_equal(message_decode_path(f, &m), 0);
	memset(g->deleted, 0, sizeof(g->deleted));
	memcpy(g->deleted, m.path.data, m.path.size);
	g->deletes++;
	SAY(l, message_encode_result, f->call, &result);
}

static void line_got(struct guest_line *l, const struct frame *f)
{
	struct scripted_guest *g = l->guest;

	switch (f->type) {
	case WIRE_OPEN:
		got_open(l, f);
		break;
	case WIRE_CONFIGURE:
		got_configure(l, f);
		break;
	case WIRE_EXEC:
		got_exec(l, f);
		break;
	case WIRE_INPUT:
		got_input(l, f);
		break;
	case WIRE_RELEASE:
		got_release(l, f);
		break;
	case WIRE_ATTACH:
		got_attach(l, f);
		break;
	case WIRE_INTERRUPT:
		g->interrupts++;
		break;
	case WIRE_PING:
		got_ping(l, f);
		break;
	case WIRE_DELETE:
		got_delete(l, f);
		break;
	case WIRE_QUIESCE:
		g->quiesces++;
		g->quiesce_call = f->call;
		break;
	case WIRE_GET:
		got_get(l, f);
		break;
	case WIRE_PUT:
		got_put(l, f);
		break;
	case WIRE_DATA:
		got_data(l, f);
		break;
	default:
		fail_msg("the daemon said 0x%04x", f->type);
	}
	if (g->heard)
		g->heard(g, f->type, f->call, g->userdata);
}

/* ------------------------------------------------------------- connection */

static void line_prove(struct guest_line *l)
{
	uint8_t input[PROOF_INPUT_MAX], proof[WIRE_PROOF_SIZE];
	const uint8_t *host = l->in.data;
	struct scripted_guest *g = l->guest;
	size_t size;

	size = proof_input(WIRE_HOST, l->challenge, host, input);
	assert_int_equal(hash_hmac_sha256(g->nonce, sizeof(g->nonce), input,
					  size, proof),
			 0);
	assert_memory_equal(proof, host + WIRE_CHALLENGE_SIZE, sizeof(proof));
	size = proof_input(WIRE_GUEST, l->challenge, host, input);
	assert_int_equal(hash_hmac_sha256(g->nonce, sizeof(g->nonce), input,
					  size, proof),
			 0);
	if (g->wrong_proof)
		proof[0] ^= 1;
	if (!g->has_proved) {
		g->has_proved = true;
		memcpy(g->first_challenge, l->challenge, sizeof(l->challenge));
		memcpy(g->first_proof, proof, sizeof(proof));
	} else if (g->replays_proof) {
		memcpy(proof, g->first_proof, sizeof(proof));
	}
	buf_consume(&l->in, PROOF_HOST_SIZE);
	l->step = LINE_PROVEN;
	line_say(l, proof, sizeof(proof));
}

static int on_line(sd_event_source *source, int fd, uint32_t revents,
		   void *userdata)
{
	struct guest_line *l = userdata;
	struct frame f;
	size_t used;
	ssize_t n;

	if (revents & EPOLLOUT)
		line_flush(l);
	if (l->guest->deaf) {
		(void)sd_event_source_set_enabled(source, SD_EVENT_OFF);
		return 0;
	}
	n = buf_read(&l->in, fd, 65536);
	if (n == -EAGAIN)
		return 0;
	if (n <= 0) {
		line_free(l);
		return 0;
	}
	if (l->step == LINE_CHALLENGED && l->in.length >= PROOF_HOST_SIZE)
		line_prove(l);
	while (l->step == LINE_PROVEN &&
	       frame_next(l->in.data, l->in.length, &f, &used) > 0) {
		if (l->guest->hangs_up) {
			line_free(l);
			return 0;
		}
		line_got(l, &f);
		buf_consume(&l->in, used);
	}
	return 0;
}

void guest_connect(struct scripted_guest *g, int fd)
{
	struct guest_line *l = calloc(1, sizeof(*l));

	assert_non_null(l);
	l->guest = g;
	l->fd = fd;
	l->in = BUF_INIT(2 * WIRE_FRAME_MAX);
	l->out = BUF_INIT(64u << 20);
	l->file = BUF_INIT(64u << 20);
	LIST_INSERT_HEAD(&g->lines, l, next);
	assert_true(sd_event_add_io(g->event, &l->io, fd, EPOLLIN, on_line,
				    l) >= 0);
	assert_int_equal(random_bytes(l->challenge, sizeof(l->challenge)), 0);
	if (g->replays_proof)
		memcpy(l->challenge, g->first_challenge, sizeof(l->challenge));
	if (!g->mute)
		line_say(l, l->challenge, sizeof(l->challenge));
}

void guest_shutdown(struct scripted_guest *g, int how)
{
	assert_non_null(g->control);
	assert_int_equal(shutdown(g->control->fd, how), 0);
}

void guest_hang_up(struct scripted_guest *g)
{
	while (!LIST_EMPTY(&g->lines))
		line_free(LIST_FIRST(&g->lines));
}

struct scripted_guest *guest_new(sd_event *event, const char *vm_id,
				 const uint8_t nonce[WIRE_NONCE_SIZE])
{
	struct scripted_guest *g = calloc(1, sizeof(*g));

	assert_non_null(g);
	g->event = event;
	g->kernel_epoch = 1;
	g->input = BUF_INIT(8u << 20);
	strncpy(g->vm_id, vm_id, sizeof(g->vm_id) - 1);
	memcpy(g->nonce, nonce, sizeof(g->nonce));
	LIST_INIT(&g->lines);
	return g;
}

void guest_free(struct scripted_guest *g)
{
	size_t i;

	guest_hang_up(g);
	for (i = 0; i < g->file_count; i++)
		free(g->files[i].data);
	buf_done(&g->input);
	free(g);
}

void guest_say_raw(struct scripted_guest *g, const void *data, size_t size)
{
	assert_non_null(g->control);
	line_say(g->control, data, size);
}

void guest_say_bulk(struct scripted_guest *g, const void *data, size_t size)
{
	assert_ptr_not_equal(LIST_FIRST(&g->lines), g->control);
	line_say(LIST_FIRST(&g->lines), data, size);
}
