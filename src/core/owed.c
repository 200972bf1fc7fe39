/* SPDX-License-Identifier: Apache-2.0 */
#include "core/owed.h"

#include <stddef.h>

#include "base/timer.h"
#include "core/core_priv.h"

/*
 * Those that fail again come to the end of the list. As many are tried as there
 * were, whoever is dropped meanwhile, so that this ends in any case.
 */
static void on_due(struct timer *t, void *userdata)
{
	struct core *core = userdata;
	struct owed *owed;
	size_t left = 0;

	(void)t;
	TAILQ_FOREACH (owed, &core->owing.list, entry)
		left++;
	while (left-- > 0 && (owed = TAILQ_FIRST(&core->owing.list))) {
		void (*write)(void *object) = owed->write;

		owed_drop(core, owed);
		write(owed->object);
	}
}

int owing_init(struct core *core)
{
	TAILQ_INIT(&core->owing.list);
	return timer_new(core->event, core->guest_clock, "owing", on_due, core,
			 &core->owing.timer);
}

void owing_done(struct core *core)
{
	struct owed *owed;

	/* Nothing was owed to a core that was never begun. */
	if (!core->owing.timer)
		return;
	while ((owed = TAILQ_FIRST(&core->owing.list))) {
		void (*forget)(void *object) = owed->forget;

		owed_drop(core, owed);
		if (forget)
			forget(owed->object);
	}
	timer_free(core->owing.timer);
	core->owing.timer = NULL;
}

void owed_add(struct core *core, struct owed *owed, void (*write)(void *object),
	      void (*forget)(void *object), void *object)
{
	if (owed->write)
		return;
	*owed = (struct owed){
		.write = write,
		.forget = forget,
		.object = object,
	};
	TAILQ_INSERT_TAIL(&core->owing.list, owed, entry);
	if (timer_deadline(core->owing.timer) == USEC_INFINITY)
		timer_set_after(core->owing.timer, OWED_RETRY_USEC);
}

void owed_drop(struct core *core, struct owed *owed)
{
	if (!owed->write)
		return;
	TAILQ_REMOVE(&core->owing.list, owed, entry);
	owed->write = NULL;
}
