/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_DEFINITION_CHANGE_H
#define CORE_DEFINITION_CHANGE_H

/* A change of a definition: shared by the line and by what decides. */

#include <sys/queue.h>

#include "core/core.h"
#include "store/store.h"

struct definition_change;

/* What a decision returns, besides a negative errno with its error filled in. */
enum {
	CHANGE_COMMIT = 0,
	CHANGE_NOTHING = 1, /* all is as it should be */
};

/**
 * definition_decide_fn - Look at what is there and fill the batch
 *
 * What the change leaves, for its answer, goes to core's definitions.changed
 * and .made. What cannot be put into the batch is told by its commit.
 */
typedef int definition_decide_fn(struct definition_change *change,
				 struct store_batch *batch, struct error *err);

/**
 * struct definition_change - A change in the line
 * @text:	Of a new version; owned
 * @version:	Which one is to be promoted or deleted
 */
struct definition_change {
	TAILQ_ENTRY(definition_change) in_line;
	struct core *core;
	definition_decide_fn *decide;
	enum definition_kind kind;
	char tenant[STORE_TENANT_SIZE];
	char project[STORE_PROJECT_SIZE];
	char name[STORE_DEFINITION_NAME_SIZE];
	uint64_t version;
	char *text;
	bool draft;
	enum definition_need need;
	bool (*same)(const char *text, const char *other);
	definition_edit_fn edit;
	definition_version_fn version_done;
	definition_fn definition_done;
	core_done_fn done;
	void *userdata;
};

definition_decide_fn definition_decide_create;
definition_decide_fn definition_decide_promote;
definition_decide_fn definition_decide_edit;
definition_decide_fn definition_decide_version_delete;
definition_decide_fn definition_decide_delete;

#endif
