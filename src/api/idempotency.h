/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_IDEMPOTENCY_H
#define API_IDEMPOTENCY_H

/* The header Idempotency-Key, where it is honoured. */

#include "base/error.h"
#include "core/core.h"

struct request;

/**
 * idempotency_read() - What core needs to recognise a repeated request
 * @ret:	Untouched if the client sent no key; borrowed from the request
 *
 * Return: 0, or ERR_BAD_REQUEST: an empty or too long key
 */
int idempotency_read(struct request *req, struct idempotency *ret,
		     struct error *err);

#endif
