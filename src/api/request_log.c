/* SPDX-License-Identifier: Apache-2.0 */
#include "api/request_log.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "api/http_conn.h"
#include "api/request.h"
#include "base/log.h"

enum { PATH_MAX_LOGGED = 256 };

usec_t request_log_now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (usec_t)ts.tv_sec * USEC_PER_SEC + (usec_t)ts.tv_nsec / 1000;
}

static const char *family_prefix(enum route_family family)
{
	switch (family) {
	case FAMILY_OPENAI:
		return "/v1/";
	case FAMILY_ADMIN:
		return "/admin/v1/";
	default:
		return "/";
	}
}

static void write_path(const struct request *req, char *out, size_t size)
{
	const struct route *route = req->match.route;
	size_t length = strcspn(req->target, "?");

	if (route) {
		(void)snprintf(out, size, "%s%s", family_prefix(route->family),
			       route->pattern);
		return;
	}
	(void)snprintf(out, size, "%.*s", (int)(length < size ? length : size),
		       req->target);
}

/* Attempts count as well, refused ones above all. */
static void audit(const struct request *req, const struct log_scope *scope)
{
	const struct http_peer *peer = &req->conn->peer;
	const char *param = req->match.param[0];
	char uid[16], status[16];
	const struct log_field fields[] = {
		{ "UID", uid },
		{ "OBJECT", req->audit_object[0] ? req->audit_object : param },
		{ "TENANT", req->audit_tenant },
		{ "STATUS", status },
	};

	(void)snprintf(uid, sizeof(uid), "%u", peer->uid);
	(void)snprintf(status, sizeof(status), "%u", req->status);
	log_audit(scope, req->match.route->audit, fields,
		  sizeof(fields) / sizeof(fields[0]));
}

void request_log(const struct request *req)
{
	const struct log_scope scope = {
		.request_id = req->id,
		.session_id = req->container[0] ? req->container : NULL,
		.trace_id = trace_id(&req->head.trace),
	};
	const struct error *failure = &req->failure;
	char path[PATH_MAX_LOGGED];

	write_path(req, path, sizeof(path));
	if (failure->code == ERR_INTERNAL)
		log_error(&scope, 0, "Internal error: %s", failure->message);
	log_info(&scope,
		 "%s %s status=%u bytes=%llu usec=%llu tenant=%s key=%s%s%s",
		 req->method[0] ? req->method : "-", path, req->status,
		 (unsigned long long)req->bytes,
		 (unsigned long long)(request_log_now() - req->began_usec),
		 req->who.tenant[0] ? req->who.tenant : "-",
		 req->who.key_id[0] ? req->who.key_id : "-",
		 failure->code ? " error=" : "",
		 failure->code ? error_code_name(failure->code) : "");
	if (req->match.route && req->match.route->audit)
		audit(req, &scope);
}
