/* SPDX-License-Identifier: Apache-2.0 */
#include "core/handle.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/hex.h"
#include "core/container.h"

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
