/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TURN_UPSTREAM_PRIVATE_H
#define TURN_UPSTREAM_PRIVATE_H

/* What the parts of the client of models share. */

#include "turn/upstream.h"
#include "turn/upstream_target.h"

struct upstream {
	struct upstream_config config;
	struct upstream_targets targets;
};

/** upstream_find_target() - NULL with ERR_NOT_FOUND if there is none */
struct upstream_target *upstream_find_target(const struct upstream *u,
					     const char *name,
					     struct error *err);

#endif
