/* SPDX-License-Identifier: Apache-2.0 */
#include "api_fixture.h"

#include "base/cleanup.h"

/* Foundry's agents, above a fake core. */

#define PROJECT "/api/projects/p1"
#define V "?api-version=v1"
#define AGENTS PROJECT "/agents"
#define ANALYST AGENTS "/analyst"
#define DEFINITION "{\"kind\":\"prompt\",\"model\":\"m\"}"
#define SPEC "{\"definition\":" DEFINITION "}"

static struct answer asks(struct fixture *fx, const char *method,
			  const char *path, const char *type, const char *json)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(1 << 20);

	buf_printf(&b, "%s %s HTTP/1.1\r\n" HOST AUTH, method, path);
	if (json)
		buf_printf(&b,
			   "Content-Type: %s\r\n"
			   "Content-Length: %zu\r\n",
			   type, strlen(json));
	buf_printf(&b, "\r\n%s", json ? json : "");
	return ask_bytes(fx, b.data, b.length);
}

/* One call whose answer is compared: its status, and what it mentions. */
static void expect(struct fixture *fx, const char *method, const char *path,
		   const char *json, int status, const char *says)
{
	_answer_ struct answer a =
		asks(fx, method, path, "application/json", json);

	if (a.status != status || !strstr(a.body, says))
		fail_msg("%s %s %s\n%s", method, path, json ? json : "",
			 buf_str(&a.raw));
}

static void patch(struct fixture *fx, const char *json, int status,
		  const char *says)
{
	_answer_ struct answer a =
		asks(fx, "PATCH", ANALYST V, "application/merge-patch+json",
		     json);

	if (a.status != status || !strstr(a.body, says))
		fail_msg("%s\n%s", json, buf_str(&a.raw));
}

static void versions_are_made_shown_and_deleted(void **state)
{
	struct fixture *fx = *state;

	expect(fx, "POST", ANALYST "/versions" V,
	       "{\"description\":\"first\",\"metadata\":{\"a\":\"b\"},"
	       "\"definition\":{\"kind\":\"prompt\",\"model\":\"m\","
	       "\"odd\":[1.5,null]},\"more\":1}",
	       200,
	       "{\"object\":\"agent.version\",\"id\":\"analyst:1\",\"name\":"
	       "\"analyst\",\"version\":\"1\",\"created_at\":1790000000,"
	       "\"status\":\"active\",\"draft\":false,\"description\":"
	       "\"first\",\"metadata\":{\"a\":\"b\"},\"definition\":"
	       "{\"kind\":\"prompt\",\"model\":\"m\",\"odd\":[1.5,null]}}");
	expect(fx, "POST", ANALYST "/versions" V, SPEC, 200,
	       "\"description\":\"\",\"metadata\":{},\"definition\":" DEFINITION
	       "}");
	expect(fx, "GET", ANALYST V, NULL, 200,
	       "{\"object\":\"agent\",\"id\":\"analyst\",\"name\":\"analyst\","
	       "\"state\":\"enabled\",\"versions\":{\"latest\":{\"object\":"
	       "\"agent.version\",\"id\":\"analyst:2\"");
	expect(fx, "GET", ANALYST "/versions/1" V, NULL, 200, "\"analyst:1\"");
	expect(fx, "GET", ANALYST "/versions/3" V, NULL, 404,
	       "{\"error\":{\"code\":\"not_found\",\"message\":\"Agent "
	       "'analyst' has no version '3'\"");
	expect(fx, "GET", ANALYST "/versions/01" V, NULL, 404, "'01'");
	expect(fx, "DELETE", ANALYST "/versions/2" V "&force=true", NULL, 200,
	       "{\"object\":\"agent.version.deleted\",\"name\":\"analyst\","
	       "\"version\":\"2\",\"deleted\":true}");
	expect(fx, "GET", ANALYST V, NULL, 200, "\"id\":\"analyst:1\"");
	expect(fx, "DELETE", ANALYST "/versions/1" V, NULL, 200, "deleted");
	expect(fx, "GET", ANALYST V, NULL, 404, "Agent 'analyst' not found");
	expect(fx, "POST", ANALYST "/versions" V, SPEC, 200, "\"analyst:1\"");
	expect(fx, "DELETE", ANALYST V, NULL, 200,
	       "{\"object\":\"agent.deleted\",\"name\":\"analyst\","
	       "\"deleted\":true}");
	expect(fx, "DELETE", ANALYST V, NULL, 404, "not_found");
}

static void an_agent_is_made_once_and_changed_if_it_changes(void **state)
{
	struct fixture *fx = *state;

	expect(fx, "POST", AGENTS V,
	       "{\"name\":\"analyst\",\"definition\":" DEFINITION "}", 200,
	       "\"id\":\"analyst:1\"");
	expect(fx, "POST", AGENTS V,
	       "{\"name\":\"analyst\",\"definition\":" DEFINITION "}", 409,
	       "\"code\":\"conflict\"");
	/* In another order it says the same. */
	expect(fx, "POST", ANALYST V,
	       "{\"metadata\":{},\"definition\":{\"model\":\"m\",\"kind\":"
	       "\"prompt\"}}",
	       200, "\"id\":\"analyst:1\"");
	expect(fx, "POST", ANALYST V,
	       "{\"definition\":{\"model\":\"m\",\"kind\":\"prompt\","
	       "\"temperature\":0.1}}",
	       200, "\"id\":\"analyst:2\"");
	expect(fx, "POST", ANALYST V,
	       "{\"description\":\"x\",\"definition\":{\"model\":\"m\","
	       "\"kind\":\"prompt\",\"temperature\":0.1}}",
	       200, "\"id\":\"analyst:3\"");
	expect(fx, "POST", AGENTS "/none" V, SPEC, 404, "'none' not found");
}

static void drafts_are_not_the_latest(void **state)
{
	struct fixture *fx = *state;

	expect(fx, "POST", ANALYST "/versions" V, SPEC, 200, "\"draft\":false");
	expect(fx, "POST", ANALYST "/versions" V,
	       "{\"draft\":true,\"definition\":" DEFINITION "}", 200,
	       "\"version\":\"2\",\"created_at\":1790000000,\"status\":"
	       "\"active\",\"draft\":true");
	expect(fx, "GET", ANALYST V, NULL, 200, "\"id\":\"analyst:1\"");
	expect(fx, "GET", ANALYST "/versions" V, NULL, 200,
	       "\"first_id\":\"analyst:1\",\"last_id\":\"analyst:1\"");
	expect(fx, "GET", ANALYST "/versions" V "&include_drafts=true", NULL,
	       200, "\"first_id\":\"analyst:2\",\"last_id\":\"analyst:1\"");
	expect(fx, "GET", ANALYST "/versions" V "&include_drafts=1", NULL, 400,
	       "include_drafts");
}

static void lists_have_names_as_cursors(void **state)
{
	struct fixture *fx = *state;

	expect(fx, "GET", AGENTS V, NULL, 200,
	       "{\"object\":\"list\",\"data\":[],\"first_id\":null,"
	       "\"last_id\":null,\"has_more\":false}");
	expect(fx, "POST", AGENTS "/a/versions" V, SPEC, 200, "");
	expect(fx, "POST", AGENTS "/b/versions" V, SPEC, 200, "");
	expect(fx, "GET", AGENTS V, NULL, 200,
	       "\"first_id\":\"b\",\"last_id\":\"a\",\"has_more\":false}");
	expect(fx, "GET", AGENTS V "&order=asc&limit=1", NULL, 200,
	       "\"first_id\":\"a\",\"last_id\":\"a\",\"has_more\":true}");
	expect(fx, "GET", AGENTS V "&before=a", NULL, 200,
	       "\"first_id\":\"b\"");
	expect(fx, "GET", AGENTS V "&after=a", NULL, 200, "\"data\":[");
	expect(fx, "GET", AGENTS V "&after=c", NULL, 400, "'after' is not");
	expect(fx, "GET", AGENTS "/a/versions" V "&after=a:1", NULL, 200, "");
	expect(fx, "GET", AGENTS "/a/versions" V "&after=a:2", NULL, 400,
	       "'after' is not");
	expect(fx, "GET", AGENTS "/a/versions" V "&after=b:1", NULL, 400,
	       "'after' is not");
	expect(fx, "GET", AGENTS V "&limit=101", NULL, 400, "limit");
	expect(fx, "GET", AGENTS V "&kind=prompt", NULL, 200, "\"id\":\"a\"");
	expect(fx, "GET", AGENTS V "&kind=hosted", NULL, 200, "\"data\":[]");
	expect(fx, "GET", AGENTS V "&kind=odd", NULL, 400, "kind");
}

static void an_agent_can_be_switched_off(void **state)
{
	struct fixture *fx = *state;

	expect(fx, "POST", ANALYST ":disable" V, NULL, 404, "not found");
	expect(fx, "POST", ANALYST "/versions" V, SPEC, 200, "");
	expect(fx, "POST", ANALYST ":disable" V, NULL, 204, "");
	expect(fx, "POST", ANALYST ":disable" V, NULL, 204, "");
	expect(fx, "GET", ANALYST V, NULL, 200, "\"state\":\"disabled\"");
	expect(fx, "POST", ANALYST ":enable" V, NULL, 204, "");
	expect(fx, "GET", ANALYST V, NULL, 200, "\"state\":\"enabled\"");
}

#define RULE(version, percent)                                 \
	"{\"type\":\"FixedRatio\",\"agent_version\":\"" version \
	"\",\"traffic_percentage\":" percent "}"
#define SELECTOR(rules)                                                \
	"{\"agent_endpoint\":{\"version_selector\":"                   \
	"{\"version_selection_rules\":[" rules "]}}}"

static void endpoint_and_card_are_merged(void **state)
{
	struct fixture *fx = *state;

	patch(fx, "{}", 404, "not found");
	expect(fx, "POST", ANALYST "/versions" V, SPEC, 200, "");
	patch(fx,
	      "{\"agent_card\":{\"version\":\"1\",\"skills\":[{\"id\":\"s\"}],"
	      "\"x\":{\"y\":1,\"z\":null}},\"name\":\"other\"}",
	      200,
	      "}},\"agent_card\":{\"version\":\"1\",\"skills\":[{\"id\":"
	      "\"s\"}],\"x\":{\"y\":1}}}");
	patch(fx,
	      "{\"agent_endpoint\":{\"protocols\":[\"responses\"]},"
	      "\"agent_card\":{\"skills\":[],\"x\":{\"y\":null,\"w\":2}}}",
	      200,
	      "\"agent_endpoint\":{\"protocols\":[\"responses\"]},"
	      "\"agent_card\":{\"version\":\"1\",\"skills\":[],\"x\":"
	      "{\"w\":2}}}");
	expect(fx, "GET", ANALYST V, NULL, 200, "\"x\":{\"w\":2}}}");
	expect(fx, "PATCH", ANALYST V, "{\"agent_card\":null}", 200,
	       "}},\"agent_endpoint\":{\"protocols\":[\"responses\"]}}");
	patch(fx, "{\"agent_card\":7}", 400, "agent_card");
	patch(fx, "[]", 400, "error");
	patch(fx, SELECTOR(RULE("1", "60") "," RULE("2", "30")), 400, "100");
	patch(fx, SELECTOR(""), 400, "version_selection_rules");
	patch(fx, SELECTOR(RULE("x", "100")), 400, "agent_version");
	patch(fx, SELECTOR("7"), 400, "version_selection_rules[0]");
	patch(fx, SELECTOR(RULE("1", "60") "," RULE("2", "40")), 200,
	      "\"traffic_percentage\":40");
}

static void a_profile_has_an_end(void **state)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(1 << 20);
	struct fixture *fx = *state;
	int i;

	expect(fx, "POST", ANALYST "/versions" V, SPEC, 200, "");
	buf_add_str(&b, "{\"agent_card\":{\"x\":\"");
	for (i = 0; i < CORE_PROFILE_MAX; i++)
		buf_add_byte(&b, 'x');
	buf_add_str(&b, "\"}}");
	patch(fx, buf_str(&b), 400, "more than");
}

static void what_is_wrong_is_told(void **state)
{
	static const struct {
		const char *path;
		const char *json;
		int status;
		const char *says;
	} wrong[] = {
		{ AGENTS V, SPEC, 400, "name" },
		{ AGENTS V, "{\"name\":\"-a\",\"definition\":" DEFINITION "}",
		  400, "'name' must be" },
		{ AGENTS V,
		  "{\"name\":\"a\\u0000b\",\"definition\":" DEFINITION "}", 400,
		  "'name': it must not hold NUL" },
		{ AGENTS "/-bad-/versions" V, SPEC, 400, "'name' must be" },
		{ AGENTS "/a_b/versions" V, SPEC, 400, "'name' must be" },
		{ AGENTS "/a_b" V, SPEC, 404, "'a_b' not found" },
		{ ANALYST "/versions" V, "{}", 400, "definition" },
		{ ANALYST "/versions" V, "{\"definition\":[]}", 400,
		  "definition" },
		{ ANALYST "/versions" V,
		  "{\"definition\":{\"kind\":\"workflow\"}}", 400,
		  "definition.kind" },
		{ ANALYST "/versions" V,
		  "{\"definition\":{\"kind\":\"prompt\"}}", 400,
		  "definition.model" },
		{ ANALYST "/versions" V,
		  "{\"metadata\":{\"a\":1},\"definition\":" DEFINITION "}",
		  400, "metadata" },
		{ ANALYST "/versions" V,
		  "{\"draft\":1,\"definition\":" DEFINITION "}", 400,
		  "draft" },
		{ ANALYST "/versions", SPEC, 400, "api-version" },
		{ "/api/projects/a%20b/agents" V, SPEC, 404, "project" },
	};
	struct fixture *fx = *state;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		expect(fx, "POST", wrong[i].path, wrong[i].json,
		       wrong[i].status, wrong[i].says);
	expect(fx, "GET", AGENTS V, NULL, 200, "\"data\":[]");
}

static void a_definition_has_an_end(void **state)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(1 << 20);
	struct fixture *fx = *state;
	int i;

	buf_add_str(&b, "{\"definition\":{\"kind\":\"prompt\",\"model\":\"m\","
			"\"instructions\":\"");
	for (i = 0; i < CORE_DEFINITION_MAX; i++)
		buf_add_byte(&b, 'x');
	buf_add_str(&b, "\"}}");
	expect(fx, "POST", ANALYST "/versions" V, buf_str(&b), 400,
	       "larger than");
}

static void toolboxes_and_agents_do_not_meet(void **state)
{
	struct fixture *fx = *state;
	_answer_ struct answer other = { .status = 0 };

	expect(fx, "POST", ANALYST "/versions" V, SPEC, 200, "");
	expect(fx, "GET", PROJECT "/toolboxes/analyst" V, NULL, 404,
	       "Toolbox 'analyst' not found");
	expect(fx, "GET", PROJECT "/toolboxes" V, NULL, 200, "\"data\":[]");
	expect(fx, "GET", "/api/projects/p2/agents/analyst" V, NULL, 404,
	       "Agent");
	other = ask(fx, "GET " ANALYST V " HTTP/1.1\r\n" HOST
			"Authorization: Bearer " FAKE_OTHER_KEY "\r\n\r\n");
	assert_int_equal(other.status, 404);
}

static void keys_need_the_scope(void **state)
{
	struct fixture *fx = *state;
	_answer_ struct answer none =
		ask(fx, "GET " AGENTS V " HTTP/1.1\r\n" HOST "\r\n");
	_answer_ struct answer toolboxes =
		ask(fx, "GET " AGENTS V " HTTP/1.1\r\n" HOST
			"api-key: " FAKE_TOOLBOXES_KEY "\r\n\r\n");

	assert_int_equal(none.status, 401);
	assert_non_null(strstr(none.body, "{\"error\":{\"code\":"));
	assert_int_equal(toolboxes.status, 403);
}

int main(void)
{
#define TEST(f) \
	cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(versions_are_made_shown_and_deleted),
		TEST(an_agent_is_made_once_and_changed_if_it_changes),
		TEST(drafts_are_not_the_latest),
		TEST(lists_have_names_as_cursors),
		TEST(an_agent_can_be_switched_off),
		TEST(endpoint_and_card_are_merged),
		TEST(a_profile_has_an_end),
		TEST(what_is_wrong_is_told),
		TEST(a_definition_has_an_end),
		TEST(toolboxes_and_agents_do_not_meet),
		TEST(keys_need_the_scope),
	};

	return RUN_TESTS(tests);
}
