/* SPDX-License-Identifier: Apache-2.0 */
/* Foundry's prompt agents: showing them. What they do is in src/turn. */
#include "api/agents.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "api/api_error.h"
#include "api/definitions.h"
#include "api/handlers.h"
#include "api/page_items.h"
#include "api/reply.h"
#include "api/request.h"
#include "base/cleanup.h"
#include "base/json.h"

/* Of every agent there is here. */
#define KIND "prompt"

/* ------------------------------------------------------------- how it is shown */

/* An agent's id is its name; a version's has the number behind it. */
static void make_version_id(char ret[PAGE_ID_SIZE],
			    const struct definition_version_view *version)
{
	(void)snprintf(ret, PAGE_ID_SIZE, "%s:%llu", version->name,
		       (unsigned long long)version->version);
}

static int on_member(const char *key, struct json_object *value,
		     void *userdata)
{
	json_write_value(userdata, key, value);
	return 0;
}

/* Text of ours, an object; its members go into the one that is written. */
static void write_members(struct json_writer *w, const char *text)
{
	_cleanup_(json_freep) struct json_object *object = NULL;

	if (*text)
		(void)json_parse(text, strlen(text), &object, NULL);
	(void)json_each_member(object, on_member, w);
}

static void write_version(struct json_writer *w, const char *key,
			  const struct definition_version_view *version)
{
	char id[PAGE_ID_SIZE];

	make_version_id(id, version);
	json_write_object(w, key);
	json_write_string(w, "object", "agent.version");
	json_write_string(w, "id", id);
	json_write_string(w, "name", version->name);
	definitions_write_version(w, "version", version->version);
	json_write_int(w, "created_at", version->created_at);
	json_write_string(w, "status", "active");
	json_write_bool(w, "draft", version->draft);
	write_members(w, version->text);
	json_write_close(w);
}

void agents_write_version(struct json_writer *w,
			  const struct definition_version_view *version)
{
	write_version(w, NULL, version);
}

void agents_write(struct json_writer *w, const struct definition_view *agent,
		  const struct definition_version_view *latest)
{
	json_write_object(w, NULL);
	json_write_string(w, "object", "agent");
	json_write_string(w, "id", agent->name);
	json_write_string(w, "name", agent->name);
	json_write_string(w, "state", agent->disabled ? "disabled" : "enabled");
	json_write_object(w, "versions");
	write_version(w, "latest", latest);
	json_write_close(w);
	write_members(w, agent->profile);
	json_write_close(w);
}

/* The second look finds the same agent: its view stays as it is. */
static int find(struct request *req, const struct definition_name *name,
		struct definition_view *ret,
		struct definition_version_view *ret_latest, struct error *err)
{
	int r;

	r = core_definition_get(req->core, &req->who, name, ret, err);
	if (r >= 0)
		r = core_definition_version_get(req->core, &req->who, name, 0,
						ret_latest, err);
	return r;
}

int agents_reply(struct request *req, const struct definition_name *name,
		 struct error *err)
{
	struct definition_version_view latest;
	struct definition_view agent;
	int r;

	r = find(req, name, &agent, &latest, err);
	if (r < 0)
		return r;
	agents_write(reply_writer(req), &agent, &latest);
	return reply_json(req, MHD_HTTP_OK, err);
}

int agents_get(struct request *req, struct error *err)
{
	struct definition_name name;
	int r;

	r = definitions_read_name(req, DEFINITION_AGENT, &name, err);
	return r < 0 ? r : agents_reply(req, &name, err);
}

int agents_versions_get(struct request *req, struct error *err)
{
	struct definition_version_view view;
	struct definition_name name;
	uint64_t version;
	int r;

	r = definitions_read_name(req, DEFINITION_AGENT, &name, err);
	if (r >= 0)
		r = definitions_read_version(req->match.param[1], &name,
					     &version, err);
	if (r >= 0)
		r = core_definition_version_get(req->core, &req->who, &name,
						version, &view, err);
	if (r < 0)
		return r;
	agents_write_version(reply_writer(req), &view);
	return reply_json(req, MHD_HTTP_OK, err);
}

/* ----------------------------------------------------------------------- lists */

/* A row of a list is named by what clients know: a name. */
static int find_row(struct request *req, const char *cursor,
		    char ret_id[ID_SIZE], struct error *err)
{
	const struct definition_name name = { DEFINITION_AGENT,
					      req->match.project, cursor };
	struct definition_view agent;
	int r;

	r = core_definition_get(req->core, &req->who, &name, &agent, err);
	if (r >= 0)
		strcpy(ret_id, agent.id);
	return r;
}

/* The same of versions: "name:version", of the path's agent. */
static int find_version_row(struct request *req, const char *cursor,
			    char ret_id[ID_SIZE], struct error *err)
{
	const struct definition_name name = { DEFINITION_AGENT,
					      req->match.project,
					      req->match.param[0] };
	struct definition_version_view view;
	size_t size = strlen(name.name);
	uint64_t version;
	int r;

	if (strncmp(cursor, name.name, size) != 0 || cursor[size] != ':')
		return -ENOENT;
	r = definitions_read_version(cursor + size + 1, &name, &version, err);
	if (r >= 0)
		r = core_definition_version_get(req->core, &req->who, &name,
						version, &view, err);
	if (r >= 0)
		strcpy(ret_id, view.id);
	return r;
}

/** struct agent_names - Those of a page, whose latest versions are then read */
struct agent_names {
	char name[CORE_PAGE_MAX][CORE_DEFINITION_NAME_MAX + 1];
	size_t count;
};

static void on_agent(void *userdata, const struct definition_view *agent)
{
	struct agent_names *names = userdata;

	strcpy(names->name[names->count++], agent->name);
}

static void add_agents(struct request *req, const struct agent_names *names,
		       struct page_items *items)
{
	struct definition_version_view latest;
	struct definition_view agent;
	size_t i;

	for (i = 0; i < names->count; i++) {
		const struct definition_name name = { DEFINITION_AGENT,
						      req->match.project,
						      names->name[i] };
		struct json_writer w;

		/* One that has just been deleted is left out. */
		if (find(req, &name, &agent, &latest, NULL) < 0)
			continue;
		w = page_items_begin(items, agent.name);
		agents_write(&w, &agent, &latest);
		page_items_end(items, &w);
	}
}

/* Return: whether agents of the kind that is asked for are listed */
static int read_kind(struct request *req, bool *ret_any, struct error *err)
{
	static const char *const others[] = { "hosted", "workflow", "external",
					      "voice" };
	const char *kind;
	size_t i;
	int r;

	r = uri_param(&req->uri, "kind", &kind, err);
	if (r < 0)
		return r;
	*ret_any = !kind || strcmp(kind, KIND) == 0;
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (*ret_any || strcmp(kind, others[i]) == 0)
			return 0;
	return api_refuse(err, "kind", "is no kind of agent", "invalid_value");
}

int agents_list(struct request *req, struct error *err)
{
	const struct definition_name all = { DEFINITION_AGENT,
					     req->match.project, NULL };
	_cleanup_(page_items_freep) struct page_items *items = page_items_new();
	struct agent_names names = { .count = 0 };
	bool backwards, any, more = false;
	struct core_page page;
	int r;

	if (!items)
		return error_set_errno(err, -ENOMEM, "Cannot list agents");
	r = definitions_check_call(req, err);
	if (r >= 0)
		r = read_kind(req, &any, err);
	if (r >= 0)
		r = page_read_either(req, CORE_PAGE_MAX,
				     DEFINITIONS_PAGE_DEFAULT, find_row, &page,
				     &backwards, err);
	if (r >= 0 && any)
		r = core_definition_list(req->core, &req->who, &all, &page,
					 on_agent, &names, &more, err);
	if (r < 0)
		return r;
	add_agents(req, &names, items);
	return page_items_reply(req, items, backwards, more, err);
}

static void on_version(void *userdata,
		       const struct definition_version_view *version)
{
	struct page_items *items = userdata;
	char id[PAGE_ID_SIZE];
	struct json_writer w;

	make_version_id(id, version);
	w = page_items_begin(items, id);
	agents_write_version(&w, version);
	page_items_end(items, &w);
}

int agents_versions_list(struct request *req, struct error *err)
{
	_cleanup_(page_items_freep) struct page_items *items = page_items_new();
	bool backwards, drafts = false, more = false;
	struct definition_name name;
	struct core_page page;
	int r;

	if (!items)
		return error_set_errno(err, -ENOMEM, "Cannot list agents");
	r = definitions_read_name(req, DEFINITION_AGENT, &name, err);
	if (r >= 0)
		r = uri_param_bool(&req->uri, "include_drafts", &drafts, err);
	if (r >= 0)
		r = page_read_either(req, CORE_PAGE_MAX,
				     DEFINITIONS_PAGE_DEFAULT,
				     find_version_row, &page, &backwards, err);
	if (r >= 0)
		r = core_definition_version_list(req->core, &req->who, &name,
						 drafts, &page, on_version,
						 items, &more, err);
	return r < 0 ? r : page_items_reply(req, items, backwards, more, err);
}
