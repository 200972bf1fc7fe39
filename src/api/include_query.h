/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_INCLUDE_QUERY_H
#define API_INCLUDE_QUERY_H

#include "base/error.h"

struct request;

/**
 * include_query() - What is to be shown as well, by "include" in the query
 * @ret:	Bits of enum item_include are added
 *
 * Arrays are written as include[]=…, include[0]=… or include=…, repeatedly.
 */
int include_query(const struct request *req, unsigned *ret, struct error *err);

#endif
