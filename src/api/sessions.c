/* SPDX-License-Identifier: Apache-2.0 */
#include "api/sessions.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "api/api_error.h"
#include "api/handlers.h"
#include "api/reply.h"
#include "api/request.h"

/* ----------------------------------------------------------- what is asked for */

int session_version_read(struct request *req, struct session_call *ret,
			 struct error *err)
{
	const char *version;
	int r;

	r = core_pool_check(req->core, req->match.pool, NULL, err);
	if (r >= 0)
		r = uri_param(&req->uri, "api-version", &version, err);
	if (r < 0)
		return r;
	if (!version || !*version)
		return api_refuse(
			err, "api-version",
			"is missing from the query: any of the service's "
			"versions will do, as in "
			"'?api-version=2025-02-02-preview'",
			NULL);
	/* Versions are dates, so they compare as strings. */
	*ret = (struct session_call){
		.wrapped = strcmp(version, "2024-10") < 0,
		.cut = strcmp(version, "2025-10") >= 0,
	};
	return 0;
}

/* Printable ASCII but for what separates paths: all that any version allows. */
static bool is_identifier(const char *s)
{
	size_t i;

	for (i = 0; s[i]; i++)
		if (s[i] <= ' ' || s[i] >= 0x7f || s[i] == '/' || s[i] == '\\')
			return false;
	return i > 0 && i <= SESSION_IDENTIFIER_MAX;
}

int session_call_read(struct request *req, const char *identifier,
		      struct session_call *ret, struct error *err)
{
	const char *in_query;
	int r;

	r = session_version_read(req, ret, err);
	if (r < 0)
		return r;
	r = uri_param(&req->uri, "identifier", &in_query, err);
	if (r < 0)
		return r;
	if (identifier && in_query && strcmp(identifier, in_query) != 0)
		return api_refuse(err, "identifier",
				  "is given twice, with different values",
				  NULL);
	ret->identifier = in_query ? in_query : identifier;
	if (!ret->identifier)
		return api_refuse(err, "identifier",
				  "is missing from the query", NULL);
	if (!is_identifier(ret->identifier))
		return api_refuse(err, "identifier",
				  "must be 1 to 256 printable ASCII characters "
				  "without blanks, '/' and '\\'",
				  NULL);
	return 0;
}

const char *session_time(int64_t sec, char *ret)
{
	time_t t = (time_t)sec;
	struct tm tm;

	if (!gmtime_r(&t, &tm) ||
	    strftime(ret, SESSION_TIME_SIZE, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		*ret = '\0';
	return ret;
}

/* --------------------------------------------------------- which container it is */

int session_find(struct request *req, const struct session_call *call,
		 bool touch, struct container_view *ret, struct error *err)
{
	int r;

	r = core_container_named(req->core, &req->who, DIALECT_SESSIONS,
				 req->match.pool, call->identifier, touch, ret,
				 err);
	if (r < 0) {
		error_set_reason(err, "SessionNotFound");
		return r;
	}
	(void)snprintf(req->container, sizeof(req->container), "%s", ret->id);
	return 0;
}

static void on_opened(void *userdata, const struct container_view *container,
		      const struct error *err)
{
	struct request *req = userdata;
	struct error failure = ERROR_INIT;
	int r;

	if (reply_failure(req, err))
		return;
	(void)snprintf(req->container, sizeof(req->container), "%s",
		       container->id);
	if (!request_is_paid(req))
		return;
	r = req->next(req, &failure);
	if (r == ROUTE_PENDING)
		request_owes(req);
	else
		request_finish(req, r, &failure);
}

int session_open(struct request *req, const struct session_call *call,
		 int (*opened)(struct request *req, struct error *err),
		 struct error *err)
{
	const struct container_spec spec = {
		.name = call->identifier,
		.dialect = DIALECT_SESSIONS,
		.pool = req->match.pool,
	};
	int r;

	req->next = opened;
	r = core_container_create(req->core, &req->who, &spec, on_opened, req,
				  err);
	return r < 0 ? r : ROUTE_PENDING;
}
