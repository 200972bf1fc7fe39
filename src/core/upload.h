/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_UPLOAD_H
#define CORE_UPLOAD_H

#include <stdint.h>

#include "core/core.h"
#include "store/blob.h"

/**
 * upload_finish() - That was all of it
 * @upload:	Taken over if the call succeeds
 * @done:	Called exactly once, later. The blob stays pinned until it
 *		returns: rows that name it must be in a batch by then
 */
int upload_finish(struct core_upload *upload,
		  void (*done)(void *userdata, const struct blob_info *info,
			       const struct error *err),
		  void *userdata, struct error *err);

/** upload_check_quota() - Whether a tenant may keep so many bytes more */
int upload_check_quota(struct core *core, const char *tenant, uint64_t bytes,
		       struct error *err);

#endif
