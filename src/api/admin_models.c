/* SPDX-License-Identifier: Apache-2.0 */
/* The models as the operator sees them, and whether they work. */
#include "api/api_error.h"
#include "api/api_private.h"
#include "api/handlers.h"
#include "api/reply.h"
#include "api/request.h"
#include "base/json.h"
#include "turn/turn.h"

struct test_fields {
	struct json_string model;
};

static const struct json_field test_table[] = {
	JSON_STRING_FIELD("model", struct test_fields, model, .required = true,
			  .min = 1),
};

static const char *const step_names[UPSTREAM_PROBE_COUNT] = {
	[UPSTREAM_PROBE_TEXT] = "text",
	[UPSTREAM_PROBE_CALL] = "call",
};

static void write_model(void *userdata, const struct upstream_model *model)
{
	struct json_writer *w = userdata;

	json_write_object(w, NULL);
	json_write_string(w, "id", model->name);
	json_write_string(w, "url", model->url);
	json_write_string(w, "protocol", model->protocol);
	json_write_string(w, "upstream_name", model->upstream_name);
	json_write_bool(w, "has_key", model->has_key);
	json_write_uint(w, "under_way", model->under_way);
	json_write_close(w);
}

int admin_models_list(struct request *req, struct error *err)
{
	struct json_writer *w = reply_writer(req);

	json_write_object(w, NULL);
	json_write_array(w, "models");
	upstream_each_model(turns_upstream(req->api->config.turns), write_model,
			    w);
	json_write_close(w);
	json_write_close(w);
	return reply_json(req, MHD_HTTP_OK, err);
}

static void write_round(struct json_writer *w, const char *name,
			const struct upstream_probe_round *round)
{
	json_write_object(w, name);
	json_write_bool(w, "ok", round->good);
	json_write_string(w, "error", error_is_set(&round->error)
					      ? round->error.message
					      : NULL);
	json_write_uint(w, "first_piece_ms",
			round->first_usec / USEC_PER_MSEC);
	json_write_uint(w, "whole_ms", round->whole_usec / USEC_PER_MSEC);
	json_write_uint(w, "input_tokens", round->usage.input_tokens);
	json_write_uint(w, "output_tokens", round->usage.output_tokens);
	json_write_close(w);
}

static void on_tested(void *userdata, const struct upstream_probe *probe)
{
	struct request *req = userdata;
	struct json_writer *w = reply_writer(req);
	struct error err = ERROR_INIT;
	bool good = true;
	int i;

	json_write_object(w, NULL);
	json_write_string(w, "model", probe->model.name);
	for (i = 0; i < UPSTREAM_PROBE_COUNT; i++) {
		write_round(w, step_names[i], &probe->rounds[i]);
		good = good && probe->rounds[i].good;
	}
	json_write_bool(w, "ok", good);
	json_write_close(w);
	request_finish(req, reply_json(req, MHD_HTTP_OK, &err), &err);
}

int admin_models_test(struct request *req, struct error *err)
{
	struct test_fields fields = { .model = { NULL, 0 } };
	struct json_object *object;
	int r = request_json(req, &object, err);

	if (r >= 0)
		r = json_read_fields(object, NULL, test_table, 1,
				     JSON_UNKNOWN_REFUSED, &fields, err);
	if (r >= 0)
		r = upstream_probe(turns_upstream(req->api->config.turns),
				   fields.model.data, on_tested, req, err);
	return r < 0 ? r : ROUTE_PENDING;
}
