/* SPDX-License-Identifier: Apache-2.0 */
#include "api/uri.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/header.h"
#include "base/limits.h"
#include "base/name.h"

/* Decodes in place: the outcome is never longer. */
static int decode(char *text, bool plus_is_space)
{
	const char *in = text;
	char *out = text;

	while (*in) {
		int byte;

		if (*in != '%') {
			*out++ = *in == '+' && plus_is_space ? ' ' : *in;
			in++;
			continue;
		}
		byte = header_percent_byte(in);
		if (byte <= 0)
			return -EINVAL;
		*out++ = (char)byte;
		in += 3;
	}
	*out = '\0';
	return utf8_is_valid(text, (size_t)(out - text)) ? 0 : -EINVAL;
}

static int parse_path(char *path, struct uri *uri, struct error *err)
{
	char *next;

	for (; path; path = next) {
		next = strchr(path, '/');
		if (next)
			*next++ = '\0';
		if (!next && !*path && uri->segments > 0)
			return 0;	/* the trailing slash */
		if (uri->segments == URI_SEGMENTS_MAX)
			return error_set(err, ERR_NOT_FOUND,
					 "There is nothing at this path");
		if (decode(path, false) < 0)
			return error_set(err, ERR_BAD_REQUEST,
					 "The path is not valid: bad escape, "
					 "or not UTF-8");
		uri->segment[uri->segments++] = path;
	}
	return 0;
}

static int parse_query(char *query, struct uri *uri, struct error *err)
{
	char *next, *value;

	for (; query; query = next) {
		next = strchr(query, '&');
		if (next)
			*next++ = '\0';
		if (!*query)
			continue;
		value = strchr(query, '=');
		if (value)
			*value++ = '\0';
		if (uri->params == URI_PARAMS_MAX)
			return error_set(err, ERR_BAD_REQUEST,
					 "There are more than %d query "
					 "parameters", URI_PARAMS_MAX);
		if (decode(query, true) < 0 ||
		    (value && decode(value, true) < 0))
			return error_set(err, ERR_BAD_REQUEST,
					 "The query is not valid: bad escape, "
					 "or not UTF-8");
		uri->param[uri->params].name = query;
		uri->param[uri->params].value = value ? value : "";
		uri->params++;
	}
	return 0;
}

static bool has_blank(const char *raw)
{
	for (; *raw; raw++)
		if ((unsigned char)*raw <= ' ' || *raw == 0x7f)
			return true;
	return false;
}

static int check_raw(const char *raw, struct error *err)
{
	if (strlen(raw) > LIMIT_URI_BYTES)
		return error_set(err, ERR_URI_TOO_LONG,
				 "The request target is longer than %d bytes",
				 LIMIT_URI_BYTES);
	if (raw[0] != '/' || has_blank(raw))
		return error_set(err, ERR_BAD_REQUEST,
				 "The request target must be a path, without "
				 "blanks and control characters");
	return 0;
}

int uri_parse(const char *raw, struct uri *uri, struct error *err)
{
	char *query;
	int r;

	*uri = (struct uri){ 0 };
	if (strcmp(raw, "*") == 0) {
		uri->asterisk = true;
		return 0;
	}
	r = check_raw(raw, err);
	if (raw[0] != '/')
		return r;
	uri->text = strdup(raw + 1);
	if (!uri->text)
		return error_set_errno(err, -ENOMEM, "Cannot read the target");
	query = strchr(uri->text, '?');
	if (query)
		*query++ = '\0';
	if (parse_path(uri->text, uri, err) < 0 || r < 0)
		return -EINVAL;
	return parse_query(query, uri, err);
}

void uri_done(struct uri *uri)
{
	free(uri->text);
	*uri = (struct uri){ 0 };
}

int uri_param(const struct uri *uri, const char *name, const char **ret,
	      struct error *err)
{
	const char *found = NULL;
	size_t i;

	for (i = 0; i < uri->params; i++) {
		if (strcmp(uri->param[i].name, name) != 0)
			continue;
		if (found) {
			error_set(err, ERR_BAD_REQUEST,
				  "Parameter '%s' is given twice", name);
			error_set_param(err, "%s", name);
			return -EINVAL;
		}
		found = uri->param[i].value;
	}
	*ret = found;
	return 0;
}

int uri_param_uint(const struct uri *uri, const char *name, bool *ret_given,
		   uint64_t *ret, struct error *err)
{
	const char *text;
	int r;

	r = uri_param(uri, name, &text, err);
	if (r < 0)
		return r;
	*ret_given = text != NULL;
	return text ? uri_uint(name, text, ret, err) : 0;
}

int uri_param_bool(const struct uri *uri, const char *name, bool *ret,
		   struct error *err)
{
	const char *text;
	int r;

	r = uri_param(uri, name, &text, err);
	if (r < 0 || !text)
		return r;
	if (strcasecmp(text, "true") != 0 && strcasecmp(text, "false") != 0) {
		error_set_param(err, "%s", name);
		return error_set(err, ERR_BAD_REQUEST,
				 "'%s' must be 'true' or 'false'", name);
	}
	*ret = strcasecmp(text, "true") == 0;
	return 0;
}

int uri_uint(const char *name, const char *text, uint64_t *ret,
	     struct error *err)
{
	uint64_t value = 0;
	const char *s;

	for (s = text; *s >= '0' && *s <= '9'; s++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, *s - '0', &value))
			break;
	if (s == text || *s) {
		error_set(err, ERR_BAD_REQUEST, "'%s' must be a whole number",
			  name);
		error_set_param(err, "%s", name);
		return -EINVAL;
	}
	*ret = value;
	return 0;
}

int uri_escape(const char *s, struct buf *b)
{
	int r = 0;

	for (; *s && r >= 0; s++) {
		unsigned char c = (unsigned char)*s;

		if (c < 0x80 && (isalnum(c) || strchr("-._~", c)))
			r = buf_add_byte(b, c);
		else
			r = buf_printf(b, "%%%02X", c);
	}
	return r;
}
