/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "api/request.h"
#include "base/json.h"

/* The body as JSON. */

int request_json_any(struct request *req, struct json_object **ret,
		     struct error *err)
{
	const struct buf *body = &req->body.json;
	size_t values = 0;
	int r;

	*ret = req->json;
	if (req->json)
		return 0;
	r = json_parse_counted((const char *)body->data, body->length,
			       &req->json, &values, err);
	if (r >= 0)
		r = body_charge_values(req, values, err);
	if (r >= 0)
		*ret = req->json;
	return r;
}

int request_json(struct request *req, struct json_object **ret,
		 struct error *err)
{
	struct json_object *value;
	int r;

	*ret = NULL;
	if (req->body.json.length == 0)
		return 0;
	r = request_json_any(req, &value, err);
	if (r < 0)
		return r;
	if (json_kind_of(value) != JSON_OBJECT)
		return error_set(err, ERR_BAD_REQUEST,
				 "The body must be a JSON object, not %s",
				 json_kind_name(json_kind_of(value)));
	*ret = value;
	return 0;
}
