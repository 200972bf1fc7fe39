/* SPDX-License-Identifier: Apache-2.0 */
#include "api/idempotency.h"

#include <errno.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <string.h>

#include "api/request.h"
#include "base/name.h"

enum { KEY_MAX = 255 };

int idempotency_read(struct request *req, struct idempotency *ret,
		     struct error *err)
{
	const char *key = req->head.value[FIELD_IDEMPOTENCY_KEY];
	const struct buf *body = &req->body.json;

	if (!key)
		return 0;
	if (!*key || strlen(key) > KEY_MAX || !utf8_is_valid(key, strlen(key)))
		return error_set(err, ERR_BAD_REQUEST,
				 "Idempotency-Key must be text of 1 to %d bytes",
				 KEY_MAX);
	if (gnutls_hash_fast(GNUTLS_DIG_SHA256, buf_str(body), body->length,
			     ret->body_sha256) < 0)
		return error_set(err, ERR_INTERNAL, "Cannot hash a body");
	ret->key = key;
	return 0;
}
