/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_POOL_METRICS_H
#define CORE_POOL_METRICS_H

/* What took how long in the VMs of a pool, and how many it has. */

#include "base/histogram.h"
#include "core/boot_trace.h"
#include "core/metrics.h"

struct core;

/** enum harvest_of - Whose files were taken out of a guest */
enum harvest_of {
	HARVEST_EXECUTION,
	HARVEST_SESSION, /* the last ones, at its end */

	HARVEST_COUNT,
};

/** struct pool_metrics - Private */
struct pool_metrics {
	struct histogram boots[BOOT_STAGE_COUNT];
	struct histogram creates[CLAIM_COUNT];
	struct histogram executions;
	struct histogram harvests[HARVEST_COUNT];
};

/** pool_metrics_boot() - A VM became ready: all stages but its first execution */
void pool_metrics_boot(struct pool_metrics *m, const struct boot_trace *trace);

/** pool_metrics_first() - And that */
void pool_metrics_first(struct pool_metrics *m, usec_t usec);

/** pool_metrics_create() - From the request until it takes executions */
void pool_metrics_create(struct pool_metrics *m, enum claim found,
			 usec_t usec);

/** pool_metrics_execution() - Wall time in the guest */
void pool_metrics_execution(struct pool_metrics *m, usec_t usec);

/** pool_metrics_harvest() - From the end of the work until files are durable */
void pool_metrics_harvest(struct pool_metrics *m, enum harvest_of of,
			  usec_t usec);

/** pool_metrics_emit() - A part of core_metrics() */
void pool_metrics_emit(const struct core *core, figure_fn emit,
		       void *userdata);

#endif
