/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_SESSIONS_H
#define API_SESSIONS_H

/*
 * Container Apps dynamic sessions: what its calls have in common.
 *
 * A call names a pool by its path and a session by "identifier", a name of the
 * client's own. The session is made by the first call that needs it; calls that
 * only look at one do not make it. The container that stands for it is found by
 * core (core/handle.h), for this API key alone.
 *
 * Two families of calls differ in their paths, and in how files are shown: by
 * "api-version".
 */

#include <stdbool.h>

#include "base/error.h"
#include "core/core.h"

struct request;

enum {
	SESSION_IDENTIFIER_MAX = 256,

	/* What an execution may take, in seconds. */
	SESSION_TIMEOUT_MAX = 220,

	/* What an output is cut to from 2025-10 on, unless it is said. */
	SESSION_OUTPUT_DEFAULT = 4096,
};

/** SESSION_FILE_MAX - Bytes of an uploaded file */
#define SESSION_FILE_MAX (128ULL << 20)

/**
 * struct session_call - Which session a call is about
 * @identifier:	Borrowed from the request
 * @wrapped:	Before 2024-10: objects come in "properties"
 * @cut:	From 2025-10 on: outputs are cut to SESSION_OUTPUT_DEFAULT
 */
struct session_call {
	const char *identifier;
	bool wrapped;
	bool cut;
};

/**
 * session_call_read() - Check the pool, and read "api-version" and "identifier"
 * @identifier:	From path or body, where an old client put it; NULL: the query's
 */
int session_call_read(struct request *req, const char *identifier,
		      struct session_call *ret, struct error *err);

/** session_version_read() - The same for a call about no session */
int session_version_read(struct request *req, struct session_call *ret,
			 struct error *err);

/**
 * session_find() - Its container; ERR_NOT_FOUND if there is none now
 * @touch:	This is what the call is for; else it is not activity yet
 */
int session_find(struct request *req, const struct session_call *call,
		 bool touch, struct container_view *ret, struct error *err);

/**
 * session_open() - Find or make its container
 * @opened:	Called with the container's id in @req->container. Returns
 *		enum route_result or a negative errno, as a handler
 *
 * Return: ROUTE_PENDING or a negative errno
 */
int session_open(struct request *req, const struct session_call *call,
		 int (*opened)(struct request *req, struct error *err),
		 struct error *err);

/** session_time() - Unix seconds as ISO 8601; @ret has room for 32 bytes */
const char *session_time(int64_t sec, char *ret);

/* How long session_time()'s text may be, with NUL. */
enum { SESSION_TIME_SIZE = 32 };

#endif
