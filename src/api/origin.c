/* SPDX-License-Identifier: Apache-2.0 */
#include "api/origin.h"

#include "api/api.h"
#include "api/http_conn.h"
#include "api/request.h"

int origin_write(const struct request *req, struct buf *b)
{
	const char *host = req->head.value[FIELD_HOST];
	const char *own = api_url(req->api);

	if (host && *host)
		return buf_printf(b, "%s://%s",
				  req->conn->tls ? "https" : "http", host);
	return buf_add_str(b, own ? own : "http://localhost");
}
