/* SPDX-License-Identifier: Apache-2.0 */
#include "api/penalty.h"

#include <netinet/in.h>
#include <string.h>

/* Needs sockaddr's type from above. */
#include <linux/vm_sockets.h>

/* Context ids are no IPv4 addresses. */
#define VSOCK_NETWORK (1ULL << 32)

/* Its low bit tells it from "none"; a collision costs nobody a good key. */
static uint64_t mix(uint64_t value)
{
	value *= 0x9e3779b97f4a7c15u;
	value ^= value >> 32;
	return value | 1;
}

uint64_t penalty_network(const struct sockaddr *address, socklen_t size)
{
	const struct sockaddr_in6 *six = (const void *)address;
	const struct sockaddr_in *four = (const void *)address;
	const struct sockaddr_vm *vm = (const void *)address;
	uint64_t network = 0;

	if (size >= sizeof(*four) && address->sa_family == AF_INET)
		return mix(ntohl(four->sin_addr.s_addr));
	if (size >= sizeof(*vm) && address->sa_family == AF_VSOCK)
		return mix(VSOCK_NETWORK | vm->svm_cid);
	if (size < sizeof(*six) || address->sa_family != AF_INET6)
		return 0;
	if (IN6_IS_ADDR_V4MAPPED(&six->sin6_addr)) {
		uint32_t word;

		memcpy(&word, six->sin6_addr.s6_addr + 12, sizeof(word));
		return mix(ntohl(word));
	}
	memcpy(&network, six->sin6_addr.s6_addr, sizeof(network));
	return mix(network);
}

/* Its own, or the one of two that was quiet for longer. */
static struct penalty *find_slot(struct penalties *p, uint64_t network)
{
	struct penalty *a = &p->slot[network % PENALTY_SLOTS];
	struct penalty *b = &p->slot[(network >> 32) % PENALTY_SLOTS];

	if (a->network == network)
		return a;
	if (b->network == network)
		return b;
	return a->at <= b->at ? a : b;
}

/* One second, then twice as long for every PENALTY_FREE failures more. */
static unsigned wait_sec(uint32_t failures)
{
	uint32_t steps = (failures - PENALTY_FREE - 1) / PENALTY_FREE;
	unsigned sec = steps < 6 ? 1u << steps : PENALTY_MAX_SEC;

	return sec < PENALTY_MAX_SEC ? sec : PENALTY_MAX_SEC;
}

int penalty_add(struct penalties *p, uint64_t network, usec_t now,
		struct error *err)
{
	struct penalty *slot;
	uint64_t forgotten;
	unsigned sec;
	int r;

	if (!network)
		return error_errno(err->code);
	slot = find_slot(p, network);
	if (slot->network != network)
		*slot = (struct penalty){ .network = network, .at = now };
	forgotten = usec_sub(now, slot->at) / PENALTY_FORGET_USEC;
	slot->failures -= forgotten < slot->failures ? (uint32_t)forgotten
						     : slot->failures;
	if (slot->failures < UINT32_MAX)
		slot->failures++;
	slot->at = now;
	if (slot->failures <= PENALTY_FREE)
		return error_errno(err->code);
	sec = wait_sec(slot->failures);
	error_clear(err);
	r = error_set(err, ERR_LIMIT,
		      "%u keys from this address opened nothing: the next try "
		      "in %u s",
		      slot->failures, sec);
	error_set_reason(err, "rate_limit_exceeded");
	error_set_retry_after(err, sec);
	return r;
}
