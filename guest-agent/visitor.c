/* SPDX-License-Identifier: Apache-2.0 */
#include "visitor.h"

#include <errno.h>
#include <nettle/hmac.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bulk.h"
#include "link.h"
#include "loop.h"
#include "report.h"
#include "wire/frame.h"
#include "wire/message.h"
#include "wire/proof.h"

#define VISITORS_MAX 16
#define PATIENCE (10 * USEC_PER_SEC)
/* Proof and OPEN, and what the host may have sent behind it at once. */
#define BUFFER_SIZE 4096

struct visitor {
	struct source source;
	struct timer timer;
	bool proved;
	uint8_t challenge[WIRE_CHALLENGE_SIZE];
	size_t size;
	uint8_t buffer[BUFFER_SIZE];
};

static void on_listener(struct source *s, uint32_t events);

static struct source listener = { .fd = -1, .ready = on_listener };
static struct visitor visitors[VISITORS_MAX];
static uint8_t key[WIRE_NONCE_SIZE];

static void visitor_close(struct visitor *v)
{
	source_close(&v->source);
	timer_clear(&v->timer);
}

static void proof_of(const struct visitor *v, enum wire_side side,
		     const uint8_t host[static WIRE_CHALLENGE_SIZE],
		     uint8_t ret_proof[static WIRE_PROOF_SIZE])
{
	uint8_t input[PROOF_INPUT_MAX];
	size_t size = proof_input(side, v->challenge, host, input);
	struct hmac_sha256_ctx hmac;

	hmac_sha256_set_key(&hmac, sizeof(key), key);
	hmac_sha256_update(&hmac, size, input);
	hmac_sha256_digest(&hmac, WIRE_PROOF_SIZE, ret_proof);
}

static int check_proof(struct visitor *v)
{
	const uint8_t *host = v->buffer;
	uint8_t proof[WIRE_PROOF_SIZE];

	if (v->size < PROOF_HOST_SIZE)
		return 0;
	proof_of(v, WIRE_HOST, host, proof);
	if (!proof_equal(proof, v->buffer + WIRE_CHALLENGE_SIZE))
		return -EACCES;
	proof_of(v, WIRE_GUEST, host, proof);
	/* A new connection has room for so little. */
	if (send(v->source.fd, proof, sizeof(proof), MSG_NOSIGNAL) !=
	    sizeof(proof))
		return -EIO;
	v->proved = true;
	v->size -= PROOF_HOST_SIZE;
	memmove(v->buffer, v->buffer + PROOF_HOST_SIZE, v->size);
	return 0;
}

static int check_open(struct visitor *v)
{
	struct message_open m;
	struct frame f;
	size_t used;
	int fd, r;

	r = frame_next(v->buffer, v->size, &f, &used);
	if (r <= 0)
		return r;
	if (f.type != WIRE_OPEN || message_decode_open(&f, &m) < 0)
		return -EPROTO;
	if (m.version != WIRE_VERSION && m.purpose != 0)
		return -EPROTO;
	timer_clear(&v->timer);
	fd = source_take(&v->source);
	/* Of another version only HELLO is wanted, which says so. */
	if (m.version != WIRE_VERSION || m.purpose == WIRE_CONTROL)
		link_adopt(fd, m.version, v->buffer + used, v->size - used);
	else
		bulk_adopt(fd, m.purpose, v->buffer + used, v->size - used);
	return 0;
}

static void on_visitor(struct source *s, uint32_t events)
{
	struct visitor *v = (struct visitor *)((char *)s -
					       offsetof(struct visitor,
							source));
	int r = 0;
	ssize_t n;

	(void)events;
	n = recv(s->fd, v->buffer + v->size, sizeof(v->buffer) - v->size, 0);
	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		visitor_close(v);
		return;
	}
	v->size += (size_t)n;
	if (!v->proved)
		r = check_proof(v);
	if (r >= 0 && v->proved)
		r = check_open(v);
	if (r < 0) {
		report_error(r, "a connection is refused");
		visitor_close(v);
	}
}

static void on_late(struct timer *t)
{
	visitor_close((struct visitor *)((char *)t -
					 offsetof(struct visitor, timer)));
}

static struct visitor *find_free(void)
{
	size_t i;

	for (i = 0; i < VISITORS_MAX; i++)
		if (visitors[i].source.fd < 0)
			return &visitors[i];
	return NULL;
}

static int welcome(int fd)
{
	struct visitor *v = find_free();
	int r;

	if (!v)
		return -EBUSY;
	if (getrandom(v->challenge, sizeof(v->challenge), 0) !=
	    sizeof(v->challenge))
		return -EIO;
	if (send(fd, v->challenge, sizeof(v->challenge), MSG_NOSIGNAL) !=
	    sizeof(v->challenge))
		return -EIO;
	v->proved = false;
	v->size = 0;
	r = source_open(&v->source, fd, EPOLLIN);
	if (r >= 0)
		timer_set(&v->timer, clock_boot() + PATIENCE);
	return r;
}

static void on_listener(struct source *s, uint32_t events)
{
	int fd = accept4(s->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	(void)events;
	if (fd < 0)
		return;
	if (welcome(fd) < 0)
		(void)close(fd);
}

int visitor_listen(int fd, const uint8_t nonce[static WIRE_NONCE_SIZE])
{
	size_t i;

	for (i = 0; i < VISITORS_MAX; i++) {
		visitors[i].source = (struct source){ .fd = -1,
						      .ready = on_visitor };
		visitors[i].timer = (struct timer){ .fire = on_late };
	}
	memcpy(key, nonce, sizeof(key));
	return source_open(&listener, fd, EPOLLIN);
}
