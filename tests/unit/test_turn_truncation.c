/* SPDX-License-Identifier: Apache-2.0 */
#include "turn_fixture.h"

#include "base/cleanup.h"

/* Talks that have become too long for their model. */


#define AUTO "'truncation':'auto'"

enum { PIECE = 10000 };

static void say(struct turn_fixture *fx, struct talk *talk)
{
	model_text(fx->model, "Yes");
	model_end(fx->model, UPSTREAM_STOP);
	talk_end(talk, "completed");
}

/* A text that begins with a word, and is long. */
static void add_text(struct buf *body, const char *role, const char *word)
{
	(void)buf_printf(body, "{'role':'%s','content':'%s ", role, word);
	for (size_t i = 0; i < PIECE / 10; i++)
		(void)buf_add_str(body, "0123456789");
	(void)buf_add_str(body, "'},");
}

/* In 64 KiB there is room for six of them. */
static const char *long_talk(struct buf *body, const char *more)
{
	char word[8];

	(void)buf_printf(body, "{'model':'m',%s 'input':[", more);
	add_text(body, "developer", "rules");
	(void)buf_add_str(body,
			  "{'type':'function_call','call_id':'c1','name':'f',"
			  "'arguments':'{}'},");
	for (unsigned i = 0; i < 4; i++) {
		(void)snprintf(word, sizeof(word), "word%u", i);
		add_text(body, "user", word);
	}
	(void)buf_add_str(body, "{'type':'function_call_output','call_id':'c1',"
				"'output':'of-c1'},{'role':'user','content':"
				"'last'}]}");
	return buf_str(body);
}

static void begin(struct turn_fixture *fx, char id[ID_SIZE])
{
	_cleanup_(buf_done) struct buf body = BUF_INIT(1 << 20);
	struct talk *talk;

	fixture_set(fx->core, "turn.context=64K");
	turn_start(fx);
	talk = talk_asked(fx, long_talk(&body, ""));
	strcpy(id, talk->turn.id);
	say(fx, talk);
}

static struct talk *go_on(struct turn_fixture *fx, const char *id,
			  const char *more)
{
	_cleanup_(buf_done) struct buf body = BUF_INIT(1 << 20);

	(void)buf_printf(&body, "{'model':'m',%s'previous_response_id':'%s',"
				"'input':[", more, id);
	add_text(&body, "user", "new1");
	add_text(&body, "user", "new2");
	(void)buf_add_str(&body, "{'role':'user','content':'now'}]}");
	return talk_begin(fx, buf_str(&body));
}

static void what_is_too_long_is_refused_unless_it_may_be_forgotten(void **state)
{
	struct turn_fixture *fx = *state;
	char id[ID_SIZE];
	struct talk *talk;

	begin(fx, id);
	talk = go_on(fx, id, "");
	RUN_UNTIL(fx->core, talk->told);
	assert_true(talk->refused);
	assert_string_equal(talk->err.reason, "context_length_exceeded");
	assert_int_equal(fx->model->rounds, 1);

	talk = go_on(fx, id, AUTO ",");
	RUN_UNTIL(fx->core, fx->model->rounds == 2);
	/* The oldest go, calls with their outputs; rules and the request stay. */
	assert_true(asked(fx, "rules"));
	assert_false(asked(fx, "\"c1\""));
	assert_false(asked(fx, "of-c1"));
	assert_false(asked(fx, "word0"));
	assert_true(asked(fx, "word3"));
	assert_true(asked(fx, "new1"));
	assert_true(asked(fx, "new2"));
	assert_true(asked(fx, "now"));
	say(fx, talk);
	assert_non_null(strstr(turn_get(fx, talk->turn.id, 0),
			       "\"truncation\":\"auto\""));
}

/* What cannot be forgotten is too much in any case. */
static void a_request_that_is_too_long_by_itself_is_refused(void **state)
{
	struct turn_fixture *fx = *state;
	_cleanup_(buf_done) struct buf body = BUF_INIT(1 << 20);

	fixture_set(fx->core, "turn.context=64K");
	turn_start(fx);
	(void)buf_add_str(&body, "{'model':'m'," AUTO ",'input':[");
	for (unsigned i = 0; i < 8; i++)
		add_text(&body, "user", "word");
	buf_truncate(&body, body.length - 1);
	(void)buf_add_str(&body, "]}");
	assert_string_equal(talk_refuse(fx, buf_str(&body))->reason,
			    "context_length_exceeded");
}

static void fail_long(struct turn_fixture *fx)
{
	struct error err = ERROR_INIT;

	error_set(&err, ERR_BAD_REQUEST, "too long");
	error_set_reason(&err, "context_length_exceeded");
	model_fail_with(fx->model, &err);
}

static void a_model_that_finds_it_too_long_is_told_less(void **state)
{
	struct turn_fixture *fx = *state;
	char id[ID_SIZE];
	struct talk *talk;

	begin(fx, id);
	talk = go_on(fx, id, AUTO ",");
	RUN_UNTIL(fx->core, fx->model->rounds == 2);
	assert_true(asked(fx, "word3"));
	fail_long(fx);
	RUN_UNTIL(fx->core, fx->model->rounds == 3);
	assert_false(asked(fx, "word3"));
	assert_true(asked(fx, "rules"));
	assert_true(asked(fx, "new1"));
	/* There is nothing left to be forgotten. */
	fail_long(fx);
	talk_end(talk, "failed");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, turn_setup, turn_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_too_long_is_refused_unless_it_may_be_forgotten),
		TEST(a_request_that_is_too_long_by_itself_is_refused),
		TEST(a_model_that_finds_it_too_long_is_told_less),
	};

	return RUN_TESTS(tests);
}
