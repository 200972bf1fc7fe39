/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/json_write.h"
#include "turn/turn_priv.h"

/* Readers: each walks the log of events at its own pace. */

enum {
	/* The last event has the whole response in it. */
	EVENT_JSON_MAX = 256 << 20,
	/* Of the buffer for one event, what is kept for the next. */
	EVENT_KEPT_MAX = 16 << 10,
};

/**
 * struct turn_watch - One of them
 * @at:		In the log, of the event with number @next
 * @item, @offset: How much of that item's text the events before have brought
 */
struct turn_watch {
	LIST_ENTRY(turn_watch) in_turn;
	struct turn *turn;
	void (*wake)(void *userdata);
	void *userdata;
	bool woken;
	size_t at;
	uint64_t next;
	size_t item;
	size_t offset;
	struct buf json;
};

void turn_wake(struct turn *t)
{
	struct turn_watch *watch, *following;

	for (watch = LIST_FIRST(&t->watches); watch; watch = following) {
		following = LIST_NEXT(watch, in_turn);
		if (watch->woken)
			continue;
		watch->woken = true;
		watch->wake(watch->userdata);
	}
}

/* Return: false if there is none yet; @ret_offset is where its delta begins */
static bool read_event(struct turn_watch *watch, struct event *ret,
		       size_t *ret_offset)
{
	if (!event_log_next(&watch->turn->log, &watch->at, ret))
		return false;
	watch->next++;
	if (!event_is_delta(ret->kind))
		return true;
	if (ret->item != watch->item)
		watch->offset = 0;
	watch->item = ret->item;
	*ret_offset = watch->offset;
	watch->offset += ret->value;
	return true;
}

int turn_watch_new(struct turns *turns, const struct principal *who,
		   const char *id, int64_t after, void (*wake)(void *userdata),
		   void *userdata, struct turn_watch **ret, struct error *err)
{
	struct turn *t = turn_find(turns, who, id);
	struct turn_watch *watch;
	struct event event;
	size_t offset;

	if (!t)
		return error_set(err, ERR_NOT_FOUND,
				 "Response with id '%s' not found.", id);
	watch = calloc(1, sizeof(*watch));
	if (!watch)
		return error_set_errno(err, -ENOMEM, "Cannot follow");
	watch->turn = t;
	watch->wake = wake;
	watch->userdata = userdata;
	watch->json = BUF_INIT(EVENT_JSON_MAX);
	watch->item = SIZE_MAX;
	while (after >= 0 && watch->next <= (uint64_t)after &&
	       read_event(watch, &event, &offset))
		;
	LIST_INSERT_HEAD(&t->watches, watch, in_turn);
	*ret = watch;
	return 0;
}

int turn_watch_next(struct turn_watch *watch, struct turn_event *ret)
{
	struct json_writer w = JSON_WRITER_INIT(&watch->json);
	uint64_t sequence = watch->next;
	struct event event;
	size_t offset = 0;
	int r;

	if (watch->json.length > EVENT_KEPT_MAX)
		buf_done(&watch->json);
	buf_clear(&watch->json);
	if (!read_event(watch, &event, &offset)) {
		watch->woken = false;
		return watch->turn->state == TURN_OVER ? -ENODATA : 0;
	}
	turn_event_write(watch->turn, &event, sequence, offset, &w);
	r = json_write_end(&w);
	if (r < 0)
		return r;
	*ret = (struct turn_event){
		.sequence = sequence,
		.type = event_type(event.kind),
		.json = buf_str(&watch->json),
		.size = watch->json.length,
	};
	return 1;
}

void turn_watch_arm(struct turn_watch *watch)
{
	watch->woken = false;
	if (watch->turn->state == TURN_OVER)
		turn_kick(watch->turn);
}

bool turn_watch_over(struct turn_watch *watch)
{
	watch->woken = false;
	return watch->turn->state == TURN_OVER;
}

void turn_watch_write(const struct turn_watch *watch, struct json_writer *w)
{
	const struct turn_view view = { .moment = MOMENT_NOW };

	turn_view_write(watch->turn, &view, NULL, w);
}

const struct error *turn_watch_failure(const struct turn_watch *watch)
{
	const struct turn *t = watch->turn;

	return t->outcome == TURN_FAILED ? &t->error : NULL;
}

bool turn_watch_has_run(const struct turn_watch *watch)
{
	return watch->turn->calls > 0;
}

void turn_watch_free(struct turn_watch *watch)
{
	if (!watch)
		return;
	LIST_REMOVE(watch, in_turn);
	turn_release(watch->turn);
	buf_done(&watch->json);
	free(watch);
}
