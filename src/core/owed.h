/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_OWED_H
#define CORE_OWED_H

/*
 * What has happened, and could not be written down: there was no memory for the
 * batch, or the disk is full. Nobody waits for it whom an error could be told, and
 * without it the ledger is wrong until the next start, or a bill for ever. So its
 * object stays, and writes it again until it is written.
 */

#include <sys/queue.h>

#include "base/clock.h"

struct core;
struct timer;

#define OWED_RETRY_USEC USEC_PER_SEC

/** struct owed - Lives in the object; needs no memory when there is none */
struct owed {
	TAILQ_ENTRY(owed) entry;
	void (*write)(void *object); /* NULL: nothing is owed */
	void (*forget)(void *object);
	void *object;
};

struct owing {
	TAILQ_HEAD(owed_list, owed) list;
	struct timer *timer;
};

int owing_init(struct core *core);

/** owing_done() - Forget the rest; the next daemon finds what is missing */
void owing_done(struct core *core);

/**
 * owed_add() - Have something written a little later
 * @write:	Tries again, and adds again what fails
 * @forget:	Called instead of it when there will be no other try; may be NULL
 *
 * What is owed already is owed once.
 */
void owed_add(struct core *core, struct owed *owed, void (*write)(void *object),
	      void (*forget)(void *object), void *object);

/** owed_drop() - It need not be written any more, if it was owed at all */
void owed_drop(struct core *core, struct owed *owed);

#endif
