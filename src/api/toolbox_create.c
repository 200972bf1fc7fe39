/* SPDX-License-Identifier: Apache-2.0 */
/* New versions of toolboxes: what is asked for, checked and kept. */
#include <string.h>

#include "api/api_error.h"
#include "api/definitions.h"
#include "api/handlers.h"
#include "api/mcp.h"
#include "api/reply.h"
#include "api/request.h"
#include "api/toolbox_offer.h"
#include "api/toolboxes.h"
#include "base/cleanup.h"
#include "turn/turn.h"

struct version_fields {
	struct json_string description;
	struct json_object *metadata;
	struct json_object *tools;
	struct json_object *skills;
	struct json_object *policies;
};

static const struct json_field version_table[] = {
	JSON_STRING_FIELD("description", struct version_fields, description,
			  .max = DEFINITIONS_DESCRIPTION_MAX),
	JSON_OBJECT_FIELD("metadata", struct version_fields, metadata),
	JSON_ARRAY_FIELD("tools", struct version_fields, tools,
			 .required = true),
	JSON_ARRAY_FIELD("skills", struct version_fields, skills),
	JSON_OBJECT_FIELD("policies", struct version_fields, policies),
};

/* What it names has to be there, and its maker's to name. */
static int check_things(struct request *req, const struct toolbox_offer *offer,
			struct error *err)
{
	struct file_view file;
	size_t i, k;
	int r = 0;

	if (offer->pool || offer->image)
		r = core_pool_check(req->core, offer->pool, offer->image, err);
	for (i = 0; r >= 0 && i < offer->tools; i++) {
		const struct toolbox_tool *tool = &offer->tool[i];

		if (tool->container)
			r = mcp_container_may_use(req, tool->container, err);
		for (k = 0; r >= 0 && k < tool->options.file_count; k++)
			r = core_file_get(req->core, &req->who,
					  tool->options.file_ids[k], &file,
					  err);
	}
	return r;
}

/* Members are kept as they came, in an order of ours. */
static int write_definition(const struct version_fields *fields,
			    struct buf *text, struct error *err)
{
	struct json_writer w = JSON_WRITER_INIT(text);

	json_write_object(&w, NULL);
	json_write_bytes(&w, "description", fields->description.data,
			 fields->description.length);
	json_write_value(&w, "metadata", fields->metadata);
	json_write_value(&w, "tools", fields->tools);
	if (fields->skills)
		json_write_value(&w, "skills", fields->skills);
	if (fields->policies)
		json_write_value(&w, "policies", fields->policies);
	return definitions_write_end(&w, err);
}

static int read_definition(struct request *req, struct buf *text,
			   struct error *err)
{
	struct version_fields fields = { .tools = NULL };
	struct json_object *object;
	struct toolbox_offer offer;
	int r;

	r = request_json(req, &object, err);
	if (r >= 0)
		r = json_read_fields(object, NULL, version_table,
				     sizeof(version_table) /
					     sizeof(version_table[0]),
				     JSON_UNKNOWN_IGNORED, &fields, err);
	if (r >= 0)
		r = metadata_check(fields.metadata, err);
	if (r >= 0)
		r = toolbox_offer_read(object, &offer, err);
	if (r >= 0)
		r = check_things(req, &offer, err);
	return r < 0 ? r : write_definition(&fields, text, err);
}

static void on_version(void *userdata,
		       const struct definition_version_view *version,
		       const struct error *err)
{
	struct request *req = userdata;

	if (reply_failure(req, err))
		return;
	toolboxes_write_version(reply_writer(req), version);
	reply_ok(req);
}

int toolboxes_versions_create(struct request *req, struct error *err)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(CORE_DEFINITION_MAX);
	struct definition_name name = { DEFINITION_TOOLBOX, NULL,
					req->match.param[0] };
	struct definition_spec spec = { .need = DEFINITION_ANY };
	int r;

	r = definitions_check_call(req, err);
	if (r < 0)
		return r;
	name.project = req->match.project;
	if (!definition_name_is_valid(name.name))
		return definitions_refuse_name(err);
	r = read_definition(req, &text, err);
	spec.text = buf_str(&text);
	if (r >= 0)
		r = core_definition_version_create(req->core, &req->who, &name,
						   &spec, on_version, req,
						   err);
	return r < 0 ? r : ROUTE_PENDING;
}
