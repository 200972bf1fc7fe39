/* SPDX-License-Identifier: Apache-2.0 */
#include "core/metrics.h"

#include <stdio.h>

#include "base/log.h"
#include "core/container.h"
#include "core/pool_metrics.h"
#include "core/vm.h"

#define LABELS_MAX 64

struct emitter {
	figure_fn emit;
	void *userdata;
};

static void counter(const struct emitter *e, const char *name, const char *help,
		    const char *labels, double value)
{
	const struct family family = { name, "counter", help };

	e->emit(e->userdata, &family, "", labels, value);
}

static void gauge(const struct emitter *e, const char *name, const char *help,
		  const char *labels, double value)
{
	const struct family family = { name, "gauge", help };

	e->emit(e->userdata, &family, "", labels, value);
}

static double seconds(usec_t usec)
{
	return (double)usec / USEC_PER_SEC;
}

static void emit_sessions(const struct core *core, const struct emitter *e)
{
	const struct metrics *m = &core->metrics;
	char labels[LABELS_MAX];
	int i;

	gauge(e, "cupola_sessions", "Sessions that live", "",
	      (double)core->containers.count);
	counter(e, "cupola_sessions_created_total", "Sessions begun", "",
		(double)m->sessions_created);
	for (i = END_NONE + 1; i < END_REASON_COUNT; i++) {
		(void)snprintf(labels, sizeof(labels), "reason=\"%s\"",
			       end_reason_name((enum end_reason)i));
		counter(e, "cupola_sessions_ended_total", "Sessions ended",
			labels, (double)m->sessions_ended[i]);
	}
}

static void emit_executions(const struct core *core, const struct emitter *e)
{
	const struct metrics *m = &core->metrics;
	char labels[LABELS_MAX];
	int i;

	for (i = EXEC_OK; i < EXEC_STATUS_COUNT; i++) {
		(void)snprintf(labels, sizeof(labels), "status=\"%s\"",
			       exec_status_name((enum exec_status)i));
		counter(e, "cupola_executions_total", "Executions ended",
			labels, (double)m->executions[i]);
	}
	counter(e, "cupola_executing_seconds_total",
		"Wall time of executions in guests", "",
		seconds(m->executing_usec));
	counter(e, "cupola_executing_cpu_seconds_total",
		"CPU time of user code in these", "",
		seconds(m->executing_cpu_usec));
	counter(e, "cupola_executing_awaited_seconds_total",
		"The same wall time and the way to the guest and back", "",
		seconds(m->awaited_usec));
	counter(e, "cupola_artifacts_total", "Files taken out of guests", "",
		(double)m->artifacts);
	counter(e, "cupola_artifact_bytes_total", "Bytes of these", "",
		(double)m->artifact_bytes);
}

static void emit_boots(const struct core *core, const struct emitter *e)
{
	const struct metrics *m = &core->metrics;
	char labels[LABELS_MAX];
	int i;

	for (i = 0; i < CLAIM_COUNT; i++) {
		(void)snprintf(labels, sizeof(labels), "found=\"%s\"",
			       claim_name((enum claim)i));
		counter(e, "cupola_claims_total", "Creates by what they found",
			labels, (double)m->claims[i]);
	}
	counter(e, "cupola_boots_failed_total",
		"VMs that did not become ready", "", (double)m->boots_failed);
}

static void emit_queue(const struct core *core, const struct emitter *e)
{
	const struct metrics *m = &core->metrics;

	counter(e, "cupola_creates_queued_total",
		"Creates that had to wait for room", "",
		(double)m->creates_queued);
	counter(e, "cupola_creates_refused_total",
		"Creates that found no room", "why=\"late\"",
		(double)m->creates_late);
	counter(e, "cupola_creates_refused_total",
		"Creates that found no room", "why=\"queue_full\"",
		(double)m->creates_full);
	counter(e, "cupola_creates_queue_seconds_total",
		"Time that creates waited which then found room", "",
		seconds(m->queue_usec));
}

static void emit_log(const struct emitter *e)
{
	counter(e, "cupola_log_lost_total", "Entries that nobody took",
		"of=\"log\"", (double)log_lost(LOG_KIND_LOG));
	counter(e, "cupola_log_lost_total", "Entries that nobody took",
		"of=\"audit\"", (double)log_lost(LOG_KIND_AUDIT));
}

void core_metrics(struct core *core, figure_fn emit, void *userdata)
{
	const struct emitter e = { emit, userdata };

	emit_sessions(core, &e);
	emit_executions(core, &e);
	emit_boots(core, &e);
	emit_queue(core, &e);
	pool_metrics_emit(core, emit, userdata);
	emit_log(&e);
	gauge(&e, "cupola_draining", "Whether new sessions are refused", "",
	      core->drain.on || core->stopping);
	gauge(&e, "cupola_memory_bytes", "Memory that VMs may take", "",
	      (double)(core->admission.budget_mib << 20));
	gauge(&e, "cupola_memory_taken_bytes", "Memory that admission counts",
	      "", (double)(core->admission.taken_mib << 20));
	gauge(&e, "cupola_vms", "VMs in the ledger", "",
	      (double)core->vms.count);
}
