/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_TOOLBOXES_H
#define API_TOOLBOXES_H

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

/**
 * toolboxes_write_version() - A version object
 *
 * The definition is text of ours; without memory its members lack.
 */
void toolboxes_write_version(struct json_writer *w,
			     const struct definition_version_view *version);

#endif
