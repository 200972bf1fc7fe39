/* SPDX-License-Identifier: Apache-2.0 */

/* The words for the protocol's numbers. */

#include "wire/wire.h"

#define LENGTH_OF(table) (sizeof(table) / sizeof((table)[0]))
#define NAME_IN(table, n) ((size_t)(n) < LENGTH_OF(table) ? (table)[n] : NULL)

static const char *const statuses[] = {
	[WIRE_STATUS_OK] = "ok",
	[WIRE_STATUS_ERROR] = "error",
	[WIRE_STATUS_TIMEOUT] = "timeout",
	[WIRE_STATUS_INTERRUPTED] = "interrupted",
	[WIRE_STATUS_OUTPUT_LIMIT] = "output_limit",
	[WIRE_STATUS_OOM] = "oom",
	[WIRE_STATUS_KERNEL_DIED] = "kernel_died",
};
static_assert(LENGTH_OF(statuses) == WIRE_STATUS_COUNT,
	      "statuses[] doesn't match enum wire_status");

static const char *const streams[] = {
	[WIRE_STDOUT] = "stdout",
	[WIRE_STDERR] = "stderr",
	[WIRE_DISPLAYS] = "display",
};
static_assert(LENGTH_OF(streams) == WIRE_STREAM_COUNT,
	      "streams[] doesn't match enum wire_stream");

static const char *const file_statuses[] = {
	[WIRE_FILE_OK] = "ok",
	[WIRE_FILE_NOT_FOUND] = "not_found",
	[WIRE_FILE_NOT_REGULAR] = "not_regular",
	[WIRE_FILE_BAD_PATH] = "bad_path",
	[WIRE_FILE_DENIED] = "denied",
	[WIRE_FILE_NO_SPACE] = "no_space",
	[WIRE_FILE_MISMATCH] = "mismatch",
	[WIRE_FILE_CHANGED] = "changed",
	[WIRE_FILE_BUSY] = "busy",
	[WIRE_FILE_IO] = "io",
	[WIRE_FILE_GROWN] = "grown",
};
static_assert(LENGTH_OF(file_statuses) == WIRE_FILE_STATUS_COUNT,
	      "file_statuses[] doesn't match enum wire_file_status");

static const char *const skips[] = {
	[WIRE_SKIP_NONE] = "none",
	[WIRE_SKIP_SYMLINK] = "symlink",
	[WIRE_SKIP_SPECIAL] = "special",
	[WIRE_SKIP_DENIED] = "denied",
	[WIRE_SKIP_TOO_DEEP] = "too_deep",
	[WIRE_SKIP_TOO_LONG] = "too_long",
	[WIRE_SKIP_TOO_MANY] = "too_many",
};
static_assert(LENGTH_OF(skips) == WIRE_SKIP_COUNT,
	      "skips[] doesn't match enum wire_skip");

static const char *const refusals[] = {
	[WIRE_REFUSED_UNKNOWN] = "unknown",
	[WIRE_REFUSED_BUSY] = "busy",
	[WIRE_REFUSED_FULL] = "full",
	[WIRE_REFUSED_TWICE] = "twice",
	[WIRE_REFUSED_MEMORY] = "memory",
};
static_assert(LENGTH_OF(refusals) == WIRE_REFUSAL_COUNT,
	      "refusals[] doesn't match enum wire_refusal");

static const char *const stages[] = {
	[WIRE_STAGE_AGENT] = "agent",
	[WIRE_STAGE_MODULES] = "modules",
	[WIRE_STAGE_NONCE] = "nonce",
	[WIRE_STAGE_ROOT] = "root",
	[WIRE_STAGE_LISTEN] = "listen",
	[WIRE_STAGE_IMPORTED] = "imported",
	[WIRE_STAGE_CONFIGURED] = "configured",
	[WIRE_STAGE_KERNEL] = "kernel",
};
static_assert(LENGTH_OF(stages) == WIRE_STAGE_COUNT,
	      "stages[] doesn't match enum wire_stage");

const char *wire_status_name(enum wire_status status)
{
	return NAME_IN(statuses, status);
}

const char *wire_stream_name(enum wire_stream stream)
{
	return NAME_IN(streams, stream);
}

const char *wire_file_status_name(enum wire_file_status status)
{
	return NAME_IN(file_statuses, status);
}

const char *wire_skip_name(enum wire_skip skip)
{
	return NAME_IN(skips, skip);
}

const char *wire_refusal_name(enum wire_refusal refusal)
{
	return NAME_IN(refusals, refusal);
}

const char *wire_stage_name(enum wire_stage stage)
{
	return NAME_IN(stages, stage);
}
