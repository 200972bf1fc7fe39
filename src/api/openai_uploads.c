/* SPDX-License-Identifier: Apache-2.0 */
/* The OpenAI uploads API: large files in parts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/handlers.h"
#include "api/openai_purpose.h"
#include "api/reply.h"
#include "api/request.h"
#include "api/view_json.h"
#include "base/hex.h"
#include "base/json.h"

enum { TYPE_MAX = 255 };

struct begin_fields {
	struct json_string filename;
	struct json_string purpose;
	int64_t bytes;
	struct json_string mime_type;
	struct json_object *expires_after;
};

struct expiry_fields {
	struct json_string anchor;
	int64_t seconds;
};

struct complete_fields {
	struct json_object *part_ids;
	struct json_string md5;
};

static const char *const anchors[] = { "created_at", NULL };

/* clang-format off */
static const struct json_field begin_table[] = {
	JSON_STRING_FIELD("filename", struct begin_fields, filename,
			  .required = true, .min = 1),
	JSON_STRING_FIELD("purpose", struct begin_fields, purpose,
			  .required = true, .choices = openai_purposes),
	JSON_INT_FIELD("bytes", struct begin_fields, bytes, .required = true,
		       .min = 0, .max = (int64_t)CORE_PARTS_BYTES_MAX),
	JSON_STRING_FIELD("mime_type", struct begin_fields, mime_type,
			  .required = true, .min = 1, .max = TYPE_MAX),
	JSON_OBJECT_FIELD("expires_after", struct begin_fields, expires_after),
};

static const struct json_field expiry_table[] = {
	JSON_STRING_FIELD("anchor", struct expiry_fields, anchor,
			  .required = true, .choices = anchors),
	JSON_INT_FIELD("seconds", struct expiry_fields, seconds,
		       .required = true, .min = OPENAI_EXPIRES_MIN_SEC,
		       .max = OPENAI_EXPIRES_MAX_SEC),
};

static const struct json_field complete_table[] = {
	JSON_ARRAY_FIELD("part_ids", struct complete_fields, part_ids,
			 .required = true, .max = CORE_PARTS_MAX),
	JSON_STRING_FIELD("md5", struct complete_fields, md5),
};
/* clang-format on */

#define READ(object, path, table, ret, err)                                    \
	json_read_fields(object, path, table,                                  \
			 sizeof(table) / sizeof((table)[0]),                   \
			 JSON_UNKNOWN_IGNORED, ret, err)

static void on_upload(void *userdata, const struct parts_view *upload,
		      const struct error *err)
{
	struct request *req = userdata;

	if (reply_failure(req, err))
		return;
	view_json_upload(reply_writer(req), NULL, upload);
	reply_ok(req);
}

int openai_uploads_create(struct request *req, struct error *err)
{
	struct begin_fields fields = { .bytes = 0 };
	struct expiry_fields expiry = { .seconds = 0 };
	struct file_spec spec = { .filename = NULL };
	struct json_object *object;
	int r;

	r = request_json(req, &object, err);
	if (r >= 0)
		r = READ(object, NULL, begin_table, &fields, err);
	if (r >= 0 && fields.expires_after)
		r = READ(fields.expires_after, "expires_after", expiry_table,
			 &expiry, err);
	if (r < 0)
		return r;
	spec.filename = fields.filename.data;
	spec.purpose = fields.purpose.data;
	spec.expires_after_sec = expiry.seconds;
	r = core_parts_begin(req->core, &req->who, &spec,
			     (uint64_t)fields.bytes, on_upload, req, err);
	return r < 0 ? r : ROUTE_PENDING;
}

static void on_part(void *userdata, const struct part_view *part,
		    const struct error *err)
{
	struct request *req = userdata;
	struct json_writer *w;

	if (reply_failure(req, err))
		return;
	w = reply_writer(req);
	json_write_object(w, NULL);
	json_write_string(w, "id", part->id);
	json_write_string(w, "object", "upload.part");
	json_write_int(w, "created_at", part->created_at);
	json_write_string(w, "upload_id", part->upload_id);
	json_write_close(w);
	reply_ok(req);
}

int openai_uploads_add(struct request *req, struct error *err)
{
	int r;

	if (!req->body.filename) {
		error_set_param(err, "data");
		error_set_reason(err, "missing_required_parameter");
		return error_set(err, ERR_BAD_REQUEST,
				 "There is no part 'data' with a file name");
	}
	r = core_parts_add(req->core, &req->who, req->match.param[0],
			   req->body.upload, on_part, req, err);
	if (r < 0)
		return r;
	req->body.upload = NULL;	/* core's now */
	return ROUTE_PENDING;
}

static int read_md5(struct json_string text, uint8_t *md5,
		    struct parts_choice *choice, struct error *err)
{
	char lower[2 * CORE_MD5_SIZE + 1] = "";
	size_t i;

	if (!text.data)
		return 0;
	if (text.length == sizeof(lower) - 1)
		for (i = 0; i < text.length; i++)
			lower[i] = text.data[i] >= 'A' && text.data[i] <= 'F'
					   ? (char)(text.data[i] - 'A' + 'a')
					   : text.data[i];
	if (hex_decode(lower, md5, CORE_MD5_SIZE) < 0) {
		error_set_param(err, "md5");
		error_set_reason(err, "invalid_value");
		return error_set(err, ERR_BAD_REQUEST,
				 "'md5' must be 32 hexadecimal digits");
	}
	choice->md5 = md5;
	return 0;
}

int openai_uploads_complete(struct request *req, struct error *err)
{
	struct complete_fields fields = { .part_ids = NULL };
	const char *ids[CORE_PARTS_MAX];
	struct parts_choice choice = { .part_ids = ids };
	uint8_t md5[CORE_MD5_SIZE];
	struct json_object *object;
	struct json_string id;
	int r;

	r = request_json(req, &object, err);
	if (r >= 0)
		r = READ(object, NULL, complete_table, &fields, err);
	if (r >= 0)
		r = read_md5(fields.md5, md5, &choice, err);
	if (r < 0)
		return r;
	for (; choice.count < json_array_size(fields.part_ids);
	     choice.count++) {
		r = json_read_string_item(fields.part_ids, "part_ids",
					  choice.count, &id, err);
		if (r < 0)
			return r;
		ids[choice.count] = id.data;
	}
	r = core_parts_complete(req->core, &req->who, req->match.param[0],
				&choice, on_upload, req, err);
	return r < 0 ? r : ROUTE_PENDING;
}

int openai_uploads_cancel(struct request *req, struct error *err)
{
	int r;

	r = core_parts_cancel(req->core, &req->who, req->match.param[0],
			      on_upload, req, err);
	return r < 0 ? r : ROUTE_PENDING;
}
