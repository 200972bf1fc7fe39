/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/cleanup.h"
#include "store/db.h"
#include "store/list.h"

/*
 * What each list ranges over: ?1 is the tenant or container's tenant, ?2 the
 * filter or container. An index serves each in the order of seq, which
 * test_store_list checks.
 */
static const struct {
	enum row_kind kind;
	const char *scope;
} lists[] = {
	[LIST_KEYS_OF_ALL] = { ROW_KEY, "true" },
	[LIST_KEYS] = { ROW_KEY, "tenant = ?1" },
	[LIST_FILES] = { ROW_FILE, "tenant = ?1" },
	[LIST_FILES_BY_PURPOSE] = { ROW_FILE, "tenant = ?1 AND purpose = ?2" },
	[LIST_CONTAINERS_OF_ALL] = { ROW_CONTAINER, "true" },
	[LIST_CONTAINERS_OF_ALL_BY_NAME] = { ROW_CONTAINER, "name = ?2" },
	[LIST_CONTAINERS] = { ROW_CONTAINER, "tenant = ?1 AND deleted = 0" },
	[LIST_CONTAINERS_BY_NAME] = { ROW_CONTAINER, "tenant = ?1 AND name = ?2"
						     " AND deleted = 0" },
	[LIST_CONTAINERS_DELETED_BY_NAME] = { ROW_CONTAINER,
					      "tenant = ?1 AND name = ?2"
					      " AND deleted = 1" },
	[LIST_CFILES] = { ROW_CFILE, "container_id = ?2 AND tenant = ?1"
				     " AND superseded = 0" },
	[LIST_CFILES_OF_ALL] = { ROW_CFILE, "true" },
	[LIST_EXECUTIONS] = { ROW_EXECUTION,
			      "container_id = ?2 AND tenant = ?1" },
	[LIST_LIVE_CONTAINERS] = { ROW_CONTAINER, "ended_usec = 0" },
	[LIST_OPEN_EXECUTIONS] = { ROW_EXECUTION, "ended_usec = 0" },
	[LIST_VMS] = { ROW_VM, "true" },
	[LIST_TENANTS] = { ROW_TENANT, "true" },
	[LIST_DEFINITIONS] = { ROW_DEFINITION, "tenant = ?1 AND kind = ?5"
					       " AND project = ?2" },
	[LIST_DEFINITION_VERSIONS] = { ROW_DEFINITION_VERSION,
				       "tenant = ?1 AND definition_id = ?2"
				       " AND draft = 0" },
	[LIST_DEFINITION_VERSIONS_DRAFTS_TOO] = { ROW_DEFINITION_VERSION,
						  "tenant = ?1"
						  " AND definition_id = ?2" },
	[LIST_CONVERSATION_ITEMS] = { ROW_CONVERSATION_ITEM,
				      "tenant = ?1 AND owner = ?2" },
	[LIST_RESPONSE_INPUTS] = { ROW_RESPONSE_ITEM,
				   "tenant = ?1 AND owner = ?2"
				   " AND output = 0" },
	[LIST_RESPONSE_OUTPUTS] = { ROW_RESPONSE_ITEM,
				    "tenant = ?1 AND owner = ?2"
				    " AND output = 1" },
	[LIST_CONVERSATION_CONTAINERS] = { ROW_CONVERSATION_CONTAINER,
					   "tenant = ?1"
					   " AND conversation_id = ?2" },
	[LIST_OPEN_RESPONSES] = { ROW_RESPONSE, "open = 1" },
};
static_assert(sizeof(lists) / sizeof(lists[0]) == LIST_COUNT,
	      "lists[] doesn't match enum store_list");

static int prepare_list(struct store *store, enum store_list list,
			bool ascending)
{
	_cleanup_(buf_done) struct buf sql = BUF_INIT(ROW_SQL_MAX);
	_cleanup_(buf_done) struct buf where = BUF_INIT(ROW_SQL_MAX);
	int r;

	r = buf_printf(&where, "%s AND seq %s ?3 ORDER BY seq %s LIMIT ?4",
		       lists[list].scope, ascending ? ">" : "<",
		       ascending ? "ASC" : "DESC");
	if (r >= 0)
		r = row_type_add_select(row_type_get(lists[list].kind),
					buf_str(&where), &sql);
	if (r < 0)
		return r;
	return db_prepare(store->db, buf_str(&sql),
			  &store->lists[list][ascending]);
}

/*
 * The cursor is looked up without the filter of superseded and deleted rows:
 * what the caller has seen may have changed since. Other lists have no such
 * filter.
 */
static int prepare_cursor(struct store *store, enum store_list list)
{
	static const char *const scopes[ROW_KIND_COUNT] = {
		[ROW_KEY] = "(?1 IS NULL OR tenant = ?1)",
		[ROW_FILE] = "tenant = ?1",
		[ROW_CONTAINER] = "(?1 IS NULL OR tenant = ?1)",
		[ROW_CFILE] = "(?1 IS NULL OR (tenant = ?1"
			      " AND container_id = ?2))",
		[ROW_EXECUTION] = "tenant = ?1 AND container_id = ?2",
		[ROW_VM] = "true",
		[ROW_TENANT] = "true",
		[ROW_DEFINITION] = "tenant = ?1 AND kind = ?5"
				   " AND project = ?2",
		[ROW_DEFINITION_VERSION] = "tenant = ?1 AND definition_id = ?2",
	};
	_cleanup_(buf_done) struct buf sql = BUF_INIT(ROW_SQL_MAX);
	enum row_kind kind = lists[list].kind;
	int r;

	r = buf_printf(&sql, "SELECT seq FROM %s WHERE id = ?3 AND %s",
		       row_type_get(kind)->table,
		       scopes[kind] ? scopes[kind] : lists[list].scope);
	return r < 0 ? r :
		       db_prepare(store->db, buf_str(&sql),
				  &store->cursors[list]);
}

int store_list_prepare(struct store *store)
{
	size_t i;
	int r = 0;

	for (i = 0; r >= 0 && i < LIST_COUNT; i++) {
		r = prepare_list(store, i, false);
		if (r >= 0)
			r = prepare_list(store, i, true);
		if (r >= 0)
			r = prepare_cursor(store, i);
	}
	return r;
}

/* Parameters that a statement has no place for are left out. */
static int bind_scope(sqlite3_stmt *statement, const struct list_query *q)
{
	int count = sqlite3_bind_parameter_count(statement);
	int r = 0;

	if (count >= 1)
		r = db_bind_text(statement, 1, q->tenant);
	if (r >= 0 && count >= 2)
		r = db_bind_text(statement, 2, q->filter);
	if (r >= 0 && count >= 5)
		r = db_bind_text(statement, 5, q->kind);
	return r;
}

static int find_cursor(struct store *store, const struct list_query *q,
		       const struct store_page *page, int64_t *ret_seq)
{
	sqlite3_stmt *statement = store->cursors[q->list];
	int r;

	if (!page->after || page->after[0] == '\0') {
		*ret_seq = page->ascending ? 0 : INT64_MAX;
		return 0;
	}
	r = bind_scope(statement, q);
	if (r >= 0)
		r = db_bind_text(statement, 3, page->after);
	if (r < 0)
		return r;
	r = db_step(statement);
	if (r > 0)
		*ret_seq = sqlite3_column_int64(statement, 0);
	db_reset(statement);
	if (r < 0)
		return r;
	return r > 0 ? 0 : -ENOENT;
}

static void call_each(const struct each *each, enum row_kind kind,
		      const union any_row *row)
{
	switch (kind) {
	case ROW_KEY:
		each->key(each->userdata, &row->key);
		break;
	case ROW_FILE:
		each->file(each->userdata, &row->file);
		break;
	case ROW_CONTAINER:
		each->container(each->userdata, &row->container);
		break;
	case ROW_CFILE:
		each->cfile(each->userdata, &row->cfile);
		break;
	case ROW_EXECUTION:
		each->execution(each->userdata, &row->execution);
		break;
	case ROW_VM:
		each->vm(each->userdata, &row->vm);
		break;
	case ROW_TENANT:
		each->tenant(each->userdata, &row->tenant);
		break;
	case ROW_DEFINITION:
		each->definition(each->userdata, &row->definition);
		break;
	case ROW_DEFINITION_VERSION:
		each->definition_version(each->userdata, &row->definition_version);
		break;
	case ROW_CONVERSATION_ITEM:
	case ROW_RESPONSE_ITEM:
		each->item(each->userdata, &row->item);
		break;
	case ROW_CONVERSATION_CONTAINER:
		each->conversation_container(each->userdata,
					     &row->conversation_container);
		break;
	case ROW_RESPONSE:
		each->response(each->userdata, &row->response);
		break;
	default:
		assert(!"a row that is never listed");
	}
}

/* Asks for one row more than the page has, to see whether there is one. */
static int step_list(sqlite3_stmt *statement, enum row_kind kind,
		     uint64_t limit, const struct each *each, bool *ret_more)
{
	union any_row row;
	uint64_t count = 0;
	int r;

	while ((r = db_step(statement)) > 0 && count < limit) {
		row_type_read(row_type_get(kind), statement, &row);
		call_each(each, kind, &row);
		count++;
	}
	if (r >= 0 && ret_more)
		*ret_more = r > 0;
	return r < 0 ? r : 0;
}

static int list_rows(struct store *store, const struct list_query *q,
		     const struct store_page *page, uint64_t limit,
		     const struct each *each, bool *ret_more)
{
	sqlite3_stmt *statement = store->lists[q->list][page->ascending];
	int64_t seq;
	int r;

	r = find_cursor(store, q, page, &seq);
	if (r >= 0)
		r = bind_scope(statement, q);
	if (r < 0)
		return r;
	if (sqlite3_bind_int64(statement, 3, seq) != SQLITE_OK ||
	    sqlite3_bind_int64(statement, 4, (int64_t)limit + 1) != SQLITE_OK)
		return -ENOMEM;
	r = step_list(statement, lists[q->list].kind, limit, each, ret_more);
	db_reset(statement);
	return r;
}

int list_page(struct store *store, const struct list_query *q,
	      const struct store_page *page, const struct each *each,
	      bool *ret_more)
{
	uint64_t limit = page->limit;

	if (limit > STORE_PAGE_MAX)
		limit = STORE_PAGE_MAX;
	return list_rows(store, q, page, limit, each, ret_more);
}

/* All of it, oldest first. */
int list_all(struct store *store, const struct list_query *q,
	     const struct each *each)
{
	const struct store_page page = { .ascending = true };

	return list_rows(store, q, &page, INT32_MAX, each, NULL);
}

int store_key_list(struct store *store, const char *tenant,
		   const struct store_page *page, store_key_fn *each,
		   void *userdata, bool *ret_more)
{
	const struct list_query q = {
		.list = tenant ? LIST_KEYS : LIST_KEYS_OF_ALL,
		.tenant = tenant,
	};
	const struct each call = { .key = each, .userdata = userdata };

	return list_page(store, &q, page, &call, ret_more);
}

int store_file_list(struct store *store, const char *tenant,
		    const char *purpose, const struct store_page *page,
		    store_file_fn *each, void *userdata, bool *ret_more)
{
	const struct list_query q = {
		.list = purpose ? LIST_FILES_BY_PURPOSE : LIST_FILES,
		.tenant = tenant,
		.filter = purpose,
	};
	const struct each call = { .file = each, .userdata = userdata };

	return list_page(store, &q, page, &call, ret_more);
}

static enum store_list container_list(bool of_all, bool by_name)
{
	if (of_all)
		return by_name ? LIST_CONTAINERS_OF_ALL_BY_NAME :
				 LIST_CONTAINERS_OF_ALL;
	return by_name ? LIST_CONTAINERS_BY_NAME : LIST_CONTAINERS;
}

int store_container_list(struct store *store, const char *tenant,
			 const char *name, const struct store_page *page,
			 store_container_fn *each, void *userdata,
			 bool *ret_more)
{
	const struct list_query q = {
		.list = container_list(!tenant, name),
		.tenant = tenant,
		.filter = name,
	};
	const struct each call = { .container = each, .userdata = userdata };

	return list_page(store, &q, page, &call, ret_more);
}

int store_container_list_deleted(struct store *store, const char *tenant,
				 const char *name,
				 const struct store_page *page,
				 store_container_fn *each, void *userdata)
{
	const struct list_query q = {
		.list = LIST_CONTAINERS_DELETED_BY_NAME,
		.tenant = tenant,
		.filter = name,
	};
	const struct each call = { .container = each, .userdata = userdata };

	return list_page(store, &q, page, &call, NULL);
}

int store_cfile_list(struct store *store, const char *tenant,
		     const char *container_id, const struct store_page *page,
		     store_cfile_fn *each, void *userdata, bool *ret_more)
{
	const struct list_query q = {
		.list = tenant ? LIST_CFILES : LIST_CFILES_OF_ALL,
		.tenant = tenant,
		.filter = container_id,
	};
	const struct each call = { .cfile = each, .userdata = userdata };

	return list_page(store, &q, page, &call, ret_more);
}

int store_execution_list(struct store *store, const char *tenant,
			 const char *container_id,
			 const struct store_page *page,
			 store_execution_fn *each, void *userdata,
			 bool *ret_more)
{
	const struct list_query q = {
		.list = LIST_EXECUTIONS,
		.tenant = tenant,
		.filter = container_id,
	};
	const struct each call = { .execution = each, .userdata = userdata };

	return list_page(store, &q, page, &call, ret_more);
}

int store_definition_list(struct store *store, const char *tenant,
			  const char *kind, const char *project,
			  const struct store_page *page,
			  store_definition_fn *each, void *userdata,
			  bool *ret_more)
{
	const struct list_query q = {
		.list = LIST_DEFINITIONS,
		.tenant = tenant,
		.filter = project,
		.kind = kind,
	};
	const struct each call = { .definition = each, .userdata = userdata };

	return list_page(store, &q, page, &call, ret_more);
}

int store_definition_version_list(struct store *store, const char *tenant,
				  const char *definition_id, bool drafts,
				  const struct store_page *page,
				  store_definition_version_fn *each,
				  void *userdata, bool *ret_more)
{
	const struct list_query q = {
		.list = drafts ? LIST_DEFINITION_VERSIONS_DRAFTS_TOO
			       : LIST_DEFINITION_VERSIONS,
		.tenant = tenant,
		.filter = definition_id,
	};
	const struct each call = { .definition_version = each,
				   .userdata = userdata };

	return list_page(store, &q, page, &call, ret_more);
}

int store_container_each_live(struct store *store, store_container_fn *each,
			      void *userdata)
{
	const struct each call = { .container = each, .userdata = userdata };

	return list_all(store, &(struct list_query){ .list = LIST_LIVE_CONTAINERS },
			&call);
}

int store_execution_each_open(struct store *store, store_execution_fn *each,
			      void *userdata)
{
	const struct each call = { .execution = each, .userdata = userdata };

	return list_all(store, &(struct list_query){ .list = LIST_OPEN_EXECUTIONS },
			&call);
}

int store_vm_each(struct store *store, store_vm_fn *each, void *userdata)
{
	const struct each call = { .vm = each, .userdata = userdata };

	return list_all(store, &(struct list_query){ .list = LIST_VMS },
			&call);
}

int store_tenant_each(struct store *store, store_tenant_fn *each,
		      void *userdata)
{
	const struct each call = { .tenant = each, .userdata = userdata };

	return list_all(store, &(struct list_query){ .list = LIST_TENANTS },
			&call);
}
