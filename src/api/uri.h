/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_URI_H
#define API_URI_H

/*
 * A request target, taken apart once and strictly.
 *
 * The path is split before it is decoded, so that an escaped slash never
 * separates anything: it stays inside of its segment, which then is no name that
 * a route knows, but for one that takes names with slashes (router.h). Bad
 * escapes, NULs and what is not UTF-8 are refused. Handlers therefore see
 * segments, never a path.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

enum {
	URI_SEGMENTS_MAX = 16,
	URI_PARAMS_MAX = 64,
};

/**
 * struct uri - A target's parts
 * @text:	Memory that all others point into
 * @segment:	Decoded path segments; one trailing slash leaves no trace
 * @segments:	How many
 * @param:	Decoded query parameters in their order
 * @params:	How many
 * @asterisk:	The target is "*", as in OPTIONS; there is no path
 */
struct uri {
	char *text;
	char *segment[URI_SEGMENTS_MAX];
	size_t segments;
	struct {
		const char *name;
		const char *value;
	} param[URI_PARAMS_MAX];
	size_t params;
	bool asterisk;
};

/**
 * uri_parse() - Take a target apart
 * @raw:	As it stood in the request line
 * @uri:	Its parts, for uri_done(), even if the call fails: then the
 *		segments before the one that is not valid are there
 *
 * Return: 0; ERR_BAD_REQUEST, also for the absolute form; ERR_NOT_FOUND;
 * ERR_URI_TOO_LONG; or -ENOMEM
 */
int uri_parse(const char *raw, struct uri *uri, struct error *err);

/** uri_done() - Release the memory */
void uri_done(struct uri *uri);

/**
 * uri_param() - Value of a query parameter
 * @ret:	Borrowed; NULL if it is absent
 *
 * Return: 0, or -EINVAL if it is given twice: which one counts would be a guess
 */
int uri_param(const struct uri *uri, const char *name, const char **ret,
	      struct error *err);

/**
 * uri_param_uint() - The same of one that is a number
 * @ret_given:	Whether it is there; @ret stays as it is if not
 */
int uri_param_uint(const struct uri *uri, const char *name, bool *ret_given,
		   uint64_t *ret, struct error *err);

/** uri_param_bool() - The same of "true" or "false"; @ret stays if absent */
int uri_param_bool(const struct uri *uri, const char *name, bool *ret,
		   struct error *err);

/**
 * uri_uint() - A whole number that a client wrote
 * @name:	What it is called there, for the message
 */
int uri_uint(const char *name, const char *text, uint64_t *ret,
	     struct error *err);

/**
 * uri_escape() - Append a string as one path segment, query value, or header
 *	parameter of RFC 5987
 *
 * Everything but the unreserved characters of RFC 3986 is written as "%XX".
 * Return: as buf_add()
 */
int uri_escape(const char *s, struct buf *b);

#endif
