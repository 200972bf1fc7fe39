/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_TOOLBOXES_H
#define API_TOOLBOXES_H

#include <stdbool.h>

#include "base/error.h"
#include "base/json_write.h"
#include "core/core.h"

struct request;

/**
 * toolboxes_find_version() - The version that a path names
 *
 * The first parameter of the route is a toolbox's name, the second, if there is
 * one, a version; else it is the default version. The query must have an
 * "api-version".
 *
 * Return: 0; ERR_BAD_REQUEST; ERR_NOT_FOUND
 */
int toolboxes_find_version(struct request *req,
			   struct definition_version_view *ret,
			   struct error *err);

/** toolboxes_check_call() - What any call of a project has to have */
int toolboxes_check_call(struct request *req, struct error *err);

/** toolboxes_name_is_valid() - 1 to 63 letters, digits and inner hyphens */
bool toolboxes_name_is_valid(const char *name);

/**
 * toolboxes_write_version() - A version object
 *
 * The definition is text of ours; without memory its members lack.
 */
void toolboxes_write_version(struct json_writer *w,
			     const struct definition_version_view *version);

#endif
