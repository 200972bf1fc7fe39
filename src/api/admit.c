/* SPDX-License-Identifier: Apache-2.0 */
#include "api/admit.h"

#include <string.h>

#include "api/api_private.h"
#include "api/http_conn.h"
#include "api/request.h"
#include "base/log.h"

int admit_begin(struct request *req, struct error *err)
{
	int r;

	r = core_request_begin(req->core, &req->who, err);
	if (r < 0)
		return r;
	req->admitted = true;
	TAILQ_INSERT_TAIL(&req->api->admitted, req, in_api);
	return 0;
}

void admit_end(struct request *req)
{
	if (!req->admitted)
		return;
	req->admitted = false;
	TAILQ_REMOVE(&req->api->admitted, req, in_api);
	core_request_end(req->core, &req->who);
}

void admit_cut(struct api *api, const char *tenant, const char *key_id)
{
	struct request *req;
	unsigned count = 0;

	TAILQ_FOREACH(req, &api->admitted, in_api) {
		if (strcmp(req->who.tenant, tenant) != 0 ||
		    (key_id && strcmp(req->who.key_id, key_id) != 0))
			continue;
		http_conn_shut(req->conn);
		count++;
	}
	if (count > 0)
		log_info(NULL, "Cut %u requests of tenant '%s': %s", count,
			 tenant, key_id ? key_id : "it is being erased");
}
