/* SPDX-License-Identifier: Apache-2.0 */
/* The OpenAI containers API. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "api/handlers.h"
#include "api/idempotency.h"
#include "api/page.h"
#include "api/reply.h"
#include "api/request.h"
#include "api/view_json.h"
#include "base/json.h"
#include "base/name.h"

enum {
	PAGE_DEFAULT = 20,
	MINUTES_MAX = 20,
};

struct create_fields {
	struct json_string name;
	struct json_object *expires_after;
};

struct expiry_fields {
	struct json_string anchor;
	int64_t minutes;
};

static const char *const anchors[] = { "last_active_at", NULL };

static const struct json_field create_table[] = {
	JSON_STRING_FIELD("name", struct create_fields, name,
			  .required = true, .min = 1, .max = CORE_NAME_MAX),
	JSON_OBJECT_FIELD("expires_after", struct create_fields,
			  expires_after),
};

static const struct json_field expiry_table[] = {
	JSON_STRING_FIELD("anchor", struct expiry_fields, anchor,
			  .required = true, .choices = anchors),
	JSON_INT_FIELD("minutes", struct expiry_fields, minutes,
		       .required = true, .min = 1, .max = MINUTES_MAX),
};

#define READ(object, path, table, ret, err)                                    \
	json_read_fields(object, path, table,                                  \
			 sizeof(table) / sizeof((table)[0]),                   \
			 JSON_UNKNOWN_IGNORED, ret, err)

static int read_name(struct json_string name, struct container_spec *spec,
		     struct error *err)
{
	int r;

	r = name_check_text(name.data, name.length, CORE_NAME_MAX, err);
	if (r < 0) {
		error_set_param(err, "name");
		return error_wrap(err, r, "'name' is not valid");
	}
	spec->name = name.data;
	return 0;
}

/* Everything that @spec points to is borrowed from @options and the request. */
static int read_spec(struct request *req, struct container_options *options,
		     struct container_spec *spec, struct error *err)
{
	struct expiry_fields expiry = { .minutes = 0 };
	struct create_fields fields = { .expires_after = NULL };
	struct json_object *object;
	int r;

	r = request_json(req, &object, err);
	if (r < 0)
		return r;
	r = READ(object, NULL, create_table, &fields, err);
	if (r < 0)
		return r;
	r = read_name(fields.name, spec, err);
	if (r < 0)
		return r;
	r = container_options_read(object, NULL, options, err);
	if (r < 0)
		return r;
	if (fields.expires_after) {
		r = READ(fields.expires_after, "expires_after", expiry_table,
			 &expiry, err);
		if (r < 0)
			return r;
	}
	spec->dialect = req->dialect;
	spec->idle_minutes = (unsigned)expiry.minutes;
	container_options_apply(options, spec);
	return idempotency_read(req, &spec->idempotency, err);
}

static void on_created(void *userdata, const struct container_view *container,
		       const struct error *err)
{
	struct request *req = userdata;

	if (reply_failure(req, err))
		return;
	(void)snprintf(req->container, sizeof(req->container), "%s",
		       container->id);
	view_json_container(reply_writer(req), NULL, container, false);
	reply_ok(req);
}

int openai_containers_create(struct request *req, struct error *err)
{
	struct container_options options;
	struct container_spec spec = { .name = NULL };
	int r;

	r = read_spec(req, &options, &spec, err);
	if (r < 0)
		return r;
	r = core_container_create(req->core, &req->who, &spec, on_created, req,
				  err);
	return r < 0 ? r : ROUTE_PENDING;
}

static void on_each(void *userdata, const struct container_view *container)
{
	struct page_writer *page = userdata;

	view_json_container(&page->req->writer, NULL, container, false);
	page_item(page, container->id);
}

int openai_containers_list(struct request *req, struct error *err)
{
	struct page_writer writer;
	struct core_page page;
	const char *name;
	bool more = false;
	int r;

	r = page_read(req, CORE_PAGE_MAX, PAGE_DEFAULT, &page, err);
	if (r < 0)
		return r;
	r = uri_param(&req->uri, "name", &name, err);
	if (r < 0)
		return r;
	page_begin(&writer, req);
	r = core_container_list(req->core, &req->who, name, &page, on_each,
				&writer, &more, err);
	if (r < 0)
		return r;
	return page_reply(&writer, more, err);
}

int openai_containers_get(struct request *req, struct error *err)
{
	struct container_view container;
	int r;

	r = core_container_get(req->core, &req->who, req->match.param[0], true,
			       &container, err);
	if (r < 0)
		return r;
	view_json_container(reply_writer(req), NULL, &container, false);
	return reply_json(req, MHD_HTTP_OK, err);
}

static void on_deleted(void *userdata, const struct error *err)
{
	reply_deleted(userdata, "container.deleted", err);
}

int openai_containers_delete(struct request *req, struct error *err)
{
	int r;

	r = core_container_delete(req->core, &req->who, req->match.param[0],
				  on_deleted, req, err);
	return r < 0 ? r : ROUTE_PENDING;
}
