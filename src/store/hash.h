/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUPOLA_STORE_HASH_H
#define CUPOLA_STORE_HASH_H

/*
 * SHA-256 and what is built on it, for everyone above this layer.
 *
 * The one place in cupolad that knows which library hashes. All functions are
 * pure and may be called from any thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HASH_SIZE	32		/* bytes of a SHA-256 */
#define HASH_HEX_SIZE	(2 * HASH_SIZE + 1)

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

/**
 * hash_equal() - Compare secrets in a time that does not depend on them
 *
 * Return: true if the first @size bytes are the same
 */
bool hash_equal(const void *a, const void *b, size_t size);

/** hash_to_hex() - Lower-case hexadecimal with its NUL */
void hash_to_hex(const uint8_t hash[HASH_SIZE], char ret_hex[HASH_HEX_SIZE]);

/**
 * hash_from_hex() - The reverse
 *
 * Return: 0, or -EINVAL if @hex is not 64 lower-case digits
 */
int hash_from_hex(const char *hex, uint8_t ret_hash[HASH_SIZE]);

#endif
