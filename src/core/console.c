/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_write.h"
#include "core/container.h"
#include "core/vm.h"

/*
 * The console of a VM, which vmd keeps, for a while also after the VM's end.
 * So a container that has ended is looked up in the ledger, which knows the VM
 * that it had, and a VM that nobody here knows any more may still be known
 * there.
 */

/* Each of the guest's bytes may need six: \u001b. */
enum { CONSOLE_JSON_MAX = 6 * VMD_CONSOLE_SIZE + 1024 };

struct console_look {
	char vm_id[VMD_ID_MAX];
	json_fn done;
	void *userdata;
};

static int write_console(struct buf *json, const char *vm_id, const void *data,
			 uint64_t length, uint64_t total)
{
	struct json_writer w = JSON_WRITER_INIT(json);

	json_write_object(&w, NULL);
	json_write_string(&w, "vm", vm_id);
	json_write_uint(&w, "total_bytes", total);
	json_write_uint(&w, "omitted_bytes", total - length);
	json_write_bytes(&w, "text", data ? data : "", length);
	json_write_close(&w);
	return json_write_end(&w);
}

static void on_console(int r, const void *data, uint64_t length,
		       uint64_t total, const struct error *vmd_err,
		       void *userdata)
{
	struct buf json = BUF_INIT(CONSOLE_JSON_MAX);
	struct console_look *look = userdata;
	struct error err = ERROR_INIT;

	if (r == -ENOENT)
		(void)error_set(&err, ERR_NOT_FOUND,
				"The console of VM '%s' is not kept any more",
				look->vm_id);
	else if (r < 0)
		(void)error_set(&err, ERR_HYPERVISOR,
				"Cannot read the console: %s",
				vmd_err ? vmd_err->message : strerror(-r));
	else
		r = write_console(&json, look->vm_id, data, length, total);
	if (r < 0)
		(void)error_set_errno(&err, r, "Cannot tell the console");
	look->done(look->userdata, r < 0 ? NULL : buf_str(&json), json.length,
		   r < 0 ? &err : NULL);
	buf_done(&json);
	free(look);
}

/* Which VM an id stands for; "" if it is none's. */
static int find_vm(struct core *core, const char *id,
		   char ret_vm_id[VMD_ID_MAX])
{
	const struct container *c = map_get(&core->containers, id);
	struct store_container *row = &core->row_container;
	const char *vm_id = "";
	int r;

	/* One that has just ended has no VM any more, and its row has. */
	if (c && c->vm) {
		vm_id = c->vm->id;
	} else if (id_is(ID_VM, id)) {
		vm_id = id;
	} else if (id_is(ID_CONTAINER, id)) {
		r = store_container_get(core->store, NULL, id, row);
		if (r < 0)
			return r;
		vm_id = row->vm_id;
	}
	strcpy(ret_vm_id, vm_id);
	return vm_id[0] ? 0 : -ENOENT;
}

int core_admin_console(struct core *core, const char *id, json_fn done,
		       void *userdata, struct error *err)
{
	struct console_look *look = calloc(1, sizeof(*look));
	int r = -ENOMEM;

	if (look)
		r = find_vm(core, id, look->vm_id);
	if (r < 0) {
		free(look);
		return r == -ENOENT ?
			       error_set(err, ERR_NOT_FOUND,
					 "There is no container or VM '%s' "
					 "that has or had a console",
					 id) :
			       error_set_errno(err, r,
					       "Cannot look for '%s'", id);
	}
	look->done = done;
	look->userdata = userdata;
	r = vmd_client_console(core->vmd, look->vm_id, on_console, look);
	if (r < 0) {
		free(look);
		return error_set(err, ERR_HYPERVISOR,
				 "The hypervisor process cannot be asked");
	}
	return 0;
}
