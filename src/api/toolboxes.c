/* SPDX-License-Identifier: Apache-2.0 */
/* Foundry's toolboxes; what they do is in mcp*.c. */
#include "api/toolboxes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_error.h"
#include "api/handlers.h"
#include "api/mcp.h"
#include "api/page.h"
#include "api/reply.h"
#include "api/request.h"
#include "api/toolbox_offer.h"
#include "base/cleanup.h"

enum {
	PAGE_DEFAULT = 20,
	VERSION_DIGITS_MAX = 18,
};

/* ------------------------------------------------------------ which one it is */

static const char alphanumeric[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "abcdefghijklmnopqrstuvwxyz0123456789";

static bool project_is_valid(const char *project)
{
	size_t size = strlen(project);
	const char *s;

	for (s = project; *s; s++)
		if (!strchr(alphanumeric, *s) && *s != '_' && *s != '-')
			return false;
	return size > 0 && size <= CORE_PROJECT_MAX;
}

bool toolboxes_name_is_valid(const char *name)
{
	size_t size = strlen(name);
	const char *s;

	for (s = name; *s; s++)
		if (!strchr(alphanumeric, *s) && *s != '-')
			return false;
	return size > 0 && size <= CORE_DEFINITION_NAME_MAX && name[0] != '-' &&
	       name[size - 1] != '-';
}

int toolboxes_check_call(struct request *req, struct error *err)
{
	const char *version;
	int r;

	r = uri_param(&req->uri, "api-version", &version, err);
	if (r < 0)
		return r;
	if (!version || !*version)
		return api_refuse(
			err, "api-version",
			"is missing from the query: any will do, as in "
			"'?api-version=v1'",
			NULL);
	if (project_is_valid(req->match.project))
		return 0;
	return error_set(err, ERR_NOT_FOUND, "There is no such project");
}

/* What cannot be a name is nobody's. */
static int read_name(struct request *req, struct definition_name *ret,
		     struct error *err)
{
	int r;

	r = toolboxes_check_call(req, err);
	if (r < 0)
		return r;
	*ret = (struct definition_name){ DEFINITION_TOOLBOX,
					 req->match.project,
					 req->match.param[0] };
	if (toolboxes_name_is_valid(ret->name))
		return 0;
	return error_set(err, ERR_NOT_FOUND, "Toolbox '%.100s' not found",
			 ret->name);
}

/* Numbers count from 1 and are written in one way. */
static int read_version(const char *text, const struct definition_name *name,
			uint64_t *ret, struct error *err)
{
	size_t size = strspn(text, "0123456789");

	if (size > 0 && size <= VERSION_DIGITS_MAX && !text[size] &&
	    text[0] != '0') {
		*ret = strtoull(text, NULL, 10);
		return 0;
	}
	return error_set(err, ERR_NOT_FOUND,
			 "Toolbox '%s' has no version '%.100s'", name->name,
			 text);
}

int toolboxes_find_version(struct request *req,
			   struct definition_version_view *ret, struct error *err)
{
	struct definition_name name;
	uint64_t version = 0;
	int r;

	r = read_name(req, &name, err);
	if (r >= 0 && req->match.param[1])
		r = read_version(req->match.param[1], &name, &version, err);
	if (r < 0)
		return r;
	return core_definition_version_get(req->core, &req->who, &name, version,
					ret, err);
}

/* ------------------------------------------------------------- how it is shown */

static void write_number(struct json_writer *w, const char *key, uint64_t n)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%llu", (unsigned long long)n);
	json_write_string(w, key, text);
}

static void write_toolbox(struct json_writer *w,
			  const struct definition_view *toolbox)
{
	json_write_object(w, NULL);
	json_write_string(w, "id", toolbox->id);
	json_write_string(w, "name", toolbox->name);
	write_number(w, "default_version", toolbox->default_version);
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
	write_number(w, "version", version->version);
	json_write_int(w, "created_at", version->created_at);
	(void)json_each_member(definition, on_member, w);
	json_write_close(w);
}

/* --------------------------------------------------------------------------- lists */

/**
 * struct items - A page of a list, which may have been read backwards
 * @text:	The items, one behind the other
 */
struct items {
	struct {
		size_t at;
		char id[ID_SIZE];
	} item[CORE_PAGE_MAX];
	size_t count;
	struct buf text;
};

static struct json_writer begin_item(struct items *items, const char *id)
{
	strcpy(items->item[items->count].id, id);
	items->item[items->count++].at = items->text.length;
	return JSON_WRITER_INIT(&items->text);
}

static void on_toolbox_item(void *userdata, const struct definition_view *toolbox)
{
	struct json_writer w = begin_item(userdata, toolbox->id);

	write_toolbox(&w, toolbox);
}

static void on_version_item(void *userdata,
			    const struct definition_version_view *version)
{
	struct json_writer w = begin_item(userdata, version->id);

	toolboxes_write_version(&w, version);
}

static int reply_items(struct request *req, const struct items *items,
		       bool backwards, bool more, struct error *err)
{
	struct page_writer page;
	size_t i;

	page_begin(&page, req);
	for (i = 0; i < items->count; i++) {
		size_t k = backwards ? items->count - 1 - i : i;
		size_t end = k + 1 < items->count ? items->item[k + 1].at
						  : items->text.length;

		json_write_raw(&req->writer, NULL,
			       buf_str(&items->text) + items->item[k].at,
			       end - items->item[k].at);
		page_item(&page, items->item[k].id);
	}
	return page_reply(&page, more, err);
}

static void items_freep(struct items **items)
{
	if (*items)
		buf_done(&(*items)->text);
	free(*items);
}

static int list(struct request *req, const struct definition_name *name,
		bool versions, struct error *err)
{
	_cleanup_(items_freep) struct items *items = calloc(1, sizeof(*items));
	bool backwards, more = false;
	struct core_page page;
	int r;

	if (!items)
		return error_set_errno(err, -ENOMEM, "Cannot list toolboxes");
	items->text = BUF_INIT(REQUEST_REPLY_MAX);
	r = page_read_either(req, CORE_PAGE_MAX, PAGE_DEFAULT, &page,
			     &backwards, err);
	if (r < 0)
		return r;
	if (versions)
		r = core_definition_version_list(req->core, &req->who, name,
						 false, &page, on_version_item,
						 items, &more, err);
	else
		r = core_definition_list(req->core, &req->who, name, &page,
					 on_toolbox_item, items, &more, err);
	return r < 0 ? r : reply_items(req, items, backwards, more, err);
}

int toolboxes_list(struct request *req, struct error *err)
{
	const struct definition_name all = { DEFINITION_TOOLBOX,
					     req->match.project, NULL };
	int r = toolboxes_check_call(req, err);

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
	struct error failure = ERROR_INIT;

	if (error_is_set(err)) {
		request_failed(req, err);
		return;
	}
	write_toolbox(reply_writer(req), toolbox);
	request_finish(req, reply_json(req, MHD_HTTP_OK, &failure), &failure);
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
		r = read_version(fields.version.data, &name, &version, err);
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
		r = read_version(req->match.param[1], &name, &version, err);
	if (r >= 0)
		r = core_definition_version_delete(req->core, &req->who, &name,
						version, reply_gone, req, err);
	return r < 0 ? r : ROUTE_PENDING;
}
