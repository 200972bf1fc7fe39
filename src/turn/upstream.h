/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TURN_UPSTREAM_H
#define TURN_UPSTREAM_H

/*
 * The models that are configured, and asking them.
 *
 * A model is asked in rounds: the whole context goes there, an answer comes
 * back piece by piece. What is asked is told in the words of the Responses API,
 * whichever of the two protocols the model's server speaks: items are messages,
 * function_call, function_call_output and reasoning; tools are functions.
 *
 * Only the addresses in the settings are spoken to: no redirect is followed.
 * Runs on the loop; nothing blocks.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/histogram.h"

struct settings;
struct upstream;
struct upstream_call;

struct upstream_config {
	sd_event *event;
	struct clock *clock;
	const struct settings *settings;
};

/**
 * struct upstream_model - One that is configured; strings live as long as it
 * @url, @protocol, @upstream_name, @has_key, @under_way: For the operator only
 */
struct upstream_model {
	const char *name;
	const char *owner;
	int64_t created_at;
	const char *url;
	const char *protocol;
	const char *upstream_name;
	bool has_key;
	unsigned under_way;
};

/** struct upstream_item - An item of the context: JSON text of an object */
struct upstream_item {
	const char *json;
	size_t size;
};

/**
 * struct upstream_round - What a model is asked; copied by upstream_ask()
 * @instructions: System text, or NULL
 * @tools:	JSON array of function tools, or NULL: none
 * @tool_choice: JSON as in a request of the Responses API, of functions only;
 *		NULL: the model's own choice
 * @options:	JSON object with those of max_output_tokens, temperature, top_p,
 *		top_logprobs, parallel_tool_calls, reasoning, text, user,
 *		metadata, service_tier… that the client gave; NULL: none
 * @trace:	trace_parent() of the request that it is for
 * @encrypted:	What it thinks is wanted in its server's encrypted form, too
 */
struct upstream_round {
	const char *model;
	const char *instructions;
	const struct upstream_item *items;
	size_t item_count;
	const char *tools;
	const char *tool_choice;
	const char *options;
	const char *trace;
	bool encrypted;
};

enum upstream_finish {
	UPSTREAM_STOP,   /* said all, or wants its calls answered */
	UPSTREAM_LENGTH, /* cut at the limit of tokens */
	UPSTREAM_FILTER, /* cut by the server's content filter */
	UPSTREAM_FAILED,

	UPSTREAM_FINISH_COUNT,
};

struct upstream_usage {
	uint64_t input_tokens;
	uint64_t cached_tokens;
	uint64_t output_tokens;
	uint64_t reasoning_tokens;
};

/**
 * struct upstream_end - How a round ended
 * @usage:	As the server reported it; zeros if it did not
 * @error:	UPSTREAM_FAILED: what went wrong, with the server's own status
 *		and words; else NULL
 */
struct upstream_end {
	enum upstream_finish finish;
	struct upstream_usage usage;
	const struct error *error;
};

/**
 * struct upstream_events - What comes back
 *
 * Pieces end at character borders and are valid UTF-8. A call's arguments
 * are complete when the next call begins or the round ends; calls do not
 * interleave, and their index counts from 0. Nothing is called from inside
 * upstream_ask(). @encrypted ends a piece of thinking, of which nothing else may
 * have come. @end comes exactly once and last, unless the call is freed
 * before; the call may be freed from inside any of these.
 */
struct upstream_events {
	void (*text)(void *userdata, const char *data, size_t size);
	void (*refusal)(void *userdata, const char *data, size_t size);
	void (*reasoning)(void *userdata, const char *data, size_t size);
	void (*encrypted)(void *userdata, const char *data, size_t size);
	void (*call)(void *userdata, unsigned index, const char *call_id,
		     const char *name);
	void (*arguments)(void *userdata, unsigned index, const char *data,
			  size_t size);
	void (*end)(void *userdata, const struct upstream_end *end);
};

/** upstream_check_settings() - Whether sections "model.…" make sense
 *
 * Files are read by upstream_new() and upstream_check_files() only.
 */
int upstream_check_settings(const struct settings *settings, struct error *err);

/**
 * upstream_check_files() - Whether files of keys and certificates can be used
 *
 * Credentials of systemd are looked at where there are any.
 */
int upstream_check_files(const struct settings *settings, struct error *err);

/** upstream_new() - Read the settings of section "model" and their keys */
int upstream_new(const struct upstream_config *config, struct upstream **ret,
		 struct error *err);

/**
 * upstream_reload() - Read the files of keys anew
 * @err:	The first failure, for the operator
 *
 * The same files, and no other setting. Calls that are under way go on with the
 * key that they began with, and so does a model whose file cannot be used.
 */
int upstream_reload(struct upstream *upstream, struct error *err);

/** upstream_free() - All calls have been freed; takes NULL */
void upstream_free(struct upstream *upstream);

/** upstream_model_find() - ERR_NOT_FOUND "model_not_found" names those there are */
int upstream_model_find(const struct upstream *upstream, const char *name,
			struct upstream_model *ret, struct error *err);

void upstream_each_model(const struct upstream *upstream,
			 void (*each)(void *userdata,
				      const struct upstream_model *model),
			 void *userdata);

/**
 * upstream_ask() - Begin a round
 *
 * Repeats by itself, with back-off, what failed before any piece had come and
 * may be repeated; gives up at the setting's deadline.
 */
int upstream_ask(struct upstream *upstream, const struct upstream_round *round,
		 const struct upstream_events *events, void *userdata,
		 struct upstream_call **ret, struct error *err);

/** enum upstream_probe_step - What a model is asked for when it is tested */
enum upstream_probe_step {
	UPSTREAM_PROBE_TEXT, /* some words */
	UPSTREAM_PROBE_CALL, /* a call of a function, by its own choice */

	UPSTREAM_PROBE_COUNT,
};

/**
 * struct upstream_probe_round - How it went
 * @error:	Why it is not good; not set in a round that was not tried
 */
struct upstream_probe_round {
	bool good;
	usec_t first_usec;
	usec_t whole_usec;
	struct upstream_usage usage;
	struct error error;
};

struct upstream_probe {
	struct upstream_model model;
	struct upstream_probe_round rounds[UPSTREAM_PROBE_COUNT];
};

typedef void (*upstream_probe_fn)(void *userdata,
				  const struct upstream_probe *probe);

/**
 * upstream_probe() - See whether a model answers, and calls functions
 *
 * @done is called once, by upstream_free() at the latest.
 */
int upstream_probe(struct upstream *upstream, const char *model,
		   upstream_probe_fn done, void *userdata, struct error *err);

/** upstream_metrics() - Every figure of models once, in Prometheus' terms */
void upstream_metrics(const struct upstream *upstream, figure_fn emit,
		      void *userdata);

/** upstream_call_free() - Cancel it if it is not over; takes NULL */
void upstream_call_free(struct upstream_call *call);

#endif
