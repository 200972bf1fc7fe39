/* SPDX-License-Identifier: Apache-2.0 */
#include "turn/upstream_call.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "turn/upstream_key.h"
#include "turn/upstream_request.h"

#define BACK_OFF_FIRST (500 * USEC_PER_MSEC)
#define BACK_OFF_MAX (8 * USEC_PER_SEC)

/*
 * A server that has said its last word and keeps the connection open is not
 * waited for any longer than this. Behind the reason to finish, the count of
 * tokens may still come.
 */
#define GRACE_COMPLETE (200 * USEC_PER_MSEC)
#define GRACE_FINISHED (5 * USEC_PER_SEC)

static usec_t now(const struct upstream_call *call)
{
	return clock_boot(call->upstream->config.clock);
}

/* ------------------------------------------------------------ its life */

static void destroy(struct upstream_call *call)
{
	upstream_try_end(call);
	timer_free(call->patience);
	timer_free(call->deadline);
	curl_slist_free_all(call->headers);
	upstream_key_free(call->key);
	upstream_answer_done(&call->answer);
	buf_done(&call->body);
	free(call);
}

static void enter(struct upstream_call *call)
{
	call->busy++;
}

static void leave(struct upstream_call *call)
{
	if (--call->busy == 0 && call->freed)
		destroy(call);
}

/* Nothing of it is under way from here on. */
static void rest(struct upstream_call *call)
{
	if (call->state == UPSTREAM_CALL_ENDED)
		return;
	call->state = UPSTREAM_CALL_ENDED;
	call->target->calls--;
	/* One that could not even begin may have neither. */
	if (call->patience)
		timer_clear(call->patience);
	if (call->deadline)
		timer_clear(call->deadline);
	upstream_transfer_stop(&call->transfer);
}

static void end(struct upstream_call *call, enum upstream_finish finish,
		const struct error *err)
{
	const struct upstream_end told = { .finish = finish,
					   .usage = call->answer.usage,
					   .error = err };

	if (call->state == UPSTREAM_CALL_ENDED)
		return;
	rest(call);
	upstream_count_end(call->target, &told, call->began_usec,
			   call->first_usec, now(call));
	if (!call->answer.closed)
		call->events.end(call->userdata, &told);
}

/* --------------------------------------------------- failing, repeating */

static usec_t back_off(const struct upstream_call *call,
		       const struct error *err)
{
	usec_t wait = BACK_OFF_FIRST << call->try;
	uint32_t chance = 0;

	if (err->retry_after_sec > 0)
		return err->retry_after_sec * USEC_PER_SEC;
	if (wait > BACK_OFF_MAX)
		wait = BACK_OFF_MAX;
	/* Those who failed at once are not to come again at once. */
	(void)random_bytes(&chance, sizeof(chance));
	return wait - wait / 4 + chance % (wait / 2);
}

static bool may_repeat(const struct upstream_call *call,
		       const struct upstream_failure *failure, usec_t wait)
{
	return failure->transient && !call->answer.spoken &&
	       call->try < call->target->retries &&
	       usec_add(now(call), wait) < timer_deadline(call->deadline);
}

static void log_failure(const struct upstream_call *call,
			const struct error *err)
{
	/* libcurl's words name the address: for the operator only. */
	log_warning(NULL, 0, "Model '%s': %s%s%s%s", call->target->model.name,
		    err->message, *call->transfer.message ? " (" : "",
		    call->transfer.message,
		    *call->transfer.message ? ")" : "");
}

static void fail(struct upstream_call *call,
		 const struct upstream_failure *failure)
{
	usec_t wait = back_off(call, &failure->error);

	if (call->state == UPSTREAM_CALL_ENDED)
		return;
	log_failure(call, &failure->error);
	if (!may_repeat(call, failure, wait)) {
		end(call, UPSTREAM_FAILED, &failure->error);
		return;
	}
	upstream_try_end(call);
	call->state = UPSTREAM_CALL_WAITING;
	call->try++;
	call->target->counts.repeated++;
	timer_set_after(call->patience, wait);
}

static void fail_late(struct upstream_call *call, const char *what,
		      usec_t limit_usec)
{
	struct upstream_failure failure = { .error = ERROR_INIT };

	if (call->answer.finished) {
		upstream_call_transferred(call, CURLE_OK);
		return;
	}
	error_set(&failure.error, ERR_UPSTREAM_TIMEOUT,
		  "The model's server %s within %" PRIu64 " seconds", what,
		  limit_usec / USEC_PER_SEC);
	fail(call, &failure);
}

/* ------------------------------------------------------------ the loop */

static int ask(struct upstream_call *call)
{
	call->state = UPSTREAM_CALL_ASKING;
	timer_set_after(call->patience, call->target->idle_timeout_usec);
	return upstream_try_begin(call);
}

static void ask_again(struct upstream_call *call)
{
	struct upstream_failure failure = { .error = ERROR_INIT };
	int r = ask(call);

	if (r >= 0)
		return;
	error_set_errno(&failure.error, r, "Cannot ask a model");
	fail(call, &failure);
}

static void on_patience(struct timer *t, void *userdata)
{
	struct upstream_call *call = userdata;

	(void)t;
	enter(call);
	if (call->state == UPSTREAM_CALL_WAITING)
		ask_again(call);
	else
		fail_late(call, "sent nothing",
			  call->target->idle_timeout_usec);
	leave(call);
}

static void on_deadline(struct timer *t, void *userdata)
{
	struct upstream_call *call = userdata;

	(void)t;
	enter(call);
	fail_late(call, "did not end its answer", call->target->timeout_usec);
	leave(call);
}

static void wait_for_more(struct upstream_call *call)
{
	usec_t wait = call->target->idle_timeout_usec;

	if (call->reader.complete)
		wait = GRACE_COMPLETE;
	else if (call->answer.finished && GRACE_FINISHED < wait)
		wait = GRACE_FINISHED;
	timer_set_after(call->patience, wait);
}

static void note_first(struct upstream_call *call)
{
	curl_off_t sent = 0;

	if (call->first_usec || !call->answer.spoken)
		return;
	call->first_usec = now(call);
	/* It is not repeated any more: contexts are large, streams long. */
	if (!call->freed &&
	    curl_easy_getinfo(call->transfer.easy, CURLINFO_SIZE_UPLOAD_T,
			      &sent) == CURLE_OK &&
	    (size_t)sent == call->body.length)
		buf_done(&call->body);
}

void upstream_call_arrived(void *userdata)
{
	struct upstream_call *call = userdata;
	struct upstream_failure failure = { .error = ERROR_INIT };
	int r;

	enter(call);
	r = upstream_try_take(call, &failure);
	note_first(call);
	if (r < 0)
		fail(call, &failure);
	else if (call->state == UPSTREAM_CALL_ASKING)
		wait_for_more(call);
	leave(call);
}

void upstream_call_transferred(void *userdata, CURLcode result)
{
	struct upstream_call *call = userdata;
	struct upstream_failure failure = { .error = ERROR_INIT };
	int r;

	enter(call);
	r = upstream_try_judge(call, result, &failure);
	note_first(call);
	if (r < 0)
		fail(call, &failure);
	else
		end(call, call->answer.finish, NULL);
	leave(call);
}

/* ------------------------------------------------------- begin and end */

static int admit(struct upstream_target *target, struct error *err)
{
	if (target->calls < target->calls_max)
		return 0;
	error_set_reason(err, "rate_limit_exceeded");
	return error_set(err, ERR_LIMIT,
			 "Model '%s' has %u answers under way, which is all "
			 "that it may", target->model.name, target->calls);
}

static int prepare(struct upstream_call *call,
		   const struct upstream_round *round, struct error *err)
{
	const struct upstream_config *config = &call->upstream->config;
	int r = upstream_request_write(call->target, round, &call->body, err);

	if (r < 0)
		return r;
	if (call->target->key) {
		call->key = strdup(call->target->key);
		if (!call->key)
			return error_set_errno(err, -ENOMEM,
					       "Cannot ask a model");
	}
	call->headers = upstream_try_headers(call->key, round->trace);
	r = call->headers ? timer_new(config->event, config->clock,
				      "model's answer", on_patience, call,
				      &call->patience)
			  : -ENOMEM;
	if (r >= 0)
		r = timer_new(config->event, config->clock, "model's deadline",
			      on_deadline, call, &call->deadline);
	return r < 0 ? error_set_errno(err, r, "Cannot ask a model") : 0;
}

DEFINE_FREEP(struct upstream_call, upstream_call_free);

int upstream_ask(struct upstream *u, const struct upstream_round *round,
		 const struct upstream_events *events, void *userdata,
		 struct upstream_call **ret, struct error *err)
{
	_cleanup_(upstream_call_freep) struct upstream_call *call = NULL;
	struct upstream_target *target =
		upstream_find_target(u, round->model, err);
	int r = target ? admit(target, err) : -ENOENT;

	if (r < 0)
		return r;
	call = calloc(1, sizeof(*call));
	if (!call)
		return error_set_errno(err, -ENOMEM, "Cannot ask a model");
	call->upstream = u;
	call->target = target;
	call->events = *events;
	call->userdata = userdata;
	call->body = BUF_INIT(UPSTREAM_REQUEST_MAX);
	call->state = UPSTREAM_CALL_WAITING;
	target->calls++;
	upstream_answer_init(&call->answer, &call->events, userdata);
	r = prepare(call, round, err);
	if (r < 0)
		return r;
	call->began_usec = now(call);
	timer_set_after(call->deadline, target->timeout_usec);
	r = ask(call);
	if (r < 0)
		return error_set_errno(err, r, "Cannot ask a model");
	*ret = take_ptr(call);
	return 0;
}

void upstream_call_free(struct upstream_call *call)
{
	if (!call)
		return;
	call->answer.closed = true;
	rest(call);
	call->freed = true;
	if (call->busy == 0)
		destroy(call);
}
