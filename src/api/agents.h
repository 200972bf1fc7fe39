/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_AGENTS_H
#define API_AGENTS_H

/* What agents*.c share. */

#include "base/error.h"
#include "base/json_write.h"
#include "core/core.h"

struct request;

/** agents_write() - An agent, with its latest version in it */
void agents_write(struct json_writer *w, const struct definition_view *agent,
		  const struct definition_version_view *latest);

/**
 * agents_write_version() - A version object
 *
 * The definition is text of ours; without memory its members lack.
 */
void agents_write_version(struct json_writer *w,
			  const struct definition_version_view *version);

/** agents_reply() - Answer with an agent as it is now */
int agents_reply(struct request *req, const struct definition_name *name,
		 struct error *err);

#endif
