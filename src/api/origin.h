/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_ORIGIN_H
#define API_ORIGIN_H

#include "base/buf.h"

struct request;

/**
 * origin_write() - Append how the client reached us, as in "http://host:8080"
 *
 * For URLs that it is to come back by. The Host field is the client's own word,
 * and nobody else is told.
 */
int origin_write(const struct request *req, struct buf *b);

#endif
