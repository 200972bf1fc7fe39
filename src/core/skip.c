/* SPDX-License-Identifier: Apache-2.0 */
#include "core/skip.h"

#include <assert.h>
#include <string.h>

static const char *const names[] = {
	[SKIP_SYMLINK] = "symlink",
	[SKIP_SPECIAL_FILE] = "special_file",
	[SKIP_UNREADABLE] = "unreadable",
	[SKIP_TOO_DEEP] = "too_deep",
	[SKIP_NAME_TOO_LONG] = "name_too_long",
	[SKIP_TOO_LARGE] = "too_large",
	[SKIP_TOO_MUCH] = "too_much",
	[SKIP_TOO_MANY] = "too_many",
	[SKIP_QUOTA] = "quota",
	[SKIP_CHANGED] = "changed",
	[SKIP_HOST_STORAGE_FULL] = "host_storage_full",
	[SKIP_SESSION_ENDED] = "session_ended",
	[SKIP_FAILED] = "failed",
};
static_assert(sizeof(names) / sizeof(names[0]) == SKIP_REASON_COUNT,
	      "names[] doesn't match enum skip_reason");

const char *skip_reason_name(enum skip_reason reason)
{
	return names[reason];
}

enum skip_reason skip_reason_parse(const char *name)
{
	int reason;

	for (reason = 0; reason < SKIP_REASON_COUNT; reason++)
		if (strcmp(names[reason], name) == 0)
			return (enum skip_reason)reason;
	return SKIP_FAILED;
}

enum skip_reason skip_reason_of_wire(enum wire_skip skip)
{
	static const enum skip_reason reasons[] = {
		[WIRE_SKIP_NONE] = SKIP_FAILED, /* never asked */
		[WIRE_SKIP_SYMLINK] = SKIP_SYMLINK,
		[WIRE_SKIP_SPECIAL] = SKIP_SPECIAL_FILE,
		[WIRE_SKIP_DENIED] = SKIP_UNREADABLE,
		[WIRE_SKIP_TOO_DEEP] = SKIP_TOO_DEEP,
		[WIRE_SKIP_TOO_LONG] = SKIP_NAME_TOO_LONG,
		[WIRE_SKIP_TOO_MANY] = SKIP_TOO_MANY,
	};
	static_assert(sizeof(reasons) / sizeof(reasons[0]) == WIRE_SKIP_COUNT,
		      "reasons[] doesn't match enum wire_skip");

	return reasons[skip];
}

enum skip_reason skip_reason_of_status(enum wire_file_status status)
{
	switch (status) {
	case WIRE_FILE_NOT_FOUND:
	case WIRE_FILE_NOT_REGULAR: /* it was when it was listed */
	case WIRE_FILE_CHANGED:
		return SKIP_CHANGED;
	case WIRE_FILE_DENIED:
		return SKIP_UNREADABLE;
	default:
		return SKIP_FAILED;
	}
}
