/* SPDX-License-Identifier: Apache-2.0 */
/* The OpenAI conversations API. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_error.h"
#include "api/handlers.h"
#include "api/include_query.h"
#include "api/page.h"
#include "api/reply.h"
#include "api/request.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "turn/turn.h"

enum {
	PAGE_DEFAULT = 20,
	ITEMS_MAX = 20, /* of one request */
};

/** struct work - A request's items, and what of them the answer shows */
struct work {
	struct items items;
	struct buf metadata;
	unsigned include;
};

static void work_free(void *userdata)
{
	struct work *work = userdata;

	items_done(&work->items);
	buf_done(&work->metadata);
	free(work);
}

static int work_new(struct request *req, struct work **ret, struct error *err)
{
	struct work *work = calloc(1, sizeof(*work));

	if (!work)
		return error_set_errno(err, -ENOMEM, "Cannot read a request");
	work->metadata = BUF_INIT(CORE_METADATA_MAX);
	req->work = work;
	req->work_free = work_free;
	*ret = work;
	return 0;
}

/* Items as core takes them, borrowed from @items; freed by the caller. */
static int borrow_items(const struct items *items, struct talk_item **ret,
			struct error *err)
{
	struct talk_item *list;
	size_t i;

	list = calloc(items->count ? items->count : 1, sizeof(*list));
	if (!list)
		return error_set_errno(err, -ENOMEM, "Cannot keep items");
	for (i = 0; i < items->count; i++) {
		strcpy(list[i].id, items->list[i].id);
		list[i].json = items->list[i].json;
		list[i].size = items->list[i].size;
	}
	*ret = list;
	return 0;
}

/* ----------------------------------------------------------------- requests */

static int read_metadata(const struct json_object *object, struct buf *ret,
			 struct error *err)
{
	const struct json_object *metadata = json_member(object, "metadata");
	struct json_writer w = JSON_WRITER_INIT(ret);
	int r;

	r = metadata_check(metadata, err);
	if (r < 0)
		return r;
	if (metadata) {
		json_write_value(&w, NULL, metadata);
	} else {
		json_write_object(&w, NULL);
		json_write_close(&w);
	}
	r = json_write_end(&w);
	return r < 0 ? error_set_errno(err, r, "Cannot keep metadata") : 0;
}

static int read_items(struct request *req, const struct json_object *object,
		      struct items *ret, struct error *err)
{
	const struct json_object *items = json_member(object, "items");
	enum json_kind kind = json_kind_of(items);

	/* Elsewhere a string is a message. */
	if (kind != JSON_ARRAY && kind != JSON_NULL)
		return api_refuse(err, "items", "must be an array",
				  "invalid_type");
	return items_read(req->core, &req->who, items, "items", ITEMS_MAX, ret,
			  err);
}

/* ------------------------------------------------------------------ answers */

static void write_conversation(struct json_writer *w,
			       const struct conversation_view *conversation)
{
	json_write_object(w, NULL);
	json_write_string(w, "id", conversation->id);
	json_write_string(w, "object", "conversation");
	json_write_int(w, "created_at", conversation->created_at);
	json_write_raw(w, "metadata", conversation->metadata,
		       strlen(conversation->metadata));
	json_write_close(w);
}

static void on_conversation(void *userdata,
			    const struct conversation_view *conversation,
			    const struct error *err)
{
	struct request *req = userdata;

	if (reply_failure(req, err))
		return;
	write_conversation(reply_writer(req), conversation);
	reply_ok(req);
}

/* ------------------------------------------------------------- conversations */

int openai_conversations_create(struct request *req, struct error *err)
{
	_cleanup_free_ struct talk_item *list = NULL;
	struct json_object *object;
	struct work *work = NULL;
	int r;

	r = request_json(req, &object, err);
	if (r >= 0)
		r = work_new(req, &work, err);
	if (r >= 0)
		r = read_metadata(object, &work->metadata, err);
	if (r >= 0)
		r = read_items(req, object, &work->items, err);
	if (r >= 0)
		r = borrow_items(&work->items, &list, err);
	if (r >= 0)
		r = core_conversation_create(req->core, &req->who,
					     buf_str(&work->metadata), list,
					     work->items.count, on_conversation,
					     req, err);
	return r < 0 ? r : ROUTE_PENDING;
}

int openai_conversations_get(struct request *req, struct error *err)
{
	struct conversation_view conversation;
	int r;

	r = core_conversation_get(req->core, &req->who, req->match.param[0],
				  &conversation, err);
	if (r < 0)
		return r;
	write_conversation(reply_writer(req), &conversation);
	return reply_json(req, MHD_HTTP_OK, err);
}

static int on_member(const char *key, struct json_object *value,
		     void *userdata)
{
	(void)value;
	*(bool *)userdata |= strcmp(key, "metadata") == 0;
	return 0;
}

int openai_conversations_update(struct request *req, struct error *err)
{
	struct json_object *object;
	bool given = false;
	struct work *work = NULL;
	int r;

	r = request_json(req, &object, err);
	if (r < 0)
		return r;
	/* null empties it, and is something else than nothing. */
	(void)json_each_member(object, on_member, &given);
	if (!given)
		return api_refuse(err, "metadata", "is missing",
				  "missing_required_parameter");
	r = work_new(req, &work, err);
	if (r >= 0)
		r = read_metadata(object, &work->metadata, err);
	if (r >= 0)
		r = core_conversation_update(req->core, &req->who,
					     req->match.param[0],
					     buf_str(&work->metadata),
					     on_conversation, req, err);
	return r < 0 ? r : ROUTE_PENDING;
}

static void on_deleted(void *userdata, const struct error *err)
{
	reply_deleted(userdata, "conversation.deleted", err);
}

int openai_conversations_delete(struct request *req, struct error *err)
{
	int r;

	r = core_conversation_delete(req->core, &req->who,
				     req->match.param[0], on_deleted, req, err);
	return r < 0 ? r : ROUTE_PENDING;
}

/* -------------------------------------------------------------------- items */

static void on_added(void *userdata, const struct error *err)
{
	struct request *req = userdata;
	struct error failure = ERROR_INIT;
	const struct work *work = req->work;
	struct page_writer page;
	size_t i;

	if (reply_failure(req, err))
		return;
	page_begin(&page, req);
	for (i = 0; i < work->items.count; i++) {
		item_write(&req->writer, NULL, &work->items.list[i],
			   work->include);
		page_item(&page, work->items.list[i].id);
	}
	request_finish(req, page_reply(&page, false, &failure), &failure);
}

static int check_any(const struct items *items, struct error *err)
{
	if (items->count > 0)
		return 0;
	return api_refuse(err, "items", "must have at least one item",
			  "missing_required_parameter");
}

int openai_conversation_items_create(struct request *req, struct error *err)
{
	_cleanup_free_ struct talk_item *list = NULL;
	struct json_object *object;
	struct work *work = NULL;
	int r;

	r = request_json(req, &object, err);
	if (r >= 0)
		r = work_new(req, &work, err);
	if (r >= 0)
		r = include_query(req, &work->include, err);
	if (r >= 0)
		r = read_items(req, object, &work->items, err);
	if (r >= 0)
		r = check_any(&work->items, err);
	if (r >= 0)
		r = borrow_items(&work->items, &list, err);
	if (r >= 0)
		r = core_conversation_add(req->core, &req->who,
					  req->match.param[0], list,
					  work->items.count, on_added, req, err);
	return r < 0 ? r : ROUTE_PENDING;
}

struct listing {
	struct page_writer page;
	unsigned include;
};

static void on_item(void *userdata, const struct talk_item *item)
{
	struct listing *listing = userdata;

	item_write_text(&listing->page.req->writer, NULL, item->json,
			item->size, listing->include);
	page_item(&listing->page, item->id);
}

int openai_conversation_items_list(struct request *req, struct error *err)
{
	struct listing listing = { .include = 0 };
	struct core_page page;
	bool more = false;
	int r;

	r = page_read(req, CORE_PAGE_MAX, PAGE_DEFAULT, &page, err);
	if (r >= 0)
		r = include_query(req, &listing.include, err);
	if (r < 0)
		return r;
	page_begin(&listing.page, req);
	r = core_conversation_item_list(req->core, &req->who,
					req->match.param[0], &page, on_item,
					&listing, &more, err);
	return r < 0 ? r : page_reply(&listing.page, more, err);
}

int openai_conversation_items_get(struct request *req, struct error *err)
{
	struct talk_item item;
	unsigned include = 0;
	int r;

	r = include_query(req, &include, err);
	if (r >= 0)
		r = core_conversation_item_get(req->core, &req->who,
					       req->match.param[0],
					       req->match.param[1], &item, err);
	if (r < 0)
		return r;
	item_write_text(reply_writer(req), NULL, item.json, item.size, include);
	return reply_json(req, MHD_HTTP_OK, err);
}

static void on_item_deleted(void *userdata, const struct error *err)
{
	struct conversation_view conversation;
	struct request *req = userdata;
	struct error failure = ERROR_INIT;

	if (reply_failure(req, err))
		return;
	if (core_conversation_get(req->core, &req->who, req->match.param[0],
				  &conversation, &failure) < 0)
		request_failed(req, &failure);
	else
		on_conversation(req, &conversation, NULL);
}

int openai_conversation_items_delete(struct request *req, struct error *err)
{
	int r;

	r = core_conversation_item_delete(req->core, &req->who,
					  req->match.param[0],
					  req->match.param[1], on_item_deleted,
					  req, err);
	return r < 0 ? r : ROUTE_PENDING;
}
