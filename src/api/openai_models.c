/* SPDX-License-Identifier: Apache-2.0 */
/* The models that can be asked: none, since no upstream model is configured. */
#include "api/handlers.h"
#include "api/page.h"
#include "api/request.h"

int openai_models_list(struct request *req, struct error *err)
{
	struct page_writer writer;

	page_begin(&writer, req);
	return page_reply(&writer, false, err);
}
