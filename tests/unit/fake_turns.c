/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_turns.h"

#include <errno.h>

#include "base/cleanup.h"
#include "base/event.h"
#include "base/json.h"
#include "base/json_write.h"
#include "test.h"

struct turn_watch {
	struct turns *turns;
	uint64_t next;
	bool woken;
	char json[128];
	void (*wake)(void *userdata);
	void *userdata;
};

/* ------------------------------------------------------------------- the whole */

static int on_later(sd_event_source *source, void *userdata)
{
	struct turns *t = userdata;
	const struct turn_accepted accepted = {
		.id = FAKE_RESPONSE,
		.stream = t->stream,
		.background = t->background,
	};

	(void)source;
	if (t->done && error_is_set(&t->refusal))
		take_ptr(t->done)(t->userdata, NULL, &t->refusal);
	else if (t->done)
		take_ptr(t->done)(t->userdata, &accepted, NULL);
	else if (t->deleted_done)
		take_ptr(t->deleted_done)(t->userdata, NULL);
	else
		fake_turns_wake(t);
	return 0;
}

struct turns *fake_turns_new(sd_event *event, struct clock *clock,
			     const struct settings *settings)
{
	const struct upstream_config config = {
		.event = event,
		.clock = clock,
		.settings = settings,
	};
	struct turns *t = calloc(1, sizeof(*t));
	struct error err = ERROR_INIT;

	assert_non_null(t);
	if (upstream_new(&config, &t->upstream, &err) < 0)
		fail_msg("%s", err.message);
	t->event = event;
	assert_int_equal(
		event_add_defer(event, on_later, t, "fake-turns", &t->later),
		0);
	return t;
}

void fake_turns_free(struct turns *t)
{
	if (!t)
		return;
	assert_int_equal(t->watches, 0);
	sd_event_source_disable_unref(t->later);
	upstream_free(t->upstream);
	free(t);
}

static void later(struct turns *t)
{
	(void)sd_event_source_set_enabled(t->later, SD_EVENT_ONESHOT);
}

void fake_turns_wake(struct turns *t)
{
	if (!t->watch || t->watch->woken)
		return;
	t->watch->woken = true;
	t->watch->wake(t->watch->userdata);
}

void turns_metrics(const struct turns *t, figure_fn emit,
		   void *userdata)
{
	(void)t;
	(void)emit;
	(void)userdata;
}

struct upstream *turns_upstream(struct turns *t)
{
	return t->upstream;
}

/* ---------------------------------------------------------------- the response */

int turn_create(struct turns *t, const struct principal *who,
		const struct turn_request *request, turn_fn done,
		void *userdata, char ret_id[ID_SIZE], struct error *err)
{
	struct json_string input =
		json_string_of(json_member(request->body, "input"));

	(void)who;
	(void)snprintf(t->input, sizeof(t->input), "%s",
		       input.data ? input.data : "");
	(void)snprintf(t->project, sizeof(t->project), "%s",
		       request->project ? request->project : "");
	(void)snprintf(t->agent, sizeof(t->agent), "%s",
		       request->agent ? request->agent : "");
	t->stream = json_is_true(json_member(request->body, "stream"));
	t->background = json_is_true(json_member(request->body, "background"));
	if (error_is_set(&t->refusal) && !t->late) {
		*err = t->refusal;
		return -EINVAL;
	}
	t->done = done;
	t->userdata = userdata;
	strcpy(ret_id, FAKE_RESPONSE);
	if (!t->held)
		later(t);
	return 0;
}

static void write_response(const struct turns *t, struct json_writer *w)
{
	json_write_object(w, NULL);
	json_write_string(w, "id", FAKE_RESPONSE);
	json_write_string(w, "status", t->cancelled ? "cancelled"
				       : t->over    ? "completed"
						    : "in_progress");
	json_write_close(w);
}

static int find(const struct turns *t, const char *id, bool memory,
		struct error *err)
{
	if (strcmp(id, FAKE_RESPONSE) == 0 && (memory || t->kept))
		return 0;
	return error_set(err, ERR_NOT_FOUND,
			 "Response with id '%s' not found.", id);
}

int turn_write(struct turns *t, const struct principal *who, const char *id,
	       unsigned include, struct json_writer *w, struct error *err)
{
	int r = find(t, id, false, err);

	(void)who;
	t->include = include;
	if (r >= 0)
		write_response(t, w);
	return r;
}

int turn_input_list(struct turns *t, const struct principal *who,
		    const char *id, const struct core_page *page,
		    unsigned include, struct json_writer *w,
		    void (*each)(void *userdata, const char *id),
		    void *userdata, bool *ret_more, struct error *err)
{
	int r = find(t, id, false, err);

	(void)who;
	(void)page;
	t->include = include;
	*ret_more = false;
	if (r < 0)
		return r;
	json_write_object(w, NULL);
	json_write_string(w, "id", "msg_1");
	json_write_close(w);
	each(userdata, "msg_1");
	return 0;
}

int turn_resumable(struct turns *t, const struct principal *who, const char *id,
		   struct error *err)
{
	int r = find(t, id, false, err);

	(void)who;
	if (r >= 0 && !(t->background && t->stream))
		r = error_set(err, ERR_BAD_REQUEST, "cannot be streamed again");
	return r;
}

int turn_cancel(struct turns *t, const struct principal *who, const char *id,
		struct error *err)
{
	int r = find(t, id, false, err);

	(void)who;
	if (r >= 0)
		t->cancelled++;
	return r;
}

void turn_abandon(struct turns *t, const char *id)
{
	assert_string_equal(id, FAKE_RESPONSE);
	t->abandoned++;
	/* It comes to its end now. */
	error_set(&t->refusal, ERR_TIMEOUT, "left");
	t->over = true;
	later(t);
}

int turn_delete(struct turns *t, const struct principal *who, const char *id,
		core_done_fn done, void *userdata, struct error *err)
{
	int r = find(t, id, false, err);

	(void)who;
	if (r < 0)
		return r;
	t->deleted++;
	t->deleted_done = done;
	t->userdata = userdata;
	later(t);
	return 0;
}

/* --------------------------------------------------------------------- watching */

int turn_watch_new(struct turns *t, const struct principal *who, const char *id,
		   int64_t after, void (*wake)(void *userdata), void *userdata,
		   struct turn_watch **ret, struct error *err)
{
	struct turn_watch *watch;
	int r = find(t, id, true, err);

	(void)who;
	if (r < 0)
		return r;
	watch = calloc(1, sizeof(*watch));
	assert_non_null(watch);
	watch->turns = t;
	watch->next = (uint64_t)(after + 1);
	watch->wake = wake;
	watch->userdata = userdata;
	t->watches++;
	t->watch = *ret = watch;
	return 0;
}

int turn_watch_next(struct turn_watch *watch, struct turn_event *ret)
{
	if (watch->next >= watch->turns->events) {
		watch->woken = false;
		return watch->turns->over ? -ENODATA : 0;
	}
	(void)snprintf(watch->json, sizeof(watch->json),
		       "{\"type\":\"response.fake\",\"sequence_number\":%llu}",
		       (unsigned long long)watch->next);
	*ret = (struct turn_event){
		.sequence = watch->next++,
		.type = "response.fake",
		.json = watch->json,
		.size = strlen(watch->json),
	};
	return 1;
}

void turn_watch_arm(struct turn_watch *watch)
{
	watch->woken = false;
	if (watch->turns->over)
		later(watch->turns);
}

bool turn_watch_over(struct turn_watch *watch)
{
	watch->woken = false;
	return watch->turns->over;
}

void turn_watch_write(const struct turn_watch *watch, struct json_writer *w)
{
	write_response(watch->turns, w);
}

const struct error *turn_watch_failure(const struct turn_watch *watch)
{
	const struct error *failure = &watch->turns->failure;

	return error_is_set(failure) ? failure : NULL;
}

bool turn_watch_has_run(const struct turn_watch *watch)
{
	return watch->turns->has_run;
}

void turn_watch_free(struct turn_watch *watch)
{
	if (!watch)
		return;
	watch->turns->watches--;
	if (watch->turns->watch == watch)
		watch->turns->watch = NULL;
	free(watch);
}
