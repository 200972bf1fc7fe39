/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_CORS_H
#define API_CORS_H

/*
 * Which web pages may read our answers: those of the origins in the setting
 * listen.cors_origins, and without it none.
 *
 * A page has to bring an API key, as everybody; what a browser would add by
 * itself (cookies, its user's certificates) opens nothing here, so credentials in
 * the sense of CORS are never allowed. Whoever is not a browser is not concerned:
 * an Origin that is not on the list is served all the same, and only not told
 * that its page may look.
 */

#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"

struct request;
struct settings;

/** cors_check() - Whether the setting makes sense; ERR_BAD_REQUEST if not */
int cors_check(const struct settings *settings, struct error *err);

/**
 * cors_allows() - Whether the request comes from a page that may read answers
 *
 * Return: false also if it says nothing of a page
 */
bool cors_allows(const struct request *req);

/** cors_add() - Add the header fields for such a page to the answer, if it is one */
void cors_add(struct request *req);

/** cors_write() - The same for an answer that is written by hand */
int cors_write(const struct request *req, struct buf *b);

#endif
