/* SPDX-License-Identifier: Apache-2.0 */
/* To which request and trace belongs what a response has run. */

#include "journal.h"
#include "turn_fixture.h"

#define TRACE_ID "0af7651916cd43dd8448eb211c80319c"
#define TRACE "00-" TRACE_ID "-b7ad6b7169203331-01"

static int setup(void **state)
{
	int r = turn_setup(state);

	journal_begin();
	return r;
}

static int teardown(void **state)
{
	journal_end();
	return turn_teardown(state);
}

/* A response that has code run; Return: its guest. */
static struct scripted_guest *respond(struct turn_fixture *fx,
				      struct talk **ret)
{
	struct talk *talk;
	struct scripted_guest *g;

	talk = talk_asked(fx, "{'model':'m','input':'one','tools':"
			      "[{'type':'code_interpreter','container':"
			      "{'type':'auto'}}]}");
	model_python(fx->model, 0, "c", "{\"code\":\"a\"}");
	model_end(fx->model, UPSTREAM_STOP);
	g = talk_code(talk, "a");
	guest_finish(g, WIRE_STATUS_OK, 0);
	RUN_UNTIL(fx->core, fx->model->rounds == 2);
	model_text(fx->model, "Done");
	model_end(fx->model, UPSTREAM_STOP);
	talk_end(talk, "completed");
	*ret = talk;
	return g;
}

static void its_code_and_its_record_have_the_trace_of_the_request(void **state)
{
	struct turn_fixture *fx = *state;
	struct scripted_guest *g;
	struct talk *talk;
	const char *entry;
	char id[ID_SIZE];

	turn_start(fx);
	fx->trace = TRACE;
	g = respond(fx, &talk);
	strcpy(id, talk->id);
	assert_string_equal(g->trace, TRACE);
	assert_non_null(strstr(turn_get(fx, id, 0),
			       "\"trace_id\":\"" TRACE_ID "\""));

	entry = journal_find("AUDIT=execution");
	assert_non_null(entry);
	assert_true(journal_has(entry, "REQUEST_ID=" FIXTURE_REQUEST));
	assert_true(journal_has(entry, "TRACE_ID=" TRACE_ID));

	/* The last word about the response itself is found by both, too. */
	entry = journal_find("TRACE_ID=" TRACE_ID);
	assert_non_null(strstr(entry, id));
	assert_true(journal_has(entry, "REQUEST_ID=" FIXTURE_REQUEST));

	/* It is a part of the record, and outlives the daemon. */
	turn_restart(fx);
	assert_non_null(strstr(turn_get(fx, id, 0),
			       "\"trace_id\":\"" TRACE_ID "\""));
}

static void without_one_the_response_is_as_openai_has_it(void **state)
{
	struct turn_fixture *fx = *state;
	struct talk *talk;

	turn_start(fx);
	(void)respond(fx, &talk);
	assert_null(strstr(turn_get(fx, talk->id, 0), "trace_id"));
	assert_true(journal_has(journal_find("AUDIT=execution"),
				"REQUEST_ID=" FIXTURE_REQUEST));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(its_code_and_its_record_have_the_trace_of_the_request),
		TEST(without_one_the_response_is_as_openai_has_it),
	};

	return RUN_TESTS(tests);
}
