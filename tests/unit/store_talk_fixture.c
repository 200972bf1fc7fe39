/* SPDX-License-Identifier: Apache-2.0 */
#include "store_talk_fixture.h"

struct store_conversation conversation_row(const char *id, const char *tenant)
{
	struct store_conversation row = { .created_usec = 1,
					  .changed_usec = 1,
					  .metadata = text("{}") };

	COPY(row.id, id);
	COPY(row.tenant, tenant);
	return row;
}

struct store_response response_row(const char *id, const char *tenant)
{
	struct store_response row = { .created_usec = 1,
				      .changed_usec = 1,
				      .json = text("{\"r\":1}") };

	COPY(row.id, id);
	COPY(row.tenant, tenant);
	return row;
}

struct store_item item_row(const char *owner, const char *id, const char *json)
{
	struct store_item row = { .json = text(json) };

	COPY(row.id, id);
	COPY(row.tenant, "t1");
	COPY(row.owner, owner);
	return row;
}

void put_conversation(struct fixture *fx, const char *id)
{
	struct store_batch *batch = store_batch_new(fx->store);
	struct store_conversation row = conversation_row(id, "t1");

	(void)store_batch_put_conversation(batch, &row);
	assert_int_equal(fixture_commit(fx, batch), 0);
}

int add_item(struct fixture *fx, const char *conversation, const char *id,
	     const char *json)
{
	struct store_batch *batch = store_batch_new(fx->store);
	struct store_item row = item_row(conversation, id, json);

	(void)store_batch_add_conversation_item(batch, &row);
	return fixture_commit(fx, batch);
}

/* Each item's text is its id. Return: how many there are */
uint32_t put_items(struct store_batch *batch, const char *response,
		   const char *const *ids, bool output)
{
	uint32_t n;

	for (n = 0; ids && ids[n]; n++) {
		struct store_item item = item_row(response, ids[n], ids[n]);

		item.position = n;
		item.output = output;
		(void)store_batch_put_response_item(batch, &item);
	}
	return n;
}

void put_response(struct fixture *fx, const char *id, const char *conversation,
		  const char *const *inputs, const char *const *outputs)
{
	struct store_batch *batch = store_batch_new(fx->store);
	struct store_response row = response_row(id, "t1");

	if (conversation)
		COPY(row.conversation, conversation);
	(void)store_batch_put_response(batch, &row);
	(void)put_items(batch, id, inputs, false);
	(void)store_batch_trim_outputs(batch, id,
				       put_items(batch, id, outputs, true));
	if (conversation)
		(void)store_batch_append_response(batch, id);
	assert_int_equal(fixture_commit(fx, batch), 0);
}

void see(void *userdata, const struct store_item *row)
{
	(void)buf_printf(userdata, "%s ", row->id);
}

void check_list(struct fixture *fx, enum store_items list, const char *owner,
		const char *expected)
{
	_cleanup_(buf_done) struct buf seen = BUF_INIT(4096);
	const struct store_page page = { .limit = 100, .ascending = true };

	assert_int_equal(store_item_list(fx->store, list, "t1", owner, &page,
					 see, &seen, NULL),
			 0);
	assert_string_equal(buf_str(&seen), expected);
}

int64_t count(struct fixture *fx, const char *sql)
{
	sqlite3_stmt *statement = NULL;
	int64_t n;

	assert_int_equal(
		sqlite3_prepare_v2(fx->store->db, sql, -1, &statement, NULL),
		SQLITE_OK);
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	n = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return n;
}

void check_text(struct fixture *fx, const char *conversation, const char *id,
		const char *json)
{
	_cleanup_(buf_done) struct buf buf = BUF_INIT(STORE_TEXT_MAX + 1);
	struct store_item item;

	assert_int_equal(store_conversation_item_get(fx->store, "t1",
						     conversation, id, &buf,
						     &item),
			 0);
	assert_string_equal(item.json.data, json);
	assert_int_equal(item.json.size, strlen(json));
}

uint64_t talk_bytes(struct fixture *fx)
{
	struct store_totals t;

	assert_int_equal(store_tenant_totals(fx->store, "t1", &t), 0);
	return t.talk_bytes;
}

void drop(struct fixture *fx,
	  int (*delete)(struct store_batch *batch, const char *id),
	  const char *id)
{
	struct store_batch *batch = store_batch_new(fx->store);

	(void)delete (batch, id);
	assert_int_equal(fixture_commit(fx, batch), 0);
}

void bind_container(struct fixture *fx, const char *agent, const char *id)
{
	struct store_batch *batch = store_batch_new(fx->store);
	struct store_conversation_container row = { .agent = "" };

	COPY(row.conversation_id, CONV);
	COPY(row.tenant, "t1");
	COPY(row.agent, agent);
	COPY(row.id, id);
	(void)store_batch_put_conversation_container(batch, &row);
	assert_int_equal(fixture_commit(fx, batch), 0);
}
