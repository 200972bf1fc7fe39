/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json_write.h"
#include "turn/turn_priv.h"

/*
 * Rounds: asking the model, taking its answer apart as it comes, and what
 * follows from it.
 */

/* ------------------------------------------------------------------- asking */

static bool calls_left(const struct turn *t)
{
	return t->ask.max_calls == ASK_CALLS_UNLIMITED ||
	       t->calls < (uint64_t)t->ask.max_calls;
}

/* In the last round there is nothing left but to answer. */
static bool is_last_round(const struct turn *t)
{
	return t->round->number >= t->turns->rounds_max;
}

static bool offers_python(const struct turn *t)
{
	const struct tool_set *tools = &t->ask.tools;

	return tools->interpreter && tools->choice != CHOICE_NONE &&
	       calls_left(t) && !is_last_round(t);
}

/* The client's, with what is left of its limit of tokens. */
static int write_options(const struct turn *t, struct json_writer *w)
{
	json_write_object(w, NULL);
	json_write_members(w, t->ask.options, t->ask.options_size);
	if (t->ask.max_tokens > 0)
		json_write_int(w, "max_output_tokens",
			       t->ask.max_tokens -
				       (int64_t)t->usage.output_tokens);
	json_write_close(w);
	return json_write_end(w);
}

/* struct question - The texts of what a model is asked */
struct question {
	struct buf tools;
	struct buf choice;
	struct buf options;
	bool has_tools;
};

static void question_done(struct question *q)
{
	buf_done(&q->tools);
	buf_done(&q->choice);
	buf_done(&q->options);
}

static int question_write(const struct turn *t, struct question *q)
{
	struct json_writer tools, choice, options;
	bool python = offers_python(t);
	int r;

	q->tools = BUF_INIT(t->turns->context_max);
	q->choice = BUF_INIT(1024);
	q->options = BUF_INIT(2 * ASK_ECHO_MAX);
	tools = JSON_WRITER_INIT(&q->tools);
	choice = JSON_WRITER_INIT(&q->choice);
	options = JSON_WRITER_INIT(&q->options);
	/* What must not be called is not offered: that is sure. */
	q->has_tools = tool_set_write(&t->ask.tools, python, &tools) > 0 &&
		       t->ask.tools.choice != CHOICE_NONE && !is_last_round(t);
	tool_set_write_choice(&t->ask.tools, python, t->round->number == 1,
			      &choice);
	r = json_write_end(&tools);
	if (r >= 0)
		r = json_write_end(&choice);
	return r < 0 ? r : write_options(t, &options);
}

static const struct upstream_events events;

int turn_ask(struct turn *t, struct error *err)
{
	_cleanup_(question_done) struct question q = { .has_tools = false };
	struct upstream_round round = {
		.model = t->ask.model,
		.instructions = t->ask.instructions,
		.items = t->context.items,
		.item_count = t->context.count,
		.trace = trace_parent(&t->trace),
		.encrypted = t->ask.include & ITEM_INCLUDE_ENCRYPTED,
	};
	int r;

	if (!t->round)
		t->round = calloc(1, sizeof(*t->round));
	if (!t->round)
		return error_set_errno(err, -ENOMEM, "Cannot ask the model");
	t->round->number++;
	r = question_write(t, &q);
	if (r < 0)
		return error_set_errno(err, r, "Cannot ask the model");
	if (q.has_tools) {
		round.tools = buf_str(&q.tools);
		round.tool_choice = buf_str(&q.choice);
	}
	round.options = buf_str(&q.options);
	return upstream_ask(t->turns->upstream, &round, &events, t, &t->call,
			    err);
}

/* -------------------------------------------------------------- what comes back */

static void part_done(struct part *part)
{
	buf_done(&part->data);
	buf_done(&part->output);
	buf_done(&part->encrypted);
}

static void clear_parts(struct round *round)
{
	for (size_t i = 0; i < round->count; i++)
		part_done(&round->parts[i]);
	free(round->parts);
	*round = (struct round){ .number = round->number };
}

void turn_round_free(struct turn *t)
{
	if (!t->round)
		return;
	clear_parts(t->round);
	free(take_ptr(t->round));
}

static struct part *last_part(struct round *round)
{
	return round->count > 0 ? &round->parts[round->count - 1] : NULL;
}

static void fail_memory(struct turn *t, int r)
{
	struct error err = ERROR_INIT;

	error_set_errno(&err, r, "Cannot take the model's answer");
	turn_fail(t, &err);
}

static void fail_parts(struct turn *t)
{
	struct error err = ERROR_INIT;

	error_set(&err, ERR_UPSTREAM,
		  "The model's answer has more than %d parts: texts, thoughts "
		  "and calls of functions", TURN_PARTS_MAX);
	turn_fail(t, &err);
}

static struct part *add_part(struct turn *t, enum part_kind kind)
{
	struct round *round = t->round;
	struct part *part = last_part(round), *parts;

	if (part)
		part->whole = true;
	if (round->count == TURN_PARTS_MAX) {
		fail_parts(t);
		return NULL;
	}
	parts = reallocarray(round->parts, round->count + 1, sizeof(*parts));
	if (!parts) {
		fail_memory(t, -ENOMEM);
		return NULL;
	}
	round->parts = parts;
	part = &parts[round->count++];
	*part = (struct part){
		.kind = kind,
		.data = BUF_INIT(t->turns->output_max),
		.output = BUF_INIT(4 * t->turns->result_max + (64 << 10)),
		.encrypted = BUF_INIT(t->turns->output_max),
	};
	return part;
}

/* The answer has grown over its limit: it ends here, as at a limit of tokens. */
static void cut(struct turn *t)
{
	upstream_call_free(take_ptr(t->call));
	last_part(t->round)->whole = true;
	t->round->ended = true;
	t->round->finish = UPSTREAM_LENGTH;
}

static void add_data(struct turn *t, struct part *part, const char *data,
		     size_t size)
{
	int r;

	if (size > t->turns->output_max - t->output_bytes) {
		cut(t);
	} else {
		t->output_bytes += size;
		r = buf_add(&part->data, data, size);
		if (r < 0) {
			fail_memory(t, r);
			return;
		}
	}
	turn_show(t);
}

static void add_words(struct turn *t, enum part_kind kind, const char *data,
		      size_t size)
{
	struct part *part = last_part(t->round);

	if (size == 0)
		return;
	if (!part || part->kind != kind || part->whole)
		part = add_part(t, kind);
	if (part)
		add_data(t, part, data, size);
}

static void on_text(void *userdata, const char *data, size_t size)
{
	add_words(userdata, PART_TEXT, data, size);
}

static void on_refusal(void *userdata, const char *data, size_t size)
{
	add_words(userdata, PART_REFUSAL, data, size);
}

/* What a model thinks is its own unless it was asked for. */
static void on_reasoning(void *userdata, const char *data, size_t size)
{
	struct turn *t = userdata;

	if (t->ask.summary)
		add_words(t, PART_THOUGHT, data, size);
}

static void on_encrypted(void *userdata, const char *data, size_t size)
{
	struct turn *t = userdata;
	struct part *part = last_part(t->round);
	int r;

	if (!(t->ask.include & ITEM_INCLUDE_ENCRYPTED) || size == 0)
		return;
	if (!part || part->kind != PART_THOUGHT || part->whole)
		part = add_part(t, PART_THOUGHT);
	if (!part)
		return;
	part->whole = true;
	if (size > t->turns->output_max - t->output_bytes) {
		cut(t);
	} else {
		t->output_bytes += size;
		r = buf_add(&part->encrypted, data, size);
		if (r < 0) {
			fail_memory(t, r);
			return;
		}
	}
	turn_show(t);
}

static enum part_kind kind_of_call(struct turn *t, const char *name)
{
	const struct tool_set *tools = &t->ask.tools;
	const struct tool_function *function;

	if (offers_python(t) && strcmp(name, tools->python) == 0)
		return PART_PYTHON;
	function = tool_set_function(tools, name);
	return function && function->allowed &&
			       tools->choice != CHOICE_NONE && !is_last_round(t)
		       ? PART_FUNCTION
		       : PART_IGNORED;
}

/* Models call what they were not offered; then they are told. */
static void refuse_call(struct turn *t, struct part *part)
{
	const char *python = t->ask.tools.python;

	if (t->ask.tools.interpreter && strcmp(part->name, python) == 0)
		(void)buf_printf(&part->output,
				 "Nothing was run: no more calls of '%s' are "
				 "allowed. Answer with what you have.\n",
				 python);
	else
		(void)buf_printf(&part->output,
				 "There is no function '%s' that you may "
				 "call.\n", part->name);
}

static void on_call(void *userdata, unsigned index, const char *call_id,
		    const char *name)
{
	struct turn *t = userdata;
	struct part *part;

	(void)index;
	part = add_part(t, kind_of_call(t, name));
	if (!part)
		return;
	(void)snprintf(part->call_id, sizeof(part->call_id), "%s", call_id);
	(void)snprintf(part->name, sizeof(part->name), "%s", name);
	if (part->kind == PART_PYTHON)
		t->calls++;
	else if (part->kind == PART_IGNORED)
		refuse_call(t, part);
	turn_show(t);
}

static void on_arguments(void *userdata, unsigned index, const char *data,
			 size_t size)
{
	struct turn *t = userdata;

	(void)index;
	if (last_part(t->round) && size > 0)
		add_data(t, last_part(t->round), data, size);
}

/* Its server found it too long, and nothing has been said yet. */
static bool ask_less(struct turn *t, const struct error *failure)
{
	struct error err = ERROR_INIT;

	if (strcmp(failure->reason, "context_length_exceeded") != 0 ||
	    t->round->count > 0 || !context_halve(&t->context))
		return false;
	upstream_call_free(take_ptr(t->call));
	t->round->number--;
	if (turn_ask(t, &err) < 0)
		turn_fail(t, &err);
	return true;
}

static void on_end(void *userdata, const struct upstream_end *end)
{
	struct turn *t = userdata;
	struct part *part = last_part(t->round);
	struct error err;

	t->usage.input_tokens += end->usage.input_tokens;
	t->usage.cached_tokens += end->usage.cached_tokens;
	t->usage.output_tokens += end->usage.output_tokens;
	t->usage.reasoning_tokens += end->usage.reasoning_tokens;
	if (end->finish == UPSTREAM_FAILED) {
		err = *end->error;
		if (!ask_less(t, &err))
			turn_fail(t, &err);
		return;
	}
	upstream_call_free(take_ptr(t->call));
	if (part)
		part->whole = true;
	t->round->ended = true;
	t->round->finish = end->finish;
	turn_show(t);
}

static const struct upstream_events events = {
	.text = on_text,
	.refusal = on_refusal,
	.reasoning = on_reasoning,
	.encrypted = on_encrypted,
	.call = on_call,
	.arguments = on_arguments,
	.end = on_end,
};

/* ----------------------------------------------------------------- what follows */

static bool is_call(const struct part *part)
{
	return part->kind == PART_PYTHON || part->kind == PART_FUNCTION ||
	       part->kind == PART_IGNORED;
}

static int tell_part(struct turn *t, const struct part *part)
{
	const struct out_item *item =
		part->kind == PART_IGNORED ? NULL : &t->items[part->item];
	struct context *c = &t->context;

	switch (part->kind) {
	case PART_TEXT:
	case PART_REFUSAL:
		return context_add_text(c, buf_str(&item->text),
					item->text.length);
	case PART_THOUGHT:
		return context_add_thought(c, &item->text, &item->encrypted);
	case PART_PYTHON:
		return context_add_code(c, part->call_id, buf_str(&item->text),
					item->text.length);
	default:
		/* What its arguments were does not matter to anybody. */
		return context_add_call(c, part->call_id, part->name, "{}", 2);
	}
}

/* The model's answer and what came of it join what it is asked next. */
static int tell_all(struct turn *t)
{
	struct round *round = t->round;
	int r = 0;

	for (size_t i = 0; i < round->count && r >= 0; i++)
		r = tell_part(t, &round->parts[i]);
	for (size_t i = 0; i < round->count && r >= 0; i++)
		if (is_call(&round->parts[i]))
			r = context_add_output(
				&t->context, round->parts[i].call_id,
				buf_str(&round->parts[i].output),
				round->parts[i].output.length);
	return r;
}

/* Whether nothing is to be asked any more, and what it has come to then. */
static bool is_over(struct turn *t, const char **ret_why)
{
	const struct round *round = t->round;
	bool calls = false;

	*ret_why = NULL;
	if (round->finish == UPSTREAM_LENGTH)
		*ret_why = "max_output_tokens";
	else if (round->finish == UPSTREAM_FILTER)
		*ret_why = "content_filter";
	if (*ret_why)
		return true;
	for (size_t i = 0; i < round->count; i++) {
		calls |= is_call(&round->parts[i]);
		/* That one is the client's to answer. */
		if (round->parts[i].kind == PART_FUNCTION)
			return true;
	}
	if (calls && t->ask.max_tokens > 0 &&
	    (uint64_t)t->ask.max_tokens <= t->usage.output_tokens)
		*ret_why = "max_output_tokens";
	return !calls || *ret_why;
}

int turn_round_over(struct turn *t, struct error *err)
{
	const char *why;
	int r;

	if (is_over(t, &why)) {
		turn_finish(t, why ? TURN_INCOMPLETE : TURN_COMPLETED, why);
		return 0;
	}
	if (is_last_round(t))
		return error_set(err, ERR_UPSTREAM,
				 "The model has called functions %u times and "
				 "come to no answer", t->round->number);
	r = context_failed(&t->context, tell_all(t), err);
	if (r < 0)
		return r;
	clear_parts(t->round);
	return turn_ask(t, err);
}
