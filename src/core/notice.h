/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_NOTICE_H
#define CORE_NOTICE_H

/* Making the events of core_events.h. */

#include <stdint.h>
#include <sys/queue.h>

#include "base/clock.h"
#include "core/core_events.h"
#include "core/end_reason.h"
#include "store/rows.h"

struct container;
struct vm;

/** struct notice - One event; what does not apply is empty */
struct notice {
	enum core_event_type type;
	usec_t at_usec; /* wall */
	char container[ID_SIZE];
	char tenant[CORE_TENANT_MAX + 1];
	char pool[STORE_NAME_SIZE];
	char vm[ID_SIZE];
	enum end_reason reason;
	usec_t ends_usec; /* wall: when the limit is reached */
	uint64_t sessions; /* that live, at a drain */
	char message[ERROR_MESSAGE_MAX];
};

/**
 * struct notices - The last ones
 * @first, @next: Ids, of what is kept and of what comes
 */
struct notices {
	struct notice *kept; /* by id modulo CORE_EVENTS_KEPT */
	uint64_t first;
	uint64_t next;
	LIST_HEAD(, core_events) readers;
	unsigned reader_count;
};

int notices_init(struct core *core);
void notices_done(struct core *core);

void notice_opened(const struct container *c);
void notice_ended(const struct container *c);

/** notice_warning() - @reason: the limit, which it reaches in @left */
void notice_warning(const struct container *c, enum end_reason reason,
		    usec_t left);

/** notice_drain() - @message: its state */
void notice_drain(struct core *core, const char *message, uint64_t sessions);

/** notice_vm_failed() - @message: NULL: the reason says it all */
void notice_vm_failed(const struct vm *vm, enum end_reason reason,
		      const char *message);

#endif
