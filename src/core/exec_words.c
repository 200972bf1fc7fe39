/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "core/core.h"

const char *exec_status_sentence(enum exec_status status)
{
	switch (status) {
	case EXEC_TIMEOUT:
		return "The execution was stopped at its time limit.";
	case EXEC_INTERRUPTED:
		return "The execution was interrupted.";
	case EXEC_OUTPUT_LIMIT:
		return "The execution was stopped: it printed too much.";
	case EXEC_OOM:
		return "The session's memory was used up.";
	case EXEC_KERNEL_DIED:
		return "The Python process ended.";
	case EXEC_SESSION_LOST:
		return "The session ended.";
	default:
		return NULL;
	}
}

const struct exec_datum *exec_datum_find(const struct exec_result *result,
					 const char *mime)
{
	size_t i;

	for (i = 0; i < result->count; i++)
		if (strcmp(result->data[i].mime, mime) == 0)
			return &result->data[i];
	return NULL;
}
