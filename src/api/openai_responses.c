/* SPDX-License-Identifier: Apache-2.0 */
/* The OpenAI responses API: the agent loop is src/turn's. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_private.h"
#include "api/handlers.h"
#include "api/include_query.h"
#include "api/page.h"
#include "api/reply.h"
#include "api/request.h"
#include "api/response_follow.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "turn/turn.h"

enum {
	PAGE_MAX = 100,
	PAGE_DEFAULT = 20,
};

static struct turns *turns_of(const struct request *req)
{
	return req->api->config.turns;
}

/* --------------------------------------------------------------------- create */

static int answer_now(struct request *req, const char *id, unsigned include,
		      struct error *err)
{
	int r;

	r = turn_write(turns_of(req), &req->who, id, include,
		       reply_writer(req), err);
	return r < 0 ? r : reply_json(req, MHD_HTTP_OK, err);
}

static void on_accepted(void *userdata, const struct turn_accepted *turn,
			const struct error *failure)
{
	struct request *req = userdata;
	struct turns *turns = turns_of(req);
	struct response_follow follow = { .after = -1, .as_error = true };
	struct error err = ERROR_INIT;
	int r;

	/* What follows has work of its own. */
	free(take_ptr(req->work));
	req->work_free = NULL;
	req->left = NULL;
	if (error_is_set(failure)) {
		request_failed(req, failure);
		return;
	}
	if (!request_is_paid(req)) {
		turn_abandon(turns, turn->id);
		return;
	}
	follow.id = turn->id;
	follow.abandon = !turn->background;
	if (turn->stream) {
		r = response_follow_events(req, &follow, &err);
	} else if (turn->background) {
		r = answer_now(req, turn->id, 0, &err);
	} else {
		r = response_follow_end(req, &follow, &err);
		if (r == 0)
			return;
	}
	request_finish(req, r, &err);
}

/* It may still wait for another turn of its conversation. */
static void on_left(struct request *req)
{
	turn_abandon(turns_of(req), req->work);
}

int openai_responses_create(struct request *req, struct error *err)
{
	_cleanup_free_ char *id = malloc(ID_SIZE);
	struct turn_request turn = {
		.project = req->match.project,
		.agent = req->match.agent,
		.request = req->id,
		.trace = trace_parent(&req->head.trace),
	};
	struct json_object *body;
	int r;

	r = request_json(req, &body, err);
	if (r < 0)
		return r;
	if (!id)
		return error_set_errno(err, -ENOMEM, "Cannot begin a response");
	turn.body = body;
	r = turn_create(turns_of(req), &req->who, &turn, on_accepted, req, id,
			err);
	if (r < 0)
		return r;
	req->work = take_ptr(id);
	req->work_free = free;
	req->left = on_left;
	return ROUTE_PENDING;
}

/* ------------------------------------------------------------------------ get */

static int read_after(struct request *req, int64_t *ret, struct error *err)
{
	bool given = false;
	uint64_t after = 0;
	int r;

	r = uri_param_uint(&req->uri, "starting_after", &given, &after, err);
	if (r < 0)
		return r;
	if (given && after > INT64_MAX)
		after = INT64_MAX;
	*ret = given ? (int64_t)after : -1;
	return 0;
}

static int stream_again(struct request *req, const char *id, struct error *err)
{
	struct response_follow follow = { .id = id };
	int r;

	r = read_after(req, &follow.after, err);
	if (r >= 0)
		r = turn_resumable(turns_of(req), &req->who, id, err);
	return r < 0 ? r : response_follow_events(req, &follow, err);
}

int openai_responses_get(struct request *req, struct error *err)
{
	const char *id = req->match.param[0];
	unsigned include = 0;
	bool stream = false;
	int r;

	r = include_query(req, &include, err);
	if (r >= 0)
		r = uri_param_bool(&req->uri, "stream", &stream, err);
	if (r < 0)
		return r;
	if (stream)
		return stream_again(req, id, err);
	return answer_now(req, id, include, err);
}

int openai_responses_input_items(struct request *req, struct error *err)
{
	struct page_writer writer;
	struct core_page page;
	unsigned include = 0;
	bool more = false;
	int r;

	r = page_read(req, PAGE_MAX, PAGE_DEFAULT, &page, err);
	if (r >= 0)
		r = include_query(req, &include, err);
	if (r < 0)
		return r;
	page_begin(&writer, req);
	r = turn_input_list(turns_of(req), &req->who, req->match.param[0],
			    &page, include, &req->writer, page_on_item,
			    &writer, &more, err);
	return r < 0 ? r : page_reply(&writer, more, err);
}

/* ----------------------------------------------------------------- cancel, delete */

int openai_responses_cancel(struct request *req, struct error *err)
{
	const struct response_follow follow = { .id = req->match.param[0],
						.after = -1 };
	int r;

	r = turn_cancel(turns_of(req), &req->who, follow.id, err);
	if (r < 0)
		return r;
	if (response_follow_end(req, &follow, NULL) >= 0)
		return ROUTE_PENDING;
	return answer_now(req, follow.id, 0, err);
}

static void on_deleted(void *userdata, const struct error *err)
{
	reply_deleted(userdata, "response", err);
}

int openai_responses_delete(struct request *req, struct error *err)
{
	int r;

	r = turn_delete(turns_of(req), &req->who, req->match.param[0],
			on_deleted, req, err);
	return r < 0 ? r : ROUTE_PENDING;
}
