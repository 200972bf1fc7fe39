/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>

#include "store/db.h"
#include "store/list.h"

/* Reads of conversations and responses. */

static const struct {
	enum store_list list;
	enum store_read next;
} places[] = {
	[STORE_CONVERSATION_ITEMS] = { LIST_CONVERSATION_ITEMS,
				       READ_NEXT_CONVERSATION_ITEM },
	[STORE_RESPONSE_INPUTS] = { LIST_RESPONSE_INPUTS,
				    READ_NEXT_RESPONSE_INPUT },
	[STORE_RESPONSE_OUTPUTS] = { LIST_RESPONSE_OUTPUTS,
				     READ_NEXT_RESPONSE_OUTPUT },
};
static_assert(sizeof(places) / sizeof(places[0]) == STORE_ITEMS_COUNT,
	      "places[] doesn't match enum store_items");

int store_conversation_get(struct store *store, const char *tenant,
			   const char *id, struct buf *buf,
			   struct store_conversation *ret)
{
	return store_read_long(store, READ_CONVERSATION, id, tenant, NULL, buf,
			       ret);
}

int store_conversation_item_get(struct store *store, const char *tenant,
				const char *conversation, const char *id,
				struct buf *buf, struct store_item *ret)
{
	return store_read_long(store, READ_CONVERSATION_ITEM, id, tenant,
			       conversation, buf, ret);
}

int store_conversation_container_get(struct store *store, const char *tenant,
				     const char *conversation,
				     const char *agent,
				     struct store_conversation_container *ret)
{
	return store_read_texts(store, READ_CONVERSATION_CONTAINER, agent,
				tenant, conversation, ret);
}

int store_response_get(struct store *store, const char *tenant, const char *id,
		       struct buf *buf, struct store_response *ret)
{
	return store_read_long(store, READ_RESPONSE, id, tenant, NULL, buf,
			       ret);
}

static void copy_id(char to[STORE_ID_SIZE], sqlite3_stmt *statement, int column)
{
	const char *id = (const char *)sqlite3_column_text(statement, column);

	(void)snprintf(to, STORE_ID_SIZE, "%s", id ? id : "");
}

int store_response_head_get(struct store *store, const char *tenant,
			    const char *id, struct store_response_head *ret)
{
	sqlite3_stmt *statement = store->reads[READ_RESPONSE_HEAD];
	int r;

	r = store_read_bind(store, READ_RESPONSE_HEAD, id, tenant, NULL);
	if (r < 0)
		return r;
	r = db_step(statement);
	if (r > 0) {
		copy_id(ret->previous, statement, 0);
		ret->items = (uint64_t)sqlite3_column_int64(statement, 1);
		ret->item_bytes = (uint64_t)sqlite3_column_int64(statement, 2);
		ret->open = sqlite3_column_int64(statement, 3) != 0;
	}
	db_reset(statement);
	if (r < 0)
		return r;
	return r > 0 ? 0 : -ENOENT;
}

static int keep_text(sqlite3_stmt *statement, int column, struct buf *buf,
		     struct store_text *ret)
{
	const unsigned char *text = sqlite3_column_text(statement, column);
	size_t size = (size_t)sqlite3_column_bytes(statement, column);
	int r;

	buf_clear(buf);
	r = buf_add(buf, text, size);
	*ret = (struct store_text){ buf_str(buf), size };
	return r;
}

int store_item_find(struct store *store, const char *tenant, const char *id,
		    struct buf *buf, struct store_item *ret)
{
	sqlite3_stmt *statement = store->reads[READ_ITEM];
	int r;

	r = store_read_bind(store, READ_ITEM, id, tenant, NULL);
	if (r < 0)
		return r;
	r = db_step(statement);
	if (r > 0) {
		(void)snprintf(ret->id, sizeof(ret->id), "%s", id);
		r = keep_text(statement, 0, buf, &ret->json);
	} else if (r == 0) {
		r = -ENOENT;
	}
	db_reset(statement);
	return r < 0 ? r : 0;
}

int store_item_next(struct store *store, enum store_items list,
		    const char *tenant, const char *owner, int64_t *seq,
		    struct buf *buf, struct store_item *ret)
{
	enum store_read which = places[list].next;
	sqlite3_stmt *statement = store->reads[which];
	int rc, r;

	r = store_read_bind(store, which, owner, tenant, NULL);
	if (r < 0)
		return r;
	rc = sqlite3_bind_int64(statement, 3, *seq);
	if (rc != SQLITE_OK)
		return db_errno(store->db, rc);
	r = db_step(statement);
	if (r > 0) {
		*seq = sqlite3_column_int64(statement, 0);
		copy_id(ret->id, statement, 1);
		r = keep_text(statement, 2, buf, &ret->json);
	} else if (r == 0) {
		r = -ENOENT;
	}
	db_reset(statement);
	return r < 0 ? r : 0;
}

int store_item_list(struct store *store, enum store_items list,
		    const char *tenant, const char *owner,
		    const struct store_page *page, store_item_fn *each,
		    void *userdata, bool *ret_more)
{
	const struct list_query q = {
		.list = places[list].list,
		.tenant = tenant,
		.filter = owner,
	};
	const struct each call = { .item = each, .userdata = userdata };

	return list_page(store, &q, page, &call, ret_more);
}

int store_conversation_container_each(struct store *store, const char *tenant,
				      const char *conversation,
				      store_conversation_container_fn *each,
				      void *userdata)
{
	const struct list_query q = {
		.list = LIST_CONVERSATION_CONTAINERS,
		.tenant = tenant,
		.filter = conversation,
	};
	const struct each call = { .conversation_container = each,
				   .userdata = userdata };

	return list_all(store, &q, &call);
}

int store_response_each_open(struct store *store, store_response_fn *each,
			     void *userdata)
{
	const struct each call = { .response = each, .userdata = userdata };

	return list_all(store,
			&(struct list_query){ .list = LIST_OPEN_RESPONSES },
			&call);
}
