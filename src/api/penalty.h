/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_PENALTY_H
#define API_PENALTY_H

/*
 * Addresses that keep trying keys which open nothing.
 *
 * After PENALTY_FREE failures, which are forgotten one by one, an address is
 * told to come later, for longer each time, instead of that its key is wrong.
 * A key that is good is always served, from whatever address: many clients may
 * stand behind one proxy, and a key cannot be found by trying.
 */

#include <stdint.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/error.h"

enum {
	PENALTY_FREE = 10,	/* failures without consequence */
	PENALTY_SLOTS = 1024,	/* addresses that are remembered */
	PENALTY_MAX_SEC = 60,
};

/* One failure is forgotten in so much time. */
#define PENALTY_FORGET_USEC (6 * USEC_PER_SEC)

/**
 * struct penalty - An address's failures
 * @network:	The address; of IPv6 the first half, which is one customer's
 */
struct penalty {
	uint64_t network;
	uint32_t failures;
	usec_t at;		/* of the last; monotonic */
};

struct penalties {
	struct penalty slot[PENALTY_SLOTS];
};

/**
 * penalty_network() - What an address is remembered as; 0: not at all
 *
 * A virtual machine is, by its context id.
 */
uint64_t penalty_network(const struct sockaddr *address, socklen_t size);

/**
 * penalty_add() - Note a failure
 * @err:	ERR_UNAUTHORIZED; becomes ERR_LIMIT with the time to wait
 *
 * Return: what @err stands for
 */
int penalty_add(struct penalties *p, uint64_t network, usec_t now,
		struct error *err);

#endif
