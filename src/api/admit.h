/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_ADMIT_H
#define API_ADMIT_H

/*
 * Requests that carry a key: how many a key and its tenant may have under way,
 * and which have to end because the key was revoked.
 */

#include "base/error.h"

struct api;
struct request;

/**
 * admit_begin() - Take a place for a request that was authenticated
 *
 * Return: 0; ERR_LIMIT; ERR_UNAUTHORIZED
 */
int admit_begin(struct request *req, struct error *err);

/** admit_end() - Give it back; nothing happens if none was taken */
void admit_end(struct request *req);

/**
 * admit_cut() - Close the connections of what is under way for a key
 * @key_id:	NULL: for any of the tenant's
 *
 * An answer, a stream, an upload ends in the middle, so that nobody takes it for
 * whole. What it had started goes on: it belongs to the tenant.
 */
void admit_cut(struct api *api, const char *tenant, const char *key_id);

#endif
