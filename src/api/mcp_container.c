/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "api/mcp.h"
#include "api/request.h"

/* Which container a call is about. */

static int unknown(const char *id, struct error *err)
{
	return error_set(err, ERR_NOT_FOUND,
			 "Container with id '%s' not found.", id);
}

int mcp_container_may_use(struct request *req, const char *id,
			  struct error *err)
{
	struct container_view view;
	int r;

	r = core_container_get(req->core, &req->who, id, false, &view, err);
	if (r < 0)
		return r;
	if (req->who.scopes & CORE_SCOPE_CONTAINERS)
		return 0;
	if (view.dialect == DIALECT_MCP &&
	    strcmp(view.key_id, req->who.key_id) == 0)
		return 0;
	return unknown(id, err);
}

/* The entry of a toolbox that is called; NULL at other endpoints. */
static const struct toolbox_tool *entry_of(const struct mcp_call *call)
{
	return call->place == MCP_TOOLBOX ? &call->offer.tool[call->index]
					  : NULL;
}

/* Return: 1 if the call names its container, 0 if it does not */
static int take_named(struct mcp_call *call, const char *id, struct error *err)
{
	const struct toolbox_tool *entry = entry_of(call);
	struct request *req = call->req;
	int r;

	if (entry && entry->container) {
		/* Who made the toolbox was allowed to name it. */
		if (id && strcmp(id, entry->container) != 0)
			return mcp_argument_error(err, "container_id",
						  "is not the container of "
						  "this tool: leave it out");
		id = entry->container;
	} else if (id) {
		r = mcp_container_may_use(req, id, err);
		if (r < 0)
			return r;
	}
	if (!id)
		return 0;
	(void)snprintf(req->container, sizeof(req->container), "%s", id);
	return 1;
}

static void on_opened(void *userdata, const struct container_view *container,
		      const struct error *err)
{
	struct request *req = userdata;
	struct mcp_call *call = req->work;
	struct error failure = ERROR_INIT;
	int r = 0;

	if (!request_is_paid(req))
		return;
	if (error_is_set(err)) {
		failure = *err;
		r = -EIO;
	} else {
		strcpy(req->container, container->id);
		if (call->session && call->keeps)
			strcpy(call->session->container[call->index],
			       container->id);
	}
	if (r >= 0 && call->cancelled)
		r = error_set(&failure, ERR_CONFLICT, "The call was cancelled");
	if (r >= 0)
		r = call->proceed(call, &failure);
	mcp_settle(call, r, &failure);
}

static int create(struct mcp_call *call, const char *name, bool keeps,
		  struct error *err)
{
	const struct toolbox_tool *entry = entry_of(call);
	struct request *req = call->req;
	struct container_spec spec = {
		.name = name,
		.dialect = DIALECT_MCP,
		.pool = call->pool,
		.idle_minutes = keeps ? 0 : MCP_LOOSE_IDLE_MINUTES,
	};
	int r;

	call->keeps = keeps;
	if (entry) {
		container_options_apply(&entry->options, &spec);
		spec.origin = call->bound_to;
		spec.image = call->offer.image;
	}
	r = core_container_create(req->core, &req->who, &spec, on_opened, req,
				  err);
	return r < 0 ? r : ROUTE_PENDING;
}

int mcp_container_fresh(struct mcp_call *call,
			int (*proceed)(struct mcp_call *call,
				       struct error *err),
			struct error *err)
{
	char name[ID_SIZE];
	int r;

	call->proceed = proceed;
	r = id_new(ID_MCP_SESSION, name);
	if (r < 0)
		return error_set_errno(err, r, "Cannot make a container");
	return create(call, name, false, err);
}

int mcp_container_open(struct mcp_call *call, const char *id,
		       int (*proceed)(struct mcp_call *call, struct error *err),
		       struct error *err)
{
	char handle[CORE_NAME_MAX + 1];
	int r;

	r = take_named(call, id, err);
	if (r < 0)
		return r;
	if (r > 0)
		return proceed(call, err);
	if (!call->session)
		return mcp_container_fresh(call, proceed, err);
	call->proceed = proceed;
	mcp_session_handle(call->session->id, call->index, handle);
	return create(call, handle, true, err);
}

int mcp_container_find(struct mcp_call *call, const char *id,
		       struct error *err)
{
	struct request *req = call->req;
	const char *own;
	int r;

	r = take_named(call, id, err);
	if (r != 0 || !call->session)
		return r;
	own = call->session->container[call->index];
	if (!*own)
		return 0;
	strcpy(req->container, own);
	return 1;
}
