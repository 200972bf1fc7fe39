/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_HTTP_HEAD_H
#define API_HTTP_HEAD_H

/*
 * A request's header fields, and whether they can be trusted to mean one thing.
 *
 * Two servers that read one request differently are how requests get smuggled
 * past a proxy, so what is ambiguous is refused and the connection closed:
 * libmicrohttpd 0.9.75 itself accepts two Content-Lengths, Content-Length with
 * Transfer-Encoding, two Hosts and field names with blanks.
 *
 * It also hides line ends of one byte, folded lines, NULs, and a field without a
 * name, which it takes for the end of the head. But it parses in place: every
 * string it gives out lies where it came from, so a gap between two of them
 * that is not just what belongs there shows all of these. 1.0 refuses them
 * itself and need not be watched.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/trace.h"

enum {
	HTTP_HEAD_FIELDS_MAX = 100,
};

/**
 * enum http_field - The fields that mean something to us
 *
 * Each at most once, but for Accept, which is a list: there the first counts.
 */
enum http_field {
	FIELD_ACCEPT,
	FIELD_API_KEY,
	FIELD_AUTHORIZATION,
	FIELD_CONTENT_LENGTH,
	FIELD_CONTENT_ENCODING,
	FIELD_CONTENT_TYPE,
	FIELD_CUPOLA_TENANT,
	FIELD_EXPECT,
	FIELD_HOST,
	FIELD_IDEMPOTENCY_KEY,
	FIELD_IF_NONE_MATCH,
	FIELD_IF_RANGE,
	FIELD_LAST_EVENT_ID,
	FIELD_MCP_METHOD,
	FIELD_MCP_NAME,
	FIELD_MCP_PROTOCOL_VERSION,
	FIELD_MCP_SESSION_ID,
	FIELD_ORIGIN,
	FIELD_RANGE,
	FIELD_REQUEST_HEADERS,
	FIELD_REQUEST_METHOD,
	FIELD_TRACEPARENT,
	FIELD_TRANSFER_ENCODING,
	FIELD_X_MS_APIKEY,

	FIELD_COUNT,
};

/**
 * struct http_head - What the header fields say
 * @value:	Of each known field, borrowed; NULL if it is absent
 * @fields:	How many fields there were, known or not
 * @chunked:	The body comes in chunks; its length is not known
 * @content_length: Length of the body if it does not; 0 if there is none
 * @next:	Where the next line must begin; NULL: not known
 * @trace:	Of traceparent; known once the whole was checked
 */
struct http_head {
	const char *value[FIELD_COUNT];
	unsigned fields;
	bool chunked;
	uint64_t content_length;
	const char *next;
	struct trace trace;
};

#define HTTP_HEAD_INIT ((struct http_head){ .fields = 0 })

/**
 * http_head_begin() - Take in the request line
 * @method:	As the library gives it
 * @target:	Its copy will do
 * @version:	As the library gives it
 *
 * To be left out if the strings do not lie where they came from.
 * Return: 0 or -EINVAL (ERR_BAD_REQUEST)
 */
int http_head_begin(struct http_head *head, const char *method,
		    const char *target, const char *version,
		    struct error *err);

/**
 * http_head_add() - Take in the next field
 *
 * Return: 0; -EINVAL (ERR_BAD_REQUEST), or ERR_HEADERS_TOO_LARGE
 */
int http_head_add(struct http_head *head, const char *name, size_t name_size,
		  const char *value, size_t value_size, struct error *err);

/**
 * http_head_check() - Look at it as a whole, when all fields are there
 * @size:	Bytes of the head, request line included
 */
int http_head_check(struct http_head *head, const char *method,
		    const char *version, size_t size, struct error *err);

/**
 * http_head_length() - Read a Content-Length
 *
 * Return: 0, or -EINVAL if it is anything but decimal digits: a sign, a blank or
 * a list means different things to others
 */
int http_head_length(const char *value, uint64_t *ret);

/** http_head_has_body() - Whether a body follows */
bool http_head_has_body(const struct http_head *head);

#endif
