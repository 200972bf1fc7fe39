/* SPDX-License-Identifier: Apache-2.0 */
#include "core_talk_fixture.h"

/* Conversations and responses of a core. */

static void a_conversation_keeps_what_it_is_given(void **state)
{
	struct fixture *fx = *state;
	const struct talk_item more = item_of("msg_c");
	struct answer a = { .called = false };
	struct conversation_view view;
	char id[ID_SIZE];

	fixture_start(fx);
	begin(fx, id);
	assert_int_equal(core_conversation_add(fx->core, &fx->who, id, &more, 1,
					       on_done, &a, &a.err),
			 0);
	RUN_UNTIL(fx, a.called);
	assert_false(a.failed);
	expect_context(fx, NULL, id, "msg_a msg_b msg_c ");
	a = (struct answer){ .called = false };
	assert_int_equal(core_conversation_update(fx->core, &fx->who, id, "{}",
						  on_conversation, &a, &a.err),
			 0);
	RUN_UNTIL(fx, a.called);
	assert_string_equal(a.text, "{}");
	a = (struct answer){ .called = false };
	assert_int_equal(core_conversation_item_delete(fx->core, &fx->who, id,
						       "msg_b", on_done, &a,
						       &a.err),
			 0);
	RUN_UNTIL(fx, a.called);
	expect_context(fx, NULL, id, "msg_a msg_c ");
	fixture_kill(fx);
	fixture_start(fx);
	assert_int_equal(core_conversation_get(fx->core, &fx->who, id, &view,
					       NULL),
			 0);
	expect_context(fx, NULL, id, "msg_a msg_c ");
}

static void an_item_is_in_a_conversation_once(void **state)
{
	struct fixture *fx = *state;
	const struct talk_item again = item_of("msg_a");
	struct answer a = { .called = false };
	char id[ID_SIZE];

	fixture_start(fx);
	begin(fx, id);
	assert_int_equal(core_conversation_add(fx->core, &fx->who, id, &again,
					       1, on_done, &a, &a.err),
			 0);
	RUN_UNTIL(fx, a.called);
	assert_true(a.failed);
	assert_int_equal(a.err.code, ERR_BAD_REQUEST);
	assert_string_equal(a.err.param, "items");
}

static void strangers_find_nothing(void **state)
{
	struct fixture *fx = *state;
	struct principal other = { .tenant = "other" };
	struct conversation_view view;
	struct response_view response;
	struct talk_context *context;
	struct talk_item item;
	struct answer a = { .called = false };
	char id[ID_SIZE], resp[ID_SIZE];

	fixture_start(fx);
	begin(fx, id);
	a = put(fx, 'a', 0, NULL, false);
	assert_false(a.failed);
	name_response('a', resp);
	fx->who = other;
	assert_true(core_conversation_get(fx->core, &other, id, &view, NULL) <
		    0);
	assert_true(core_conversation_delete(fx->core, &other, id, on_done, &a,
					     NULL) < 0);
	assert_true(core_item_find(fx->core, &other, "msg_a", &item, NULL) < 0);
	assert_true(core_response_get(fx->core, &other, resp, &response, NULL) <
		    0);
	assert_true(core_context_read(fx->core, &other, resp, NULL, 1 << 20,
				      on_item, on_read, NULL, &context,
				      NULL) < 0);
	assert_true(core_context_read(fx->core, &other, NULL, id, 1 << 20,
				      on_item, on_read, NULL, &context,
				      NULL) < 0);
}

static void a_deletion_is_believed_at_once(void **state)
{
	struct fixture *fx = *state;
	const struct talk_item more = item_of("msg_c");
	struct answer a = { .called = false }, b = { .called = false };
	struct error err = ERROR_INIT;
	char id[ID_SIZE];

	fixture_start(fx);
	begin(fx, id);
	assert_int_equal(core_conversation_delete(fx->core, &fx->who, id,
						  on_done, &a, &a.err),
			 0);
	assert_false(a.called);
	assert_true(core_conversation_update(fx->core, &fx->who, id, "{}",
					     on_conversation, &b, &err) < 0);
	assert_int_equal(err.code, ERR_NOT_FOUND);
	assert_true(core_conversation_add(fx->core, &fx->who, id, &more, 1,
					  on_done, &b, NULL) < 0);
	assert_true(core_conversation_delete(fx->core, &fx->who, id, on_done,
					     &b, NULL) < 0);
	RUN_UNTIL(fx, a.called);
	assert_false(a.failed);
	fixture_kill(fx);
	fixture_start(fx);
	assert_true(core_conversation_delete(fx->core, &fx->who, id, on_done,
					     &b, NULL) < 0);
}

static void its_containers_end_with_it(void **state)
{
	struct fixture *fx = *state;
	struct answer a = { .called = false }, b = { .called = false };
	struct container_view view;
	char id[ID_SIZE], bound[ID_SIZE], container[ID_SIZE], other[ID_SIZE];

	fixture_start(fx);
	(void)fixture_session(fx, container);
	(void)fixture_session(fx, other);
	begin(fx, id);
	assert_int_equal(core_conversation_container(fx->core, &fx->who, id,
						     "p/a", bound, NULL),
			 0);
	assert_string_equal(bound, "");
	assert_int_equal(core_conversation_bind(fx->core, &fx->who, id, "p/a",
						container, on_done, &a, &a.err),
			 0);
	RUN_UNTIL(fx, a.called);
	assert_int_equal(core_conversation_container(fx->core, &fx->who, id,
						     "p/a", bound, NULL),
			 0);
	assert_string_equal(bound, container);
	assert_int_equal(core_conversation_container(fx->core, &fx->who, id,
						     "", bound, NULL),
			 0);
	assert_string_equal(bound, "");
	assert_int_equal(core_conversation_delete(fx->core, &fx->who, id,
						  on_done, &b, &b.err),
			 0);
	RUN_UNTIL(fx, b.called);
	fixture_wait_state(fx, container, SESSION_VIEW_ENDED);
	view = fixture_container(fx, container);
	assert_string_equal(view.ended_reason, "conversation_deleted");
	view = fixture_container(fx, other);
	assert_int_equal(view.state, SESSION_VIEW_RUNNING);
}

static void a_quota_bounds_what_is_said(void **state)
{
	struct fixture *fx = *state;
	struct answer a = { .called = false };
	struct error err = ERROR_INIT;
	struct talk_item item = item_of("msg_a");
	char big[4096], id[ID_SIZE];

	memset(big, 'x', sizeof(big));
	big[0] = big[sizeof(big) - 1] = '"';
	item.json = big;
	item.size = sizeof(big);
	fixture_set(fx, "store.quota=4K");
	fixture_start(fx);
	begin(fx, id);
	assert_true(core_conversation_add(fx->core, &fx->who, id, &item, 1,
					  on_done, &a, &err) < 0);
	assert_int_equal(err.code, ERR_LIMIT);
	assert_string_equal(err.reason, "quota");
	/* What has begun comes to its end. */
	a = put(fx, 'a', 0, id, false);
	assert_false(a.failed);
}

static void a_turn_is_appended_when_it_is_over(void **state)
{
	struct fixture *fx = *state;
	struct answer a;
	char id[ID_SIZE];

	fixture_start(fx);
	begin(fx, id);
	a = put(fx, 'a', 0, NULL, true);
	assert_false(a.failed);
	expect_context(fx, NULL, id, "msg_a msg_b ");
	a = put(fx, 'a', 0, id, false);
	assert_false(a.failed);
	expect_context(fx, NULL, id, "msg_a msg_b msg_in_a msg_out_a ");
}

static void on_open(void *userdata, const struct principal *who,
		    const struct response_view *response)
{
	struct answer *a = userdata;

	assert_string_equal(who->tenant, "default");
	assert_true(response->open);
	assert_string_equal(response->json, "{}");
	strcpy(a->id, response->id);
}

static void what_was_under_way_is_found_at_the_start(void **state)
{
	struct fixture *fx = *state;
	struct answer a = { .called = false };
	char id[ID_SIZE];

	fixture_start(fx);
	assert_false(put(fx, 'a', 0, NULL, true).failed);
	assert_false(put(fx, 'b', 0, NULL, false).failed);
	fixture_kill(fx);
	fixture_start(fx);
	assert_int_equal(core_response_each_open(fx->core, on_open, &a, NULL),
			 0);
	name_response('a', id);
	assert_string_equal(a.id, id);
}

static void inputs_and_outputs_are_listed(void **state)
{
	struct fixture *fx = *state;
	const struct core_page page = { .limit = 10 };
	struct said said = { .items = BUF_INIT(1 << 20) };
	bool more = true;
	char id[ID_SIZE];

	fixture_start(fx);
	assert_false(put(fx, 'a', 0, NULL, false).failed);
	name_response('a', id);
	assert_int_equal(core_response_input_list(fx->core, &fx->who, id, &page,
						  on_item, &said, &more, NULL),
			 0);
	assert_false(more);
	assert_int_equal(core_response_output_each(fx->core, &fx->who, id,
						   on_item, &said, NULL),
			 0);
	assert_string_equal(buf_str(&said.items), "msg_in_a msg_out_a ");
	buf_done(&said.items);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_conversation_keeps_what_it_is_given),
		TEST(an_item_is_in_a_conversation_once),
		TEST(strangers_find_nothing),
		TEST(a_deletion_is_believed_at_once),
		TEST(its_containers_end_with_it),
		TEST(a_quota_bounds_what_is_said),
		TEST(a_turn_is_appended_when_it_is_over),
		TEST(what_was_under_way_is_found_at_the_start),
		TEST(inputs_and_outputs_are_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
