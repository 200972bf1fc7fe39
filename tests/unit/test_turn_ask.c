/* SPDX-License-Identifier: Apache-2.0 */
#include "turn_fixture.h"

/* Requests that are refused before a model is asked, and what is said of them. */

/** struct refusal - A request, and why it is not taken */
struct refusal {
	const char *body;
	enum error_code code;
	const char *param;
	const char *reason;
};

#define FIELD(json) "{'model':'m','input':'x'," json "}"
#define TOOL(json) FIELD("'tools':[{'type':'code_interpreter'},{" json "}]")
#define BOX(json) FIELD("'tools':[{'type':'code_interpreter','container':" json \
			"}]")
#define INPUT(json) "{'model':'m','input':[" json "]}"
#define BAD(json, param) { json, ERR_BAD_REQUEST, param, "invalid_value" }
#define TYPE(json, param) { FIELD(json), ERR_BAD_REQUEST, param, "invalid_type" }
#define RANGE(json, param, which) \
	{ FIELD(json), ERR_BAD_REQUEST, param, which }
#define LONG_ID \
	"cntr_0123456789012345678901234567890123456789012345678901234567890"

static const struct refusal refusals[] = {
	/* What has to be there. */
	{ "{'input':'x'}", ERR_BAD_REQUEST, "model",
	  "missing_required_parameter" },
	{ "{'model':'m'}", ERR_BAD_REQUEST, "input",
	  "missing_required_parameter" },
	{ "{'model':'m','input':[]}", ERR_BAD_REQUEST, "input",
	  "missing_required_parameter" },
	{ "{'model':'other','input':'x'}", ERR_NOT_FOUND, "model",
	  "model_not_found" },

	/* Types. */
	{ "{'model':1,'input':'x'}", ERR_BAD_REQUEST, "model", "invalid_type" },
	TYPE("'instructions':1", "instructions"),
	TYPE("'tools':{}", "tools"),
	TYPE("'parallel_tool_calls':'yes'", "parallel_tool_calls"),
	TYPE("'max_tool_calls':'1'", "max_tool_calls"),
	TYPE("'include':'all'", "include"),
	TYPE("'previous_response_id':1", "previous_response_id"),
	TYPE("'conversation':1", "conversation"),
	TYPE("'store':'no'", "store"),
	TYPE("'stream':1", "stream"),
	TYPE("'stream_options':true", "stream_options"),
	TYPE("'stream_options':{'include_obfuscation':1}",
	     "stream_options.include_obfuscation"),
	TYPE("'background':1", "background"),
	TYPE("'max_output_tokens':'x'", "max_output_tokens"),
	TYPE("'temperature':'hot'", "temperature"),
	TYPE("'top_p':[]", "top_p"),
	TYPE("'top_logprobs':0.5", "top_logprobs"),
	TYPE("'truncation':true", "truncation"),
	TYPE("'text':'plain'", "text"),
	TYPE("'reasoning':'much'", "reasoning"),
	TYPE("'metadata':[]", "metadata"),
	TYPE("'service_tier':1", "service_tier"),
	TYPE("'safety_identifier':1", "safety_identifier"),
	TYPE("'prompt_cache_key':1", "prompt_cache_key"),
	TYPE("'user':1", "user"),
	TYPE("'agent_session_id':1", "agent_session_id"),

	/* Ranges. */
	RANGE("'max_output_tokens':15", "max_output_tokens",
	      "integer_below_min_value"),
	RANGE("'max_output_tokens':2147483648", "max_output_tokens",
	      "integer_above_max_value"),
	RANGE("'max_tool_calls':-1", "max_tool_calls",
	      "integer_below_min_value"),
	RANGE("'temperature':-0.1", "temperature", "decimal_below_min_value"),
	RANGE("'temperature':2.1", "temperature", "decimal_above_max_value"),
	RANGE("'top_p':-0.1", "top_p", "decimal_below_min_value"),
	RANGE("'top_p':1.1", "top_p", "decimal_above_max_value"),
	RANGE("'top_logprobs':-1", "top_logprobs", "integer_below_min_value"),
	RANGE("'top_logprobs':21", "top_logprobs", "integer_above_max_value"),
	BAD(FIELD("'truncation':'some'"), "truncation"),
	BAD(FIELD("'reasoning':{'effort':'most'}"), "reasoning.effort"),
	BAD(FIELD("'reasoning':{'summary':'yes'}"), "reasoning.summary"),
	BAD(FIELD("'text':{'verbosity':'loud'}"), "text.verbosity"),
	BAD(FIELD("'text':{'format':{'type':'xml'}}"), "text.format.type"),
	RANGE("'text':{'format':{'type':'json_schema'}}", "text.format.name",
	      "missing_required_parameter"),
	BAD(FIELD("'include':['all']"), "include"),
	BAD(FIELD("'background':true,'store':false"), "background"),

	/* Tools. */
	BAD(TOOL("'type':'browser'"), "tools[1].type"),
	RANGE("'tools':[{}]", "tools[0].type", "missing_required_parameter"),
	BAD(FIELD("'tool_choice':'always'"), "tool_choice"),
	{ BOX("'" LONG_ID "'"), ERR_BAD_REQUEST, "tools[0].container",
	  "string_above_max_length" },
	{ BOX("'cntr_none'"), ERR_NOT_FOUND, "tools[0].container", "" },
	{ BOX("{'type':'auto','file_ids':['file-none']}"), ERR_NOT_FOUND,
	  "tools[0].container.file_ids[0]", "" },
	BAD(BOX("{'type':'auto','memory_limit':'2g'}"),
	    "tools[0].container.memory_limit"),

	/* What was before. */
	{ FIELD("'previous_response_id':'resp_none'"), ERR_BAD_REQUEST,
	  "previous_response_id", "previous_response_not_found" },
	{ FIELD("'conversation':'conv_none'"), ERR_NOT_FOUND, "conversation",
	  "" },
	{ FIELD("'conversation':'conv_a','previous_response_id':'resp_a'"),
	  ERR_BAD_REQUEST, "previous_response_id",
	  "mutually_exclusive_parameters" },
	{ FIELD("'conversation':{}"), ERR_BAD_REQUEST, "conversation.id",
	  "missing_required_parameter" },

	/* Items. */
	BAD(INPUT("{'type':'wish'}"), "input[0].type"),
	BAD(INPUT("{'role':'boss','content':'x'}"), "input[0].role"),
	BAD(INPUT("{'role':'user','content':[{'type':'smell'}]}"),
	    "input[0].content[0].type"),
	{ INPUT("{'type':'item_reference','id':'msg_none'}"), ERR_NOT_FOUND,
	  "input[0].id", "" },
	{ INPUT("{'type':'function_call_output','call_id':'c','output':'x'}"),
	  ERR_BAD_REQUEST, "input", "" },
	{ INPUT("{'type':'function_call','call_id':'c','name':'f',"
		"'arguments':'{}'}"),
	  ERR_BAD_REQUEST, "input", "" },
};

static void each_refusal_says_where_and_why(void **state)
{
	struct turn_fixture *fx = *state;
	unsigned wrong = 0;

	turn_start(fx);
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		const struct refusal *want = &refusals[i];
		const struct error *got = talk_refuse(fx, want->body);

		if (got->code == want->code &&
		    strcmp(got->param, want->param) == 0 &&
		    (!want->reason[0] ||
		     strcmp(got->reason, want->reason) == 0))
			continue;
		print_error("%s: %d '%s' '%s': %s\n", want->body, got->code,
			    got->param, got->reason, got->message);
		wrong++;
		if (fx->talk_count > FIXTURE_TALKS_MAX - 2)
			break;
	}
	assert_int_equal(wrong, 0);
	assert_int_equal(fx->model->rounds, 0);
}

/* What is at the end of a range is within. */
static void the_ends_of_ranges_are_taken(void **state)
{
	static const char *const bodies[] = {
		FIELD("'max_output_tokens':16"),
		FIELD("'max_tool_calls':0"),
		FIELD("'temperature':0"),
		FIELD("'temperature':2"),
		FIELD("'top_p':0"),
		FIELD("'top_p':1"),
		FIELD("'top_logprobs':20"),
		FIELD("'truncation':'disabled'"),
		FIELD("'metadata':null,'text':null,'reasoning':null,"
		      "'instructions':null,'tools':null,'include':null"),
		FIELD("'prompt':{},'moderation':{},'context_management':[]"),
	};
	struct turn_fixture *fx = *state;

	turn_start(fx);
	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		struct talk *talk = talk_asked(fx, bodies[i]);

		model_text(fx->model, "Yes");
		model_end(fx->model, UPSTREAM_STOP);
		talk_end(talk, "completed");
	}
}

/* Every member that clients may look for, and what was sent of it. */
static void a_response_has_all_its_members(void **state)
{
	static const char *const members[] = {
		"\"object\":\"response\"", "\"created_at\":", "\"completed_at\":",
		"\"status\":\"completed\"", "\"background\":false",
		"\"error\":null", "\"incomplete_details\":null",
		"\"instructions\":\"Be brief\"", "\"max_output_tokens\":20",
		"\"max_tool_calls\":3", "\"model\":\"m\"", "\"output\":[{",
		"\"parallel_tool_calls\":false", "\"previous_response_id\":null",
		"\"conversation\":null",
		"\"reasoning\":{\"effort\":\"low\",\"summary\":null}",
		"\"store\":true", "\"temperature\":0.5", "\"top_p\":0.9",
		("\"text\":{\"format\":{\"type\":\"json_object\"},"
		 "\"verbosity\":\"low\"}"),
		"\"tool_choice\":\"none\"", "\"tools\":[{\"type\":",
		"\"top_logprobs\":2", "\"truncation\":\"auto\"",
		"\"usage\":{\"input_tokens\":10", "\"user\":\"u\"",
		"\"safety_identifier\":\"s\"", "\"prompt_cache_key\":\"k\"",
		"\"prompt_cache_retention\":\"24h\"",
		"\"service_tier\":\"flex\"", "\"metadata\":{\"a\":\"b\"}",
		"\"agent_session_id\":\"as\"", "\"agent_reference\":null",
	};
	struct turn_fixture *fx = *state;
	struct talk *talk;
	const char *kept;

	turn_start(fx);
	talk = talk_asked(
		fx,
		FIELD("'instructions':'Be brief','max_output_tokens':20,"
		      "'max_tool_calls':3,'parallel_tool_calls':false,"
		      "'reasoning':{'effort':'low'},'temperature':0.5,"
		      "'top_p':0.9,'text':{'format':{'type':'json_object'},"
		      "'verbosity':'low'},'tool_choice':'none','tools':[{"
		      "'type':'code_interpreter'}],'top_logprobs':2,"
		      "'truncation':'auto','user':'u','safety_identifier':'s',"
		      "'prompt_cache_key':'k','prompt_cache_retention':'24h',"
		      "'service_tier':'flex','metadata':{'a':'b'},"
		      "'agent_session_id':'as'"));
	model_text(fx->model, "Yes");
	model_end(fx->model, UPSTREAM_STOP);
	talk_end(talk, "completed");
	talk_drop(talk);
	fixture_settle(fx->core);
	kept = turn_get(fx, talk->turn.id, 0);
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		if (!strstr(kept, members[i]))
			fail_msg("%s is not in %s", members[i], kept);
		if (!strstr(buf_str(&talk->reader.response), members[i]))
			fail_msg("%s is not in the last event", members[i]);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, turn_setup, turn_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_refusal_says_where_and_why),
		TEST(the_ends_of_ranges_are_taken),
		TEST(a_response_has_all_its_members),
	};

	return RUN_TESTS(tests);
}
