#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "vmd/vmd_link.h"

enum {
	/*
	 * Messages that wait for a peer which does not read: a list of as many
	 * VMs as a pool may have is sent in one go, and each call that ends a
	 * VM brings an event and an answer.
	 */
	LINK_QUEUE_MAX = 65536 + 4 * VMD_CALLS_MAX,
	/* Messages taken in one go, so that other sources get their turn */
	LINK_BATCH = 16,
};

struct outgoing {
	struct outgoing *next;
	int fd;
	size_t size;
	uint8_t bytes[];
};

struct vmd_link {
	int fd;
	sd_event_source *io;
	struct vmd_link_handlers handlers;
	void *userdata;
	struct outgoing *first, *last;
	size_t queued;
	/* Set while a handler runs; a free then waits for the handler's end. */
	bool busy;
	bool freed;
	/* Aligned for the structs that are read in place. */
	_Alignas(uint64_t) uint8_t in[VMD_PACKET_MAX + 1];
};

static void outgoing_free(struct outgoing *o)
{
	if (!o)
		return;
	close_fd(&o->fd);
	/* Nonces pass through here. */
	explicit_bzero(o->bytes, o->size);
	free(o);
}
DEFINE_FREEP(struct outgoing, outgoing_free);

static void link_really_free(struct vmd_link *link)
{
	struct outgoing *o;

	sd_event_source_disable_unref(link->io);
	close_fd(&link->fd);
	while ((o = link->first)) {
		link->first = o->next;
		outgoing_free(o);
	}
	explicit_bzero(link->in, sizeof(link->in));
	free(link);
}

void vmd_link_free(struct vmd_link *link)
{
	if (!link)
		return;
	link->freed = true;
	if (!link->busy)
		link_really_free(link);
}

/* Returns 1 if sent, 0 if the socket is full, negative errno if broken. */
static int link_transmit(int fd, const struct outgoing *o)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {};
	struct iovec iov = { .iov_base = (void *)o->bytes, .iov_len = o->size };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (o->fd >= 0) {
		msg.msg_control = control.bytes;
		msg.msg_controllen = sizeof(control.bytes);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.header), &o->fd, sizeof(int));
	}
	for (;;) {
		if (sendmsg(fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
			return 1;
		if (errno == EAGAIN)
			return 0;
		if (errno != EINTR)
			return -errno;
	}
}

static int link_flush_some(struct vmd_link *link)
{
	struct outgoing *o;
	int r;

	while ((o = link->first)) {
		r = link_transmit(link->fd, o);
		if (r <= 0)
			return r;
		link->first = o->next;
		if (!link->first)
			link->last = NULL;
		link->queued--;
		outgoing_free(o);
	}
	return 1;
}

static void link_want_out(struct vmd_link *link)
{
	uint32_t events = EPOLLIN | (link->first ? EPOLLOUT : 0);

	/* Fails only for a source that is off, after the link was lost. */
	(void)sd_event_source_set_io_events(link->io, events);
}

static struct outgoing *outgoing_new(enum vmd_type type, uint64_t serial,
				     const void *body, size_t size,
				     const void *more, size_t more_size)
{
	struct vmd_header header = {
		.type = type,
		.size = sizeof(header) + size + more_size,
		.serial = serial,
	};
	struct outgoing *o;

	assert(header.size <= VMD_PACKET_MAX);
	o = malloc(sizeof(*o) + header.size);
	if (!o)
		return NULL;
	o->next = NULL;
	o->fd = -1;
	o->size = header.size;
	memcpy(o->bytes, &header, sizeof(header));
	if (size > 0)
		memcpy(o->bytes + sizeof(header), body, size);
	if (more_size > 0)
		memcpy(o->bytes + sizeof(header) + size, more, more_size);
	return o;
}

int vmd_link_send(struct vmd_link *link, enum vmd_type type, uint64_t serial,
		  const void *body, size_t size, const void *more,
		  size_t more_size, int fd)
{
	_cleanup_(outgoing_freep) struct outgoing *o = NULL;

	if (link->queued >= LINK_QUEUE_MAX) {
		/* The shutdown makes the loop report it. */
		(void)shutdown(link->fd, SHUT_RDWR);
		return -ENOBUFS;
	}
	o = outgoing_new(type, serial, body, size, more, more_size);
	if (!o)
		return -ENOMEM;
	o->fd = fd;

	if (link->last)
		link->last->next = o;
	else
		link->first = o;
	link->last = take_ptr(o);
	link->queued++;
	/* What fails now fails again in the loop, which says so. */
	if (link->queued == 1)
		(void)link_flush_some(link);
	link_want_out(link);
	return 0;
}

void vmd_link_flush(struct vmd_link *link, uint64_t timeout_usec)
{
	struct pollfd p = { .fd = link->fd, .events = POLLOUT };

	while (link_flush_some(link) == 0)
		if (poll(&p, 1, (int)(timeout_usec / 1000)) <= 0)
			break;
}

/* All descriptors must be picked up, or they leak: more than one is a breach. */
static int link_take_fd(struct msghdr *msg, int *ret_fd)
{
	struct cmsghdr *c;
	int r = 0;

	for (c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		size_t n, i;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (i = 0; i < n; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int),
			       sizeof(int));
			if (*ret_fd >= 0) {
				close_fd(&fd);
				r = -EPROTO;
				continue;
			}
			*ret_fd = fd;
		}
	}
	return msg->msg_flags & (MSG_CTRUNC | MSG_TRUNC) ? -EPROTO : r;
}

/* Returns 1 with a packet, 0 if there is none now, or negative errno. */
static int link_receive(struct vmd_link *link, struct vmd_packet *packet)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(4 * sizeof(int))];
	} control;
	struct iovec iov = { .iov_base = link->in,
			     .iov_len = sizeof(link->in) };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	struct vmd_header header;
	ssize_t n;
	int r;

	n = recvmsg(link->fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	r = link_take_fd(&msg, &packet->fd);
	if (r < 0)
		return r;
	if (n == 0)
		return -ECONNRESET;
	if ((size_t)n < sizeof(header))
		return -EPROTO;
	memcpy(&header, link->in, sizeof(header));
	if (header.size != (size_t)n)
		return -EPROTO;
	packet->type = header.type;
	packet->serial = header.serial;
	packet->body = link->in + sizeof(header);
	packet->size = (size_t)n - sizeof(header);
	return 1;
}

static int link_read(struct vmd_link *link)
{
	int i, r = 1;

	for (i = 0; i < LINK_BATCH && r > 0 && !link->freed; i++) {
		struct vmd_packet packet = { .fd = -1 };

		r = link_receive(link, &packet);
		if (r > 0) {
			int handled = link->handlers.got(&packet,
							 link->userdata);

			if (handled < 0)
				r = handled;
		}
		close_fd(&packet.fd);
	}
	return r;
}

static int on_link_io(sd_event_source *source, int fd, uint32_t revents,
		      void *userdata)
{
	struct vmd_link *link = userdata;
	int r = 0;

	(void)fd;
	link->busy = true;
	if (revents & EPOLLOUT) {
		r = link_flush_some(link);
		link_want_out(link);
	}
	if (revents & (EPOLLIN | EPOLLHUP | EPOLLERR)) {
		/* Last words first: a refusal must be heard. */
		int got = link_read(link);

		if (got < 0 || r >= 0)
			r = got;
	}
	if (r < 0 && !link->freed) {
		(void)sd_event_source_set_enabled(source, SD_EVENT_OFF);
		if (r == -EPIPE)
			r = -ECONNRESET;
		link->handlers.lost(r, link->userdata);
	}
	link->busy = false;
	if (link->freed)
		link_really_free(link);
	return 0;
}

int vmd_link_new(sd_event *event, int fd,
		 const struct vmd_link_handlers *handlers, void *userdata,
		 struct vmd_link **ret_link)
{
	struct vmd_link *link;
	int r;

	link = calloc(1, sizeof(*link));
	if (!link)
		return -ENOMEM;
	link->fd = -1;
	link->handlers = *handlers;
	link->userdata = userdata;
	r = sd_event_add_io(event, &link->io, fd, EPOLLIN, on_link_io, link);
	if (r < 0) {
		link_really_free(link);
		return r;
	}
	(void)sd_event_source_set_description(link->io, "vmd-link");
	link->fd = fd;
	*ret_link = link;
	return 0;
}
