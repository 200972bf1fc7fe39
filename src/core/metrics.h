/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_METRICS_H
#define CORE_METRICS_H

/* What is counted as it happens; gauges are read off the objects. */

#include <stdint.h>

#include "base/clock.h"
#include "core/core.h"
#include "core/end_reason.h"

/** enum claim - What a create found */
enum claim {
	CLAIM_READY,   /* a VM of its pool that was ready */
	CLAIM_BOOTING, /* … that was booting already */
	CLAIM_NOTHING, /* … neither */
	CLAIM_SPECIAL, /* it asked for more memory than those have */

	CLAIM_COUNT,
};

const char *claim_name(enum claim claim);

struct metrics {
	uint64_t sessions_created;
	uint64_t sessions_ended[END_REASON_COUNT];
	uint64_t executions[EXEC_STATUS_COUNT];
	uint64_t executing_usec;
	uint64_t executing_cpu_usec;
	usec_t awaited_usec;     /* from EXEC to DONE */
	uint64_t claims[CLAIM_COUNT];
	uint64_t creates_queued; /* that had to wait for room */
	uint64_t creates_late;   /* … and found none in time */
	uint64_t creates_full;   /* that could not even wait */
	usec_t queue_usec;       /* waited by those that found room */
	uint64_t boots_failed;
	uint64_t artifacts;
	uint64_t artifact_bytes;
};

#endif
