/* SPDX-License-Identifier: Apache-2.0 */
#include "api/exec_timeout.h"

#include <errno.h>

#include "api/api_private.h"
#include "api/request.h"
#include "base/settings.h"

int exec_timeout_read(const struct request *req, const char *name,
		      double seconds, usec_t most, usec_t *ret,
		      struct error *err)
{
	usec_t max = settings_usec(req->api->config.settings, "exec",
				   "max_timeout");

	*ret = 0;
	if (seconds == 0)
		return 0;
	if (most > 0 && most < max)
		max = most;
	if (seconds * (double)USEC_PER_SEC > (double)max) {
		error_set(err, ERR_BAD_REQUEST,
			  "'%s' is above its maximum of %g", name,
			  (double)max / USEC_PER_SEC);
		error_set_param(err, "%s", name);
		error_set_reason(err, "decimal_above_max_value");
		return -EINVAL;
	}
	*ret = (usec_t)(seconds * (double)USEC_PER_SEC);
	/* 0 would be none. */
	if (*ret == 0)
		*ret = 1;
	return 0;
}
