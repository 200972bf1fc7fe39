/* SPDX-License-Identifier: Apache-2.0 */
#include "store_talk_fixture.h"

/* Conversations and responses: what is kept, and how it is read. */

static void items_keep_their_order_and_their_text(void **state)
{
	struct fixture *fx = *state;
	_cleanup_(buf_done) struct buf buf = BUF_INIT(STORE_TEXT_MAX + 1);
	struct store_conversation row;

	put_conversation(fx, CONV);
	assert_int_equal(add_item(fx, CONV, "b", "\"one\""), 0);
	assert_int_equal(add_item(fx, CONV, "a", "\"two\""), 0);
	check_list(fx, STORE_CONVERSATION_ITEMS, CONV, "b a ");
	check_text(fx, CONV, "a", "\"two\"");
	assert_int_equal(store_conversation_get(fx->store, "t1", CONV, &buf,
						&row),
			 0);
	assert_int_equal(row.items, 2);
	assert_string_equal(row.metadata.data, "{}");
}

static void pages_go_by_the_id_of_an_item(void **state)
{
	struct fixture *fx = *state;
	_cleanup_(buf_done) struct buf seen = BUF_INIT(4096);
	struct store_page page = { .limit = 1, .after = "b" };
	bool more = true;

#define LIST                                                      \
	store_item_list(fx->store, STORE_CONVERSATION_ITEMS, "t1", CONV, \
			&page, see, &seen, &more)
	put_conversation(fx, CONV);
	assert_int_equal(add_item(fx, CONV, "a", "1"), 0);
	assert_int_equal(add_item(fx, CONV, "b", "2"), 0);
	assert_int_equal(add_item(fx, CONV, "c", "3"), 0);
	assert_int_equal(LIST, 0);
	assert_string_equal(buf_str(&seen), "a ");
	assert_false(more);
	page.ascending = true;
	assert_int_equal(LIST, 0);
	assert_string_equal(buf_str(&seen), "a c ");
	page.after = "z";
	assert_int_equal(LIST, -ENOENT);
#undef LIST
}

static void another_tenant_sees_nothing(void **state)
{
	struct fixture *fx = *state;
	_cleanup_(buf_done) struct buf buf = BUF_INIT(STORE_TEXT_MAX + 1);
	const struct store_page page = { .limit = 10 };
	struct store_conversation conversation;
	struct store_response_head head;
	struct store_response response;
	struct store_item item;
	int64_t seq = 0;

	put_conversation(fx, CONV);
	assert_int_equal(add_item(fx, CONV, "a", "1"), 0);
	put_response(fx, RESP, NULL, (const char *const[]){ "1", NULL }, NULL);
	assert_int_equal(store_conversation_get(fx->store, "t2", CONV, &buf,
						&conversation),
			 -ENOENT);
	assert_int_equal(store_conversation_item_get(fx->store, "t2", CONV, "a",
						     &buf, &item),
			 -ENOENT);
	assert_int_equal(store_item_find(fx->store, "t2", "a", &buf, &item),
			 -ENOENT);
	assert_int_equal(store_response_get(fx->store, "t2", RESP, &buf,
					    &response),
			 -ENOENT);
	assert_int_equal(store_response_head_get(fx->store, "t2", RESP, &head),
			 -ENOENT);
	assert_int_equal(store_item_next(fx->store, STORE_RESPONSE_INPUTS, "t2",
					 RESP, &seq, &buf, &item),
			 -ENOENT);
	assert_int_equal(store_item_list(fx->store, STORE_CONVERSATION_ITEMS,
					 "t2", CONV, &page, see, &buf, NULL),
			 0);
	assert_int_equal(buf.length, 0);
}

static void an_id_that_is_there_fails_the_batch(void **state)
{
	struct fixture *fx = *state;

	put_conversation(fx, CONV);
	assert_int_equal(add_item(fx, CONV, "a", "1"), 0);
	assert_int_equal(add_item(fx, CONV, "a", "2"), -EEXIST);
	assert_int_equal(add_item(fx, "conv_none", "a", "1"), -ENOENT);
	assert_int_equal(count(fx, ITEMS), 1);
}

static void the_same_text_is_stored_once(void **state)
{
	static const char *const inputs[] = { "a", "b", NULL };
	static const char *const outputs[] = { "c", NULL };
	struct fixture *fx = *state;

	put_conversation(fx, CONV);
	put_response(fx, RESP, NULL, inputs, NULL);
	put_response(fx, RESP, CONV, NULL, outputs);
	put_response(fx, "resp_2", NULL, inputs, outputs);
	assert_int_equal(count(fx, ITEMS), 3);
	check_list(fx, STORE_CONVERSATION_ITEMS, CONV, "a b c ");
	check_list(fx, STORE_RESPONSE_INPUTS, RESP, "a b ");
	check_list(fx, STORE_RESPONSE_OUTPUTS, RESP, "c ");
}

static void changed_text_of_an_id_leaves_the_older_alone(void **state)
{
	struct fixture *fx = *state;
	_cleanup_(buf_done) struct buf buf = BUF_INIT(STORE_TEXT_MAX + 1);
	struct store_item item;

	put_conversation(fx, CONV);
	put_conversation(fx, "conv_2");
	assert_int_equal(add_item(fx, CONV, "a", "\"said\""), 0);
	assert_int_equal(add_item(fx, "conv_2", "a", "\"forged\""), 0);
	check_text(fx, CONV, "a", "\"said\"");
	assert_int_equal(store_item_find(fx->store, "t1", "a", &buf, &item), 0);
	assert_string_equal(item.json.data, "\"forged\"");
}

static void the_last_put_says_what_the_outputs_are(void **state)
{
	static const char *const inputs[] = { "a", NULL };
	static const char *const other[] = { "x", NULL };
	static const char *const first[] = { "b", "c", "d", NULL };
	static const char *const last[] = { "b", "e", NULL };
	struct fixture *fx = *state;
	struct store_response_head head;

	put_response(fx, RESP, NULL, inputs, first);
	put_response(fx, RESP, NULL, other, last);
	check_list(fx, STORE_RESPONSE_INPUTS, RESP, "a ");
	check_list(fx, STORE_RESPONSE_OUTPUTS, RESP, "b e ");
	/* What is nowhere any more is gone. */
	assert_int_equal(count(fx, ITEMS), 3);
	assert_int_equal(store_response_head_get(fx->store, "t1", RESP, &head),
			 0);
	assert_int_equal(head.items, 3);
	assert_int_equal(head.item_bytes, 3 * (1 + 256));
}

static void appending_skips_what_is_there(void **state)
{
	static const char *const inputs[] = { "a", "b", NULL };
	static const char *const outputs[] = { "c", NULL };
	struct fixture *fx = *state;

	put_conversation(fx, CONV);
	assert_int_equal(add_item(fx, CONV, "b", "b"), 0);
	put_response(fx, RESP, CONV, inputs, outputs);
	put_response(fx, RESP, CONV, inputs, outputs);
	check_list(fx, STORE_CONVERSATION_ITEMS, CONV, "b a c ");
	/* One that has gone takes nothing, and the response is kept. */
	put_response(fx, "resp_2", "conv_gone", inputs, outputs);
	check_list(fx, STORE_RESPONSE_INPUTS, "resp_2", "a b ");
}

static void bytes_are_counted_as_they_come_and_go(void **state)
{
	struct fixture *fx = *state;
	struct store_conversation row = conversation_row(CONV, "t1");
	struct store_batch *batch;

	put_conversation(fx, CONV);
	assert_int_equal(talk_bytes(fx), 512 + 2);
	/* Bytes, not characters. */
	assert_int_equal(add_item(fx, CONV, "a", "\"\xc3\xa4\""), 0);
	assert_int_equal(talk_bytes(fx), 512 + 2 + 256 + 4);
	row.metadata = text("{\"k\":1}");
	batch = store_batch_new(fx->store);
	(void)store_batch_put_conversation(batch, &row);
	assert_int_equal(fixture_commit(fx, batch), 0);
	assert_int_equal(talk_bytes(fx), 512 + 7 + 256 + 4);
}

static void see_container(void *userdata,
			  const struct store_conversation_container *row)
{
	(void)buf_printf(userdata, "%s=%s ", row->agent, row->id);
}

static void an_agent_has_one_container(void **state)
{
	struct fixture *fx = *state;
	_cleanup_(buf_done) struct buf seen = BUF_INIT(4096);
	struct store_conversation_container row;

	put_conversation(fx, CONV);
	bind_container(fx, "", "cntr_1");
	bind_container(fx, "p/a", "cntr_2");
	bind_container(fx, "", "cntr_3");
	assert_int_equal(store_conversation_container_get(fx->store, "t1", CONV,
							  "", &row),
			 0);
	assert_string_equal(row.id, "cntr_3");
	assert_int_equal(store_conversation_container_each(
				 fx->store, "t1", CONV, see_container, &seen),
			 0);
	assert_string_equal(buf_str(&seen), "p/a=cntr_2 =cntr_3 ");
}

static void see_open(void *userdata, const struct store_response *row)
{
	(void)buf_printf(userdata, "%s ", row->id);
}

static void what_was_under_way_is_found_at_the_start(void **state)
{
	struct fixture *fx = *state;
	_cleanup_(buf_done) struct buf seen = BUF_INIT(4096);
	struct store_response row = response_row("resp_open", "t1");
	struct store_batch *batch = store_batch_new(fx->store);

	row.open = true;
	(void)store_batch_put_response(batch, &row);
	assert_int_equal(fixture_commit(fx, batch), 0);
	put_response(fx, RESP, NULL, NULL, NULL);
	assert_int_equal(store_response_each_open(fx->store, see_open, &seen),
			 0);
	assert_string_equal(buf_str(&seen), "resp_open ");
}

static void a_long_text_is_kept_and_a_longer_one_refused(void **state)
{
	struct fixture *fx = *state;
	_cleanup_free_ char *json = malloc(STORE_TEXT_MAX + 2);

	assert_non_null(json);
	memset(json, 'x', STORE_TEXT_MAX + 1);
	json[STORE_TEXT_MAX + 1] = '\0';
	put_conversation(fx, CONV);
	assert_int_equal(add_item(fx, CONV, "a", json), -E2BIG);
	json[STORE_TEXT_MAX] = '\0';
	assert_int_equal(add_item(fx, CONV, "a", json), 0);
	check_text(fx, CONV, "a", json);
	assert_int_equal(add_item(fx, CONV, "b", "\xff"), -EILSEQ);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(items_keep_their_order_and_their_text),
		TEST(pages_go_by_the_id_of_an_item),
		TEST(another_tenant_sees_nothing),
		TEST(an_id_that_is_there_fails_the_batch),
		TEST(the_same_text_is_stored_once),
		TEST(changed_text_of_an_id_leaves_the_older_alone),
		TEST(the_last_put_says_what_the_outputs_are),
		TEST(appending_skips_what_is_there),
		TEST(bytes_are_counted_as_they_come_and_go),
		TEST(an_agent_has_one_container),
		TEST(what_was_under_way_is_found_at_the_start),
		TEST(a_long_text_is_kept_and_a_longer_one_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
