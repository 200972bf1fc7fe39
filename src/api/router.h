/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_ROUTER_H
#define API_ROUTER_H

/*
 * Which handler a path and a method belong to: one table (routes.c).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/api_error.h"
#include "api/uri.h"
#include "base/error.h"
#include "core/core.h"

struct request;

enum {
	ROUTE_PARAMS_MAX = 3,
	ROUTE_ALLOW_MAX = 64,
};

/** What a handler returns, besides a negative errno with its error filled in */
enum route_result {
	ROUTE_ANSWERED = 0,	/* with reply_…() */
	ROUTE_PENDING = 1,	/* core will call back */
	ROUTE_WAITING = 2,	/* nobody owes anything: what the request has
				 * of its own answers, or goes with it */
};

/** enum route_family - What is before the pattern, and who may come there */
enum route_family {
	FAMILY_OPENAI,		/* /v1 and its aliases */
	FAMILY_ADMIN,		/* /admin/v1, on the Unix socket */
	FAMILY_ROOT,		/* / */
	FAMILY_SESSIONS,	/* a pool of dynamic sessions; the root is one */
	FAMILY_POOL,		/* what only a pool that is named has */
	FAMILY_PROJECT,		/* a Foundry project, but for its /openai */

	FAMILY_COUNT,
};

/** enum body_kind - What a request may carry */
enum body_kind {
	BODY_NONE,		/* a body is read and dropped */
	BODY_JSON,
	BODY_FORM,		/* multipart/form-data */
	BODY_JSON_OR_FORM,
};

/**
 * struct route - One row of the table
 * @pattern:	Segments behind the family's prefix; "{}" is any one of them
 *		without a slash, "{}:verb" one that ends so, and "{*}", at the
 *		end, all that are left, for names that have slashes. Where
 *		several rows fit, the last counts
 * @scope:	What the key must be good for, one of several; 0: no key is
 *		asked for
 * @view:	On the Unix socket, those who may only look may come here
 * @audit:	What log_audit() calls it; each admin call that is more than a
 *		look has one
 * @container:	The first "{}" is a container, whose deadlines go into the
 *		answer's header
 * @rpc:	Errors, of any method, are told as JSON-RPC has them
 * @json_max:	Bytes of a JSON body; 0: LIMIT_JSON_BODY
 * @json_patch:	It may be a merge patch, too
 * @json_large: As many as listen.max_json says
 * @file_field:	The multipart field whose bytes go to an upload
 * @file_max:	Bytes of it; 0: as many as core takes
 * @handle:	Called with the whole request
 */
struct route {
	enum route_family family;
	const char *method;
	const char *pattern;
	unsigned scope;
	bool view;
	const char *audit;
	bool container;
	enum body_kind body;
	bool rpc;
	size_t json_max;
	bool json_patch;
	bool json_large;
	const char *file_field;
	uint64_t file_max;
	int (*handle)(struct request *req, struct error *err);
};

extern const struct route routes[];
extern const size_t routes_count;

/**
 * struct route_match - Where a request goes
 * @route:	NULL as long as none was found
 * @envelope:	Of errors; known even if there is no route
 * @param:	What the "{}" stand for, without a verb, and "{*}", with its
 *		slashes; borrowed from the uri
 * @foundry:	The path goes through a project
 * @project:	Which one; borrowed from the uri
 * @agent:	The agent that the path belongs to, or NULL; likewise
 * @pool:	The pool of a FAMILY_SESSIONS, borrowed from the uri
 */
struct route_match {
	const struct route *route;
	enum api_envelope envelope;
	const char *param[ROUTE_PARAMS_MAX];
	bool foundry;
	const char *project;
	const char *agent;
	const char *pool;
};

/**
 * router_envelope() - In which form errors at a path are told
 * @uri:	As far as it could be read
 *
 * Whatever the method, and whether there is anything at the path or not.
 */
enum api_envelope router_envelope(struct uri *uri, bool local);

/**
 * router_find() - Look a path and method up
 * @uri:	Verbs are cut off the segments that are parameters; those that a
 *		"{*}" stands for become one
 * @local:	The connection came by a Unix socket
 * @ret:	Filled in as far as possible on failure, too
 * @ret_allow:	ROUTE_ALLOW_MAX bytes: the methods of this path, "" if there is
 *		nothing at it
 *
 * HEAD goes where GET goes.
 * Return: 0; ERR_NOT_FOUND; ERR_METHOD
 */
int router_find(struct uri *uri, const char *method, bool local,
		struct route_match *ret, char *ret_allow, struct error *err);

#endif
