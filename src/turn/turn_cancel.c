/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "turn/turn_priv.h"

/* Ending turns from outside, and taking up their events again. */

static int not_found(const char *id, struct error *err)
{
	return error_set(err, ERR_NOT_FOUND,
			 "Response with id '%s' not found.", id);
}

/* struct nature - What kind of response it is */
struct nature {
	bool background;
	bool stream;
};

static int find_nature(struct turns *turns, const struct principal *who,
		       const char *id, struct turn **ret_turn,
		       struct nature *ret, struct error *err)
{
	_cleanup_(json_freep) struct json_object *response = NULL;
	struct turn *t = turn_find(turns, who, id);
	struct response_view view;
	int r;

	*ret_turn = t;
	if (t && t->state != TURN_OVER) {
		ret->background = t->ask.background;
		ret->stream = t->ask.stream;
		return t->ask.store && !t->accepted ? 0 : not_found(id, err);
	}
	r = core_response_get(turns->config.core, who, id, &view, err);
	if (r >= 0)
		r = json_parse(view.json, view.size, &response, err);
	if (r < 0)
		return r;
	ret->background = json_is_true(json_member(response, "background"));
	ret->stream = t && t->ask.stream;
	return 0;
}

int turn_cancel(struct turns *turns, const struct principal *who,
		const char *id, struct error *err)
{
	struct nature nature;
	struct turn *t;
	int r;

	r = find_nature(turns, who, id, &t, &nature, err);
	if (r < 0)
		return r;
	if (!nature.background)
		return error_set(err, ERR_BAD_REQUEST,
				 "Only responses that were created in the "
				 "background can be cancelled");
	if (t)
		turn_finish(t, TURN_CANCELLED, NULL);
	return 0;
}

int turn_resumable(struct turns *turns, const struct principal *who,
		   const char *id, struct error *err)
{
	struct nature nature;
	struct turn *t;
	int r;

	r = find_nature(turns, who, id, &t, &nature, err);
	if (r < 0)
		return r;
	if (t && nature.background && nature.stream)
		return 0;
	error_set(err, ERR_BAD_REQUEST,
		  nature.background && !t
			  ? "The events of this response are kept no more: GET "
			    "it without 'stream'"
			  : "Only responses that were created with 'background' "
			    "and 'stream' can be streamed again");
	error_set_param(err, "stream");
	return -EINVAL;
}

void turn_abandon(struct turns *turns, const char *id)
{
	struct turn *t;

	TAILQ_FOREACH (t, &turns->all, next) {
		if (strcmp(t->id, id) != 0)
			continue;
		if (t->ask.background)
			return;
		if (t->accepted)
			error_set(&t->error, ERR_TIMEOUT, "The client has left");
		turn_finish(t, TURN_CANCELLED, NULL);
		return;
	}
}

int turn_delete(struct turns *turns, const struct principal *who,
		const char *id, core_done_fn done, void *userdata,
		struct error *err)
{
	struct turn *t = turn_find(turns, who, id);
	int r;

	if (t && t->accepted)
		return not_found(id, err);
	r = core_response_delete(turns->config.core, who, id, done, userdata,
				 err);
	if (r < 0 || !t)
		return r;
	/* What it comes to now is of interest to nobody. */
	t->ask.store = false;
	turn_finish(t, TURN_CANCELLED, NULL);
	return 0;
}
