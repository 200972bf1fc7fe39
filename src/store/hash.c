/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>

#include "store/hash.h"

int hash_sha256(const void *data, size_t size, uint8_t ret_hash[HASH_SIZE])
{
	if (gnutls_hash_fast(GNUTLS_DIG_SHA256, data, size, ret_hash) < 0)
		return -ENOMEM;
	return 0;
}

int hash_hmac_sha256(const void *key, size_t key_size, const void *data,
		     size_t size, uint8_t ret_mac[HASH_SIZE])
{
	if (gnutls_hmac_fast(GNUTLS_MAC_SHA256, key, key_size, data, size,
			     ret_mac) < 0)
		return -ENOMEM;
	return 0;
}
