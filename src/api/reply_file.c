/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers that are files: sent by the kernel from the descriptor, whole or the
 * range that was asked for, and not at all to a client that has them already.
 * Always as an attachment of no particular type, so that no browser runs what
 * somebody's code has written.
 */
#include "api/reply.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/request.h"
#include "base/cleanup.h"
#include "base/hex.h"

enum { ETAG_SIZE = 2 * 32 + 3 };

struct range {
	uint64_t first;
	uint64_t count;
	bool partial;
};

/* Digits at *@s; moves it behind them. */
static bool read_number(const char **s, uint64_t *ret)
{
	const char *at = *s;
	uint64_t value = 0;

	for (; *at >= '0' && *at <= '9'; at++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, *at - '0', &value))
			return false;
	if (at == *s)
		return false;
	*s = at;
	*ret = value;
	return true;
}

/*
 * "bytes=A-B", "bytes=A-" or "bytes=-N". Anything else, several ranges
 * included, may be answered with the whole file (RFC 9110, 14.2). Returns
 * -ERANGE if no byte of the range exists.
 */
static int read_range(const char *s, uint64_t bytes, struct range *ret)
{
	uint64_t first = 0, last = 0;
	bool has_last;

	if (strncmp(s, "bytes=", 6) != 0)
		return 0;
	s += 6;
	if (*s == '-') {
		s++;
		if (!read_number(&s, &last) || *s)
			return 0;
		if (last == 0 || bytes == 0)
			return -ERANGE;
		first = last < bytes ? bytes - last : 0;
		last = bytes - 1;
	} else {
		if (!read_number(&s, &first) || *s++ != '-')
			return 0;
		has_last = read_number(&s, &last);
		if (*s || (has_last && last < first))
			return 0;
		if (first >= bytes)
			return -ERANGE;
		if (!has_last || last >= bytes)
			last = bytes - 1;
	}
	*ret = (struct range){ first, last - first + 1, true };
	return 0;
}

static int find_range(struct request *req, uint64_t bytes, const char *etag,
		      struct range *ret, struct error *err)
{
	const char *range = req->head.value[FIELD_RANGE];
	const char *if_range = req->head.value[FIELD_IF_RANGE];

	*ret = (struct range){ 0, bytes, false };
	if (!range || (if_range && strcmp(if_range, etag) != 0))
		return 0;
	if (read_range(range, bytes, ret) < 0)
		return error_set(err, ERR_RANGE,
				 "The range lies outside of the file's %llu "
				 "bytes", (unsigned long long)bytes);
	return 0;
}

/* Whether If-None-Match, a list of tags or "*", holds this one. */
static bool is_known(struct request *req, const char *etag)
{
	const char *known = req->head.value[FIELD_IF_NONE_MATCH];

	return known && (strcmp(known, "*") == 0 || strstr(known, etag));
}

int reply_disposition(struct buf *b, const char *filename)
{
	const char *s;
	int r;

	r = buf_add_str(b, "attachment; filename=\"");
	for (s = filename; *s && r == 0; s++) {
		unsigned char c = (unsigned char)*s;

		/* '%' would be decoded by some clients. */
		r = buf_add_byte(b, c < 0x20 || c >= 0x7f || c == '"' ||
					    c == '\\' || c == '%'
					    ? '_'
					    : c);
	}
	if (r == 0)
		r = buf_add_str(b, "\"; filename*=UTF-8''");
	for (s = filename; *s && r == 0; s++) {
		unsigned char c = (unsigned char)*s;

		if (c < 0x80 && (isalnum(c) || strchr("-._~", c)))
			r = buf_add_byte(b, c);
		else
			r = buf_printf(b, "%%%02X", c);
	}
	return r;
}

static void add_file_headers(struct request *req, const char *filename,
			     const char *etag)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(4096);

	reply_header(req, MHD_HTTP_HEADER_ETAG, etag);
	reply_header(req, MHD_HTTP_HEADER_ACCEPT_RANGES, "bytes");
	reply_header(req, MHD_HTTP_HEADER_CONTENT_TYPE,
		     "application/octet-stream");
	if (reply_disposition(&b, filename) == 0)
		reply_header(req, MHD_HTTP_HEADER_CONTENT_DISPOSITION,
			     buf_str(&b));
}

static void add_content_range(struct request *req, const struct range *range,
			      uint64_t bytes)
{
	char text[96];

	(void)snprintf(text, sizeof(text), "bytes %llu-%llu/%llu",
		       (unsigned long long)range->first,
		       (unsigned long long)(range->first + range->count - 1),
		       (unsigned long long)bytes);
	reply_header(req, MHD_HTTP_HEADER_CONTENT_RANGE, text);
}

int reply_file(struct request *req, int fd, uint64_t bytes,
	       const char *filename, const uint8_t sha256[32],
	       struct error *err)
{
	char etag[ETAG_SIZE] = "\"";
	struct range range;
	int r;

	hex_encode(sha256, 32, etag + 1);
	etag[ETAG_SIZE - 2] = '"';
	etag[ETAG_SIZE - 1] = '\0';
	if (is_known(req, etag)) {
		r = reply_empty(req, MHD_HTTP_NOT_MODIFIED, err);
		if (r < 0)
			return r;
		reply_header(req, MHD_HTTP_HEADER_ETAG, etag);
		close_fd(&fd);
		return 0;
	}
	r = find_range(req, bytes, etag, &range, err);
	if (r < 0)
		return r;
	req->response = MHD_create_response_from_fd_at_offset64(
		range.count, fd, range.first);
	if (!req->response)
		return error_set_errno(err, -ENOMEM, "Cannot answer");
	req->status = range.partial ? MHD_HTTP_PARTIAL_CONTENT : MHD_HTTP_OK;
	req->bytes = range.count;
	add_file_headers(req, filename, etag);
	if (range.partial)
		add_content_range(req, &range, bytes);
	return 0;
}
