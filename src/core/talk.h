/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_TALK_H
#define CORE_TALK_H

#include <sys/queue.h>

#include "base/buf.h"
#include "core/core.h"
#include "store/store_talk.h"

struct talk_change;

TAILQ_HEAD(talk_changes, talk_change);
TAILQ_HEAD(talk_contexts, talk_context);

/**
 * struct talks - talk.c's corner of core
 * @deleting:	Deletions on their way to the disk: what they are about does not
 *		exist any more, though the store still has it
 * @contexts:	Being read
 * @text:	What views point into
 */
struct talks {
	struct talk_changes deleting;
	struct talk_contexts contexts;
	struct buf text;
};

void talks_init(struct core *core);

/** talks_done() - Contexts that are still read end without a word */
void talks_done(struct core *core);

/**
 * talk_find_conversation() - Its row; ERR_NOT_FOUND
 *
 * Text points into core's buffer.
 */
int talk_find_conversation(struct core *core, const struct principal *who,
			   const char *id, struct store_conversation *ret,
			   struct error *err);

int talk_find_response(struct core *core, const struct principal *who,
		       const char *id, struct store_response *ret,
		       struct error *err);

int talk_conversation_missing(const char *id, struct error *err);
int talk_response_missing(const char *id, struct error *err);
int talk_item_missing(const char *id, struct error *err);

/** talk_is_deleted() - Whether a deletion is on its way */
bool talk_is_deleted(const struct core *core, const char *id);

/** talk_item_row() - An item as the store takes it; borrowed */
struct store_item talk_item_row(const struct principal *who, const char *owner,
				const struct talk_item *item);

/** talk_items_check() - Number, sizes and the tenant's quota */
int talk_items_check(struct core *core, const struct principal *who,
		     const struct talk_item *items, size_t count,
		     struct error *err);

/**
 * struct talk_change - A change on its way to the disk
 * @id:		The conversation or response that it is about
 * @deletes:	It does not exist from now on
 * @view:	Answered with it as it is then; or
 * @done:	Answered
 */
struct talk_change {
	TAILQ_ENTRY(talk_change) in_list;
	struct core *core;
	struct principal who;
	char id[ID_SIZE];
	bool deletes;
	int (*missing)(const char *id, struct error *err);
	conversation_fn view;
	core_done_fn done;
	void *userdata;
};

/**
 * talk_change_commit() - Commit a batch and answer when it is on the disk
 * @change:	Copied
 * @batch:	Taken over in any case
 */
int talk_change_commit(const struct talk_change *change,
		       struct store_batch *batch, struct error *err);

#endif
