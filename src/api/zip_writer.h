/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_ZIP_WRITER_H
#define API_ZIP_WRITER_H

/*
 * A zip archive that is written into a buffer, piece by piece.
 *
 * Content is stored, not compressed: it takes the loop no time, and most of what
 * programs leave is compressed. Files larger than 4 GiB, and more of them than
 * 65,535, make it a ZIP64 archive. All are regular files of root, mode 0644.
 *
 * What the buffer has to hold is at most what was given, and a directory of all
 * files with the end.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct zip_writer;

/** zip_writer_new() - @out: borrowed; may be consumed between the calls */
struct zip_writer *zip_writer_new(struct buf *out);

/**
 * zip_writer_file() - Begin the next file
 * @name:	UTF-8, as in zip_names.h
 * @bytes:	As many have to follow
 * @modified:	Unix seconds
 */
int zip_writer_file(struct zip_writer *w, const char *name, uint64_t bytes,
		    int64_t modified);

int zip_writer_data(struct zip_writer *w, const void *data, size_t size);

/** zip_writer_end() - Write the directory: the archive is complete */
int zip_writer_end(struct zip_writer *w);

/** zip_writer_free() - Without an end before, the archive stays incomplete */
void zip_writer_free(struct zip_writer *w);

#endif
