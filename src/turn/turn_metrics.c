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

void turns_metrics(const struct turns *turns, figure_fn emit,
		   void *userdata)
{
	const struct turn_figures *figures = &turns->figures;
	char labels[64];

	emit(userdata, "cupola_responses", "gauge",
	     "Responses that are under way", "", count_under_way(turns));
	for (int i = TURN_NONE + 1; i < TURN_OUTCOME_COUNT; i++) {
		(void)snprintf(labels, sizeof(labels), "status=\"%s\"",
			       turn_outcome_name((enum turn_outcome)i));
		emit(userdata, "cupola_responses_total", "counter",
		     "Responses ended", labels, (double)figures->ended[i]);
	}
	emit(userdata, "cupola_response_rounds_total", "counter",
	     "Questions to models for responses", "", (double)figures->rounds);
	emit(userdata, "cupola_response_calls_total", "counter",
	     "Calls of the interpreter by models", "", (double)figures->calls);
	emit(userdata, "cupola_response_seconds_total", "counter",
	     "From request to end, of those that ended", "",
	     (double)figures->usec / USEC_PER_SEC);
}
