/* SPDX-License-Identifier: Apache-2.0 */
/* The agent loop as src/api sees it, above real settings of models. */
#include "fake_turns.h"

#include "test.h"

struct turns {
	struct upstream *upstream;
};

struct turns *fake_turns_new(sd_event *event, struct clock *clock,
			     const struct settings *settings)
{
	const struct upstream_config config = {
		.event = event,
		.clock = clock,
		.settings = settings,
	};
	struct turns *t = calloc(1, sizeof(*t));
	struct error err = ERROR_INIT;

	assert_non_null(t);
	if (upstream_new(&config, &t->upstream, &err) < 0)
		fail_msg("%s", err.message);
	return t;
}

void fake_turns_free(struct turns *t)
{
	upstream_free(t->upstream);
	free(t);
}

struct upstream *turns_upstream(struct turns *t)
{
	return t->upstream;
}
