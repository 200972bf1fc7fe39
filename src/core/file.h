/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_FILE_H
#define CORE_FILE_H

#include "core/core.h"
#include "store/rows.h"

struct store_batch;

/** file_find() - A file of a tenant that has not expired; sets no param */
int file_find(struct core *core, const struct principal *who, const char *id,
	      struct store_file *ret, struct error *err);

/** file_fill_view() - A row as clients see it; the view borrows its strings */
void file_fill_view(const struct store_file *row, struct file_view *ret);

/**
 * file_create() - As core_file_create(), with more that becomes durable with it
 * @more:	Adds to the batch that makes the file; may be NULL
 */
int file_create(struct core *core, const struct principal *who,
		const struct file_spec *spec, struct core_upload *upload,
		void (*more)(void *userdata, const struct store_file *row,
			     struct store_batch *batch),
		file_fn done, void *userdata, struct error *err);

#endif
