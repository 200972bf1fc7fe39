/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_AUDIT_H
#define CORE_AUDIT_H

/* What audit.c finds and audit_mend.c mends. */

#include <stdbool.h>
#include <stddef.h>

#include "base/id.h"

struct core;
struct json_writer;
struct store_batch;

/**
 * enum trouble - In what books and host can differ
 *
 *    PARTS_LEFT - A VM is gone, and vmd still sees a part of it
 *    PARTS_MISSING - A VM runs, and a part of it is not there
 *    STRAY - A VM runs that the ledger does not have
 *    ABSENT - The ledger has a VM that vmd does not know
 *    CID - Two VMs have one CID
 *    LINE - The ledger has a line for a VM that is none of ours
 *    ROW - A container's row says that it lives, and nobody has it
 *    NO_VM - A container lives without a VM
 */
enum trouble {
	TROUBLE_PARTS_LEFT,
	TROUBLE_PARTS_MISSING,
	TROUBLE_STRAY,
	TROUBLE_ABSENT,
	TROUBLE_CID,
	TROUBLE_LINE,
	TROUBLE_ROW,
	TROUBLE_NO_VM,

	TROUBLE_COUNT,
};

/**
 * struct difference - One that was found
 * @id:		Of a VM or a container
 * @mended:	What was done about it; NULL: nothing
 */
struct difference {
	enum trouble trouble;
	char id[ID_SIZE];
	const char *mended;
};

/**
 * audit_mend() - Make it right, if that can be done without a person
 * @batch:	Gets what is to be written
 *
 * What ends a VM or a session is under way afterwards.
 */
void audit_mend(struct core *core, struct difference *d,
		struct store_batch *batch);

/** audit_write_difference() - As the answer has it; @mend: with what was done */
void audit_write_difference(const struct difference *d, bool mend,
			    struct json_writer *w);

#endif
