/* SPDX-License-Identifier: Apache-2.0 */
#include "api_fixture.h"

#include <errno.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/limits.h"

/*
 * Whatever goes wrong, and however early, is told in the form that the clients
 * of that path read: each kind of mistake at each way into each dialect.
 */

static int on_member(const char *key, struct json_object *value, void *userdata)
{
	(void)value;
	return strcmp(key, userdata) == 0 ? -EEXIST : 0;
}

/* Null counts. */
static bool has(struct json_object *object, const char *key)
{
	return json_each_member(object, on_member, (void *)(uintptr_t)key) ==
	       -EEXIST;
}

static bool is_text(struct json_object *object, const char *key)
{
	return json_kind_of(json_member(object, key)) == JSON_STRING;
}

/* There, but perhaps null. */
static bool is_text_or_null(struct json_object *object, const char *key)
{
	return has(object, key) &&
	       (!json_member(object, key) || is_text(object, key));
}

static bool is_openai(struct json_object *root)
{
	struct json_object *error = json_member(root, "error");

	return is_text(error, "message") && is_text(error, "type") &&
	       is_text_or_null(error, "param") &&
	       is_text_or_null(error, "code");
}

/* Optional members are left out rather than null. */
static bool is_azure(struct json_object *root)
{
	struct json_object *error = json_member(root, "error");

	return is_text(error, "code") && is_text(error, "message") &&
	       (!has(error, "param") || is_text(error, "param"));
}

static bool is_rpc(struct json_object *root)
{
	struct json_object *error = json_member(root, "error");

	return is_text(root, "jsonrpc") &&
	       json_kind_of(json_member(error, "code")) == JSON_INT &&
	       is_text(error, "message") && has(root, "id");
}

#define SESSION_QUERY "api-version=2025-02-02-preview&identifier=a"

/**
 * struct way - One into a dialect
 * @base:	What is below it is in this form; NULL: only @path itself is
 * @path:	One that takes JSON by POST
 */
static const struct way {
	const char *base;
	const char *path;
	const char *query;
	bool (*is_form)(struct json_object *root);
} ways[] = {
	{ "/v1", "/v1/containers", "", is_openai },
	{ "/openai/v1", "/openai/v1/containers", "", is_openai },
	{ "/openai", "/openai/containers", "api-version=1", is_openai },
	{ "/api/projects/p/openai/v1", "/api/projects/p/openai/v1/containers",
	  "", is_openai },
	{ "/api/projects/p", "/api/projects/p/toolboxes/t/versions",
	  "api-version=v1", is_azure },
	{ "/pools/default", "/pools/default/executions", SESSION_QUERY,
	  is_azure },
	{ "/pools/default", "/pools/default/code/execute", SESSION_QUERY,
	  is_azure },
	{ "/subscriptions/s/resourceGroups/r/sessionPools/default",
	  "/subscriptions/s/resourceGroups/r/sessionPools/default/executions",
	  SESSION_QUERY, is_azure },
	{ "", "/executions", SESSION_QUERY, is_azure },
	{ NULL, "/mcp", "", is_rpc },
	{ NULL, "/pools/default/mcp", "", is_rpc },
	{ NULL, "/subscriptions/s/resourceGroups/r/sessionPools/default/mcp",
	  "", is_rpc },
	{ NULL, "/api/projects/p/toolboxes/t/mcp", "api-version=v1", is_rpc },
	{ NULL, "/api/projects/p/toolboxes/t/versions/1/mcp", "api-version=v1",
	  is_rpc },
	{ NULL, "/api/projects/p/toolsets/t/mcp", "api-version=v1", is_rpc },
	{ NULL, "/api/projects/p/toolboxes/t:invoke_mcp", "api-version=v1",
	  is_rpc },
};

/**
 * struct mistake - Something that is wrong with a request
 * @at_base:	Below the way's base, else at its path
 * @suffix:	Behind that
 * @query:	Goes to the path's query
 * @head:	Fields, and behind an empty line the body
 */
struct mistake {
	const char *method;
	bool at_base;
	const char *suffix;
	const char *query;
	const char *head;
	int status;
};

#define JSON "Content-Type: application/json\r\n"

static const struct mistake mistakes[] = {
	{ "GET", true, "/nothing/there", "", AUTH "\r\n", 404 },
	{ "GET", true, "/nothing%2Fthere", "", AUTH "\r\n", 404 },
	{ "GET", true, "/%zz", "", AUTH "\r\n", 400 },
	{ "GET", true, "/a%ff", "", AUTH "\r\n", 400 },
	{ "PUT", false, "", "", AUTH "\r\n", 405 },
	{ "POST", false, "", "a=%zz", AUTH "\r\n", 400 },
	{ "POST", false, "", "", JSON "Content-Length: 2\r\n\r\n{}", 401 },
	{ "POST", false, "", "",
	  JSON "api-key: nobody's\r\nContent-Length: 2\r\n\r\n{}", 401 },
	{ "POST", false, "", "",
	  JSON AUTH "api-key: other\r\nContent-Length: 2\r\n\r\n{}", 401 },
	{ "POST", false, "", "", JSON AUTH "Content-Length: 2\r\n\r\n{]", 400 },
	{ "POST", false, "", "",
	  JSON AUTH "Content-Length: 13\r\n\r\n{\"a\":1,\"a\":2}", 400 },
	{ "POST", false, "", "",
	  AUTH "Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}", 415 },
	{ "POST", false, "", "",
	  JSON AUTH "Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}",
	  415 },
	{ "POST", false, "", "", JSON AUTH "Content-Length: 99999999\r\n\r\n",
	  413 },
	{ "POST", false, "", "",
	  JSON AUTH "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", 400 },
	{ "POST", false, "", "",
	  JSON AUTH "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n",
	  400 },
	{ "POST", false, "", "",
	  JSON AUTH "Content-Length: 2x\r\n\r\n{}", 400 },
	{ "POST", false, "", "",
	  JSON AUTH "Expect: 200\r\nContent-Length: 2\r\n\r\n{}", 400 },
};

static void write_request(struct buf *b, const struct way *way,
			  const struct mistake *mistake)
{
	buf_printf(b, "%s %s%s?%s&%s HTTP/1.1\r\n" HOST "%s", mistake->method,
		   mistake->at_base ? way->base : way->path, mistake->suffix,
		   way->query, mistake->query, mistake->head);
}

static void check_form(const struct way *way, const struct answer *a,
		       const char *request, int status)
{
	_cleanup_(json_freep) struct json_object *json = NULL;

	if (a->status != status)
		fail_msg("%d, not %d, to:\n%s\n%s", a->status, status, request,
			 a->length ? a->body : "");
	assert_string_equal(answer_header(a, "Content-Type"),
			    "application/json");
	if (json_parse(a->body, a->length, &json, NULL) < 0 ||
	    !way->is_form(json))
		fail_msg("Another dialect answers:\n%s\n%s", request, a->body);
}

static void make_toolbox(struct fixture *fx)
{
	_answer_ struct answer a =
		ask(fx, "POST /api/projects/p/toolboxes/t/versions"
			"?api-version=v1 HTTP/1.1\r\n" HOST AUTH JSON
			"Content-Length: 39\r\n\r\n"
			"{\"tools\":[{\"type\":\"code_interpreter\"}]}");

	assert_int_equal(a.status, 200);
}

static void every_mistake_is_told_in_the_paths_own_form(void **state)
{
	size_t i, j;

	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct fixture *fx = *state;

		make_toolbox(fx);
		for (j = 0; j < sizeof(mistakes) / sizeof(mistakes[0]); j++) {
			_cleanup_(buf_done) struct buf b = BUF_INIT(8192);

			if (mistakes[j].at_base && !ways[i].base)
				continue;
			write_request(&b, &ways[i], &mistakes[j]);
			_answer_ struct answer a =
				ask_bytes(fx, b.data, b.length);
			check_form(&ways[i], &a, buf_str(&b),
				   mistakes[j].status);
		}
		/* Wrong keys have consequences. */
		fixture_teardown(state);
		fixture_setup(state);
	}
}

static void what_is_too_long_is_told_in_the_paths_own_form(void **state)
{
	struct fixture *fx = *state;
	_cleanup_(buf_done) struct buf filler = BUF_INIT(2 * LIMIT_URI_BYTES);
	size_t i;

	while (filler.length <= LIMIT_URI_BYTES)
		buf_add_str(&filler, "&a=1");
	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		_cleanup_(buf_done) struct buf b = BUF_INIT(65536);

		buf_printf(&b, "POST %s?%s%s HTTP/1.1\r\n" HOST AUTH "\r\n",
			   ways[i].path, ways[i].query, buf_str(&filler));
		_answer_ struct answer a = ask_bytes(fx, b.data, b.length);
		check_form(&ways[i], &a, buf_str(&b), 414);
	}
}

int main(void)
{
#define TEST(f) \
	cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(every_mistake_is_told_in_the_paths_own_form),
		TEST(what_is_too_long_is_told_in_the_paths_own_form),
	};

	return RUN_TESTS(tests);
}
