/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_FILE_H
#define CORE_FILE_H

#include "core/core.h"
#include "store/rows.h"

/** file_find() - A file of a tenant that has not expired; sets no param */
int file_find(struct core *core, const struct principal *who, const char *id,
	      struct store_file *ret, struct error *err);

#endif
