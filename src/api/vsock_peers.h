/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_VSOCK_PEERS_H
#define API_VSOCK_PEERS_H

/*
 * Which virtual machines of this host may connect.
 *
 * A listening socket of AF_VSOCK can be reached from every one of them, those
 * that we start included. So the setting listen.vsock_allow names the context
 * ids that are served, and all others are closed before a byte of theirs is
 * read. The kernel says who is at the other end; nobody can claim to be another.
 *
 * Such a socket is always handed over: none is opened here, since already that
 * may load modules into the kernel.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/error.h"

struct settings;

enum { VSOCK_PEERS_MAX = 64 };

/** struct vsock_peers - The context ids that are served; @count 0: none */
struct vsock_peers {
	uint32_t cid[VSOCK_PEERS_MAX];
	unsigned count;
};

/**
 * vsock_peers_read() - Read listen.vsock_allow, numbers with blanks between
 *
 * Neither of the two numbers that stand for "any" is one.
 */
int vsock_peers_read(const struct settings *settings, struct vsock_peers *ret,
		     struct error *err);

/**
 * vsock_peers_admit() - Whether a connection is to be served
 * @address:	Of the peer, as accept() gave it; of any family but AF_VSOCK
 *		everybody is
 */
bool vsock_peers_admit(const struct vsock_peers *peers,
		       const struct sockaddr *address, socklen_t size);

/**
 * vsock_peers_check() - Whether listening makes sense
 * @domain:	Of the socket
 *
 * One of AF_VSOCK at which nobody would be served is a mistake.
 */
int vsock_peers_check(const struct vsock_peers *peers, int domain,
		      struct error *err);

#endif
