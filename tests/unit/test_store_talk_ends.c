/* SPDX-License-Identifier: Apache-2.0 */
#include "store_talk_fixture.h"

/* Conversations and responses: how they come to be forgotten. */

static void deleting_leaves_what_others_have(void **state)
{
	static const char *const inputs[] = { "a", NULL };
	static const char *const outputs[] = { "b", NULL };
	struct fixture *fx = *state;
	struct store_batch *batch;

	put_conversation(fx, CONV);
	assert_int_equal(add_item(fx, CONV, "own", "1"), 0);
	put_response(fx, RESP, CONV, inputs, outputs);
	batch = store_batch_new(fx->store);
	(void)store_batch_delete_conversation_item(batch, CONV, "a");
	assert_int_equal(fixture_commit(fx, batch), 0);
	check_list(fx, STORE_CONVERSATION_ITEMS, CONV, "own b ");
	drop(fx, store_batch_delete_conversation, CONV);
	check_list(fx, STORE_CONVERSATION_ITEMS, CONV, "");
	check_list(fx, STORE_RESPONSE_OUTPUTS, RESP, "b ");
	assert_int_equal(count(fx, ITEMS), 2);
	drop(fx, store_batch_delete_response, RESP);
	assert_int_equal(count(fx, ITEMS), 0);
	assert_int_equal(talk_bytes(fx), 0);
}

static void what_is_old_is_swept(void **state)
{
	static const char *const inputs[] = { "a", NULL };
	const struct store_sweep_spec spec = { .talks_before_usec = 10 };
	struct fixture *fx = *state;
	struct store_batch *batch;
	struct store_swept swept;

	put_conversation(fx, CONV);
	assert_int_equal(add_item(fx, CONV, "x", "1"), 0);
	put_conversation(fx, "conv_2");
	put_response(fx, RESP, "conv_2", inputs, NULL);
	batch = store_batch_new(fx->store);
	(void)store_batch_touch_conversation(batch, "conv_2", 10);
	assert_int_equal(fixture_commit(fx, batch), 0);
	swept = fixture_sweep(fx, &spec);
	assert_int_equal(swept.conversations, 1);
	assert_int_equal(swept.conversation_items, 1);
	assert_int_equal(swept.responses, 1);
	assert_int_equal(swept.response_items, 1);
	assert_int_equal(count(fx, "SELECT count(*) FROM conversations"), 1);
	assert_int_equal(count(fx, ITEMS), 1);
}

static void a_closed_tenant_leaves_nothing(void **state)
{
	static const char *const inputs[] = { "a", NULL };
	struct store_tenant tenant = { .created_usec = 1, .closed_usec = 1 };
	const struct store_sweep_spec spec = { 0 };
	struct fixture *fx = *state;
	struct store_batch *batch;

	put_conversation(fx, CONV);
	put_response(fx, RESP, CONV, inputs, inputs);
	bind_container(fx, "", "cntr_1");
	COPY(tenant.id, "t1");
	batch = store_batch_new(fx->store);
	(void)store_batch_put_tenant(batch, &tenant);
	assert_int_equal(fixture_commit(fx, batch), 0);
	assert_int_equal(fixture_sweep(fx, &spec).tenants, 1);
	assert_int_equal(count(fx, ITEMS), 0);
	assert_int_equal(count(fx, "SELECT count(*) FROM responses"), 0);
	assert_int_equal(
		count(fx, "SELECT count(*) FROM conversation_containers"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(deleting_leaves_what_others_have),
		TEST(what_is_old_is_swept),
		TEST(a_closed_tenant_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
