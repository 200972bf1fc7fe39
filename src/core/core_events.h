/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_CORE_EVENTS_H
#define CORE_CORE_EVENTS_H

/*
 * What happens to sessions, for the operator: a part of core.h, whose rules
 * hold here.
 *
 * The last CORE_EVENTS_KEPT events are kept, once for all who read them. So a
 * reader costs a cursor, however slow it is; what it is too slow for is lost to
 * it, and it is told so. Ids grow, also from one daemon to the next.
 */

#include "core/core.h"

#define CORE_EVENTS_KEPT 1024u
#define CORE_EVENT_READERS_MAX 32u

enum core_event_type {
	CORE_EVENT_SESSION_OPENED,
	CORE_EVENT_SESSION_WARNING, /* it will reach a limit */
	CORE_EVENT_SESSION_ENDED,
	CORE_EVENT_VM_FAILED,
	CORE_EVENT_DRAIN,
	CORE_EVENT_GAP, /* events were lost */

	CORE_EVENT_TYPE_COUNT,
};

/** core_event_name() - As clients read it */
const char *core_event_name(enum core_event_type type);

struct core_events;

/** struct core_events_spec - @resume: go on behind event @after, else from now */
struct core_events_spec {
	bool resume;
	uint64_t after;
	void (*wake)(void *userdata);
	void *userdata;
};

/**
 * core_events_new() - Read events
 *
 * Return: 0; ERR_LIMIT if too many do
 */
int core_events_new(struct core *core, const struct core_events_spec *spec,
		    struct core_events **ret, struct error *err);

/**
 * core_events_next() - The next one
 * @ret_json:	What it says is added, as one JSON object
 *
 * Return: 1; 0 if there is none now, upon which @wake follows, once; or a
 * negative errno
 */
int core_events_next(struct core_events *events, uint64_t *ret_id,
		     enum core_event_type *ret_type, struct buf *ret_json);

void core_events_free(struct core_events *events);

#endif
