/* SPDX-License-Identifier: Apache-2.0 */
/* Taking the daemon out of use, and into it again. */
#include <errno.h>

#include "api/handlers.h"
#include "api/reply.h"
#include "api/request.h"
#include "base/json.h"

enum { DEADLINE_MAX_SEC = 366 * 86400 };

struct drain_fields {
	double deadline_s;
};

static const struct json_field drain_table[] = {
	JSON_NUMBER_FIELD("deadline_s", struct drain_fields, deadline_s,
			  .min = 0, .max = DEADLINE_MAX_SEC),
};

int admin_drain_get(struct request *req, struct error *err)
{
	int r = core_admin_drain_get(req->core, &req->out, err);

	return r < 0 ? r : reply_written(req, MHD_HTTP_OK, err);
}

int admin_drain_begin(struct request *req, struct error *err)
{
	struct drain_fields fields = { .deadline_s = -1 };
	usec_t wait = USEC_INFINITY;
	struct json_object *object;
	int r;

	r = request_json(req, &object, err);
	if (r >= 0 && object)
		r = json_read_fields(object, NULL, drain_table, 1,
				     JSON_UNKNOWN_REFUSED, &fields, err);
	if (r < 0)
		return r;
	if (fields.deadline_s >= 0)
		wait = (usec_t)(fields.deadline_s * (double)USEC_PER_SEC);
	r = core_admin_drain(req->core, wait, admin_on_json, req, err);
	return r < 0 ? r : ROUTE_PENDING;
}

int admin_drain_undo(struct request *req, struct error *err)
{
	int r = core_admin_undrain(req->core, admin_on_json, req, err);

	return r < 0 ? r : ROUTE_PENDING;
}
