/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "turn/upstream_private.h"

/*
 * Two rounds, one after the other: some words, then a call of a function. The
 * model's own choice is left to it, as in the agent loop: a model that must be
 * forced to call is of no use there.
 */

enum { ARGUMENTS_MAX = 4096 };

#define ITEM(text) \
	"{\"type\":\"message\",\"role\":\"user\",\"content\":[" \
	"{\"type\":\"input_text\",\"text\":\"" text "\"}]}"

static const struct {
	const char *item;
	const char *tools;
} rounds[UPSTREAM_PROBE_COUNT] = {
	[UPSTREAM_PROBE_TEXT] = {
		ITEM("Answer with the one word: ready"), NULL,
	},
	[UPSTREAM_PROBE_CALL] = {
		ITEM("Call the function report with {\\\"number\\\": 42}"),
		"[{\"type\":\"function\",\"name\":\"report\","
		"\"description\":\"Takes down a number.\",\"strict\":false,"
		"\"parameters\":{\"type\":\"object\",\"properties\":{"
		"\"number\":{\"type\":\"integer\"}},\"required\":[\"number\"],"
		"\"additionalProperties\":false}}]",
	},
};

/**
 * struct upstream_probe_job - One that is under way
 * @call:	Of this round
 * @arguments:	Of the first call in it
 * @called:	The function was called by its name
 */
struct upstream_probe_job {
	struct upstream *upstream;
	upstream_probe_fn done;
	void *userdata;
	struct upstream_probe result;
	enum upstream_probe_step step;
	struct upstream_call *call;
	usec_t began_usec;
	struct buf arguments;
	bool called;
	TAILQ_ENTRY(upstream_probe_job) in_upstream;
};

static struct upstream_probe_round *current(struct upstream_probe_job *job)
{
	return &job->result.rounds[job->step];
}

static usec_t elapsed(const struct upstream_probe_job *job)
{
	return usec_sub(clock_boot(job->upstream->config.clock),
			job->began_usec);
}

static void note_piece(struct upstream_probe_job *job)
{
	if (!current(job)->first_usec)
		current(job)->first_usec = elapsed(job);
}

static void on_text(void *userdata, const char *data, size_t size)
{
	struct upstream_probe_job *job = userdata;

	(void)data;
	(void)size;
	note_piece(job);
	if (job->step == UPSTREAM_PROBE_TEXT)
		current(job)->good = true;
}

static void on_other(void *userdata, const char *data, size_t size)
{
	(void)data;
	(void)size;
	note_piece(userdata);
}

static void on_call(void *userdata, unsigned index, const char *call_id,
		    const char *name)
{
	struct upstream_probe_job *job = userdata;

	(void)call_id;
	note_piece(job);
	if (index == 0)
		job->called = strcmp(name, "report") == 0;
}

static void on_arguments(void *userdata, unsigned index, const char *data,
			 size_t size)
{
	struct upstream_probe_job *job = userdata;

	if (index == 0)
		(void)buf_add(&job->arguments, data, size);
}

/* Whether the arguments are what a program could use. */
static bool arguments_are_good(const struct upstream_probe_job *job)
{
	_cleanup_(json_freep) struct json_object *value = NULL;

	return json_parse(buf_str(&job->arguments), job->arguments.length,
			  &value, NULL) == 0 &&
	       json_kind_of(json_member(value, "number")) == JSON_INT;
}

static void finish(struct upstream_probe_job *job)
{
	TAILQ_REMOVE(&job->upstream->probes, job, in_upstream);
	upstream_call_free(job->call);
	job->done(job->userdata, &job->result);
	buf_done(&job->arguments);
	free(job);
}

static void fail(struct upstream_probe_job *job, const struct error *err)
{
	current(job)->good = false;
	current(job)->error = *err;
	finish(job);
}

static int ask(struct upstream_probe_job *job, struct error *err);

static void judge(struct upstream_probe_job *job)
{
	struct error err = ERROR_INIT;

	if (job->step == UPSTREAM_PROBE_CALL)
		current(job)->good = job->called && arguments_are_good(job);
	if (!current(job)->good)
		error_set(&err, ERR_UPSTREAM, "%s",
			  job->step == UPSTREAM_PROBE_TEXT
				  ? "The model said nothing"
			  : job->called
				  ? "The model called the function with other "
				    "arguments than it was told"
				  : "The model did not call the function");
	if (error_is_set(&err)) {
		fail(job, &err);
	} else if (++job->step == UPSTREAM_PROBE_COUNT) {
		finish(job);
	} else if (ask(job, &err) < 0) {
		fail(job, &err);
	}
}

static void on_end(void *userdata, const struct upstream_end *end)
{
	struct upstream_probe_job *job = userdata;
	struct upstream_probe_round *round = current(job);

	round->whole_usec = elapsed(job);
	round->usage = end->usage;
	if (end->error)
		fail(job, end->error);
	else
		judge(job);
}

static const struct upstream_events events = {
	.text = on_text,
	.refusal = on_other,
	.reasoning = on_other,
	.encrypted = on_other,
	.call = on_call,
	.arguments = on_arguments,
	.end = on_end,
};

static int ask(struct upstream_probe_job *job, struct error *err)
{
	const struct upstream_item item = {
		.json = rounds[job->step].item,
		.size = strlen(rounds[job->step].item),
	};
	const struct upstream_round round = {
		.model = job->result.model.name,
		.items = &item,
		.item_count = 1,
		.tools = rounds[job->step].tools,
	};

	upstream_call_free(job->call);
	job->call = NULL;
	job->began_usec = clock_boot(job->upstream->config.clock);
	return upstream_ask(job->upstream, &round, &events, job, &job->call,
			    err);
}

int upstream_probe(struct upstream *u, const char *model, upstream_probe_fn done,
		   void *userdata, struct error *err)
{
	struct upstream_probe_job *job = calloc(1, sizeof(*job));
	int r;

	if (!job)
		return error_set_errno(err, -ENOMEM, "Cannot test a model");
	job->upstream = u;
	job->done = done;
	job->userdata = userdata;
	job->arguments = BUF_INIT(ARGUMENTS_MAX);
	r = upstream_model_find(u, model, &job->result.model, err);
	if (r >= 0)
		r = ask(job, err);
	if (r < 0) {
		free(job);
		return r;
	}
	TAILQ_INSERT_TAIL(&u->probes, job, in_upstream);
	return 0;
}

void upstream_end_probes(struct upstream *u)
{
	struct upstream_probe_job *job;
	struct error err = ERROR_INIT;

	error_set(&err, ERR_CAPACITY, "The daemon is ending");
	while ((job = TAILQ_FIRST(&u->probes)))
		fail(job, &err);
}
