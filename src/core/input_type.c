/* SPDX-License-Identifier: Apache-2.0 */
#include "core/input_type.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "core/core_priv.h"

static int refuse(const char *what, struct error *err)
{
	_cleanup_(buf_done) struct buf allowed = BUF_INIT(ERROR_MESSAGE_MAX);

	(void)media_type_inputs(&allowed);
	error_set(err, ERR_BAD_REQUEST, "%s; allowed are %s", what,
		  buf_str(&allowed));
	error_set_param(err, "file");
	error_set_reason(err, "unsupported_file");
	return -EINVAL;
}

int input_type_check(const struct core *core, const char *name,
		     const char *purpose, struct error *err)
{
	if (!core->set.strict_types)
		return 0;
	if (purpose && strcmp(purpose, "assistants") != 0) {
		error_set(err, ERR_BAD_REQUEST,
			  "'purpose' must be 'assistants'");
		error_set_param(err, "purpose");
		error_set_reason(err, "invalid_value");
		return -EINVAL;
	}
	if (!media_type_is_input(name))
		return refuse("Files of this type are not taken", err);
	return 0;
}

int input_type_decide(const struct core *core, const char *name,
		      const char *found, char ret[MEDIA_TYPE_SIZE],
		      struct error *err)
{
	const char *type = media_type_decide(name, found);
	const char *named = media_type_of_name(name);

	if (core->set.strict_types && (!named || strcmp(type, named) != 0))
		return refuse("The content is of another type than the name",
			      err);
	(void)snprintf(ret, MEDIA_TYPE_SIZE, "%s", type);
	return 0;
}
