/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>

#include "core/core_priv.h"
#include "store/store_backup.h"

struct backup {
	core_backup_fn done;
	void *userdata;
};

static void on_copied(void *userdata, int r, int fd)
{
	struct backup *b = userdata;
	struct error err = ERROR_INIT;

	if (r < 0)
		error_set_errno(&err, r, "Cannot copy the database");
	b->done(b->userdata, fd, r < 0 ? &err : NULL);
	free(b);
}

int core_admin_backup(struct core *core, core_backup_fn done, void *userdata,
		      struct error *err)
{
	struct backup *b = calloc(1, sizeof(*b));
	int r = -ENOMEM;

	if (b) {
		*b = (struct backup){ done, userdata };
		r = store_backup(core->store, on_copied, b);
	}
	if (r >= 0)
		return 0;
	free(b);
	if (r == -EBUSY)
		return error_set(err, ERR_CONFLICT,
				 "Another backup is being made");
	return error_set_errno(err, r, "Cannot copy the database");
}
