/* SPDX-License-Identifier: Apache-2.0 */
/* Dynamic sessions: the sessions themselves. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/handlers.h"
#include "api/reply.h"
#include "api/request.h"
#include "api/sessions.h"
#include "base/buf.h"
#include "base/cleanup.h"

static void write_session(struct json_writer *w,
			  const struct container_view *view)
{
	int64_t expires = view->idle_expires_at;
	char time[SESSION_TIME_SIZE];

	/* While an execution runs only the hard limit is known. */
	if (expires == 0 ||
	    (view->hard_expires_at > 0 && view->hard_expires_at < expires))
		expires = view->hard_expires_at;
	json_write_object(w, NULL);
	json_write_string(w, "identifier", view->name);
	json_write_string(w, "sessionId", view->id);
	json_write_string(w, "createdAt", session_time(view->created_at, time));
	json_write_string(w, "lastAccessedAt",
			  session_time(view->last_active_at, time));
	if (expires > 0)
		json_write_string(w, "expireAt", session_time(expires, time));
	else
		json_write_null(w, "expireAt");
	json_write_string(w, "etag", view->id);
	json_write_close(w);
}

int sessions_session_get(struct request *req, struct error *err)
{
	struct container_view view;
	struct session_call call;
	int r;

	r = session_call_read(req, NULL, &call, err);
	if (r >= 0)
		r = session_find(req, &call, true, &view, err);
	if (r < 0)
		return r;
	write_session(reply_writer(req), &view);
	return reply_json(req, MHD_HTTP_OK, err);
}

static int end_session(struct request *req, core_done_fn done,
		       struct error *err)
{
	struct container_view view;
	struct session_call call;
	int r;

	r = session_call_read(req, NULL, &call, err);
	if (r >= 0)
		r = session_find(req, &call, false, &view, err);
	if (r >= 0)
		r = core_container_delete(req->core, &req->who, view.id, done,
					  req, err);
	return r < 0 ? r : ROUTE_PENDING;
}

int sessions_session_delete(struct request *req, struct error *err)
{
	return end_session(req, reply_gone, err);
}

static void on_stopped(void *userdata, const struct error *err)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(64);
	struct request *req = userdata;
	struct error failure = ERROR_INIT;

	if (reply_failure(req, err))
		return;
	(void)buf_add_str(&text, "Session stopped");
	request_finish(req, reply_text(req, "text/plain; charset=utf-8", &text,
				       &failure),
		       &failure);
}

int sessions_stop(struct request *req, struct error *err)
{
	return end_session(req, on_stopped, err);
}

/* ----------------------------------------------------------------------- lists */

/** struct session_list - Sessions being written, a page of them */
struct session_list {
	struct json_writer *w;
	uint64_t skip;
	unsigned written;
	bool more;
};

enum { SESSIONS_PAGE = 100 };

static void on_each(void *userdata, const struct container_view *view)
{
	struct session_list *list = userdata;

	if (list->skip > 0) {
		list->skip--;
	} else if (list->written == SESSIONS_PAGE) {
		list->more = true;
	} else {
		write_session(list->w, view);
		list->written++;
	}
}

static void write_next(struct request *req, const struct session_list *list,
		       uint64_t skip)
{
	const char *version = NULL;
	char link[256];

	(void)uri_param(&req->uri, "api-version", &version, NULL);
	(void)snprintf(link, sizeof(link),
		       "/pools/%s/listSessions?api-version=%.40s&skip=%llu",
		       req->match.pool, version,
		       (unsigned long long)(skip + SESSIONS_PAGE));
	json_write_string(list->w, "nextLink", list->more ? link : NULL);
}

int sessions_list(struct request *req, struct error *err)
{
	struct session_list list = { .w = reply_writer(req) };
	struct session_call call;
	uint64_t skip = 0;
	bool given;
	int r;

	r = session_version_read(req, &call, err);
	if (r >= 0)
		r = uri_param_uint(&req->uri, "skip", &given, &skip, err);
	if (r < 0)
		return r;
	list.skip = skip;
	json_write_object(list.w, NULL);
	json_write_array(list.w, "sessions");
	core_container_named_list(req->core, &req->who, DIALECT_SESSIONS,
				  req->match.pool, on_each, &list);
	json_write_close(list.w);
	write_next(req, &list, skip);
	json_write_close(list.w);
	return reply_json(req, MHD_HTTP_OK, err);
}
