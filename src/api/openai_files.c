/* SPDX-License-Identifier: Apache-2.0 */
/* The OpenAI files API: uploaded, durable objects. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/handlers.h"
#include "api/openai_purpose.h"
#include "api/reply.h"
#include "api/request.h"
#include "api/view_json.h"
#include "base/cleanup.h"

const char *const openai_purposes[] = {
	"assistants", "batch", "fine-tune", "vision", "user_data", "evals",
	NULL,
};

static int read_purpose(const struct body *body, const char **ret,
			struct error *err)
{
	const char *purpose = body_field(body, "purpose");
	size_t i;

	if (!purpose)
		return error_refuse(err, "purpose",
				    "missing_required_parameter",
				    "There is no 'purpose'");
	for (i = 0; openai_purposes[i]; i++) {
		if (strcmp(openai_purposes[i], purpose) != 0)
			continue;
		*ret = openai_purposes[i];
		return 0;
	}
	return error_refuse(
		err, "purpose", "invalid_value",
		"'purpose' must be one of assistants, batch, fine-tune, "
		"vision, user_data and evals");
}

static int read_expiry(const struct body *body, int64_t *ret,
		       struct error *err)
{
	const char *anchor = body_field(body, "expires_after[anchor]");
	const char *text = body_field(body, "expires_after[seconds]");
	unsigned long long seconds;
	char *end;

	if (!anchor && !text)
		return 0;
	if (!anchor || strcmp(anchor, "created_at") != 0)
		return error_refuse(
			err, "expires_after.anchor", "invalid_value",
			"'expires_after.anchor' must be 'created_at'");
	if (!text)
		return error_refuse(err, "expires_after.seconds",
				    "missing_required_parameter",
				    "There is no 'expires_after.seconds'");
	errno = 0;
	seconds = strtoull(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || errno ||
	    seconds < OPENAI_EXPIRES_MIN_SEC ||
	    seconds > OPENAI_EXPIRES_MAX_SEC)
		return error_refuse(
			err, "expires_after.seconds", "invalid_value",
			"'expires_after.seconds' must be an integer from "
			"3600 to 2592000");
	*ret = (int64_t)seconds;
	return 0;
}

static void on_created(void *userdata, const struct file_view *file,
		       const struct error *err)
{
	struct request *req = userdata;

	if (reply_failure(req, err))
		return;
	view_json_file(reply_writer(req), NULL, file);
	reply_ok(req);
}

int openai_files_create(struct request *req, struct error *err)
{
	struct body *body = &req->body;
	struct file_spec spec = { .filename = body->filename };
	int r;

	if (!body->filename)
		return error_refuse(err, "file", "missing_required_parameter",
				    "There is no part 'file' with a file name");
	r = read_purpose(body, &spec.purpose, err);
	if (r < 0)
		return r;
	r = read_expiry(body, &spec.expires_after_sec, err);
	if (r < 0)
		return r;
	r = core_file_create(req->core, &req->who, &spec, body->upload,
			     on_created, req, err);
	if (r < 0)
		return r;
	body->upload = NULL;	/* core's now */
	return ROUTE_PENDING;
}

int openai_files_get(struct request *req, struct error *err)
{
	struct file_view file;
	int r;

	r = core_file_get(req->core, &req->who, req->match.param[0], &file,
			  err);
	if (r < 0)
		return r;
	view_json_file(reply_writer(req), NULL, &file);
	return reply_json(req, MHD_HTTP_OK, err);
}

int openai_files_content(struct request *req, struct error *err)
{
	_cleanup_close_ int fd = -1;
	struct file_view file;
	int r;

	r = core_file_open(req->core, &req->who, req->match.param[0], &file,
			   &fd, err);
	if (r < 0)
		return r;
	r = reply_file(req, fd, file.bytes, file.filename, file.sha256, err);
	if (r < 0)
		return r;
	(void)take_fd(fd);
	return ROUTE_ANSWERED;
}

static void on_deleted(void *userdata, const struct error *err)
{
	reply_deleted(userdata, "file", err);
}

int openai_files_delete(struct request *req, struct error *err)
{
	int r;

	r = core_file_delete(req->core, &req->who, req->match.param[0],
			     on_deleted, req, err);
	return r < 0 ? r : ROUTE_PENDING;
}
