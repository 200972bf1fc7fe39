/* SPDX-License-Identifier: Apache-2.0 */
#include "api/page_items.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/request.h"

struct page_items *page_items_new(void)
{
	struct page_items *items = calloc(1, sizeof(*items));

	if (items)
		items->text = BUF_INIT(REQUEST_REPLY_MAX);
	return items;
}

void page_items_freep(struct page_items **items)
{
	if (*items)
		buf_done(&(*items)->text);
	free(*items);
}

struct json_writer page_items_begin(struct page_items *items, const char *id)
{
	assert(items->count < CORE_PAGE_MAX);
	(void)snprintf(items->item[items->count].id, PAGE_ID_SIZE, "%s", id);
	items->item[items->count++].at = items->text.length;
	return JSON_WRITER_INIT(&items->text);
}

void page_items_end(struct page_items *items, struct json_writer *w)
{
	int r = json_write_end(w);

	if (items->failure == 0)
		items->failure = r;
}

int page_items_reply(struct request *req, const struct page_items *items,
		     bool backwards, bool more, struct error *err)
{
	struct page_writer page;
	size_t i;

	if (items->failure < 0)
		return error_set_errno(err, items->failure,
				       "Cannot write a list");
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
