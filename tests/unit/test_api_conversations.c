/* SPDX-License-Identifier: Apache-2.0 */
#include "api_fixture.h"

#include <stdio.h>

#include "base/cleanup.h"

/* The conversations API above a fake core. */

#define V1 "/v1/conversations"
#define ONE "{\"items\":[{\"id\":\"a\",\"role\":\"user\",\"content\":\"one\"}]}"
#define SHOWN(id, text)                                                        \
	"{\"id\":\"" id "\",\"type\":\"message\",\"status\":\"completed\","    \
	"\"role\":\"user\",\"content\":[{\"type\":\"input_text\","             \
	"\"text\":\"" text "\"}]}"
#define CONVERSATION(metadata)                                                 \
	"{\"id\":\"conv_1\",\"object\":\"conversation\","                      \
	"\"created_at\":1790000000,\"metadata\":" metadata "}"

static struct answer asks_as(struct fixture *fx, const char *auth,
			     const char *method, const char *path,
			     const char *json)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(1 << 20);

	buf_printf(&b, "%s %s HTTP/1.1\r\n" HOST "%s", method, path, auth);
	if (json)
		buf_printf(&b,
			   "Content-Type: application/json\r\n"
			   "Content-Length: %zu\r\n",
			   strlen(json));
	buf_printf(&b, "\r\n%s", json ? json : "");
	return ask_bytes(fx, b.data, b.length);
}

/* One call: its status, and what its body mentions. */
static void expect_as(struct fixture *fx, const char *auth, const char *method,
		      const char *path, const char *json, int status,
		      const char *says)
{
	_answer_ struct answer a = asks_as(fx, auth, method, path, json);

	if (a.status != status || !strstr(a.body, says))
		fail_msg("%s %s %s\n%s", method, path, json ? json : "",
			 buf_str(&a.raw));
}

static void expect(struct fixture *fx, const char *method, const char *path,
		   const char *json, int status, const char *says)
{
	expect_as(fx, AUTH, method, path, json, status, says);
}

static void conversations_are_made_shown_changed_and_deleted(void **state)
{
	struct fixture *fx = *state;

	expect(fx, "POST", V1, "{\"metadata\":{\"k\":\"v\"},\"odd\":1}", 200,
	       CONVERSATION("{\"k\":\"v\"}"));
	expect(fx, "GET", V1 "/conv_1", NULL, 200,
	       CONVERSATION("{\"k\":\"v\"}"));
	expect(fx, "POST", V1 "/conv_1", "{\"metadata\":{\"l\":\"w\"}}", 200,
	       CONVERSATION("{\"l\":\"w\"}"));
	expect(fx, "POST", V1 "/conv_1", "{\"metadata\":null}", 200,
	       CONVERSATION("{}"));
	expect(fx, "DELETE", V1 "/conv_1", NULL, 200,
	       "{\"id\":\"conv_1\",\"object\":\"conversation.deleted\","
	       "\"deleted\":true}");
	expect(fx, "GET", V1 "/conv_1", NULL, 404,
	       "Conversation with id 'conv_1' not found");
}

static void a_body_may_be_missing(void **state)
{
	struct fixture *fx = *state;

	expect(fx, "POST", V1, NULL, 200, CONVERSATION("{}"));
	expect(fx, "POST", V1, "{}", 200, "\"id\":\"conv_2\"");
	expect(fx, "POST", V1, "{\"metadata\":null,\"items\":null}", 200,
	       "\"id\":\"conv_3\"");
}

static void items_are_added_listed_and_deleted(void **state)
{
	struct fixture *fx = *state;

	expect(fx, "POST", V1, ONE, 200, "conv_1");
	expect(fx, "POST", V1 "/conv_1/items",
	       "{\"items\":[{\"id\":\"b\",\"role\":\"user\",\"content\":\"two\"},"
	       "{\"id\":\"c\",\"role\":\"user\",\"content\":\"three\"}]}",
	       200,
	       "{\"object\":\"list\",\"data\":[" SHOWN("b", "two") "," SHOWN(
		       "c", "three") "],\"first_id\":\"b\",\"last_id\":\"c\","
				     "\"has_more\":false}");
	expect(fx, "GET", V1 "/conv_1/items?limit=1", NULL, 200,
	       "[" SHOWN("c", "three") "],\"first_id\":\"c\","
				       "\"last_id\":\"c\",\"has_more\":true}");
	expect(fx, "GET", V1 "/conv_1/items?order=asc&after=a&limit=1", NULL,
	       200, "[" SHOWN("b", "two") "]");
	expect(fx, "GET", V1 "/conv_1/items/b", NULL, 200, SHOWN("b", "two"));
	expect(fx, "DELETE", V1 "/conv_1/items/b", NULL, 200,
	       CONVERSATION("{}"));
	expect(fx, "GET", V1 "/conv_1/items/b", NULL, 404, "Item with id 'b'");
	expect(fx, "POST", V1 "/conv_1/items", ONE, 400, "\"error\"");
}

static void outputs_are_shown_to_those_who_ask(void **state)
{
	static const char call[] =
		"{\"items\":[{\"type\":\"code_interpreter_call\",\"id\":\"ci\","
		"\"container_id\":\"cntr_1\",\"code\":\"1\",\"outputs\":["
		"{\"type\":\"logs\",\"logs\":\"one\"}]}]}";
	static const char hidden[] = "\"outputs\":null";
	static const char shown[] = "\"outputs\":[{\"type\":\"logs\"";
	static const char word[] = "code_interpreter_call.outputs";
	struct fixture *fx = *state;
	char path[256];

	expect(fx, "POST", V1, "{}", 200, "conv_1");
	expect(fx, "POST", V1 "/conv_1/items", call, 200, hidden);
	expect(fx, "GET", V1 "/conv_1/items", NULL, 200, hidden);
	expect(fx, "GET", V1 "/conv_1/items/ci", NULL, 200, hidden);
	(void)snprintf(path, sizeof(path), V1 "/conv_1/items?include[]=%s",
		       word);
	expect(fx, "GET", path, NULL, 200, shown);
	(void)snprintf(path, sizeof(path),
		       V1 "/conv_1/items/ci?include%%5B%%5D=%s", word);
	expect(fx, "GET", path, NULL, 200, shown);
	expect(fx, "GET", V1 "/conv_1/items?include=nothing", NULL, 400,
	       "\"param\":\"include\"");
}

static void what_is_wrong_is_refused_by_name(void **state)
{
	static const struct {
		const char *path;
		const char *json;
		const char *says;
	} cases[] = {
		{ V1, "[]", "\"error\"" },
		{ V1, "{\"metadata\":7}", "\"param\":\"metadata\"" },
		{ V1, "{\"metadata\":{\"k\":1}}", "\"param\":\"metadata.k\"" },
		{ V1, "{\"items\":\"hello\"}", "\"param\":\"items\"" },
		{ V1, "{\"items\":[{\"type\":\"x\"}]}",
		  "\"param\":\"items[0].type\"" },
		{ V1 "/conv_1", "{}", "\"param\":\"metadata\"" },
		{ V1 "/conv_1", NULL, "\"param\":\"metadata\"" },
		{ V1 "/conv_1/items", "{}", "\"param\":\"items\"" },
		{ V1 "/conv_1/items", "{\"items\":[]}", "\"param\":\"items\"" },
		{ V1 "/conv_1/items",
		  "{\"items\":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}",
		  "at most 20 are allowed" },
	};
	struct fixture *fx = *state;
	size_t i;

	expect(fx, "POST", V1, "{}", 200, "conv_1");
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect(fx, "POST", cases[i].path, cases[i].json, 400,
		       cases[i].says);
	expect(fx, "GET", V1 "/conv_1/items?limit=101", NULL, 400,
	       "\"param\":\"limit\"");
	expect(fx, "GET", V1 "/conv_1/items?order=up", NULL, 400,
	       "\"param\":\"order\"");
}

static void what_is_not_there_is_404_in_every_call(void **state)
{
	struct fixture *fx = *state;

	expect(fx, "GET", V1 "/conv_9", NULL, 404, "\"error\"");
	expect(fx, "POST", V1 "/conv_9", "{\"metadata\":{}}", 404, "\"error\"");
	expect(fx, "DELETE", V1 "/conv_9", NULL, 404, "\"error\"");
	expect(fx, "POST", V1 "/conv_9/items", ONE, 404, "\"error\"");
	expect(fx, "GET", V1 "/conv_9/items", NULL, 404, "\"error\"");
	expect(fx, "GET", V1 "/conv_9/items/a", NULL, 404, "\"error\"");
	expect(fx, "DELETE", V1 "/conv_9/items/a", NULL, 404, "\"error\"");
}

static void a_key_needs_the_scope_and_its_own_tenant(void **state)
{
	static const char files[] = "Authorization: Bearer " FAKE_FILES_KEY
				    "\r\n";
	static const char other[] = "Authorization: Bearer " FAKE_OTHER_KEY
				    "\r\n";
	struct fixture *fx = *state;

	expect(fx, "POST", V1, ONE, 200, "conv_1");
	expect_as(fx, files, "GET", V1 "/conv_1", NULL, 403, "\"error\"");
	expect_as(fx, other, "GET", V1 "/conv_1", NULL, 404, "\"error\"");
	expect_as(fx, other, "GET", V1 "/conv_1/items", NULL, 404, "\"error\"");
	expect_as(fx, other, "POST", V1,
		  "{\"items\":[{\"type\":\"item_reference\",\"id\":\"a\"}]}",
		  404, "\"param\":\"items[0].id\"");
}

static void all_prefixes_lead_there(void **state)
{
	struct fixture *fx = *state;

	expect(fx, "POST", "/openai/v1/conversations", "{}", 200, "conv_1");
	expect(fx, "GET", "/openai/conversations/conv_1?api-version=x", NULL,
	       200, CONVERSATION("{}"));
	expect(fx, "GET", "/api/projects/p/openai/v1/conversations/conv_1/",
	       NULL, 200, CONVERSATION("{}"));
}

int main(void)
{
#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(conversations_are_made_shown_changed_and_deleted),
		TEST(a_body_may_be_missing),
		TEST(items_are_added_listed_and_deleted),
		TEST(outputs_are_shown_to_those_who_ask),
		TEST(what_is_wrong_is_refused_by_name),
		TEST(what_is_not_there_is_404_in_every_call),
		TEST(a_key_needs_the_scope_and_its_own_tenant),
		TEST(all_prefixes_lead_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
