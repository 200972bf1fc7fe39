/* SPDX-License-Identifier: Apache-2.0 */
#include "core/audit.h"

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
 * has all, one that is gone has none. Nothing is mended by looking.
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
	bool mend;
	struct difference *differences;
	size_t count, room;
	size_t listed_count; /* when vmd had told all */
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

static int make_room(struct audit *a)
{
	size_t room = a->room ? 2 * a->room : 16;
	struct difference *more;

	if (a->count < a->room)
		return 0;
	more = reallocarray(a->differences, room, sizeof(*more));
	if (!more)
		return -ENOMEM;
	a->differences = more;
	a->room = room;
	return 0;
}

static void differ(struct audit *a, enum trouble trouble, const char *id)
{
	struct difference *d;

	if (make_room(a) < 0) {
		a->r = -ENOMEM;
		return;
	}
	d = &a->differences[a->count++];
	*d = (struct difference){ .trouble = trouble };
	(void)snprintf(d->id, sizeof(d->id), "%s", id);
}

static void check_parts(struct audit *a, const struct vmd_vm *item)
{
	uint32_t parts = PARTS_ALWAYS;

	if (item->vsock == VMD_VSOCK_USER)
		parts |= VMD_PART_BACKEND;
	if (item->state == VMD_STATE_GONE && item->parts)
		differ(a, TROUBLE_PARTS_LEFT, item->vm_id);
	if (item->state == VMD_STATE_RUNNING && (item->parts & parts) != parts)
		differ(a, TROUBLE_PARTS_MISSING, item->vm_id);
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
		differ(a, TROUBLE_CID, s->id);
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
		differ(a, TROUBLE_STRAY, item->vm_id);
	s = remember(a, &a->seen, item->vm_id);
	if (s)
		check_cid(a, s, item->cid);
}

static void check_vm(void *object, void *userdata)
{
	const struct vm *vm = object;
	struct audit *a = userdata;

	if (map_get(&a->expected, vm->id) && !map_get(&a->seen, vm->id))
		differ(a, TROUBLE_ABSENT, vm->id);
}

static void on_row(void *userdata, const struct store_vm *row)
{
	struct audit *a = userdata;

	a->checked_rows++;
	if (map_get(&a->core->vms, row->id))
		return;
	a->ledger_differences++;
	differ(a, TROUBLE_LINE, row->id);
}

static void on_container_row(void *userdata, const struct store_container *row)
{
	struct audit *a = userdata;

	if (map_get(&a->core->containers, row->id))
		return;
	a->ledger_differences++;
	differ(a, TROUBLE_ROW, row->id);
}

static void check_container(void *object, void *userdata)
{
	const struct container *c = object;
	struct audit *a = userdata;

	/* One that is not accepted yet may wait for room. */
	if (c->state != SESSION_VIEW_ACCEPTED &&
	    !session_state_expired(c->state) && !c->vm)
		differ(a, TROUBLE_NO_VM, c->id);
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
	free(a->differences);
	free(a);
}

static int audit_write(const struct audit *a, struct buf *json)
{
	struct json_writer w = JSON_WRITER_INIT(json);
	size_t i;

	json_write_object(&w, NULL);
	json_write_array(&w, "differences");
	for (i = 0; i < a->count; i++)
		audit_write_difference(&a->differences[i], a->mend, &w);
	json_write_close(&w);
	json_write_object(&w, "checked");
	json_write_uint(&w, "vms", a->checked_vms);
	json_write_uint(&w, "ledger", a->checked_rows);
	json_write_uint(&w, "containers", a->core->containers.count);
	json_write_close(&w);
	json_write_close(&w);
	return json_write_end(&w);
}

static void audit_end(struct audit *a, int r, struct error *err)
{
	_cleanup_(buf_done) struct buf json = BUF_INIT(AUDIT_JSON_MAX);

	if (r >= 0)
		r = audit_write(a, &json);
	if (r < 0)
		error_set_errno(err, r, "Cannot audit");
	a->done(a->userdata, r < 0 ? NULL : buf_str(&json), json.length,
		r < 0 ? err : NULL);
	audit_free(a);
}

/* Calls back when all batches before, and this one, have been carried out. */
static int commit(struct audit *a, struct store_batch *batch,
		  void (*done)(void *userdata, int r))
{
	int r = batch ? store_commit(a->core->store, batch, done, a) : -ENOMEM;

	if (r < 0)
		store_batch_free(batch);
	return r;
}

static void on_mended(void *userdata, int r)
{
	struct error err = ERROR_INIT;

	audit_end(userdata, r, &err);
}

static void audit_mend_all(struct audit *a)
{
	struct store_batch *batch = store_batch_new(a->core->store);
	struct error err = ERROR_INIT;
	size_t i;
	int r;

	for (i = 0; batch && i < a->count; i++)
		audit_mend(a->core, &a->differences[i], batch);
	r = commit(a, batch, on_mended);
	if (r < 0)
		audit_end(a, r, &err);
}

static void audit_look(struct audit *a);

/* Whether that batch, which was empty, could be committed does not matter. */
static void on_committed(void *userdata, int r)
{
	struct audit *a = userdata;

	(void)r;
	a->count = a->listed_count;
	audit_look(a);
}

/* What is in the books, against what vmd has told. */
static int compare(struct audit *a)
{
	int r;

	a->ledger_differences = 0;
	a->checked_rows = 0;
	map_each(&a->core->vms, check_vm, a);
	map_each(&a->core->containers, check_container, a);
	r = store_vm_each(a->core->store, on_row, a);
	if (r >= 0)
		r = store_container_each_live(a->core->store, on_container_row,
					      a);
	return r < 0 ? r : a->r;
}

static void audit_look(struct audit *a)
{
	struct error err = ERROR_INIT;
	int r = compare(a);

	if (r >= 0 && a->ledger_differences > 0 && ++a->looks < AUDIT_LOOKS &&
	    commit(a, store_batch_new(a->core->store), on_committed) >= 0)
		return;
	if (r >= 0 && a->mend && a->count > 0)
		audit_mend_all(a);
	else
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
	a->listed_count = a->count;
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

static int audit_begin(struct core *core, bool mend, json_fn done,
		       void *userdata, struct error *err)
{
	struct audit *a = calloc(1, sizeof(*a));
	int r = -ENOMEM;

	if (a) {
		a->core = core;
		a->mend = mend;
		a->done = done;
		a->userdata = userdata;
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

int core_admin_audit(struct core *core, json_fn done, void *userdata,
		     struct error *err)
{
	return audit_begin(core, false, done, userdata, err);
}

int core_admin_mend(struct core *core, json_fn done, void *userdata,
		    struct error *err)
{
	return audit_begin(core, true, done, userdata, err);
}
