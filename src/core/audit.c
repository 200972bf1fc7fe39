/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json_write.h"
#include "core/container.h"
#include "core/vm.h"

/*
 * Whether ledger, objects and host agree. vmd says of each VM which of its
 * parts are there (domain, process, backend, directory, disk): a VM that runs
 * has all, one that is gone has none. Nothing is repaired by looking.
 *
 * Objects change at once and the ledger with the next commit. So a difference
 * counts only if it is still there when what was under way is committed.
 */

#define AUDIT_JSON_MAX (16u * 1024 * 1024)

enum {
	/* As many times in a row only a host that is busy without end differs. */
	AUDIT_LOOKS = 5,
};

#define PARTS_ALWAYS                                               \
	(VMD_PART_DOMAIN | VMD_PART_PROCESS | VMD_PART_DIRECTORY | \
	 VMD_PART_DISK)

struct audit {
	struct core *core;
	struct buf json;
	struct json_writer w, listed_w; /* now, and when vmd had told all */
	size_t listed_length;
	unsigned looks;
	unsigned ledger_differences;
	struct map expected; /* VMs that vmd must know when it lists */
	struct map seen;     /* VMs that vmd told of */
	struct map cids;     /* the same, by CID */
	int r;               /* what went wrong on the way */
	unsigned checked_vms;
	unsigned checked_rows;
	json_fn done;
	void *userdata;
};

/* A VM, remembered by id and, when it was seen, by CID. */
struct seen {
	struct map_node node, by_cid;
	char id[VMD_ID_MAX];
	char cid[11];
};

static void differ(struct audit *a, const char *kind, const char *id,
		   const char *what)
{
	json_write_object(&a->w, NULL);
	json_write_string(&a->w, "kind", kind);
	json_write_string(&a->w, "id", id);
	json_write_string(&a->w, "what", what);
	json_write_close(&a->w);
}

static void check_parts(struct audit *a, const struct vmd_vm *item)
{
	uint32_t parts = PARTS_ALWAYS;

	if (item->vsock == VMD_VSOCK_USER)
		parts |= VMD_PART_BACKEND;
	if (item->state == VMD_STATE_GONE && item->parts)
		differ(a, "parts", item->vm_id,
		       "it is gone, and parts of it "
		       "are still there");
	if (item->state == VMD_STATE_RUNNING && (item->parts & parts) != parts)
		differ(a, "parts", item->vm_id,
		       "it runs, and parts of it are "
		       "missing");
}

/* What could not be remembered would look as if it were not there. */
static struct seen *remember(struct audit *a, struct map *map, const char *id)
{
	struct seen *s = calloc(1, sizeof(*s));

	if (s) {
		(void)snprintf(s->id, sizeof(s->id), "%s", id);
		if (map_put(map, &s->node, s->id, s) >= 0)
			return s;
	}
	free(s);
	a->r = -ENOMEM;
	return NULL;
}

static void check_cid(struct audit *a, struct seen *s, uint32_t cid)
{
	(void)snprintf(s->cid, sizeof(s->cid), "%u", cid);
	if (map_get(&a->cids, s->cid))
		differ(a, "cid", s->id, "another VM has its CID");
	else if (map_put(&a->cids, &s->by_cid, s->cid, s) < 0)
		a->r = -ENOMEM;
}

static void on_item(const struct vmd_vm *item, void *userdata)
{
	struct audit *a = userdata;
	struct seen *s;

	a->checked_vms++;
	check_parts(a, item);
	if (item->state == VMD_STATE_GONE)
		return;
	if (!map_get(&a->core->vms, item->vm_id) &&
	    item->state != VMD_STATE_STOPPING)
		differ(a, "vm", item->vm_id,
		       "it runs, and the ledger does "
		       "not have it");
	s = remember(a, &a->seen, item->vm_id);
	if (s)
		check_cid(a, s, item->cid);
}

static void check_vm(void *object, void *userdata)
{
	const struct vm *vm = object;
	struct audit *a = userdata;

	if (map_get(&a->expected, vm->id) && !map_get(&a->seen, vm->id))
		differ(a, "vm", vm->id,
		       "the ledger has it, and it does not "
		       "run");
}

static void on_row(void *userdata, const struct store_vm *row)
{
	struct audit *a = userdata;

	a->checked_rows++;
	if (map_get(&a->core->vms, row->id))
		return;
	a->ledger_differences++;
	differ(a, "ledger", row->id,
	       "its line is left, and the VM "
	       "is not");
}

static void on_container_row(void *userdata, const struct store_container *row)
{
	struct audit *a = userdata;

	if (map_get(&a->core->containers, row->id))
		return;
	a->ledger_differences++;
	differ(a, "container", row->id,
	       "its row says that it lives, "
	       "and nobody has it");
}

static void check_container(void *object, void *userdata)
{
	const struct container *c = object;
	struct audit *a = userdata;

	/* One that is not accepted yet may wait for room. */
	if (c->state != SESSION_VIEW_ACCEPTED &&
	    !session_state_expired(c->state) && !c->vm)
		differ(a, "container", c->id, "it lives, and has no VM");
}

static void free_seen(void *object, void *userdata)
{
	(void)userdata;
	free(object);
}

static void audit_free(struct audit *a)
{
	map_done(&a->cids);
	map_each(&a->expected, free_seen, NULL);
	map_done(&a->expected);
	map_each(&a->seen, free_seen, NULL);
	map_done(&a->seen);
	buf_done(&a->json);
	free(a);
}

static int audit_write(struct audit *a)
{
	int r;

	map_each(&a->core->vms, check_vm, a);
	map_each(&a->core->containers, check_container, a);
	r = store_vm_each(a->core->store, on_row, a);
	if (r >= 0)
		r = store_container_each_live(a->core->store, on_container_row,
					      a);
	json_write_close(&a->w);
	json_write_object(&a->w, "checked");
	json_write_uint(&a->w, "vms", a->checked_vms);
	json_write_uint(&a->w, "ledger", a->checked_rows);
	json_write_uint(&a->w, "containers", a->core->containers.count);
	json_write_close(&a->w);
	json_write_close(&a->w);
	return r < 0 ? r : json_write_end(&a->w);
}

static void audit_end(struct audit *a, int r, struct error *err)
{
	if (r < 0)
		error_set_errno(err, r, "Cannot audit");
	a->done(a->userdata, r < 0 ? NULL : buf_str(&a->json), a->json.length,
		r < 0 ? err : NULL);
	audit_free(a);
}

static void audit_look(struct audit *a);

/* Whether that batch, which was empty, could be committed does not matter. */
static void on_committed(void *userdata, int r)
{
	struct audit *a = userdata;

	(void)r;
	buf_truncate(&a->json, a->listed_length);
	a->w = a->listed_w;
	audit_look(a);
}

/* Come back when all batches before have been carried out. */
static int look_again(struct audit *a)
{
	struct store_batch *batch = store_batch_new(a->core->store);
	int r;

	if (!batch)
		return -ENOMEM;
	r = store_commit(a->core->store, batch, on_committed, a);
	if (r < 0)
		store_batch_free(batch);
	return r;
}

static void audit_look(struct audit *a)
{
	struct error err = ERROR_INIT;
	int r;

	a->ledger_differences = 0;
	a->checked_rows = 0;
	r = audit_write(a);
	if (r >= 0 && a->ledger_differences > 0 && ++a->looks < AUDIT_LOOKS &&
	    look_again(a) >= 0)
		return;
	audit_end(a, r, &err);
}

static void on_listed(int r, const struct error *vmd_err, void *userdata)
{
	struct audit *a = userdata;
	struct error err = ERROR_INIT;

	if (r < 0) {
		error_set(&err, ERR_HYPERVISOR, "Cannot list VMs: %s",
			  vmd_err ? vmd_err->message : strerror(-r));
		audit_end(a, r, &err);
		return;
	}
	if (a->r < 0) {
		audit_end(a, a->r, &err);
		return;
	}
	a->listed_w = a->w;
	a->listed_length = a->json.length;
	audit_look(a);
}

/*
 * What vmd must know by the time it takes the list. Kept here and not in the
 * VMs, where reconcile.c may have marks for a list of its own under way.
 */
static void expect(void *object, void *userdata)
{
	const struct vm *vm = object;
	struct audit *a = userdata;

	if (vm->state == VM_BOOTING || vm->state == VM_READY)
		(void)remember(a, &a->expected, vm->id);
}

int core_admin_audit(struct core *core, json_fn done, void *userdata,
		     struct error *err)
{
	struct audit *a = calloc(1, sizeof(*a));
	int r = -ENOMEM;

	if (a) {
		a->core = core;
		a->done = done;
		a->userdata = userdata;
		a->json = BUF_INIT(AUDIT_JSON_MAX);
		a->w = JSON_WRITER_INIT(&a->json);
		json_write_object(&a->w, NULL);
		json_write_array(&a->w, "differences");
		map_each(&core->vms, expect, a);
		r = vmd_client_list(core->vmd, on_item, on_listed, a);
	}
	if (r < 0) {
		if (a)
			audit_free(a);
		return error_set(err, ERR_HYPERVISOR,
				 "The hypervisor process cannot be asked");
	}
	return 0;
}
