/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/json_write.h"
#include "turn/item.h"
#include "turn/metadata.h"

/* Items from a client to the kept form, and back. */

static const struct principal me = { .tenant = "t1" };

/* --------------------------------------------------------- what core is asked */

#define KEPT_CALL                                                      \
	"{\"id\":\"ci_kept\",\"type\":\"code_interpreter_call\","      \
	"\"status\":\"completed\",\"container_id\":\"cntr_1\","        \
	"\"code\":\"1\",\"outputs\":[{\"type\":\"logs\",\"logs\":\"one\"}]}"

int core_item_find(struct core *core, const struct principal *who,
		   const char *id, struct talk_item *ret, struct error *err)
{
	(void)core;
	assert_string_equal(who->tenant, "t1");
	if (strcmp(id, "ci_kept") != 0)
		return error_set(err, ERR_NOT_FOUND,
				 "Item with id '%s' not found", id);
	*ret = (struct talk_item){ .json = KEPT_CALL,
				   .size = strlen(KEPT_CALL) };
	strcpy(ret->id, id);
	return 0;
}

int core_file_get(struct core *core, const struct principal *who,
		  const char *id, struct file_view *ret, struct error *err)
{
	(void)core;
	(void)ret;
	assert_string_equal(who->tenant, "t1");
	if (strcmp(id, "file-1") == 0)
		return 0;
	return error_set(err, ERR_NOT_FOUND, "No such File object: %s", id);
}

/* -------------------------------------------------------------------- helpers */

static void items_donep(struct items *items)
{
	items_done(items);
}

static int read_text(const char *json, struct items *ret, struct error *err)
{
	_cleanup_(json_freep) struct json_object *input = NULL;

	if (json_parse(json, strlen(json), &input, NULL) < 0)
		fail_msg("the test's own JSON: %s", json);
	return items_read(NULL, &me, input, "input", 4, ret, err);
}

/* @kept: the one item, with @ID@ where an id was drawn. */
static void keeps(const char *json, const char *prefix, const char *kept)
{
	_cleanup_(items_donep) struct items items = { .list = NULL };
	_cleanup_(buf_done) struct buf expected = BUF_INIT(1 << 16);
	struct error err = ERROR_INIT;

	if (read_text(json, &items, &err) < 0)
		fail_msg("%s: %s", json, err.message);
	assert_int_equal(items.count, 1);
	if (prefix) {
		assert_int_equal(strncmp(items.list[0].id, prefix,
					 strlen(prefix)),
				 0);
		assert_int_equal(buf_printf(&expected, "{\"id\":\"%s\",%s",
					    items.list[0].id, kept),
				 0);
	} else {
		assert_int_equal(buf_printf(&expected, "{%s", kept), 0);
	}
	assert_string_equal(items.list[0].json, buf_str(&expected));
	assert_int_equal(items.list[0].size, expected.length);
}

/* ---------------------------------------------------------------------- tests */

#define MSG_END "\"annotations\":[],\"logprobs\":[]}]}"

static void every_form_comes_to_the_kept_one(void **state)
{
	(void)state;
	keeps("\"hi\"", "msg_",
	      "\"type\":\"message\",\"status\":\"completed\",\"role\":\"user\","
	      "\"content\":[{\"type\":\"input_text\",\"text\":\"hi\"}]}");
	keeps("[{\"role\":\"developer\",\"content\":\"hi\",\"odd\":1}]", "msg_",
	      "\"type\":\"message\",\"status\":\"completed\","
	      "\"role\":\"developer\","
	      "\"content\":[{\"type\":\"input_text\",\"text\":\"hi\"}]}");
	keeps("[{\"role\":\"assistant\",\"content\":\"hi\"}]", "msg_",
	      "\"type\":\"message\",\"status\":\"completed\","
	      "\"role\":\"assistant\","
	      "\"content\":[{\"type\":\"output_text\",\"text\":\"hi\"," MSG_END);
	keeps("[{\"type\":\"message\",\"id\":\"msg_x\",\"role\":\"assistant\","
	      "\"status\":\"incomplete\",\"content\":[{\"type\":\"refusal\","
	      "\"refusal\":\"no\"}]}]",
	      NULL,
	      "\"id\":\"msg_x\",\"type\":\"message\",\"status\":\"incomplete\","
	      "\"role\":\"assistant\",\"content\":[{\"type\":\"refusal\","
	      "\"refusal\":\"no\"}]}");
	keeps("[{\"role\":\"user\",\"content\":[{\"type\":\"input_image\","
	      "\"image_url\":\"https://e.org/a.png\"},{\"type\":\"input_file\","
	      "\"file_id\":\"file-1\"},{\"type\":\"input_file\",\"filename\":"
	      "\"a.csv\",\"file_data\":\"data:text/csv;base64,YQ==\"}]}]",
	      "msg_",
	      "\"type\":\"message\",\"status\":\"completed\",\"role\":\"user\","
	      "\"content\":[{\"type\":\"input_image\",\"image_url\":"
	      "\"https://e.org/a.png\",\"detail\":\"auto\"},{\"type\":"
	      "\"input_file\",\"file_id\":\"file-1\"},{\"type\":\"input_file\","
	      "\"filename\":\"a.csv\",\"file_data\":"
	      "\"data:text/csv;base64,YQ==\"}]}");
}

static void what_a_model_said_may_be_sent_again(void **state)
{
	(void)state;
	keeps("[{\"type\":\"function_call\",\"id\":null,\"call_id\":\"c1\","
	      "\"name\":\"f\",\"arguments\":\"{}\"}]",
	      "fc_",
	      "\"type\":\"function_call\",\"status\":\"completed\","
	      "\"call_id\":\"c1\",\"name\":\"f\",\"arguments\":\"{}\"}");
	keeps("[{\"type\":\"function_call_output\",\"call_id\":\"c1\","
	      "\"output\":\"done\"}]",
	      "fco_",
	      "\"type\":\"function_call_output\",\"status\":\"completed\","
	      "\"call_id\":\"c1\",\"output\":\"done\"}");
	keeps("[{\"type\":\"function_call_output\",\"call_id\":\"c1\","
	      "\"output\":[{\"type\":\"input_text\",\"text\":\"a\"}]}]",
	      "fco_",
	      "\"type\":\"function_call_output\",\"status\":\"completed\","
	      "\"call_id\":\"c1\","
	      "\"output\":[{\"type\":\"input_text\",\"text\":\"a\"}]}");
	keeps("[{\"type\":\"reasoning\",\"id\":\"rs_1\",\"summary\":[{\"type\":"
	      "\"summary_text\",\"text\":\"so\"}],\"encrypted_content\":\"x\"}]",
	      NULL,
	      "\"id\":\"rs_1\",\"type\":\"reasoning\",\"status\":\"completed\","
	      "\"summary\":[{\"type\":\"summary_text\",\"text\":\"so\"}],"
	      "\"encrypted_content\":\"x\"}");
	keeps("[{\"type\":\"code_interpreter_call\",\"id\":\"ci_new\","
	      "\"container_id\":\"cntr_1\",\"code\":null,\"outputs\":["
	      "{\"type\":\"image\",\"url\":\"data:x\"}]}]",
	      NULL,
	      "\"id\":\"ci_new\",\"type\":\"code_interpreter_call\","
	      "\"status\":\"completed\",\"container_id\":\"cntr_1\","
	      "\"code\":null,"
	      "\"outputs\":[{\"type\":\"image\",\"url\":\"data:x\"}]}");
}

static void outputs_that_were_kept_come_back(void **state)
{
	(void)state;
	keeps("[{\"type\":\"code_interpreter_call\",\"id\":\"ci_kept\","
	      "\"container_id\":\"cntr_1\",\"code\":\"1\",\"outputs\":null}]",
	      NULL, &KEPT_CALL[1]);
	keeps("[{\"type\":\"code_interpreter_call\",\"id\":\"ci_else\","
	      "\"container_id\":\"cntr_1\",\"code\":\"1\"}]",
	      NULL,
	      "\"id\":\"ci_else\",\"type\":\"code_interpreter_call\","
	      "\"status\":\"completed\",\"container_id\":\"cntr_1\","
	      "\"code\":\"1\",\"outputs\":null}");
}

static void references_are_resolved(void **state)
{
	(void)state;
	keeps("[{\"type\":\"item_reference\",\"id\":\"ci_kept\"}]", NULL,
	      &KEPT_CALL[1]);
	keeps("[{\"id\":\"ci_kept\"}]", NULL, &KEPT_CALL[1]);
	keeps("[{\"type\":null,\"id\":\"ci_kept\"}]", NULL, &KEPT_CALL[1]);
}

#define LONG_ID                                                        \
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define PART(part) "[{\"role\":\"user\",\"content\":[" part "]}]"
#define SAID(part) "[{\"role\":\"assistant\",\"content\":[" part "]}]"
#define CALL(rest) "[{\"type\":\"function_call\"," rest "}]"
#define CODE(rest) "[{\"type\":\"code_interpreter_call\"," rest "}]"

static const struct {
	const char *json;
	const char *param;
	const char *reason;
} bad[] = {
	{ "7", "input", "invalid_type" },
	{ "{}", "input", "invalid_type" },
	{ "[\"a\"]", "input[0]", "invalid_type" },
	{ "[null]", "input[0]", "invalid_value" },
	{ "[\"a\",1,2,3,4]", "input", "array_above_max_length" },
	{ "[{}]", "input[0].role", "missing_required_parameter" },
	{ "[{\"type\":\"web_search_call\",\"id\":\"ws_1\"}]", "input[0].type",
	  "invalid_value" },
	{ "[{\"type\":\"message\\u0000\",\"role\":\"user\"}]", "input[0].type",
	  "invalid_value" },
	{ "[{\"type\":1}]", "input[0].type", "invalid_type" },
	{ "[{\"role\":\"tool\",\"content\":\"a\"}]", "input[0].role",
	  "invalid_value" },
	{ "[{\"role\":\"user\"}]", "input[0].content",
	  "missing_required_parameter" },
	{ "[{\"role\":\"user\",\"content\":7}]", "input[0].content",
	  "invalid_type" },
	{ "[{\"role\":\"user\",\"content\":{}}]", "input[0].content",
	  "invalid_type" },
	{ "[{\"role\":\"user\",\"content\":\"a\",\"status\":\"done\"}]",
	  "input[0].status", "invalid_value" },
	{ "[{\"role\":\"user\",\"content\":\"a\",\"id\":\"\"}]", "input[0].id",
	  "invalid_value" },
	{ "[{\"role\":\"user\",\"content\":\"a\",\"id\":\"a/b\"}]",
	  "input[0].id", "invalid_value" },
	{ "[{\"role\":\"user\",\"content\":\"a\",\"id\":\"a\\u0000\"}]",
	  "input[0].id", "invalid_value" },
	{ "[{\"role\":\"user\",\"content\":\"a\",\"id\":\"" LONG_ID "\"}]",
	  "input[0].id", "invalid_value" },
	{ "[{\"role\":\"user\",\"content\":\"a\",\"id\":7}]", "input[0].id",
	  "invalid_type" },
	{ "[{\"role\":\"user\",\"content\":\"a\",\"id\":\"m\"},"
	  "{\"role\":\"user\",\"content\":\"b\",\"id\":\"m\"}]",
	  "input[1].id", "invalid_value" },
	{ PART("7"), "input[0].content[0]", "invalid_type" },
	{ PART("{}"), "input[0].content[0].type",
	  "missing_required_parameter" },
	{ PART("{\"type\":\"text\",\"text\":\"a\"}"),
	  "input[0].content[0].type", "invalid_value" },
	{ PART("{\"type\":\"output_text\",\"text\":\"a\"}"),
	  "input[0].content[0].type", "invalid_value" },
	{ PART("{\"type\":\"input_text\"}"), "input[0].content[0].text",
	  "missing_required_parameter" },
	{ PART("{\"type\":\"input_text\",\"text\":\"a\"},"
	       "{\"type\":\"input_text\",\"text\":7}"),
	  "input[0].content[1].text", "invalid_type" },
	{ PART("{\"type\":\"input_image\"}"), "input[0].content[0]",
	  "invalid_value" },
	{ PART("{\"type\":\"input_image\",\"image_url\":\"https://e.org\","
	       "\"file_id\":\"file-1\"}"),
	  "input[0].content[0]", "invalid_value" },
	{ PART("{\"type\":\"input_image\",\"image_url\":{\"url\":\"x\"}}"),
	  "input[0].content[0].image_url", "invalid_type" },
	{ PART("{\"type\":\"input_image\",\"image_url\":\"file:///etc/passwd\"}"),
	  "input[0].content[0].image_url", "invalid_value" },
	{ PART("{\"type\":\"input_image\",\"image_url\":\"data:text/html,x\"}"),
	  "input[0].content[0].image_url", "invalid_value" },
	{ PART("{\"type\":\"input_image\",\"image_url\":\"https://e.org\","
	       "\"detail\":\"best\"}"),
	  "input[0].content[0].detail", "invalid_value" },
	{ PART("{\"type\":\"input_image\",\"file_id\":\"file-2\"}"),
	  "input[0].content[0].file_id", "" },
	{ PART("{\"type\":\"input_file\",\"file_id\":\"file-2\"}"),
	  "input[0].content[0].file_id", "" },
	{ PART("{\"type\":\"input_file\"}"), "input[0].content[0]",
	  "invalid_value" },
	{ PART("{\"type\":\"input_file\",\"file_url\":\"http://10.0.0.1/\"}"),
	  "input[0].content[0].file_url", "invalid_value" },
	{ PART("{\"type\":\"input_file\",\"file_id\":\"file-1\","
	       "\"file_url\":\"http://10.0.0.1/\"}"),
	  "input[0].content[0].file_url", "invalid_value" },
	{ PART("{\"type\":\"input_file\",\"file_data\":"
	       "\"data:text/csv;base64,YQ==\"}"),
	  "input[0].content[0].filename", "missing_required_parameter" },
	{ PART("{\"type\":\"input_file\",\"filename\":\"../a\",\"file_data\":"
	       "\"data:text/csv;base64,YQ==\"}"),
	  "input[0].content[0].filename", "invalid_value" },
	{ PART("{\"type\":\"input_file\",\"filename\":\"a\",\"file_data\":"
	       "\"YQ==\"}"),
	  "input[0].content[0].file_data", "invalid_value" },
	{ SAID("{\"type\":\"input_text\",\"text\":\"a\"}"),
	  "input[0].content[0].type", "invalid_value" },
	{ SAID("{\"type\":\"output_text\",\"text\":\"a\",\"annotations\":"
	       "[{\"type\":\"footnote\"}]}"),
	  "input[0].content[0].annotations[0].type", "invalid_value" },
	{ SAID("{\"type\":\"output_text\",\"text\":\"a\",\"logprobs\":{}}"),
	  "input[0].content[0].logprobs", "invalid_type" },
	{ SAID("{\"type\":\"refusal\"}"), "input[0].content[0].refusal",
	  "missing_required_parameter" },
	{ CALL("\"name\":\"f\",\"arguments\":\"{}\""), "input[0].call_id",
	  "missing_required_parameter" },
	{ CALL("\"call_id\":\"\",\"name\":\"f\",\"arguments\":\"{}\""),
	  "input[0].call_id", "string_below_min_length" },
	{ CALL("\"call_id\":\"" LONG_ID "\",\"name\":\"f\","
	       "\"arguments\":\"{}\""),
	  "input[0].call_id", "string_above_max_length" },
	{ CALL("\"call_id\":\"c\",\"arguments\":\"{}\""), "input[0].name",
	  "missing_required_parameter" },
	{ CALL("\"call_id\":\"c\",\"name\":\"f\",\"arguments\":{}"),
	  "input[0].arguments", "invalid_type" },
	{ "[{\"type\":\"function_call_output\",\"call_id\":\"c\"}]",
	  "input[0].output", "missing_required_parameter" },
	{ "[{\"type\":\"function_call_output\",\"call_id\":\"c\",\"output\":"
	  "[{\"type\":\"output_text\",\"text\":\"a\"}]}]",
	  "input[0].output[0].type", "invalid_value" },
	{ CODE("\"code\":\"1\""), "input[0].container_id",
	  "missing_required_parameter" },
	{ CODE("\"container_id\":\"" LONG_ID "\""), "input[0].container_id",
	  "string_above_max_length" },
	{ CODE("\"container_id\":\"c\",\"code\":1"), "input[0].code",
	  "invalid_type" },
	{ CODE("\"container_id\":\"c\",\"outputs\":[{\"type\":\"logs\"}]"),
	  "input[0].outputs[0].logs", "missing_required_parameter" },
	{ CODE("\"container_id\":\"c\",\"outputs\":[{\"type\":\"files\"}]"),
	  "input[0].outputs[0].type", "invalid_value" },
	{ "[{\"type\":\"reasoning\",\"summary\":[{\"type\":\"x\","
	  "\"text\":\"a\"}]}]",
	  "input[0].summary[0].type", "invalid_value" },
	{ "[{\"type\":\"reasoning\",\"encrypted_content\":1}]",
	  "input[0].encrypted_content", "invalid_type" },
	{ "[{\"type\":\"item_reference\"}]", "input[0].id",
	  "missing_required_parameter" },
	{ "[{\"type\":\"item_reference\",\"id\":\"msg_gone\"}]", "input[0].id",
	  "" },
	{ "[{\"id\":\"ci_kept\"},{\"id\":\"ci_kept\"}]", "input[1].id",
	  "invalid_value" },
};

static void what_is_wrong_is_named(void **state)
{
	_cleanup_(items_donep) struct items items = { .list = NULL };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct error err = ERROR_INIT;

		if (read_text(bad[i].json, &items, &err) >= 0)
			fail_msg("%s was taken", bad[i].json);
		if (strcmp(err.param, bad[i].param) != 0 ||
		    strcmp(err.reason, bad[i].reason) != 0)
			fail_msg("%s: %s: '%s' '%s'", bad[i].json, err.message,
				 err.param, err.reason);
		/* What came before it is not left behind. */
		assert_int_equal(items.count, 0);
	}
}

static void an_item_has_a_largest_size(void **state)
{
	_cleanup_(items_donep) struct items items = { .list = NULL };
	_cleanup_free_ char *json = malloc(CORE_ITEM_MAX + 16);
	struct error err = ERROR_INIT;

	(void)state;
	assert_non_null(json);
	memset(json, 'x', CORE_ITEM_MAX + 2);
	json[0] = json[CORE_ITEM_MAX + 1] = '"';
	json[CORE_ITEM_MAX + 2] = '\0';
	assert_true(read_text(json, &items, &err) < 0);
	assert_int_equal(err.code, ERR_BAD_REQUEST);
	assert_string_equal(err.param, "input");
}

static void nothing_is_no_item(void **state)
{
	_cleanup_(items_donep) struct items items = { .list = NULL };

	(void)state;
	assert_int_equal(read_text("null", &items, NULL), 0);
	assert_int_equal(read_text("[]", &items, NULL), 0);
	assert_int_equal(items.count, 0);
}

static void shows(const char *json, unsigned include, const char *shown)
{
	_cleanup_(items_donep) struct items items = { .list = NULL };
	_cleanup_(buf_done) struct buf text = BUF_INIT(1 << 16);
	struct json_writer w = JSON_WRITER_INIT(&text);

	assert_int_equal(items_add_text(&items, json, strlen(json)), 0);
	item_write(&w, NULL, &items.list[0], include);
	assert_int_equal(json_write_end(&w), 0);
	assert_string_equal(buf_str(&text), shown);
}

#define MESSAGE(image, logprobs)                                       \
	"{\"id\":\"m\",\"type\":\"message\",\"content\":[{\"type\":"   \
	"\"input_image\",\"image_url\":" image "},{\"type\":"          \
	"\"output_text\",\"logprobs\":" logprobs "}]}"

static void what_is_not_asked_for_is_not_shown(void **state)
{
	static const char hidden[] =
		"{\"id\":\"ci_kept\",\"type\":\"code_interpreter_call\","
		"\"status\":\"completed\",\"container_id\":\"cntr_1\","
		"\"code\":\"1\",\"outputs\":null}";
	static const char message[] = MESSAGE("\"u\"", "[1]");

	(void)state;
	shows(KEPT_CALL, 0, hidden);
	shows(KEPT_CALL, ITEM_INCLUDE_OUTPUTS, KEPT_CALL);
	shows(message, 0, MESSAGE("null", "[]"));
	shows(message, ITEM_INCLUDE_IMAGE_URL, MESSAGE("\"u\"", "[]"));
	shows(message, ITEM_INCLUDE_LOGPROBS, MESSAGE("null", "[1]"));
	shows("{\"id\":\"r\",\"type\":\"reasoning\",\"encrypted_content\":\"x\"}",
	      0,
	      "{\"id\":\"r\",\"type\":\"reasoning\",\"encrypted_content\":null}");
}

static void what_is_no_kept_item_is_not_added(void **state)
{
	static const char *const texts[] = {
		"", "7", "{}", "{\"id\":\"a\"}", "{\"type\":\"message\"}",
		"{\"id\":\"a\",\"type\":\"b\"}",
		"{\"id\":\"" LONG_ID "\",\"type\":\"message\"}",
	};
	_cleanup_(items_donep) struct items items = { .list = NULL };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_true(items_add_text(&items, texts[i],
					   strlen(texts[i])) < 0);
	assert_int_equal(items.count, 0);
}

/* ------------------------------------------------------------------- metadata */

static void check_metadata(const char *json, const char *param,
			   const char *reason)
{
	_cleanup_(json_freep) struct json_object *metadata = NULL;
	struct error err = ERROR_INIT;
	int r;

	assert_int_equal(json_parse(json, strlen(json), &metadata, NULL), 0);
	r = metadata_check(metadata, &err);
	assert_int_equal(r < 0, param != NULL);
	assert_string_equal(err.param, param ? param : "");
	assert_string_equal(err.reason, param ? reason : "");
}

static void metadata_has_its_limits(void **state)
{
	_cleanup_(buf_done) struct buf json = BUF_INIT(1 << 16);
	int i;

	(void)state;
	check_metadata("null", NULL, NULL);
	check_metadata("{}", NULL, NULL);
	check_metadata("[]", "metadata", "invalid_type");
	check_metadata("{\"k\":1}", "metadata.k", "invalid_type");
	check_metadata("{\"k\":null}", "metadata.k", "invalid_type");
	check_metadata("{\"" LONG_ID "\":\"v\"}", "metadata",
		       "string_above_max_length");
	/* Characters are counted, not bytes. */
	assert_int_equal(buf_add_str(&json, "{\"k\":\""), 0);
	for (i = 0; i < METADATA_VALUE_MAX; i++)
		assert_int_equal(buf_add_str(&json, "\xc3\xa4"), 0);
	assert_int_equal(buf_add_str(&json, "\"}"), 0);
	check_metadata(buf_str(&json), NULL, NULL);
	buf_truncate(&json, json.length - 2);
	assert_int_equal(buf_add_str(&json, "x\"}"), 0);
	check_metadata(buf_str(&json), "metadata.k", "string_above_max_length");
	buf_clear(&json);
	for (i = 0; i <= METADATA_PAIRS_MAX; i++)
		assert_int_equal(buf_printf(&json, "%s\"%d\":\"v\"",
					    i ? "," : "{", i),
				 0);
	assert_int_equal(buf_add_str(&json, "}"), 0);
	check_metadata(buf_str(&json), "metadata",
		       "object_above_max_properties");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_form_comes_to_the_kept_one),
		cmocka_unit_test(what_a_model_said_may_be_sent_again),
		cmocka_unit_test(outputs_that_were_kept_come_back),
		cmocka_unit_test(references_are_resolved),
		cmocka_unit_test(what_is_wrong_is_named),
		cmocka_unit_test(an_item_has_a_largest_size),
		cmocka_unit_test(nothing_is_no_item),
		cmocka_unit_test(what_is_not_asked_for_is_not_shown),
		cmocka_unit_test(what_is_no_kept_item_is_not_added),
		cmocka_unit_test(metadata_has_its_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
