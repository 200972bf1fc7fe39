/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/json_write.h"
#include "turn/turn_priv.h"

/*
 * Responses in the database.
 *
 * A response is written twice: before its model is asked, as one that is under
 * way, and with what it came to. So one that is found under way at the start
 * of a daemon was left in the middle.
 */

/* ------------------------------------------------------------------- writing */

/* struct batch - Items of a response on their way into the database */
struct batch {
	struct talk_item *inputs;
	struct talk_item *outputs;
	struct buf *texts; /* of outputs */
	size_t output_count;
};

static void batch_done(struct batch *b)
{
	for (size_t i = 0; i < b->output_count; i++)
		buf_done(&b->texts[i]);
	free(b->inputs);
	free(b->outputs);
	free(b->texts);
}

static int fill_inputs(const struct turn *t, struct batch *b)
{
	const struct items *input = &t->ask.input;

	b->inputs = calloc(input->count + 1, sizeof(*b->inputs));
	if (!b->inputs)
		return -ENOMEM;
	for (size_t i = 0; i < input->count; i++) {
		strcpy(b->inputs[i].id, input->list[i].id);
		b->inputs[i].json = input->list[i].json;
		b->inputs[i].size = input->list[i].size;
	}
	return 0;
}

static int fill_outputs(const struct turn *t, struct batch *b)
{
	int r = 0;

	b->outputs = calloc(t->item_count + 1, sizeof(*b->outputs));
	b->texts = calloc(t->item_count + 1, sizeof(*b->texts));
	if (!b->outputs || !b->texts)
		return -ENOMEM;
	for (size_t i = 0; i < t->item_count && r >= 0 && !t->bare; i++) {
		struct buf *text = &b->texts[b->output_count++];
		struct json_writer w = JSON_WRITER_INIT(text);

		*text = BUF_INIT(CORE_ITEM_MAX);
		out_item_write(&w, NULL, &t->items[i], OUT_AS_IS, ~0u);
		r = json_write_end(&w);
		strcpy(b->outputs[i].id, t->items[i].id);
		b->outputs[i].json = buf_str(text);
		b->outputs[i].size = text->length;
	}
	return r;
}

static int write_response(const struct turn *t, struct buf *ret)
{
	const struct turn_view view = { .moment = MOMENT_NOW,
					.no_output = true };
	struct json_writer w = JSON_WRITER_INIT(ret);

	turn_view_write(t, &view, NULL, &w);
	return json_write_end(&w);
}

/* A talk goes on from what was answered, not from what failed. */
static bool joins_conversation(const struct turn *t, bool open)
{
	return !open && t->ask.conversation[0] &&
	       (t->outcome == TURN_COMPLETED || t->outcome == TURN_INCOMPLETE);
}

int turn_put(struct turn *t, bool open, core_done_fn done, struct error *err)
{
	_cleanup_(batch_done) struct batch batch = { .output_count = 0 };
	_cleanup_(buf_done) struct buf json = BUF_INIT(CORE_RESPONSE_MAX);
	struct response_spec spec = { .open = open };
	struct response_usage usage;
	struct ticket *ticket;
	int r;

	r = write_response(t, &json);
	if (r >= 0)
		r = fill_inputs(t, &batch);
	if (r >= 0)
		r = fill_outputs(t, &batch);
	if (r == -EMSGSIZE)
		return error_set(err, ERR_UPSTREAM,
				 "The model said more than can be kept: an item "
				 "has at most %d bytes as JSON", CORE_ITEM_MAX);
	ticket = r >= 0 ? turn_ticket(t) : NULL;
	if (!ticket)
		return error_set_errno(err, r < 0 ? r : -ENOMEM,
				       "Cannot keep a response");
	strcpy(spec.id, t->id);
	spec.previous = t->ask.previous[0] ? t->ask.previous : NULL;
	spec.conversation =
		joins_conversation(t, open) ? t->ask.conversation : NULL;
	spec.json = buf_str(&json);
	spec.size = json.length;
	spec.inputs = batch.inputs;
	spec.input_count = t->ask.input.count;
	spec.outputs = batch.outputs;
	spec.output_count = batch.output_count;
	if (!open) {
		turn_used(t, &usage);
		spec.usage = &usage;
	}
	r = core_response_put(t->turns->config.core, &t->who, &spec, done,
			      ticket, err);
	if (r < 0)
		(void)turn_redeem(ticket);
	return r < 0 ? r : 0;
}

/* ------------------------------------------------------------------- reading */

/* struct reader - Items of a kept response on their way to a client */
struct reader {
	struct json_writer *w;
	unsigned include;
	void (*each)(void *userdata, const char *id);
	void *userdata;
};

static void on_item(void *userdata, const struct talk_item *kept)
{
	struct reader *reader = userdata;
	struct items items = { .list = NULL };

	if (items_add_text(&items, kept->json, kept->size) >= 0) {
		item_write(reader->w, NULL, &items.list[0], reader->include);
		if (reader->each)
			reader->each(reader->userdata, items.list[0].id);
	}
	items_done(&items);
}

/* Those that its request asked for. */
static unsigned own_include(const struct response_view *view)
{
	_cleanup_(json_freep) struct json_object *response = NULL;
	unsigned include = 0;

	if (json_parse(view->json, view->size, &response, NULL) >= 0)
		(void)item_include_read(json_member(response, "include"),
					"include", &include, NULL);
	return include;
}

static int write_kept(struct turns *turns, const struct principal *who,
		      const char *id, unsigned include, struct json_writer *w,
		      struct error *err)
{
	struct core *core = turns->config.core;
	struct response_view view;
	struct reader reader = { .w = w };
	int r;

	r = core_response_get(core, who, id, &view, err);
	if (r < 0)
		return r;
	reader.include = include | own_include(&view);
	json_write_object(w, NULL);
	json_write_members(w, view.json, view.size);
	json_write_array(w, "output");
	r = core_response_output_each(core, who, id, on_item, &reader, err);
	json_write_close(w);
	json_write_close(w);
	return r;
}

int turn_write(struct turns *turns, const struct principal *who, const char *id,
	       unsigned include, struct json_writer *w, struct error *err)
{
	const struct turn *t = turn_find(turns, who, id);
	const struct turn_view view = { .moment = MOMENT_NOW,
					.include = include };

	if (!t || t->state == TURN_OVER)
		return write_kept(turns, who, id, include, w, err);
	if (!t->ask.store || t->accepted)
		return error_set(err, ERR_NOT_FOUND,
				 "Response with id '%s' not found.", id);
	turn_view_write(t, &view, NULL, w);
	return 0;
}

int turn_input_list(struct turns *turns, const struct principal *who,
		    const char *id, const struct core_page *page,
		    unsigned include, struct json_writer *w,
		    void (*each)(void *userdata, const char *id),
		    void *userdata, bool *ret_more, struct error *err)
{
	struct reader reader = { w, include, each, userdata };

	return core_response_input_list(turns->config.core, who, id, page,
					on_item, &reader, ret_more, err);
}
