/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/event.h"
#include "base/settings.h"
#include "base/timer.h"
#include "turn/turn_priv.h"

/* The beginning and the end of turns, and of the loop as a whole. */

/* ------------------------------------------------------------------- tickets */

struct ticket *turn_ticket(struct turn *t)
{
	struct ticket *ticket = calloc(1, sizeof(*ticket));

	if (!ticket)
		return NULL;
	ticket->turn = t;
	LIST_INSERT_HEAD(&t->tickets, ticket, next);
	return ticket;
}

struct turn *turn_redeem(struct ticket *ticket)
{
	struct turn *t = ticket->turn;

	if (t)
		LIST_REMOVE(ticket, next);
	free(ticket);
	return t;
}

/* Core has still to call back: it will find nobody. */
static void forget_tickets(struct turn *t)
{
	struct ticket *ticket;

	while ((ticket = LIST_FIRST(&t->tickets))) {
		LIST_REMOVE(ticket, next);
		ticket->turn = NULL;
	}
}

/* ------------------------------------------------------------------ one turn */

struct turn *turn_find(struct turns *turns, const struct principal *who,
		       const char *id)
{
	struct turn *t;

	TAILQ_FOREACH (t, &turns->all, next)
		if (strcmp(t->id, id) == 0 &&
		    strcmp(t->who.tenant, who->tenant) == 0)
			return t;
	return NULL;
}

static size_t count_under_way(const struct turns *turns, const char *tenant)
{
	const struct turn *t;
	size_t n = 0;

	TAILQ_FOREACH (t, &turns->all, next)
		n += t->state != TURN_OVER &&
		     (!tenant || strcmp(t->who.tenant, tenant) == 0);
	return n;
}

static int check_room(struct turns *turns, const struct principal *who,
		      struct error *err)
{
	size_t all = count_under_way(turns, NULL);
	size_t own = count_under_way(turns, who->tenant);

	if (own >= turns->max_per_tenant)
		return error_set(err, ERR_LIMIT,
				 "%zu responses are under way; %zu can be at a "
				 "time", own, turns->max_per_tenant);
	if (all >= turns->max)
		return error_set(err, ERR_CAPACITY,
				 "%zu responses of all tenants are under way; "
				 "%zu can be at a time", all, turns->max);
	return 0;
}

static int on_kick(sd_event_source *source, void *userdata)
{
	(void)source;
	turn_step(userdata);
	return 0;
}

int turn_new(struct turns *turns, const struct principal *who,
	     struct turn **ret, struct error *err)
{
	struct turn *t;
	int r;

	r = check_room(turns, who, err);
	if (r < 0)
		return r;
	t = calloc(1, sizeof(*t));
	if (!t)
		return error_set_errno(err, -ENOMEM, "Cannot begin a response");
	t->turns = turns;
	t->who = *who;
	t->log = BUF_INIT(TURN_LOG_MAX);
	t->box.note = BUF_INIT(64 << 10);
	t->box.left = BUF_INIT(64 << 10);
	t->created_at = (int64_t)(clock_wall(turns->config.clock) /
				  USEC_PER_SEC);
	t->began_usec = clock_boot(turns->config.clock);
	LIST_INIT(&t->tickets);
	LIST_INIT(&t->watches);
	TAILQ_INSERT_TAIL(&turns->all, t, next);
	turns->count++;
	r = id_new(ID_RESPONSE, t->id);
	if (r >= 0)
		r = event_add_defer(turns->config.event, on_kick, t,
				    "turn-step", &t->kick);
	if (r < 0) {
		turn_free(t);
		return error_set_errno(err, r, "Cannot begin a response");
	}
	*ret = t;
	return 0;
}

void turn_free(struct turn *t)
{
	assert(LIST_EMPTY(&t->watches));
	TAILQ_REMOVE(&t->turns->all, t, next);
	t->turns->count--;
	sd_event_source_disable_unref(t->kick);
	upstream_call_free(t->call);
	if (t->reading)
		core_context_cancel(t->reading);
	timer_free(t->patience);
	turn_box_stop(t);
	turn_run_stop(t);
	forget_tickets(t);
	turn_round_free(t);
	turn_made_free(t);
	context_done(&t->context);
	ask_done(&t->ask);
	for (size_t i = 0; i < t->item_count; i++)
		out_item_done(&t->items[i]);
	free(t->items);
	buf_done(&t->log);
	buf_done(&t->box.note);
	buf_done(&t->box.left);
	free(t);
}

void turn_kick(struct turn *t)
{
	(void)sd_event_source_set_enabled(t->kick, SD_EVENT_ONESHOT);
}

void turn_release(struct turn *t)
{
	(void)sd_event_source_set_enabled(t->turns->gc, SD_EVENT_ONESHOT);
}

/* ------------------------------------------------------------------ the whole */

static bool is_needed(const struct turn *t, usec_t now)
{
	return t->state != TURN_OVER || !LIST_EMPTY(&t->watches) ||
	       !LIST_EMPTY(&t->tickets) || t->linger_until > now;
}

/* Frees what nobody needs, and comes back when the next may go. */
static void sweep(struct turns *turns)
{
	usec_t now = clock_boot(turns->config.clock), next = USEC_INFINITY;
	struct turn *t, *following;

	for (t = TAILQ_FIRST(&turns->all); t; t = following) {
		following = TAILQ_NEXT(t, next);
		if (!is_needed(t, now))
			turn_free(t);
		else if (t->linger_until > now && t->linger_until < next)
			next = t->linger_until;
	}
	timer_set(turns->sweep, next);
}

static int on_gc(sd_event_source *source, void *userdata)
{
	(void)source;
	sweep(userdata);
	return 0;
}

static void on_sweep(struct timer *timer, void *userdata)
{
	(void)timer;
	sweep(userdata);
}

static void read_settings(struct turns *turns)
{
	const struct settings *s = turns->config.settings;

	turns->max = settings_uint(s, "turn", "max");
	turns->max_per_tenant = settings_uint(s, "turn", "max_per_tenant");
	turns->context_max = settings_bytes(s, "turn", "context");
	turns->result_max = settings_bytes(s, "turn", "result");
	turns->output_max = settings_bytes(s, "turn", "output");
	turns->wait_max = settings_usec(s, "turn", "wait");
	turns->rounds_max = (unsigned)settings_uint(s, "turn", "rounds");
}

DEFINE_FREEP(struct turns, turns_free);

int turns_new(const struct turns_config *config, struct turns **ret,
	      struct error *err)
{
	_cleanup_(turns_freep) struct turns *turns = calloc(1, sizeof(*turns));
	const struct upstream_config upstream = {
		.event = config->event,
		.clock = config->clock,
		.settings = config->settings,
	};
	int r;

	if (!turns)
		return error_set_errno(err, -ENOMEM,
				       "Cannot prepare the agent loop");
	turns->config = *config;
	TAILQ_INIT(&turns->all);
	read_settings(turns);
	r = random_bytes(turns->secret, sizeof(turns->secret));
	if (r >= 0)
		r = event_add_defer(config->event, on_gc, turns, "turn-gc",
				    &turns->gc);
	if (r >= 0)
		r = timer_new(config->event, config->clock, "turn-sweep",
			      on_sweep, turns, &turns->sweep);
	if (r < 0)
		return error_set_errno(err, r, "Cannot prepare the agent loop");
	r = upstream_new(&upstream, &turns->upstream, err);
	if (r >= 0)
		r = turns_end_open(turns, err);
	if (r < 0)
		return r;
	*ret = take_ptr(turns);
	return 0;
}

void turns_free(struct turns *turns)
{
	struct turn *t;

	if (!turns)
		return;
	while ((t = TAILQ_FIRST(&turns->all)))
		turn_free(t);
	upstream_free(turns->upstream);
	timer_free(turns->sweep);
	sd_event_source_disable_unref(turns->gc);
	free(turns);
}

struct upstream *turns_upstream(struct turns *turns)
{
	return turns->upstream;
}
