/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_API_PRIVATE_H
#define API_API_PRIVATE_H

/* What the parts of the server share. */

#include <sys/queue.h>

#include <stdint.h>
#include <sys/queue.h>

#include "api/api.h"
#include "api/mcp_session.h"
#include "api/penalty.h"
#include "api/vsock_peers.h"

struct container_zip;
struct http_server;
struct http_tls;
struct request;

TAILQ_HEAD(request_list, request);

enum { API_STATUS_CLASSES = 6 };	/* none, 1xx to 5xx */

struct api {
	struct api_config config;
	struct vsock_peers vsock_peers;
	struct http_tls *tls;	/* NULL: TCP is served in the clear */
	struct http_server *server;
	struct request_list admitted;	/* with a key, under way */
	uint64_t auth_failures;
	uint64_t answered[API_STATUS_CLASSES];	/* by the first digit */
	struct penalties penalties;
	uint64_t json_bytes;	/* of large bodies under way; see body.h */
	size_t json_large;		/* listen.max_json */
	char *url;		/* of the first TCP listener, or NULL */
	struct mcp_sessions mcp;
	LIST_HEAD(, container_zip) zips;	/* archives being fetched */
	char *unix_path;	/* to be unlinked, or NULL */
};

#endif
