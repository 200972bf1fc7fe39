/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_CORE_TALK_H
#define CORE_CORE_TALK_H

/*
 * Conversations and responses as they are kept: a part of core.h, whose rules
 * hold here.
 *
 * Views and items that a get fills in are overwritten by the next get of a
 * conversation, response or item. A list's @each must not call core.
 *
 * Core keeps them and does not look into them: items, metadata and responses
 * are JSON text of src/turn. What it knows is whose they are, in what order,
 * for how long, and which container belongs to which talk.
 */

#include "core/core.h"

/* Bytes of one item, as it is kept, and of a response without its items. */
#define CORE_ITEM_MAX (8 * 1024 * 1024)
#define CORE_RESPONSE_MAX (1024 * 1024)

/* Bytes of a conversation's metadata as JSON, each of which may be escaped. */
#define CORE_METADATA_MAX (64 * 1024)

/* Items that one call may add, and of one conversation or response. */
#define CORE_ITEMS_ADD_MAX 1024
#define CORE_ITEMS_MAX 10000

/** struct talk_item - An item, borrowed; the text may lack a NUL at its end */
struct talk_item {
	char id[ID_MAX + 1];
	const char *json;
	size_t size;
};

/* -------------------------------------------------------- conversations */

struct conversation_view {
	char id[ID_MAX + 1]; /* conv_… */
	int64_t created_at;
	const char *metadata; /* JSON object */
};

typedef void (*conversation_fn)(void *userdata,
				const struct conversation_view *conversation,
				const struct error *err);

int core_conversation_create(struct core *core, const struct principal *who,
			     const char *metadata,
			     const struct talk_item *items, size_t count,
			     conversation_fn done, void *userdata,
			     struct error *err);

int core_conversation_get(struct core *core, const struct principal *who,
			  const char *id, struct conversation_view *ret,
			  struct error *err);

int core_conversation_update(struct core *core, const struct principal *who,
			     const char *id, const char *metadata,
			     conversation_fn done, void *userdata,
			     struct error *err);

/**
 * core_conversation_delete() - Forget it, and end its containers
 *
 * The items of its responses stay with those.
 */
int core_conversation_delete(struct core *core, const struct principal *who,
			     const char *id, core_done_fn done, void *userdata,
			     struct error *err);

/**
 * core_conversation_add() - Behind all items that are there
 *
 * ERR_BAD_REQUEST, by @done, if an id is there already.
 */
int core_conversation_add(struct core *core, const struct principal *who,
			  const char *id, const struct talk_item *items,
			  size_t count, core_done_fn done, void *userdata,
			  struct error *err);

int core_conversation_item_get(struct core *core, const struct principal *who,
			       const char *id, const char *item,
			       struct talk_item *ret, struct error *err);

int core_conversation_item_delete(struct core *core,
				  const struct principal *who, const char *id,
				  const char *item, core_done_fn done,
				  void *userdata, struct error *err);

typedef void (*talk_item_fn)(void *userdata, const struct talk_item *item);

int core_conversation_item_list(struct core *core, const struct principal *who,
				const char *id, const struct core_page *page,
				talk_item_fn each, void *userdata,
				bool *ret_more, struct error *err);

/**
 * core_conversation_container() - The container of a conversation and agent
 * @agent:	Its name with its project in front, or "" without one
 * @ret:	cntr_…, alive or not; "" if there was none yet
 */
int core_conversation_container(struct core *core, const struct principal *who,
				const char *id, const char *agent,
				char ret[ID_SIZE], struct error *err);

/** core_conversation_bind() - From now on it is this container */
int core_conversation_bind(struct core *core, const struct principal *who,
			   const char *id, const char *agent,
			   const char *container, core_done_fn done,
			   void *userdata, struct error *err);

/* ------------------------------------------------------------ responses */

/**
 * struct response_usage - What a response used, for the ledger
 * @outcome:	A word: what it came to
 * @origin:	As container_spec's: the conversation or agent, or NULL
 * @container:	cntr_…, or ""
 * @took_usec:	From its beginning to its end
 * @held_usec:	For so long of it, it had a session
 * @tool_calls:	Of the interpreter
 */
struct response_usage {
	const char *outcome;
	const char *origin;
	const char *container;
	usec_t took_usec;
	usec_t held_usec;
	uint64_t input_tokens;
	uint64_t output_tokens;
	uint64_t tool_calls;
};

/**
 * struct response_spec - A response to be kept; copied
 * @json:	The whole object but for "output"
 * @inputs:	This request's own items; those of the first put count, later
 *		ones may leave them out
 * @outputs:	What came of it so far
 * @conversation: Whose conversation inputs and outputs are to be appended to,
 *		in this order and with the same write; or NULL
 * @usage:	What it used, once, when it is over; or NULL
 * @open:	Still under way: a daemon that finds it so at its start ends it
 */
struct response_spec {
	char id[ID_MAX + 1]; /* resp_… */
	const char *previous; /* resp_…, or NULL */
	const char *conversation;
	const char *json;
	size_t size;
	const struct talk_item *inputs;
	size_t input_count;
	const struct talk_item *outputs;
	size_t output_count;
	const struct response_usage *usage;
	bool open;
};

struct response_view {
	char id[ID_MAX + 1];
	char previous[ID_MAX + 1]; /* or "" */
	int64_t created_at;
	const char *json;
	size_t size;
	bool open;
};

/**
 * core_response_put() - Keep it, or what became of it
 *
 * An id that is there is replaced: inputs stay as they were first, outputs are
 * those of the last put. What is appended to a conversation is all that the
 * response has after the put; ids which are in it already stay where they are,
 * and one that was deleted meanwhile takes nothing.
 *
 * The tenant's quota is looked at while it is @open only. ERR_NOT_FOUND while it
 * is being deleted; afterwards a put would bring it back.
 */
int core_response_put(struct core *core, const struct principal *who,
		      const struct response_spec *spec, core_done_fn done,
		      void *userdata, struct error *err);

/** core_response_count() - What one used that is not kept, or not any more */
int core_response_count(struct core *core, const struct principal *who,
			const char *id, const struct response_usage *usage,
			core_done_fn done, void *userdata, struct error *err);

int core_response_get(struct core *core, const struct principal *who,
		      const char *id, struct response_view *ret,
		      struct error *err);

int core_response_delete(struct core *core, const struct principal *who,
			 const char *id, core_done_fn done, void *userdata,
			 struct error *err);

int core_response_input_list(struct core *core, const struct principal *who,
			     const char *id, const struct core_page *page,
			     talk_item_fn each, void *userdata, bool *ret_more,
			     struct error *err);

/** core_response_output_each() - All of them, in order */
int core_response_output_each(struct core *core, const struct principal *who,
			      const char *id, talk_item_fn each, void *userdata,
			      struct error *err);

/** core_item_find() - The newest item of this id in any talk of the tenant */
int core_item_find(struct core *core, const struct principal *who,
		   const char *id, struct talk_item *ret, struct error *err);

/**
 * core_response_each_open() - For the start: those that were under way
 *
 * The principal is one that may write them.
 */
int core_response_each_open(
	struct core *core,
	void (*each)(void *userdata, const struct principal *who,
		     const struct response_view *response),
	void *userdata, struct error *err);

/* -------------------------------------------------------------- context */

/**
 * struct talk_context - What was said before, read piece by piece
 *
 * Of a conversation: all of its items. Of a response: inputs and outputs of
 * the whole chain behind it, oldest first.
 */
struct talk_context;

/**
 * core_context_read() - Begin to read
 * @response, @conversation: One of the two; the other is NULL
 * @max_bytes:	Of all items together, each with some 256 bytes on top; more is
 *		ERR_BAD_REQUEST "context_length_exceeded" with both numbers
 * @each:	Called for each item in order, over several turns of the loop;
 *		may cancel
 * @done:	Once, last; may come late, never from inside this call
 * @ret:	To give it up before @done
 *
 * A response that is not there is ERR_BAD_REQUEST "previous_response_not_found";
 * one further back that is not there any more ends the chain.
 */
int core_context_read(struct core *core, const struct principal *who,
		      const char *response, const char *conversation,
		      size_t max_bytes, talk_item_fn each, core_done_fn done,
		      void *userdata, struct talk_context **ret,
		      struct error *err);

/** core_context_cancel() - Before @done only */
void core_context_cancel(struct talk_context *context);

#endif
