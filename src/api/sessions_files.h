/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_SESSIONS_FILES_H
#define API_SESSIONS_FILES_H

/* Dynamic sessions: what calls about one file and the list of all share. */

#include "base/error.h"
#include "base/json_write.h"
#include "base/name.h"

struct cfile_view;
struct request;

/* Where a session's files are, in the guest and in views. */
#define SESSION_DATA_DIR "/mnt/data/"

/**
 * session_directory_read() - "sub/dir" of "path=/sub/dir/"
 * @ret:	Empty for the data directory itself
 */
int session_directory_read(struct request *req, char ret[NAME_PATH_MAX + 1],
			   struct error *err);

/**
 * session_file_wrapped() - A file as the old family shows it
 * @id:		The "$id" that was given last; goes on
 */
void session_file_wrapped(struct json_writer *w, const struct cfile_view *file,
			  unsigned *id);

/** session_file_entry() - A file as the new family shows it */
void session_file_entry(struct json_writer *w, const struct cfile_view *file);

#endif
