/* SPDX-License-Identifier: Apache-2.0 */
#include "core/core_settings.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "base/settings.h"

static const uint32_t tiers_mib[] = {
	[MEMORY_1G] = 1024,
	[MEMORY_4G] = 4096,
	[MEMORY_16G] = 16384,
	[MEMORY_64G] = 65536,
};
static_assert(sizeof(tiers_mib) / sizeof(tiers_mib[0]) == MEMORY_TIER_COUNT,
	      "tiers_mib[] doesn't match enum memory_tier");

static const char *const dialects[] = {
	[DIALECT_OPENAI] = "openai",
	[DIALECT_FOUNDRY] = "foundry",
	[DIALECT_SESSIONS] = "sessions",
	[DIALECT_MCP] = "mcp",
};
static_assert(sizeof(dialects) / sizeof(dialects[0]) == DIALECT_COUNT,
	      "dialects[] doesn't match enum core_dialect");

uint32_t memory_tier_mib(enum memory_tier tier)
{
	return tiers_mib[tier];
}

enum memory_tier memory_tier_of_mib(uint32_t mib)
{
	int tier;

	for (tier = 0; tier < MEMORY_TIER_COUNT; tier++)
		if (tiers_mib[tier] == mib)
			return (enum memory_tier)tier;
	return MEMORY_1G;
}

const char *dialect_name(enum core_dialect dialect)
{
	return dialects[dialect];
}

enum core_dialect dialect_parse(const char *name)
{
	int dialect;

	for (dialect = 0; dialect < DIALECT_COUNT; dialect++)
		if (strcmp(dialects[dialect], name) == 0)
			return (enum core_dialect)dialect;
	return DIALECT_OPENAI;
}

void core_settings_read(struct core_settings *ret, const struct settings *s,
			bool development)
{
	usec_t minute = USEC_PER_MINUTE;

	if (development)
		minute = settings_usec(s, "test", "minute_seconds");
	*ret = (struct core_settings){
		.idle = {
			[DIALECT_OPENAI] = CORE_MINUTES_DEFAULT * minute,
			[DIALECT_FOUNDRY] = settings_usec(s, "session", "idle"),
			[DIALECT_SESSIONS] = settings_usec(s, "session",
							   "idle_pools"),
			[DIALECT_MCP] = settings_usec(s, "session", "idle"),
		},
		.minute = minute,
		.hard = settings_usec(s, "session", "hard"),
		.drain = settings_usec(s, "session", "drain"),
		.warning = settings_usec(s, "session", "warning"),
		.exec_timeout = settings_usec(s, "exec", "timeout"),
		.exec_max_timeout = settings_usec(s, "exec", "max_timeout"),
		.boot_timeout = settings_usec(s, "hypervisor", "boot_timeout"),
		.retention = settings_usec(s, "store", "retention"),
		.max_file_bytes = settings_bytes(s, "store", "max_file"),
		.executions_kept = settings_usec(s, "store", "executions"),
		.sessions_kept = settings_usec(s, "store", "sessions"),
		.talks_kept = settings_usec(s, "store", "talks"),
		.usage_kept = settings_usec(s, "store", "usage"),
		.tenant = {
			.max_sessions = settings_uint(s, "session",
						      "max_per_tenant"),
			.max_executions = settings_uint(s, "tenant",
							"executions"),
			.max_requests = settings_uint(s, "tenant", "requests"),
			.requests_per_minute = settings_uint(
				s, "tenant", "requests_per_minute"),
			.max_bytes = settings_bytes(s, "store", "quota"),
			.session_seconds_per_day =
				3600 * settings_uint(s, "tenant",
						     "session_hours"),
		},
		.memory_commit = settings_number(s, "host", "memory_commit"),
		.memory_reserve = settings_bytes(s, "host", "memory_reserve"),
		.disk_reserve = settings_bytes(s, "host", "disk_reserve"),
		.queue_max = settings_uint(s, "session", "queue"),
		.queue_wait = settings_usec(s, "session", "queue_wait"),
		.refill_pressure = settings_uint(s, "host", "refill_pressure"),
		.strict_types = settings_bool(s, "files", "strict_types"),
		.test_clock = development && settings_bool(s, "test", "clock"),
	};
}
