/* SPDX-License-Identifier: Apache-2.0 */
#include "core/pool_metrics.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>

#include "core/container.h"

/*
 * All figures of a family come in a row, so that each is asked of all pools
 * before the next.
 */

/* Two labels, one with a pool's name, which is a label by its own rules. */
#define LABELS_MAX 256

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define MSEC(n) ((n) * USEC_PER_MSEC)

/* Of what machines do, and of what user code does. */
static const struct histogram_scale machine_scale = {
	.count = 14,
	.bounds = { MSEC(1), MSEC(2), MSEC(5), MSEC(10), MSEC(25), MSEC(50),
		    MSEC(100), MSEC(250), MSEC(500), MSEC(1000), MSEC(2500),
		    MSEC(5000), MSEC(10000), MSEC(30000) },
};
static const struct histogram_scale code_scale = {
	.count = 14,
	.bounds = { MSEC(5), MSEC(10), MSEC(25), MSEC(50), MSEC(100), MSEC(250),
		    MSEC(500), MSEC(1000), MSEC(2500), MSEC(5000), MSEC(10000),
		    MSEC(30000), MSEC(60000), MSEC(300000) },
};

static const char *const claim_names[] = {
	[CLAIM_READY] = "ready",
	[CLAIM_BOOTING] = "booting",
	[CLAIM_NOTHING] = "nothing",
	[CLAIM_SPECIAL] = "special",
};
static_assert(COUNT(claim_names) == CLAIM_COUNT,
	      "claim_names[] doesn't match enum claim");

static const char *const harvest_names[] = {
	[HARVEST_EXECUTION] = "execution",
	[HARVEST_SESSION] = "session",
};
static_assert(COUNT(harvest_names) == HARVEST_COUNT,
	      "harvest_names[] doesn't match enum harvest_of");

const char *claim_name(enum claim claim)
{
	return claim_names[claim];
}

void pool_metrics_boot(struct pool_metrics *m, const struct boot_trace *trace)
{
	int i;

	for (i = 0; i < BOOT_STAGE_COUNT; i++)
		if (i != BOOT_FIRST_EXECUTION)
			histogram_add(&m->boots[i], &machine_scale,
				      trace->usec[i]);
}

void pool_metrics_first(struct pool_metrics *m, usec_t usec)
{
	histogram_add(&m->boots[BOOT_FIRST_EXECUTION], &machine_scale, usec);
}

void pool_metrics_create(struct pool_metrics *m, enum claim found, usec_t usec)
{
	histogram_add(&m->creates[found], &machine_scale, usec);
}

void pool_metrics_execution(struct pool_metrics *m, usec_t usec)
{
	histogram_add(&m->executions, &code_scale, usec);
}

void pool_metrics_harvest(struct pool_metrics *m, enum harvest_of of,
			  usec_t usec)
{
	histogram_add(&m->harvests[of], &machine_scale, usec);
}

/* ---------------------------------------------------------------- figures */

static double vms_of(const struct pool *pool)
{
	return (double)pool->vm_count;
}

static double ready_of(const struct pool *pool)
{
	return (double)pool_ready_count(pool);
}

static double waiting_of(const struct pool *pool)
{
	return pool->waiting.count;
}

static double max_of(const struct pool *pool)
{
	return (double)pool->max;
}

static const struct {
	struct family family;
	double (*of)(const struct pool *pool);
} gauges[] = {
	{ { "cupola_pool_vms", "gauge", "VMs of a pool" }, vms_of },
	{ { "cupola_pool_ready_vms", "gauge", "VMs ready to be claimed" },
	  ready_of },
	{ { "cupola_pool_waiting_creates", "gauge",
	    "Creates that wait for room" }, waiting_of },
	{ { "cupola_pool_max_vms", "gauge", "VMs a pool may have" }, max_of },
};

static const char *stage_name(unsigned value)
{
	return boot_stage_name((enum boot_stage)value);
}

static const char *found_name(unsigned value)
{
	return claim_name((enum claim)value);
}

static const char *harvest_name(unsigned value)
{
	return harvest_names[value];
}

/*
 * The histograms of struct pool_metrics; where there are several, each has a
 * label that tells it from the others.
 */
static const struct {
	struct family family;
	const struct histogram_scale *scale;
	size_t at;
	unsigned count;
	const char *label; /* NULL: there is one */
	const char *(*value)(unsigned value);
} histograms[] = {
	{ { "cupola_boot_seconds", "histogram", "Stages of the starts of VMs" },
	  &machine_scale, offsetof(struct pool_metrics, boots),
	  BOOT_STAGE_COUNT, "stage", stage_name },
	{ { "cupola_create_seconds", "histogram",
	    "From a create until the session takes executions" },
	  &machine_scale, offsetof(struct pool_metrics, creates), CLAIM_COUNT,
	  "found", found_name },
	{ { "cupola_execution_seconds", "histogram",
	    "Wall time of executions in guests" },
	  &code_scale, offsetof(struct pool_metrics, executions), 1, NULL,
	  NULL },
	{ { "cupola_harvest_seconds", "histogram",
	    "From the end of an execution or session until its files are kept" },
	  &machine_scale, offsetof(struct pool_metrics, harvests),
	  HARVEST_COUNT, "of", harvest_name },
};

static void emit_histograms(const struct pool *pool, size_t which,
			    figure_fn emit, void *userdata)
{
	const struct histogram *h =
		(const void *)((const char *)&pool->metrics +
			       histograms[which].at);
	char labels[LABELS_MAX];
	unsigned i;
	int n;

	n = snprintf(labels, sizeof(labels), "pool=\"%s\"", pool->name);
	for (i = 0; i < histograms[which].count; i++) {
		if (histograms[which].label)
			(void)snprintf(labels + n, sizeof(labels) - (size_t)n,
				       ",%s=\"%s\"", histograms[which].label,
				       histograms[which].value(i));
		histogram_emit(&h[i], histograms[which].scale,
			       &histograms[which].family, labels, emit,
			       userdata);
	}
}

void pool_metrics_emit(const struct core *core, figure_fn emit, void *userdata)
{
	const struct pools *pools = &core->pools;
	char labels[LABELS_MAX];
	size_t f, i;

	for (f = 0; f < COUNT(gauges); f++)
		for (i = 0; i < pools->count; i++) {
			(void)snprintf(labels, sizeof(labels), "pool=\"%s\"",
				       pools->pool[i].name);
			emit(userdata, &gauges[f].family, "", labels,
			     gauges[f].of(&pools->pool[i]));
		}
	for (f = 0; f < COUNT(histograms); f++)
		for (i = 0; i < pools->count; i++)
			emit_histograms(&pools->pool[i], f, emit, userdata);
}
