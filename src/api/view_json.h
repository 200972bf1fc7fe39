/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_VIEW_JSON_H
#define API_VIEW_JSON_H

/*
 * Core's views as the API's objects. Fields always come in the same order, so
 * that the same object is always the same text.
 */

#include <stdbool.h>

#include "base/json_write.h"
#include "core/core.h"

/** view_json_file() - A file object */
void view_json_file(struct json_writer *w, const char *key,
		    const struct file_view *file);

/** view_json_upload() - An upload object */
void view_json_upload(struct json_writer *w, const char *key,
		      const struct parts_view *upload);

/**
 * view_json_container() - A container object with our "session"
 * @operator:	With tenant and VM, which clients do not see
 */
void view_json_container(struct json_writer *w, const char *key,
			 const struct container_view *container, bool operator);

/** view_json_cfile() - A container file object */
void view_json_cfile_members(struct json_writer *w,
			     const struct cfile_view *file);
void view_json_cfile(struct json_writer *w, const char *key,
		     const struct cfile_view *file);

/** enum view_output - How an execution's stdout and stderr are given */
enum view_output {
	VIEW_OUTPUT_UTF8,	/* what is not valid is replaced */
	VIEW_OUTPUT_BASE64,
	VIEW_OUTPUT_NONE,	/* left out */
};

/** view_json_exec() - An execution object */
void view_json_exec(struct json_writer *w, const char *key,
		    const struct exec_view *exec, enum view_output output);

/** view_json_exec_head() - What is known of an execution when it starts */
void view_json_exec_head(struct json_writer *w, const char *key,
			 const struct exec_view *exec);

/** view_json_bytes() - Output as a string */
void view_json_bytes(struct json_writer *w, const char *key, const void *data,
		     size_t size, enum view_output output);

/** view_json_result() - A displayed object: its MIME types and data */
void view_json_result(struct json_writer *w, const char *key,
		      const struct exec_result *result);

#endif
