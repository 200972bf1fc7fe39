/* SPDX-License-Identifier: Apache-2.0 */
#include "turn_fixture.h"

/* What a model thinks, for those who asked for it. */

#define TOOL "'tools':[{'type':'code_interpreter','container':{'type':'auto'}}]"
#define ENCRYPTED "'include':['reasoning.encrypted_content']"

static void say(struct turn_fixture *fx, const char *text)
{
	model_text(fx->model, text);
	model_end(fx->model, UPSTREAM_STOP);
}

static void a_thought_is_shown_if_a_summary_is_asked_for(void **state)
{
	struct turn_fixture *fx = *state;
	struct talk *talk;

	turn_start(fx);
	talk = talk_asked(fx, "{'model':'m','input':'Hi','reasoning':{"
			      "'summary':'auto','effort':'low'}}");
	assert_true(asked(fx, "encrypted=-"));
	model_thought(fx->model, "Let me ");
	model_thought(fx->model, "see");
	say(fx, "Yes");
	talk_end(talk, "completed");
	assert_string_equal(buf_str(&talk->reader.order),
			    "created\nin_progress\noutput_item.added\n"
			    "reasoning_summary_part.added\n"
			    "reasoning_summary_text.delta\n"
			    "reasoning_summary_text.done\n"
			    "reasoning_summary_part.done\n"
			    "output_item.done\noutput_item.added\n"
			    "content_part.added\noutput_text.delta\n"
			    "output_text.done\ncontent_part.done\n"
			    "output_item.done\ncompleted\n");
	assert_non_null(strstr(buf_str(&talk->reader.response),
			       "\"summary\":[{\"type\":\"summary_text\","
			       "\"text\":\"Let me see\"}]}"));
	assert_non_null(strstr(buf_str(&talk->reader.response),
			       "\"reasoning\":{\"effort\":\"low\","
			       "\"summary\":\"auto\"}"));
	/* It is kept. */
	assert_non_null(strstr(turn_get(fx, talk->turn.id, 0), "Let me see"));
}

static void a_thought_that_nobody_asked_for_is_the_models_own(void **state)
{
	struct turn_fixture *fx = *state;
	struct talk *talk;

	turn_start(fx);
	talk = talk_asked(fx, "{'model':'m','input':'Hi','reasoning':{"
			      "'effort':'high','summary':null}}");
	model_thought(fx->model, "secret");
	model_encrypted(fx->model, "cipher");
	say(fx, "Yes");
	talk_end(talk, "completed");
	assert_int_equal(talk->reader.count, 1);
	assert_null(strstr(turn_get(fx, talk->turn.id, ~0u), "secret"));
	assert_null(strstr(turn_get(fx, talk->turn.id, ~0u), "cipher"));
}

/* In the next round, and when the client sends it again or names the response. */
static void what_is_encrypted_goes_back_to_its_model(void **state)
{
	struct turn_fixture *fx = *state;
	struct scripted_guest *g;
	struct talk *talk;
	char first[ID_SIZE], body[256];

	turn_start(fx);
	talk = talk_asked(fx, "{'model':'m','input':'Hi'," TOOL "," ENCRYPTED
			      "}");
	strcpy(first, talk->turn.id);
	assert_true(asked(fx, "encrypted=yes"));
	model_encrypted(fx->model, "cipher");
	model_python(fx->model, 0, "c", "{\"code\":\"a\"}");
	model_end(fx->model, UPSTREAM_STOP);
	g = talk_code(talk, "a");
	guest_finish(g, WIRE_STATUS_OK, 0);
	RUN_UNTIL(fx->core, fx->model->rounds == 2);
	assert_true(asked(fx, "item={\"type\":\"reasoning\",\"summary\":[],"
			      "\"encrypted_content\":\"cipher\"}\n"
			      "item={\"type\":\"function_call\""));
	say(fx, "Yes");
	talk_end(talk, "completed");
	assert_non_null(strstr(buf_str(&talk->reader.response),
			       "\"summary\":[],\"encrypted_content\":"
			       "\"cipher\"}"));
	/* Whoever fetches it has to ask again, but for the request's own. */
	assert_non_null(strstr(turn_get(fx, first, 0), "cipher"));

	(void)snprintf(body, sizeof(body), "{'model':'m','input':'On',"
		       "'previous_response_id':'%s'}", first);
	talk = talk_asked(fx, body);
	assert_true(asked(fx, "\"encrypted_content\":\"cipher\""));
	say(fx, "Yes");
	talk_end(talk, "completed");

	talk = talk_asked(fx, "{'model':'m','input':[{'type':'reasoning',"
			      "'summary':[],'encrypted_content':'sent'},{"
			      "'type':'reasoning','summary':[]},{'role':'user',"
			      "'content':'x'}]}");
	assert_true(asked(fx, "\"encrypted_content\":\"sent\""));
	say(fx, "Yes");
	talk_end(talk, "completed");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, turn_setup, turn_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_thought_is_shown_if_a_summary_is_asked_for),
		TEST(a_thought_that_nobody_asked_for_is_the_models_own),
		TEST(what_is_encrypted_goes_back_to_its_model),
	};

	return RUN_TESTS(tests);
}
