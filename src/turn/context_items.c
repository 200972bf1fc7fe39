/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json_write.h"
#include "turn/context.h"

/* The model's own words and calls, and adding any item. */

struct buf context_begin(const struct context *c)
{
	return BUF_INIT(c->config.max_bytes);
}

int context_add_item(struct context *c, struct buf *text, int r)
{
	struct upstream_item *items;
	size_t room;

	if (r >= 0 && text->length > c->config.max_bytes - c->bytes)
		r = context_make_room(c, buf_str(text), text->length);
	if (r < 0)
		return r;
	if (c->count == c->room) {
		room = c->room ? 2 * c->room : 16;
		items = reallocarray(c->items, room, sizeof(*items));
		if (!items)
			return -ENOMEM;
		c->items = items;
		c->room = room;
	}
	c->bytes += text->length;
	c->items[c->count].json = buf_take(text, &c->items[c->count].size);
	if (!c->items[c->count].json)
		return -ENOMEM;
	c->count++;
	return 0;
}

int context_replace_item(struct context *c, struct upstream_item *item,
			 struct buf *text)
{
	char *json;

	if (text->length > item->size &&
	    text->length - item->size > c->config.max_bytes - c->bytes)
		return -EMSGSIZE;
	c->bytes += text->length - item->size;
	json = buf_take(text, &item->size);
	if (!json)
		return -ENOMEM;
	free((char *)(uintptr_t)item->json);
	item->json = json;
	return 0;
}

int context_failed(const struct context *c, int r, struct error *err)
{
	if (r >= 0 || error_is_set(err))
		return r;
	if (r != -EMSGSIZE)
		return error_set_errno(err, r, "Cannot tell a model of an item");
	error_set(err, ERR_BAD_REQUEST,
		  "What is to be said to the model has more than %zu bytes",
		  c->config.max_bytes);
	error_set_param(err, "input");
	error_set_reason(err, "context_length_exceeded");
	return -EINVAL;
}

int context_add_text(struct context *c, const char *text, size_t size)
{
	_cleanup_(buf_done) struct buf item = context_begin(c);
	struct json_writer w = JSON_WRITER_INIT(&item);

	json_write_object(&w, NULL);
	json_write_string(&w, "type", "message");
	json_write_string(&w, "role", "assistant");
	json_write_array(&w, "content");
	json_write_object(&w, NULL);
	json_write_string(&w, "type", "output_text");
	json_write_bytes(&w, "text", text, size);
	json_write_close(&w);
	json_write_close(&w);
	json_write_close(&w);
	return context_add_item(c, &item, json_write_end(&w));
}

int context_add_thought(struct context *c, const struct buf *summary,
			const struct buf *encrypted)
{
	_cleanup_(buf_done) struct buf item = context_begin(c);
	struct json_writer w = JSON_WRITER_INIT(&item);

	if (encrypted->length == 0)
		return 0;
	json_write_object(&w, NULL);
	json_write_string(&w, "type", "reasoning");
	json_write_array(&w, "summary");
	if (summary->length > 0) {
		json_write_object(&w, NULL);
		json_write_string(&w, "type", "summary_text");
		json_write_bytes(&w, "text", summary->data, summary->length);
		json_write_close(&w);
	}
	json_write_close(&w);
	json_write_bytes(&w, "encrypted_content", encrypted->data,
			 encrypted->length);
	json_write_close(&w);
	return context_add_item(c, &item, json_write_end(&w));
}

int context_add_call(struct context *c, const char *call_id, const char *name,
		     const char *arguments, size_t size)
{
	_cleanup_(buf_done) struct buf item = context_begin(c);
	struct json_writer w = JSON_WRITER_INIT(&item);

	json_write_object(&w, NULL);
	json_write_string(&w, "type", "function_call");
	json_write_string(&w, "call_id", call_id);
	json_write_string(&w, "name", name);
	/* Servers of models parse them, and refuse the whole request. */
	if (size > 0)
		json_write_bytes(&w, "arguments", arguments, size);
	else
		json_write_string(&w, "arguments", "{}");
	json_write_close(&w);
	return context_add_item(c, &item, json_write_end(&w));
}

int context_add_code(struct context *c, const char *call_id, const char *code,
		     size_t size)
{
	_cleanup_(buf_done) struct buf arguments = context_begin(c);
	struct json_writer w = JSON_WRITER_INIT(&arguments);
	int r;

	json_write_object(&w, NULL);
	json_write_bytes(&w, "code", code, size);
	json_write_close(&w);
	r = json_write_end(&w);
	return r < 0 ? r : context_add_call(c, call_id, c->config.python,
					    buf_str(&arguments),
					    arguments.length);
}

int context_add_output(struct context *c, const char *call_id,
		       const char *output, size_t size)
{
	_cleanup_(buf_done) struct buf item = context_begin(c);
	struct json_writer w = JSON_WRITER_INIT(&item);

	json_write_object(&w, NULL);
	json_write_string(&w, "type", "function_call_output");
	json_write_string(&w, "call_id", call_id);
	json_write_bytes(&w, "output", output, size);
	json_write_close(&w);
	return context_add_item(c, &item, json_write_end(&w));
}
