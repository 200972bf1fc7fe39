/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_REPLY_H
#define API_REPLY_H

/*
 * Making answers. A handler, or the callback of core that it waits for, calls
 * exactly one of these; the request then has its answer.
 */

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/json_write.h"

struct cfile_view;
struct request;

/** reply_writer() - A writer for the answer's JSON, at its beginning */
struct json_writer *reply_writer(struct request *req);

/** reply_json() - Answer with what was written */
int reply_json(struct request *req, unsigned status, struct error *err);

/** reply_written() - Answer with the JSON text that is in @req->out */
int reply_written(struct request *req, unsigned status, struct error *err);

/** reply_text() - Answer with text of another type; taken over on success */
int reply_text(struct request *req, const char *type, struct buf *text,
	       struct error *err);

/**
 * reply_stream() - Answer with a body that is made while it is sent
 * @piece:	Bytes that @read is asked for at a time, at most
 * @read, @done: As microhttpd.h has them, with @userdata; @done may be NULL, and
 *		is called if the call succeeds only
 */
int reply_stream(struct request *req, size_t piece,
		 MHD_ContentReaderCallback read,
		 MHD_ContentReaderFreeCallback done, void *userdata,
		 struct error *err);

/** reply_empty() - Answer with a status that has no body */
int reply_empty(struct request *req, unsigned status, struct error *err);

/**
 * reply_failure() - What core's callback begins with: whether the call failed
 *
 * A failure has been answered then, and the request may be gone.
 */
bool reply_failure(struct request *req, const struct error *err);

/** reply_ok() - What it ends with: answer 200 with what was written */
void reply_ok(struct request *req);

/**
 * reply_deleted() - What a delete's callback does: answer, or fail
 * @object:	What the answer calls it; the id is the path's last
 */
void reply_deleted(struct request *req, const char *object,
		   const struct error *err);

/** reply_gone() - The same where there is nothing to say: 204; a core_done_fn */
void reply_gone(void *request, const struct error *err);

/**
 * reply_file() - Answer with a file's bytes, or the range that was asked for
 * @fd:		Taken over if the call succeeds
 * @bytes:	Length of the file
 * @filename:	What the client should save it as
 * @sha256:	Its digest, which is its ETag
 */
int reply_file(struct request *req, int fd, uint64_t bytes,
	       const char *filename, const uint8_t sha256[32],
	       struct error *err);

/** reply_cfile() - The same of a container's file; *@fd is -1 once it is taken */
int reply_cfile(struct request *req, int *fd, const struct cfile_view *file,
		struct error *err);

/** reply_error() - Answer with a failure; cannot fail itself */
void reply_error(struct request *req, const struct error *err);

/**
 * reply_forbid_sharing() - Tell caches that the answer is one tenant's
 *
 * A file that is asked for again may be compared by its ETag, with us.
 */
void reply_forbid_sharing(struct request *req);

/** reply_header() - Add a header field to the answer; without memory, it lacks */
void reply_header(struct request *req, const char *name, const char *value);

/** reply_header_int() - The same for a number */
void reply_header_int(struct request *req, const char *name, int64_t value);

/**
 * reply_attachment() - Say of the answer that it is to be saved, never shown
 * @type:	NULL: nothing in particular
 * @filename:	As what
 */
void reply_attachment(struct request *req, const char *type,
		      const char *filename);

#endif
