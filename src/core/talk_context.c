/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/event.h"
#include "core/core_priv.h"
#include "core/talk.h"

/*
 * What was said before, read in steps of the loop that are short whatever it
 * is: a bounded number of rows and bytes each.
 *
 * Of a response the chain is walked first, from the newest back: how long it is
 * shows at its end only. What it names and is not there any more ends it.
 */

enum {
	STEP_ROWS = 64,
	STEP_BYTES = 256 * 1024,
	CHAIN_MAX = 10000, /* responses behind one another */
};

/**
 * struct talk_context - See core_talk.h
 * @source:	Makes the next step
 * @next:	The response that the walk comes to, "" at its end
 * @chain:	Responses, newest first; of a conversation its one id
 * @left:	Those of @chain that are still to be read
 * @list:	Which of its items are being read, from @seq on
 * @bytes:	Of all items, as far as they are known
 * @stepping, @cancelled: A step that is under way frees it when it is over
 */
struct talk_context {
	TAILQ_ENTRY(talk_context) in_list;
	struct core *core;
	struct principal who;
	sd_event_source *source;
	bool of_response;
	char next[ID_SIZE];
	char (*chain)[ID_SIZE];
	size_t left;
	size_t size;
	enum store_items list;
	int64_t seq;
	uint64_t bytes;
	uint64_t max_bytes;
	struct buf text;
	bool stepping;
	bool cancelled;
	talk_item_fn each;
	core_done_fn done;
	void *userdata;
};

static void context_free(struct talk_context *context)
{
	TAILQ_REMOVE(&context->core->talks.contexts, context, in_list);
	context->source = sd_event_source_disable_unref(context->source);
	buf_done(&context->text);
	free(context->chain);
	free(context);
}

void core_context_cancel(struct talk_context *context)
{
	if (context->stepping)
		context->cancelled = true;
	else
		context_free(context);
}

void talks_done(struct core *core)
{
	struct talk_context *context;

	while ((context = TAILQ_FIRST(&core->talks.contexts)))
		context_free(context);
	buf_done(&core->talks.text);
}

static int check_bytes(const struct talk_context *context, struct error *err)
{
	int r;

	if (context->bytes <= context->max_bytes)
		return 0;
	r = error_set(err, ERR_BAD_REQUEST,
		      "What was said before has %llu bytes, at most %llu can "
		      "be given to a model",
		      (unsigned long long)context->bytes,
		      (unsigned long long)context->max_bytes);
	error_set_reason(err, "context_length_exceeded");
	return r;
}

static int chain_add(struct talk_context *context, const char *id)
{
	char(*chain)[ID_SIZE];

	if (context->left == context->size) {
		size_t size = context->size ? 2 * context->size : 16;

		chain = reallocarray(context->chain, size, sizeof(*chain));
		if (!chain)
			return -ENOMEM;
		context->chain = chain;
		context->size = size;
	}
	strcpy(context->chain[context->left++], id);
	return 0;
}

/* ------------------------------------------------------------------- steps */

/* One response back. */
static int walk(struct talk_context *context, struct error *err)
{
	struct store_response_head head = { .items = 0 };
	int r = -ENOENT;

	if (!talk_is_deleted(context->core, context->next))
		r = store_response_head_get(context->core->store,
					    context->who.tenant, context->next,
					    &head);
	if (r == -ENOENT) {
		context->next[0] = '\0';
		return 0;
	}
	if (r >= 0)
		r = chain_add(context, context->next);
	if (r < 0)
		return error_set_errno(err, r, "Cannot read a response");
	if (context->left >= CHAIN_MAX && head.previous[0])
		return error_set(err, ERR_BAD_REQUEST,
				 "More than %d responses follow one another",
				 CHAIN_MAX);
	context->bytes += head.item_bytes;
	strcpy(context->next, head.previous);
	return check_bytes(context, err);
}

/* Return: 0, and there is more to read in any case */
static int list_over(struct talk_context *context)
{
	context->seq = 0;
	if (context->list == STORE_RESPONSE_INPUTS) {
		context->list = STORE_RESPONSE_OUTPUTS;
		return 0;
	}
	if (context->of_response)
		context->list = STORE_RESPONSE_INPUTS;
	context->left--;
	return 0;
}

/* One item forward. */
static int read_item(struct talk_context *context, size_t *ret_size,
		     struct error *err)
{
	struct store_item row = { 0 };
	struct talk_item item;
	int r;

	r = store_item_next(context->core->store, context->list,
			    context->who.tenant,
			    context->chain[context->left - 1], &context->seq,
			    &context->text, &row);
	if (r == -ENOENT)
		return list_over(context);
	if (r < 0)
		return error_set_errno(err, r, "Cannot read an item");
	strcpy(item.id, row.id);
	item.json = row.json.data;
	item.size = row.json.size;
	*ret_size += item.size;
	context->each(context->userdata, &item);
	return 0;
}

/* Return: 1 if there is more, 0 at the end */
static int step(struct talk_context *context, struct error *err)
{
	size_t bytes = 0;
	int rows, r = 0;

	for (rows = 0; rows < STEP_ROWS && bytes < STEP_BYTES; rows++) {
		if (context->cancelled)
			return 0;
		if (context->next[0])
			r = walk(context, err);
		else if (context->left > 0)
			r = read_item(context, &bytes, err);
		else
			return 0;
		if (r < 0)
			return r;
	}
	return 1;
}

static int on_step(sd_event_source *source, void *userdata)
{
	struct talk_context *context = userdata;
	core_done_fn done = context->done;
	void *done_userdata = context->userdata;
	struct error err = ERROR_INIT;
	int r;

	context->stepping = true;
	r = step(context, &err);
	context->stepping = false;
	if (r > 0 && !context->cancelled) {
		(void)sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
		return 0;
	}
	if (context->cancelled)
		done = NULL;
	context_free(context);
	if (done)
		done(done_userdata, r < 0 ? &err : NULL);
	return 0;
}

/* --------------------------------------------------------------- the start */

static int previous_missing(const char *id, struct error *err)
{
	int r = error_set(err, ERR_BAD_REQUEST,
			  "Previous response with id '%s' not found", id);

	error_set_param(err, "previous_response_id");
	error_set_reason(err, "previous_response_not_found");
	return r;
}

static int begin_response(struct talk_context *context, const char *id,
			  struct error *err)
{
	struct store_response_head head;
	int r = -ENOENT;

	if (id_is(ID_RESPONSE, id) && !talk_is_deleted(context->core, id))
		r = store_response_head_get(context->core->store,
					    context->who.tenant, id, &head);
	if (r == -ENOENT)
		return previous_missing(id, err);
	if (r < 0)
		return error_set_errno(err, r, "Cannot read a response");
	context->of_response = true;
	context->list = STORE_RESPONSE_INPUTS;
	strcpy(context->next, id);
	return 0;
}

static int begin_conversation(struct talk_context *context, const char *id,
			      struct error *err)
{
	struct store_conversation row;
	int r;

	r = talk_find_conversation(context->core, &context->who, id, &row, err);
	if (r < 0)
		return r;
	context->list = STORE_CONVERSATION_ITEMS;
	context->bytes = row.item_bytes;
	r = check_bytes(context, err);
	if (r < 0)
		return r;
	r = chain_add(context, id);
	return r < 0 ? error_set_errno(err, r, "Cannot read a conversation") :
		       0;
}

int core_context_read(struct core *core, const struct principal *who,
		      const char *response, const char *conversation,
		      size_t max_bytes, talk_item_fn each, core_done_fn done,
		      void *userdata, struct talk_context **ret,
		      struct error *err)
{
	struct talk_context *context = calloc(1, sizeof(*context));
	int r;

	if (!context)
		return error_set_errno(err, -ENOMEM, "Cannot read a context");
	context->core = core;
	context->who = *who;
	context->max_bytes = max_bytes;
	context->text = BUF_INIT(STORE_TEXT_MAX + 1);
	context->each = each;
	context->done = done;
	context->userdata = userdata;
	TAILQ_INSERT_TAIL(&core->talks.contexts, context, in_list);
	r = event_add_defer(core->event, on_step, context, "talk-context",
			    &context->source);
	if (r < 0)
		(void)error_set_errno(err, r, "Cannot read a context");
	else if (response)
		r = begin_response(context, response, err);
	else
		r = begin_conversation(context, conversation, err);
	if (r >= 0)
		r = sd_event_source_set_enabled(context->source,
						SD_EVENT_ONESHOT);
	if (r < 0) {
		context_free(context);
		return error_set_errno(err, r, "Cannot read a context");
	}
	*ret = context;
	return 0;
}
