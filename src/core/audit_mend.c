/* SPDX-License-Identifier: Apache-2.0 */
#include "core/audit.h"

#include <assert.h>
#include <string.h>

#include "base/json_write.h"
#include "core/container.h"
#include "core/load.h"
#include "core/reconcile.h"
#include "core/vm.h"

/*
 * The host is right, and the books follow it: a VM that nobody answers for ends,
 * a line about nothing goes. Nothing is made up for a session that lost its VM;
 * it ends, and says so. What two VMs claim at a time is left to a person, since
 * one of the two sessions may be whole.
 */

/* Each returns what it did, or NULL. */

static const char *end_vm(struct core *core, const char *id,
			  struct store_batch *batch)
{
	struct vm *vm = map_get(&core->vms, id);

	(void)batch;
	if (!vm)
		return NULL;
	vm_fail(vm, END_VM_CRASHED, NULL);
	return "it is being ended, and its session with it";
}

static const char *end_stray(struct core *core, const char *id,
			     struct store_batch *batch)
{
	(void)batch;
	return reconcile_end_stray(core, id) < 0 ? NULL : "it is being ended";
}

static const char *end_absent(struct core *core, const char *id,
			      struct store_batch *batch)
{
	struct vm *vm = map_get(&core->vms, id);

	(void)batch;
	if (!vm)
		return NULL;
	reconcile_end_absent(vm);
	return "it counts as gone, and its session has ended";
}

static const char *remove_line(struct core *core, const char *id,
			       struct store_batch *batch)
{
	(void)core;
	(void)store_batch_delete_vm(batch, id);
	return "the line is removed";
}

static const char *end_row(struct core *core, const char *id,
			   struct store_batch *batch)
{
	struct store_container *row = &core->row_container;

	(void)batch;
	if (store_container_get(core->store, NULL, id, row) < 0 ||
	    core_load_lost(core, row) < 0)
		return NULL;
	return "its session has ended";
}

static const char *end_container(struct core *core, const char *id,
				 struct store_batch *batch)
{
	struct container *c = map_get(&core->containers, id);

	(void)batch;
	if (!c)
		return NULL;
	container_end(c, END_VM_CRASHED);
	return "its session has ended";
}

static const struct {
	const char *kind;
	const char *what;
	const char *(*mend)(struct core *core, const char *id,
			    struct store_batch *batch);
} troubles[] = {
	[TROUBLE_PARTS_LEFT]	= { "parts", "it is gone, and parts of it are "
					     "still there", NULL },
	[TROUBLE_PARTS_MISSING]	= { "parts", "it runs, and parts of it are "
					     "missing", end_vm },
	[TROUBLE_STRAY]		= { "vm", "it runs, and the ledger does not "
					  "have it", end_stray },
	[TROUBLE_ABSENT]	= { "vm", "the ledger has it, and it does not "
					  "run", end_absent },
	[TROUBLE_CID]		= { "cid", "another VM has its CID", NULL },
	[TROUBLE_LINE]		= { "ledger", "its line is left, and the VM is "
					      "not", remove_line },
	[TROUBLE_ROW]		= { "container", "its row says that it lives, "
						 "and nobody has it", end_row },
	[TROUBLE_NO_VM]		= { "container", "it lives, and has no VM",
				    end_container },
};
static_assert(sizeof(troubles) / sizeof(troubles[0]) == TROUBLE_COUNT,
	      "troubles[] doesn't match enum trouble");

void audit_mend(struct core *core, struct difference *d,
		struct store_batch *batch)
{
	if (troubles[d->trouble].mend)
		d->mended = troubles[d->trouble].mend(core, d->id, batch);
	log_warning(NULL, 0, "Audit: %s '%s': %s; %s",
		    troubles[d->trouble].kind, d->id, troubles[d->trouble].what,
		    d->mended ? d->mended : "nothing was done");
}

void audit_write_difference(const struct difference *d, bool mend,
			    struct json_writer *w)
{
	json_write_object(w, NULL);
	json_write_string(w, "kind", troubles[d->trouble].kind);
	json_write_string(w, "id", d->id);
	json_write_string(w, "what", troubles[d->trouble].what);
	if (mend)
		json_write_string(w, "mended", d->mended);
	json_write_close(w);
}
