/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "turn/turn_priv.h"

/*
 * From the parts of an answer to items and events.
 *
 * One part after the other is shown, and each to its end: an item is done before
 * the next one is added. So what comes behind a call of the interpreter waits
 * until its code has run.
 */

int turn_event(struct turn *t, enum event_kind kind, size_t item, size_t value)
{
	const struct event event = { kind, item, value };
	int r;

	r = event_log_add(&t->log, &event);
	if (r < 0)
		return r;
	t->events++;
	turn_wake(t);
	return 0;
}

/* --------------------------------------------------------------------- items */

/* Opens the item of a part, and tells of it. */
static int open_item(struct turn *t, struct part *part, enum out_kind kind)
{
	struct out_item *items, *item;
	int r;

	items = reallocarray(t->items, t->item_count + 1, sizeof(*items));
	if (!items)
		return -ENOMEM;
	t->items = items;
	item = &items[t->item_count];
	r = out_item_init(item, kind, kind == OUT_CODE ? TURN_CODE_MAX
						       : t->turns->output_max);
	if (r < 0)
		return r;
	strcpy(item->call_id, part->call_id);
	strcpy(item->name, part->name);
	if (kind == OUT_CODE)
		strcpy(item->container, t->box.id);
	part->item = t->item_count++;
	part->stage = PART_OPEN;
	return turn_event(t, EVENT_ITEM_ADDED, part->item, 0);
}

static struct out_item *item_of(struct turn *t, const struct part *part)
{
	return &t->items[part->item];
}

static int close_item(struct turn *t, struct part *part,
		      enum out_status status)
{
	item_of(t, part)->status = status;
	part->stage = PART_DONE;
	return turn_event(t, EVENT_ITEM_DONE, part->item, 0);
}

/* The answer broke off in this part. */
static bool is_cut(const struct turn *t, const struct part *part)
{
	const struct round *round = t->round;

	return round->ended && round->finish != UPSTREAM_STOP &&
	       part == &round->parts[round->count - 1];
}

/* Moves what has come into the item, and tells how much it is. */
static int show_delta(struct turn *t, struct part *part, enum event_kind kind)
{
	size_t size = part->data.length;
	int r;

	if (size == 0)
		return 0;
	r = buf_add(&item_of(t, part)->text, part->data.data, size);
	if (r < 0)
		return r;
	buf_consume(&part->data, size);
	return turn_event(t, kind, part->item, size);
}

/* --------------------------------------------------------------------- texts */

static const struct {
	enum out_kind item;
	enum event_kind delta;
	enum event_kind done;
} words[] = {
	[PART_TEXT] = { OUT_MESSAGE, EVENT_TEXT_DELTA, EVENT_TEXT_DONE },
	[PART_REFUSAL] = { OUT_REFUSAL, EVENT_REFUSAL_DELTA,
			   EVENT_REFUSAL_DONE },
};

/* Whether this is what the response ends with. */
static bool is_last_word(const struct turn *t, const struct part *part)
{
	const struct round *round = t->round;

	if (!round->ended || part != &round->parts[round->count - 1])
		return false;
	for (size_t i = 0; i < round->count; i++)
		if (round->parts[i].kind >= PART_PYTHON)
			return false;
	return true;
}

static int close_words(struct turn *t, struct part *part)
{
	int r = 0;

	if (part->kind == PART_TEXT)
		r = turn_cite(t, part->item, is_last_word(t, part));
	if (r >= 0)
		r = turn_event(t, words[part->kind].done, part->item, 0);
	if (r >= 0)
		r = turn_event(t, EVENT_PART_DONE, part->item, 0);
	return r < 0 ? r
		     : close_item(t, part, is_cut(t, part) ? OUT_INCOMPLETE
							   : OUT_COMPLETED);
}

static int show_words(struct turn *t, struct part *part, struct error *err)
{
	int r = 0;

	(void)err;
	if (part->stage == PART_NEW) {
		r = open_item(t, part, words[part->kind].item);
		if (r >= 0)
			r = turn_event(t, EVENT_PART_ADDED, part->item, 0);
	}
	if (r >= 0)
		r = show_delta(t, part, words[part->kind].delta);
	return r < 0 || !part->whole ? r : close_words(t, part);
}

/* ------------------------------------------------------------------- thoughts */

static int close_thought(struct turn *t, struct part *part)
{
	struct out_item *item = item_of(t, part);
	int r = 0;

	if (item->text.length > 0)
		r = turn_event(t, EVENT_SUMMARY_TEXT_DONE, part->item, 0);
	if (r >= 0 && item->text.length > 0)
		r = turn_event(t, EVENT_SUMMARY_DONE, part->item, 0);
	if (r >= 0)
		r = buf_add(&item->encrypted, part->encrypted.data,
			    part->encrypted.length);
	return r < 0 ? r : close_item(t, part, OUT_COMPLETED);
}

static int show_thought(struct turn *t, struct part *part, struct error *err)
{
	int r = 0;

	(void)err;
	if (part->stage == PART_NEW)
		r = open_item(t, part, OUT_REASONING);
	if (r >= 0 && part->data.length > 0 &&
	    item_of(t, part)->text.length == 0)
		r = turn_event(t, EVENT_SUMMARY_ADDED, part->item, 0);
	if (r >= 0)
		r = show_delta(t, part, EVENT_SUMMARY_DELTA);
	return r < 0 || !part->whole ? r : close_thought(t, part);
}

/* --------------------------------------------------------- the client's functions */

/*
 * Models call what takes nothing with no arguments at all, and clients parse
 * what they are given: the hosted service says "{}" then. One that broke off
 * stays what has come of it.
 */
static int mend_arguments(struct turn *t, struct part *part)
{
	int r;

	if (item_of(t, part)->text.length > 0 || is_cut(t, part))
		return 0;
	r = buf_add_str(&part->data, "{}");
	return r < 0 ? r : show_delta(t, part, EVENT_ARGUMENTS_DELTA);
}

static int show_function(struct turn *t, struct part *part, struct error *err)
{
	int r = 0;

	(void)err;
	if (part->stage == PART_NEW)
		r = open_item(t, part, OUT_FUNCTION);
	if (r >= 0)
		r = show_delta(t, part, EVENT_ARGUMENTS_DELTA);
	if (r < 0 || !part->whole)
		return r;
	r = mend_arguments(t, part);
	if (r >= 0)
		r = turn_event(t, EVENT_ARGUMENTS_DONE, part->item, 0);
	if (r < 0)
		return r;
	/* Whether it broke off is known only at the end of the answer. */
	return close_item(t, part, is_cut(t, part) ? OUT_INCOMPLETE
						   : OUT_COMPLETED);
}

/* ------------------------------------------------------------- the interpreter */

static int open_code(struct turn *t, struct part *part, struct error *err)
{
	int r;

	r = turn_box_open(t, err);
	if (r <= 0)
		return r;
	r = open_item(t, part, OUT_CODE);
	return r < 0 ? r
		     : turn_event(t, EVENT_CODE_IN_PROGRESS, part->item, 0);
}

/* @end: nothing more comes; Return: enum code_end then */
static int show_code(struct turn *t, struct part *part, bool end)
{
	struct out_item *item = item_of(t, part);
	size_t before = item->text.length;
	const char *all = buf_str(&part->data);
	int r, how;

	if (part->code_over)
		return CODE_CUT;
	how = end ? code_arguments_end(&part->code, all, part->data.length,
				       &item->text)
		  : code_arguments_feed(&part->code, all, part->data.length,
					&item->text);
	if (how == -EMSGSIZE) {
		part->code_over = true;
		how = CODE_CUT;
	}
	if (how < 0 || item->text.length == before)
		return how;
	r = turn_event(t, EVENT_CODE_DELTA, part->item,
		       item->text.length - before);
	return r < 0 ? r : how;
}

/* Nothing of an answer that broke off is run, nor code that did. */
static int refuse_code(struct turn *t, struct part *part)
{
	int r;

	r = part->code_over
		    ? buf_printf(&part->output,
				 "Nothing was run: the code is longer than %d "
				 "bytes. Send it in several calls, and leave "
				 "data to files.\n",
				 TURN_CODE_MAX)
		    : buf_add_str(&part->output,
				  "Nothing was run: the arguments of this call "
				  "broke off or had no 'code'. Send the whole "
				  "call again.\n");
	return r < 0 ? r : close_item(t, part, OUT_INCOMPLETE);
}

static int end_code(struct turn *t, struct part *part, struct error *err)
{
	int r, how;

	how = show_code(t, part, true);
	r = how < 0 ? how : turn_event(t, EVENT_CODE_DONE, part->item, 0);
	if (r < 0)
		return r;
	part->stage = PART_READY;
	if (how == CODE_CUT || t->round->finish != UPSTREAM_STOP ||
	    item_of(t, part)->text.length == 0)
		return refuse_code(t, part);
	r = turn_event(t, EVENT_CODE_INTERPRETING, part->item, 0);
	if (r < 0)
		return r;
	part->stage = PART_RUNNING;
	return turn_run(t, part, err);
}

static int show_python(struct turn *t, struct part *part, struct error *err)
{
	int r = 0;

	if (part->stage == PART_NEW) {
		r = open_code(t, part, err);
		if (r < 0 || part->stage == PART_NEW)
			return r;
	}
	if (part->stage != PART_OPEN)
		return 0;
	/* It may still turn out to have broken off. */
	if (!part->whole || !t->round->ended) {
		r = show_code(t, part, false);
		return r < 0 ? r : 0;
	}
	return end_code(t, part, err);
}

/* ----------------------------------------------------------------------- all */

static int show_ignored(struct turn *t, struct part *part, struct error *err)
{
	(void)t;
	(void)err;
	buf_clear(&part->data);
	if (part->whole)
		part->stage = PART_DONE;
	return 0;
}

static int (*const shows[])(struct turn *t, struct part *part,
			    struct error *err) = {
	[PART_TEXT] = show_words,
	[PART_REFUSAL] = show_words,
	[PART_THOUGHT] = show_thought,
	[PART_PYTHON] = show_python,
	[PART_FUNCTION] = show_function,
	[PART_IGNORED] = show_ignored,
};

/* Return: 1 if all of the answer has been shown */
static int show_parts(struct turn *t, struct error *err)
{
	struct round *round = t->round;
	int r;

	while (round->at < round->count) {
		struct part *part = &round->parts[round->at];

		r = shows[part->kind](t, part, err);
		if (r < 0)
			return r;
		if (part->stage != PART_DONE)
			return 0;
		round->at++;
	}
	return round->ended;
}

void turn_show(struct turn *t)
{
	struct error err = ERROR_INIT;
	int r;

	if (t->state != TURN_ANSWERING)
		return;
	r = show_parts(t, &err);
	if (r > 0)
		r = turn_round_over(t, &err);
	if (r < 0) {
		error_set_errno(&err, r, "Cannot show an answer");
		turn_fail(t, &err);
	}
}
