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

#endif
