/* SPDX-License-Identifier: Apache-2.0 */
#include "api/mcp.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/api_private.h"
#include "api/handlers.h"
#include "api/mcp_origin.h"
#include "api/reply.h"
#include "api/request.h"
#include "api/toolboxes.h"
#include "base/base64.h"
#include "base/cleanup.h"

#define META_VERSION "io.modelcontextprotocol/protocolVersion"
#define META_CAPABILITIES "io.modelcontextprotocol/clientCapabilities"

static void call_free(void *work)
{
	struct mcp_call *call = work;

	mcp_call_gone(call);
	mcp_session_leave(call);
	sd_event_source_disable_unref(call->tick);
	core_upload_free(call->upload);
	buf_done(&call->code);
	buf_done(&call->bytes);
	json_free(call->definition);
	free(call);
}

/* ------------------------------------------------------------------ the endpoint */

/* A toolbox is looked up anew by each request: what was revoked is gone. */
static int open_toolbox(struct mcp_call *call, struct error *err)
{
	struct request *req = call->req;
	struct definition_version_view view;
	int r;

	r = toolboxes_find_version(req, &view, err);
	if (r < 0)
		return r;
	(void)snprintf(call->bound_to, sizeof(call->bound_to), "%s",
		       view.definition_id);
	r = json_parse(view.text, strlen(view.text),
		       &call->definition, err);
	if (r >= 0)
		r = toolbox_offer_read(call->definition, &call->offer, err);
	if (r < 0)
		return r;
	call->pool = call->offer.pool;
	if (toolbox_offer_admits(&call->offer, &req->who))
		return 0;
	return error_set(err, ERR_FORBIDDEN,
			 "This API key may not use toolbox '%s'", view.name);
}

static int open_place(struct mcp_call *call, struct error *err)
{
	switch (call->place) {
	case MCP_TOOLBOX:
		return open_toolbox(call, err);
	case MCP_POOL:
		call->pool = call->req->match.pool;
		(void)snprintf(call->bound_to, sizeof(call->bound_to),
			       "pool %s", call->pool);
		return core_pool_check(call->req->core, call->pool, NULL, err);
	default:
		(void)snprintf(call->bound_to, sizeof(call->bound_to),
			       "server");
		return 0;
	}
}

/* -------------------------------------------------------------------- the eras */

static const char *field(const struct mcp_call *call, enum http_field which)
{
	return call->req->head.value[which];
}

static bool is_method(const struct mcp_call *call, const char *method)
{
	return strcmp(call->message.method, method) == 0;
}

static const char *find_version(const char *version)
{
	size_t i;

	for (i = 0; mcp_versions[i]; i++)
		if (strcmp(mcp_versions[i], version) == 0)
			return mcp_versions[i];
	return NULL;
}

static int mismatch(struct mcp_call *call, const char *name)
{
	return mcp_fault(call, MHD_HTTP_BAD_REQUEST, RPC_HEADER_MISMATCH,
			 "Header mismatch: %s does not say what the body says",
			 name);
}

/*
 * A name that is no clean ASCII comes as "=?base64?…?=". Returns 1 if the field
 * is the text, 0 if not, or -ENOMEM.
 */
static int field_is(const char *field_value, const char *text)
{
	static const char begin[] = "=?base64?", end[] = "?=";
	_cleanup_free_ char *letters = NULL, *bytes = NULL;
	size_t size = field_value ? strlen(field_value) : 0;
	ssize_t n;

	if (!field_value)
		return 0;
	if (strncmp(field_value, begin, strlen(begin)) != 0 ||
	    size < strlen(begin) + strlen(end) ||
	    strcmp(field_value + size - strlen(end), end) != 0)
		return strcmp(field_value, text) == 0;
	size -= strlen(begin) + strlen(end);
	letters = strndup(field_value + strlen(begin), size);
	bytes = malloc(size + 1);
	if (!letters || !bytes)
		return -ENOMEM;
	n = base64_decode(letters, bytes, size);
	return n >= 0 && (size_t)n == strlen(text) &&
	       memcmp(bytes, text, (size_t)n) == 0;
}

/* What the field Mcp-Name has to repeat; NULL: there is none in the body. */
static const char *named(const struct mcp_call *call)
{
	if (is_method(call, "tools/call") || is_method(call, "prompts/get"))
		return mcp_message_text(&call->message, "name");
	if (is_method(call, "resources/read"))
		return mcp_message_text(&call->message, "uri");
	return NULL;
}

static int check_modern(struct mcp_call *call, struct error *err)
{
	struct json_object *value = json_member(call->message.meta,
						META_VERSION);
	const char *version = json_string_of(value).data;
	const char *header = field(call, FIELD_MCP_PROTOCOL_VERSION);
	const char *name = named(call);
	int r;

	if (!version)
		return mcp_fault(call, MHD_HTTP_BAD_REQUEST,
				 RPC_INVALID_PARAMS,
				 "'" META_VERSION "' must be a string");
	if (!header || strcmp(header, version) != 0)
		return mismatch(call, "MCP-Protocol-Version");
	if (strcmp(version, MCP_VERSION_MODERN) != 0) {
		call->fault.requested = version;
		return mcp_fault(call, MHD_HTTP_BAD_REQUEST,
				 RPC_VERSION_UNSUPPORTED,
				 "Unsupported protocol version");
	}
	header = field(call, FIELD_MCP_METHOD);
	if (call->message.kind != MCP_RESPONSE &&
	    (!header || strcmp(header, call->message.method) != 0))
		return mismatch(call, "Mcp-Method");
	r = name ? field_is(field(call, FIELD_MCP_NAME), name) : 1;
	if (r < 0)
		return error_set_errno(err, r, "Cannot read a header field");
	if (r == 0)
		return mismatch(call, "Mcp-Name");
	if (call->message.kind == MCP_REQUEST &&
	    json_kind_of(json_member(call->message.meta, META_CAPABILITIES)) !=
		    JSON_OBJECT)
		return mcp_fault(call, MHD_HTTP_BAD_REQUEST,
				 RPC_INVALID_PARAMS,
				 "'params._meta' lacks '" META_CAPABILITIES
				 "'");
	return 0;
}

static int check_session(struct mcp_call *call, bool version_given,
			 struct error *err)
{
	const char *id = field(call, FIELD_MCP_SESSION_ID);
	struct mcp_session *session = NULL;
	int r;

	if (!id)
		return 0;
	r = mcp_session_find(call, id, &session, err);
	if (r < 0)
		return r;
	mcp_session_enter(session, call);
	if (!version_given)
		call->version = session->version;
	return 0;
}

static int check_legacy(struct mcp_call *call, struct error *err)
{
	const char *header = field(call, FIELD_MCP_PROTOCOL_VERSION);

	call->version = MCP_VERSION_ASSUMED;
	/* It begins a session, and no version was agreed on before it. */
	if (is_method(call, "initialize"))
		return 0;
	if (header && strcmp(header, MCP_VERSION_MODERN) == 0)
		return mismatch(call, "MCP-Protocol-Version");
	if (header) {
		call->version = find_version(header);
		if (!call->version)
			return mcp_fault(call, MHD_HTTP_BAD_REQUEST,
					 RPC_REFUSED,
					 "Unsupported protocol version: "
					 "%.100s", header);
	}
	return check_session(call, header != NULL, err);
}

/* -------------------------------------------------------------------- messages */

/* The only notification that means something, and only within a session. */
static void take_notification(struct mcp_call *call)
{
	struct mcp_call *other;
	struct json_object *id;

	if (!call->session || !is_method(call, "notifications/cancelled"))
		return;
	id = json_member(call->message.params, "requestId");
	/* Of one whose client has left, the message is gone, too. */
	LIST_FOREACH(other, &call->session->calls, in_session)
		if (other != call && other->req->conn &&
		    other->message.kind == MCP_REQUEST &&
		    mcp_id_equal(other->message.id, id)) {
			mcp_cancel(other);
			return;
		}
}

static int take_message(struct mcp_call *call, struct error *err)
{
	struct json_object *json = NULL;
	struct error broken = ERROR_INIT;
	const char *why;
	int r;

	r = request_json_any(call->req, &json, &broken);
	if (r < 0 && broken.code == ERR_BAD_REQUEST)
		return mcp_fault(call, MHD_HTTP_BAD_REQUEST, RPC_PARSE_ERROR,
				 "Parse error: %s", broken.message);
	if (r < 0) {
		*err = broken;
		return r;
	}
	why = mcp_message_read(json, &call->message);
	if (why)
		return mcp_fault(call, MHD_HTTP_BAD_REQUEST,
				 RPC_INVALID_REQUEST, "Invalid request: %s",
				 why);
	call->modern = json_member(call->message.meta, META_VERSION);
	if (call->modern)
		call->version = MCP_VERSION_MODERN;
	r = call->modern ? check_modern(call, err) : check_legacy(call, err);
	if (r < 0)
		return r;
	if (call->message.kind == MCP_REQUEST)
		return mcp_dispatch(call, err);
	take_notification(call);
	return reply_empty(call->req, MHD_HTTP_ACCEPTED, err);
}

static int call_new(struct request *req, enum mcp_place place,
		    struct mcp_call **ret, struct error *err)
{
	struct mcp_call *call;
	int r;

	r = mcp_origin_check(req, err);
	if (r < 0)
		return r;
	call = calloc(1, sizeof(*call));
	if (!call)
		return error_set_errno(err, -ENOMEM, "Cannot take a message");
	req->work = call;
	req->work_free = call_free;
	call->req = req;
	call->place = place;
	r = open_place(call, err);
	*ret = call;
	return r;
}

static int post(struct request *req, enum mcp_place place, struct error *err)
{
	struct mcp_call *call = NULL;
	int r;

	r = call_new(req, place, &call, err);
	if (r < 0)
		return r;
	r = take_message(call, err);
	if (r < 0 && call->fault.code) {
		error_clear(err);
		return mcp_reply_fault(call, err);
	}
	return r;
}

/* ------------------------------------------------------------- ending a session */

/* The containers of a session are deleted one after the other. */
static int delete_next(struct mcp_call *call, struct error *err);

static void on_deleted(void *userdata, const struct error *err)
{
	struct request *req = userdata;
	struct error failure = ERROR_INIT;
	int r;

	/* One that ended by itself meanwhile is no failure. */
	if (error_is_set(err) && err->code != ERR_NOT_FOUND) {
		request_failed(req, err);
		return;
	}
	if (!request_is_paid(req))
		return;
	r = delete_next(req->work, &failure);
	if (r == ROUTE_PENDING)
		request_owes(req);
	else
		request_finish(req, r, &failure);
}

static int delete_next(struct mcp_call *call, struct error *err)
{
	struct mcp_session *session = call->session;
	struct request *req = call->req;
	size_t i;
	int r;

	for (i = 0; session && i < TOOLBOX_TOOLS_MAX; i++) {
		char id[ID_SIZE];

		if (!session->container[i][0])
			continue;
		strcpy(id, session->container[i]);
		session->container[i][0] = '\0';
		r = core_container_delete(req->core, &req->who, id, on_deleted,
					  req, err);
		if (r >= 0)
			return ROUTE_PENDING;
		if (r != -ENOENT)
			return r;
		error_clear(err);
	}
	if (session)
		mcp_session_drop(&req->api->mcp, session);
	return reply_empty(req, MHD_HTTP_OK, err);
}

static int delete_session(struct request *req, enum mcp_place place,
			  struct error *err)
{
	const char *version = req->head.value[FIELD_MCP_PROTOCOL_VERSION];
	const char *id = req->head.value[FIELD_MCP_SESSION_ID];
	struct mcp_session *session = NULL;
	struct mcp_call *call = NULL;
	int r;

	r = call_new(req, place, &call, err);
	if (r < 0)
		return r;
	if (version && strcmp(version, MCP_VERSION_MODERN) == 0) {
		strcpy(req->allow, "POST, OPTIONS");
		return error_set(err, ERR_METHOD,
				 "There are no sessions in " MCP_VERSION_MODERN);
	}
	if (!id)
		return error_set(err, ERR_BAD_REQUEST,
				 "Mcp-Session-Id says which session is to end");
	call->version = MCP_VERSION_ASSUMED;
	r = mcp_session_find(call, id, &session, err);
	if (r < 0)
		return r;
	mcp_session_enter(session, call);
	return delete_next(call, err);
}

/* -------------------------------------------------------------------- handlers */

int mcp_server_post(struct request *req, struct error *err)
{
	return post(req, MCP_SERVER, err);
}

int mcp_server_delete(struct request *req, struct error *err)
{
	return delete_session(req, MCP_SERVER, err);
}

int mcp_pool_post(struct request *req, struct error *err)
{
	return post(req, MCP_POOL, err);
}

int mcp_pool_delete(struct request *req, struct error *err)
{
	return delete_session(req, MCP_POOL, err);
}

int mcp_toolbox_post(struct request *req, struct error *err)
{
	return post(req, MCP_TOOLBOX, err);
}

int mcp_toolbox_delete(struct request *req, struct error *err)
{
	return delete_session(req, MCP_TOOLBOX, err);
}
