/* SPDX-License-Identifier: Apache-2.0 */
#include "api/page.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_error.h"
#include "api/reply.h"
#include "api/request.h"

static int read_limit(const char *text, unsigned max, unsigned *ret,
		      struct error *err)
{
	unsigned long value = 0;
	char what[64];
	const char *s;

	for (s = text; *s >= '0' && *s <= '9' && value <= max; s++)
		value = value * 10 + (unsigned long)(*s - '0');
	(void)snprintf(what, sizeof(what), "must be an integer from 1 to %u",
		       max);
	if (s == text || (*s && value <= max))
		return api_refuse(err, "limit", what, "invalid_type");
	if (value == 0)
		return api_refuse(err, "limit", what,
				  "integer_below_min_value");
	if (value > max)
		return api_refuse(err, "limit", what,
				  "integer_above_max_value");
	*ret = (unsigned)value;
	return 0;
}

static int read_order(const char *text, bool *ret_ascending,
		      struct error *err)
{
	*ret_ascending = strcmp(text, "asc") == 0;
	if (*ret_ascending || strcmp(text, "desc") == 0)
		return 0;
	return api_refuse(err, "order", "must be 'asc' or 'desc'",
			  "invalid_value");
}

/* Without the cursor. */
static int read_range(const struct request *req, unsigned limit_max,
		      unsigned limit_default, struct core_page *ret,
		      struct error *err)
{
	const char *limit, *order;

	*ret = (struct core_page){ .limit = limit_default };
	if (uri_param(&req->uri, "limit", &limit, err) < 0 ||
	    uri_param(&req->uri, "order", &order, err) < 0)
		return -EINVAL;
	if (limit && read_limit(limit, limit_max, &ret->limit, err) < 0)
		return -EINVAL;
	return order ? read_order(order, &ret->ascending, err) : 0;
}

static int refuse_cursor(const char *param, struct error *err)
{
	error_clear(err);
	return api_refuse(err, param, "is not the id of a row",
			  "invalid_value");
}

static int read_cursor(struct request *req, const char *param,
		       const char *cursor, page_resolve_fn *resolve,
		       struct core_page *ret, struct error *err)
{
	int r;

	if (resolve) {
		r = resolve(req, cursor, ret->after, err);
		return r == -ENOENT ? refuse_cursor(param, err) : r;
	}
	if (strlen(cursor) > ID_MAX)
		return refuse_cursor(param, err);
	strcpy(ret->after, cursor);
	return 0;
}

int page_read(struct request *req, unsigned limit_max, unsigned limit_default,
	      struct core_page *ret, struct error *err)
{
	const char *after;

	if (read_range(req, limit_max, limit_default, ret, err) < 0 ||
	    uri_param(&req->uri, "after", &after, err) < 0)
		return -EINVAL;
	return after ? read_cursor(req, "after", after, NULL, ret, err) : 0;
}

int page_read_either(struct request *req, unsigned limit_max,
		     unsigned limit_default, page_resolve_fn *resolve,
		     struct core_page *ret, bool *ret_backwards,
		     struct error *err)
{
	const char *after, *before;

	if (read_range(req, limit_max, limit_default, ret, err) < 0 ||
	    uri_param(&req->uri, "after", &after, err) < 0 ||
	    uri_param(&req->uri, "before", &before, err) < 0)
		return -EINVAL;
	*ret_backwards = before != NULL;
	if (before && (after || !*before))
		return api_refuse(
			err, "before",
			"must be the id of a row, and excludes 'after'",
			"invalid_value");
	if (!before)
		return after ? read_cursor(req, "after", after, resolve, ret,
					   err)
			     : 0;
	ret->ascending = !ret->ascending;
	return read_cursor(req, "before", before, resolve, ret, err);
}

void page_begin(struct page_writer *page, struct request *req)
{
	struct json_writer *w = reply_writer(req);

	*page = (struct page_writer){ .req = req };
	json_write_object(w, NULL);
	json_write_string(w, "object", "list");
	json_write_array(w, "data");
}

void page_item(struct page_writer *page, const char *id)
{
	if (!page->first[0])
		(void)snprintf(page->first, sizeof(page->first), "%s", id);
	(void)snprintf(page->last, sizeof(page->last), "%s", id);
}

void page_on_item(void *page, const char *id)
{
	page_item(page, id);
}

void page_end(struct page_writer *page, bool more)
{
	struct json_writer *w = &page->req->writer;
	bool any = page->first[0];

	json_write_close(w);
	json_write_string(w, "first_id", any ? page->first : NULL);
	json_write_string(w, "last_id", any ? page->last : NULL);
	json_write_bool(w, "has_more", more);
	json_write_close(w);
}

int page_reply(struct page_writer *page, bool more, struct error *err)
{
	page_end(page, more);
	return reply_json(page->req, MHD_HTTP_OK, err);
}
