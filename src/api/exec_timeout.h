/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_EXEC_TIMEOUT_H
#define API_EXEC_TIMEOUT_H

/* The time limit that a request gives an execution, in whichever dialect. */

#include "base/clock.h"
#include "base/error.h"

struct request;

/**
 * exec_timeout_read() - Take a limit, or refuse it: it is never cut
 * @name:	Of its field, for @err
 * @seconds:	What the field says; 0: it is not there
 * @most:	That is allowed beside exec.max_timeout; 0: that alone counts
 * @ret:	The limit; 0: not given
 *
 * Return: 0 or -EINVAL
 */
int exec_timeout_read(const struct request *req, const char *name,
		      double seconds, usec_t most, usec_t *ret,
		      struct error *err);

#endif
