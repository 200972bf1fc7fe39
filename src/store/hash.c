/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdlib.h>

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

struct hash_md5 {
	gnutls_hash_hd_t handle;
};

struct hash_md5 *hash_md5_new(void)
{
	struct hash_md5 *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	if (gnutls_hash_init(&h->handle, GNUTLS_DIG_MD5) < 0) {
		free(h);
		return NULL;
	}
	return h;
}

int hash_md5_add(struct hash_md5 *h, const void *data, size_t size)
{
	return gnutls_hash(h->handle, data, size) < 0 ? -EIO : 0;
}

void hash_md5_get(struct hash_md5 *h, uint8_t ret_hash[HASH_MD5_SIZE])
{
	gnutls_hash_output(h->handle, ret_hash);
}

void hash_md5_free(struct hash_md5 *h)
{
	if (!h)
		return;
	gnutls_hash_deinit(h->handle, NULL);
	free(h);
}
