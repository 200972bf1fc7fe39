/* SPDX-License-Identifier: Apache-2.0 */
#include "turn/turn.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"

struct turns {
	struct turns_config config;
	struct upstream *upstream;
};

DEFINE_FREEP(struct turns, turns_free);

int turns_new(const struct turns_config *config, struct turns **ret,
	      struct error *err)
{
	_cleanup_(turns_freep) struct turns *t = calloc(1, sizeof(*t));
	const struct upstream_config upstream = {
		.event = config->event,
		.clock = config->clock,
		.settings = config->settings,
	};
	int r;

	if (!t)
		return error_set_errno(err, -ENOMEM,
				       "Cannot prepare the agent loop");
	t->config = *config;
	r = upstream_new(&upstream, &t->upstream, err);
	if (r < 0)
		return r;
	*ret = take_ptr(t);
	return 0;
}

void turns_free(struct turns *t)
{
	if (!t)
		return;
	upstream_free(t->upstream);
	free(t);
}

struct upstream *turns_upstream(struct turns *t)
{
	return t->upstream;
}
