/* SPDX-License-Identifier: Apache-2.0 */
#include "core_talk_fixture.h"

/* What was said before, as a turn reads it. */

static void a_chain_is_read_oldest_first(void **state)
{
	struct fixture *fx = *state;
	struct answer a = { .called = false };
	char id[ID_SIZE];

	fixture_start(fx);
	assert_false(put(fx, 'a', 0, NULL, false).failed);
	assert_false(put(fx, 'b', 'a', NULL, false).failed);
	assert_false(put(fx, 'c', 'b', NULL, false).failed);
	name_response('c', id);
	expect_context(fx, id, NULL,
		       "msg_in_a msg_out_a msg_in_b msg_out_b "
		       "msg_in_c msg_out_c ");
	/* What is gone in the middle ends the chain. */
	name_response('b', id);
	assert_int_equal(core_response_delete(fx->core, &fx->who, id, on_done,
					      &a, &a.err),
			 0);
	name_response('c', id);
	expect_context(fx, id, NULL, "msg_in_c msg_out_c ");
	RUN_UNTIL(fx, a.called);
	expect_context(fx, id, NULL, "msg_in_c msg_out_c ");
}

static void an_unknown_previous_response_is_told(void **state)
{
	struct fixture *fx = *state;
	struct said said;
	char id[ID_SIZE];

	fixture_start(fx);
	name_response('a', id);
	read_context(fx, id, NULL, 100, &said);
	assert_true(said.answer.failed);
	assert_int_equal(said.answer.err.code, ERR_BAD_REQUEST);
	assert_string_equal(said.answer.err.reason,
			    "previous_response_not_found");
	read_context(fx, "../x", NULL, 100, &said);
	assert_string_equal(said.answer.err.reason,
			    "previous_response_not_found");
}

static void too_much_is_refused_with_the_numbers(void **state)
{
	struct fixture *fx = *state;
	struct said said;
	char id[ID_SIZE];

	fixture_start(fx);
	begin(fx, id);
	read_context(fx, NULL, id, 100, &said);
	assert_true(said.answer.failed);
	assert_string_equal(said.answer.err.reason, "context_length_exceeded");
	assert_non_null(strstr(said.answer.err.message, "526 bytes"));
	assert_false(put(fx, 'a', 0, NULL, false).failed);
	name_response('a', id);
	read_context(fx, id, NULL, 100, &said);
	assert_true(said.answer.failed);
	assert_string_equal(said.answer.err.reason, "context_length_exceeded");
	assert_int_equal(said.count, 0);
	buf_done(&said.items);
}

static void a_long_context_takes_several_turns(void **state)
{
	struct fixture *fx = *state;
	struct talk_item items[200];
	struct talk_context *context = NULL;
	struct said said = { .items = BUF_INIT(1 << 20) };
	struct answer a = { .called = false };
	char id[ID_SIZE], name[32];
	unsigned seen;
	int i;

	for (i = 0; i < 200; i++) {
		(void)snprintf(name, sizeof(name), "msg_%d", i);
		items[i] = item_of(name);
	}
	fixture_start(fx);
	begin(fx, id);
	assert_int_equal(core_conversation_add(fx->core, &fx->who, id, items,
					       200, on_done, &a, &a.err),
			 0);
	RUN_UNTIL(fx, a.called);
	assert_int_equal(core_context_read(fx->core, &fx->who, NULL, id,
					   1 << 20, on_item, on_read, &said,
					   &context, NULL),
			 0);
	RUN_UNTIL(fx, said.count > 0);
	seen = said.count;
	assert_true(seen < 100);
	RUN_UNTIL(fx, said.answer.called);
	assert_int_equal(said.count, 202);
	buf_done(&said.items);
}

static void reading_can_be_given_up(void **state)
{
	struct fixture *fx = *state;
	struct talk_context *context = NULL;
	struct said said = { .items = BUF_INIT(1 << 20) };
	char id[ID_SIZE];

	fixture_start(fx);
	begin(fx, id);
	assert_int_equal(core_context_read(fx->core, &fx->who, NULL, id,
					   1 << 20, on_item, on_read, &said,
					   &context, NULL),
			 0);
	core_context_cancel(context);
	fixture_settle(fx);
	assert_int_equal(said.count, 0);
	/* From inside of an item, too. */
	assert_int_equal(core_context_read(fx->core, &fx->who, NULL, id,
					   1 << 20, on_item, on_read, &said,
					   &said.cancel, NULL),
			 0);
	fixture_settle(fx);
	assert_int_equal(said.count, 1);
	assert_false(said.answer.called);
	/* And by the end of core. */
	assert_int_equal(core_context_read(fx->core, &fx->who, NULL, id,
					   1 << 20, on_item, on_read, &said,
					   &context, NULL),
			 0);
	buf_done(&said.items);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_chain_is_read_oldest_first),
		TEST(an_unknown_previous_response_is_told),
		TEST(too_much_is_refused_with_the_numbers),
		TEST(a_long_context_takes_several_turns),
		TEST(reading_can_be_given_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
