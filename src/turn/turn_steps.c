/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/failpoint.h"
#include "base/timer.h"
#include "turn/turn_priv.h"

/*
 * From a request to the question to the model.
 *
 * The steps are a table, and there are two orders of them. A client that waits
 * is told of everything that can be wrong as an error of its request, so it is
 * answered last. One that does not wait is answered as soon as it is sure that
 * the response will be there to be looked at; so is a stream that has to wait
 * for an earlier turn of its conversation, since proxies cut a connection on
 * which nothing is said. An answer in one piece has no such way: its status is
 * only known at the end.
 */

/* --------------------------------------------------------------- what is named */

static int check_previous(struct turn *t, struct error *err)
{
	struct response_view view;
	struct error why = ERROR_INIT;
	int r;

	if (!t->ask.previous[0])
		return 0;
	r = core_response_get(t->turns->config.core, &t->who, t->ask.previous,
			      &view, &why);
	if (r >= 0 && !view.open)
		return 0;
	if (r < 0 && why.code != ERR_NOT_FOUND) {
		*err = why;
		return r;
	}
	error_set(err, ERR_BAD_REQUEST,
		  r < 0 ? "Previous response with id '%s' not found."
			: "Previous response with id '%s' is still under way.",
		  t->ask.previous);
	error_set_param(err, "previous_response_id");
	error_set_reason(err, r < 0 ? "previous_response_not_found"
				    : "previous_response_open");
	return -EINVAL;
}

static int check_conversation(struct turn *t, struct error *err)
{
	struct conversation_view view;
	int r;

	if (!t->ask.conversation[0])
		return 0;
	r = core_conversation_get(t->turns->config.core, &t->who,
				  t->ask.conversation, &view, err);
	if (r < 0)
		error_set_param(err, "conversation");
	return r;
}

static int check_container(struct turn *t, struct error *err)
{
	const struct tool_set *tools = &t->ask.tools;
	struct error why = ERROR_INIT;
	struct container_view view;
	int r;

	if (!tools->container[0])
		return 0;
	r = core_container_live(t->turns->config.core, &t->who,
				tools->container, &view, &why);
	if (r >= 0)
		return 0;
	if (strcmp(why.reason, "container_expired") == 0) {
		error_set(err, ERR_BAD_REQUEST, "Container is expired. %s",
			  why.message);
		error_set_reason(err, "container_expired");
		r = -EINVAL;
	} else {
		*err = why;
	}
	error_set_param(err, "tools[%u].container", tools->interpreter_index);
	return r;
}

static int check_files(struct turn *t, struct error *err)
{
	const struct tool_set *tools = &t->ask.tools;
	struct file_view view;
	int r = 0;

	for (size_t i = 0; i < tools->file_count && r >= 0; i++) {
		r = core_file_get(t->turns->config.core, &t->who,
				  tools->file_ids[i], &view, err);
		if (r < 0)
			error_move_param(err, "tools[%u].container.file_ids[%zu]",
					 tools->interpreter_index, i);
	}
	return r;
}

static int check_names(struct turn *t, struct error *err)
{
	struct upstream_model model;
	int r;

	r = upstream_model_find(t->turns->upstream, t->ask.model, &model, err);
	if (r >= 0)
		r = check_previous(t, err);
	if (r >= 0)
		r = check_conversation(t, err);
	if (r >= 0)
		r = check_container(t, err);
	return r < 0 ? r : check_files(t, err);
}

/* --------------------------------------------------------------------- steps */

/* Each returns 1 when it is done, 0 when turn_step() will be called again for
 * the next one, or a negative errno with @err. */

static void on_impatient(struct timer *timer, void *userdata)
{
	struct turn *t = userdata;
	struct error err = ERROR_INIT;

	(void)timer;
	error_set(&err, ERR_CONFLICT,
		  "Another response of this conversation has been under way for "
		  "too long");
	error_set_param(&err, "conversation");
	error_set_reason(&err, "conversation_busy");
	turn_fail(t, &err);
}

static int be_patient(struct turn *t, struct error *err)
{
	struct turns *turns = t->turns;
	int r;

	r = timer_new(turns->config.event, turns->config.clock, "turn-wait",
		      on_impatient, t, &t->patience);
	if (r < 0)
		return error_set_errno(err, r, "Cannot wait for a conversation");
	timer_set(t->patience, usec_add(clock_boot(turns->config.clock),
					turns->wait_max));
	return 0;
}

/* One after the other: the next has to know what this one will have said. */
static int step_wait(struct turn *t, struct error *err)
{
	if (turn_is_first(t)) {
		timer_free(take_ptr(t->patience));
		return 1;
	}
	t->step--; /* whoever ends before it kicks it */
	return t->patience ? 0 : be_patient(t, err);
}

static void on_earlier_item(void *userdata, const struct talk_item *item)
{
	struct turn *t = userdata;

	if (!error_is_set(&t->reading_failure))
		(void)context_lower(&t->context, item->json, item->size,
				    &t->reading_failure);
}

static void on_read(void *userdata, const struct error *err)
{
	struct turn *t = userdata;

	t->reading = NULL;
	if (error_is_set(err) && !error_is_set(&t->reading_failure))
		t->reading_failure = *err;
	if (error_is_set(&t->reading_failure))
		turn_fail(t, &t->reading_failure);
	else
		turn_step(t);
}

static int step_read(struct turn *t, struct error *err)
{
	const struct context_config config = {
		.core = t->turns->config.core,
		.who = &t->who,
		.max_bytes = t->turns->context_max,
		.result_max = t->turns->result_max,
		.secret = t->turns->secret,
		.python = t->ask.tools.python,
		.interpreter = t->ask.tools.interpreter,
		.truncate = t->ask.truncate,
	};
	const char *previous = t->ask.previous[0] ? t->ask.previous : NULL;
	const char *conversation =
		t->ask.conversation[0] ? t->ask.conversation : NULL;

	int r = 0;

	context_init(&t->context, &config);
	if (config.interpreter && t->ask.tools.file_count > 0)
		r = context_add_uploads(&t->context, t->ask.tools.file_ids,
					t->ask.tools.file_count, err);
	if (r < 0)
		return r;
	if (!previous && !conversation)
		return 1;
	return core_context_read(config.core, &t->who, previous, conversation,
				 config.truncate ? CONTEXT_TRUNCATED_MAX *
							   config.max_bytes
						 : config.max_bytes,
				 on_earlier_item, on_read, t,
				 &t->reading, err);
}

static int step_lower(struct turn *t, struct error *err)
{
	char container[ID_SIZE];
	int r = 0;

	context_fresh(&t->context);
	for (size_t i = 0; i < t->ask.input.count && r >= 0; i++)
		r = context_lower(&t->context, t->ask.input.list[i].json,
				  t->ask.input.list[i].size, err);
	if (r >= 0)
		r = context_check(&t->context, err);
	if (r >= 0) {
		turn_box_find(t, container);
		r = context_settle(&t->context, container, err);
	}
	if (r >= 0 && t->context.count == 0) {
		error_set(err, ERR_BAD_REQUEST,
			  "There is no input, and nothing was said before");
		error_set_param(err, "input");
		error_set_reason(err, "missing_required_parameter");
		return -EINVAL;
	}
	return r < 0 ? r : 1;
}

static void on_intent(void *userdata, const struct error *err)
{
	struct turn *t = turn_redeem(userdata);

	if (!t)
		return;
	(void)failpoint("turn-kept");
	if (t->state != TURN_PREPARING)
		turn_release(t);
	else if (error_is_set(err))
		turn_fail(t, err);
	else {
		t->kept = true;
		turn_step(t);
	}
}

static int step_keep(struct turn *t, struct error *err)
{
	if (!t->ask.store)
		return 1;
	return turn_put(t, true, on_intent, err);
}

static int step_accept(struct turn *t, struct error *err)
{
	struct turn_accepted accepted = {
		.stream = t->ask.stream,
		.background = t->ask.background,
	};
	turn_fn done = t->accepted;
	int r;

	r = turn_event(t, EVENT_CREATED, 0, 0);
	if (r >= 0 && t->ask.background)
		r = turn_event(t, EVENT_QUEUED, 0, 0);
	if (r < 0)
		return error_set_errno(err, r, "Cannot begin a response");
	strcpy(accepted.id, t->id);
	t->accepted = NULL;
	done(t->userdata, &accepted, NULL);
	return 1;
}

static int step_ask(struct turn *t, struct error *err)
{
	int r;

	/* Its client may have left while it was told. */
	if (t->state != TURN_PREPARING)
		return 0;
	turn_enter(t, TURN_ANSWERING);
	r = turn_event(t, EVENT_IN_PROGRESS, 0, 0);
	if (r < 0)
		return error_set_errno(err, r, "Cannot begin a response");
	r = turn_ask(t, err);
	return r < 0 ? r : 0;
}

typedef int (*step_fn)(struct turn *t, struct error *err);

enum { STEPS = 6 };

static const step_fn checked_first[STEPS] = { step_wait, step_read,
					      step_lower, step_keep,
					      step_accept, step_ask };
static const step_fn told_first[STEPS] = { step_keep, step_accept, step_wait,
					   step_read, step_lower, step_ask };

void turn_step(struct turn *t)
{
	const step_fn *steps = t->told_first ? told_first : checked_first;
	struct error err = ERROR_INIT;
	int r = 1;

	while (r > 0 && t->state == TURN_PREPARING) {
		assert(t->step < STEPS);
		r = steps[t->step++](t, &err);
	}
	if (r < 0)
		turn_fail(t, &err);
	/* Somebody came to wait for what was over already. */
	if (t->state == TURN_OVER)
		turn_wake(t);
}

bool turn_is_first(const struct turn *t)
{
	const struct turn *other;

	if (!t->ask.conversation[0])
		return true;
	TAILQ_FOREACH (other, &t->turns->all, next) {
		if (other == t)
			return true;
		if (other->state != TURN_OVER &&
		    strcmp(other->who.tenant, t->who.tenant) == 0 &&
		    strcmp(other->ask.conversation, t->ask.conversation) == 0)
			return false;
	}
	return true;
}

/* --------------------------------------------------------------------- begin */

static int read_request(struct turn *t, const struct turn_request *request,
			struct error *err)
{
	struct agent_applied agent = { .body = NULL };
	const struct json_object *body = request->body;
	struct core *core = t->turns->config.core;
	int r, applied;

	applied = agent_apply(core, &t->who, request->project, request->agent,
			      body, &agent, err);
	if (applied < 0)
		return applied;
	if (applied) {
		body = agent.body;
		(void)snprintf(t->agent, sizeof(t->agent), "%s/%s",
			       request->project ? request->project : "",
			       agent.name);
	}
	r = ask_read(core, &t->who, body, applied ? &agent : NULL, &t->ask,
		     err);
	if (applied)
		agent_applied_done(&agent);
	return r;
}

int turn_create(struct turns *turns, const struct principal *who,
		const struct turn_request *request, turn_fn done,
		void *userdata, char ret_id[ID_SIZE], struct error *err)
{
	struct turn *t;
	int r;

	r = turn_new(turns, who, &t, err);
	if (r < 0)
		return r;
	t->dialect = request->project ? DIALECT_FOUNDRY : DIALECT_OPENAI;
	(void)snprintf(t->request, sizeof(t->request), "%s", request->request);
	t->scope.request_id = t->request;
	if (trace_read(request->trace, &t->trace))
		t->scope.trace_id = t->trace.id;
	r = read_request(t, request, err);
	if (r >= 0)
		r = check_names(t, err);
	if (r < 0) {
		turn_free(t);
		return r;
	}
	t->told_first = t->ask.background ||
			(t->ask.stream && !turn_is_first(t));
	t->accepted = done;
	t->userdata = userdata;
	strcpy(ret_id, t->id);
	turn_kick(t);
	return 0;
}
