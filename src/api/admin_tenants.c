/* SPDX-License-Identifier: Apache-2.0 */
/* The operator's calls about tenants and their keys. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "api/handlers.h"
#include "api/reply.h"
#include "api/request.h"
#include "base/cleanup.h"
#include "base/json.h"

/* ------------------------------------------------------------------------ keys */

struct key_fields {
	struct json_string tenant;
	struct json_string name;
	struct json_object *scopes;
	int64_t expires_after_s;
	int64_t max_requests;
	int64_t requests_per_minute;
};

static const struct json_field key_table[] = {
	JSON_STRING_FIELD("tenant", struct key_fields, tenant,
			  .required = true, .min = 1, .max = CORE_TENANT_MAX),
	JSON_STRING_FIELD("name", struct key_fields, name, .max = 256),
	JSON_ARRAY_FIELD("scopes", struct key_fields, scopes, .min = 1,
			 .max = 16),
	JSON_INT_FIELD("expires_after_s", struct key_fields, expires_after_s,
		       .min = 1, .max = INT32_MAX),
	JSON_INT_FIELD("max_requests", struct key_fields, max_requests,
		       .min = 1, .max = INT32_MAX),
	JSON_INT_FIELD("requests_per_minute", struct key_fields,
		       requests_per_minute, .min = 1, .max = INT32_MAX),
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

/* What was made is known by now, and only from this. */
static void note_key(struct request *req, const char *json, size_t size)
{
	_cleanup_(json_freep) struct json_object *made = NULL;
	struct json_string id, tenant;

	if (json_parse(json, size, &made, NULL) < 0)
		return;
	id = json_string_of(json_member(made, "id"));
	tenant = json_string_of(json_member(made, "tenant"));
	(void)snprintf(req->audit_object, sizeof(req->audit_object), "%s",
		       id.data ? id.data : "");
	(void)snprintf(req->audit_tenant, sizeof(req->audit_tenant), "%s",
		       tenant.data ? tenant.data : "");
}

static void on_key(void *userdata, const char *json, size_t size,
		   const struct error *err)
{
	if (!error_is_set(err))
		note_key(userdata, json, size);
	admin_on_json(userdata, json, size, err);
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
	spec.max_requests = (uint64_t)fields.max_requests;
	spec.requests_per_minute = (uint64_t)fields.requests_per_minute;
	r = read_scopes(fields.scopes, &spec.scopes, err);
	if (r < 0)
		return r;
	r = core_admin_key_create(req->core, &spec, on_key, req, err);
	return r < 0 ? r : ROUTE_PENDING;
}

int admin_keys_list(struct request *req, struct error *err)
{
	const char *tenant;
	int r;

	r = uri_param(&req->uri, "tenant", &tenant, err);
	if (r < 0)
		return r;
	r = core_admin_key_list(req->core, tenant, &req->out, err);
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

/* --------------------------------------------------------------------- tenants */

/* What is absent stays as it is; 0 goes back to what the settings say. */
struct tenant_fields {
	struct json_string id;
	int64_t max_sessions;
	int64_t max_executions;
	int64_t max_requests;
	int64_t requests_per_minute;
	int64_t max_bytes;
	int64_t session_seconds_per_day;
};

enum { LIMIT_KEPT = -1 };

#define LIMIT_FIELD(name, max_)                                                \
	JSON_INT_FIELD(#name, struct tenant_fields, name, .max = (max_))

/* The first is for those that are to be made. */
static const struct json_field tenant_table[] = {
	JSON_STRING_FIELD("id", struct tenant_fields, id, .required = true,
			  .min = 1, .max = CORE_TENANT_MAX),
	LIMIT_FIELD(max_sessions, INT32_MAX),
	LIMIT_FIELD(max_executions, INT32_MAX),
	LIMIT_FIELD(max_requests, INT32_MAX),
	LIMIT_FIELD(requests_per_minute, INT32_MAX),
	LIMIT_FIELD(max_bytes, INT64_MAX),
	LIMIT_FIELD(session_seconds_per_day, INT32_MAX),
};

enum { TENANT_FIELDS = sizeof(tenant_table) / sizeof(tenant_table[0]) };

static uint64_t limit(int64_t value)
{
	return value == LIMIT_KEPT ? TENANT_KEEP : (uint64_t)value;
}

/* A tenant is its own. */
static void note_tenant(struct request *req, const char *id)
{
	(void)snprintf(req->audit_object, sizeof(req->audit_object), "%s", id);
	(void)snprintf(req->audit_tenant, sizeof(req->audit_tenant), "%s", id);
}

static int set_tenant(struct request *req, const char *id, struct error *err)
{
	struct tenant_fields f = {
		.max_sessions = LIMIT_KEPT,
		.max_executions = LIMIT_KEPT,
		.max_requests = LIMIT_KEPT,
		.requests_per_minute = LIMIT_KEPT,
		.max_bytes = LIMIT_KEPT,
		.session_seconds_per_day = LIMIT_KEPT,
	};
	size_t skip = id ? 1 : 0;
	struct json_object *object;
	struct tenant_limits to;
	int r;

	r = request_json(req, &object, err);
	if (r >= 0)
		r = json_read_fields(object, NULL, tenant_table + skip,
				     TENANT_FIELDS - skip,
				     JSON_UNKNOWN_REFUSED, &f, err);
	if (r < 0)
		return r;
	note_tenant(req, id ? id : f.id.data);
	to = (struct tenant_limits){
		.max_sessions = limit(f.max_sessions),
		.max_executions = limit(f.max_executions),
		.max_requests = limit(f.max_requests),
		.requests_per_minute = limit(f.requests_per_minute),
		.max_bytes = limit(f.max_bytes),
		.session_seconds_per_day = limit(f.session_seconds_per_day),
	};
	r = core_admin_tenant_set(req->core, id ? id : f.id.data, &to, !id,
				  admin_on_json, req, err);
	return r < 0 ? r : ROUTE_PENDING;
}

int admin_tenants_create(struct request *req, struct error *err)
{
	return set_tenant(req, NULL, err);
}

int admin_tenants_set(struct request *req, struct error *err)
{
	return set_tenant(req, req->match.param[0], err);
}

int admin_tenants_get(struct request *req, struct error *err)
{
	int r;

	r = core_admin_tenant_get(req->core, req->match.param[0], &req->out,
				  err);
	return r < 0 ? r : reply_written(req, MHD_HTTP_OK, err);
}

int admin_tenants_list(struct request *req, struct error *err)
{
	int r;

	r = core_admin_tenant_list(req->core, &req->out, err);
	return r < 0 ? r : reply_written(req, MHD_HTTP_OK, err);
}

static void on_tenant_deleted(void *userdata, const struct error *err)
{
	reply_deleted(userdata, "tenant", err);
}

int admin_tenants_delete(struct request *req, struct error *err)
{
	int r;

	note_tenant(req, req->match.param[0]);
	r = core_admin_tenant_delete(req->core, req->match.param[0],
				     on_tenant_deleted, req, err);
	return r < 0 ? r : ROUTE_PENDING;
}
