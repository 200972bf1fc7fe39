/* SPDX-License-Identifier: Apache-2.0 */
/* Foundry's prompt agents: making, changing and deleting them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "api/agents.h"
#include "api/api_error.h"
#include "api/definitions.h"
#include "api/handlers.h"
#include "api/merge_patch.h"
#include "api/reply.h"
#include "api/request.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "turn/turn.h"

/* ------------------------------------------------------------------- a version */

struct version_fields {
	struct json_string name; /* where the path has none */
	struct json_string description;
	struct json_object *metadata;
	struct json_object *definition;
	bool draft;
};

static const struct json_field version_table[] = {
	JSON_STRING_FIELD("name", struct version_fields, name),
	JSON_STRING_FIELD("description", struct version_fields, description,
			  .max = DEFINITIONS_DESCRIPTION_MAX),
	JSON_OBJECT_FIELD("metadata", struct version_fields, metadata),
	JSON_OBJECT_FIELD("definition", struct version_fields, definition,
			  .required = true),
	JSON_BOOL_FIELD("draft", struct version_fields, draft),
};

static void write_empty(struct json_writer *w, const char *key)
{
	json_write_object(w, key);
	json_write_close(w);
}

static int write_text(const struct version_fields *fields, struct buf *text,
		      struct error *err)
{
	struct json_string description = fields->description;
	struct json_writer w = JSON_WRITER_INIT(text);

	json_write_object(&w, NULL);
	json_write_bytes(&w, "description",
			 description.data ? description.data : "",
			 description.length);
	if (fields->metadata)
		json_write_value(&w, "metadata", fields->metadata);
	else
		write_empty(&w, "metadata");
	json_write_value(&w, "definition", fields->definition);
	return definitions_write_end(&w, err);
}

static int read_version(struct request *req, struct version_fields *ret,
			struct buf *text, struct error *err)
{
	struct json_object *object;
	int r;

	*ret = (struct version_fields){ .draft = false };
	r = request_json(req, &object, err);
	if (r >= 0)
		r = json_read_fields(object, NULL, version_table,
				     sizeof(version_table) /
					     sizeof(version_table[0]),
				     JSON_UNKNOWN_IGNORED, ret, err);
	if (r >= 0)
		r = metadata_check(ret->metadata, err);
	if (r >= 0)
		r = agent_check(ret->definition, "definition", err);
	return r < 0 ? r : write_text(ret, text, err);
}

/* Both are texts of ours; without memory they differ. */
static bool says_the_same(const char *text, const char *other)
{
	_cleanup_(json_freep) struct json_object *a = NULL;
	_cleanup_(json_freep) struct json_object *b = NULL;

	return json_parse(text, strlen(text), &a, NULL) >= 0 &&
	       json_parse(other, strlen(other), &b, NULL) >= 0 &&
	       json_equal(a, b);
}

static void on_version(void *userdata,
		       const struct definition_version_view *version,
		       const struct error *err)
{
	struct request *req = userdata;

	if (reply_failure(req, err))
		return;
	agents_write_version(reply_writer(req), version);
	reply_ok(req);
}

static void on_agent(void *userdata,
		     const struct definition_version_view *version,
		     const struct error *err)
{
	struct request *req = userdata;
	struct error failure = ERROR_INIT;
	struct definition_name name = { DEFINITION_AGENT, req->match.project,
					NULL };
	char own[CORE_DEFINITION_NAME_MAX + 1];

	if (reply_failure(req, err))
		return;
	/* The view goes when core is asked again. */
	(void)snprintf(own, sizeof(own), "%s", version->name);
	name.name = own;
	request_finish(req, agents_reply(req, &name, &failure), &failure);
}

int agents_create(struct request *req, struct error *err)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(CORE_DEFINITION_MAX);
	struct definition_name name = { DEFINITION_AGENT, req->match.project,
					NULL };
	struct definition_spec spec = { .need = DEFINITION_MISSING };
	struct version_fields fields;
	int r;

	r = definitions_check_call(req, err);
	if (r >= 0)
		r = read_version(req, &fields, &text, err);
	if (r < 0)
		return r;
	name.name = fields.name.data;
	if (!name.name || strlen(name.name) != fields.name.length ||
	    !definition_name_is_valid(name.name))
		return definitions_refuse_name(err);
	spec.text = buf_str(&text);
	r = core_definition_version_create(req->core, &req->who, &name, &spec,
					   on_agent, req, err);
	return r < 0 ? r : ROUTE_PENDING;
}

/* A version more, of the path's agent. */
static int add_version(struct request *req, struct definition_spec *spec,
		       const struct definition_name *name,
		       definition_version_fn done, struct error *err)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(CORE_DEFINITION_MAX);
	struct version_fields fields;
	int r;

	r = read_version(req, &fields, &text, err);
	if (r < 0)
		return r;
	spec->text = buf_str(&text);
	spec->draft = fields.draft;
	r = core_definition_version_create(req->core, &req->who, name, spec,
					   done, req, err);
	return r < 0 ? r : ROUTE_PENDING;
}

int agents_update(struct request *req, struct error *err)
{
	struct definition_spec spec = { .need = DEFINITION_THERE,
					.same = says_the_same };
	struct definition_name name;
	int r;

	r = definitions_read_name(req, DEFINITION_AGENT, &name, err);
	return r < 0 ? r : add_version(req, &spec, &name, on_agent, err);
}

int agents_versions_create(struct request *req, struct error *err)
{
	struct definition_spec spec = { .need = DEFINITION_ANY };
	struct definition_name name = { DEFINITION_AGENT, req->match.project,
					req->match.param[0] };
	int r;

	r = definitions_check_call(req, err);
	if (r < 0)
		return r;
	if (!definition_name_is_valid(name.name))
		return definitions_refuse_name(err);
	return add_version(req, &spec, &name, on_version, err);
}

/* ------------------------------------------------------------- the agent itself */

struct profile_fields {
	struct json_object *agent_endpoint;
	struct json_object *agent_card;
};

static const struct json_field profile_table[] = {
	JSON_OBJECT_FIELD("agent_endpoint", struct profile_fields,
			  agent_endpoint),
	JSON_OBJECT_FIELD("agent_card", struct profile_fields, agent_card),
};

static int write_profile(const struct json_object *profile,
			 const struct json_object *patch, struct buf *text)
{
	struct json_writer w = JSON_WRITER_INIT(text);
	size_t i;

	json_write_object(&w, NULL);
	for (i = 0; i < sizeof(profile_table) / sizeof(profile_table[0]); i++) {
		const char *key = profile_table[i].name;
		const struct json_object *before = json_member(profile, key);
		const struct json_object *change = json_member(patch, key);

		if (change)
			merge_patch_write(&w, key, before, change);
		else if (before && !json_has(patch, key))
			json_write_value(&w, key, before);
	}
	json_write_close(&w);
	return json_write_end(&w);
}

static int check_profile(const char *text, struct error *err)
{
	_cleanup_(json_freep) struct json_object *profile = NULL;
	int r;

	r = json_parse(text, strlen(text), &profile, err);
	if (r < 0)
		return r;
	return agent_endpoint_check(json_member(profile, "agent_endpoint"),
				    "agent_endpoint", err);
}

static int patch_profile(void *userdata, struct definition_state *state,
			 struct error *err)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(CORE_PROFILE_MAX);
	_cleanup_(json_freep) struct json_object *profile = NULL;
	const struct request *req = userdata;
	int r = 0;

	if (state->profile[0])
		r = json_parse(state->profile, strlen(state->profile), &profile,
			       err);
	if (r < 0)
		return r;
	r = write_profile(profile, req->work, &text);
	if (r == -EMSGSIZE)
		return error_set(err, ERR_BAD_REQUEST,
				 "The agent's endpoint and card have more than "
				 "%d bytes",
				 CORE_PROFILE_MAX);
	if (r < 0)
		return error_set_errno(err, r, "Cannot change an agent");
	r = check_profile(buf_str(&text), err);
	if (r >= 0)
		strcpy(state->profile, buf_str(&text));
	return r;
}

static void on_patched(void *userdata, const struct definition_view *agent,
		       const struct error *err)
{
	struct request *req = userdata;
	const struct definition_name name = { DEFINITION_AGENT,
					      req->match.project,
					      req->match.param[0] };
	struct error failure = ERROR_INIT;

	(void)agent;
	if (error_is_set(err))
		request_failed(req, err);
	else
		request_finish(req, agents_reply(req, &name, &failure),
			       &failure);
}

static void free_patch(void *work)
{
	json_free(work);
}

/* The body goes with the client; the two members that count are kept. */
static int keep_patch(struct request *req, const struct json_object *patch,
		      struct error *err)
{
	struct json_object *kept = json_new_object();
	size_t i;
	int r = kept ? 0 : -ENOMEM;

	req->work = kept;
	req->work_free = free_patch;
	for (i = 0; r >= 0 &&
		    i < sizeof(profile_table) / sizeof(profile_table[0]);
	     i++) {
		const char *key = profile_table[i].name;

		if (json_has(patch, key))
			r = json_set(kept, key, json_member(patch, key));
	}
	return r < 0 ? error_set_errno(err, r, "Cannot change an agent") : 0;
}

int agents_patch(struct request *req, struct error *err)
{
	struct profile_fields fields = { .agent_card = NULL };
	struct definition_name name;
	struct json_object *patch;
	int r;

	r = definitions_read_name(req, DEFINITION_AGENT, &name, err);
	if (r >= 0)
		r = request_json(req, &patch, err);
	if (r >= 0)
		r = json_read_fields(patch, NULL, profile_table,
				     sizeof(profile_table) /
					     sizeof(profile_table[0]),
				     JSON_UNKNOWN_IGNORED, &fields, err);
	if (r >= 0)
		r = keep_patch(req, patch, err);
	if (r >= 0)
		r = core_definition_edit(req->core, &req->who, &name,
					 patch_profile, on_patched, req, err);
	return r < 0 ? r : ROUTE_PENDING;
}

static int set_enabled(void *userdata, struct definition_state *state,
		       struct error *err)
{
	(void)userdata;
	(void)err;
	state->disabled = false;
	return 0;
}

static int set_disabled(void *userdata, struct definition_state *state,
			struct error *err)
{
	(void)userdata;
	(void)err;
	state->disabled = true;
	return 0;
}

static void on_switched(void *userdata, const struct definition_view *agent,
			const struct error *err)
{
	(void)agent;
	reply_gone(userdata, err);
}

static int switch_to(struct request *req, definition_edit_fn edit, struct error *err)
{
	struct definition_name name;
	int r;

	r = definitions_read_name(req, DEFINITION_AGENT, &name, err);
	if (r >= 0)
		r = core_definition_edit(req->core, &req->who, &name, edit,
					 on_switched, req, err);
	return r < 0 ? r : ROUTE_PENDING;
}

int agents_enable(struct request *req, struct error *err)
{
	return switch_to(req, set_enabled, err);
}

int agents_disable(struct request *req, struct error *err)
{
	return switch_to(req, set_disabled, err);
}

/* -------------------------------------------------------------------- deletion */

static void on_deleted(void *userdata, const struct error *err)
{
	struct request *req = userdata;
	const char *version = req->match.param[1];
	struct json_writer *w;

	if (reply_failure(req, err))
		return;
	w = reply_writer(req);
	json_write_object(w, NULL);
	json_write_string(w, "object",
			  version ? "agent.version.deleted" : "agent.deleted");
	json_write_string(w, "name", req->match.param[0]);
	if (version)
		json_write_string(w, "version", version);
	json_write_bool(w, "deleted", true);
	json_write_close(w);
	reply_ok(req);
}

/* "force" ends sessions of hosted agents elsewhere; these have none. */
int agents_delete(struct request *req, struct error *err)
{
	struct definition_name name;
	int r;

	r = definitions_read_name(req, DEFINITION_AGENT, &name, err);
	if (r >= 0)
		r = core_definition_delete(req->core, &req->who, &name,
					   on_deleted, req, err);
	return r < 0 ? r : ROUTE_PENDING;
}

int agents_versions_delete(struct request *req, struct error *err)
{
	struct definition_name name;
	uint64_t version;
	int r;

	r = definitions_read_name(req, DEFINITION_AGENT, &name, err);
	if (r >= 0)
		r = definitions_read_version(req->match.param[1], &name,
					     &version, err);
	if (r >= 0)
		r = core_definition_version_delete(req->core, &req->who, &name,
						   version, on_deleted, req,
						   err);
	return r < 0 ? r : ROUTE_PENDING;
}
