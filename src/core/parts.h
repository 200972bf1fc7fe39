/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_PARTS_H
#define CORE_PARTS_H

/* Files that arrive in parts: what parts.c and parts_assemble.c share. */

#include <sys/queue.h>

#include "core/core.h"
#include "store/rows.h"

/* After this an upload that is not completed is gone. */
#define PARTS_KEPT_USEC USEC_PER_HOUR

struct assembly;
TAILQ_HEAD(assembly_list, assembly);

/**
 * parts_find() - An upload of a tenant that is open and not being completed
 *
 * Return: 0; ERR_NOT_FOUND; ERR_BAD_REQUEST if it is not open any more
 */
int parts_find(struct core *core, const struct principal *who, const char *id,
	       struct store_upload *ret, struct error *err);

/** parts_fill_view() - A row as clients see it; the view borrows its strings */
void parts_fill_view(const struct core *core, const struct store_upload *row,
		     struct parts_view *ret);

/** parts_are_assembled() - Whether an upload is being completed */
bool parts_are_assembled(const struct core *core, const char *upload_id);

/** parts_free_all() - End what is being completed; whoever waits is told */
void parts_free_all(struct core *core);

#endif
