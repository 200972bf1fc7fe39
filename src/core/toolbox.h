/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_TOOLBOX_H
#define CORE_TOOLBOX_H

#include <sys/queue.h>
#include <systemd/sd-event.h>

#include "core/core.h"
#include "store/rows.h"

struct toolbox_change;

TAILQ_HEAD(toolbox_changes, toolbox_change);

/**
 * struct toolboxes - toolbox.c's corner of core
 * @changes:	Those that wait; the first one is being made
 * @next:	Begins the first one
 * @row, @version: What views point into
 */
struct toolboxes {
	struct toolbox_changes changes;
	unsigned count;
	sd_event_source *next;
	struct store_toolbox row;
	struct store_toolbox_version version;
};

/** toolbox_find(), toolbox_version_find() - Rows; ERR_NOT_FOUND */
int toolbox_find(struct core *core, const char *tenant,
		 const struct toolbox_name *name, struct store_toolbox *ret,
		 struct error *err);
int toolbox_version_find(struct core *core, const struct store_toolbox *row,
			 uint64_t version, struct store_toolbox_version *ret,
			 struct error *err);

/* Views borrow from the rows. */
void toolbox_fill_view(const struct store_toolbox *row,
		       struct toolbox_view *ret);
void toolbox_version_fill_view(const struct store_toolbox *row,
			       const struct store_toolbox_version *version,
			       struct toolbox_version_view *ret);

int toolboxes_init(struct core *core);

/** toolboxes_done() - What still waits is refused */
void toolboxes_done(struct core *core);

#endif
