/* SPDX-License-Identifier: Apache-2.0 */
#include "turn/upstream_request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "turn/upstream_json.h"

static const struct {
	const char *type;
	enum upstream_said said;
} types[] = {
	{ "message", UPSTREAM_SAID_MESSAGE },
	{ "", UPSTREAM_SAID_MESSAGE }, /* the easy form has no type */
	{ "function_call", UPSTREAM_SAID_CALL },
	{ "function_call_output", UPSTREAM_SAID_RESULT },
	{ "reasoning", UPSTREAM_SAID_REASONING },
};

static enum upstream_said said_of(const struct json_object *item)
{
	const char *type = upstream_json_text(item, "type");
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strcmp(types[i].type, type) == 0)
			return types[i].said;
	return UPSTREAM_SAID_OTHER;
}

static int by_call_id(const void *a, const void *b)
{
	const struct upstream_entry *const *x = a, *const *y = b;

	return strcmp((*x)->call_id, (*y)->call_id);
}

const struct upstream_entry *
upstream_context_result(const struct upstream_context *c, const char *call_id)
{
	const struct upstream_entry wanted = { .call_id = call_id };
	const struct upstream_entry *key = &wanted;
	const struct upstream_entry **found =
		bsearch(&key, c->results, c->result_count, sizeof(*c->results),
			by_call_id);

	return found ? *found : NULL;
}

/* ---------------------------------------------------------------- reading */

static void context_done(struct upstream_context *c)
{
	size_t i;

	for (i = 0; i < c->count; i++)
		json_free(c->entries[i].item);
	free(c->entries);
	free(c->results);
	json_free(c->tools);
	json_free(c->choice);
	json_free(c->options);
}

static int read_items(struct upstream_context *c, struct error *err)
{
	const struct upstream_round *round = c->round;
	struct upstream_entry *e;
	size_t i;
	int r;

	c->entries = calloc(round->item_count + 1, sizeof(*c->entries));
	c->results = calloc(round->item_count + 1, sizeof(*c->results));
	if (!c->entries || !c->results)
		return error_set_errno(err, -ENOMEM, "Cannot ask a model");
	for (i = 0; i < round->item_count; i++) {
		e = &c->entries[i];
		r = json_parse(round->items[i].json, round->items[i].size,
			       &e->item, err);
		if (r < 0)
			return error_wrap(err, r, "Item %zu of the context", i);
		c->count++;
		e->said = said_of(e->item);
		e->call_id = upstream_json_text(e->item, "call_id");
		if (e->said == UPSTREAM_SAID_RESULT)
			c->results[c->result_count++] = e;
	}
	qsort(c->results, c->result_count, sizeof(*c->results), by_call_id);
	return 0;
}

static bool has_call(const struct upstream_context *c, const char *call_id)
{
	size_t i;

	for (i = 0; i < c->count; i++)
		if (c->entries[i].said == UPSTREAM_SAID_CALL &&
		    strcmp(c->entries[i].call_id, call_id) == 0)
			return true;
	return false;
}

/*
 * Servers refuse results that belong to no call, in words of their own. Where
 * there are as many results as calls with one, all is well.
 */
static int check_results(const struct upstream_context *c, struct error *err)
{
	size_t i, answered = 0;

	for (i = 0; i < c->count; i++)
		if (c->entries[i].said == UPSTREAM_SAID_CALL &&
		    upstream_context_result(c, c->entries[i].call_id))
			answered++;
	if (answered == c->result_count)
		return 0;
	for (i = 0; i < c->result_count; i++)
		if (!has_call(c, c->results[i]->call_id))
			break;
	if (i == c->result_count)
		return 0;	/* some call came twice */
	error_set_param(err, "input");
	return error_set(err, ERR_BAD_REQUEST,
			 "No tool call found for function call output with "
			 "call_id '%.64s'", c->results[i]->call_id);
}

static int parse_text(const char *text, const char *what,
		      struct json_object **ret, struct error *err)
{
	int r = text ? json_parse(text, strlen(text), ret, err) : 0;

	return error_wrap(err, r, "Cannot read the %s", what);
}

static int context_read(struct upstream_context *c, struct error *err)
{
	int r = read_items(c, err);

	if (r >= 0)
		r = check_results(c, err);
	if (r >= 0)
		r = parse_text(c->round->tools, "tools", &c->tools, err);
	if (r >= 0)
		r = parse_text(c->round->tool_choice, "tool choice",
			       &c->choice, err);
	if (r >= 0)
		r = parse_text(c->round->options, "options", &c->options, err);
	return r;
}

/* ---------------------------------------------------------------- writing */

void upstream_write_option(struct json_writer *w,
			   const struct upstream_context *c, const char *option,
			   const char *name)
{
	const struct json_object *value = json_member(c->options, option);

	if (value)
		json_write_value(w, name, value);
}

void upstream_write_note(struct json_writer *w, const char *type,
			 const struct json_object *part)
{
	const char *name = upstream_json_text(part, "filename");
	char text[512];

	if (!*name)
		name = upstream_json_text(part, "file_id");
	if (!*name)
		name = upstream_json_text(part, "file_url");
	(void)snprintf(text, sizeof(text), "[file %.400s]", name);
	json_write_object(w, NULL);
	json_write_string(w, "type", type);
	json_write_string(w, "text", text);
	json_write_close(w);
}

int upstream_request_write(const struct upstream_target *target,
			   const struct upstream_round *round, struct buf *ret,
			   struct error *err)
{
	_cleanup_(context_done) struct upstream_context c = {
		.target = target,
		.round = round,
	};
	struct json_writer w = JSON_WRITER_INIT(ret);
	int r = context_read(&c, err);

	if (r < 0)
		return r;
	json_write_object(&w, NULL);
	json_write_string(&w, "model", target->remote_name);
	json_write_bool(&w, "stream", true);
	if (target->protocol == UPSTREAM_CHAT)
		upstream_chat_write(&w, &c);
	else
		upstream_responses_write(&w, &c);
	json_write_close(&w);
	r = json_write_end(&w);
	if (r == -EMSGSIZE)
		return error_set(err, ERR_TOO_LARGE,
				 "What the model would have to read has more "
				 "than %d bytes", UPSTREAM_REQUEST_MAX);
	return r < 0 ? error_set_errno(err, r, "Cannot ask a model") : 0;
}
