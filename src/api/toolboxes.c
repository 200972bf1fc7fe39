/* SPDX-License-Identifier: Apache-2.0 */
/* Foundry's toolboxes; what they do is in mcp*.c. */
#include "api/toolboxes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_error.h"
#include "api/definitions.h"
#include "api/handlers.h"
#include "api/page_items.h"
#include "api/reply.h"
#include "api/request.h"
#include "api/toolbox_offer.h"
#include "base/cleanup.h"

/* ------------------------------------------------------------ which one it is */

static int read_name(struct request *req, struct definition_name *ret,
		     struct error *err)
{
	return definitions_read_name(req, DEFINITION_TOOLBOX, ret, err);
}

int toolboxes_find_version(struct request *req,
			   struct definition_version_view *ret, struct error *err)
{
	struct definition_name name;
	uint64_t version = 0;
	int r;

	r = read_name(req, &name, err);
	if (r >= 0 && req->match.param[1])
		r = definitions_read_version(req->match.param[1], &name,
					     &version, err);
	if (r < 0)
		return r;
	return core_definition_version_get(req->core, &req->who, &name, version,
					ret, err);
}

/* ------------------------------------------------------------- how it is shown */

static void write_toolbox(struct json_writer *w,
			  const struct definition_view *toolbox)
{
	json_write_object(w, NULL);
	json_write_string(w, "id", toolbox->id);
	json_write_string(w, "name", toolbox->name);
	definitions_write_version(w, "default_version", toolbox->default_version);
	json_write_int(w, "created_at", toolbox->created_at);
	json_write_int(w, "updated_at", toolbox->updated_at);
	json_write_close(w);
}

static int on_member(const char *key, struct json_object *value,
		     void *userdata)
{
	json_write_value(userdata, key, value);
	return 0;
}

void toolboxes_write_version(struct json_writer *w,
			     const struct definition_version_view *version)
{
	_cleanup_(json_freep) struct json_object *definition = NULL;

	(void)json_parse(version->text, strlen(version->text),
			 &definition, NULL);
	json_write_object(w, NULL);
	json_write_string(w, "id", version->id);
	json_write_string(w, "name", version->name);
	definitions_write_version(w, "version", version->version);
	json_write_int(w, "created_at", version->created_at);
	(void)json_each_member(definition, on_member, w);
	json_write_close(w);
}

/* --------------------------------------------------------------------------- lists */

static void on_toolbox_item(void *userdata,
			    const struct definition_view *toolbox)
{
	struct page_items *items = userdata;
	struct json_writer w = page_items_begin(items, toolbox->id);

	write_toolbox(&w, toolbox);
	page_items_end(items, &w);
}

static void on_version_item(void *userdata,
			    const struct definition_version_view *version)
{
	struct page_items *items = userdata;
	struct json_writer w = page_items_begin(items, version->id);

	toolboxes_write_version(&w, version);
	page_items_end(items, &w);
}

static int list(struct request *req, const struct definition_name *name,
		bool versions, struct error *err)
{
	_cleanup_(page_items_freep) struct page_items *items = page_items_new();
	bool backwards, more = false;
	struct core_page page;
	int r;

	if (!items)
		return error_set_errno(err, -ENOMEM, "Cannot list toolboxes");
	r = page_read_either(req, CORE_PAGE_MAX, DEFINITIONS_PAGE_DEFAULT, NULL,
			     &page, &backwards, err);
	if (r < 0)
		return r;
	if (versions)
		r = core_definition_version_list(req->core, &req->who, name,
						 false, &page, on_version_item,
						 items, &more, err);
	else
		r = core_definition_list(req->core, &req->who, name, &page,
					 on_toolbox_item, items, &more, err);
	return r < 0 ? r : page_items_reply(req, items, backwards, more, err);
}

int toolboxes_list(struct request *req, struct error *err)
{
	const struct definition_name all = { DEFINITION_TOOLBOX,
					     req->match.project, NULL };
	int r = definitions_check_call(req, err);

	return r < 0 ? r : list(req, &all, false, err);
}

int toolboxes_versions_list(struct request *req, struct error *err)
{
	struct definition_name name;
	int r;

	r = read_name(req, &name, err);
	return r < 0 ? r : list(req, &name, true, err);
}

/* ----------------------------------------------------------- looking and changing */

int toolboxes_get(struct request *req, struct error *err)
{
	struct definition_view toolbox;
	struct definition_name name;
	int r;

	r = read_name(req, &name, err);
	if (r >= 0)
		r = core_definition_get(req->core, &req->who, &name, &toolbox,
				     err);
	if (r < 0)
		return r;
	write_toolbox(reply_writer(req), &toolbox);
	return reply_json(req, MHD_HTTP_OK, err);
}

int toolboxes_versions_get(struct request *req, struct error *err)
{
	struct definition_version_view version;
	int r;

	r = toolboxes_find_version(req, &version, err);
	if (r < 0)
		return r;
	toolboxes_write_version(reply_writer(req), &version);
	return reply_json(req, MHD_HTTP_OK, err);
}

static void on_toolbox(void *userdata, const struct definition_view *toolbox,
		       const struct error *err)
{
	struct request *req = userdata;

	if (reply_failure(req, err))
		return;
	write_toolbox(reply_writer(req), toolbox);
	reply_ok(req);
}

struct update_fields {
	struct json_string version;
};

static const struct json_field update_table[] = {
	JSON_STRING_FIELD("default_version", struct update_fields, version,
			  .required = true, .min = 1, .max = 64),
};

int toolboxes_update(struct request *req, struct error *err)
{
	struct update_fields fields = { .version = { NULL, 0 } };
	struct json_object *object;
	struct definition_name name;
	uint64_t version;
	int r;

	r = read_name(req, &name, err);
	if (r >= 0)
		r = request_json(req, &object, err);
	if (r >= 0)
		r = json_read_fields(object, NULL, update_table, 1,
				     JSON_UNKNOWN_IGNORED, &fields, err);
	if (r >= 0)
		r = definitions_read_version(fields.version.data, &name,
					     &version, err);
	if (r >= 0)
		r = core_definition_promote(req->core, &req->who, &name, version,
					 on_toolbox, req, err);
	return r < 0 ? r : ROUTE_PENDING;
}

int toolboxes_delete(struct request *req, struct error *err)
{
	struct definition_name name;
	int r;

	r = read_name(req, &name, err);
	if (r >= 0)
		r = core_definition_delete(req->core, &req->who, &name,
					reply_gone, req, err);
	return r < 0 ? r : ROUTE_PENDING;
}

int toolboxes_versions_delete(struct request *req, struct error *err)
{
	struct definition_name name;
	uint64_t version;
	int r;

	r = read_name(req, &name, err);
	if (r >= 0)
		r = definitions_read_version(req->match.param[1], &name,
					     &version, err);
	if (r >= 0)
		r = core_definition_version_delete(req->core, &req->who, &name,
						version, reply_gone, req, err);
	return r < 0 ? r : ROUTE_PENDING;
}
