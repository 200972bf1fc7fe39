/* SPDX-License-Identifier: Apache-2.0 */
#include "api/body.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/api_private.h"
#include "api/header.h"
#include "api/http_conn.h"
#include "api/request.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/name.h"
#include "base/settings.h"

/* ------------------------------------------------------------ parts of a form */

static int begin_file(struct request *req, const struct multipart_part *part,
		      struct error *err)
{
	struct body *body = &req->body;
	const char *base;
	size_t size;
	int r;

	if (body->filename) {
		error_set_param(err, "%s", part->name);
		return error_set(err, ERR_BAD_REQUEST,
				 "There is more than one part '%s'",
				 part->name);
	}
	base = name_base(part->filename, strlen(part->filename), &size);
	r = name_check_file(base, size, err);
	if (r < 0) {
		error_set_param(err, "%s", part->name);
		return error_wrap(err, r, "The file name is not valid");
	}
	body->filename = strndup(base, size);
	if (!body->filename)
		return error_set_errno(err, -ENOMEM, "Cannot take the file");
	body->part = PART_FILE;
	return 0;
}

static int begin_field(struct body *body, const struct multipart_part *part,
		       struct error *err)
{
	struct body_field *field = &body->field[body->fields];

	if (body->fields == BODY_FIELDS_MAX)
		return error_set(err, ERR_BAD_REQUEST,
				 "The form has more than %d fields",
				 BODY_FIELDS_MAX);
	field->name = strdup(part->name);
	if (!field->name)
		return error_set_errno(err, -ENOMEM, "Cannot take the form");
	body->fields++;
	body->part = PART_FIELD;
	return 0;
}

static int on_part_begin(void *userdata, const struct multipart_part *part,
			 struct error *err)
{
	struct request *req = userdata;

	if (!utf8_is_valid(part->name, strlen(part->name)))
		return error_set(err, ERR_BAD_REQUEST,
				 "A field's name is not UTF-8");
	if (!part->filename)
		return begin_field(&req->body, part, err);
	if (strcmp(part->name, req->match.route->file_field) == 0)
		return begin_file(req, part, err);
	error_set_param(err, "%s", part->name);
	return error_set(err, ERR_BAD_REQUEST,
			 "Part '%s' is a file, which is not expected there",
			 part->name);
}

static uint64_t file_max(const struct request *req)
{
	uint64_t max = req->match.route->file_max;

	return max > 0 ? max : UINT64_MAX;
}

static int file_too_large(const struct request *req, struct error *err)
{
	error_set_param(err, "%s", req->match.route->file_field);
	return error_set(err, ERR_TOO_LARGE,
			 "The file is larger than the %llu bytes that are "
			 "allowed",
			 (unsigned long long)req->match.route->file_max);
}

static int on_part_data(void *userdata, const void *data, size_t size,
			struct error *err)
{
	struct request *req = userdata;
	struct body *body = &req->body;
	int r;

	if (body->part == PART_FILE) {
		if (body->file_bytes + size > file_max(req))
			return file_too_large(req, err);
		r = core_upload_write(body->upload, data, size, err);
		if (r == 0)
			body->file_bytes += size;
		return r;
	}
	r = buf_add(&body->value, data, size);
	if (r == -EMSGSIZE) {
		error_set_param(err, "%s", body->field[body->fields - 1].name);
		return error_set(err, ERR_BAD_REQUEST,
				 "A field is longer than %d bytes",
				 BODY_FIELD_BYTES_MAX);
	}
	return r < 0 ? error_set_errno(err, r, "Cannot take the form") : 0;
}

static int on_part_end(void *userdata, struct error *err)
{
	struct request *req = userdata;
	struct body *body = &req->body;
	struct body_field *field;

	if (body->part == PART_FILE)
		return 0;
	field = &body->field[body->fields - 1];
	if (!utf8_is_valid(body->value.data, body->value.length) ||
	    memchr(buf_str(&body->value), '\0', body->value.length)) {
		error_set_param(err, "%s", field->name);
		return error_set(err, ERR_BAD_REQUEST,
				 "A field is not UTF-8 text");
	}
	field->value = strdup(buf_str(&body->value));
	buf_clear(&body->value);
	if (!field->value)
		return error_set_errno(err, -ENOMEM, "Cannot take the form");
	return 0;
}

static const struct multipart_sink form_sink = {
	.begin = on_part_begin,
	.data = on_part_data,
	.end = on_part_end,
};

/* -------------------------------------------------------------------- a body */

static void on_room(void *userdata)
{
	struct request *req = userdata;

	http_conn_resume(req->conn);
}

/* What the file has at least, if a length was announced for the whole form. */
static uint64_t file_declared(const struct http_head *head)
{
	if (head->chunked)
		return UINT64_MAX;
	return head->content_length > BODY_FORM_OVERHEAD
		       ? head->content_length - BODY_FORM_OVERHEAD
		       : 0;
}

static int begin_form(struct request *req, struct error *err)
{
	const struct route_match *match = &req->match;
	const char *container = match->route->container ? match->param[0]
							: NULL;
	struct body *body = &req->body;
	int r;

	if (!req->head.chunked && file_declared(&req->head) > file_max(req))
		return file_too_large(req, err);
	r = multipart_new(req->head.value[FIELD_CONTENT_TYPE], &form_sink, req,
			  &body->form, err);
	if (r < 0)
		return r;
	body->is_form = true;
	body->value = BUF_INIT(BODY_FIELD_BYTES_MAX);
	return core_upload_new(req->core, &req->who, container,
			       file_declared(&req->head), on_room, req,
			       &body->upload, err);
}

static size_t json_max(const struct request *req)
{
	const struct route *route = req->match.route;

	if (route->json_large)
		return req->api->json_large;
	return route->json_max ? route->json_max : LIMIT_JSON_BODY;
}

static int too_large(const struct request *req, struct error *err)
{
	return error_set(err, ERR_TOO_LARGE,
			 "The body is larger than %zu bytes", json_max(req));
}

static int begin_json(struct request *req, struct error *err)
{
	const char *type = req->head.value[FIELD_CONTENT_TYPE];
	const struct route *route = req->match.route;

	if (!header_is_type(type, "application/json") &&
	    !(route->json_patch &&
	      header_is_type(type, "application/merge-patch+json")))
		return error_set(err, ERR_MEDIA_TYPE,
				 route->body == BODY_JSON
					 ? "The body must be application/json"
					 : "The body must be application/json "
					   "or multipart/form-data");
	if (req->head.content_length > json_max(req))
		return too_large(req, err);
	req->body.json = BUF_INIT(json_max(req));
	return 0;
}

static bool is_plain(const char *encoding)
{
	return !encoding || strcasecmp(encoding, "identity") == 0;
}

int body_begin(struct request *req, struct error *err)
{
	enum body_kind kind = req->match.route->body;
	bool form = header_is_type(req->head.value[FIELD_CONTENT_TYPE],
				   "multipart/form-data");

	/* An empty body means all defaults, whatever its type. */
	if (kind == BODY_NONE || !http_head_has_body(&req->head))
		return 0;
	if (!is_plain(req->head.value[FIELD_CONTENT_ENCODING]))
		return error_set(err, ERR_MEDIA_TYPE,
				 "The body must not have a Content-Encoding: "
				 "nothing here unpacks it");
	if (form && (kind == BODY_FORM || kind == BODY_JSON_OR_FORM))
		return begin_form(req, err);
	if (kind == BODY_FORM)
		return error_set(err, ERR_MEDIA_TYPE,
				 "The body must be multipart/form-data");
	return begin_json(req, err);
}

static int feed_form(struct request *req, const char *data, size_t size,
		     size_t *ret_used, struct error *err)
{
	struct body *body = &req->body;
	int r;

	r = multipart_feed(body->form, data, size, ret_used, err);
	body->form_bytes += *ret_used;
	if (r == 0 && body->form_bytes - body->file_bytes > BODY_FORM_OVERHEAD)
		return error_set(err, ERR_TOO_LARGE,
				 "The form is larger than %d bytes, its file "
				 "not counted", BODY_FORM_OVERHEAD);
	return r;
}

/* Those that came with a key are in a list, which is some hundreds long. */
static uint64_t charged_to_tenant(const struct request *req)
{
	const struct request *other;
	uint64_t sum = 0;

	TAILQ_FOREACH(other, &req->api->admitted, in_api)
		if (strcmp(other->who.tenant, req->who.tenant) == 0)
			sum += other->body.charged;
	return sum;
}

static int charge(struct request *req, uint64_t size, struct error *err)
{
	struct body *body = &req->body;
	uint64_t *taken = &req->api->json_bytes;
	uint64_t max = settings_bytes(req->api->config.settings, "listen",
				      "json_memory");

	if (*taken + size > max || charged_to_tenant(req) + size > max / 2)
		return error_set(err, ERR_CAPACITY,
				 "Large requests under way take all of the "
				 "memory there is for them");
	*taken += size;
	body->charged_to = taken;
	body->charged += size;
	return 0;
}

int body_feed(struct request *req, const char *data, size_t size,
	      size_t *ret_used, struct error *err)
{
	struct body *body = &req->body;
	int r;

	if (body->form)
		return feed_form(req, data, size, ret_used, err);
	*ret_used = size;
	if (req->match.route->body == BODY_NONE)
		return req->received + size > json_max(req)
			       ? too_large(req, err)
			       : 0;
	if (body->json.length + size > BODY_JSON_FREE) {
		r = charge(req, size, err);
		if (r < 0)
			return r;
	}
	r = buf_add(&body->json, data, size);
	if (r == -EMSGSIZE)
		return too_large(req, err);
	return r < 0 ? error_set_errno(err, r, "Cannot take the body") : 0;
}

int body_charge_values(struct request *req, size_t values, struct error *err)
{
	uint64_t size = (uint64_t)values * JSON_VALUE_BYTES;

	return size > BODY_JSON_FREE ? charge(req, size, err) : 0;
}

int body_end(struct request *req, struct error *err)
{
	if (!req->body.form)
		return 0;
	return multipart_finish(req->body.form, err);
}

const char *body_field(const struct body *body, const char *name)
{
	size_t i;

	for (i = 0; i < body->fields; i++)
		if (strcmp(body->field[i].name, name) == 0)
			return body->field[i].value;
	return NULL;
}

void body_done(struct body *body)
{
	size_t i;

	for (i = 0; i < body->fields; i++) {
		free(body->field[i].name);
		free(body->field[i].value);
	}
	free(body->filename);
	if (body->charged_to)
		*body->charged_to -= body->charged;
	core_upload_free(body->upload);
	multipart_free(body->form);
	buf_done(&body->value);
	buf_done(&body->json);
	*body = (struct body){ .is_form = false };
}
