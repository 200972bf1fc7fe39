/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_AUTH_H
#define API_AUTH_H

/*
 * Whether a request may go where it wants to go.
 */

#include "base/error.h"

struct request;

/**
 * auth_check() - Find out on whose behalf a request is made, and if it may be
 * @req:	With head, connection and route; @who and @operator are filled in
 *
 * Return: 0; ERR_UNAUTHORIZED; ERR_FORBIDDEN
 */
int auth_check(struct request *req, struct error *err);

#endif
