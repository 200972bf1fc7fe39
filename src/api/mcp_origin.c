/* SPDX-License-Identifier: Apache-2.0 */
#include "api/mcp_origin.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "api/api_private.h"
#include "api/cors.h"
#include "api/request.h"

/* What we listen on, or "localhost" with its scheme and port. */
static bool is_own(const struct api *api, const char *origin)
{
	const char *own = api_url(api);
	const char *port = own ? strrchr(own, ':') : NULL;
	char local[64];

	if (!own)
		return false;
	(void)snprintf(local, sizeof(local), "%.*s://localhost%s",
		       (int)strcspn(own, ":"), own, port);
	return strcasecmp(origin, own) == 0 || strcasecmp(origin, local) == 0;
}

int mcp_origin_check(struct request *req, struct error *err)
{
	const char *origin = req->head.value[FIELD_ORIGIN];

	if (!origin || cors_allows(req) || is_own(req->api, origin))
		return 0;
	return error_set(err, ERR_FORBIDDEN,
			 "Web pages of this origin may not use MCP here "
			 "(listen.cors_origins)");
}
