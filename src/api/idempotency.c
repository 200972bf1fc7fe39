/* SPDX-License-Identifier: Apache-2.0 */
#include "api/idempotency.h"

#include <errno.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <string.h>

#include "api/request.h"
#include "base/name.h"

enum { KEY_MAX = 255 };

/* Of all that makes it this request: what it is about, and its body. */
static int hash_request(const struct request *req, uint8_t ret[static 32])
{
	const struct route_match *match = &req->match;
	const struct buf *body = &req->body.json;
	gnutls_hash_hd_t hash;
	int r;

	if (gnutls_hash_init(&hash, GNUTLS_DIG_SHA256) < 0)
		return -ENOMEM;
	r = match->route->container ?
		    gnutls_hash(hash, match->param[0],
				strlen(match->param[0]) + 1) :
		    0;
	if (r >= 0)
		r = gnutls_hash(hash, buf_str(body), body->length);
	gnutls_hash_deinit(hash, ret);
	return r < 0 ? -EIO : 0;
}

int idempotency_read(struct request *req, struct idempotency *ret,
		     struct error *err)
{
	const char *key = req->head.value[FIELD_IDEMPOTENCY_KEY];

	if (!key)
		return 0;
	if (!*key || strlen(key) > KEY_MAX || !utf8_is_valid(key, strlen(key)))
		return error_set(err, ERR_BAD_REQUEST,
				 "Idempotency-Key must be text of 1 to %d bytes",
				 KEY_MAX);
	if (hash_request(req, ret->body_sha256) < 0)
		return error_set(err, ERR_INTERNAL, "Cannot hash a body");
	ret->key = key;
	return 0;
}
