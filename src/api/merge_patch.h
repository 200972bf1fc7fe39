/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_MERGE_PATCH_H
#define API_MERGE_PATCH_H

/* JSON Merge Patch, RFC 7396. */

#include "base/json_write.h"

struct json_object;

/**
 * merge_patch_write() - Write what a patch makes of a value
 * @target:	NULL: there was none
 * @patch:	Not null
 */
void merge_patch_write(struct json_writer *w, const char *key,
		       const struct json_object *target,
		       const struct json_object *patch);

#endif
