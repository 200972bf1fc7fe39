/* SPDX-License-Identifier: Apache-2.0 */
#include "api/auth.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "api/admit.h"
#include "api/api_private.h"
#include "api/http_conn.h"
#include "api/penalty.h"
#include "api/request.h"
#include "base/hex.h"

static int refuse_key(struct error *err, const char *why)
{
	error_set_reason(err, "invalid_api_key");
	return error_set(err, ERR_UNAUTHORIZED, "%s", why);
}

/* One answer, whatever is there in place of a key. */
static int refuse_none(struct error *err)
{
	return refuse_key(err, "There is no API key: send it as "
			       "'Authorization: Bearer KEY'");
}

/* The key in "Authorization: Bearer KEY"; NULL if it is of another form. */
static const char *bearer_key(const char *authorization)
{
	static const char scheme[] = "Bearer ";

	if (strncasecmp(authorization, scheme, strlen(scheme)) != 0)
		return NULL;
	authorization += strlen(scheme);
	authorization += strspn(authorization, " ");
	return *authorization ? authorization : NULL;
}

static bool same_key(const char *a, const char *b)
{
	size_t size = strlen(a);

	return size == strlen(b) && secret_equal(a, b, size);
}

/*
 * Any of three fields may hold the key. Two that differ are refused: whoever
 * stands in front of us may have looked at the other one.
 */
static int find_key(const struct http_head *head, const char **ret_key,
		    struct error *err)
{
	const char *given[3] = { NULL, head->value[FIELD_API_KEY],
				 head->value[FIELD_X_MS_APIKEY] };
	const char *key = NULL;
	size_t i;

	if (head->value[FIELD_AUTHORIZATION]) {
		given[0] = bearer_key(head->value[FIELD_AUTHORIZATION]);
		if (!given[0])
			return refuse_none(err);
	}
	for (i = 0; i < 3; i++) {
		if (!given[i])
			continue;
		if (key && !same_key(key, given[i]))
			return refuse_key(err, "Two header fields give "
					       "different API keys");
		key = given[i];
	}
	*ret_key = key;
	return 0;
}

static int check_admin(struct request *req, struct error *err)
{
	const struct http_peer *peer = &req->conn->peer;

	if (peer->admin || (peer->view && req->match.route->view)) {
		req->operator = true;
		return 0;
	}
	return error_set(err, ERR_FORBIDDEN,
			 peer->view ? "Members of 'cupola-view' may only look"
				    : "Only root, the daemon's user and the "
				      "groups 'cupola-admin' and 'cupola-view' "
				      "may use the admin calls");
}

/* Without a key: whom the Unix socket's peer may stand for. */
static int check_peer(struct request *req, struct error *err)
{
	const struct http_peer *peer = &req->conn->peer;

	if (peer->admin)
		return core_local(req->core,
				  req->head.value[FIELD_CUPOLA_TENANT],
				  peer->uid, &req->who, err);
	if (peer->view && req->match.route->view) {
		req->operator = true;
		return 0;
	}
	return refuse_none(err);
}

static int check_key(struct request *req, struct error *err)
{
	const char *key = NULL;
	int r;

	r = find_key(&req->head, &key, err);
	if (r < 0)
		return r;
	if (!key)
		return check_peer(req, err);
	r = core_authenticate(req->core, key, strlen(key), &req->who, err);
	/* A key that is not there is no guess at one. */
	if (r < 0 && err->code == ERR_UNAUTHORIZED)
		return penalty_add(&req->api->penalties,
				   req->conn->peer.network, req->began_usec,
				   err);
	return r < 0 ? r : admit_begin(req, err);
}

int auth_check(struct request *req, struct error *err)
{
	const struct route *route = req->match.route;
	int r;

	if (route->family == FAMILY_ADMIN)
		return check_admin(req, err);
	if (route->scope == 0)
		return 0;
	r = check_key(req, err);
	if (r < 0 && !req->who.tenant[0])
		req->api->auth_failures++;
	if (r < 0 || req->operator)
		return r;
	if (req->who.scopes & route->scope)
		return 0;
	return error_set(err, ERR_FORBIDDEN,
			 "This API key is not good for this call");
}
