/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_API_PRIVATE_H
#define API_API_PRIVATE_H

/* What the parts of the server share. */

#include <sys/queue.h>

#include "api/api.h"

struct container_zip;
struct http_server;

struct api {
	struct api_config config;
	struct http_server *server;
	char *url;		/* of the first TCP listener, or NULL */
	LIST_HEAD(, container_zip) zips;	/* archives being fetched */
	char *unix_path;	/* to be unlinked, or NULL */
};

#endif
