/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_MCP_SESSION_H
#define API_MCP_SESSION_H

/*
 * Sessions of MCP's legacy era.
 *
 * A session is its id, which "initialize" gave, and the containers that its
 * calls have made: they are core's, found by the id as a handle, and a session
 * ends with any of them. It is bound to the key and the endpoint that it began
 * with. A daemon that starts anew knows none of them; one that has containers
 * is taken up again when it is used.
 */

#include <stdbool.h>
#include <sys/queue.h>

#include "api/toolbox_offer.h"
#include "base/id.h"
#include "core/core.h"

struct api;
struct mcp_call;
struct request;

enum {
	/* Sessions that a tenant may have; its oldest one makes room. */
	MCP_SESSIONS_MAX = 1000,
	/* And all tenants together. */
	MCP_SESSIONS_ALL_MAX = 5000,

	MCP_BOUND_SIZE = CORE_NAME_MAX + 16,
};

LIST_HEAD(mcp_call_list, mcp_call);

/**
 * struct mcp_session - One that has not ended
 * @version:	What "initialize" agreed on; one of mcp_versions
 * @container:	By tool of the endpoint: the one it made, "" before
 * @calls:	Under way in it
 */
struct mcp_session {
	TAILQ_ENTRY(mcp_session) by_use;
	char id[ID_SIZE];
	char tenant[CORE_TENANT_MAX + 1];
	char key_id[ID_MAX + 1];
	char bound_to[MCP_BOUND_SIZE];
	const char *version;
	char container[TOOLBOX_TOOLS_MAX][ID_SIZE];
	struct mcp_call_list calls;
};

TAILQ_HEAD(mcp_session_list, mcp_session);

/** struct mcp_sessions - All, the one used last at the end; few enough to walk */
struct mcp_sessions {
	struct mcp_session_list list;
};

void mcp_sessions_init(struct mcp_sessions *sessions);
void mcp_sessions_done(struct mcp_sessions *sessions);

/** mcp_session_new() - Open one for a call, which is not in it */
int mcp_session_new(struct mcp_call *call, struct mcp_session **ret,
		    struct error *err);

/**
 * mcp_session_find() - The one of this id, if the caller may have it
 *
 * Return: 0; ERR_NOT_FOUND, with RPC_SESSION_REASON
 */
int mcp_session_find(struct mcp_call *call, const char *id,
		     struct mcp_session **ret, struct error *err);

/** mcp_session_enter(), mcp_session_leave() - A call is under way in it */
void mcp_session_enter(struct mcp_session *session, struct mcp_call *call);
void mcp_session_leave(struct mcp_call *call);

/** mcp_session_handle() - Its handle at core, for the tool of that index */
void mcp_session_handle(const char *id, size_t index,
			char ret[CORE_NAME_MAX + 1]);

/** mcp_session_drop() - It is over; its containers are not touched */
void mcp_session_drop(struct mcp_sessions *sessions,
		      struct mcp_session *session);

#endif
