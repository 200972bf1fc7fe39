/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_END_REASON_H
#define CORE_END_REASON_H

#include <stdint.h>

#include "base/clock.h"
#include "base/error.h"

/**
 * enum end_reason - Why a session ended; every one ends with exactly one
 *
 * DELETED is seen by the operator only: to its tenant the container does not
 * exist any more.
 */
enum end_reason {
	END_NONE, /* it has not */
	END_IDLE_TIMEOUT,
	END_HARD_LIMIT,
	END_VM_CRASHED,
	END_GUEST_PANIC,
	END_GUEST_SHUTDOWN,
	END_GUEST_PROTOCOL_ERROR,
	END_GUEST_UNRESPONSIVE,
	END_BOOT_FAILED,
	END_HOST_STORAGE_FULL,
	END_HOST_RESTART,
	END_DESTROYED_EXTERNALLY,
	END_DRAINED,
	END_BUDGET,
	END_IMAGE_REMOVED,
	END_OPERATOR,
	END_CONVERSATION_DELETED,
	END_DELETED,

	END_REASON_COUNT,
};

/** end_reason_name() - The word: API, ledger and journal use the same */
const char *end_reason_name(enum end_reason reason);

/** end_reason_sentence() - What happened, for the client, without full stop */
const char *end_reason_sentence(enum end_reason reason);

/**
 * end_reason_tell() - The error of whoever uses a session that has ended
 * @id:		Its container
 * @ended_usec:	Wall clock; 0: it is ending
 *
 * Return: negative, with when, why and what to do in @err
 */
int end_reason_tell(const char *id, enum end_reason reason, usec_t ended_usec,
		    struct error *err);

/**
 * end_reason_tell_named() - The same, of a session known by a name of a client's
 *
 * Sets no reason: what a name that stands for nothing is called is the dialect's.
 */
int end_reason_tell_named(const char *id, const char *name,
			  enum end_reason reason, usec_t ended_usec,
			  struct error *err);

/** end_reason_parse() - The reason of a word; END_NONE for an unknown one */
enum end_reason end_reason_parse(const char *name);

/** end_reason_of_vmd() - What a VM's end (enum vmd_reason) is to its session */
enum end_reason end_reason_of_vmd(uint32_t vmd_reason);

#endif
