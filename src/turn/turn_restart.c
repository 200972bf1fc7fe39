/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/json_write.h"
#include "turn/turn_priv.h"

/*
 * Turns that the last daemon did not bring to their end. Nobody waits for them
 * any more, and the model's answer is lost: they are told to have failed.
 */

#define WHY                                                                    \
	"The daemon was restarted while this response was under way. Files "   \
	"that its code made are in its container; create the response again."

/* struct left - One of them */
struct left {
	SLIST_ENTRY(left) next;
	struct principal who;
	char id[ID_SIZE];
	char previous[ID_SIZE];
	char *json;
	size_t size;
};

SLIST_HEAD(left_list, left);

static void left_free(struct left *left)
{
	free(left->json);
	free(left);
}

static void on_open(void *userdata, const struct principal *who,
		    const struct response_view *response)
{
	struct left_list *list = userdata;
	struct left *left = calloc(1, sizeof(*left));

	if (!left)
		return;
	left->who = *who;
	strcpy(left->id, response->id);
	strcpy(left->previous, response->previous);
	left->json = strndup(response->json, response->size);
	left->size = response->size;
	if (!left->json) {
		left_free(left);
		return;
	}
	SLIST_INSERT_HEAD(list, left, next);
}

/* struct rewriting - Of a response's members */
struct rewriting {
	struct json_writer *w;
	int64_t now;
};

static int rewrite_member(const char *key, struct json_object *value,
			  void *userdata)
{
	struct rewriting *rewriting = userdata;
	struct json_writer *w = rewriting->w;

	if (strcmp(key, "status") == 0) {
		json_write_string(w, key, turn_outcome_name(TURN_FAILED));
	} else if (strcmp(key, "completed_at") == 0) {
		json_write_int(w, key, rewriting->now);
	} else if (strcmp(key, "error") == 0) {
		json_write_object(w, key);
		json_write_string(w, "code", "server_error");
		json_write_string(w, "message", WHY);
		json_write_close(w);
	} else {
		json_write_value(w, key, value);
	}
	return 0;
}

static void on_ended(void *userdata, const struct error *err)
{
	(void)userdata;
	if (error_is_set(err))
		log_warning(NULL, 0,
			    "A response that was cut short cannot be ended: %s",
			    err->message);
}

static int end_one(struct turns *turns, const struct left *left,
		   struct error *err)
{
	_cleanup_(json_freep) struct json_object *response = NULL;
	_cleanup_(buf_done) struct buf json = BUF_INIT(CORE_RESPONSE_MAX);
	struct json_writer w = JSON_WRITER_INIT(&json);
	struct rewriting rewriting = {
		.w = &w,
		.now = (int64_t)(clock_wall(turns->config.clock) /
				 USEC_PER_SEC),
	};
	/* What its model reported is lost with the daemon. */
	const struct response_usage usage = {
		.outcome = turn_outcome_name(TURN_FAILED),
		.container = "",
	};
	struct response_spec spec = {
		.previous = left->previous[0] ? left->previous : NULL,
		.usage = &usage,
	};
	int r;

	r = json_parse(left->json, left->size, &response, err);
	if (r < 0)
		return r;
	json_write_object(&w, NULL);
	(void)json_each_member(response, rewrite_member, &rewriting);
	json_write_close(&w);
	r = json_write_end(&w);
	if (r < 0)
		return error_set_errno(err, r, "Cannot end a response");
	strcpy(spec.id, left->id);
	spec.json = buf_str(&json);
	spec.size = json.length;
	return core_response_put(turns->config.core, &left->who, &spec,
				 on_ended, NULL, err);
}

int turns_end_open(struct turns *turns, struct error *err)
{
	struct left_list list = SLIST_HEAD_INITIALIZER(list);
	struct left *left;
	int r;

	r = core_response_each_open(turns->config.core, on_open, &list, err);
	while ((left = SLIST_FIRST(&list))) {
		SLIST_REMOVE_HEAD(&list, next);
		if (r >= 0)
			r = end_one(turns, left, err);
		if (r >= 0)
			log_info(NULL, "Response %s was cut short: failed",
				 left->id);
		left_free(left);
	}
	return r < 0 ? r : 0;
}
