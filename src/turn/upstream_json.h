/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TURN_UPSTREAM_JSON_H
#define TURN_UPSTREAM_JSON_H

/* Members of objects whose makers may leave out what they like. */

#include <stdbool.h>
#include <stdint.h>

struct json_object;

/** upstream_json_text() - A member that is a string, else "" */
const char *upstream_json_text(const struct json_object *object,
			       const char *key);

/** upstream_json_is_type() - Whether "type" is this word */
bool upstream_json_is_type(const struct json_object *object, const char *type);

/** upstream_json_uint() - A member that is a number from 0 on, else 0 */
uint64_t upstream_json_uint(const struct json_object *object, const char *key);

#endif
