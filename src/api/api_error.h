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
	ENVELOPE_AZURE,		/* {"error":{"code","message","type"}}, "param" */
	ENVELOPE_RPC,		/* {"jsonrpc","error":{"code","message"},"id"} */

	ENVELOPE_COUNT,
};

/** enum rpc_code - Errors of JSON-RPC and MCP */
enum rpc_code {
	RPC_PARSE_ERROR = -32700,
	RPC_INVALID_REQUEST = -32600,
	RPC_METHOD_NOT_FOUND = -32601,
	RPC_INVALID_PARAMS = -32602,
	RPC_INTERNAL_ERROR = -32603,
	RPC_REFUSED = -32000,
	RPC_SESSION_NOT_FOUND = -32001,
	RPC_RESOURCE_NOT_FOUND = -32002,
	RPC_HEADER_MISMATCH = -32020,
	RPC_VERSION_UNSUPPORTED = -32022,
};

/* The reason of an error that becomes RPC_SESSION_NOT_FOUND. */
#define RPC_SESSION_REASON "session_not_found"

/**
 * api_refuse() - Make an error that says what is wrong with a parameter
 * @what:	What it is or must be, as in "must be a date"
 * @reason:	The code of the error, or NULL
 *
 * Return: -EINVAL
 */
int api_refuse(struct error *err, const char *param, const char *what,
	       const char *reason);

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
