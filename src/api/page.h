/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_PAGE_H
#define API_PAGE_H

/*
 * Lists: which page is asked for, and the object that it comes in.
 */

#include <stdbool.h>

#include "base/error.h"
#include "base/id.h"
#include "core/core.h"

struct request;

/**
 * page_read() - Read limit, order and after from the query
 * @limit_max:	Largest limit
 * @limit_default: What counts without one
 *
 * Return: 0, or ERR_BAD_REQUEST that names the parameter
 */
int page_read(struct request *req, unsigned limit_max, unsigned limit_default,
	      struct core_page *ret, struct error *err);

/**
 * page_resolve_fn - Find the row that a cursor of a client's means
 *
 * Return: 0 with the row's id; -ENOENT
 */
typedef int page_resolve_fn(struct request *req, const char *cursor,
			    char ret_id[ID_SIZE], struct error *err);

/**
 * page_read_either() - The same with "before", as Foundry's lists have it
 * @resolve:	NULL: cursors are rows' ids
 * @ret_backwards: The rows before that one are wanted: @ret asks for them in
 *		the opposite order, and they are to be turned round
 */
int page_read_either(struct request *req, unsigned limit_max,
		     unsigned limit_default, page_resolve_fn *resolve,
		     struct core_page *ret, bool *ret_backwards,
		     struct error *err);

/* What names a row in a list: an id, or a name and a version. */
enum { PAGE_ID_SIZE = 96 };

/** struct page_writer - A list being written; private */
struct page_writer {
	struct request *req;
	char first[PAGE_ID_SIZE];
	char last[PAGE_ID_SIZE];
};

/** page_begin() - Begin the answer; each item is then written to its writer */
void page_begin(struct page_writer *page, struct request *req);

/** page_item() - To be called for each item that is written */
void page_item(struct page_writer *page, const char *id);

/** page_on_item() - The same as a callback, with the page_writer */
void page_on_item(void *page, const char *id);

/** page_end() - End the list, to be sent by the caller */
void page_end(struct page_writer *page, bool more);

/** page_reply() - End it and answer with it */
int page_reply(struct page_writer *page, bool more, struct error *err);

#endif
