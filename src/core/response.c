/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "core/core_priv.h"
#include "core/talk.h"
#include "core/usage.h"

/* Responses as they are kept. */

static int check_spec(struct core *core, const struct principal *who,
		      const struct response_spec *spec, struct error *err)
{
	if (!id_is(ID_RESPONSE, spec->id) ||
	    (spec->previous && !id_is(ID_RESPONSE, spec->previous)) ||
	    (spec->conversation &&
	     !id_is(ID_CONVERSATION, spec->conversation)))
		return error_set_errno(err, -EINVAL, "Cannot keep a response");
	if (spec->size > CORE_RESPONSE_MAX)
		return error_set(err, ERR_BAD_REQUEST,
				 "The response has %zu bytes, at most %d are "
				 "allowed",
				 spec->size, CORE_RESPONSE_MAX);
	/* What has begun is let come to its end. */
	if (!spec->open)
		return 0;
	return talk_items_check(core, who, spec->inputs, spec->input_count,
				err);
}

static void put_items(struct store_batch *batch, const struct principal *who,
		      const struct response_spec *spec, bool outputs)
{
	const struct talk_item *items = outputs ? spec->outputs : spec->inputs;
	size_t count = outputs ? spec->output_count : spec->input_count;
	size_t i;

	for (i = 0; i < count; i++) {
		struct store_item row = talk_item_row(who, spec->id, &items[i]);

		row.output = outputs;
		row.position = (uint32_t)i;
		/* What fails is kept in the batch and told by its commit. */
		(void)store_batch_put_response_item(batch, &row);
	}
}

static void put_row(struct core *core, struct store_batch *batch,
		    const struct principal *who,
		    const struct response_spec *spec)
{
	struct store_response row = {
		.open = spec->open,
		.created_usec = clock_wall(core->clock),
		.json = { spec->json, spec->size },
	};

	row.changed_usec = row.created_usec;
	strcpy(row.id, spec->id);
	strcpy(row.tenant, who->tenant);
	strcpy(row.key_id, who->key_id);
	if (spec->previous)
		strcpy(row.previous, spec->previous);
	if (spec->conversation)
		strcpy(row.conversation, spec->conversation);
	(void)store_batch_put_response(batch, &row);
}

static struct talk_change change_of(struct core *core,
				    const struct principal *who, const char *id,
				    core_done_fn done, void *userdata)
{
	struct talk_change change = {
		.core = core,
		.who = *who,
		.missing = talk_response_missing,
		.done = done,
		.userdata = userdata,
	};

	strcpy(change.id, id);
	return change;
}

int core_response_put(struct core *core, const struct principal *who,
		      const struct response_spec *spec, core_done_fn done,
		      void *userdata, struct error *err)
{
	struct talk_change change;
	struct store_batch *batch;
	int r;

	if (talk_is_deleted(core, spec->id))
		return talk_response_missing(spec->id, err);
	r = check_spec(core, who, spec, err);
	if (r < 0)
		return r;
	batch = store_batch_new(core->store);
	put_row(core, batch, who, spec);
	put_items(batch, who, spec, false);
	put_items(batch, who, spec, true);
	(void)store_batch_trim_outputs(batch, spec->id,
				       (uint32_t)spec->output_count);
	if (spec->usage)
		usage_add_response(core, who, spec->id, spec->usage, batch);
	if (spec->conversation) {
		(void)store_batch_append_response(batch, spec->id);
		(void)store_batch_touch_conversation(batch, spec->conversation,
						     clock_wall(core->clock));
	}
	change = change_of(core, who, spec->id, done, userdata);
	return talk_change_commit(&change, batch, err);
}

int core_response_count(struct core *core, const struct principal *who,
			const char *id, const struct response_usage *usage,
			core_done_fn done, void *userdata, struct error *err)
{
	struct store_batch *batch = store_batch_new(core->store);
	struct talk_change change;

	usage_add_response(core, who, id, usage, batch);
	change = change_of(core, who, id, done, userdata);
	return talk_change_commit(&change, batch, err);
}

static void fill_view(const struct store_response *row,
		      struct response_view *ret)
{
	*ret = (struct response_view){
		.created_at = (int64_t)(row->created_usec / USEC_PER_SEC),
		.json = row->json.data,
		.size = row->json.size,
		.open = row->open,
	};
	strcpy(ret->id, row->id);
	strcpy(ret->previous, row->previous);
}

int core_response_get(struct core *core, const struct principal *who,
		      const char *id, struct response_view *ret,
		      struct error *err)
{
	struct store_response row;
	int r;

	r = talk_find_response(core, who, id, &row, err);
	if (r >= 0)
		fill_view(&row, ret);
	return r;
}

int core_response_delete(struct core *core, const struct principal *who,
			 const char *id, core_done_fn done, void *userdata,
			 struct error *err)
{
	struct store_response row;
	struct talk_change change;
	struct store_batch *batch;
	int r;

	r = talk_find_response(core, who, id, &row, err);
	if (r < 0)
		return r;
	batch = store_batch_new(core->store);
	(void)store_batch_delete_response(batch, id);
	change = change_of(core, who, id, done, userdata);
	change.deletes = true;
	return talk_change_commit(&change, batch, err);
}

/* ------------------------------------------------------------------- lists */

struct item_each {
	talk_item_fn each;
	void *userdata;
};

static void on_item(void *userdata, const struct store_item *row)
{
	const struct item_each *list = userdata;
	struct talk_item item = { .json = row->json.data,
				  .size = row->json.size };

	strcpy(item.id, row->id);
	list->each(list->userdata, &item);
}

static int list_items(struct core *core, const struct principal *who,
		      enum store_items which, const char *owner,
		      const struct core_page *page, struct item_each each,
		      bool *ret_more, struct error *err)
{
	const struct store_page rows = {
		.after = page->after,
		.limit = page->limit,
		.ascending = page->ascending,
	};
	int r;

	r = store_item_list(core->store, which, who->tenant, owner, &rows,
			    on_item, &each, ret_more);
	return core_list_failed(r, page, err);
}

int core_conversation_item_list(struct core *core, const struct principal *who,
				const char *id, const struct core_page *page,
				talk_item_fn each, void *userdata,
				bool *ret_more, struct error *err)
{
	struct store_conversation row;
	int r;

	r = talk_find_conversation(core, who, id, &row, err);
	if (r < 0)
		return r;
	return list_items(core, who, STORE_CONVERSATION_ITEMS, id, page,
			  (struct item_each){ each, userdata }, ret_more, err);
}

int core_response_input_list(struct core *core, const struct principal *who,
			     const char *id, const struct core_page *page,
			     talk_item_fn each, void *userdata, bool *ret_more,
			     struct error *err)
{
	struct store_response row;
	int r;

	r = talk_find_response(core, who, id, &row, err);
	if (r < 0)
		return r;
	return list_items(core, who, STORE_RESPONSE_INPUTS, id, page,
			  (struct item_each){ each, userdata }, ret_more, err);
}

int core_response_output_each(struct core *core, const struct principal *who,
			      const char *id, talk_item_fn each, void *userdata,
			      struct error *err)
{
	const struct core_page all = { .limit = CORE_ITEMS_MAX,
				       .ascending = true };

	return list_items(core, who, STORE_RESPONSE_OUTPUTS, id, &all,
			  (struct item_each){ each, userdata }, NULL, err);
}

/* --------------------------------------------------------------- the start */

struct open_each {
	void (*each)(void *userdata, const struct principal *who,
		     const struct response_view *response);
	void *userdata;
};

static void on_open(void *userdata, const struct store_response *row)
{
	const struct open_each *list = userdata;
	struct principal who = { .scopes = CORE_SCOPE_ALL };
	struct response_view view;

	strcpy(who.tenant, row->tenant);
	strcpy(who.key_id, row->key_id);
	fill_view(row, &view);
	list->each(list->userdata, &who, &view);
}

int core_response_each_open(
	struct core *core,
	void (*each)(void *userdata, const struct principal *who,
		     const struct response_view *response),
	void *userdata, struct error *err)
{
	struct open_each list = { each, userdata };
	int r;

	r = store_response_each_open(core->store, on_open, &list);
	return r < 0 ? error_set_errno(err, r, "Cannot read the responses") : 0;
}
