/* SPDX-License-Identifier: Apache-2.0 */
#include "turn/upstream_reader.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"

static int on_event(const struct sse_event *event, void *userdata);

int upstream_reader_init(struct upstream_reader *r,
			 const struct upstream_target *target, const char *key,
			 struct upstream_answer *answer)
{
	*r = (struct upstream_reader){
		.target = target,
		.key = key,
		.answer = answer,
	};
	return sse_reader_new(UPSTREAM_EVENT_MAX, on_event, r, &r->sse);
}

void upstream_reader_done(struct upstream_reader *r)
{
	sse_reader_free(r->sse);
	r->sse = NULL;
}

/* What it says of itself counts more than what we make of it. */
int upstream_reader_fail(struct upstream_reader *r,
			 const struct json_object *error)
{
	upstream_error_of_event(error, r->key, &r->failure);
	return -EIO;
}

/* A failure of ours to read: another try of the server might be better. */
static int fail(struct upstream_reader *r, const struct error *err)
{
	if (!error_is_set(&r->failure.error)) {
		r->failure.error = *err;
		r->failure.transient = err->code != ERR_INTERNAL;
	}
	return -EIO;
}

static int parse(struct upstream_reader *r, const char *text, size_t size,
		 struct json_object **ret, struct error *err)
{
	_cleanup_(buf_done) struct buf mended = BUF_INIT(UPSTREAM_EVENT_MAX +
							 UPSTREAM_MEND_MORE);

	if (!upstream_mend_is_waiting(&r->mend) &&
	    json_parse(text, size, ret, NULL) == 0)
		return 0;
	if (upstream_mend(&r->mend, text, size, &mended) == 0 &&
	    json_parse(buf_str(&mended), mended.length, ret, NULL) == 0)
		return 0;
	return error_set(err, ERR_UPSTREAM,
			 "The model's server sent what is no JSON");
}

static int take(struct upstream_reader *r, const char *text, size_t size,
		bool whole)
{
	_cleanup_(json_freep) struct json_object *value = NULL;
	struct error err = ERROR_INIT;
	const struct json_object *error;
	int n = parse(r, text, size, &value, &err);

	if (n < 0)
		return fail(r, &err);
	error = json_member(value, "error");
	if (error)
		return upstream_reader_fail(r, error);
	if (r->target->protocol == UPSTREAM_CHAT)
		n = upstream_chat_read(r, value, &err);
	else if (whole)
		n = upstream_responses_read_whole(r, value, &err);
	else
		n = upstream_responses_read(r, value, &err);
	return n < 0 ? fail(r, &err) : 0;
}

static int on_event(const struct sse_event *event, void *userdata)
{
	struct upstream_reader *r = userdata;

	/* Nobody listens any more: the rest is not even read. */
	if (r->answer->closed || r->complete)
		return 0;
	if (strcmp(event->data, "[DONE]") == 0) {
		r->complete = true;
		return 0;
	}
	if (event->length == 0)
		return 0;
	return take(r, event->data, event->length, false);
}

int upstream_reader_feed(struct upstream_reader *r, const void *data,
			 size_t size)
{
	struct error err = ERROR_INIT;
	int n = sse_reader_feed(r->sse, data, size);

	if (n == 0 || error_is_set(&r->failure.error))
		return n;
	if (n == -EMSGSIZE)
		error_set(&err, ERR_UPSTREAM,
			  "The model's server sent an event of more than %d "
			  "bytes", UPSTREAM_EVENT_MAX);
	else
		error_set_errno(&err, n, "Cannot read a model's answer");
	return fail(r, &err);
}

int upstream_reader_object(struct upstream_reader *r, const void *data,
			   size_t size)
{
	return take(r, data, size, true);
}

int upstream_reader_end(struct upstream_reader *r)
{
	struct error err = ERROR_INIT;

	if (!r->answer->finished)
		error_set(&err, ERR_UPSTREAM,
			  "The model's server ended its answer in the middle");
	else if (upstream_answer_end(r->answer, &err) == 0)
		return 0;
	return fail(r, &err);
}
