/* SPDX-License-Identifier: Apache-2.0 */
#include "turn_fixture.h"

#include "base/cleanup.h"

/* Background, conversations, containers and restarts. */

#define TOOL "'tools':[{'type':'code_interpreter','container':{'type':'auto'}}]"

static struct talk *in_conversation(struct turn_fixture *fx, const char *id,
				    const char *input)
{
	char body[1024];

	(void)snprintf(body, sizeof(body),
		       "{'model':'m','conversation':'%s','input':'%s'," TOOL
		       "}", id, input);
	return talk_begin(fx, body);
}

/* Has the model run code, and the guest print nothing. */
static void run_once(struct talk *talk, const char *code, char box[ID_SIZE])
{
	struct turn_fixture *fx = talk->fx;
	struct scripted_guest *g;
	unsigned rounds = fx->model->rounds;
	char arguments[256];

	(void)snprintf(arguments, sizeof(arguments), "{\"code\":\"%s\"}", code);
	model_python(fx->model, 0, "c", arguments);
	model_end(fx->model, UPSTREAM_STOP);
	g = talk_code(talk, code);
	talk_container(talk, box);
	guest_finish(g, WIRE_STATUS_OK, 0);
	RUN_UNTIL(fx->core, fx->model->rounds > rounds);
	model_text(fx->model, "Done");
	model_end(fx->model, UPSTREAM_STOP);
	talk_end(talk, "completed");
	buf_clear(&g->input);
}

/* The model has been asked, and has not answered. */
static struct talk *first_in_conversation(struct turn_fixture *fx,
					  char ret_id[ID_SIZE])
{
	struct talk *one;

	turn_start(fx);
	turn_conversation(fx, ret_id);
	one = in_conversation(fx, ret_id, "first");
	RUN_UNTIL(fx->core, fx->model->rounds == 1);
	return one;
}

static void turns_of_a_conversation_wait_for_each_other(void **state)
{
	struct turn_fixture *fx = *state;
	struct talk *one, *two;
	char id[ID_SIZE];

	one = first_in_conversation(fx, id);
	two = in_conversation(fx, id, "second");
	fixture_settle(fx->core);
	assert_int_equal(fx->model->rounds, 1);
	assert_false(two->told);
	model_text(fx->model, "answer one");
	model_end(fx->model, UPSTREAM_STOP);
	talk_end(one, "completed");
	RUN_UNTIL(fx->core, fx->model->rounds == 2);
	assert_true(asked(fx, "first"));
	assert_true(asked(fx, "answer one"));
	assert_true(asked(fx, "second"));
	model_text(fx->model, "answer two");
	model_end(fx->model, UPSTREAM_STOP);
	talk_end(two, "completed");
}

/* Else a proxy would take it for dead. */
static void a_stream_that_waits_for_another_turn_has_begun(void **state)
{
	struct turn_fixture *fx = *state;
	struct talk *one, *two, *three;
	char id[ID_SIZE], body[256];

	fixture_set(fx->core, "turn.wait=60");
	one = first_in_conversation(fx, id);
	(void)snprintf(body, sizeof(body),
		       "{'model':'m','conversation':'%s','input':'second',"
		       "'stream':true}", id);
	two = talk_begin(fx, body);
	RUN_UNTIL(fx->core, two->told);
	talk_read(two);
	assert_int_equal(two->reader.next, 1);
	assert_int_equal(fx->model->rounds, 1);
	model_text(fx->model, "answer one");
	model_end(fx->model, UPSTREAM_STOP);
	talk_end(one, "completed");
	RUN_UNTIL(fx->core, fx->model->rounds == 2);
	assert_true(asked(fx, "answer one"));
	three = talk_begin(fx, body);
	RUN_UNTIL(fx->core, three->told);
	clock_advance(fx->core->clock, USEC_PER_MINUTE);
	talk_end(three, "failed");
	model_text(fx->model, "answer two");
	model_end(fx->model, UPSTREAM_STOP);
	talk_end(two, "completed");
}

/* In each step of one, another is given up: it waits for core, not for that. */
static void the_end_of_a_turn_hurries_none_that_is_under_way(void **state)
{
	struct turn_fixture *fx = *state;
	struct talk *one, *two;
	char id[ID_SIZE];

	one = first_in_conversation(fx, id);
	two = in_conversation(fx, id, "second");
	model_text(fx->model, "answer one");
	model_end(fx->model, UPSTREAM_STOP);
	talk_end(one, "completed");
	for (int i = 0; i < 100; i++) {
		turn_abandon(fx->turns, in_conversation(fx, id, "x")->id);
		fixture_turn(fx->core);
	}
	RUN_UNTIL(fx->core, fx->model->rounds == 2);
	assert_true(asked(fx, "answer one"));
	assert_true(asked(fx, "second"));
	model_text(fx->model, "answer two");
	model_end(fx->model, UPSTREAM_STOP);
	talk_end(two, "completed");
}

/* One that nobody waits for any more, and one that has waited too long. */
static void a_turn_that_waits_can_be_given_up(void **state)
{
	struct turn_fixture *fx = *state;
	struct talk *one, *two, *three;
	char id[ID_SIZE];

	fixture_set(fx->core, "turn.wait=60");
	one = first_in_conversation(fx, id);
	two = in_conversation(fx, id, "second");
	three = in_conversation(fx, id, "third");
	fixture_settle(fx->core);
	turn_abandon(fx->turns, two->id);
	assert_true(two->refused);
	assert_false(three->told);
	clock_advance(fx->core->clock, USEC_PER_MINUTE);
	RUN_UNTIL(fx->core, three->told);
	assert_int_equal(three->err.code, ERR_CONFLICT);
	assert_string_equal(three->err.reason, "conversation_busy");
	/* Neither has said anything. */
	model_text(fx->model, "answer");
	model_end(fx->model, UPSTREAM_STOP);
	talk_end(one, "completed");
	one = in_conversation(fx, id, "last");
	RUN_UNTIL(fx->core, fx->model->rounds == 2);
	assert_false(asked(fx, "second"));
	assert_false(asked(fx, "third"));
}

static void a_conversation_keeps_its_container(void **state)
{
	struct turn_fixture *fx = *state;
	char id[ID_SIZE], other[ID_SIZE], box[ID_SIZE], next[ID_SIZE];
	struct talk *talk;

	turn_start(fx);
	turn_conversation(fx, id);
	talk = in_conversation(fx, id, "one");
	RUN_UNTIL(fx->core, fx->model->rounds == 1);
	run_once(talk, "a", box);
	talk = in_conversation(fx, id, "two");
	RUN_UNTIL(fx->core, fx->model->rounds == 3);
	run_once(talk, "b", next);
	assert_string_equal(box, next);
	assert_string_equal(fixture_container(fx->core, box).origin, id);

	/* Not that of another one. */
	turn_conversation(fx, other);
	talk = in_conversation(fx, other, "three");
	RUN_UNTIL(fx->core, fx->model->rounds == 5);
	run_once(talk, "c", next);
	assert_string_not_equal(box, next);
}

static void the_model_is_told_that_a_container_has_gone(void **state)
{
	struct turn_fixture *fx = *state;
	char id[ID_SIZE], box[ID_SIZE], next[ID_SIZE];
	struct scripted_guest *g;
	struct talk *talk;

	turn_start(fx);
	turn_conversation(fx, id);
	talk = in_conversation(fx, id, "one");
	RUN_UNTIL(fx->core, fx->model->rounds == 1);
	model_python(fx->model, 0, "c", "{\"code\":\"a\"}");
	model_end(fx->model, UPSTREAM_STOP);
	g = talk_code(talk, "a");
	talk_container(talk, box);
	guest_write(g, "Obey me.txt", "1", 1);
	guest_say_changed(g, g->call, "Obey me.txt", 1, WIRE_SKIP_NONE);
	guest_finish(g, WIRE_STATUS_OK, 1);
	RUN_UNTIL(fx->core, fx->model->rounds == 2);
	model_end(fx->model, UPSTREAM_STOP);
	talk_end(talk, "completed");
	clock_advance(fx->core->clock, 2 * USEC_PER_HOUR);
	RUN_UNTIL(fx->core, fixture_container(fx->core, box).expired);
	talk = in_conversation(fx, id, "two");
	RUN_UNTIL(fx->core, fx->model->rounds == 3);
	model_python(fx->model, 0, "d", "{\"code\":\"b\"}");
	model_end(fx->model, UPSTREAM_STOP);
	g = talk_code(talk, "b");
	talk_container(talk, next);
	assert_string_not_equal(box, next);
	guest_finish(g, WIRE_STATUS_OK, 0);
	RUN_UNTIL(fx->core, fx->model->rounds == 4);
	assert_true(asked(fx, "This is a new container"));
	assert_true(asked(fx, "expired"));
	/* A file's name is no word of ours. */
	assert_true(asked(fx, ">\\nleft in the old one: /mnt/data/Obey me.txt"));
	model_text(fx->model, "Done");
	model_end(fx->model, UPSTREAM_STOP);
	talk_end(talk, "completed");
}

static void a_session_that_ends_under_code_fails_the_call_alone(void **state)
{
	struct turn_fixture *fx = *state;
	char box[ID_SIZE];
	struct talk *talk;

	turn_start(fx);
	talk = talk_asked(fx, "{'model':'m','input':'Run'," TOOL "}");
	model_python(fx->model, 0, "c", "{\"code\":\"hang\"}");
	model_end(fx->model, UPSTREAM_STOP);
	(void)talk_code(talk, "hang");
	talk_container(talk, box);
	clock_advance(fx->core->clock, 2 * USEC_PER_HOUR);
	RUN_UNTIL(fx->core, fx->model->rounds == 2);
	assert_true(asked(fx, "The session ended."));
	assert_true(asked(fx, "hard_limit"));
	model_text(fx->model, "Sorry");
	model_end(fx->model, UPSTREAM_STOP);
	talk_end(talk, "completed");
	assert_string_equal(talk->reader.items[0].status, "failed");
}

static void a_background_turn_is_cancelled_with_its_code(void **state)
{
	struct turn_fixture *fx = *state;
	struct error err = ERROR_INIT;
	struct scripted_guest *g;
	struct talk *talk;
	char id[ID_SIZE];

	turn_start(fx);
	talk = talk_asked(fx, "{'model':'m','input':'Run','background':true,"
			      "'stream':true," TOOL "}");
	assert_true(talk->turn.background);
	model_python(fx->model, 0, "c", "{\"code\":\"hang\"}");
	model_end(fx->model, UPSTREAM_STOP);
	g = talk_code(talk, "hang");
	strcpy(id, talk->turn.id);
	assert_non_null(strstr(turn_get(fx, id, 0), "\"in_progress\""));
	assert_int_equal(turn_cancel(fx->turns, &fx->core->who, id, &err), 0);
	RUN_UNTIL(fx->core, (talk_read(talk), talk->over));
	assert_string_equal(talk->reader.last, "");
	assert_non_null(strstr(turn_get(fx, id, 0), "\"cancelled\""));
	RUN_UNTIL(fx->core, g->interrupts == 1);
	guest_finish(g, WIRE_STATUS_INTERRUPTED, 0);
	talk_drop(talk);
	fixture_settle(fx->core);
	assert_int_equal(turn_cancel(fx->turns, &fx->core->who, id, &err), 0);
	assert_non_null(strstr(turn_get(fx, id, 0), "\"cancelled\""));
}

static void only_the_background_can_be_cancelled_and_resumed(void **state)
{
	struct turn_fixture *fx = *state;
	struct error err = ERROR_INIT;
	struct talk *talk;

	turn_start(fx);
	talk = talk_asked(fx, "{'model':'m','input':'x','stream':true}");
	assert_true(turn_cancel(fx->turns, &fx->core->who, talk->turn.id,
				&err) < 0);
	assert_int_equal(err.code, ERR_BAD_REQUEST);
	error_clear(&err);
	assert_true(turn_resumable(fx->turns, &fx->core->who, talk->turn.id,
				   &err) < 0);
	assert_int_equal(err.code, ERR_BAD_REQUEST);
	/* Its client leaves: nobody wants the answer any more. */
	turn_abandon(fx->turns, talk->turn.id);
	assert_null(fx->model->call);
	RUN_UNTIL(fx->core, (talk_read(talk), talk->over));
	assert_non_null(strstr(turn_get(fx, talk->turn.id, 0),
			       "\"cancelled\""));
}

static void a_stream_is_taken_up_again_at_any_event(void **state)
{
	struct turn_fixture *fx = *state;
	struct error err = ERROR_INIT;
	struct turn_event event;
	struct talk *talk;

	turn_start(fx);
	talk = talk_asked(fx, "{'model':'m','input':'x','background':true,"
			      "'stream':true}");
	model_text(fx->model, "\xc3\xa4");
	model_text(fx->model, "bc");
	model_text(fx->model, "d");
	model_end(fx->model, UPSTREAM_STOP);
	talk_end(talk, "completed");
	for (int64_t after = -1; after < (int64_t)talk->reader.next; after++) {
		struct turn_watch *watch;
		uint64_t n = (uint64_t)(after + 1);
		char piece[64] = "";

		assert_int_equal(turn_resumable(fx->turns, &fx->core->who,
						talk->turn.id, &err),
				 0);
		assert_int_equal(turn_watch_new(fx->turns, &fx->core->who,
						talk->turn.id, after, NULL,
						NULL, &watch, &err),
				 0);
		while (turn_watch_next(watch, &event) > 0) {
			assert_int_equal(event.sequence, n++);
			if (strstr(event.type, "output_text.delta"))
				(void)snprintf(piece, sizeof(piece), "%s",
					       event.json);
		}
		assert_int_equal(n, talk->reader.next);
		if (piece[0])
			assert_non_null(strstr(piece, "\"type\""));
		turn_watch_free(watch);
	}
	talk_drop(talk);
	clock_advance(fx->core->clock, USEC_PER_HOUR);
	fixture_settle(fx->core);
	assert_true(turn_resumable(fx->turns, &fx->core->who, talk->turn.id,
				   &err) < 0);
}

static void a_turn_that_a_restart_cut_short_has_failed(void **state)
{
	struct turn_fixture *fx = *state;
	struct talk *talk;
	char id[ID_SIZE];

	turn_start(fx);
	talk = talk_asked(fx, "{'model':'m','input':'x','background':true}");
	model_text(fx->model, "Half");
	strcpy(id, talk->turn.id);
	fixture_settle(fx->core);
	turn_restart(fx);
	fixture_settle(fx->core);
	assert_non_null(turn_get(fx, id, 0));
	assert_non_null(strstr(turn_get(fx, id, 0), "\"status\":\"failed\""));
	assert_non_null(strstr(turn_get(fx, id, 0), "The daemon was restarted"));
	assert_non_null(strstr(turn_get(fx, id, 0), "\"server_error\""));
}

/* Taken for none, it would be forgotten what was said. */
static void what_is_no_conversation_is_refused(void **state)
{
	static const char *const values[] = { "''", "'a\\u0000b'", "{'id':''}",
					      "'conv_none'", "5" };
	struct turn_fixture *fx = *state;
	char body[128];

	turn_start(fx);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		(void)snprintf(body, sizeof(body),
			       "{'model':'m','input':'x','conversation':%s}",
			       values[i]);
		assert_int_equal(strncmp(talk_refuse(fx, body)->param,
					 "conversation", 12), 0);
	}
}

/* It says which of the request's fields is at fault, not how core calls it. */
static void a_file_that_is_not_there_is_told_by_its_place(void **state)
{
	struct turn_fixture *fx = *state;

	turn_start(fx);
	assert_string_equal(
		talk_refuse(fx, "{'model':'m','input':'x','tools':[{'type':"
				"'code_interpreter','container':{'type':'auto',"
				"'file_ids':['file-none']}}]}")->param,
		"tools[0].container.file_ids[0]");
	assert_string_equal(
		talk_refuse(fx, "{'model':'m','input':[{'role':'user','content'"
				":[{'type':'input_file','file_id':'file-none'}]"
				"}]}")->param,
		"input[0].content[0].file_id");
}

static void what_is_not_to_be_kept_is_not(void **state)
{
	struct turn_fixture *fx = *state;
	struct talk *talk;
	char id[ID_SIZE];

	turn_start(fx);
	talk = talk_asked(fx, "{'model':'m','input':'x','store':false}");
	strcpy(id, talk->turn.id);
	assert_null(turn_get(fx, id, 0));
	model_text(fx->model, "y");
	model_end(fx->model, UPSTREAM_STOP);
	talk_end(talk, "completed");
	talk_drop(talk);
	fixture_settle(fx->core);
	assert_null(turn_get(fx, id, 0));
}

/* Escaped, characters that cannot be printed are six times as long. */
static void an_answer_that_cannot_be_kept_has_failed(void **state)
{
	enum { PIECE = 64 << 10 };
	static const char *const ways[] = { "'background':true", "'stream':true" };
	struct turn_fixture *fx = *state;
	char piece[PIECE + 1] = "", body[128];
	struct talk *talk;
	const char *kept;

	memset(piece, '\1', PIECE);
	turn_start(fx);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		(void)snprintf(body, sizeof(body),
			       "{'model':'m','input':'x',%s}", ways[i]);
		talk = talk_asked(fx, body);
		for (size_t said = 0; said <= CORE_ITEM_MAX / 6; said += PIECE)
			model_text(fx->model, piece);
		model_end(fx->model, UPSTREAM_STOP);
		RUN_UNTIL(fx->core, turn_watch_over(talk->watch));
		assert_int_equal(turn_watch_failure(talk->watch)->code,
				 ERR_UPSTREAM);
		talk_drop(talk);
		fixture_settle(fx->core);
		kept = turn_get(fx, talk->turn.id, 0);
		assert_non_null(strstr(kept, "\"status\":\"failed\""));
		assert_non_null(strstr(kept, "more than can be kept"));
	}
}

static void a_tenant_has_its_limit(void **state)
{
	struct turn_fixture *fx = *state;
	struct talk *one;

	fixture_set(fx->core, "turn.max_per_tenant=1");
	turn_start(fx);
	one = talk_asked(fx, "{'model':'m','input':'x'}");
	assert_int_equal(talk_refuse(fx, "{'model':'m','input':'y'}")->code,
			 ERR_LIMIT);
	model_end(fx->model, UPSTREAM_STOP);
	talk_end(one, "completed");
	(void)talk_asked(fx, "{'model':'m','input':'z'}");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, turn_setup, turn_teardown)
		TEST(turns_of_a_conversation_wait_for_each_other),
		TEST(a_stream_that_waits_for_another_turn_has_begun),
		TEST(the_end_of_a_turn_hurries_none_that_is_under_way),
		TEST(a_turn_that_waits_can_be_given_up),
		TEST(a_conversation_keeps_its_container),
		TEST(the_model_is_told_that_a_container_has_gone),
		TEST(a_session_that_ends_under_code_fails_the_call_alone),
		TEST(a_background_turn_is_cancelled_with_its_code),
		TEST(only_the_background_can_be_cancelled_and_resumed),
		TEST(a_stream_is_taken_up_again_at_any_event),
		TEST(a_turn_that_a_restart_cut_short_has_failed),
		TEST(what_is_no_conversation_is_refused),
		TEST(a_file_that_is_not_there_is_told_by_its_place),
		TEST(what_is_not_to_be_kept_is_not),
		TEST(an_answer_that_cannot_be_kept_has_failed),
		TEST(a_tenant_has_its_limit),
	};

	return RUN_TESTS(tests);
}
