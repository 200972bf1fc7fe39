/* SPDX-License-Identifier: Apache-2.0 */
#include "turn/out_item.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_write.h"

/* Of one call: text, and figures as data URLs. */
enum { OUTPUTS_MAX = 6 << 20 };

static const struct {
	enum id_kind id;
	enum item_type type;
	const char *name;
} kinds[] = {
	[OUT_MESSAGE] = { ID_MESSAGE, ITEM_MESSAGE, "message" },
	[OUT_REFUSAL] = { ID_MESSAGE, ITEM_MESSAGE, "message" },
	[OUT_CODE] = { ID_CODE_CALL, ITEM_CODE_INTERPRETER_CALL,
		       "code_interpreter_call" },
	[OUT_FUNCTION] = { ID_FUNCTION_CALL, ITEM_FUNCTION_CALL,
			   "function_call" },
	[OUT_REASONING] = { ID_REASONING, ITEM_REASONING, "reasoning" },
};
static_assert(sizeof(kinds) / sizeof(kinds[0]) == OUT_KIND_COUNT,
	      "kinds[] doesn't match enum out_kind");

static const char *const statuses[] = {
	[OUT_IN_PROGRESS] = "in_progress",
	[OUT_COMPLETED] = "completed",
	[OUT_INCOMPLETE] = "incomplete",
	[OUT_FAILED] = "failed",
};
static_assert(sizeof(statuses) / sizeof(statuses[0]) == OUT_STATUS_COUNT,
	      "statuses[] doesn't match enum out_status");

int out_item_init(struct out_item *item, enum out_kind kind, size_t max)
{
	*item = (struct out_item){
		.kind = kind,
		.text = BUF_INIT(max),
		.outputs = BUF_INIT(OUTPUTS_MAX),
		.encrypted = BUF_INIT(max),
	};
	return id_new(kinds[kind].id, item->id);
}

void out_item_done(struct out_item *item)
{
	for (size_t i = 0; i < item->citation_count; i++)
		free(item->citations[i].filename);
	free(item->citations);
	buf_done(&item->text);
	buf_done(&item->outputs);
	buf_done(&item->encrypted);
}

int out_item_cite(struct out_item *item, const struct out_citation *citation)
{
	struct out_citation *list;
	char *filename;

	if (item->citation_count == OUT_CITATIONS_MAX)
		return 0;
	filename = strdup(citation->filename);
	list = reallocarray(item->citations, item->citation_count + 1,
			    sizeof(*list));
	if (list)
		item->citations = list;
	if (!list || !filename) {
		free(filename);
		return -ENOMEM;
	}
	list[item->citation_count] = *citation;
	list[item->citation_count++].filename = filename;
	return 0;
}

enum item_type out_item_type(const struct out_item *item)
{
	return kinds[item->kind].type;
}

void out_citation_write(struct json_writer *w, const char *key,
			const struct out_citation *citation)
{
	json_write_object(w, key);
	json_write_string(w, "type", "container_file_citation");
	json_write_string(w, "container_id", citation->container);
	json_write_string(w, "file_id", citation->file);
	json_write_string(w, "filename", citation->filename);
	json_write_uint(w, "start_index", citation->start);
	json_write_uint(w, "end_index", citation->end);
	json_write_close(w);
}

static void write_text(struct json_writer *w, const char *key,
		       const struct out_item *item, bool begun)
{
	json_write_bytes(w, key, item->text.data,
			 begun ? 0 : item->text.length);
}

void out_item_write_part(struct json_writer *w, const char *key,
			 const struct out_item *item, enum out_view view)
{
	bool begun = view == OUT_AS_BEGUN;

	json_write_object(w, key);
	if (item->kind == OUT_REFUSAL || item->kind == OUT_REASONING) {
		bool refusal = item->kind == OUT_REFUSAL;

		json_write_string(w, "type",
				  refusal ? "refusal" : "summary_text");
		write_text(w, refusal ? "refusal" : "text", item, begun);
		json_write_close(w);
		return;
	}
	json_write_string(w, "type", "output_text");
	write_text(w, "text", item, begun);
	json_write_array(w, "annotations");
	for (size_t i = 0; i < item->citation_count && !begun; i++)
		out_citation_write(w, NULL, &item->citations[i]);
	json_write_close(w);
	json_write_array(w, "logprobs");
	json_write_close(w);
	json_write_close(w);
}

static void write_message(struct json_writer *w, const struct out_item *item,
			  enum out_view view)
{
	json_write_string(w, "role", "assistant");
	json_write_array(w, "content");
	if (view == OUT_AS_IS)
		out_item_write_part(w, NULL, item, view);
	json_write_close(w);
}

static void write_code(struct json_writer *w, const struct out_item *item,
		       enum out_view view, bool outputs)
{
	write_text(w, "code", item, view == OUT_AS_BEGUN);
	json_write_string(w, "container_id", item->container);
	if (!outputs)
		json_write_null(w, "outputs");
	else if (view == OUT_AS_BEGUN || item->outputs.length == 0)
		json_write_raw(w, "outputs", "[]", 2);
	else
		json_write_raw(w, "outputs", buf_str(&item->outputs),
			       item->outputs.length);
}

static void write_function(struct json_writer *w, const struct out_item *item,
			   enum out_view view)
{
	json_write_string(w, "call_id", item->call_id);
	json_write_string(w, "name", item->name);
	write_text(w, "arguments", item, view == OUT_AS_BEGUN);
}

/* It has a summary only if there is something in it. */
static void write_reasoning(struct json_writer *w, const struct out_item *item,
			    enum out_view view, bool encrypted)
{
	json_write_array(w, "summary");
	if (view == OUT_AS_IS && item->text.length > 0)
		out_item_write_part(w, NULL, item, view);
	json_write_close(w);
	if (view == OUT_AS_IS && encrypted && item->encrypted.length > 0)
		json_write_bytes(w, "encrypted_content", item->encrypted.data,
				 item->encrypted.length);
}

void out_item_write(struct json_writer *w, const char *key,
		    const struct out_item *item, enum out_view view,
		    unsigned include)
{
	json_write_object(w, key);
	json_write_string(w, "id", item->id);
	json_write_string(w, "type", kinds[item->kind].name);
	json_write_string(w, "status",
			  statuses[view == OUT_AS_BEGUN ? OUT_IN_PROGRESS
							: item->status]);
	if (item->kind == OUT_CODE)
		write_code(w, item, view, include & ITEM_INCLUDE_OUTPUTS);
	else if (item->kind == OUT_FUNCTION)
		write_function(w, item, view);
	else if (item->kind == OUT_REASONING)
		write_reasoning(w, item, view, include & ITEM_INCLUDE_ENCRYPTED);
	else
		write_message(w, item, view);
	json_write_close(w);
}
