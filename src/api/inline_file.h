/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_INLINE_FILE_H
#define API_INLINE_FILE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/json_write.h"
#include "core/core.h"

struct request;

/* A larger file is not worth holding the loop for: it can be downloaded. */
enum { INLINE_FILE_MAX = 4 << 20 };

/**
 * inline_file_read() - Read a container file
 * @bytes:	Empty, with a maximum of INLINE_FILE_MAX
 *
 * Return: 0; ERR_NOT_FOUND; ERR_TOO_LARGE
 */
int inline_file_read(struct request *req, const char *container,
		     const char *file_id, struct cfile_view *ret,
		     struct buf *bytes, struct error *err);

/** inline_file_content() - The same of one that was looked up just now */
int inline_file_content(struct request *req, const struct cfile_view *file,
			struct buf *bytes, struct error *err);

/**
 * inline_file_write() - Write a container file's bytes as a base64 string
 *
 * Return: whether it was written; not if the file is gone or too large
 */
bool inline_file_write(struct request *req, const char *container,
		       const char *file_id, struct json_writer *w,
		       const char *key);

#endif
