/* SPDX-License-Identifier: Apache-2.0 */
#include "core/notice.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json_write.h"
#include "core/container.h"
#include "core/core_priv.h"
#include "core/vm.h"

/*
 * struct core_events - A reader
 * @next:	Id of the event that it has not had yet
 * @asleep:	It was told that there is none
 */
struct core_events {
	LIST_ENTRY(core_events) in_readers;
	struct core *core;
	uint64_t next;
	bool asleep;
	void (*wake)(void *userdata);
	void *userdata;
};

static const char *const names[] = {
	[CORE_EVENT_SESSION_OPENED] = "session.opened",
	[CORE_EVENT_SESSION_WARNING] = "session.warning",
	[CORE_EVENT_SESSION_ENDED] = "session.ended",
	[CORE_EVENT_VM_FAILED] = "vm.failed",
	[CORE_EVENT_DRAIN] = "drain",
	[CORE_EVENT_GAP] = "gap",
};
static_assert(sizeof(names) / sizeof(names[0]) == CORE_EVENT_TYPE_COUNT,
	      "names[] doesn't match enum core_event_type");

const char *core_event_name(enum core_event_type type)
{
	return names[type];
}

int notices_init(struct core *core)
{
	struct notices *n = &core->notices;

	LIST_INIT(&n->readers);
	n->kept = calloc(CORE_EVENTS_KEPT, sizeof(*n->kept));
	/* So ids go on growing where the daemon before left off. */
	n->first = n->next = clock_wall(core->clock);
	return n->kept ? 0 : -ENOMEM;
}

void notices_done(struct core *core)
{
	free(take_ptr(core->notices.kept));
}

/* ------------------------------------------------------------------- making */

static void notice_add(struct core *core, const struct notice *notice)
{
	struct notices *n = &core->notices;
	struct core_events *reader, *next;

	n->kept[n->next % CORE_EVENTS_KEPT] = *notice;
	n->next++;
	if (n->next - n->first > CORE_EVENTS_KEPT)
		n->first++;
	for (reader = LIST_FIRST(&n->readers); reader; reader = next) {
		next = LIST_NEXT(reader, in_readers);
		if (!reader->asleep)
			continue;
		reader->asleep = false;
		reader->wake(reader->userdata);
	}
}

static struct notice notice_of(const struct container *c,
			       enum core_event_type type)
{
	struct notice n = {
		.type = type,
		.at_usec = clock_wall(c->core->clock),
		.reason = c->reason,
	};

	strcpy(n.container, c->id);
	strcpy(n.tenant, c->tenant->id);
	(void)snprintf(n.pool, sizeof(n.pool), "%s", c->pool->name);
	if (c->vm)
		strcpy(n.vm, c->vm->id);
	return n;
}

void notice_opened(const struct container *c)
{
	struct notice n = notice_of(c, CORE_EVENT_SESSION_OPENED);

	notice_add(c->core, &n);
}

void notice_ended(const struct container *c)
{
	struct notice n = notice_of(c, CORE_EVENT_SESSION_ENDED);

	notice_add(c->core, &n);
}

void notice_warning(const struct container *c, enum end_reason reason,
		    usec_t left)
{
	struct notice n = notice_of(c, CORE_EVENT_SESSION_WARNING);

	n.reason = reason;
	n.ends_usec = usec_add(n.at_usec, left);
	notice_add(c->core, &n);
}

void notice_vm_failed(const struct vm *vm, enum end_reason reason,
		      const char *message)
{
	struct notice n = {
		.type = CORE_EVENT_VM_FAILED,
		.at_usec = clock_wall(vm->core->clock),
		.reason = reason,
	};

	strcpy(n.vm, vm->id);
	(void)snprintf(n.pool, sizeof(n.pool), "%s", vm->pool->name);
	if (vm->container) {
		strcpy(n.container, vm->container->id);
		strcpy(n.tenant, vm->container->tenant->id);
	}
	(void)snprintf(n.message, sizeof(n.message), "%s",
		       message ? message : end_reason_sentence(reason));
	notice_add(vm->core, &n);
}

void notice_drain(struct core *core, const char *message, uint64_t sessions)
{
	struct notice n = {
		.type = CORE_EVENT_DRAIN,
		.at_usec = clock_wall(core->clock),
		.sessions = sessions,
	};

	(void)snprintf(n.message, sizeof(n.message), "%s", message);
	notice_add(core, &n);
}

/* ------------------------------------------------------------------ reading */

int core_events_new(struct core *core, const struct core_events_spec *spec,
		    struct core_events **ret, struct error *err)
{
	struct notices *n = &core->notices;
	struct core_events *events;

	if (n->reader_count >= CORE_EVENT_READERS_MAX)
		return error_set(err, ERR_LIMIT,
				 "%u readers follow the events already",
				 n->reader_count);
	events = calloc(1, sizeof(*events));
	if (!events)
		return error_set_errno(err, -ENOMEM, "Cannot follow");
	events->core = core;
	events->next = n->next;
	/* What has not been yet is no place to go on from. */
	if (spec->resume && spec->after < n->next)
		events->next = spec->after + 1;
	events->wake = spec->wake;
	events->userdata = spec->userdata;
	LIST_INSERT_HEAD(&n->readers, events, in_readers);
	n->reader_count++;
	*ret = events;
	return 0;
}

void core_events_free(struct core_events *events)
{
	if (!events)
		return;
	LIST_REMOVE(events, in_readers);
	events->core->notices.reader_count--;
	free(events);
}

static void write_some(struct json_writer *w, const char *key, const char *value)
{
	if (*value)
		json_write_string(w, key, value);
}

static int write_notice(const struct notice *n, struct buf *ret_json)
{
	struct json_writer w = JSON_WRITER_INIT(ret_json);

	json_write_object(&w, NULL);
	json_write_uint(&w, "at", n->at_usec / USEC_PER_SEC);
	write_some(&w, "container", n->container);
	write_some(&w, "tenant", n->tenant);
	write_some(&w, "pool", n->pool);
	write_some(&w, "vm", n->vm);
	write_some(&w, "reason", end_reason_name(n->reason));
	if (n->ends_usec)
		json_write_uint(&w, "ends_at", n->ends_usec / USEC_PER_SEC);
	if (n->type == CORE_EVENT_DRAIN)
		json_write_uint(&w, "sessions", n->sessions);
	write_some(&w, "message", n->message);
	json_write_close(&w);
	return json_write_end(&w);
}

/* Its id is that of the last one lost, so that a reader can go on behind it. */
static int write_gap(struct core_events *events, struct buf *ret_json)
{
	struct notices *n = &events->core->notices;
	struct json_writer w = JSON_WRITER_INIT(ret_json);

	json_write_object(&w, NULL);
	json_write_uint(&w, "at",
			clock_wall(events->core->clock) / USEC_PER_SEC);
	json_write_string(&w, "message",
			  "Events were lost: they are kept for a while only");
	json_write_close(&w);
	events->next = n->first;
	return json_write_end(&w);
}

int core_events_next(struct core_events *events, uint64_t *ret_id,
		     enum core_event_type *ret_type, struct buf *ret_json)
{
	struct notices *n = &events->core->notices;
	const struct notice *notice;
	int r;

	if (events->next == n->next) {
		events->asleep = true;
		return 0;
	}
	if (events->next < n->first) {
		*ret_type = CORE_EVENT_GAP;
		*ret_id = n->first - 1;
		r = write_gap(events, ret_json);
		return r < 0 ? r : 1;
	}
	notice = &n->kept[events->next % CORE_EVENTS_KEPT];
	*ret_type = notice->type;
	*ret_id = events->next++;
	r = write_notice(notice, ret_json);
	return r < 0 ? r : 1;
}
