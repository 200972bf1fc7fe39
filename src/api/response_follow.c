/* SPDX-License-Identifier: Apache-2.0 */
#include "api/response_follow.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/api_private.h"
#include "api/reply.h"
#include "api/request.h"
#include "api/sse.h"
#include "base/cleanup.h"
#include "turn/turn.h"

/** struct following - What a request keeps meanwhile */
struct following {
	struct request *req;
	struct turn_watch *watch;
	char id[ID_SIZE];
	bool abandon;
	bool as_error;
};

static struct turns *turns_of(const struct request *req)
{
	return req->api->config.turns;
}

static void following_free(void *work)
{
	struct following *f = work;

	turn_watch_free(f->watch);
	if (f->abandon)
		turn_abandon(turns_of(f->req), f->id);
	free(f);
}

static int begin(struct request *req, const struct response_follow *follow,
		 void (*wake)(void *userdata), struct error *err)
{
	struct following *f = calloc(1, sizeof(*f));
	int r;

	if (!f)
		return error_set_errno(err, -ENOMEM, "Cannot follow");
	f->req = req;
	f->abandon = follow->abandon;
	f->as_error = follow->as_error;
	(void)snprintf(f->id, sizeof(f->id), "%s", follow->id);
	r = turn_watch_new(turns_of(req), &req->who, follow->id, follow->after,
			   wake, f, &f->watch, err);
	if (r < 0) {
		free(f);
		return r;
	}
	req->work = f;
	req->work_free = following_free;
	return 0;
}

/* ------------------------------------------------------------------ the events */

static int write_event(struct buf *text, const struct turn_event *event)
{
	int r;

	r = buf_printf(text, "event: %s\ndata: ", event->type);
	if (r >= 0)
		r = buf_add(text, event->json, event->size);
	return r < 0 ? r : buf_add_str(text, "\n\n");
}

static int fetch_events(void *userdata, struct sse *sse)
{
	struct following *f = userdata;
	struct buf *text = sse_text(sse);
	struct turn_event event;
	int r = 0;

	while (r >= 0 && !sse_ended(sse) && text->length < SSE_BATCH) {
		r = turn_watch_next(f->watch, &event);
		if (r == 0)
			return 0;
		if (r == -ENODATA) {
			sse_end(sse);
			return 0;
		}
		if (r > 0)
			r = write_event(text, &event);
	}
	return r < 0 ? r : 0;
}

static void on_event(void *userdata)
{
	struct following *f = userdata;

	if (f->req->sse)
		sse_wake(f->req->sse);
}

int response_follow_events(struct request *req,
			   const struct response_follow *follow,
			   struct error *err)
{
	int r;

	r = begin(req, follow, on_event, err);
	return r < 0 ? r : sse_reply(req, fetch_events, req->work, err);
}

/* --------------------------------------------------------------------- the end */

static int answer(struct following *f, struct error *err)
{
	const struct error *failure = turn_watch_failure(f->watch);
	struct request *req = f->req;

	req->has_run = turn_watch_has_run(f->watch);
	if (failure && f->as_error) {
		*err = *failure;
		return -EIO;
	}
	turn_watch_write(f->watch, reply_writer(req));
	return reply_json(req, MHD_HTTP_OK, err);
}

static void on_progress(void *userdata)
{
	struct following *f = userdata;
	struct request *req = f->req;
	struct error err = ERROR_INIT;
	int r;

	if (!turn_watch_over(f->watch) || !request_is_paid(req))
		return;
	/* It came to something: it is not to be undone by the client's leaving. */
	f->abandon = false;
	r = answer(f, &err);
	turn_watch_free(take_ptr(f->watch));
	request_finish(req, r, &err);
}

/* Its end, which is not far now, is what is answered; to nobody. */
static void on_left(struct request *req)
{
	struct following *f = req->work;

	if (!f->abandon)
		return;
	f->abandon = false;
	turn_abandon(turns_of(req), f->id);
}

int response_follow_end(struct request *req,
			const struct response_follow *follow,
			struct error *err)
{
	struct following *f;
	int r;

	r = begin(req, follow, on_progress, err);
	if (r < 0)
		return r;
	f = req->work;
	req->left = on_left;
	/* From now on it calls; if it is over already, in the next moment. */
	turn_watch_arm(f->watch);
	return 0;
}
