/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "turn/turn_priv.h"

/*
 * What a turn used, for the ledger. It is in the write of what the turn came to;
 * only where there is no such write, it has one of its own: models charge for
 * what nobody keeps as well.
 */

/* What its containers are said to be made by, too. */
const char *turn_origin(const struct turn *t)
{
	if (t->ask.conversation[0])
		return t->ask.conversation;
	return t->agent[0] ? t->agent : NULL;
}

void turn_used(const struct turn *t, struct response_usage *ret)
{
	usec_t now = clock_boot(t->turns->config.clock);

	*ret = (struct response_usage){
		.outcome = turn_outcome_name(t->outcome),
		.origin = turn_origin(t),
		.container = t->box.id,
		.took_usec = usec_sub(now, t->began_usec),
		.input_tokens = t->usage.input_tokens,
		.output_tokens = t->usage.output_tokens,
		.tool_calls = t->calls,
	};
	if (t->box.since_usec > 0)
		ret->held_usec = usec_sub(now, t->box.since_usec);
}

static void on_counted(void *userdata, const struct error *err)
{
	(void)userdata;
	if (error_is_set(err))
		log_warning(NULL, 0, "What a response used is not counted: %s",
			    err->message);
}

void turn_count(const struct turn *t)
{
	struct response_usage usage;
	struct error err = ERROR_INIT;
	int r;

	turn_used(t, &usage);
	r = core_response_count(t->turns->config.core, &t->who, t->id, &usage,
				on_counted, NULL, &err);
	if (r < 0)
		on_counted(NULL, &err);
}
