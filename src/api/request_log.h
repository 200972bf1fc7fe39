/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_REQUEST_LOG_H
#define API_REQUEST_LOG_H

/*
 * The one line in the log that each request gets, at its end, and one more in
 * the audit log where its route says so.
 */

#include "base/clock.h"

struct request;

/** request_log_now() - The time that durations are measured by */
usec_t request_log_now(void);

/**
 * request_log() - Write it
 *
 * The path is the route's pattern, or, where there is none, what the client
 * sent, without the query and cut: neither keys nor queries get into the log.
 */
void request_log(const struct request *req);

#endif
