/* SPDX-License-Identifier: Apache-2.0 */
#include "agent_fixture.h"

#include "turn/agent_inputs.h"

/* Which agent a request means, and what the two make together. */

/* -------------------------------------------------------------------- references */

#define SMALL "{\"kind\":\"prompt\",\"model\":\"m\"}"
#define REF(rest) "{\"agent_reference\":{\"name\":\"analyst\"" rest "}}"

static void without_an_agent_nothing_happens(void **state)
{
	struct fixture *fx = *state;
	struct agent_applied applied;
	struct error err;

	assert_int_equal(apply_in(fx, NULL, NULL, "{\"model\":\"m\"}", &applied,
				  &err),
			 0);
	assert_int_equal(apply_in(fx, "p1", NULL,
				  "{\"agent_reference\":null,\"agent\":null,"
				  "\"structured_inputs\":null}",
				  &applied, &err),
			 0);
	assert_true(apply_in(fx, "p1", NULL, "{\"structured_inputs\":{}}",
			     &applied, &err) < 0);
	assert_string_equal(err.param, "structured_inputs");
}

static void references_are_looked_up(void **state)
{
	static const struct {
		const char *request;
		int version; /* or 0: not found, -1: bad request */
	} cases[] = {
		{ REF(""), 2 },
		{ REF(",\"version\":\"1\""), 1 },
		{ REF(",\"version\":\"3\""), 3 },
		{ REF(",\"version\":\"\""), 2 },
		{ REF(",\"version\":null"), 2 },
		{ REF(",\"type\":\"agent_reference\",\"version\":\"2\""), 2 },
		{ "{\"agent\":{\"name\":\"analyst\"}}", 2 },
		{ REF(",\"version\":\"4\""), 0 },
		{ REF(",\"version\":\"01\""), 0 },
		{ REF(",\"version\":\"latest\""), 0 },
		{ REF(",\"version\":\"99999999999999999999\""), 0 },
		{ "{\"agent_reference\":{\"name\":\"nobody\"}}", 0 },
		{ "{\"agent_reference\":{\"name\":\"../x\"}}", 0 },
		{ "{\"agent_reference\":{}}", -1 },
		{ "{\"agent_reference\":\"analyst\"}", -1 },
		{ "{\"agent_reference\":{\"name\":7}}", -1 },
		{ REF(",\"version\":2"), -1 },
		{ REF(",\"type\":\"agent\""), -1 },
	};
	struct fixture *fx = *state;
	size_t i;

	make(fx, SMALL);
	make(fx, SMALL);
	make_draft(fx, SMALL);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct agent_applied applied = { .version = 0 };
		struct error err;
		int r = apply_in(fx, "p1", NULL, cases[i].request, &applied,
				 &err);

		if (r == 1)
			assert_string_equal(applied.name, "analyst");
		if (cases[i].version > 0
			    ? r != 1 || (int)applied.version != cases[i].version
			    : err.code != (cases[i].version ? ERR_BAD_REQUEST
							    : ERR_NOT_FOUND))
			fail_msg("%s: %d, %d: %s", cases[i].request, r,
				 (int)applied.version, err.message);
		if (r == 1)
			agent_applied_done(&applied);
	}
}

static void agents_belong_to_their_project(void **state)
{
	struct fixture *fx = *state;
	struct agent_applied applied;
	struct error err;

	make(fx, SMALL);
	assert_true(apply_in(fx, NULL, NULL, REF(""), &applied, &err) < 0);
	assert_int_equal(err.code, ERR_BAD_REQUEST);
	assert_non_null(strstr(err.message, "/api/projects/"));
	assert_true(apply_in(fx, "p2", NULL, REF(""), &applied, &err) < 0);
	assert_int_equal(err.code, ERR_NOT_FOUND);
	/* The path names one, the request another. */
	assert_true(apply_in(fx, "p1", "other", REF(""), &applied, &err) < 0);
	assert_int_equal(err.code, ERR_BAD_REQUEST);
}

static void drafts_are_used_if_they_are_named(void **state)
{
	struct fixture *fx = *state;
	struct agent_applied applied;
	struct error err;

	make_draft(fx, SMALL);
	refuses(fx, "{}", ERR_NOT_FOUND, "");
	assert_int_equal(apply_in(fx, "p1", NULL, REF(",\"version\":\"1\""),
				  &applied, &err),
			 1);
	agent_applied_done(&applied);
}

static int set_endpoint(void *userdata, struct definition_state *state,
			struct error *err)
{
	(void)err;
	snprintf(state->profile, sizeof(state->profile),
		 "{\"agent_endpoint\":{\"version_selector\":"
		 "{\"version_selection_rules\":[%s]}}}",
		 (const char *)userdata);
	return 0;
}

static void on_definition(void *userdata, const struct definition_view *view,
			  const struct error *err);

/* How often each version comes, of 1000 requests on the agent's own path. */
static void count_versions(struct fixture *fx, const char *rules,
			   unsigned ret[4])
{
	int i;

	memset(ret, 0, 4 * sizeof(*ret));
	assert_int_equal(core_definition_edit(fx->core, &agent_fixture_me,
					      &agent_fixture_name, set_endpoint,
					      on_definition, (void *)rules,
					      NULL),
			 0);
	sd_event_run(fx->event, 0);
	for (i = 0; i < 1000; i++) {
		struct agent_applied applied;
		struct error err;

		assert_int_equal(apply_in(fx, "p1", "analyst", "{}", &applied,
					  &err),
				 1);
		assert_in_range(applied.version, 1, 3);
		ret[applied.version]++;
		agent_applied_done(&applied);
	}
}

#define RULE(version, percent)                                 \
	"{\"type\":\"FixedRatio\",\"agent_version\":\"" version \
	"\",\"traffic_percentage\":" percent "}"

static void an_endpoint_divides_the_requests(void **state)
{
	struct fixture *fx = *state;
	struct agent_applied applied;
	struct error err;
	unsigned times[4];

	make(fx, SMALL);
	make(fx, SMALL);
	make(fx, SMALL);
	count_versions(fx, RULE("1", "100"), times);
	assert_int_equal(times[1], 1000);
	count_versions(fx, RULE("1", "0") "," RULE("2", "100"), times);
	assert_int_equal(times[2], 1000);
	/* Some 9 standard deviations. */
	count_versions(fx, RULE("1", "70") "," RULE("2", "30"), times);
	assert_in_range(times[1], 570, 830);
	assert_int_equal(times[3], 0);
	/* A version that is named, and a path that is not the agent's. */
	assert_int_equal(apply_in(fx, "p1", "analyst", REF(",\"version\":\"3\""),
				  &applied, &err),
			 1);
	assert_int_equal(applied.version, 3);
	agent_applied_done(&applied);
	assert_int_equal(apply_in(fx, "p1", NULL, REF(""), &applied, &err), 1);
	assert_int_equal(applied.version, 3);
	agent_applied_done(&applied);
}

static int disable(void *userdata, struct definition_state *state,
		   struct error *err)
{
	(void)userdata;
	(void)err;
	state->disabled = true;
	return 0;
}

static void on_definition(void *userdata, const struct definition_view *view,
			  const struct error *err)
{
	(void)userdata;
	(void)view;
	assert_null(err);
}

static void a_disabled_agent_answers_nothing(void **state)
{
	struct fixture *fx = *state;

	make(fx, SMALL);
	assert_int_equal(core_definition_edit(fx->core, &agent_fixture_me,
					      &agent_fixture_name, disable,
					      on_definition, NULL, NULL),
			 0);
	sd_event_run(fx->event, 0);
	refuses(fx, "{}", ERR_FORBIDDEN, "");
}

/* ----------------------------------------------------------------- combining */

#define FULL                                                                   \
	"{\"kind\":\"prompt\",\"model\":\"m\",\"instructions\":\"Be kind.\","  \
	"\"temperature\":0.5,\"top_p\":1,\"reasoning\":{\"effort\":\"low\"},"  \
	"\"tools\":[{\"type\":\"code_interpreter\"}],\"tool_choice\":\"auto\"," \
	"\"text\":{\"format\":{\"type\":\"text\"}},\"rai_config\":{\"a\":1},"  \
	"\"skills\":[]}"
#define FROM_FULL                                                              \
	"\"model\":\"m\",\"temperature\":0.5,\"top_p\":1,\"reasoning\":"       \
	"{\"effort\":\"low\"},\"tools\":[{\"type\":\"code_interpreter\"}],"    \
	"\"text\":{\"format\":{\"type\":\"text\"}}"

static void a_definition_is_put_into_the_request(void **state)
{
	struct fixture *fx = *state;

	make(fx, FULL);
	expect(fx,
	       "{\"input\":\"x\",\"stream\":true,\"metadata\":{\"k\":\"v\"},"
	       "\"agent_session_id\":\"s\",\"max_output_tokens\":99,"
	       "\"agent_reference\":{\"name\":\"analyst\"},"
	       "\"agent\":{\"name\":\"analyst\"}}",
	       "{\"input\":\"x\",\"stream\":true,\"metadata\":{\"k\":\"v\"},"
	       "\"agent_session_id\":\"s\",\"max_output_tokens\":99,"
	       "\"instructions\":\"Be kind.\",\"tool_choice\":\"auto\","
	       FROM_FULL "}");
	expect(fx,
	       "{\"tool_choice\":\"required\",\"instructions\":\"Be brief.\"}",
	       "{\"tool_choice\":\"required\",\"instructions\":"
	       "\"Be kind.\\n\\nBe brief.\"," FROM_FULL "}");
}

static void what_the_agent_decides_may_not_be_sent(void **state)
{
	static const char *const fields[] = {
		"tools", "temperature", "top_p", "reasoning", "text",
	};
	struct fixture *fx = *state;
	char request[128];
	size_t i;

	make(fx, FULL);
	refuses(fx, "{\"model\":\"other\"}", ERR_BAD_REQUEST, "model");
	refuses(fx, "{\"model\":{}}", ERR_BAD_REQUEST, "model");
	/* Not even what the agent has. */
	refuses(fx, "{\"tools\":[{\"type\":\"code_interpreter\"}]}",
		ERR_BAD_REQUEST, "tools");
	refuses(fx, "{\"instructions\":[]}", ERR_BAD_REQUEST, "instructions");
	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		snprintf(request, sizeof(request), "{\"%s\":{}}", fields[i]);
		refuses(fx, request, ERR_BAD_REQUEST, fields[i]);
	}
	/* Clients with types have to send a model. */
	expect(fx,
	       "{\"model\":\"\",\"tools\":null,\"text\":null}",
	       "{\"instructions\":\"Be kind.\",\"tool_choice\":\"auto\","
	       FROM_FULL "}");
	expect(fx, "{\"model\":\"m\"}",
	       "{\"instructions\":\"Be kind.\",\"tool_choice\":\"auto\","
	       FROM_FULL "}");
}

/* ------------------------------------------------------------------- definitions */

static const struct {
	const char *definition;
	const char *param; /* NULL: it is kept */
} definitions[] = {
	{ SMALL, NULL },
	{ FULL, NULL },
	{ "{\"kind\":\"prompt\",\"model\":\"m\",\"odd\":[1]}", NULL },
	{ "{}", "definition.kind" },
	{ "{\"kind\":\"hosted\",\"model\":\"m\"}", "definition.kind" },
	{ "{\"kind\":\"prompt\"}", "definition.model" },
	{ "{\"kind\":\"prompt\",\"model\":\"\"}", "definition.model" },
	{ "{\"kind\":\"prompt\",\"model\":\"m\",\"instructions\":1}",
	  "definition.instructions" },
	{ "{\"kind\":\"prompt\",\"model\":\"m\",\"temperature\":3}",
	  "definition.temperature" },
	{ "{\"kind\":\"prompt\",\"model\":\"m\",\"top_p\":-1}",
	  "definition.top_p" },
	{ "{\"kind\":\"prompt\",\"model\":\"m\",\"tools\":{}}",
	  "definition.tools" },
	{ "{\"kind\":\"prompt\",\"model\":\"m\",\"tools\":"
	  "[{\"type\":\"web_search\"}]}",
	  "definition.tools[0].type" },
	{ "{\"kind\":\"prompt\",\"model\":\"m\",\"tools\":"
	  "[{\"type\":\"code_interpreter\",\"container\":{\"type\":"
	  "\"auto\",\"file_ids\":[\"{{ f }}\"]}}]}",
	  NULL },
	{ "{\"kind\":\"prompt\",\"model\":\"m\",\"tools\":"
	  "[{\"type\":\"code_interpreter\",\"container\":\"{{c}}\"}]}",
	  NULL },
	{ "{\"kind\":\"prompt\",\"model\":\"m\",\"tool_choice\":"
	  "\"odd\"}",
	  "definition.tool_choice" },
#define INPUT(json)                                                     \
	"{\"kind\":\"prompt\",\"model\":\"m\",\"structured_inputs\":{" \
	json "}}"
	{ INPUT("\"x\":{\"schema\":{\"type\":\"string\"}}"), NULL },
	{ INPUT("\"x\":1"), "definition.structured_inputs.x" },
	{ INPUT("\"x y\":{}"), "definition.structured_inputs.x y" },
	{ INPUT("\"\":{}"), "definition.structured_inputs." },
	{ INPUT("\"x\":{\"required\":1}"),
	  "definition.structured_inputs.x.required" },
	{ INPUT("\"x\":{\"schema\":{\"type\":\"text\"}}"),
	  "definition.structured_inputs.x.schema.type" },
	{ INPUT("\"x\":{\"schema\":{\"type\":[\"string\",1]}}"),
	  "definition.structured_inputs.x.schema.type" },
	{ INPUT("\"x\":{\"schema\":{\"items\":{\"type\":0}}}"),
	  "definition.structured_inputs.x.schema.items.type" },
	{ INPUT("\"x\":{\"schema\":{\"properties\":{\"k\":1}}}"),
	  "definition.structured_inputs.x.schema.properties.k" },
	{ INPUT("\"x\":{\"schema\":{\"enum\":[]}}"),
	  "definition.structured_inputs.x.schema.enum" },
	{ INPUT("\"x\":{\"schema\":{\"type\":\"string\"},"
		"\"default_value\":1}"),
	  "definition.structured_inputs.x.default_value" },
};

static void definitions_are_checked(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(definitions) / sizeof(definitions[0]); i++) {
		_cleanup_(json_freep) struct json_object *definition =
			parse(definitions[i].definition);
		const char *param = definitions[i].param;
		struct error err = ERROR_INIT;
		int r = agent_check(definition, "definition", &err);

		if (param ? r >= 0 || strcmp(err.param, param) != 0 : r < 0)
			fail_msg("%s: %s: %s", definitions[i].definition,
				 err.param, err.message);
	}
}

static void there_is_an_end_to_inputs(void **state)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(1 << 16);
	_cleanup_(json_freep) struct json_object *definition = NULL;
	struct error err = ERROR_INIT;
	int i;

	(void)state;
	buf_add_str(&b, "{\"kind\":\"prompt\",\"model\":\"m\","
			"\"structured_inputs\":{\"a\":{}");
	for (i = 0; i < AGENT_INPUTS_MAX; i++)
		buf_printf(&b, ",\"a%d\":{}", i);
	buf_add_str(&b, "}}");
	definition = parse(buf_str(&b));
	assert_true(agent_check(definition, "definition", &err) < 0);
	assert_string_equal(err.param, "definition.structured_inputs");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(without_an_agent_nothing_happens),
		TEST(references_are_looked_up),
		TEST(agents_belong_to_their_project),
		TEST(drafts_are_used_if_they_are_named),
		TEST(an_endpoint_divides_the_requests),
		TEST(a_disabled_agent_answers_nothing),
		TEST(a_definition_is_put_into_the_request),
		TEST(what_the_agent_decides_may_not_be_sent),
		TEST(definitions_are_checked),
		TEST(there_is_an_end_to_inputs),
	};

	return RUN_TESTS(tests);
}
