/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUPOLA_STORE_LIST_H
#define CUPOLA_STORE_LIST_H

/* How lists are read, for those that have a file of their own. */

#include "store/impl.h"
#include "store/store_talk.h"

/* A caller's callback, of the type that fits the kind of row. */
struct each {
	union {
		store_key_fn *key;
		store_file_fn *file;
		store_container_fn *container;
		store_cfile_fn *cfile;
		store_execution_fn *execution;
		store_vm_fn *vm;
		store_tenant_fn *tenant;
		store_definition_fn *definition;
		store_definition_version_fn *definition_version;
		store_item_fn *item;
		store_response_fn *response;
		store_conversation_container_fn *conversation_container;
	};
	void *userdata;
};

union any_row {
	struct store_key key;
	struct store_file file;
	struct store_container container;
	struct store_cfile cfile;
	struct store_execution execution;
	struct store_vm vm;
	struct store_tenant tenant;
	struct store_definition definition;
	struct store_definition_version definition_version;
	struct store_item item;
	struct store_response response;
	struct store_conversation_container conversation_container;
};

/** struct list_query - Which list, with ?1 and ?2 of its scope */
struct list_query {
	enum store_list list;
	const char *tenant;
	const char *filter;
	const char *kind; /* ?5 */
};

/** list_page() - A page of it */
int list_page(struct store *store, const struct list_query *q,
	      const struct store_page *page, const struct each *each,
	      bool *ret_more);

/** list_all() - All of it, oldest first */
int list_all(struct store *store, const struct list_query *q,
	     const struct each *each);

#endif
