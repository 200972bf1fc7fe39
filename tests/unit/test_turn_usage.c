/* SPDX-License-Identifier: Apache-2.0 */
#include "turn_fixture.h"

/* What responses use is in the books, whatever becomes of them. */

#define TOOL "'tools':[{'type':'code_interpreter','container':{'type':'auto'}}]"

/* One round of the scripted model is 10 tokens in and 5 out. */
static const char *report(struct turn_fixture *fx, enum usage_by by,
			  struct answer *ret)
{
	fixture_settle(fx->core);
	*ret = (struct answer){ .called = false };
	assert_int_equal(core_admin_usage(fx->core->core, 0, by, NULL, on_json,
					  ret, &ret->err),
			 0);
	RUN_UNTIL(fx->core, ret->called);
	assert_false(ret->failed);
	return ret->text;
}

static void expect_sum(struct turn_fixture *fx, unsigned responses,
		       unsigned rounds, unsigned calls)
{
	struct answer a;
	char want[160];

	(void)snprintf(want, sizeof(want),
		       "\"responses\":%u,\"input_tokens\":%u,"
		       "\"output_tokens\":%u,\"tool_calls\":%u",
		       responses, 10 * rounds, 5 * rounds, calls);
	if (!strstr(report(fx, USAGE_BY_TENANT, &a), want))
		fail_msg("%s is not in %s", want, a.text);
}

static void say(struct turn_fixture *fx)
{
	model_text(fx->model, "Hello");
	model_end(fx->model, UPSTREAM_STOP);
}

static void a_response_is_counted_whether_it_is_kept_or_not(void **state)
{
	struct turn_fixture *fx = *state;
	struct talk *talk;

	turn_start(fx);
	talk = talk_asked(fx, "{'model':'m','input':'Hi'}");
	say(fx);
	talk_end(talk, "completed");
	expect_sum(fx, 1, 1, 0);
	talk = talk_asked(fx, "{'model':'m','input':'Hi','store':false}");
	say(fx);
	talk_end(talk, "completed");
	expect_sum(fx, 2, 2, 0);
	/* What is refused asked no model. */
	(void)talk_refuse(fx, "{'model':'m','input':'Hi','top_p':2}");
	expect_sum(fx, 2, 2, 0);
}

static void calls_and_the_time_of_the_session_are_counted(void **state)
{
	struct turn_fixture *fx = *state;
	struct scripted_guest *g;
	struct talk *talk;
	struct answer a;
	char id[ID_SIZE], body[256], want[160];

	turn_start(fx);
	turn_conversation(fx, id);
	(void)snprintf(body, sizeof(body),
		       "{'model':'m','conversation':'%s','input':'Run'," TOOL
		       "}", id);
	talk = talk_asked(fx, body);
	model_python(fx->model, 0, "c", "{\"code\":\"a\"}");
	model_end(fx->model, UPSTREAM_STOP);
	g = talk_code(talk, "a");
	clock_advance(fx->core->clock, 7 * USEC_PER_SEC);
	guest_finish(g, WIRE_STATUS_OK, 0);
	RUN_UNTIL(fx->core, fx->model->rounds == 2);
	say(fx);
	talk_end(talk, "completed");
	expect_sum(fx, 1, 2, 1);
	report(fx, USAGE_BY_TENANT, &a);
	assert_non_null(strstr(a.text, "\"held_s\":7"));

	/* The session and the response stand in one row. */
	report(fx, USAGE_BY_ORIGIN, &a);
	(void)snprintf(want, sizeof(want),
		       "\"origin\":\"%s\",\"sessions\":1,", id);
	assert_non_null(strstr(a.text, want));
	assert_null(strstr(a.text, "\"origin\":\"api\""));
	report(fx, USAGE_BY_KEY, &a);
	(void)snprintf(want, sizeof(want),
		       "\"key\":\"%s\",\"sessions\":1,\"live_sessions\":1,",
		       fx->core->who.key_id);
	assert_non_null(strstr(a.text, want));
	assert_non_null(strstr(a.text, "\"tool_calls\":1,\"held_s\":7"));
}

static void one_that_fails_is_deleted_or_cut_short_is_counted(void **state)
{
	struct turn_fixture *fx = *state;
	struct answer a = { .called = false };
	struct talk *talk;

	turn_start(fx);
	talk = talk_asked(fx, "{'model':'m','input':'Hi'}");
	model_fail(fx->model, ERR_UPSTREAM, "no");
	talk_end(talk, "failed");
	expect_sum(fx, 1, 0, 0);

	talk = talk_asked(fx, "{'model':'m','input':'Hi','background':true}");
	assert_int_equal(turn_delete(fx->turns, &fx->core->who, talk->turn.id,
				     on_done, &a, &a.err),
			 0);
	RUN_UNTIL(fx->core, a.called);
	expect_sum(fx, 2, 0, 0);

	talk = talk_asked(fx, "{'model':'m','input':'Hi','background':true}");
	turn_restart(fx);
	expect_sum(fx, 3, 0, 0);
	turn_restart(fx);
	expect_sum(fx, 3, 0, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, turn_setup, turn_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_response_is_counted_whether_it_is_kept_or_not),
		TEST(calls_and_the_time_of_the_session_are_counted),
		TEST(one_that_fails_is_deleted_or_cut_short_is_counted),
	};

	return RUN_TESTS(tests);
}
