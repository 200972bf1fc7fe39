/* SPDX-License-Identifier: Apache-2.0 */
/* The models that can be asked. */
#include "api/api_private.h"
#include "api/handlers.h"
#include "api/page.h"
#include "api/reply.h"
#include "api/request.h"
#include "turn/turn.h"

static const struct upstream *models_of(const struct request *req)
{
	return turns_upstream(req->api->config.turns);
}

static void write_model(struct json_writer *w,
			const struct upstream_model *model)
{
	json_write_object(w, NULL);
	json_write_string(w, "id", model->name);
	json_write_string(w, "object", "model");
	json_write_int(w, "created", model->created_at);
	json_write_string(w, "owned_by", model->owner);
	json_write_close(w);
}

static void add_model(void *userdata, const struct upstream_model *model)
{
	struct page_writer *page = userdata;

	write_model(&page->req->writer, model);
	page_item(page, model->name);
}

/* All of them at once: there are as many as sections in the settings. */
int openai_models_list(struct request *req, struct error *err)
{
	struct page_writer page;

	page_begin(&page, req);
	upstream_each_model(models_of(req), add_model, &page);
	return page_reply(&page, false, err);
}

int openai_models_get(struct request *req, struct error *err)
{
	struct upstream_model model;
	int r = upstream_model_find(models_of(req), req->match.param[0],
				    &model, err);

	if (r < 0)
		return r;
	write_model(reply_writer(req), &model);
	return reply_json(req, MHD_HTTP_OK, err);
}
