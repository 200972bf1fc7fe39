/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_API_ERROR_H
#define API_API_ERROR_H

/*
 * How a failure looks to a client: which status, which header fields, and in
 * which envelope. Handlers never choose a status for a failure.
 */

#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"

/** enum api_envelope - In which form an error is told */
enum api_envelope {
	ENVELOPE_OPENAI,	/* {"error":{"message","type","param","code"}} */
	ENVELOPE_AZURE,		/* {"error":{"code","message"}} */

	ENVELOPE_COUNT,
};

/** api_error_status() - The HTTP status of a kind of failure */
unsigned api_error_status(enum error_code code);

/** api_error_retry_after() - Seconds to wait before trying again, 0: unsaid */
unsigned api_error_retry_after(const struct error *err);

/** api_error_is_final() - Whether clients must not repeat the call by themselves */
bool api_error_is_final(enum error_code code);

/**
 * api_error_write() - Write the body
 * @request_id:	What the client is given in place of an internal error's cause
 *
 * Return: 0 or what the buffer said
 */
int api_error_write(struct buf *b, enum api_envelope envelope,
		    const struct error *err, const char *request_id);

#endif
