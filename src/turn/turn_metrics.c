/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "turn/turn_priv.h"

/* What the loop has done; what models cost is upstream_metrics()'s. */

static double count_under_way(const struct turns *turns)
{
	const struct turn *t;
	double n = 0;

	TAILQ_FOREACH (t, &turns->all, next)
		n += t->state != TURN_OVER;
	return n;
}

static void emit_ended(const struct turn_figures *figures, figure_fn emit,
		       void *userdata)
{
	static const struct family ended = {
		"cupola_responses_total", "counter", "Responses ended",
	};
	char labels[64];

	for (int i = TURN_NONE + 1; i < TURN_OUTCOME_COUNT; i++) {
		(void)snprintf(labels, sizeof(labels), "status=\"%s\"",
			       turn_outcome_name((enum turn_outcome)i));
		emit(userdata, &ended, "", labels, (double)figures->ended[i]);
	}
}

void turns_metrics(const struct turns *turns, figure_fn emit,
		   void *userdata)
{
	static const struct family under_way = {
		"cupola_responses", "gauge", "Responses that are under way",
	};
	static const struct family rounds = {
		"cupola_response_rounds_total", "counter",
		"Questions to models for responses",
	};
	static const struct family calls = {
		"cupola_response_calls_total", "counter",
		"Calls of the interpreter by models",
	};
	static const struct family time = {
		"cupola_response_seconds_total", "counter",
		"From request to end, of those that ended",
	};
	const struct turn_figures *figures = &turns->figures;

	emit(userdata, &under_way, "", "", count_under_way(turns));
	emit_ended(figures, emit, userdata);
	emit(userdata, &rounds, "", "", (double)figures->rounds);
	emit(userdata, &calls, "", "", (double)figures->calls);
	emit(userdata, &time, "", "", (double)figures->usec / USEC_PER_SEC);
}
