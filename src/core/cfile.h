/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_CFILE_H
#define CORE_CFILE_H

/* What the halves of container files share, and the operator's calls with them. */

#include "core/core_priv.h"

/** cfile_fill_view() - The view points into the row */
void cfile_fill_view(const struct store_cfile *row, struct cfile_view *ret);

/** cfile_delete_in_guest() - Have a live session lose a file that was deleted */
void cfile_delete_in_guest(struct core *core, const struct store_cfile *row);

#endif
