/* SPDX-License-Identifier: Apache-2.0 */
/* How models answered, in figures. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "turn/upstream_private.h"

enum { LABELS_MAX = 512 };

#define MSEC(n) ((n) * USEC_PER_MSEC)

static const struct histogram_scale scale = {
	.count = 10,
	.bounds = { MSEC(100), MSEC(250), MSEC(500), MSEC(1000), MSEC(2500),
		    MSEC(5000), MSEC(10000), MSEC(30000), MSEC(60000),
		    MSEC(180000) },
};

static const char *const finish_names[] = {
	[UPSTREAM_STOP] = "stop",
	[UPSTREAM_LENGTH] = "length",
	[UPSTREAM_FILTER] = "filter",
	[UPSTREAM_FAILED] = "failed",
};
static_assert(sizeof(finish_names) / sizeof(finish_names[0]) ==
		      UPSTREAM_FINISH_COUNT,
	      "finish_names[] doesn't match enum upstream_finish");

void upstream_count_end(struct upstream_target *t,
			const struct upstream_end *end, usec_t began_usec,
			usec_t first_usec, usec_t now_usec)
{
	struct upstream_counts *c = &t->counts;

	c->ended[end->finish]++;
	c->input_tokens += end->usage.input_tokens;
	c->output_tokens += end->usage.output_tokens;
	histogram_add(&c->whole, &scale, usec_sub(now_usec, began_usec));
	if (first_usec)
		histogram_add(&c->first, &scale,
			      usec_sub(first_usec, began_usec));
}

struct emitter {
	figure_fn emit;
	void *userdata;
	const struct upstream *upstream;
};

/* Names are the settings', and may have what a label must not. */
static void add_label(char labels[LABELS_MAX], const char *key,
		      const char *value)
{
	size_t length = strlen(labels);

	length += (size_t)snprintf(labels + length, LABELS_MAX - length,
				   "%s%s=\"", length ? "," : "", key);
	for (; *value && length < LABELS_MAX - 4; value++) {
		if (*value == '"' || *value == '\\')
			labels[length++] = '\\';
		labels[length++] = *value;
	}
	labels[length++] = '"';
	labels[length] = '\0';
}

static void emit_ended(const struct emitter *e)
{
	static const struct family ended = {
		"cupola_model_answers_total", "counter",
		"Answers of models that ended",
	};
	const struct upstream_targets *targets = &e->upstream->targets;
	char labels[LABELS_MAX];
	size_t i;
	int f;

	for (i = 0; i < targets->count; i++)
		for (f = 0; f < UPSTREAM_FINISH_COUNT; f++) {
			labels[0] = '\0';
			add_label(labels, "model", targets->list[i].model.name);
			add_label(labels, "finish", finish_names[f]);
			e->emit(e->userdata, &ended, "", labels,
				(double)targets->list[i].counts.ended[f]);
		}
}

static double repeated_of(const struct upstream_target *t)
{
	return (double)t->counts.repeated;
}

static double calls_of(const struct upstream_target *t)
{
	return t->calls;
}

static double input_of(const struct upstream_target *t)
{
	return (double)t->counts.input_tokens;
}

static double output_of(const struct upstream_target *t)
{
	return (double)t->counts.output_tokens;
}

static const struct {
	struct family family;
	double (*of)(const struct upstream_target *t);
} figures[] = {
	{ { "cupola_model_answers", "gauge", "Answers of models under way" },
	  calls_of },
	{ { "cupola_model_repetitions_total", "counter",
	    "Requests to models that were repeated" }, repeated_of },
	{ { "cupola_model_input_tokens_total", "counter",
	    "Tokens that models read" }, input_of },
	{ { "cupola_model_output_tokens_total", "counter",
	    "Tokens that models wrote" }, output_of },
};

static const struct histogram *first_of(const struct upstream_target *t)
{
	return &t->counts.first;
}

static const struct histogram *whole_of(const struct upstream_target *t)
{
	return &t->counts.whole;
}

static const struct {
	struct family family;
	const struct histogram *(*of)(const struct upstream_target *t);
} times[] = {
	{ { "cupola_model_first_piece_seconds", "histogram",
	    "Time until the first piece of an answer" }, first_of },
	{ { "cupola_model_answer_seconds", "histogram",
	    "Time until the end of an answer" }, whole_of },
};

static void emit_of_model(const struct emitter *e,
			  const struct upstream_target *t, size_t figure)
{
	char labels[LABELS_MAX] = "";

	add_label(labels, "model", t->model.name);
	e->emit(e->userdata, &figures[figure].family, "", labels,
		figures[figure].of(t));
}

static void emit_times(const struct emitter *e,
		       const struct upstream_target *t, size_t which)
{
	char labels[LABELS_MAX] = "";

	add_label(labels, "model", t->model.name);
	histogram_emit(times[which].of(t), &scale, &times[which].family,
		       labels, e->emit, e->userdata);
}

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

void upstream_metrics(const struct upstream *u, figure_fn emit,
		      void *userdata)
{
	const struct emitter e = { emit, userdata, u };
	const struct upstream_targets *all = &u->targets;
	size_t f, i;

	for (f = 0; f < COUNT(figures); f++)
		for (i = 0; i < all->count; i++)
			emit_of_model(&e, &all->list[i], f);
	emit_ended(&e);
	for (f = 0; f < COUNT(times); f++)
		for (i = 0; i < all->count; i++)
			emit_times(&e, &all->list[i], f);
}
