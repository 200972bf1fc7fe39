/* SPDX-License-Identifier: Apache-2.0 */
#include "core/talk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/core_priv.h"
#include "core/upload.h"

/*
 * What conversations and responses share: finding them, and changing them.
 *
 * The store shows a change when it is on the disk. A deletion is believed at
 * once, so that nothing which is asked for behind it finds what is to go, or
 * brings it back.
 */

void talks_init(struct core *core)
{
	struct talks *talks = &core->talks;

	TAILQ_INIT(&talks->deleting);
	TAILQ_INIT(&talks->contexts);
	talks->text = BUF_INIT(STORE_TEXT_MAX + 1);
}

/* ----------------------------------------------------------------- finding */

int talk_conversation_missing(const char *id, struct error *err)
{
	return error_set(err, ERR_NOT_FOUND,
			 "Conversation with id '%s' not found", id);
}

int talk_response_missing(const char *id, struct error *err)
{
	return error_set(err, ERR_NOT_FOUND, "Response with id '%s' not found",
			 id);
}

int talk_item_missing(const char *id, struct error *err)
{
	return error_set(err, ERR_NOT_FOUND, "Item with id '%s' not found", id);
}

bool talk_is_deleted(const struct core *core, const char *id)
{
	const struct talk_change *change;

	TAILQ_FOREACH(change, &core->talks.deleting, in_list)
		if (strcmp(change->id, id) == 0)
			return true;
	return false;
}

int talk_find_conversation(struct core *core, const struct principal *who,
			   const char *id, struct store_conversation *ret,
			   struct error *err)
{
	int r = -ENOENT;

	if (id_is(ID_CONVERSATION, id) && !talk_is_deleted(core, id))
		r = store_conversation_get(core->store, who->tenant, id,
					   &core->talks.text, ret);
	if (r == -ENOENT)
		return talk_conversation_missing(id, err);
	return r < 0 ? error_set_errno(err, r, "Cannot read a conversation") :
		       0;
}

int talk_find_response(struct core *core, const struct principal *who,
		       const char *id, struct store_response *ret,
		       struct error *err)
{
	int r = -ENOENT;

	if (id_is(ID_RESPONSE, id) && !talk_is_deleted(core, id))
		r = store_response_get(core->store, who->tenant, id,
				       &core->talks.text, ret);
	if (r == -ENOENT)
		return talk_response_missing(id, err);
	return r < 0 ? error_set_errno(err, r, "Cannot read a response") : 0;
}

/* Return: 0, with the item's text in core's buffer */
static int fill_item(int r, const char *id, const struct store_item *row,
		     struct talk_item *ret, struct error *err)
{
	if (r == -ENOENT)
		return talk_item_missing(id, err);
	if (r < 0)
		return error_set_errno(err, r, "Cannot read an item");
	strcpy(ret->id, row->id);
	ret->json = row->json.data;
	ret->size = row->json.size;
	return 0;
}

int core_item_find(struct core *core, const struct principal *who,
		   const char *id, struct talk_item *ret, struct error *err)
{
	struct store_item row = { 0 };
	int r = -ENOENT;

	if (strlen(id) <= ID_MAX)
		r = store_item_find(core->store, who->tenant, id,
				    &core->talks.text, &row);
	return fill_item(r, id, &row, ret, err);
}

int core_conversation_item_get(struct core *core, const struct principal *who,
			       const char *id, const char *item,
			       struct talk_item *ret, struct error *err)
{
	struct store_conversation conversation;
	struct store_item row = { 0 };
	int r;

	r = talk_find_conversation(core, who, id, &conversation, err);
	if (r < 0)
		return r;
	r = store_conversation_item_get(core->store, who->tenant, id, item,
					&core->talks.text, &row);
	return fill_item(r, item, &row, ret, err);
}

/* ---------------------------------------------------------------- checking */

struct store_item talk_item_row(const struct principal *who, const char *owner,
				const struct talk_item *item)
{
	struct store_item row = { .json = { item->json, item->size } };

	strcpy(row.id, item->id);
	strcpy(row.tenant, who->tenant);
	strcpy(row.owner, owner);
	return row;
}

int talk_items_check(struct core *core, const struct principal *who,
		     const struct talk_item *items, size_t count,
		     struct error *err)
{
	uint64_t bytes = 0;
	size_t i;

	if (count > CORE_ITEMS_ADD_MAX)
		return error_set(err, ERR_BAD_REQUEST,
				 "%zu items were given, at most %d are allowed "
				 "at a time",
				 count, CORE_ITEMS_ADD_MAX);
	for (i = 0; i < count; i++) {
		if (items[i].size > CORE_ITEM_MAX)
			return error_set(err, ERR_BAD_REQUEST,
					 "Item '%s' has %zu bytes, at most %d "
					 "are allowed",
					 items[i].id, items[i].size,
					 CORE_ITEM_MAX);
		bytes += items[i].size;
	}
	return upload_check_quota(core, who->tenant, bytes, err);
}

/* ---------------------------------------------------------------- changing */

static int change_failed(const struct talk_change *change, int r,
			 struct error *err)
{
	if (r == -ENOENT)
		return change->missing(change->id, err);
	if (r != -EEXIST)
		return core_store_failed(r, err);
	r = error_set(err, ERR_BAD_REQUEST,
		      "Conversation '%s' has an item of the same id already",
		      change->id);
	error_set_param(err, "items");
	error_set_reason(err, "invalid_value");
	return r;
}

static int answer_with_view(const struct talk_change *change,
			    struct error *err)
{
	struct conversation_view view;
	int r;

	r = core_conversation_get(change->core, &change->who, change->id, &view,
				  err);
	if (r >= 0)
		change->view(change->userdata, &view, NULL);
	return r;
}

static void on_changed(void *userdata, int r)
{
	struct talk_change *change = userdata;
	struct error err = ERROR_INIT;

	if (change->deletes)
		TAILQ_REMOVE(&change->core->talks.deleting, change, in_list);
	if (r < 0)
		(void)change_failed(change, r, &err);
	else if (change->view)
		r = answer_with_view(change, &err);
	if (change->done)
		change->done(change->userdata, r < 0 ? &err : NULL);
	else if (r < 0)
		change->view(change->userdata, NULL, &err);
	free(change);
}

int talk_change_commit(const struct talk_change *change,
		       struct store_batch *batch, struct error *err)
{
	struct talk_change *copy = malloc(sizeof(*copy));
	int r = -ENOMEM;

	if (copy) {
		*copy = *change;
		r = store_commit(copy->core->store, batch, on_changed, copy);
	}
	if (r < 0) {
		store_batch_free(batch);
		free(copy);
		return core_store_failed(r, err);
	}
	if (copy->deletes)
		TAILQ_INSERT_TAIL(&copy->core->talks.deleting, copy, in_list);
	return 0;
}
