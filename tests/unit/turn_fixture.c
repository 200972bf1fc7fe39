/* SPDX-License-Identifier: Apache-2.0 */
#include "turn_fixture.h"

#include "base/cleanup.h"
#include "base/json_write.h"

static struct buf kept;

int turn_setup(void **state)
{
	struct turn_fixture *fx = calloc(1, sizeof(*fx));
	void *core = NULL;

	assert_non_null(fx);
	if (fixture_setup(&core) < 0)
		return -1;
	fx->core = core;
	kept = BUF_INIT(64 << 20);
	*state = fx;
	return 0;
}

static void end_talks(struct turn_fixture *fx)
{
	for (size_t i = 0; i < fx->talk_count; i++) {
		talk_drop(fx->talks[i]);
		reader_done(&fx->talks[i]->reader);
		free(fx->talks[i]);
	}
	fx->talk_count = 0;
}

static void end_turns(struct turn_fixture *fx)
{
	end_talks(fx);
	turns_free(take_ptr(fx->turns));
}

int turn_teardown(void **state)
{
	struct turn_fixture *fx = *state;
	void *core = fx->core;

	end_turns(fx);
	buf_done(&kept);
	free(fx);
	return fixture_teardown(&core);
}

static void begin_turns(struct turn_fixture *fx)
{
	const struct turns_config config = {
		.event = fx->core->event,
		.clock = fx->core->clock,
		.settings = fx->core->settings,
		.core = fx->core->core,
	};
	struct error err = ERROR_INIT;

	if (turns_new(&config, &fx->turns, &err) < 0)
		fail_msg("%s", err.message);
	fx->model = turns_upstream(fx->turns);
}

void turn_start(struct turn_fixture *fx)
{
	fixture_start(fx->core);
	begin_turns(fx);
}

void turn_restart(struct turn_fixture *fx)
{
	end_turns(fx);
	fixture_kill(fx->core);
	fixture_start(fx->core);
	begin_turns(fx);
}

/* ----------------------------------------------------------------------- talks */

static void got_conversation(void *userdata,
			     const struct conversation_view *conversation,
			     const struct error *err)
{
	struct answer *answer = userdata;

	answer->called = true;
	answer->failed = error_is_set(err);
	if (!answer->failed)
		strcpy(answer->id, conversation->id);
}

const char *turn_conversation(struct turn_fixture *fx, char ret[ID_SIZE])
{
	struct answer answer = { 0 };
	struct error err = ERROR_INIT;

	assert_int_equal(core_conversation_create(
				 fx->core->core, &fx->core->who, "{}", NULL, 0,
				 got_conversation, &answer, &err),
			 0);
	RUN_UNTIL(fx->core, answer.called);
	strcpy(ret, answer.id);
	return ret;
}

static void on_wake(void *userdata)
{
	(void)userdata;
}

static void on_accepted(void *userdata, const struct turn_accepted *turn,
			const struct error *err)
{
	struct talk *talk = userdata;
	struct turn_fixture *fx = talk->fx;

	talk->told = true;
	if (error_is_set(err)) {
		talk->refused = true;
		talk->err = *err;
		return;
	}
	talk->turn = *turn;
	assert_int_equal(turn_watch_new(fx->turns, &fx->core->who, turn->id, -1,
					on_wake, talk, &talk->watch,
					&talk->err),
			 0);
}

struct talk *talk_begin(struct turn_fixture *fx, const char *body)
{
	_cleanup_(json_freep) struct json_object *object = NULL;
	_cleanup_free_ char *text = strdup(body);
	struct talk *talk = calloc(1, sizeof(*talk));
	struct turn_request request = { .request = FIXTURE_REQUEST,
					.trace = fx->trace };

	assert_non_null(text);
	assert_non_null(talk);
	assert_true(fx->talk_count < FIXTURE_TALKS_MAX);
	for (char *at = text; (at = strchr(at, '\''));)
		*at = '"';
	assert_int_equal(json_parse(text, strlen(text), &object, NULL), 0);
	fx->talks[fx->talk_count++] = talk;
	talk->fx = fx;
	reader_init(&talk->reader);
	request.body = object;
	if (turn_create(fx->turns, &fx->core->who, &request, on_accepted, talk,
			talk->id, &talk->err) < 0) {
		talk->told = true;
		talk->refused = true;
	}
	return talk;
}

struct talk *talk_asked(struct turn_fixture *fx, const char *body)
{
	unsigned rounds = fx->model->rounds;
	struct talk *talk = talk_begin(fx, body);

	RUN_UNTIL(fx->core, talk->refused || fx->model->rounds > rounds);
	if (talk->refused)
		fail_msg("%s", talk->err.message);
	return talk;
}

const struct error *talk_refuse(struct turn_fixture *fx, const char *body)
{
	struct talk *talk = talk_begin(fx, body);

	RUN_UNTIL(fx->core, talk->told);
	assert_true(talk->refused);
	return &talk->err;
}

void talk_drop(struct talk *talk)
{
	turn_watch_free(take_ptr(talk->watch));
}

void talk_read(struct talk *talk)
{
	struct turn_event event;
	int r;

	while ((r = turn_watch_next(talk->watch, &event)) > 0)
		reader_take(&talk->reader, event.type, event.json, event.size);
	talk->over = r < 0;
}

void talk_end(struct talk *talk, const char *last)
{
	RUN_UNTIL(talk->fx->core, (talk_read(talk), talk->over));
	assert_string_equal(talk->reader.last, last);
}

void talk_container(struct talk *talk, char ret[ID_SIZE])
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(64 << 20);
	_cleanup_(json_freep) struct json_object *response = NULL;
	struct json_writer w = JSON_WRITER_INIT(&text);
	const struct json_object *output;

	RUN_UNTIL(talk->fx->core,
		  (talk_read(talk),
		   talk->reader.count > 0 &&
			   strcmp(talk->reader.items[talk->reader.count - 1]
					  .type,
				  "code_interpreter_call") == 0));
	turn_watch_write(talk->watch, &w);
	assert_int_equal(json_write_end(&w), 0);
	assert_int_equal(json_parse(buf_str(&text), text.length, &response,
				    NULL),
			 0);
	output = json_member(response, "output");
	output = json_array_at(output, json_array_size(output) - 1);
	strcpy(ret, json_string_of(json_member(output, "container_id")).data);
}

struct scripted_guest *talk_code(struct talk *talk, const char *code)
{
	struct fixture *core = talk->fx->core;
	struct scripted_guest *g;
	char id[ID_SIZE];

	talk_container(talk, id);
	RUN_UNTIL(core, fixture_container(core, id).state ==
				SESSION_VIEW_EXECUTING);
	g = fixture_guest(core, id);
	RUN_UNTIL(core, g->execs > 0 && g->input.length == strlen(code));
	assert_memory_equal(g->input.data, code, strlen(code));
	return g;
}

const char *turn_get(struct turn_fixture *fx, const char *id, unsigned include)
{
	struct json_writer w = JSON_WRITER_INIT(&kept);
	struct error err = ERROR_INIT;

	buf_clear(&kept);
	if (turn_write(fx->turns, &fx->core->who, id, include, &w, &err) < 0)
		return NULL;
	assert_int_equal(json_write_end(&w), 0);
	return buf_str(&kept);
}

bool asked(const struct turn_fixture *fx, const char *text)
{
	return strstr(buf_str(&fx->model->asked), text);
}
