/* SPDX-License-Identifier: Apache-2.0 */
/* The operator's calls, on the Unix socket only. */
#include <errno.h>
#include <string.h>

#include "api/handlers.h"
#include "api/page.h"
#include "api/reply.h"
#include "api/request.h"
#include "api/view_json.h"
#include "base/json.h"

/* ------------------------------------------------------------------- sessions */

static void on_session(void *userdata, const struct container_view *container)
{
	struct page_writer *page = userdata;

	view_json_container(&page->req->writer, NULL, container, true);
	page_item(page, container->id);
}

int admin_sessions_list(struct request *req, struct error *err)
{
	struct page_writer writer;
	bool all = false;
	int r;

	r = uri_param_bool(&req->uri, "all", &all, err);
	if (r < 0)
		return r;
	page_begin(&writer, req);
	r = core_admin_containers(req->core, all, on_session, &writer, err);
	if (r < 0)
		return r;
	return page_reply(&writer, false, err);
}

int admin_sessions_inspect(struct request *req, struct error *err)
{
	int r;

	r = core_admin_inspect(req->core, req->match.param[0], &req->out, err);
	return r < 0 ? r : reply_written(req, MHD_HTTP_OK, err);
}

static void on_killed(void *userdata, const struct error *err)
{
	reply_deleted(userdata, "session", err);
}

int admin_sessions_kill(struct request *req, struct error *err)
{
	int r;

	r = core_admin_kill(req->core, req->match.param[0], on_killed, req,
			    err);
	return r < 0 ? r : ROUTE_PENDING;
}

static void on_nmi(void *userdata, const struct error *err)
{
	struct request *req = userdata;
	struct error failure = ERROR_INIT;

	if (error_is_set(err))
		request_failed(req, err);
	else
		request_finish(req,
			       reply_empty(req, MHD_HTTP_ACCEPTED, &failure),
			       &failure);
}

int admin_sessions_nmi(struct request *req, struct error *err)
{
	int r;

	r = core_admin_nmi(req->core, req->match.param[0], on_nmi, req, err);
	return r < 0 ? r : ROUTE_PENDING;
}

/* ------------------------------------------------------------------- the whole */

static int reply_told(struct request *req,
		      int (*tell)(struct core *core, struct buf *ret_json,
				  struct error *err),
		      struct error *err)
{
	int r = tell(req->core, &req->out, err);

	return r < 0 ? r : reply_written(req, MHD_HTTP_OK, err);
}

int admin_status(struct request *req, struct error *err)
{
	return reply_told(req, core_admin_status, err);
}

int admin_pools(struct request *req, struct error *err)
{
	return reply_told(req, core_admin_pools, err);
}

struct pool_fields {
	int64_t ready;
};

/* Absent or null: what the settings say */
static const struct json_field pool_table[] = {
	JSON_INT_FIELD("ready", struct pool_fields, ready,
		       .max = CORE_POOL_READY_MAX),
};

int admin_pools_set(struct request *req, struct error *err)
{
	struct pool_fields fields = { .ready = -1 };
	struct json_object *object;
	int r;

	r = request_json(req, &object, err);
	if (r >= 0)
		r = json_read_fields(object, NULL, pool_table, 1,
				     JSON_UNKNOWN_REFUSED, &fields, err);
	if (r >= 0)
		r = core_admin_pool_set(req->core, req->match.param[0],
					fields.ready < 0 ?
						POOL_READY_SETTING :
						(uint64_t)fields.ready,
					&req->out, err);
	return r < 0 ? r : reply_written(req, MHD_HTTP_OK, err);
}

int admin_images(struct request *req, struct error *err)
{
	return reply_told(req, core_admin_images, err);
}

int admin_doctor(struct request *req, struct error *err)
{
	return reply_told(req, core_admin_doctor, err);
}

void admin_on_json(void *userdata, const char *json, size_t size,
		    const struct error *err)
{
	struct request *req = userdata;
	struct error failure = ERROR_INIT;
	int r;

	if (reply_failure(req, err))
		return;
	r = buf_add(&req->out, json, size);
	r = r < 0 ? error_set_errno(&failure, r, "Cannot answer")
		  : reply_written(req, MHD_HTTP_OK, &failure);
	request_finish(req, r, &failure);
}

int admin_sessions_console(struct request *req, struct error *err)
{
	int r;

	r = core_admin_console(req->core, req->match.param[0], admin_on_json,
			       req, err);
	return r < 0 ? r : ROUTE_PENDING;
}

int admin_top(struct request *req, struct error *err)
{
	int r;

	r = core_admin_top(req->core, admin_on_json, req, err);
	return r < 0 ? r : ROUTE_PENDING;
}

int admin_audit(struct request *req, struct error *err)
{
	int r;

	r = core_admin_audit(req->core, admin_on_json, req, err);
	return r < 0 ? r : ROUTE_PENDING;
}

int admin_mend(struct request *req, struct error *err)
{
	int r;

	r = core_admin_mend(req->core, admin_on_json, req, err);
	return r < 0 ? r : ROUTE_PENDING;
}

struct probe_fields {
	struct json_string pool;
	struct json_string accelerator;
};

static const struct json_field probe_table[] = {
	JSON_STRING_FIELD("pool", struct probe_fields, pool),
	JSON_STRING_FIELD("accelerator", struct probe_fields, accelerator,
			  .required = true),
};

int admin_probe(struct request *req, struct error *err)
{
	struct probe_fields fields = { .pool = { NULL, 0 } };
	struct json_object *object;
	int r;

	r = request_json(req, &object, err);
	if (r >= 0)
		r = json_read_fields(object, NULL, probe_table, 2,
				     JSON_UNKNOWN_REFUSED, &fields, err);
	if (r >= 0)
		r = core_admin_probe(req->core, fields.pool.data,
				     fields.accelerator.data, admin_on_json,
				     req, err);
	return r < 0 ? r : ROUTE_PENDING;
}

/* ----------------------------------------------------------------- the clock */

struct clock_fields {
	double advance_s;
};

static const struct json_field clock_table[] = {
	JSON_NUMBER_FIELD("advance_s", struct clock_fields, advance_s,
			  .required = true, .above_min = true,
			  .max = 366 * 86400),
};

int admin_clock(struct request *req, struct error *err)
{
	struct clock_fields fields = { .advance_s = 0 };
	struct json_writer *w = reply_writer(req);
	struct json_object *object;
	int r;

	r = request_json(req, &object, err);
	if (r < 0)
		return r;
	r = json_read_fields(object, NULL, clock_table, 1,
			     JSON_UNKNOWN_REFUSED, &fields, err);
	if (r < 0)
		return r;
	r = core_admin_advance_clock(
		req->core, (usec_t)(fields.advance_s * (double)USEC_PER_SEC),
		err);
	if (r < 0)
		return r;
	json_write_object(w, NULL);
	json_write_double(w, "advanced_s", fields.advance_s);
	json_write_close(w);
	return reply_json(req, MHD_HTTP_OK, err);
}
