/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp_client.h"

#include <unistd.h>

/* Foundry's toolboxes and their MCP endpoints, above a fake core. */

#define PROJECT "/api/projects/p1"
#define V "?api-version=v1"
#define BOX PROJECT "/toolboxes/box"
#define ONE "{\"tools\":[{\"type\":\"code_interpreter\"}]}"
#define LIST                                                                   \
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{}}"
#define RUN(tool)                                                              \
	"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":"  \
	"{\"name\":\"" tool "\",\"arguments\":{\"code\":\"1\"}}}"

static struct answer asks(struct fixture *fx, const char *method,
			  const char *path, const char *json)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(1 << 20);

	buf_printf(&b, "%s %s HTTP/1.1\r\n" HOST AUTH, method, path);
	if (json)
		buf_printf(&b,
			   "Content-Type: application/json\r\n"
			   "Content-Length: %zu\r\n",
			   strlen(json));
	buf_printf(&b, "\r\n%s", json ? json : "");
	return ask_bytes(fx, b.data, b.length);
}

/* One call whose answer is compared: its status, and what it mentions. */
static void expect(struct fixture *fx, const char *method, const char *path,
		   const char *json, int status, const char *says)
{
	_answer_ struct answer a = asks(fx, method, path, json);

	if (a.status != status || !strstr(a.body, says))
		fail_msg("%s %s %s\n%s", method, path, json ? json : "",
			 buf_str(&a.raw));
}

static void make(struct fixture *fx, const char *json)
{
	expect(fx, "POST", BOX "/versions" V, json, 200, "\"tools\":[");
}

static void versions_are_made_shown_promoted_and_deleted(void **state)
{
	struct fixture *fx = *state;

	expect(fx, "POST", BOX "/versions" V,
	       "{\"description\":\"one\",\"metadata\":{\"k\":\"v\"},\"tools\":"
	       "[{\"type\":\"code_interpreter\",\"container\":{\"type\":"
	       "\"auto\"},\"allowed_callers\":[\"direct\"]}],\"odd\":1}",
	       200,
	       "{\"id\":\"tbxv_1_1\",\"name\":\"box\",\"version\":\"1\","
	       "\"created_at\":1790000000,\"description\":\"one\","
	       "\"metadata\":{\"k\":\"v\"},\"tools\":[{\"type\":"
	       "\"code_interpreter\",\"container\":{\"type\":\"auto\"},"
	       "\"allowed_callers\":[\"direct\"]}]}");
	make(fx, ONE);
	expect(fx, "GET", BOX V, NULL, 200,
	       "{\"id\":\"tbx_1\",\"name\":\"box\",\"default_version\":\"1\"");
	expect(fx, "PATCH", BOX V, "{\"default_version\":\"2\"}", 200,
	       "\"default_version\":\"2\"");
	expect(fx, "GET", BOX "/versions/1" V, NULL, 200, "\"version\":\"1\"");
	expect(fx, "GET", BOX "/versions" V, NULL, 200,
	       "\"first_id\":\"tbxv_1_2\",\"last_id\":\"tbxv_1_1\","
	       "\"has_more\":false}");
	expect(fx, "GET", PROJECT "/toolboxes" V, NULL, 200,
	       "\"last_id\":\"tbx_1\"");
	expect(fx, "DELETE", BOX "/versions/2" V, NULL, 400, "\"error\"");
	_answer_ struct answer gone = asks(fx, "DELETE", BOX "/versions/1" V,
					   NULL);
	assert_int_equal(gone.status, 204);
	expect(fx, "GET", BOX "/versions/1" V, NULL, 404, "\"not_found\"");
	_answer_ struct answer all = asks(fx, "DELETE", BOX V, NULL);
	assert_int_equal(all.status, 204);
	expect(fx, "GET", BOX V, NULL, 404, "\"code\":\"not_found\"");
	expect(fx, "DELETE", BOX V, NULL, 404, "\"message\":");
}

static void projects_and_tenants_have_their_own(void **state)
{
	struct fixture *fx = *state;
	_answer_ struct answer other = { .status = 0 };

	make(fx, ONE);
	expect(fx, "GET", "/api/projects/p2/toolboxes/box" V, NULL, 404,
	       "not_found");
	expect(fx, "GET", "/api/projects/p2/toolboxes" V, NULL, 200,
	       "{\"object\":\"list\",\"data\":[],\"first_id\":null,"
	       "\"last_id\":null,\"has_more\":false}");
	other = ask(fx, "GET " BOX V " HTTP/1.1\r\n" HOST
			"Authorization: Bearer " FAKE_OTHER_KEY "\r\n\r\n");
	assert_int_equal(other.status, 404);
	expect(fx, "GET", "/api/projects/p%20x/toolboxes" V, NULL, 404,
	       "project");
}

static void what_is_wrong_is_told(void **state)
{
	static const struct {
		const char *json;
		int status;
		const char *says;
	} wrong[] = {
		{ "{}", 400, "tools" },
		{ "{\"tools\":[{}]}", 400, "tools[0].type" },
		{ "{\"tools\":[{\"type\":\"web_search\"}]}", 400,
		  "code_interpreter" },
		{ "{\"tools\":[{\"type\":\"mcp\"}]}", 400, "tools[0].type" },
		{ "{\"tools\":[{\"type\":\"code_interpreter\",\"name\":"
		  "\"a b\"}]}", 400, "tools[0].name" },
		{ "{\"tools\":[{\"type\":\"code_interpreter\",\"name\":"
		  "\"\"}]}", 400, "tools[0].name" },
		{ "{\"tools\":[{\"type\":\"code_interpreter\"},{\"type\":"
		  "\"code_interpreter\"}]}", 400, "tools[1].name" },
		{ "{\"tools\":[{\"type\":\"code_interpreter\",\"container\":"
		  "7}]}", 400, "tools[0].container" },
		{ "{\"tools\":[{\"type\":\"code_interpreter\",\"container\":"
		  "{\"type\":\"manual\"}}]}", 400, "tools[0].container.type" },
		{ "{\"tools\":[{\"type\":\"code_interpreter\",\"container\":"
		  "{\"type\":\"auto\",\"memory_limit\":\"2g\"}}]}", 400,
		  "memory_limit" },
		{ "{\"tools\":[{\"type\":\"code_interpreter\",\"container\":"
		  "{\"type\":\"auto\",\"file_ids\":[\"file-none\"]}}]}", 404,
		  "file-none" },
		{ "{\"tools\":[{\"type\":\"code_interpreter\",\"container\":"
		  "\"cntr_none\"}]}", 404, "cntr_none" },
		{ "{\"tools\":[],\"metadata\":{\"a\":1}}", 400, "metadata" },
		{ "{\"tools\":[],\"policies\":{\"timeout_s\":0}}", 400,
		  "policies.timeout_s" },
		{ "{\"tools\":[],\"policies\":{\"allowed_keys\":[1]}}", 400,
		  "policies.allowed_keys" },
		{ "{\"tools\":[],\"policies\":{\"pool\":\"nowhere\"}}", 404,
		  "nowhere" },
	};
	struct fixture *fx = *state;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		expect(fx, "POST", BOX "/versions" V, wrong[i].json,
		       wrong[i].status, wrong[i].says);
	expect(fx, "POST", PROJECT "/toolboxes/-bad-/versions" V, ONE, 400,
	       "hyphens");
	expect(fx, "POST", BOX "/versions", ONE, 400, "api-version");
	expect(fx, "GET", BOX "/versions/01" V, NULL, 404, "\"error\"");
	make(fx, ONE);
	expect(fx, "GET", BOX "/versions/9" V, NULL, 404, "version '9'");
	expect(fx, "GET", BOX "/versions/01" V, NULL, 404, "version '01'");
	expect(fx, "GET", BOX "/versions/x" V, NULL, 404, "version 'x'");
	expect(fx, "PATCH", BOX V, "{\"default_version\":\"9\"}", 404,
	       "version '9'");
	expect(fx, "PATCH", BOX V, "{}", 400, "default_version");
	expect(fx, "GET", PROJECT "/toolboxes" V "&limit=0", NULL, 400,
	       "limit");
	expect(fx, "GET", PROJECT "/toolboxes" V "&after=a&before=b", NULL, 400,
	       "before");
	expect(fx, "GET", BOX, NULL, 400, "api-version");
}

static void a_list_can_be_read_backwards(void **state)
{
	struct fixture *fx = *state;

	make(fx, ONE);
	make(fx, ONE);
	make(fx, ONE);
	/* The fake gives all; what is asked for is the other order. */
	expect(fx, "GET", BOX "/versions" V "&before=tbxv_1_9", NULL, 200,
	       "\"first_id\":\"tbxv_1_3\",\"last_id\":\"tbxv_1_1\"");
	expect(fx, "GET", BOX "/versions" V "&order=asc", NULL, 200,
	       "\"first_id\":\"tbxv_1_1\",\"last_id\":\"tbxv_1_3\"");
}

static void keys_need_the_scope(void **state)
{
	struct fixture *fx = *state;
	_answer_ struct answer none =
		ask(fx, "GET " BOX V " HTTP/1.1\r\n" HOST "\r\n");
	_answer_ struct answer files =
		ask(fx, "GET " BOX V " HTTP/1.1\r\n" HOST
			"api-key: " FAKE_FILES_KEY "\r\n\r\n");
	_answer_ struct answer good =
		ask(fx, "GET " PROJECT "/toolboxes" V " HTTP/1.1\r\n" HOST
			"api-key: " FAKE_TOOLBOXES_KEY "\r\n\r\n");

	assert_int_equal(none.status, 401);
	assert_non_null(strstr(none.body, "{\"error\":{\"code\":"));
	assert_int_equal(files.status, 403);
	assert_int_equal(good.status, 200);
}

/* ------------------------------------------------------------------- endpoints */

static void an_endpoint_offers_exactly_its_entries(void **state)
{
	static const char *const paths[] = {
		BOX "/mcp" V, BOX "/versions/1/mcp" V,
		PROJECT "/toolsets/box/mcp" V, BOX ":invoke_mcp" V,
	};
	struct fixture *fx = *state;
	struct json_object *tools;
	size_t i;

	make(fx, "{\"tools\":[{\"type\":\"code_interpreter\",\"name\":"
		 "\"run_python\",\"description\":\"mine\"}]}");
	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		_said_ struct said said = mcp_post(fx, paths[i], "", LIST);

		assert_int_equal(said.answer.status, 200);
		tools = mcp_member(&said, "tools");
		assert_int_equal(json_array_size(tools), 1);
		assert_string_equal(
			json_string_of(json_member(json_array_at(tools, 0),
						   "name"))
				.data,
			"run_python");
		assert_string_equal(
			json_string_of(json_member(json_array_at(tools, 0),
						   "description"))
				.data,
			"mine");
		_said_ struct said none = mcp_post(
			fx, paths[i], "",
			"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":"
			"\"resources/list\"}");
		assert_int_equal(mcp_code(&none), -32601);
		_said_ struct said other = mcp_post(fx, paths[i], "",
						    RUN("code_interpreter"));
		assert_int_equal(mcp_code(&other), -32602);
	}
	_said_ struct said run = mcp_run(fx, paths[0], "", RUN("run_python"),
					 "out", EXEC_OK);
	assert_string_equal(mcp_text(&run), "out");
	assert_string_equal(fx->core->origin, "tbx_1");
}

static void the_default_version_is_the_one_promoted(void **state)
{
	struct fixture *fx = *state;

	make(fx, ONE);
	make(fx, "{\"tools\":[{\"type\":\"code_interpreter\",\"name\":\"b\"}]}");
	_said_ struct said one = mcp_post(fx, BOX "/mcp" V, "", LIST);
	assert_non_null(strstr(one.answer.body, "\"name\":\"code_interpreter"));
	expect(fx, "PATCH", BOX V, "{\"default_version\":\"2\"}", 200, "2");
	_said_ struct said two = mcp_post(fx, BOX "/mcp" V, "", LIST);
	assert_non_null(strstr(two.answer.body, "\"name\":\"b\""));
}

static void an_endpoint_says_what_it_lacks_as_rpc(void **state)
{
	struct fixture *fx = *state;

	make(fx, ONE);
	_said_ struct said version = mcp_post(fx, BOX "/mcp", "", LIST);
	assert_int_equal(version.answer.status, 400);
	assert_int_equal(mcp_code(&version), -32000);
	_said_ struct said none = mcp_post(fx, PROJECT "/toolboxes/no/mcp" V,
					   "", LIST);
	assert_int_equal(none.answer.status, 404);
	assert_int_equal(mcp_code(&none), -32000);
	_said_ struct said nine = mcp_post(fx, BOX "/versions/9/mcp" V, "",
					   LIST);
	assert_int_equal(nine.answer.status, 404);
	_answer_ struct answer verb = asks(fx, "DELETE", BOX ":invoke_mcp" V,
					   NULL);
	assert_int_equal(verb.status, 400);
	assert_non_null(strstr(verb.body, "Mcp-Session-Id"));
	_answer_ struct answer get = asks(fx, "GET", BOX "/mcp" V, NULL);
	assert_int_equal(get.status, 405);
	assert_non_null(strstr(get.body, "\"jsonrpc\":\"2.0\""));
}

static void a_session_keeps_to_its_toolbox(void **state)
{
	struct fixture *fx = *state;
	char session[160];

	make(fx, ONE);
	mcp_begin(fx, BOX "/mcp" V, session);
	_said_ struct said same = mcp_post(fx, BOX "/versions/1/mcp" V, session,
					   LIST);
	assert_int_equal(same.answer.status, 200);
	_said_ struct said other = mcp_post(fx, "/mcp", session, LIST);
	assert_int_equal(other.answer.status, 404);
	assert_int_equal(mcp_code(&other), -32001);
}

static void an_image_is_pinned_by_its_digest(void **state)
{
	struct fixture *fx = *state;

	expect(fx, "POST", BOX "/versions" V,
	       "{\"tools\":[],\"policies\":{\"image\":\"python\"}}", 400,
	       "policies.image");
	expect(fx, "POST", BOX "/versions" V,
	       "{\"tools\":[],\"policies\":{\"image\":"
	       "\"python@111111111111\"}}",
	       404, "python@111111111111");
}

static void policies_hold(void **state)
{
	struct cfile_view files[] = {
		{ .bytes = 3, .path = "/mnt/data/a.csv" },
		{ .bytes = 99, .path = "/mnt/data/large.csv" },
		{ .bytes = 3, .path = "/mnt/data/a.exe" },
		{ .bytes = 3, .path = "/mnt/data/noext" },
	};
	struct fixture *fx = *state;
	int fd;

	make(fx, "{\"tools\":[{\"type\":\"code_interpreter\"}],\"policies\":{"
		 "\"pool\":\"big\",\"image\":\"python@000000000000\","
		 "\"timeout_s\":7,\"file_types\":[\".csv\"],"
		 "\"max_artifact_bytes\":10}}");
	fd = mcp_start(fx, BOX "/mcp" V, "", RUN("code_interpreter"));
	fx->core->exec.artifacts = files;
	fx->core->exec.artifact_count = 4;
	fake_core_done(fx->core, EXEC_OK);
	_said_ struct said said = mcp_finish(fx, fd);
	assert_string_equal(fx->core->pool, "big");
	assert_string_equal(fx->core->image, "python@000000000000");
	assert_int_equal(fx->core->timeout_usec, 7 * USEC_PER_SEC);
	assert_non_null(strstr(said.answer.body,
			       "\"skipped\":[{\"path\":\"/mnt/data/large.csv\","
			       "\"reason\":\"policy\"},{\"path\":\"/mnt/data/"
			       "a.exe\",\"reason\":\"policy\"},{\"path\":"
			       "\"/mnt/data/noext\",\"reason\":\"policy\"}]"));
	assert_non_null(strstr(said.answer.body, "\"path\":\"/mnt/data/a.csv"));
}

static void a_call_cannot_ask_for_more_time_than_the_policy(void **state)
{
	static const char ask[] =
		"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\","
		"\"params\":{\"name\":\"code_interpreter\",\"arguments\":"
		"{\"code\":\"1\",\"timeout_s\":%s}}}";
	struct fixture *fx = *state;
	char message[256];
	int fd;

	make(fx, "{\"tools\":[{\"type\":\"code_interpreter\"}],\"policies\":{"
		 "\"timeout_s\":7}}");
	(void)snprintf(message, sizeof(message), ask, "7.5");
	_said_ struct said more = mcp_post(fx, BOX "/mcp" V, "", message);
	assert_non_null(strstr(more.answer.body, "\"isError\":true"));
	assert_non_null(strstr(mcp_text(&more),
			       "'timeout_s' is above its maximum of 7"));
	assert_int_equal(fx->core->execs, 0);

	/* However little it is, it is a limit. */
	(void)snprintf(message, sizeof(message), ask, "1e-9");
	fd = mcp_start(fx, BOX "/mcp" V, "", message);
	fake_core_done(fx->core, EXEC_OK);
	_said_ struct said little = mcp_finish(fx, fd);
	assert_int_equal(little.answer.status, 200);
	assert_int_equal(fx->core->timeout_usec, 1);
}

static void only_those_on_the_list_may_call(void **state)
{
	static const char other[] =
		"Authorization: Bearer " FAKE_TOOLBOXES_KEY "\r\n";
	struct fixture *fx = *state;

	make(fx, "{\"tools\":[{\"type\":\"code_interpreter\"}],\"policies\":{"
		 "\"allowed_keys\":[\"key_1\"]}}");
	_said_ struct said good = mcp_post(fx, BOX "/mcp" V, "", LIST);
	assert_int_equal(good.answer.status, 200);
	_said_ struct said bad = mcp_post(fx, BOX "/mcp" V, other, LIST);
	assert_int_equal(bad.answer.status, 403);
	make(fx, "{\"tools\":[],\"policies\":{\"allowed_keys\":[],"
		 "\"allowed_tenants\":[\"default\"]}}");
	_said_ struct said tenant = mcp_post(fx, BOX "/versions/2/mcp" V, other,
					     LIST);
	assert_int_equal(tenant.answer.status, 200);
	make(fx, "{\"tools\":[],\"policies\":{\"allowed_keys\":[]}}");
	_said_ struct said nobody = mcp_post(fx, BOX "/versions/3/mcp" V, "",
					     LIST);
	assert_int_equal(nobody.answer.status, 403);
}

static void a_tool_may_have_a_container_of_its_own(void **state)
{
	struct fixture *fx = *state;

	make(fx, "{\"tools\":[{\"type\":\"code_interpreter\",\"container\":"
		 "\"cntr_1\"}]}");
	_said_ struct said said = mcp_run(fx, BOX "/mcp" V, "",
					  RUN("code_interpreter"), "",
					  EXEC_OK);
	assert_int_equal(said.answer.status, 200);
	assert_int_equal(fx->core->name[0], '\0'); /* none was made */
	_said_ struct said other = mcp_post(
		fx, BOX "/mcp" V, "",
		"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\","
		"\"params\":{\"name\":\"code_interpreter\",\"arguments\":"
		"{\"code\":\"1\",\"container_id\":\"cntr_2\"}}}");
	assert_non_null(strstr(other.answer.body, "\"isError\":true"));
}

int main(void)
{
#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	static const struct CMUnitTest tests[] = {
		TEST(versions_are_made_shown_promoted_and_deleted),
		TEST(projects_and_tenants_have_their_own),
		TEST(what_is_wrong_is_told),
		TEST(a_list_can_be_read_backwards),
		TEST(keys_need_the_scope),
		TEST(an_endpoint_offers_exactly_its_entries),
		TEST(the_default_version_is_the_one_promoted),
		TEST(an_endpoint_says_what_it_lacks_as_rpc),
		TEST(a_session_keeps_to_its_toolbox),
		TEST(an_image_is_pinned_by_its_digest),
		TEST(policies_hold),
		TEST(a_call_cannot_ask_for_more_time_than_the_policy),
		TEST(only_those_on_the_list_may_call),
		TEST(a_tool_may_have_a_container_of_its_own),
	};

	return RUN_TESTS(tests);
}
