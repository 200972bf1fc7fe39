/* SPDX-License-Identifier: Apache-2.0 */
/* The operator's calls, on the Unix socket only. */
#include <errno.h>
#include <string.h>

#include "api/handlers.h"
#include "api/page.h"
#include "api/reply.h"
#include "api/request.h"
#include "api/view_json.h"
#include "base/json.h"

/* ------------------------------------------------------------------- sessions */

static void on_session(void *userdata, const struct container_view *container)
{
	struct page_writer *page = userdata;

	view_json_container(&page->req->writer, NULL, container, true);
	page_item(page, container->id);
}

int admin_sessions_list(struct request *req, struct error *err)
{
	struct page_writer writer;
	const char *all;
	int r;

	r = uri_param(&req->uri, "all", &all, err);
	if (r < 0)
		return r;
	page_begin(&writer, req);
	r = core_admin_containers(req->core, all && strcmp(all, "true") == 0,
				  on_session, &writer, err);
	if (r < 0)
		return r;
	return page_reply(&writer, false, err);
}

int admin_sessions_inspect(struct request *req, struct error *err)
{
	int r;

	r = core_admin_inspect(req->core, req->match.param[0], &req->out, err);
	return r < 0 ? r : reply_written(req, MHD_HTTP_OK, err);
}

static void on_killed(void *userdata, const struct error *err)
{
	reply_deleted(userdata, "session", err);
}

int admin_sessions_kill(struct request *req, struct error *err)
{
	int r;

	r = core_admin_kill(req->core, req->match.param[0], on_killed, req,
			    err);
	return r < 0 ? r : ROUTE_PENDING;
}

static void on_nmi(void *userdata, const struct error *err)
{
	struct request *req = userdata;
	struct error failure = ERROR_INIT;

	if (error_is_set(err))
		request_failed(req, err);
	else
		request_finish(req,
			       reply_empty(req, MHD_HTTP_ACCEPTED, &failure),
			       &failure);
}

int admin_sessions_nmi(struct request *req, struct error *err)
{
	int r;

	r = core_admin_nmi(req->core, req->match.param[0], on_nmi, req, err);
	return r < 0 ? r : ROUTE_PENDING;
}

/* ------------------------------------------------------------------- the whole */

int admin_status(struct request *req, struct error *err)
{
	int r;

	r = core_admin_status(req->core, &req->out, err);
	return r < 0 ? r : reply_written(req, MHD_HTTP_OK, err);
}

/* Core's JSON text as the answer. */
static void on_json(void *userdata, const char *json, size_t size,
		    const struct error *err)
{
	struct request *req = userdata;
	struct error failure = ERROR_INIT;
	int r;

	if (error_is_set(err)) {
		request_failed(req, err);
		return;
	}
	r = buf_add(&req->out, json, size);
	r = r < 0 ? error_set_errno(&failure, r, "Cannot answer")
		  : reply_written(req, MHD_HTTP_OK, &failure);
	request_finish(req, r, &failure);
}

int admin_audit(struct request *req, struct error *err)
{
	int r;

	r = core_admin_audit(req->core, on_json, req, err);
	return r < 0 ? r : ROUTE_PENDING;
}

/* ------------------------------------------------------------------------ keys */

struct key_fields {
	struct json_string tenant;
	struct json_string name;
	struct json_object *scopes;
	int64_t expires_after_s;
};

static const struct json_field key_table[] = {
	JSON_STRING_FIELD("tenant", struct key_fields, tenant,
			  .required = true, .min = 1, .max = CORE_TENANT_MAX),
	JSON_STRING_FIELD("name", struct key_fields, name, .max = 256),
	JSON_ARRAY_FIELD("scopes", struct key_fields, scopes, .min = 1,
			 .max = 16),
	JSON_INT_FIELD("expires_after_s", struct key_fields, expires_after_s,
		       .min = 1, .max = INT32_MAX),
};

static const struct {
	const char *name;
	unsigned scope;
} scopes[] = {
	{ "files", CORE_SCOPE_FILES },
	{ "containers", CORE_SCOPE_CONTAINERS },
	{ "responses", CORE_SCOPE_RESPONSES },
	{ "toolboxes", CORE_SCOPE_TOOLBOXES },
	{ "sessions", CORE_SCOPE_SESSIONS },
	{ "metrics", CORE_SCOPE_METRICS },
};

static unsigned scope_of(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(scopes) / sizeof(scopes[0]); i++)
		if (strcmp(scopes[i].name, name) == 0)
			return scopes[i].scope;
	return 0;
}

static int read_scopes(const struct json_object *array, unsigned *ret,
		       struct error *err)
{
	struct json_string name;
	size_t i;
	int r;

	*ret = array ? 0 : CORE_SCOPE_ALL;
	for (i = 0; i < json_array_size(array); i++) {
		r = json_read_string_item(array, "scopes", i, &name, err);
		if (r < 0)
			return r;
		if (!scope_of(name.data)) {
			error_set(err, ERR_BAD_REQUEST,
				  "A scope is one of files, containers, "
				  "responses, toolboxes, sessions and metrics");
			error_set_param(err, "scopes[%zu]", i);
			error_set_reason(err, "invalid_value");
			return -EINVAL;
		}
		*ret |= scope_of(name.data);
	}
	return 0;
}

int admin_keys_create(struct request *req, struct error *err)
{
	struct key_fields fields = { .expires_after_s = 0 };
	struct json_object *object;
	struct key_spec spec;
	int r;

	r = request_json(req, &object, err);
	if (r < 0)
		return r;
	r = json_read_fields(object, NULL, key_table,
			     sizeof(key_table) / sizeof(key_table[0]),
			     JSON_UNKNOWN_REFUSED, &fields, err);
	if (r < 0)
		return r;
	spec.tenant = fields.tenant.data;
	spec.name = fields.name.data ? fields.name.data : "";
	spec.expires_after_sec = fields.expires_after_s;
	r = read_scopes(fields.scopes, &spec.scopes, err);
	if (r < 0)
		return r;
	r = core_admin_key_create(req->core, &spec, on_json, req, err);
	return r < 0 ? r : ROUTE_PENDING;
}

int admin_keys_list(struct request *req, struct error *err)
{
	int r;

	r = core_admin_key_list(req->core, &req->out, err);
	return r < 0 ? r : reply_written(req, MHD_HTTP_OK, err);
}

static void on_revoked(void *userdata, const struct error *err)
{
	reply_deleted(userdata, "key", err);
}

int admin_keys_revoke(struct request *req, struct error *err)
{
	int r;

	r = core_admin_key_revoke(req->core, req->match.param[0], on_revoked,
				  req, err);
	return r < 0 ? r : ROUTE_PENDING;
}

/* ----------------------------------------------------------------- the clock */

struct clock_fields {
	double advance_s;
};

static const struct json_field clock_table[] = {
	JSON_NUMBER_FIELD("advance_s", struct clock_fields, advance_s,
			  .required = true, .above_min = true,
			  .max = 366 * 86400),
};

int admin_clock(struct request *req, struct error *err)
{
	struct clock_fields fields = { .advance_s = 0 };
	struct json_writer *w = reply_writer(req);
	struct json_object *object;
	int r;

	r = request_json(req, &object, err);
	if (r < 0)
		return r;
	r = json_read_fields(object, NULL, clock_table, 1,
			     JSON_UNKNOWN_REFUSED, &fields, err);
	if (r < 0)
		return r;
	r = core_admin_advance_clock(
		req->core, (usec_t)(fields.advance_s * (double)USEC_PER_SEC),
		err);
	if (r < 0)
		return r;
	json_write_object(w, NULL);
	json_write_double(w, "advanced_s", fields.advance_s);
	json_write_close(w);
	return reply_json(req, MHD_HTTP_OK, err);
}
