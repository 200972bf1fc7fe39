/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TURN_UPSTREAM_PRIVATE_H
#define TURN_UPSTREAM_PRIVATE_H

/* What the parts of the client of models share. */

#include <sys/queue.h>

#include "turn/upstream.h"
#include "turn/upstream_target.h"

struct upstream_transfers;

struct upstream {
	struct upstream_config config;
	struct upstream_targets targets;
	struct upstream_transfers *transfers;
	TAILQ_HEAD(, upstream_probe_job) probes;
};

/** upstream_find_target() - NULL with ERR_NOT_FOUND if there is none */
struct upstream_target *upstream_find_target(const struct upstream *u,
					     const char *name,
					     struct error *err);

/** upstream_end_probes() - Call back for those that are under way */
void upstream_end_probes(struct upstream *u);

/** upstream_count_end() - For upstream_metrics(); @first_usec is 0 without */
void upstream_count_end(struct upstream_target *target,
			const struct upstream_end *end, usec_t began_usec,
			usec_t first_usec, usec_t now_usec);

#endif
