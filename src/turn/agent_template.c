/* SPDX-License-Identifier: Apache-2.0 */
#include "turn/agent_template.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"

/* ------------------------------------------------------------------ one text */

static size_t skip_spaces(const char *text, size_t at, size_t size)
{
	while (at < size && (text[at] == ' ' || text[at] == '\t'))
		at++;
	return at;
}

/**
 * struct place - What "{{name}}" at some offset is
 * @name:	Of @name_size bytes
 * @size:	Of all of it, braces included
 */
struct place {
	const char *name;
	size_t name_size;
	size_t size;
};

static bool place_at(const char *text, size_t size, struct place *ret)
{
	size_t at, end;

	if (size < 4 || memcmp(text, "{{", 2) != 0)
		return false;
	at = skip_spaces(text, 2, size);
	for (end = at; end < size && agent_input_is_name_char(text[end]);)
		end++;
	*ret = (struct place){ text + at, end - at, 0 };
	at = skip_spaces(text, end, size);
	if (ret->name_size == 0 || size - at < 2 ||
	    memcmp(text + at, "}}", 2) != 0)
		return false;
	ret->size = at + 2;
	return true;
}

/* A string as it is, anything else as JSON, nothing for what is missing. */
static int add_value(const struct json_object *value, struct buf *ret)
{
	struct json_string s = json_string_of(value);
	struct json_writer w = JSON_WRITER_INIT(ret);

	if (json_kind_of(value) == JSON_NULL)
		return 0;
	if (s.data)
		return buf_add(ret, s.data, s.length);
	json_write_value(&w, NULL, value);
	return json_write_end(&w);
}

int agent_template_fill(struct json_string text,
			const struct agent_inputs *inputs, struct buf *ret)
{
	size_t at = 0, plain = 0;
	int r = 0;

	while (r >= 0 && at < text.length) {
		const char *here = text.data + at;
		const struct agent_input *input = NULL;
		struct place place;

		if (place_at(here, text.length - at, &place))
			input = agent_inputs_find(inputs, place.name,
						  place.name_size);
		if (!input) {
			at++;
			continue;
		}
		r = buf_add(ret, text.data + plain, at - plain);
		if (r >= 0)
			r = add_value(input->value, ret);
		at += place.size;
		plain = at;
	}
	/* An empty text may have no bytes to point to. */
	if (r < 0 || plain == text.length)
		return r;
	return buf_add(ret, text.data + plain, text.length - plain);
}

/* --------------------------------------------------------------------- tools */

struct filling {
	struct json_writer *w;
	const struct agent_inputs *inputs;
};

static void write_filled(const struct filling *f, const char *key,
			 const struct json_object *value);

/* What was not empty before and is now: nobody gave a value for it. */
static bool is_emptied(struct json_string before, const struct buf *after)
{
	return before.length > 0 && after->length == 0;
}

static void write_string(const struct filling *f, const char *key,
			 struct json_string text, bool in_array)
{
	_cleanup_(buf_done) struct buf filled = BUF_INIT(AGENT_FILLED_MAX);
	int r = agent_template_fill(text, f->inputs, &filled);

	if (r < 0)
		json_write_fail(f->w, r);
	else if (!in_array || !is_emptied(text, &filled))
		json_write_bytes(f->w, key, filled.data, filled.length);
}

static void write_array(const struct filling *f, const char *key,
			const struct json_object *array)
{
	size_t i;

	json_write_array(f->w, key);
	for (i = 0; i < json_array_size(array); i++) {
		const struct json_object *item = json_array_at(array, i);

		if (json_kind_of(item) == JSON_STRING)
			write_string(f, NULL, json_string_of(item), true);
		else
			write_filled(f, NULL, item);
	}
	json_write_close(f->w);
}

static int on_member(const char *key, struct json_object *value,
		     void *userdata)
{
	write_filled(userdata, key, value);
	return 0;
}

/* As deep as the reader lets a definition be. */
static void write_filled(const struct filling *f, const char *key,
			 const struct json_object *value)
{
	struct filling copy = *f;

	switch (json_kind_of(value)) {
	case JSON_STRING:
		write_string(f, key, json_string_of(value), false);
		break;
	case JSON_ARRAY:
		write_array(f, key, value);
		break;
	case JSON_OBJECT:
		json_write_object(f->w, key);
		(void)json_each_member(value, on_member, &copy);
		json_write_close(f->w);
		break;
	default:
		json_write_value(f->w, key, value);
	}
}

static bool is_function(const struct json_object *tool)
{
	struct json_string type = json_string_of(json_member(tool, "type"));

	return type.data && strcmp(type.data, "function") == 0;
}

void agent_template_fill_tools(struct json_writer *w,
			       const struct json_object *tools,
			       const struct agent_inputs *inputs)
{
	const struct filling f = { w, inputs };
	size_t i;

	json_write_array(w, NULL);
	for (i = 0; i < json_array_size(tools); i++) {
		const struct json_object *tool = json_array_at(tools, i);

		if (is_function(tool))
			json_write_value(w, NULL, tool);
		else
			write_filled(&f, NULL, tool);
	}
	json_write_close(w);
}
