/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_API_PRIVATE_H
#define API_API_PRIVATE_H

/* What the parts of the server share: its configuration, and nothing else. */

#include "api/api.h"

struct http_server;

struct api {
	struct api_config config;
	struct http_server *server;
	char *url;		/* of the first TCP listener, or NULL */
	char *unix_path;	/* to be unlinked, or NULL */
};

#endif
