/* SPDX-License-Identifier: Apache-2.0 */
/* The operator's calls about the books: what was used, and a copy of them all. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "api/handlers.h"
#include "api/reply.h"
#include "api/request.h"
#include "base/cleanup.h"

enum {
	DAY_SEC = 24 * 3600,
	USAGE_DAYS = 30,	/* that are told of if nobody says since when */
};

static int refuse_param(const char *param, const char *what, struct error *err)
{
	return error_refuse(err, param, "invalid_value", "'%s' must be %s",
			    param, what);
}

/* A day in UTC, "2026-11-29", as days since 1970. */
static int read_since(const char *text, int64_t *ret_day, struct error *err)
{
	struct tm tm = { .tm_mday = 0 };
	const char *end;
	time_t at;

	if (!text) {
		*ret_day = (int64_t)time(NULL) / DAY_SEC - USAGE_DAYS + 1;
		return 0;
	}
	end = strptime(text, "%Y-%m-%d", &tm);
	at = end && !*end ? timegm(&tm) : -1;
	if (at < 0)
		return refuse_param("since", "a day from 1970-01-01 on, as in "
					     "2026-11-29",
				    err);
	*ret_day = (int64_t)at / DAY_SEC;
	return 0;
}

int admin_usage(struct request *req, struct error *err)
{
	const char *since, *by, *tenant;
	int64_t day = 0;
	enum usage_by kind = USAGE_BY_TENANT;
	int r;

	if (uri_param(&req->uri, "since", &since, err) < 0 ||
	    uri_param(&req->uri, "by", &by, err) < 0 ||
	    uri_param(&req->uri, "tenant", &tenant, err) < 0)
		return -EINVAL;
	if (by && !usage_by_find(by, &kind))
		return refuse_param("by", "'tenant', 'day', 'origin' or 'key'", err);
	r = read_since(since, &day, err);
	if (r >= 0)
		r = core_admin_usage(req->core, day, kind, tenant,
				     admin_on_json, req, err);
	return r < 0 ? r : ROUTE_PENDING;
}

/* ---------------------------------------------------------------------- backup */

static int reply_copy(struct request *req, int fd, struct error *err)
{
	_cleanup_close_ int copy = fd;
	struct MHD_Response *response;
	struct stat st;

	if (fstat(copy, &st) < 0)
		return error_set_errno(err, -errno, "Cannot send the copy");
	response = MHD_create_response_from_fd64((uint64_t)st.st_size, copy);
	if (!response)
		return error_set_errno(err, -ENOMEM, "Cannot send the copy");
	(void)take_fd(copy);	/* the library closes it */
	req->response = response;
	req->status = MHD_HTTP_OK;
	req->bytes = (uint64_t)st.st_size;
	reply_header(req, MHD_HTTP_HEADER_CONTENT_TYPE,
		     "application/vnd.sqlite3");
	return 0;
}

static void on_copied(void *userdata, int fd, const struct error *err)
{
	struct request *req = userdata;
	struct error failure = ERROR_INIT;

	if (error_is_set(err))
		request_failed(req, err);
	else
		request_finish(req, reply_copy(req, fd, &failure), &failure);
}

int admin_backup(struct request *req, struct error *err)
{
	int r = core_admin_backup(req->core, on_copied, req, err);

	return r < 0 ? r : ROUTE_PENDING;
}
