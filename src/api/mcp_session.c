/* SPDX-License-Identifier: Apache-2.0 */
#include "api/mcp_session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_private.h"
#include "api/mcp.h"
#include "api/request.h"

void mcp_sessions_init(struct mcp_sessions *sessions)
{
	TAILQ_INIT(&sessions->list);
}

void mcp_session_enter(struct mcp_session *session, struct mcp_call *call)
{
	call->session = session;
	LIST_INSERT_HEAD(&session->calls, call, in_session);
}

void mcp_session_leave(struct mcp_call *call)
{
	if (call->session)
		LIST_REMOVE(call, in_session);
	call->session = NULL;
}

void mcp_session_drop(struct mcp_sessions *sessions,
		      struct mcp_session *session)
{
	while (!LIST_EMPTY(&session->calls))
		mcp_session_leave(LIST_FIRST(&session->calls));
	TAILQ_REMOVE(&sessions->list, session, by_use);
	free(session);
}

void mcp_sessions_done(struct mcp_sessions *sessions)
{
	while (!TAILQ_EMPTY(&sessions->list))
		mcp_session_drop(sessions, TAILQ_FIRST(&sessions->list));
}

void mcp_session_handle(const char *id, size_t index,
			char ret[CORE_NAME_MAX + 1])
{
	if (index == 0)
		(void)snprintf(ret, CORE_NAME_MAX + 1, "%s", id);
	else
		(void)snprintf(ret, CORE_NAME_MAX + 1, "%s.%zu", id, index);
}

/* ------------------------------------------------------------------------ make */

/*
 * The session unused longest, of one tenant or of any, goes without a word: its
 * client begins anew. One with a container is found again by that.
 */
static void make_room(struct mcp_sessions *sessions, const char *tenant)
{
	struct mcp_session *session, *oldest = NULL;
	unsigned own = 0, all = 0;

	TAILQ_FOREACH_REVERSE(session, &sessions->list, mcp_session_list,
			      by_use) {
		all++;
		if (strcmp(session->tenant, tenant) != 0)
			continue;
		own++;
		if (LIST_EMPTY(&session->calls))
			oldest = session;
	}
	if (own >= MCP_SESSIONS_MAX && oldest)
		mcp_session_drop(sessions, oldest);
	else if (all >= MCP_SESSIONS_ALL_MAX)
		mcp_session_drop(sessions, TAILQ_FIRST(&sessions->list));
}

static int session_make(struct mcp_call *call, const char *id,
			struct mcp_session **ret, struct error *err)
{
	struct mcp_sessions *sessions = &call->req->api->mcp;
	const struct principal *who = &call->req->who;
	struct mcp_session *session;

	make_room(sessions, who->tenant);
	session = calloc(1, sizeof(*session));
	if (!session)
		return error_set_errno(err, -ENOMEM, "Cannot open a session");
	(void)snprintf(session->id, sizeof(session->id), "%s", id);
	strcpy(session->tenant, who->tenant);
	strcpy(session->key_id, who->key_id);
	strcpy(session->bound_to, call->bound_to);
	session->version = call->version;
	LIST_INIT(&session->calls);
	TAILQ_INSERT_TAIL(&sessions->list, session, by_use);
	*ret = session;
	return 0;
}

int mcp_session_new(struct mcp_call *call, struct mcp_session **ret,
		    struct error *err)
{
	char id[ID_SIZE];
	int r;

	r = id_new(ID_MCP_SESSION, id);
	if (r < 0)
		return error_set_errno(err, r, "Cannot open a session");
	return session_make(call, id, ret, err);
}

/* ------------------------------------------------------------------------ find */

static int not_found(struct error *err)
{
	error_set(err, ERR_NOT_FOUND,
		  "There is no such session now: begin anew with 'initialize'");
	error_set_reason(err, RPC_SESSION_REASON);
	return -ENOENT;
}

static bool is_callers(const struct mcp_session *session,
		       const struct mcp_call *call)
{
	const struct principal *who = &call->req->who;

	return strcmp(session->tenant, who->tenant) == 0 &&
	       strcmp(session->key_id, who->key_id) == 0 &&
	       strcmp(session->bound_to, call->bound_to) == 0;
}

/* It ends with any of its containers. */
static bool has_ended(const struct mcp_session *session,
		      const struct request *req)
{
	struct container_view view;
	size_t i;

	for (i = 0; i < TOOLBOX_TOOLS_MAX; i++) {
		if (!session->container[i][0])
			continue;
		if (core_container_get(req->core, &req->who,
				       session->container[i], true, &view,
				       NULL) < 0 ||
		    view.expired)
			return true;
	}
	return false;
}

/* Begun before this daemon was: core knows it by the containers it has. */
static int take_up(struct mcp_call *call, const char *id,
		   struct mcp_session **ret, struct error *err)
{
	const char *pool = call->pool ? call->pool : CORE_POOL_DEFAULT;
	struct request *req = call->req;
	struct mcp_session *session = NULL;
	struct container_view view;
	char handle[CORE_NAME_MAX + 1];
	size_t i;
	int r;

	if (!id_is(ID_MCP_SESSION, id))
		return not_found(err);
	for (i = 0; i < TOOLBOX_TOOLS_MAX; i++) {
		mcp_session_handle(id, i, handle);
		if (core_container_named(req->core, &req->who, DIALECT_MCP,
					 pool, handle, true, &view, NULL) < 0)
			continue;
		if (!session) {
			r = session_make(call, id, &session, err);
			if (r < 0)
				return r;
		}
		strcpy(session->container[i], view.id);
	}
	*ret = session;
	return session ? 0 : not_found(err);
}

int mcp_session_find(struct mcp_call *call, const char *id,
		     struct mcp_session **ret, struct error *err)
{
	struct mcp_sessions *sessions = &call->req->api->mcp;
	struct mcp_session *session;

	TAILQ_FOREACH_REVERSE(session, &sessions->list, mcp_session_list,
			      by_use)
		if (strcmp(session->id, id) == 0)
			break;
	if (!session)
		return take_up(call, id, ret, err);
	if (!is_callers(session, call))
		return not_found(err);
	if (has_ended(session, call->req)) {
		mcp_session_drop(sessions, session);
		return not_found(err);
	}
	TAILQ_REMOVE(&sessions->list, session, by_use);
	TAILQ_INSERT_TAIL(&sessions->list, session, by_use);
	*ret = session;
	return 0;
}
