/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/json_write.h"
#include "turn/agent.h"
#include "turn/ask.h"

/*
 * What of a request goes into the response, and what on to the model.
 *
 * Members are shown as they were sent; what was not sent is shown as what
 * counts then.
 */

/** struct echo - A member of the response that repeats one of the request */
static const struct echo {
	const char *name;
	const char *fallback; /* JSON */
} echoes[] = {
	{ "background", "false" },
	{ "instructions", "null" },
	{ "max_output_tokens", "null" },
	{ "max_tool_calls", "null" },
	{ "model", "null" },
	{ "parallel_tool_calls", "true" },
	{ "previous_response_id", "null" },
	{ "prompt_cache_key", "null" },
	{ "safety_identifier", "null" },
	{ "service_tier", "null" },
	{ "store", "true" },
	{ "temperature", "1.0" },
	{ "tool_choice", "\"auto\"" },
	{ "tools", "[]" },
	{ "top_logprobs", "0" },
	{ "top_p", "1.0" },
	{ "truncation", "\"disabled\"" },
	{ "user", "null" },
	{ "metadata", "{}" },
};

/* Not a part of the response unless they were sent. */
static const char *const echoed_if_sent[] = {
	"agent_session_id",
	"include",
	"prompt_cache_retention",
};

/* What the model's server is told in the client's own words. */
static const char *const options[] = {
	"parallel_tool_calls", "prompt_cache_key", "reasoning",
	"safety_identifier",   "service_tier",	   "temperature",
	"text",		       "top_logprobs",	   "top_p",
	"user",		       "metadata",     "truncation",
};

static void write_conversation(const struct ask *ask, struct json_writer *w)
{
	if (!ask->conversation[0]) {
		json_write_null(w, "conversation");
		return;
	}
	json_write_object(w, "conversation");
	json_write_string(w, "id", ask->conversation);
	json_write_close(w);
}

static void write_reasoning(const struct json_object *sent,
			    struct json_writer *w)
{
	json_write_object(w, "reasoning");
	json_write_value(w, "effort", json_member(sent, "effort"));
	json_write_value(w, "summary", json_member(sent, "summary"));
	json_write_close(w);
}

static void write_text(const struct json_object *sent, struct json_writer *w)
{
	const struct json_object *format = json_member(sent, "format");
	const struct json_object *verbosity = json_member(sent, "verbosity");

	json_write_object(w, "text");
	if (format) {
		json_write_value(w, "format", format);
	} else {
		json_write_object(w, "format");
		json_write_string(w, "type", "text");
		json_write_close(w);
	}
	if (verbosity)
		json_write_value(w, "verbosity", verbosity);
	json_write_close(w);
}

static void write_agent(const struct agent_applied *agent,
			struct json_writer *w)
{
	char version[24];

	if (!agent) {
		json_write_null(w, "agent_reference");
		return;
	}
	(void)snprintf(version, sizeof(version), "%llu",
		       (unsigned long long)agent->version);
	json_write_object(w, "agent_reference");
	json_write_string(w, "type", "agent_reference");
	json_write_string(w, "name", agent->name);
	json_write_string(w, "version", version);
	json_write_close(w);
}

static void write_members(const struct json_object *body,
			  struct json_writer *w)
{
	for (size_t i = 0; i < sizeof(echoes) / sizeof(echoes[0]); i++) {
		const struct echo *echo = &echoes[i];
		const struct json_object *sent = json_member(body, echo->name);

		if (sent)
			json_write_value(w, echo->name, sent);
		else
			json_write_raw(w, echo->name, echo->fallback,
				       strlen(echo->fallback));
	}
	for (size_t i = 0;
	     i < sizeof(echoed_if_sent) / sizeof(echoed_if_sent[0]); i++) {
		const char *name = echoed_if_sent[i];
		const struct json_object *sent = json_member(body, name);

		if (sent)
			json_write_value(w, name, sent);
	}
}

static int take_text(struct buf *text, int r, char **ret, size_t *ret_size,
		     struct error *err)
{
	if (r == -EMSGSIZE)
		return error_set(err, ERR_TOO_LARGE,
				 "Instructions, tools and the like have more "
				 "than %d bytes together", ASK_ECHO_MAX);
	if (r >= 0) {
		*ret = buf_take(text, ret_size);
		r = *ret ? 0 : -ENOMEM;
	}
	return r < 0 ? error_set_errno(err, r, "Cannot take a request") : 0;
}

int ask_write_echo(const struct json_object *body,
		   const struct agent_applied *agent, struct ask *ask,
		   struct error *err)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(ASK_ECHO_MAX);
	struct json_writer w = JSON_WRITER_INIT(&text);

	json_write_object(&w, NULL);
	write_members(body, &w);
	write_conversation(ask, &w);
	write_reasoning(json_member(body, "reasoning"), &w);
	write_text(json_member(body, "text"), &w);
	write_agent(agent, &w);
	json_write_close(&w);
	return take_text(&text, json_write_end(&w), &ask->echo,
			 &ask->echo_size, err);
}

int ask_write_options(const struct json_object *body, struct ask *ask,
		      struct error *err)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(ASK_ECHO_MAX);
	struct json_writer w = JSON_WRITER_INIT(&text);

	json_write_object(&w, NULL);
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		const struct json_object *sent = json_member(body, options[i]);

		if (sent)
			json_write_value(&w, options[i], sent);
	}
	json_write_close(&w);
	return take_text(&text, json_write_end(&w), &ask->options,
			 &ask->options_size, err);
}
