/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/failpoint.h"
#include "base/timer.h"
#include "turn/turn_priv.h"

/* How a turn ends: first it is written down, then its readers are told. */

/* For so long the events of one that was streamed in the background are kept. */
#define LINGER_USEC (5 * USEC_PER_MINUTE)

static enum event_kind last_event(const struct turn *t)
{
	return t->outcome == TURN_COMPLETED    ? EVENT_COMPLETED
	       : t->outcome == TURN_INCOMPLETE ? EVENT_INCOMPLETE
					       : EVENT_FAILED;
}

/* Only what waits: a step that core still owes an answer is not to be passed. */
static void wake_next(struct turn *t)
{
	struct turn *other;

	if (!t->ask.conversation[0])
		return;
	TAILQ_FOREACH (other, &t->turns->all, next)
		if (other->patience && other != t &&
		    strcmp(other->ask.conversation, t->ask.conversation) == 0)
			turn_kick(other);
}

static void tell(struct turn *t)
{
	struct turn_figures *figures = &t->turns->figures;
	usec_t took = clock_boot(t->turns->config.clock) - t->began_usec;

	figures->ended[t->outcome]++;
	figures->rounds += t->round ? t->round->number : 0;
	figures->calls += t->calls;
	figures->usec += took;
	log_info(&t->scope,
		 "Response %s: %s, %u rounds, %llu calls, %llu+%llu tokens, "
		 "%llu ms",
		 t->id, turn_outcome_name(t->outcome),
		 t->round ? t->round->number : 0,
		 (unsigned long long)t->calls,
		 (unsigned long long)t->usage.input_tokens,
		 (unsigned long long)t->usage.output_tokens,
		 (unsigned long long)(took / USEC_PER_MSEC));
}

static void over(struct turn *t)
{
	turn_enter(t, TURN_OVER);
	tell(t);
	/* A stream that was cancelled just ends. */
	if (t->outcome != TURN_CANCELLED)
		(void)turn_event(t, last_event(t), 0, 0);
	if (t->ask.background && t->ask.stream)
		t->linger_until = usec_add(clock_boot(t->turns->config.clock),
					   LINGER_USEC);
	wake_next(t);
	turn_wake(t);
	turn_release(t);
}

/* There is no write that what it used would be in. */
static void over_unwritten(struct turn *t)
{
	turn_count(t);
	over(t);
}

static void save(struct turn *t);

/*
 * What cannot be kept as it is has failed. That much can be kept most of the
 * time, and has to be: else the response would look as if it were under way
 * until the next restart, and nothing could follow it.
 */
static void spoil(struct turn *t, const struct error *err)
{
	log_warning(&t->scope, 0, "Response %s cannot be kept: %s", t->id,
		    err->message);
	t->outcome = TURN_FAILED;
	t->error = *err;
	if (t->bare) {
		over_unwritten(t);
		return;
	}
	t->bare = true;
	save(t);
}

static void on_saved(void *userdata, const struct error *err)
{
	struct turn *t = turn_redeem(userdata);

	if (!t)
		return;
	if (error_is_set(err))
		spoil(t, err);
	else
		over(t);
}

static void save(struct turn *t)
{
	struct error err = ERROR_INIT;

	if (!t->ask.store)
		over_unwritten(t);
	else if (turn_put(t, false, on_saved, &err) < 0)
		spoil(t, &err);
}

/* What nobody was told of never was. */
static void refuse(struct turn *t)
{
	turn_fn done = t->accepted;

	t->accepted = NULL;
	turn_enter(t, TURN_OVER);
	wake_next(t);
	turn_release(t);
	done(t->userdata, NULL, &t->error);
}

static void stop_work(struct turn *t)
{
	upstream_call_free(take_ptr(t->call));
	if (t->reading)
		core_context_cancel(take_ptr(t->reading));
	timer_free(take_ptr(t->patience));
	turn_box_stop(t);
	turn_run_stop(t);
	for (size_t i = 0; i < t->item_count; i++)
		if (t->items[i].status == OUT_IN_PROGRESS)
			t->items[i].status = OUT_INCOMPLETE;
}

void turn_finish(struct turn *t, enum turn_outcome outcome, const char *why)
{
	if (t->state >= TURN_SAVING)
		return;
	t->outcome = outcome;
	t->why = why;
	t->completed_at = (int64_t)(clock_wall(t->turns->config.clock) /
				    USEC_PER_SEC);
	stop_work(t);
	if (t->accepted) {
		refuse(t);
		return;
	}
	turn_enter(t, TURN_SAVING);
	(void)failpoint("turn-before-end");
	save(t);
}

void turn_fail(struct turn *t, const struct error *err)
{
	if (t->state >= TURN_SAVING)
		return;
	t->error = *err;
	turn_finish(t, TURN_FAILED, NULL);
}
