/* SPDX-License-Identifier: Apache-2.0 */
#include "core/handle.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/hex.h"
#include "core/container.h"

enum {
	/* Rows of a name that are looked at for one that was this handle's. */
	LAST_LOOK = 16,
};

/** struct handle_parts - What makes a handle; characters only, so no padding */
struct handle_parts {
	char tenant[STORE_TENANT_SIZE];
	char key_id[ID_SIZE];
	char dialect;
	char pool[STORE_NAME_SIZE];
	char name[STORE_NAME_SIZE];
};

bool handle_is_used_by(enum core_dialect dialect)
{
	return dialect == DIALECT_SESSIONS || dialect == DIALECT_MCP;
}

/*
 * Clients choose names, so the map's keys are digests: nobody can make them
 * collide.
 */
static int handle_write(const struct handle_parts *parts,
			char ret[CONTAINER_HANDLE_SIZE])
{
	uint8_t digest[HASH_SIZE];
	int r;

	r = hash_sha256(parts, sizeof(*parts), digest);
	if (r < 0)
		return r;
	hex_encode(digest, sizeof(digest), ret);
	return 0;
}

struct container *handle_find(struct core *core, const struct principal *who,
			      enum core_dialect dialect, const char *pool,
			      const char *name)
{
	struct handle_parts parts = { .dialect = (char)dialect };
	char handle[CONTAINER_HANDLE_SIZE];

	strcpy(parts.tenant, who->tenant);
	strcpy(parts.key_id, who->key_id);
	(void)snprintf(parts.pool, sizeof(parts.pool), "%s", pool);
	(void)snprintf(parts.name, sizeof(parts.name), "%s", name);
	if (handle_write(&parts, handle) < 0)
		return NULL;
	return map_get(&core->handles, handle);
}

/**
 * struct last - The newest container that a handle stood for, being looked for
 * @found:	It has been; the fields behind it are its
 * @deleted:	It, or a newer one: there is nothing to tell
 */
struct last {
	struct core *core;
	const struct principal *who;
	enum core_dialect dialect;
	const char *pool;
	bool found;
	bool deleted;
	char id[ID_SIZE];
	enum end_reason reason;
	usec_t ended_usec;
};

static bool is_of_handle(const struct last *last,
			 const struct store_container *row)
{
	return strcmp(row->key_id, last->who->key_id) == 0 &&
	       strcmp(row->pool, last->pool) == 0 &&
	       dialect_parse(row->dialect) == last->dialect;
}

/* While its end is not durable only its object knows of it. */
static void on_row(void *userdata, const struct store_container *row)
{
	struct last *last = userdata;
	const struct container *c = map_get(&last->core->containers, row->id);

	if (last->found || !is_of_handle(last, row))
		return;
	last->deleted = c && c->erased;
	if (c && !c->erased && !session_state_expired(c->state))
		return;
	last->found = true;
	strcpy(last->id, row->id);
	last->reason = c ? c->reason : end_reason_parse(row->ended_reason);
	last->ended_usec = c ? c->ended_usec : row->ended_usec;
}

static void on_deleted_row(void *userdata, const struct store_container *row)
{
	struct last *last = userdata;

	if (is_of_handle(last, row))
		last->deleted = true;
}

/* Return: whether there is one, and nothing newer was deleted */
static bool find_last(struct last *last, const char *name)
{
	struct store *store = last->core->store;
	const char *tenant = last->who->tenant;
	struct store_page page = { .limit = LAST_LOOK };
	bool more;

	if (store_container_list(store, tenant, name, &page, on_row, last,
				 &more) < 0 ||
	    !last->found || last->deleted)
		return false;
	page.after = last->id;
	page.ascending = true;
	return store_container_list_deleted(store, tenant, name, &page,
					    on_deleted_row, last) >= 0 &&
	       !last->deleted;
}

/* Whoever wants no error has no use for the reason either. */
int handle_tell_ended(struct core *core, const struct principal *who,
		      enum core_dialect dialect, const char *pool,
		      const char *name, struct error *err)
{
	struct last last = { .core = core, .who = who, .dialect = dialect,
			     .pool = pool };

	if (err && find_last(&last, name))
		return end_reason_tell_named(last.id, name, last.reason,
					     last.ended_usec, err);
	return error_set(err, ERR_NOT_FOUND, "There is no session '%s' now",
			 name);
}

int handle_take(struct container *c)
{
	struct handle_parts parts = { .dialect = (char)c->dialect };
	int r;

	if (!handle_is_used_by(c->dialect))
		return 0;
	strcpy(parts.tenant, c->tenant->id);
	strcpy(parts.key_id, c->key_id);
	(void)snprintf(parts.pool, sizeof(parts.pool), "%s", c->pool->name);
	strcpy(parts.name, c->name);
	r = handle_write(&parts, c->handle);
	if (r < 0)
		return r;
	return map_put(&c->core->handles, &c->by_handle, c->handle, c);
}

void handle_drop(struct container *c)
{
	if (c->handle[0])
		map_remove(&c->core->handles, &c->by_handle);
	c->handle[0] = '\0';
}
