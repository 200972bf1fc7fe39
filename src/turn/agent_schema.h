/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TURN_AGENT_SCHEMA_H
#define TURN_AGENT_SCHEMA_H

/*
 * As much of JSON Schema as structured inputs need: "type" (one or several),
 * "enum", "minLength", "maxLength", "minimum", "maximum", "items", "properties"
 * and "required". Other keywords describe and do not bind.
 */

#include "base/error.h"
#include "base/json.h"

/** agent_refuse() - error_refuse() with "Invalid 'PATH': WHAT" */
int agent_refuse(struct error *err, const char *path, const char *reason,
		 const char *what);

/**
 * agent_schema_check() - Whether a schema makes sense
 * @schema:	NULL: anything goes
 * @path:	Where it is, for the error
 */
int agent_schema_check(const struct json_object *schema, const char *path,
		       struct error *err);

/** agent_schema_apply() - Whether a value is what a checked schema wants */
int agent_schema_apply(const struct json_object *schema,
		       const struct json_object *value, const char *path,
		       struct error *err);

#endif
