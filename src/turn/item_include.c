/* SPDX-License-Identifier: Apache-2.0 */
#include "turn/item.h"

#include <errno.h>
#include <string.h>

#include "base/json.h"

/* Words whose kinds of item or content are never made here mean nothing, but
 * clients send them. */
static const struct {
	const char *word;
	unsigned bits;
} words[] = {
	{ "code_interpreter_call.outputs", ITEM_INCLUDE_OUTPUTS },
	{ "message.input_image.image_url", ITEM_INCLUDE_IMAGE_URL },
	{ "message.output_text.logprobs", ITEM_INCLUDE_LOGPROBS },
	{ "reasoning.encrypted_content", ITEM_INCLUDE_ENCRYPTED },
	{ "computer_call_output.output.image_url", 0 },
	{ "file_search_call.results", 0 },
	{ "web_search_call.action.sources", 0 },
	{ "web_search_call.results", 0 },
};

int item_include_word(const char *word, unsigned *ret, struct error *err)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(words[i].word, word) == 0) {
			*ret |= words[i].bits;
			return 0;
		}
	}
	return error_refuse(err, "include", "invalid_value",
			    "Invalid value in include: \"%.64s\". What can be "
			    "included of an interpreter's call is "
			    "\"code_interpreter_call.outputs\".",
			    word);
}

int item_include_read(const struct json_object *include, const char *path,
		      unsigned *ret, struct error *err)
{
	for (size_t i = 0; i < json_array_size(include); i++) {
		struct json_string word = { 0 };
		int r = json_read_string_item(include, path, i, &word, err);

		if (r >= 0)
			r = item_include_word(word.data, ret, err);
		if (r < 0)
			return r;
	}
	return 0;
}
