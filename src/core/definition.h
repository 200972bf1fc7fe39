/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_DEFINITION_H
#define CORE_DEFINITION_H

#include <sys/queue.h>
#include <systemd/sd-event.h>

#include "base/id.h"
#include "core/core.h"
#include "store/rows.h"

struct definition_change;

TAILQ_HEAD(definition_changes, definition_change);

/**
 * struct definition_type - How one kind differs from the others
 * @stored:	As rows have it: never to be changed
 * @follows:	The newest version that is no draft is the default
 */
struct definition_type {
	const char *stored;
	enum id_kind id;
	enum id_kind version_id;
	bool follows;
};

const struct definition_type *definition_type_of(enum definition_kind kind);

/**
 * struct definitions - definition.c's corner of core
 * @changes:	Those that wait; the first one is being made
 * @next:	Begins the first one
 * @row, @version: What views of lookups point into
 * @changed, @made: The same of the change that is being made
 */
struct definitions {
	struct definition_changes changes;
	unsigned count;
	sd_event_source *next;
	struct store_definition row;
	struct store_definition_version version;
	struct store_definition changed;
	struct store_definition_version made;
};

/** definition_find(), definition_version_find() - Rows; ERR_NOT_FOUND */
int definition_find(struct core *core, const char *tenant,
		    const struct definition_name *name,
		    struct store_definition *ret, struct error *err);
int definition_version_find(struct core *core,
			    const struct definition_name *name,
			    const struct store_definition *row,
			    uint64_t version,
			    struct store_definition_version *ret,
			    struct error *err);

/* Views borrow from the rows. */
void definition_fill_view(const struct store_definition *row,
			  struct definition_view *ret);
void definition_version_fill_view(
	const struct store_definition *row,
	const struct store_definition_version *version,
	struct definition_version_view *ret);

int definitions_init(struct core *core);

/** definitions_done() - What still waits is refused */
void definitions_done(struct core *core);

#endif
