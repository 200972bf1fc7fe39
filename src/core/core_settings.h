/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_CORE_SETTINGS_H
#define CORE_CORE_SETTINGS_H

/* The settings that core lives by, read once. */

#include <stdint.h>

#include "base/clock.h"
#include "core/core.h"

/* Executions that may wait for their turn in one container. */
#define CORE_QUEUE_MAX 8

/* OpenAI's default and maximum of expires_after.minutes. */
#define CORE_MINUTES_DEFAULT 20

/* "batch" files that say nothing live this long. */
#define CORE_BATCH_FILES_KEPT (30 * USEC_PER_DAY)

/* Artifacts of one execution, together; a larger max_artifact counts too. */
#define CORE_ARTIFACTS_MAX (256ull * 1024 * 1024)

struct core_settings {
	usec_t idle[DIALECT_COUNT]; /* when nothing is asked for */
	usec_t minute;              /* of expires_after */
	usec_t hard;
	usec_t drain;   /* of work at the daemon's end */
	usec_t warning; /* before a limit; 0: none */
	usec_t exec_timeout;
	usec_t exec_max_timeout;
	usec_t boot_timeout; /* of create, and of boot */
	usec_t retention;
	uint64_t max_file_bytes;
	usec_t executions_kept;     /* after their end */
	usec_t sessions_kept;       /* the reason with them */
	usec_t talks_kept;          /* after their last change */
	usec_t usage_kept;          /* ledger entries; sums stay */
	struct tenant_limits tenant; /* of one without its own; 0: none */
	double memory_commit;
	uint64_t memory_reserve; /* floors of what the host has left */
	uint64_t disk_reserve;
	uint64_t refill_pressure; /* hundredths */
	uint64_t queue_max;       /* creates that wait, per pool */
	usec_t queue_wait;
	bool strict_types;
	bool test_clock;
};

void core_settings_read(struct core_settings *ret,
			const struct settings *settings, bool development);

/** memory_tier_mib() - What a tier is called for */
uint32_t memory_tier_mib(enum memory_tier tier);

/** memory_tier_of_mib() - The reverse, for the ledger; 1g for anything else */
enum memory_tier memory_tier_of_mib(uint32_t mib);

/** dialect_name(), dialect_parse() - As the ledger has it */
const char *dialect_name(enum core_dialect dialect);
enum core_dialect dialect_parse(const char *name);

#endif
