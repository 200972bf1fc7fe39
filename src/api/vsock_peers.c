/* SPDX-License-Identifier: Apache-2.0 */
#include "api/vsock_peers.h"

#include <string.h>

/* Needs sockaddr's type from above. */
#include <linux/vm_sockets.h>

#include "base/settings.h"

static int bad(const char *word, size_t size, struct error *err)
{
	return error_set(err, ERR_BAD_REQUEST,
			 "Setting listen.vsock_allow: '%.*s' is no context id "
			 "from 1 to %u",
			 (int)size, word, VMADDR_CID_ANY - 1);
}

static int read_cid(const char *word, size_t size, uint32_t *ret,
		    struct error *err)
{
	uint32_t cid = 0;
	size_t i;

	for (i = 0; i < size; i++)
		if (word[i] < '0' || word[i] > '9' ||
		    __builtin_mul_overflow(cid, 10, &cid) ||
		    __builtin_add_overflow(cid, word[i] - '0', &cid))
			return bad(word, size, err);
	/* 0 is the hypervisor, whom nobody connects as. */
	if (cid == VMADDR_CID_HYPERVISOR || cid == VMADDR_CID_ANY)
		return bad(word, size, err);
	*ret = cid;
	return 0;
}

int vsock_peers_read(const struct settings *settings, struct vsock_peers *ret,
		     struct error *err)
{
	const char *word = settings_string(settings, "listen", "vsock_allow");
	size_t size;
	int r;

	*ret = (struct vsock_peers){ .count = 0 };
	for (word += strspn(word, " "); *word;
	     word += size, word += strspn(word, " ")) {
		size = strcspn(word, " ");
		if (ret->count == VSOCK_PEERS_MAX)
			return error_set(err, ERR_BAD_REQUEST,
					 "Setting listen.vsock_allow names more "
					 "than %d context ids",
					 VSOCK_PEERS_MAX);
		r = read_cid(word, size, &ret->cid[ret->count], err);
		if (r < 0)
			return r;
		ret->count++;
	}
	return 0;
}

bool vsock_peers_admit(const struct vsock_peers *peers,
		       const struct sockaddr *address, socklen_t size)
{
	struct sockaddr_vm vm;
	unsigned i;

	if (size < sizeof(address->sa_family) ||
	    address->sa_family != AF_VSOCK)
		return true;
	if (size < sizeof(vm))
		return false;
	memcpy(&vm, address, sizeof(vm));
	for (i = 0; i < peers->count; i++)
		if (peers->cid[i] == vm.svm_cid)
			return true;
	return false;
}

int vsock_peers_check(const struct vsock_peers *peers, int domain,
		      struct error *err)
{
	if (domain != AF_VSOCK || peers->count > 0)
		return 0;
	return error_set(err, ERR_BAD_REQUEST,
			 "A socket of AF_VSOCK was handed over, but nobody may "
			 "use it: listen.vsock_allow names no context id");
}
