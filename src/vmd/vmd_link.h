#ifndef VMD_LINK_H
#define VMD_LINK_H

#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "vmd/vmd_proto.h"

/*
 * One end of the socket between cupolad and cupola-vmd: whole messages in and
 * out, each with at most one descriptor, on the event loop.
 *
 * Both programs use it, so it knows only the header. What cannot be sent at
 * once is queued, to a limit; a peer that stops reading is a lost peer.
 */

struct vmd_link;

/**
 * struct vmd_packet - A message as it arrived
 * @body:	What follows the header; valid during the callback, aligned for
 *		any of the protocol's structs
 * @size:	Bytes of @body
 * @fd:		Descriptor that came along, or -1. Closed after the callback
 *		unless the callback took it and left -1
 */
struct vmd_packet {
	enum vmd_type type;
	uint64_t serial;
	const void *body;
	size_t size;
	int fd;
};

/**
 * struct vmd_link_handlers - What the owner hears
 * @got:	A message came; a negative result breaks the link
 * @lost:	The link is broken, called once: -ECONNRESET if the peer went,
 *		-EPROTO if it broke a rule, or what @got returned
 *
 * Both may free the link.
 */
struct vmd_link_handlers {
	int (*got)(struct vmd_packet *packet, void *userdata);
	void (*lost)(int r, void *userdata);
};

/**
 * vmd_link_new() - Take a connected socket into use
 * @fd:		SOCK_SEQPACKET; taken over on success
 *
 * Return: 0 or negative errno
 */
int vmd_link_new(sd_event *event, int fd,
		 const struct vmd_link_handlers *handlers, void *userdata,
		 struct vmd_link **ret_link);

void vmd_link_free(struct vmd_link *link);

/**
 * vmd_link_send() - Send a message, or queue it
 * @body:	May be NULL if @size is 0
 * @more:	Second part of the message's body; may be NULL if @more_size is 0
 * @fd:		Descriptor to pass, or -1; taken over on success
 *
 * A broken connection is no failure here: lost() tells it, from the loop.
 *
 * Return: 0, -ENOMEM, or -ENOBUFS when the queue is full, which breaks the
 * link
 */
int vmd_link_send(struct vmd_link *link, enum vmd_type type, uint64_t serial,
		  const void *body, size_t size, const void *more,
		  size_t more_size, int fd);

/**
 * vmd_link_flush() - Send what is queued, waiting for it
 * @timeout_usec:	At most this long
 *
 * For last words before the end of a process.
 */
void vmd_link_flush(struct vmd_link *link, uint64_t timeout_usec);

#endif
