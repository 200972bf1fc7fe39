/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UNIT_FAKE_TURNS_H
#define UNIT_FAKE_TURNS_H

/*
 * Stands in for the agent loop in tests of src/api, above real settings of
 * models. There is one response; what happens to it is the test's to say.
 */

#include "turn/turn.h"

#define FAKE_RESPONSE "resp_1"

/**
 * struct turns - What the test may look at and turn
 * @refusal:	What turn_create() or its callback says, if it is set
 * @late:	It is the callback that says so
 * @held:	It waits until it is abandoned
 * @events:	Events that there are; each has its number as JSON
 * @over:	No more come
 * @failure:	Why it failed, if it did
 * @kept:	It can be looked at by its id
 * @input, @project, @agent: Of the last request
 * @include:	Of the last look at it
 */
struct turns {
	struct upstream *upstream;
	sd_event *event;
	sd_event_source *later;
	struct error refusal;
	bool late;
	bool held;
	bool stream;
	bool background;
	uint64_t events;
	bool over;
	struct error failure;
	bool has_run;
	bool kept;
	char input[256];
	char project[64];
	char agent[64];
	unsigned include;
	unsigned watches;
	unsigned abandoned;
	unsigned cancelled;
	unsigned deleted;

	turn_fn done;
	core_done_fn deleted_done;
	void *userdata;
	struct turn_watch *watch; /* the last one */
};

struct turns *fake_turns_new(sd_event *event, struct clock *clock,
			     const struct settings *settings);
void fake_turns_free(struct turns *turns);

/** fake_turns_wake() - Tell the reader that something has changed */
void fake_turns_wake(struct turns *turns);

#endif
