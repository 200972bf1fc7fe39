/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "core/cfile.h"
#include "core/container.h"
#include "core/vm.h"

/*
 * Whose a thing is, for the audit log: an operator names it by its id alone, and
 * who looks for what was done to a tenant knows only the tenant. What is not
 * found is nobody's; that it cannot be read is told by the call that follows.
 */

static void told(char ret_tenant[CORE_TENANT_MAX + 1], const char *tenant)
{
	(void)snprintf(ret_tenant, CORE_TENANT_MAX + 1, "%s", tenant);
}

static void find_key(struct core *core, const char *id, char *ret_tenant)
{
	struct store_key row;

	if (store_key_get(core->store, id, &row) >= 0)
		told(ret_tenant, row.tenant);
}

/* The row of one that was just made is still on its way to the disk. */
static void find_container(struct core *core, const char *id, char *ret_tenant)
{
	const struct container *c = map_get(&core->containers, id);
	struct store_container *row = &core->row_container;

	if (c)
		told(ret_tenant, c->tenant->id);
	else if (store_container_get(core->store, NULL, id, row) >= 0)
		told(ret_tenant, row->tenant);
}

/* One that waits in a pool, or has ended, has no tenant. */
static void find_vm(struct core *core, const char *id, char *ret_tenant)
{
	const struct vm *vm = map_get(&core->vms, id);

	if (vm && vm->container)
		told(ret_tenant, vm->container->tenant->id);
}

static void find_artifact(struct core *core, const char *id, char *ret_tenant)
{
	struct store_cfile *row = &core->row_cfile;

	if (store_cfile_get(core->store, NULL, NULL, id, row) >= 0)
		told(ret_tenant, row->tenant);
}

static const struct {
	enum id_kind kind;
	void (*find)(struct core *core, const char *id, char *ret_tenant);
} kinds[] = {
	{ ID_KEY, find_key },
	{ ID_CONTAINER, find_container },
	{ ID_VM, find_vm },
	{ ID_CONTAINER_FILE, find_artifact },
};

void core_admin_owner(struct core *core, const char *id,
		      char ret_tenant[CORE_TENANT_MAX + 1])
{
	size_t i;

	told(ret_tenant, "");
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (id_is(kinds[i].kind, id))
			kinds[i].find(core, id, ret_tenant);
}
