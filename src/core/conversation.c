/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "core/container.h"
#include "core/talk.h"
#include "core/upload.h"

/* Conversations: their items, and the containers that belong to them. */

static struct talk_change change_of(struct core *core,
				    const struct principal *who, const char *id,
				    void *userdata)
{
	struct talk_change change = {
		.core = core,
		.who = *who,
		.missing = talk_conversation_missing,
		.userdata = userdata,
	};

	strcpy(change.id, id);
	return change;
}

static int check_metadata(struct core *core, const struct principal *who,
			  const char *metadata, struct error *err)
{
	size_t size = strlen(metadata);

	if (size > CORE_METADATA_MAX)
		return error_set(err, ERR_BAD_REQUEST,
				 "The metadata has %zu bytes, at most %d are "
				 "allowed",
				 size, CORE_METADATA_MAX);
	return upload_check_quota(core, who->tenant, size, err);
}

static void add_items(struct store_batch *batch, const struct principal *who,
		      const char *id, const struct talk_item *items,
		      size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		struct store_item row = talk_item_row(who, id, &items[i]);

		/* What fails is kept in the batch and told by its commit. */
		(void)store_batch_add_conversation_item(batch, &row);
	}
}

int core_conversation_create(struct core *core, const struct principal *who,
			     const char *metadata,
			     const struct talk_item *items, size_t count,
			     conversation_fn done, void *userdata,
			     struct error *err)
{
	struct store_conversation row = {
		.created_usec = clock_wall(core->clock),
		.metadata = { metadata, strlen(metadata) },
	};
	struct talk_change change;
	struct store_batch *batch;
	int r;

	r = check_metadata(core, who, metadata, err);
	if (r >= 0)
		r = talk_items_check(core, who, items, count, err);
	if (r < 0)
		return r;
	r = id_new(ID_CONVERSATION, row.id);
	if (r < 0)
		return error_set_errno(err, r, "Cannot make a conversation");
	row.changed_usec = row.created_usec;
	strcpy(row.tenant, who->tenant);
	batch = store_batch_new(core->store);
	(void)store_batch_put_conversation(batch, &row);
	add_items(batch, who, row.id, items, count);
	change = change_of(core, who, row.id, userdata);
	change.view = done;
	return talk_change_commit(&change, batch, err);
}

int core_conversation_get(struct core *core, const struct principal *who,
			  const char *id, struct conversation_view *ret,
			  struct error *err)
{
	struct store_conversation row;
	int r;

	r = talk_find_conversation(core, who, id, &row, err);
	if (r < 0)
		return r;
	*ret = (struct conversation_view){
		.created_at = (int64_t)(row.created_usec / USEC_PER_SEC),
		.metadata = row.metadata.data,
	};
	strcpy(ret->id, row.id);
	return 0;
}

int core_conversation_update(struct core *core, const struct principal *who,
			     const char *id, const char *metadata,
			     conversation_fn done, void *userdata,
			     struct error *err)
{
	struct store_conversation row;
	struct talk_change change;
	struct store_batch *batch;
	int r;

	r = check_metadata(core, who, metadata, err);
	if (r >= 0)
		r = talk_find_conversation(core, who, id, &row, err);
	if (r < 0)
		return r;
	row.metadata = (struct store_text){ metadata, strlen(metadata) };
	row.changed_usec = clock_wall(core->clock);
	batch = store_batch_new(core->store);
	(void)store_batch_put_conversation(batch, &row);
	change = change_of(core, who, id, userdata);
	change.view = done;
	return talk_change_commit(&change, batch, err);
}

/* ------------------------------------------------------------------- items */

/* Only what a client adds is refused: a response that is over is appended. */
static int check_room(const struct store_conversation *row, size_t more,
		      struct error *err)
{
	if (row->items + more <= CORE_ITEMS_MAX)
		return 0;
	return error_set(err, ERR_BAD_REQUEST,
			 "Conversation '%s' has %llu items, at most %d are "
			 "allowed",
			 row->id, (unsigned long long)row->items,
			 CORE_ITEMS_MAX);
}

int core_conversation_add(struct core *core, const struct principal *who,
			  const char *id, const struct talk_item *items,
			  size_t count, core_done_fn done, void *userdata,
			  struct error *err)
{
	struct store_conversation row;
	struct talk_change change;
	struct store_batch *batch;
	int r;

	r = talk_find_conversation(core, who, id, &row, err);
	if (r >= 0)
		r = check_room(&row, count, err);
	if (r >= 0)
		r = talk_items_check(core, who, items, count, err);
	if (r < 0)
		return r;
	batch = store_batch_new(core->store);
	add_items(batch, who, id, items, count);
	(void)store_batch_touch_conversation(batch, id,
					     clock_wall(core->clock));
	change = change_of(core, who, id, userdata);
	change.done = done;
	return talk_change_commit(&change, batch, err);
}

int core_conversation_item_delete(struct core *core,
				  const struct principal *who, const char *id,
				  const char *item, core_done_fn done,
				  void *userdata, struct error *err)
{
	struct talk_change change;
	struct store_batch *batch;
	struct talk_item found;
	int r;

	r = core_conversation_item_get(core, who, id, item, &found, err);
	if (r < 0)
		return r;
	batch = store_batch_new(core->store);
	(void)store_batch_delete_conversation_item(batch, id, item);
	(void)store_batch_touch_conversation(batch, id,
					     clock_wall(core->clock));
	change = change_of(core, who, id, userdata);
	change.done = done;
	return talk_change_commit(&change, batch, err);
}

/* -------------------------------------------------------------- containers */

int core_conversation_container(struct core *core, const struct principal *who,
				const char *id, const char *agent,
				char ret[ID_SIZE], struct error *err)
{
	struct store_conversation_container found;
	struct store_conversation row;
	int r;

	r = talk_find_conversation(core, who, id, &row, err);
	if (r < 0)
		return r;
	r = store_conversation_container_get(core->store, who->tenant, id,
					     agent, &found);
	if (r < 0 && r != -ENOENT)
		return error_set_errno(err, r, "Cannot read a conversation");
	strcpy(ret, r < 0 ? "" : found.id);
	return 0;
}

int core_conversation_bind(struct core *core, const struct principal *who,
			   const char *id, const char *agent,
			   const char *container, core_done_fn done,
			   void *userdata, struct error *err)
{
	struct store_conversation_container bound = { .agent = "" };
	struct store_conversation row;
	struct talk_change change;
	struct store_batch *batch;
	int r;

	r = talk_find_conversation(core, who, id, &row, err);
	if (r < 0)
		return r;
	if (strlen(agent) >= sizeof(bound.agent) ||
	    !id_is(ID_CONTAINER, container))
		return error_set_errno(err, -EINVAL, "Cannot bind a container");
	strcpy(bound.conversation_id, id);
	strcpy(bound.tenant, who->tenant);
	strcpy(bound.agent, agent);
	strcpy(bound.id, container);
	batch = store_batch_new(core->store);
	(void)store_batch_put_conversation_container(batch, &bound);
	change = change_of(core, who, id, userdata);
	change.done = done;
	return talk_change_commit(&change, batch, err);
}

/* ------------------------------------------------------------------ delete */

/** struct bound - The live containers of a conversation */
struct bound {
	struct core *core;
	struct container **list;
	size_t count;
	int failed;
};

static void on_bound(void *userdata,
		     const struct store_conversation_container *row)
{
	struct bound *bound = userdata;
	struct container *c = map_get(&bound->core->containers, row->id);
	struct container **list;

	if (!c || strcmp(c->tenant->id, row->tenant) != 0)
		return;
	list = reallocarray(bound->list, bound->count + 1, sizeof(*list));
	if (!list) {
		bound->failed = -ENOMEM;
		return;
	}
	bound->list = list;
	list[bound->count++] = c;
}

int core_conversation_delete(struct core *core, const struct principal *who,
			     const char *id, core_done_fn done, void *userdata,
			     struct error *err)
{
	struct bound bound = { .core = core };
	_cleanup_free_ struct container **list = NULL;
	struct store_conversation row;
	struct talk_change change;
	struct store_batch *batch;
	size_t i;
	int r;

	r = talk_find_conversation(core, who, id, &row, err);
	if (r < 0)
		return r;
	r = store_conversation_container_each(core->store, who->tenant, id,
					      on_bound, &bound);
	list = bound.list;
	if (r < 0 || bound.failed < 0)
		return error_set_errno(err, r < 0 ? r : bound.failed,
				       "Cannot read a conversation");
	batch = store_batch_new(core->store);
	(void)store_batch_delete_conversation(batch, id);
	change = change_of(core, who, id, userdata);
	change.deletes = true;
	change.done = done;
	r = talk_change_commit(&change, batch, err);
	for (i = 0; r >= 0 && i < bound.count; i++)
		container_end(list[i], END_CONVERSATION_DELETED);
	return r;
}
