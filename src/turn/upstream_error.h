/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TURN_UPSTREAM_ERROR_H
#define TURN_UPSTREAM_ERROR_H

/*
 * What a model's server says when it fails, as our clients are told it.
 *
 * Its status and its words go on to the client; only the key never does, should
 * a server repeat it. That our key is refused is not the client's doing, so it
 * is no 401 again.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct json_object;

enum {
	UPSTREAM_ERROR_BODY_MAX = 64 << 10, /* of a body that is read */
};

/**
 * struct upstream_failure - Why a try failed
 * @transient:	It may succeed when repeated
 */
struct upstream_failure {
	struct error error;
	bool transient;
};

/**
 * upstream_error_of_status() - A status other than 2xx
 * @retry_after_sec: What the answer said, or 0
 * @key:	To be taken out of the words; or NULL
 */
void upstream_error_of_status(long status, const char *body, size_t size,
			      unsigned retry_after_sec, const char *key,
			      struct upstream_failure *ret);

/** upstream_error_of_event() - An error in the middle of a stream */
void upstream_error_of_event(const struct json_object *error, const char *key,
			     struct upstream_failure *ret);

#endif
