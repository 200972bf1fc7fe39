/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_PAGE_ITEMS_H
#define API_PAGE_ITEMS_H

/*
 * A page whose items are written before it is known in which order they come:
 * what is asked for with "before" is read backwards.
 */

#include <stdbool.h>

#include "api/page.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/json_write.h"

struct request;

/**
 * struct page_items - A page of a list
 * @text:	The items, one behind the other
 * @failure:	The first one of writing them, a negative errno
 */
struct page_items {
	struct {
		size_t at;
		char id[PAGE_ID_SIZE];
	} item[CORE_PAGE_MAX];
	size_t count;
	struct buf text;
	int failure;
};

/** page_items_new() - Return: NULL without memory */
struct page_items *page_items_new(void);
void page_items_freep(struct page_items **items);

/** page_items_begin() - Begin an item; at most CORE_PAGE_MAX times */
struct json_writer page_items_begin(struct page_items *items, const char *id);
void page_items_end(struct page_items *items, struct json_writer *w);

/** page_items_reply() - Answer with them, or with what went wrong */
int page_items_reply(struct request *req, const struct page_items *items,
		     bool backwards, bool more, struct error *err);

#endif
