/* SPDX-License-Identifier: Apache-2.0 */
#include "turn/agent.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "turn/agent_endpoint.h"
#include "turn/agent_inputs.h"
#include "turn/agent_template.h"

#define REFERENCE "agent_reference"
#define REFERENCE_BEFORE "agent" /* as it was called once */
#define INPUTS "structured_inputs"

/* ------------------------------------------------------------ which one it is */

/**
 * struct reference - Of an agent
 * @version:	0: the one that counts or, if the path is the agent's own, one
 *		that its endpoint chooses
 */
struct reference {
	const char *name;
	bool own_path;
	uint64_t version;
};

struct reference_fields {
	struct json_string type;
	struct json_string name;
	struct json_string version;
};

static const char *const reference_types[] = { REFERENCE, NULL };

static const struct json_field reference_table[] = {
	JSON_STRING_FIELD("type", struct reference_fields, type,
			  .choices = reference_types),
	JSON_STRING_FIELD("name", struct reference_fields, name,
			  .required = true, .min = 1, .max = 256),
	JSON_STRING_FIELD("version", struct reference_fields, version,
			  .max = 64),
};

/* What cannot be a name is nobody's, what cannot be a version is none. */
static int read_reference(const struct json_object *object, const char *path,
			  struct reference *ret, struct error *err)
{
	struct reference_fields fields = { .type = { NULL, 0 } };
	int r;

	if (json_kind_of(object) != JSON_OBJECT)
		return error_refuse(
			err, path, "invalid_type",
			"The agent must be an object with type and name");
	r = json_read_fields(object, path, reference_table,
			     sizeof(reference_table) /
				     sizeof(reference_table[0]),
			     JSON_UNKNOWN_IGNORED, &fields, err);
	if (r < 0)
		return r;
	if (!definition_name_is_valid(fields.name.data))
		return error_set(err, ERR_NOT_FOUND, "Agent '%.100s' not found",
				 fields.name.data);
	*ret = (struct reference){ .name = fields.name.data };
	if (fields.version.length > 0 &&
	    definition_version_parse(fields.version.data, &ret->version) < 0)
		return error_set(err, ERR_NOT_FOUND,
				 "Agent '%s' has no version '%s'", ret->name,
				 fields.version.data);
	return 0;
}

/* Return: 1, or 0 if there is none */
static int find_reference(const struct json_object *body, const char *implied,
			  struct reference *ret, struct error *err)
{
	const char *path = REFERENCE;
	const struct json_object *object = json_member(body, path);
	int r;

	if (!object) {
		path = REFERENCE_BEFORE;
		object = json_member(body, path);
	}
	*ret = (struct reference){ .name = implied };
	if (object) {
		r = read_reference(object, path, ret, err);
		if (r < 0)
			return r;
	}
	if (!ret->name && json_member(body, INPUTS))
		return error_refuse(err, INPUTS, "invalid_value",
				    "'" INPUTS "' are an agent's, and there is "
				    "no '" REFERENCE "'");
	if (!ret->name)
		return 0;
	ret->own_path = implied != NULL;
	if (implied && strcmp(implied, ret->name) != 0)
		return error_refuse(err, path, "invalid_value",
				    "This path is another agent's");
	return 1;
}

static int find_version(struct core *core, const struct principal *who,
			const char *project, const struct reference *reference,
			struct definition_version_view *ret, struct error *err)
{
	const struct definition_name name = { DEFINITION_AGENT, project,
					      reference->name };
	uint64_t version = reference->version;
	struct definition_view agent;
	int r;

	if (!project || !definition_project_is_valid(project))
		return error_refuse(
			err, REFERENCE, "invalid_value",
			"Agents belong to projects: ask at "
			"/api/projects/{project}/openai/v1/responses");
	r = core_definition_get(core, who, &name, &agent, err);
	if (r >= 0 && agent.disabled) {
		error_set_reason(err, "agent_disabled");
		return error_set(err, ERR_FORBIDDEN, "Agent '%s' is disabled",
				 reference->name);
	}
	if (r >= 0 && version == 0 && reference->own_path)
		r = agent_endpoint_choose(agent.profile, &version, err);
	if (r >= 0)
		r = core_definition_version_get(core, who, &name, version, ret,
						err);
	if (r >= 0 && ret->draft && version == 0)
		return error_set(err, ERR_NOT_FOUND,
				 "Agent '%s' has only drafts: name a version",
				 reference->name);
	return r;
}

/* ------------------------------------------------------------- how they combine */

/** enum part - Where a field of the new request comes from */
enum part {
	PART_DEFINITION, /* may not be sent along */
	PART_MODEL,      /* the same, but for its own name and none */
	PART_EITHER,     /* the request's goes before */
	PART_BOTH,       /* made of both, below */
	PART_CONSUMED,   /* it has said what it had to say */
};

/* What is not here is the request's alone. */
static const struct {
	const char *name;
	enum part part;
} parts[] = {
	{ "model", PART_MODEL },
	{ "tools", PART_DEFINITION },
	{ "temperature", PART_DEFINITION },
	{ "top_p", PART_DEFINITION },
	{ "reasoning", PART_DEFINITION },
	{ "text", PART_DEFINITION },
	{ "tool_choice", PART_EITHER },
	{ "instructions", PART_BOTH },
	{ INPUTS, PART_CONSUMED },
	{ REFERENCE, PART_CONSUMED },
	{ REFERENCE_BEFORE, PART_CONSUMED },
};

#define PARTS (sizeof(parts) / sizeof(parts[0]))

static size_t find_part(const char *name)
{
	size_t i;

	for (i = 0; i < PARTS; i++)
		if (strcmp(parts[i].name, name) == 0)
			break;
	return i;
}

struct combining {
	const struct json_object *definition;
	struct agent_inputs inputs;
	struct json_object *body; /* the new one */
	struct error *err;
};

static int no_memory(struct error *err)
{
	return error_set_errno(err, -ENOMEM, "Cannot apply an agent");
}

static bool is_own_model(const struct combining *c,
			 const struct json_object *model)
{
	struct json_string s = json_string_of(model);

	return (s.data && s.length == 0) ||
	       json_equal(model, json_member(c->definition, "model"));
}

static int on_field(const char *name, struct json_object *value, void *userdata)
{
	struct combining *c = userdata;
	size_t i = find_part(name);

	if (json_kind_of(value) == JSON_NULL)
		return 0;
	if (i < PARTS && parts[i].part == PART_MODEL &&
	    is_own_model(c, value))
		return 0;
	if (i < PARTS && (parts[i].part == PART_DEFINITION ||
			  parts[i].part == PART_MODEL))
		return error_refuse(c->err, name, "invalid_payload",
				    "Not allowed when agent is specified.");
	if (i < PARTS && parts[i].part != PART_EITHER)
		return 0;
	return json_set(c->body, name, value) < 0 ? no_memory(c->err) : 0;
}

/* What the request has not said, in the definition's words. */
static int take_definition(struct combining *c)
{
	struct json_object *value;
	size_t i;

	for (i = 0; i < PARTS; i++) {
		value = json_member(c->definition, parts[i].name);
		if (parts[i].part > PART_EITHER || !value ||
		    json_member(c->body, parts[i].name))
			continue;
		if (json_set(c->body, parts[i].name, value) < 0)
			return no_memory(c->err);
	}
	return 0;
}

/* ------------------------------------------------------------------ filling in */

static int fill_failed(int r, const char *what, struct error *err)
{
	if (r != -EMSGSIZE)
		return no_memory(err);
	error_set_param(err, INPUTS);
	return error_set(err, ERR_BAD_REQUEST,
			 "With their structured inputs, the agent's %s have "
			 "more than %d bytes",
			 what, AGENT_FILLED_MAX);
}

static int fill_instructions(struct combining *c,
			     const struct json_object *request)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(AGENT_FILLED_MAX);
	struct json_string own = json_string_of(
		json_member(c->definition, "instructions"));
	const struct json_object *more = json_member(request, "instructions");
	struct json_string behind = json_string_of(more);
	int r;

	if (more && !behind.data)
		return error_refuse(c->err, "instructions", "invalid_type",
				    "The instructions must be a string");
	r = agent_template_fill(own, &c->inputs, &text);
	if (r >= 0 && text.length > 0 && behind.length > 0)
		r = buf_add_str(&text, "\n\n");
	if (r >= 0)
		r = agent_template_fill(behind, &c->inputs, &text);
	if (r < 0)
		return fill_failed(r, "instructions", c->err);
	if (text.length == 0)
		return 0;
	r = json_set_string(c->body, "instructions", buf_str(&text),
			    text.length);
	return r < 0 ? no_memory(c->err) : 0;
}

static int fill_tools(struct combining *c)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(AGENT_FILLED_MAX);
	_cleanup_(json_freep) struct json_object *filled = NULL;
	const struct json_object *tools = json_member(c->body, "tools");
	struct json_writer w = JSON_WRITER_INIT(&text);
	int r;

	if (!tools || c->inputs.count == 0)
		return 0;
	agent_template_fill_tools(&w, tools, &c->inputs);
	r = json_write_end(&w);
	if (r < 0)
		return fill_failed(r, "tools", c->err);
	r = json_parse(buf_str(&text), text.length, &filled, c->err);
	if (r < 0)
		return r;
	return json_set(c->body, "tools", filled) < 0 ? no_memory(c->err) : 0;
}

static int read_inputs(struct combining *c, const struct json_object *request)
{
	const struct json_object *given = json_member(request, INPUTS);

	if (given && json_kind_of(given) != JSON_OBJECT)
		return error_refuse(c->err, INPUTS, "invalid_type",
				    "The structured inputs must be an object");
	return agent_inputs_read(
		json_member(c->definition, INPUTS), given, &c->inputs, c->err);
}

static int combine(const struct json_object *definition,
		   const struct json_object *request,
		   struct json_object **ret, struct error *err)
{
	_cleanup_(json_freep) struct json_object *body = json_new_object();
	struct combining c = { .definition = definition, .body = body,
			       .err = err };
	int r;

	if (!body)
		return no_memory(err);
	r = json_each_member(request, on_field, &c);
	if (r >= 0)
		r = take_definition(&c);
	if (r >= 0)
		r = read_inputs(&c, request);
	if (r >= 0)
		r = fill_instructions(&c, request);
	if (r >= 0)
		r = fill_tools(&c);
	if (r < 0)
		return r;
	*ret = take_ptr(body);
	return 0;
}

int agent_apply(struct core *core, const struct principal *who,
		const char *project, const char *implied,
		const struct json_object *body, struct agent_applied *ret,
		struct error *err)
{
	_cleanup_(json_freep) struct json_object *definition = NULL;
	struct definition_version_view version;
	struct agent_applied applied = { .body = NULL };
	struct reference reference;
	int r;

	r = find_reference(body, implied, &reference, err);
	if (r <= 0)
		return r;
	r = find_version(core, who, project, &reference, &version, err);
	if (r >= 0)
		r = json_parse(version.text, strlen(version.text), &definition,
			       err);
	if (r >= 0)
		r = combine(json_member(definition, "definition"), body,
			    &applied.body, err);
	if (r < 0)
		return r;
	applied.version = version.version;
	(void)snprintf(applied.name, sizeof(applied.name), "%s", version.name);
	*ret = applied;
	return 1;
}

void agent_applied_done(struct agent_applied *applied)
{
	json_free(applied->body);
	*applied = (struct agent_applied){ .body = NULL };
}
