/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http_head.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "api/header.h"
#include "base/limits.h"

static const char *const names[] = {
	[FIELD_ACCEPT]			= "Accept",
	[FIELD_API_KEY]			= "api-key",
	[FIELD_AUTHORIZATION]		= "Authorization",
	[FIELD_CONTENT_LENGTH]		= "Content-Length",
	[FIELD_CONTENT_ENCODING]	= "Content-Encoding",
	[FIELD_CONTENT_TYPE]		= "Content-Type",
	[FIELD_CUPOLA_TENANT]		= "Cupola-Tenant",
	[FIELD_EXPECT]			= "Expect",
	[FIELD_HOST]			= "Host",
	[FIELD_IDEMPOTENCY_KEY]		= "Idempotency-Key",
	[FIELD_IF_NONE_MATCH]		= "If-None-Match",
	[FIELD_IF_RANGE]		= "If-Range",
	[FIELD_LAST_EVENT_ID]		= "Last-Event-ID",
	[FIELD_MCP_METHOD]		= "Mcp-Method",
	[FIELD_MCP_NAME]		= "Mcp-Name",
	[FIELD_MCP_PROTOCOL_VERSION]	= "MCP-Protocol-Version",
	[FIELD_MCP_SESSION_ID]		= "Mcp-Session-Id",
	[FIELD_ORIGIN]			= "Origin",
	[FIELD_RANGE]			= "Range",
	[FIELD_REQUEST_HEADERS]		= "Access-Control-Request-Headers",
	[FIELD_REQUEST_METHOD]		= "Access-Control-Request-Method",
	[FIELD_TRACEPARENT]		= "traceparent",
	[FIELD_TRANSFER_ENCODING]	= "Transfer-Encoding",
	[FIELD_X_MS_APIKEY]		= "x-ms-apikey",
};
static_assert(sizeof(names) / sizeof(names[0]) == FIELD_COUNT,
	      "names[] doesn't match enum http_field");

static bool value_is_clean(const char *value, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++) {
		unsigned char c = (unsigned char)value[i];

		if ((c < 0x20 && c != '\t') || c == 0x7f)
			return false;
	}
	return true;
}

static int field_of(const char *name, size_t size)
{
	int i;

	for (i = 0; i < FIELD_COUNT; i++)
		if (strlen(names[i]) == size &&
		    strncasecmp(names[i], name, size) == 0)
			return i;
	return -1;
}

static int refuse_layout(struct error *err)
{
	return error_set(err, ERR_BAD_REQUEST,
			 "The header has a line that is not valid: a line end "
			 "other than CRLF, a folded line, a NUL, a blank too "
			 "many, or a field without a name");
}

int http_head_begin(struct http_head *head, const char *method,
		    const char *target, const char *version, struct error *err)
{
	/* One blank on either side of the target. */
	if (version != method + strlen(method) + strlen(target) + 2)
		return refuse_layout(err);
	head->next = version + strlen(version) + strlen("\r\n");
	return 0;
}

int http_head_add(struct http_head *head, const char *name, size_t name_size,
		  const char *value, size_t value_size, struct error *err)
{
	int field;

	if (++head->fields > HTTP_HEAD_FIELDS_MAX)
		return error_set(err, ERR_HEADERS_TOO_LARGE,
				 "There are more than %d header fields",
				 HTTP_HEAD_FIELDS_MAX);
	if (head->next && name != head->next)
		return refuse_layout(err);
	if (head->next)
		head->next = value + value_size + strlen("\r\n");
	if (!header_is_token(name, name_size))
		return error_set(err, ERR_BAD_REQUEST,
				 "A header field's name is not valid");
	if (!value_is_clean(value, value_size))
		return error_set(err, ERR_BAD_REQUEST,
				 "A header field has control characters");
	field = field_of(name, name_size);
	if (field < 0)
		return 0;
	if (head->value[field] && field == FIELD_ACCEPT)
		return 0;
	if (head->value[field])
		return error_set(err, ERR_BAD_REQUEST,
				 "Header field '%s' is given twice",
				 names[field]);
	head->value[field] = value;
	return 0;
}

int http_head_length(const char *value, uint64_t *ret)
{
	uint64_t length = 0;
	const char *s;

	for (s = value; *s; s++) {
		if (*s < '0' || *s > '9' ||
		    __builtin_mul_overflow(length, 10, &length) ||
		    __builtin_add_overflow(length, *s - '0', &length))
			return -EINVAL;
	}
	if (s == value)
		return -EINVAL;
	*ret = length;
	return 0;
}

static int check_framing(struct http_head *head, const char *version,
			 struct error *err)
{
	const char *length = head->value[FIELD_CONTENT_LENGTH];
	const char *encoding = head->value[FIELD_TRANSFER_ENCODING];

	if (length && encoding)
		return error_set(err, ERR_BAD_REQUEST,
				 "Content-Length and Transfer-Encoding exclude "
				 "each other");
	if (length && http_head_length(length, &head->content_length) < 0)
		return error_set(err, ERR_BAD_REQUEST,
				 "Content-Length is not a decimal number");
	if (encoding && (strcasecmp(encoding, "chunked") != 0 ||
			 strcmp(version, "HTTP/1.1") != 0))
		return error_set(err, ERR_BAD_REQUEST,
				 "The only Transfer-Encoding is 'chunked', in "
				 "HTTP/1.1");
	head->chunked = encoding != NULL;
	return 0;
}

int http_head_check(struct http_head *head, const char *method,
		    const char *version, size_t size, struct error *err)
{
	const char *expect = head->value[FIELD_EXPECT];

	(void)trace_read(head->value[FIELD_TRACEPARENT], &head->trace);
	if (head->next && method + size != head->next + strlen("\r\n"))
		return refuse_layout(err);
	if (size > LIMIT_HEADERS_BYTES)
		return error_set(err, ERR_HEADERS_TOO_LARGE,
				 "The header is larger than %d bytes",
				 LIMIT_HEADERS_BYTES);
	if (!header_is_token(method, strlen(method)))
		return error_set(err, ERR_BAD_REQUEST,
				 "The method is not valid");
	if (strcmp(version, "HTTP/1.1") == 0 && !head->value[FIELD_HOST])
		return error_set(err, ERR_BAD_REQUEST,
				 "There is no Host header field");
	if (expect && strcasecmp(expect, "100-continue") != 0)
		return error_set(err, ERR_BAD_REQUEST,
				 "The only Expect is '100-continue'");
	return check_framing(head, version, err);
}

bool http_head_has_body(const struct http_head *head)
{
	return head->chunked || head->content_length > 0;
}
