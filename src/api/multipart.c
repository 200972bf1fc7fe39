/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A body is
 *
 *	[preamble CRLF] --boundary CRLF head CRLF content
 *			CRLF --boundary CRLF head CRLF content
 *			CRLF --boundary-- [epilogue]
 *
 * so if one pretends that a CRLF stands in front of it, every delimiter is
 * "CRLF --boundary". CR can only be a delimiter's first byte (a boundary has
 * none), so after a mismatch a new match can only begin at the byte at hand:
 * no table is needed to find the delimiter, and each byte is looked at once.
 */
#include "api/multipart.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/header.h"
#include "base/buf.h"
#include "base/cleanup.h"

enum { BOUNDARY_MAX = 70 };

/**
 * enum multipart_state - Where in the body the next byte lies
 *
 *    PREAMBLE - Before the first delimiter; everything is skipped
 *    DELIMITED - Behind a delimiter: CRLF begins a part, "--" ends the body;
 *        with anything else it was content
 *    HEAD - In a part's header lines
 *    CONTENT - In a part's content
 *    EPILOGUE - Behind the end; everything is skipped
 */
enum multipart_state {
	MULTIPART_PREAMBLE,
	MULTIPART_DELIMITED,
	MULTIPART_HEAD,
	MULTIPART_CONTENT,
	MULTIPART_EPILOGUE,
};

struct multipart {
	const struct multipart_sink *sink;
	void *userdata;
	enum multipart_state state;
	char delimiter[4 + BOUNDARY_MAX + 1];	/* and the byte behind it */
	size_t delimiter_length;
	size_t matched;		/* bytes of @delimiter seen just now */
	bool in_part;		/* a part's content was before the delimiter */
	unsigned parts;
	struct buf head;
};

static bool boundary_is_valid(const char *s)
{
	static const char also[] = "'()+_,-./:=? ";
	size_t length = strlen(s), i;

	for (i = 0; i < length; i++)
		if (!strchr(also, s[i]) && !header_is_token(&s[i], 1))
			return false;
	return length > 0 && s[length - 1] != ' ';
}

int multipart_new(const char *content_type, const struct multipart_sink *sink,
		  void *userdata, struct multipart **ret, struct error *err)
{
	_cleanup_(multipart_freep) struct multipart *m = NULL;
	char boundary[BOUNDARY_MAX + 1];

	if (header_param(content_type, "boundary", boundary,
			 sizeof(boundary)) < 0 ||
	    !boundary_is_valid(boundary))
		return error_set(err, ERR_BAD_REQUEST,
				 "Content-Type has no valid boundary of 1 to "
				 "%d characters", BOUNDARY_MAX);
	m = calloc(1, sizeof(*m));
	if (!m)
		return error_set_errno(err, -ENOMEM, "Cannot read the body");
	m->sink = sink;
	m->userdata = userdata;
	m->head = BUF_INIT(MULTIPART_HEAD_MAX);
	m->delimiter_length = (size_t)snprintf(m->delimiter,
					       sizeof(m->delimiter),
					       "\r\n--%s", boundary);
	m->matched = 2;		/* the CRLF that one pretends */
	*ret = take_ptr(m);
	return 0;
}

void multipart_free(struct multipart *m)
{
	if (!m)
		return;
	buf_done(&m->head);
	free(m);
}

void multipart_freep(struct multipart **m)
{
	multipart_free(*m);
}

static int malformed(struct error *err, const char *what)
{
	return error_set(err, ERR_BAD_REQUEST,
			 "The multipart body is malformed: %s", what);
}

/* ------------------------------------------------------------- a part's head */

struct part_names {
	char name[MULTIPART_NAME_MAX + 1];
	char filename[MULTIPART_NAME_MAX + 1];
	bool has_name;
	bool has_filename;
};

static int read_name(const char *value, struct part_names *names,
		     struct error *err)
{
	int r;

	r = header_param(value, "name", names->name, sizeof(names->name));
	if (r < 0)
		return malformed(err, "a part has no valid name");
	header_decode_form(names->name);
	return 0;
}

static int read_filename(const char *value, struct part_names *names,
			 struct error *err)
{
	int r;

	/* The extended form is the more exact one and wins. */
	r = header_param(value, "filename*", names->filename,
			 sizeof(names->filename));
	if (r == 0)
		r = header_decode_ext(names->filename);
	else if (r == -ENOENT) {
		r = header_param(value, "filename", names->filename,
				 sizeof(names->filename));
		if (r == 0)
			header_decode_form(names->filename);
	}
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return malformed(err, "a part's file name is not valid");
	names->has_filename = true;
	return 0;
}

static int read_disposition(const char *value, struct part_names *names,
			    struct error *err)
{
	int r;

	if (names->has_name)
		return malformed(err, "a part has two Content-Dispositions");
	if (!header_is_type(value, "form-data"))
		return malformed(err, "a part is not form-data");
	r = read_name(value, names, err);
	if (r < 0)
		return r;
	names->has_name = true;
	return read_filename(value, names, err);
}

/*
 * Cuts the line at @line, which ends in CRLF, into name and value, which is NULL
 * if it is no header line. Returns the next line.
 */
static char *cut_line(char *line, char **ret_value)
{
	char *end = strstr(line, "\r\n");
	char *colon;

	*end = '\0';
	*ret_value = NULL;
	colon = strchr(line, ':');
	if (colon && header_is_token(line, (size_t)(colon - line)) &&
	    !strpbrk(colon, "\r\n")) {
		*colon++ = '\0';
		*ret_value = colon + strspn(colon, " \t");
	}
	return end + 2;
}

/* The head is complete: m->head holds its lines. */
static int begin_part(struct multipart *m, struct error *err)
{
	struct part_names names = { .has_name = false };
	struct multipart_part part = { 0 };
	char *line, *next, *value;
	int r;

	if (m->parts++ == MULTIPART_PARTS_MAX)
		return error_set(err, ERR_BAD_REQUEST,
				 "The body has more than %d parts",
				 MULTIPART_PARTS_MAX);
	if (memchr(m->head.data, '\0', m->head.length))
		return malformed(err, "there is a NUL in a part's header");
	buf_truncate(&m->head, m->head.length - 2);	/* the empty line */
	for (line = (char *)m->head.data; *line; line = next) {
		next = cut_line(line, &value);
		if (!value)
			return malformed(err, "a part's header has a line that is none");
		if (strcasecmp(line, "Content-Type") == 0)
			part.type = value;
		if (strcasecmp(line, "Content-Disposition") != 0)
			continue;
		r = read_disposition(value, &names, err);
		if (r < 0)
			return r;
	}
	if (!names.has_name)
		return malformed(err, "a part has no Content-Disposition");
	part.name = names.name;
	part.filename = names.has_filename ? names.filename : NULL;
	return m->sink->begin(m->userdata, &part, err);
}

/* ----------------------------------------------------------------- the bytes */

/* Each of these takes bytes from the front and says how many in *@used. */

static int give(struct multipart *m, const char *data, size_t size,
		struct error *err)
{
	if (!m->in_part || size == 0)
		return 0;
	return m->sink->data(m->userdata, data, size, err);
}

/* What looked like a delimiter was content. */
static int give_matched(struct multipart *m, struct error *err)
{
	int r;

	r = give(m, m->delimiter, m->matched, err);
	if (r < 0)
		return r;
	m->matched = 0;
	m->state = m->in_part ? MULTIPART_CONTENT : MULTIPART_PREAMBLE;
	return 0;
}

static int feed_delimited(struct multipart *m, const char *data, size_t *used,
			  struct error *err)
{
	char before = m->delimiter[m->delimiter_length];
	bool first = m->matched == m->delimiter_length;

	if (first && (data[0] == '\r' || data[0] == '-')) {
		m->delimiter[m->matched++] = data[0];
		*used = 1;
		return 0;
	}
	if (first || data[0] != (before == '\r' ? '\n' : '-'))
		return give_matched(m, err);
	*used = 1;
	m->state = before == '\r' ? MULTIPART_HEAD : MULTIPART_EPILOGUE;
	buf_clear(&m->head);
	if (!m->in_part)
		return 0;
	m->in_part = false;
	return m->sink->end(m->userdata, err);
}

static bool head_is_complete(const struct buf *head)
{
	if (head->length == 2)
		return memcmp(head->data, "\r\n", 2) == 0;
	return head->length >= 4 &&
	       memcmp(head->data + head->length - 4, "\r\n\r\n", 4) == 0;
}

static int feed_head(struct multipart *m, const char *data, size_t *used,
		     struct error *err)
{
	int r;

	*used = 1;
	r = buf_add_byte(&m->head, (uint8_t)data[0]);
	if (r == -EMSGSIZE)
		return malformed(err, "a part's header is too long");
	if (r < 0)
		return error_set_errno(err, r, "Cannot read the body");
	if (!head_is_complete(&m->head))
		return 0;
	m->state = MULTIPART_CONTENT;
	m->in_part = true;
	m->matched = 0;
	return begin_part(m, err);
}

/* A byte that goes on with the delimiter, or shows that it is none. */
static int feed_match(struct multipart *m, const char *data, size_t *used,
		      struct error *err)
{
	if (data[0] != m->delimiter[m->matched])
		return give_matched(m, err);
	*used = 1;
	m->matched++;
	if (m->matched == m->delimiter_length)
		m->state = MULTIPART_DELIMITED;
	return 0;
}

/* Content, and the preamble, which is content that nobody wants. */
static int feed_content(struct multipart *m, const char *data, size_t size,
			size_t *used, struct error *err)
{
	const char *cr;
	size_t plain;
	int r;

	if (m->matched > 0)
		return feed_match(m, data, used, err);
	cr = memchr(data, '\r', size);
	plain = cr ? (size_t)(cr - data) : size;
	r = give(m, data, plain, err);
	if (r < 0)
		return r;
	*used = plain;
	if (cr) {
		m->matched = 1;
		*used += 1;
	}
	return 0;
}

static int feed_some(struct multipart *m, const char *data, size_t size,
		     size_t *used, struct error *err)
{
	switch (m->state) {
	case MULTIPART_PREAMBLE:
	case MULTIPART_CONTENT:
		return feed_content(m, data, size, used, err);
	case MULTIPART_DELIMITED:
		return feed_delimited(m, data, used, err);
	case MULTIPART_HEAD:
		return feed_head(m, data, used, err);
	case MULTIPART_EPILOGUE:
		break;
	}
	*used = size;
	return 0;
}

int multipart_feed(struct multipart *m, const void *data, size_t size,
		   size_t *ret_used, struct error *err)
{
	const char *bytes = data;
	size_t at = 0;
	int r = 0;

	while (r == 0 && at < size) {
		size_t used = 0;

		r = feed_some(m, bytes + at, size - at, &used, err);
		at += used;
	}
	*ret_used = at;
	return r;
}

int multipart_finish(const struct multipart *m, struct error *err)
{
	if (m->state == MULTIPART_EPILOGUE)
		return 0;
	return malformed(err, "it ends before its last boundary");
}
