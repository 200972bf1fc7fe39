/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUPOLA_STORE_HASH_H
#define CUPOLA_STORE_HASH_H

/*
 * SHA-256 and what is built on it, for everyone above this layer.
 *
 * The one place in cupolad that knows which library hashes. All functions are
 * pure and may be called from any thread. Secrets are compared with
 * secret_equal() of base/hex.h.
 */

#include <stddef.h>
#include <stdint.h>

#define HASH_SIZE 32 /* bytes of a SHA-256 */

/**
 * hash_sha256() - Hash bytes that are all there
 *
 * Return: 0, or -ENOMEM
 */
int hash_sha256(const void *data, size_t size, uint8_t ret_hash[HASH_SIZE]);

/**
 * hash_hmac_sha256() - HMAC-SHA256 of bytes that are all there
 *
 * Return: 0, or -ENOMEM
 */
int hash_hmac_sha256(const void *key, size_t key_size, const void *data,
		     size_t size, uint8_t ret_mac[HASH_SIZE]);

/*
 * MD5, for those who ask for it: it tells transmission errors, not forgeries.
 */
#define HASH_MD5_SIZE 16

struct hash_md5;

/** hash_md5_new() - Begin; NULL without memory */
struct hash_md5 *hash_md5_new(void);

/** hash_md5_add() - Go on; Return: 0, or a negative errno */
int hash_md5_add(struct hash_md5 *h, const void *data, size_t size);

/** hash_md5_get() - The digest so far; what is added later begins anew */
void hash_md5_get(struct hash_md5 *h, uint8_t ret_hash[HASH_MD5_SIZE]);

/** hash_md5_free() - NULL is fine */
void hash_md5_free(struct hash_md5 *h);

#endif
