/* SPDX-License-Identifier: Apache-2.0 */
#include "core_talk_fixture.h"

void on_conversation(void *userdata,
			    const struct conversation_view *conversation,
			    const struct error *err)
{
	struct answer *a = userdata;

	a->called = true;
	a->failed = err != NULL;
	if (err)
		a->err = *err;
	else
		(void)snprintf(a->id, sizeof(a->id), "%s", conversation->id);
	if (conversation)
		(void)snprintf(a->text, sizeof(a->text), "%s",
			       conversation->metadata);
}

void on_item(void *userdata, const struct talk_item *item)
{
	struct said *said = userdata;

	(void)buf_printf(&said->items, "%s ", item->id);
	said->count++;
	if (said->cancel)
		core_context_cancel(said->cancel);
	said->cancel = NULL;
}

void on_read(void *userdata, const struct error *err)
{
	on_done(&((struct said *)userdata)->answer, err);
}

struct talk_item item_of(const char *id)
{
	struct talk_item item = { .json = "{\"a\":1}", .size = 7 };

	(void)snprintf(item.id, sizeof(item.id), "%s", id);
	return item;
}

void begin(struct fixture *fx, char id[ID_SIZE])
{
	const struct talk_item items[] = { item_of("msg_a"), item_of("msg_b") };
	struct answer a = { .called = false };

	assert_int_equal(core_conversation_create(fx->core, &fx->who,
						  "{\"k\":\"v\"}", items, 2,
						  on_conversation, &a, &a.err),
			 0);
	assert_false(a.called);
	RUN_UNTIL(fx, a.called);
	assert_false(a.failed);
	assert_string_equal(a.text, "{\"k\":\"v\"}");
	memcpy(id, a.id, ID_SIZE);
}

/* @letter: ids are resp_ and 48 of it */
void name_response(char letter, char id[ID_SIZE])
{
	memcpy(id, "resp_", 5);
	memset(id + 5, letter, 48);
	id[53] = '\0';
}

struct answer put(struct fixture *fx, char letter, char previous,
			 const char *conversation, bool open)
{
	char input[ID_SIZE], output[ID_SIZE], before[ID_SIZE];
	struct response_spec spec = { .conversation = conversation,
				      .json = "{}",
				      .size = 2,
				      .open = open,
				      .input_count = 1,
				      .output_count = open ? 0 : 1 };
	struct talk_item in, out;
	struct answer a = { .called = false };

	(void)snprintf(input, sizeof(input), "msg_in_%c", letter);
	(void)snprintf(output, sizeof(output), "msg_out_%c", letter);
	in = item_of(input);
	out = item_of(output);
	spec.inputs = &in;
	spec.outputs = &out;
	name_response(letter, spec.id);
	name_response(previous, before);
	if (previous)
		spec.previous = before;
	a.failed = core_response_put(fx->core, &fx->who, &spec, on_done, &a,
				     &a.err) < 0;
	if (!a.failed)
		RUN_UNTIL(fx, a.called);
	return a;
}

void read_context(struct fixture *fx, const char *response,
			 const char *conversation, size_t max_bytes,
			 struct said *said)
{
	struct talk_context *context = NULL;

	*said = (struct said){ .items = BUF_INIT(1 << 20) };
	said->answer.failed = core_context_read(fx->core, &fx->who, response,
						conversation, max_bytes,
						on_item, on_read, said,
						&context,
						&said->answer.err) < 0;
	if (said->answer.failed)
		return;
	assert_false(said->answer.called);
	RUN_UNTIL(fx, said->answer.called);
}

void expect_context(struct fixture *fx, const char *response,
			   const char *conversation, const char *items)
{
	struct said said;

	read_context(fx, response, conversation, 1 << 20, &said);
	assert_false(said.answer.failed);
	assert_string_equal(buf_str(&said.items), items);
	buf_done(&said.items);
}
