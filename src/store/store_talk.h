/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUPOLA_STORE_STORE_TALK_H
#define CUPOLA_STORE_STORE_TALK_H

/*
 * Conversations, responses and their items: a part of store.h, whose rules
 * hold here.
 *
 * Where a function takes a buffer, the row's text is in it afterwards; its
 * maximum must allow for STORE_TEXT_MAX and a NUL.
 */

#include "store/store.h"

/* ---------------------------------------------------------------- writes */

int store_batch_put_conversation(struct store_batch *batch,
				 const struct store_conversation *row);

/** store_batch_touch_conversation() - It was changed, so it is kept longer */
int store_batch_touch_conversation(struct store_batch *batch, const char *id,
				   usec_t changed_usec);

/** store_batch_delete_conversation() - With its items, as far as they are its */
int store_batch_delete_conversation(struct store_batch *batch, const char *id);

/**
 * store_batch_add_conversation_item() - Behind all that are there
 *
 * The batch fails with -EEXIST if the conversation has an item of this id, and
 * with -ENOENT if there is no conversation.
 */
int store_batch_add_conversation_item(struct store_batch *batch,
				      const struct store_item *row);
int store_batch_delete_conversation_item(struct store_batch *batch,
					 const char *conversation,
					 const char *id);

/** store_batch_put_conversation_container() - Takes the place of another one */
int store_batch_put_conversation_container(
	struct store_batch *batch,
	const struct store_conversation_container *row);

int store_batch_put_response(struct store_batch *batch,
			     const struct store_response *row);
int store_batch_delete_response(struct store_batch *batch, const char *id);

/**
 * store_batch_put_response_item() - An input or output
 *
 * At a position that is taken, an input changes nothing and an output takes the
 * other's place. Positions of a list are put in ascending order.
 */
int store_batch_put_response_item(struct store_batch *batch,
				  const struct store_item *row);

/** store_batch_trim_outputs() - Drop outputs from a position on */
int store_batch_trim_outputs(struct store_batch *batch, const char *response,
			     uint32_t position);

/**
 * store_batch_append_response() - Its items come to its conversation, too
 *
 * Inputs, then outputs, behind what is there; those that are there already stay
 * where they are. Nothing happens if there is no conversation.
 */
int store_batch_append_response(struct store_batch *batch,
				const char *response);

/* ----------------------------------------------------------------- reads */

int store_conversation_get(struct store *store, const char *tenant,
			   const char *id, struct buf *buf,
			   struct store_conversation *ret);
int store_conversation_item_get(struct store *store, const char *tenant,
				const char *conversation, const char *id,
				struct buf *buf, struct store_item *ret);
int store_conversation_container_get(struct store *store, const char *tenant,
				     const char *conversation,
				     const char *agent,
				     struct store_conversation_container *ret);
int store_response_get(struct store *store, const char *tenant, const char *id,
		       struct buf *buf, struct store_response *ret);

/** struct store_response_head - What is known of one without its text */
struct store_response_head {
	char previous[STORE_ID_SIZE];
	uint64_t items;
	uint64_t item_bytes;
	bool open;
};

int store_response_head_get(struct store *store, const char *tenant,
			    const char *id, struct store_response_head *ret);

/** store_item_find() - The newest of this id anywhere; id and json are set */
int store_item_find(struct store *store, const char *tenant, const char *id,
		    struct buf *buf, struct store_item *ret);

/** enum store_items - Lists of items */
enum store_items {
	STORE_CONVERSATION_ITEMS,
	STORE_RESPONSE_INPUTS,
	STORE_RESPONSE_OUTPUTS,

	STORE_ITEMS_COUNT,
};

/**
 * store_item_next() - The item that follows one, for reading piece by piece
 * @seq:	0 for the first; moves on
 * @ret:	Its id and json
 *
 * Return: 0; -ENOENT at the end
 */
int store_item_next(struct store *store, enum store_items list,
		    const char *tenant, const char *owner, int64_t *seq,
		    struct buf *buf, struct store_item *ret);

typedef void store_item_fn(void *userdata, const struct store_item *row);
typedef void store_response_fn(void *userdata,
			       const struct store_response *row);
typedef void store_conversation_container_fn(
	void *userdata, const struct store_conversation_container *row);

int store_item_list(struct store *store, enum store_items list,
		    const char *tenant, const char *owner,
		    const struct store_page *page, store_item_fn *each,
		    void *userdata, bool *ret_more);

int store_conversation_container_each(struct store *store, const char *tenant,
				      const char *conversation,
				      store_conversation_container_fn *each,
				      void *userdata);

/** store_response_each_open() - For the start: all that were under way */
int store_response_each_open(struct store *store, store_response_fn *each,
			     void *userdata);

#endif
