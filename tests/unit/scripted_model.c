/* SPDX-License-Identifier: Apache-2.0 */
#include "scripted_model.h"

#include "test.h"

#include <errno.h>

#include "base/cleanup.h"

int upstream_new(const struct upstream_config *config, struct upstream **ret,
		 struct error *err)
{
	(void)config;
	(void)err;
	*ret = calloc(1, sizeof(**ret));
	assert_non_null(*ret);
	(*ret)->asked = BUF_INIT(64 << 20);
	(*ret)->usage = (struct upstream_usage){
		.input_tokens = 10,
		.cached_tokens = 4,
		.output_tokens = 5,
		.reasoning_tokens = 2,
	};
	return 0;
}

void upstream_free(struct upstream *model)
{
	if (!model)
		return;
	assert_null(model->call);
	buf_done(&model->asked);
	free(model);
}

int upstream_model_find(const struct upstream *upstream, const char *name,
			struct upstream_model *ret, struct error *err)
{
	(void)upstream;
	if (strcmp(name, "m") != 0) {
		error_set(err, ERR_NOT_FOUND, "no model '%s'", name);
		error_set_param(err, "model");
		error_set_reason(err, "model_not_found");
		return -ENOENT;
	}
	*ret = (struct upstream_model){ .name = "m", .owner = "test" };
	return 0;
}

void upstream_each_model(const struct upstream *upstream,
			 void (*each)(void *userdata,
				      const struct upstream_model *model),
			 void *userdata)
{
	(void)upstream;
	(void)each;
	(void)userdata;
}

static void note(struct upstream *model, const char *name, const char *text)
{
	assert_int_equal(buf_printf(&model->asked, "%s=%s\n", name,
				    text ? text : "-"),
			 0);
}

int upstream_ask(struct upstream *model, const struct upstream_round *round,
		 const struct upstream_events *events, void *userdata,
		 struct upstream_call **ret, struct error *err)
{
	struct upstream_call *call = calloc(1, sizeof(*call));

	(void)err;
	assert_non_null(call);
	call->upstream = model;
	call->events = events;
	call->userdata = userdata;
	model->call = *ret = call;
	model->rounds++;
	buf_clear(&model->asked);
	note(model, "model", round->model);
	note(model, "instructions", round->instructions);
	note(model, "tools", round->tools);
	note(model, "tool_choice", round->tool_choice);
	note(model, "options", round->options);
	note(model, "encrypted", round->encrypted ? "yes" : NULL);
	for (size_t i = 0; i < round->item_count; i++)
		note(model, "item", round->items[i].json);
	return 0;
}

void upstream_call_free(struct upstream_call *call)
{
	if (!call)
		return;
	if (call->upstream->call == call)
		call->upstream->call = NULL;
	call->upstream->freed++;
	free(call);
}

void model_text(struct upstream *model, const char *text)
{
	model->call->events->text(model->call->userdata, text, strlen(text));
}

void model_refusal(struct upstream *model, const char *text)
{
	model->call->events->refusal(model->call->userdata, text,
				     strlen(text));
}

void model_thought(struct upstream *model, const char *text)
{
	model->call->events->reasoning(model->call->userdata, text,
				       strlen(text));
}

void model_encrypted(struct upstream *model, const char *text)
{
	model->call->events->encrypted(model->call->userdata, text,
				       strlen(text));
}

void model_call(struct upstream *model, unsigned index, const char *id,
		const char *name)
{
	model->call->events->call(model->call->userdata, index, id, name);
}

void model_arguments(struct upstream *model, unsigned index, const char *text)
{
	model->call->events->arguments(model->call->userdata, index, text,
				       strlen(text));
}

void model_python(struct upstream *model, unsigned index, const char *id,
		  const char *arguments)
{
	char piece[8];
	size_t size = strlen(arguments);

	model_call(model, index, id, "python");
	for (size_t at = 0; at < size && model->call;) {
		size_t end = at + 3 < size ? at + 3 : size;

		while (end < size && ((unsigned char)arguments[end] & 0xc0) == 0x80)
			end++;
		(void)snprintf(piece, sizeof(piece), "%.*s", (int)(end - at),
			       arguments + at);
		model_arguments(model, index, piece);
		at = end;
	}
}

void model_end(struct upstream *model, enum upstream_finish finish)
{
	const struct upstream_end end = {
		.finish = finish,
		.usage = model->usage,
	};

	model->call->events->end(model->call->userdata, &end);
}

void model_fail_with(struct upstream *model, const struct error *err)
{
	const struct upstream_end end = {
		.finish = UPSTREAM_FAILED,
		.error = err,
	};

	model->call->events->end(model->call->userdata, &end);
}

void model_fail(struct upstream *model, enum error_code code,
		const char *message)
{
	struct error err = ERROR_INIT;

	error_set(&err, code, "%s", message);
	model_fail_with(model, &err);
}
