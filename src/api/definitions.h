/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_DEFINITIONS_H
#define API_DEFINITIONS_H

/*
 * What the calls for toolboxes and agents have in common: both are core's
 * definitions, within a project.
 */

#include "base/error.h"
#include "base/json_write.h"
#include "core/core.h"

struct json_object;
struct request;

enum {
	DEFINITIONS_DESCRIPTION_MAX = 4096,
	DEFINITIONS_PAGE_DEFAULT = 20,
};

/** definitions_check_call() - What any call of a project has to have */
int definitions_check_call(struct request *req, struct error *err);

/**
 * definitions_read_name() - Which one the path means, by its first parameter
 *
 * Return: 0; ERR_BAD_REQUEST; ERR_NOT_FOUND for what cannot be a name
 */
int definitions_read_name(struct request *req, enum definition_kind kind,
			  struct definition_name *ret, struct error *err);

/** definitions_read_version() - Which one a text means; ERR_NOT_FOUND */
int definitions_read_version(const char *text,
			     const struct definition_name *name, uint64_t *ret,
			     struct error *err);

/** definitions_refuse_name() - A new one would have an impossible name */
int definitions_refuse_name(struct error *err);

/** definitions_write_version() - A version's number, as the string it is */
void definitions_write_version(struct json_writer *w, const char *key,
			       uint64_t version);

/**
 * definitions_write_end() - Close a version's text, which has its own ceiling
 *
 * Return: 0; ERR_BAD_REQUEST if it is larger than that
 */
int definitions_write_end(struct json_writer *w, struct error *err);

#endif
