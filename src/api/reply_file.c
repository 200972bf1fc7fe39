/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers that are files: sent by the kernel from the descriptor, whole or the
 * range that was asked for, and not at all to a client that has them already.
 * Always as an attachment, of the type that the name stands for and never one
 * that the content suggests, so that no browser runs what somebody's code has
 * written.
 */
#include "api/reply.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/request.h"
#include "api/uri.h"
#include "base/cleanup.h"
#include "base/hex.h"
#include "base/media_type.h"
#include "base/name.h"

enum { ETAG_SIZE = 2 * 32 + 3 };

struct range {
	uint64_t first;
	uint64_t count;
	bool partial;
};

/*
 * Digits at *@s; moves it behind them. What is beyond 64 bits is beyond the end
 * of any file, and stays there.
 */
static bool read_number(const char **s, uint64_t *ret)
{
	const char *at = *s;
	uint64_t value = 0;

	for (; *at >= '0' && *at <= '9'; at++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, *at - '0', &value))
			value = UINT64_MAX;
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

/*
 * Ranges are defined for GET alone. If-Range compares strongly, and a date never
 * matches: files have none here.
 */
static int find_range(const struct request *req, uint64_t bytes,
		      const char *etag, struct range *ret)
{
	const char *range = req->head.value[FIELD_RANGE];
	const char *if_range = req->head.value[FIELD_IF_RANGE];

	*ret = (struct range){ 0, bytes, false };
	if (!range || strcmp(req->method, "GET") != 0 ||
	    (if_range && strcmp(if_range, etag) != 0))
		return 0;
	return read_range(range, bytes, ret);
}

/*
 * Whether If-None-Match holds this tag: "*", or a list that is compared weakly
 * (RFC 9110, 13.1.2). What is no list is ignored from there on.
 */
static bool is_known(const struct request *req, const char *etag)
{
	const char *at = req->head.value[FIELD_IF_NONE_MATCH], *end;

	if (!at)
		return false;
	if (strcmp(at, "*") == 0)
		return true;
	for (;;) {
		at += strspn(at, " \t,");
		if (strncmp(at, "W/", 2) == 0)
			at += 2;
		end = *at == '"' ? strchr(at + 1, '"') : NULL;
		if (!end)
			return false;
		end++;
		if ((size_t)(end - at) == strlen(etag) &&
		    strncmp(at, etag, strlen(etag)) == 0)
			return true;
		at = end + strspn(end, " \t");
		if (*at != ',')
			return false;
	}
}

/* Content-Disposition: ASCII for old clients, and RFC 5987 for the rest. */
static int write_disposition(struct buf *b, const char *filename)
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
	return r < 0 ? r : uri_escape(filename, b);
}

void reply_attachment(struct request *req, const char *type,
		      const char *filename)
{
	/* Each byte takes at most one, and three in the second form. */
	_cleanup_(buf_done) struct buf b = BUF_INIT(4 * NAME_PATH_MAX + 64);

	reply_header(req, MHD_HTTP_HEADER_CONTENT_TYPE,
		     type ? type : "application/octet-stream");
	/* Whatever a browser makes of it, it runs nothing. */
	reply_header(req, MHD_HTTP_HEADER_CONTENT_SECURITY_POLICY, "sandbox");
	if (write_disposition(&b, filename) == 0)
		reply_header(req, MHD_HTTP_HEADER_CONTENT_DISPOSITION,
			     buf_str(&b));
	else
		reply_header(req, MHD_HTTP_HEADER_CONTENT_DISPOSITION,
			     "attachment");
}

static void add_file_headers(struct request *req, const char *filename,
			     const char *etag)
{
	reply_header(req, MHD_HTTP_HEADER_ETAG, etag);
	reply_header(req, MHD_HTTP_HEADER_ACCEPT_RANGES, "bytes");
	reply_attachment(req, media_type_of_name(filename), filename);
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

/* Not an error of the handler: the answer has a field of its own. */
static int reply_no_range(struct request *req, uint64_t bytes)
{
	struct error err = ERROR_INIT;
	char text[64];

	error_set(&err, ERR_RANGE,
		  "The range lies outside of the file's %llu bytes",
		  (unsigned long long)bytes);
	reply_error(req, &err);
	if (!req->response)
		return -ENOMEM;
	(void)snprintf(text, sizeof(text), "bytes */%llu",
		       (unsigned long long)bytes);
	reply_header(req, MHD_HTTP_HEADER_CONTENT_RANGE, text);
	return 0;
}

/* Sends nothing of the file. */
static int reply_unchanged(struct request *req, const char *etag,
			   struct error *err)
{
	int r;

	r = reply_empty(req, MHD_HTTP_NOT_MODIFIED, err);
	if (r == 0)
		reply_header(req, MHD_HTTP_HEADER_ETAG, etag);
	return r;
}

static int reply_range(struct request *req, int fd, const struct range *range,
		       struct error *err)
{
	req->response = MHD_create_response_from_fd_at_offset64(
		range->count, fd, range->first);
	if (!req->response)
		return error_set_errno(err, -ENOMEM, "Cannot answer");
	req->status = range->partial ? MHD_HTTP_PARTIAL_CONTENT : MHD_HTTP_OK;
	req->bytes = range->count;
	return 0;
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
		r = reply_unchanged(req, etag, err);
		if (r == 0)
			close_fd(&fd);
		return r;
	}
	if (find_range(req, bytes, etag, &range) < 0) {
		r = reply_no_range(req, bytes);
		if (r == 0)
			close_fd(&fd);
		return r;
	}
	r = reply_range(req, fd, &range, err);
	if (r < 0)
		return r;
	add_file_headers(req, filename, etag);
	if (range.partial)
		add_content_range(req, &range, bytes);
	return 0;
}

int reply_cfile(struct request *req, int *fd, const struct cfile_view *file,
		struct error *err)
{
	int r;

	r = reply_file(req, *fd, file->bytes, strrchr(file->path, '/') + 1,
		       file->sha256, err);
	if (r >= 0)
		(void)take_fd(*fd);
	return r;
}
