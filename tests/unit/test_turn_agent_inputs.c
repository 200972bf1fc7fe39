/* SPDX-License-Identifier: Apache-2.0 */
#include "agent_fixture.h"

#include "turn/agent_inputs.h"

/* Structured inputs: what they fill, and what they may be. */

/* --------------------------------------------------------------------- templates */

/* An agent whose instructions are @text, with inputs x and y-1. */
static void make_template(struct fixture *fx, const char *text)
{
	char definition[1024];

	snprintf(definition, sizeof(definition),
		 "{\"kind\":\"prompt\",\"model\":\"m\",\"instructions\":\"%s\","
		 "\"structured_inputs\":{\"x\":{\"default_value\":\"D\"},"
		 "\"y-1\":{}}}",
		 text);
	make(fx, definition);
}

static void places_are_filled_once(void **state)
{
	static const struct {
		const char *text;
		const char *inputs;
		const char *filled;
	} cases[] = {
		{ "a {{x}} b", "{}", "a D b" },
		{ "{{ x }}{{\\tx}}", "{\"x\":\"1\"}", "11" },
		{ "{{x}}{{y-1}}", "{\"x\":\"\",\"y-1\":\"z\"}", "z" },
		{ "[{{y-1}}]", "{}", "[]" },
		{ "[{{x}}]", "{\"x\":null}", "[D]" },
		/* What is not a place. */
		{ "{{z}} {{}} {{ }} {x} {{x} {{x }", "{}",
		  "{{z}} {{}} {{ }} {x} {{x} {{x }" },
		{ "{{x y}} {{x.y}} {{#if x}} {{", "{}",
		  "{{x y}} {{x.y}} {{#if x}} {{" },
		{ "{{{x}}}", "{}", "{D}" },
		{ "{\\\"a\\\":{{x}}}", "{\"x\":7}", "{\\\"a\\\":7}" },
		/* Values are JSON if they are no strings. */
		{ "{{x}}", "{\"x\":[1,{\"a\":true}]}", "[1,{\\\"a\\\":true}]" },
		{ "{{x}}", "{\"x\":false}", "false" },
		{ "{{x}}", "{\"x\":1.5}", "1.5" },
		/* No value brings places along. */
		{ "{{x}}{{y-1}}", "{\"x\":\"{{y-1}}\",\"y-1\":\"{{x}}\"}",
		  "{{y-1}}{{x}}" },
		{ "{{{x}}y-1}}", "{\"x\":\"{\"}", "{{y-1}}" },
	};
	struct fixture *fx = *state;
	char request[256], wanted[256];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fixture_anew(fx);
		make_template(fx, cases[i].text);
		snprintf(request, sizeof(request),
			 "{\"structured_inputs\":%s}", cases[i].inputs);
		snprintf(wanted, sizeof(wanted),
			 "{\"model\":\"m\",\"instructions\":\"%s\"}",
			 cases[i].filled);
		expect(fx, request, wanted);
	}
}

static void the_requests_instructions_have_places_too(void **state)
{
	struct fixture *fx = *state;

	make_template(fx, "");
	expect(fx, "{\"instructions\":\"hi {{x}}\"}",
	       "{\"model\":\"m\",\"instructions\":\"hi D\"}");
}

static void tools_are_filled(void **state)
{
	struct fixture *fx = *state;

	make(fx, "{\"kind\":\"prompt\",\"model\":\"m\",\"tools\":["
		 "{\"type\":\"code_interpreter\",\"container\":{\"type\":"
		 "\"auto\",\"file_ids\":[\"{{a}}\",\"{{b}}\",\"file-1\"]}},"
		 "{\"type\":\"function\",\"name\":\"f\",\"parameters\":"
		 "{\"pattern\":\"{{a}}\"}},"
		 "{\"type\":\"mcp\",\"server_label\":\"{{a}}\",\"server_url\":"
		 "\"https://{{a}}/\",\"headers\":{\"X\":\"{{n}}\"},"
		 "\"n\":3}],\"structured_inputs\":{\"a\":{\"required\":true},"
		 "\"b\":{\"default_value\":\"\"},\"n\":{}}}");
	expect(fx, "{\"structured_inputs\":{\"a\":\"q\\\"\",\"n\":5}}",
	       "{\"model\":\"m\",\"tools\":["
	       "{\"type\":\"code_interpreter\",\"container\":{\"type\":"
	       "\"auto\",\"file_ids\":[\"q\\\"\",\"file-1\"]}},"
	       "{\"type\":\"function\",\"name\":\"f\",\"parameters\":"
	       "{\"pattern\":\"{{a}}\"}},"
	       "{\"type\":\"mcp\",\"server_label\":\"q\\\"\",\"server_url\":"
	       "\"https://q\\\"/\",\"headers\":{\"X\":\"5\"},\"n\":3}]}");
}

static void a_containers_id_may_be_an_input(void **state)
{
	struct fixture *fx = *state;

	make(fx, "{\"kind\":\"prompt\",\"model\":\"m\",\"tools\":["
		 "{\"type\":\"code_interpreter\",\"container\":\"{{c}}\"}],"
		 "\"structured_inputs\":{\"c\":{}}}");
	expect(fx, "{\"structured_inputs\":{\"c\":\"cntr_1\"}}",
	       "{\"model\":\"m\",\"tools\":[{\"type\":\"code_interpreter\","
	       "\"container\":\"cntr_1\"}]}");
}

static void nothing_grows_without_end(void **state)
{
	struct fixture *fx = *state;
	_cleanup_(buf_done) struct buf b = BUF_INIT(1 << 20);
	int i;

	make_template(fx, "{{x}}{{x}}{{x}}{{x}}{{x}}{{x}}{{x}}{{x}}");
	buf_add_str(&b, "{\"structured_inputs\":{\"x\":\"");
	for (i = 0; i < 200 * 1024; i++)
		buf_add_byte(&b, 'a');
	buf_add_str(&b, "\"}}");
	refuses(fx, buf_str(&b), ERR_BAD_REQUEST, "structured_inputs");
}

/* ------------------------------------------------------------------------ inputs */

static void inputs_are_held_to_their_schema(void **state)
{
	static const struct {
		const char *schema;
		const char *value;
		const char *param; /* NULL: it fits */
	} cases[] = {
		{ "{\"type\":\"string\"}", "\"a\"", NULL },
		{ "{\"type\":\"string\"}", "7", "structured_inputs.v" },
		{ "{\"type\":\"integer\"}", "7", NULL },
		{ "{\"type\":\"integer\"}", "7.5", "structured_inputs.v" },
		{ "{\"type\":\"number\"}", "7", NULL },
		{ "{\"type\":\"number\"}", "\"7\"", "structured_inputs.v" },
		{ "{\"type\":\"boolean\"}", "true", NULL },
		{ "{\"type\":\"boolean\"}", "0", "structured_inputs.v" },
		{ "{\"type\":[\"string\",\"integer\"]}", "7", NULL },
		{ "{\"type\":[\"string\",\"integer\"]}", "true",
		  "structured_inputs.v" },
		{ "{\"enum\":[\"a\",1]}", "1", NULL },
		{ "{\"enum\":[\"a\",1]}", "\"b\"", "structured_inputs.v" },
		{ "{\"maxLength\":2}", "\"\\u00e4\\u00e4\"", NULL },
		{ "{\"maxLength\":2}", "\"abc\"", "structured_inputs.v" },
		{ "{\"minLength\":2}", "\"a\"", "structured_inputs.v" },
		{ "{\"minimum\":0,\"maximum\":9}", "9", NULL },
		{ "{\"minimum\":0}", "-1", "structured_inputs.v" },
		{ "{\"maximum\":9}", "9.5", "structured_inputs.v" },
		{ "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}",
		  "[\"a\"]", NULL },
		{ "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}",
		  "[\"a\",1]", "structured_inputs.v[1]" },
		{ "{\"type\":\"array\"}", "{}", "structured_inputs.v" },
		{ "{\"type\":\"object\",\"required\":[\"k\"]}", "{}",
		  "structured_inputs.v.k" },
		{ "{\"properties\":{\"k\":{\"type\":\"null\"}}}",
		  "{\"k\":1}", "structured_inputs.v.k" },
		{ "{\"properties\":{\"k\":{\"type\":\"string\"}}}", "{}",
		  NULL },
	};
	struct fixture *fx = *state;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char definition[512], request[256];

		fixture_anew(fx);
		snprintf(definition, sizeof(definition),
			 "{\"kind\":\"prompt\",\"model\":\"m\","
			 "\"structured_inputs\":{\"v\":{\"schema\":%s}}}",
			 cases[i].schema);
		make(fx, definition);
		snprintf(request, sizeof(request),
			 "{\"structured_inputs\":{\"v\":%s}}", cases[i].value);
		if (cases[i].param)
			refuses(fx, request, ERR_BAD_REQUEST, cases[i].param);
		else
			expect(fx, request, "{\"model\":\"m\"}");
	}
}

static void inputs_that_are_missing_or_unknown_are_refused(void **state)
{
	struct fixture *fx = *state;

	make(fx, "{\"kind\":\"prompt\",\"model\":\"m\",\"structured_inputs\":"
		 "{\"a\":{\"required\":true},\"b\":{\"required\":true,"
		 "\"default_value\":1}}}");
	refuses(fx, "{}", ERR_BAD_REQUEST, "structured_inputs.a");
	refuses(fx, "{\"structured_inputs\":{\"a\":null}}", ERR_BAD_REQUEST,
		"structured_inputs.a");
	refuses(fx, "{\"structured_inputs\":{\"a\":1,\"A\":1}}",
		ERR_BAD_REQUEST, "structured_inputs.A");
	refuses(fx, "{\"structured_inputs\":[]}", ERR_BAD_REQUEST,
		"structured_inputs");
	expect(fx, "{\"structured_inputs\":{\"a\":1}}", "{\"model\":\"m\"}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(places_are_filled_once),
		TEST(the_requests_instructions_have_places_too),
		TEST(tools_are_filled),
		TEST(a_containers_id_may_be_an_input),
		TEST(nothing_grows_without_end),
		TEST(inputs_are_held_to_their_schema),
		TEST(inputs_that_are_missing_or_unknown_are_refused),
	};

	return RUN_TESTS(tests);
}
