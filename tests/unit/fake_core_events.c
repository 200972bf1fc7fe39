/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "fake_core_impl.h"

/* Events that the test counts up, and a drain that only notes what it was told. */

struct core_events {
	struct core *core;
	struct core_events_spec spec;
	uint64_t next;
};

const char *core_event_name(enum core_event_type type)
{
	return type == CORE_EVENT_GAP ? "gap" : "session.opened";
}

int core_events_new(struct core *core, const struct core_events_spec *spec,
		    struct core_events **ret, struct error *err)
{
	(void)err;
	*ret = calloc(1, sizeof(**ret));
	if (!*ret)
		abort();
	**ret = (struct core_events){
		.core = core,
		.spec = *spec,
		.next = spec->resume ? spec->after + 1 : core->happened + 1,
	};
	core->follower = *ret;
	return 0;
}

int core_events_next(struct core_events *events, uint64_t *ret_id,
		     enum core_event_type *ret_type, struct buf *ret_json)
{
	if (events->next > events->core->happened)
		return 0;
	*ret_id = events->next++;
	*ret_type = CORE_EVENT_SESSION_OPENED;
	return buf_add_str(ret_json, "{\"a\":1}") < 0 ? -1 : 1;
}

void core_events_free(struct core_events *events)
{
	events->core->follower = NULL;
	free(events);
}

void fake_core_happen(struct core *core)
{
	core->happened++;
	if (core->follower)
		core->follower->spec.wake(core->follower->spec.userdata);
}

int core_admin_drain(struct core *core, usec_t wait, json_fn done,
		     void *userdata, struct error *err)
{
	core->drain = true;
	core->drain_wait = wait;
	return core_admin_audit(core, done, userdata, err);
}

int core_admin_undrain(struct core *core, json_fn done, void *userdata,
		       struct error *err)
{
	core->drain = false;
	return core_admin_audit(core, done, userdata, err);
}

int core_admin_drain_get(struct core *core, struct buf *ret_json,
			 struct error *err)
{
	return core_admin_status(core, ret_json, err);
}
