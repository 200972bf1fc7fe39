/* SPDX-License-Identifier: Apache-2.0 */
#include "core/gc.h"

#include <stddef.h>

static void gc_collect(struct gc *gc)
{
	while (gc->first) {
		struct gc_node *node = gc->first;

		gc->first = node->next;
		node->free(node->object);
	}
}

static int on_collect(sd_event_source *source, void *userdata)
{
	(void)source;
	gc_collect(userdata);
	return 0;
}

int gc_init(struct gc *gc, sd_event *event)
{
	int r;

	r = sd_event_add_defer(event, &gc->source, on_collect, gc);
	if (r < 0)
		return r;
	(void)sd_event_source_set_description(gc->source, "core-gc");
	return sd_event_source_set_enabled(gc->source, SD_EVENT_OFF);
}

void gc_done(struct gc *gc)
{
	gc_collect(gc);
	gc->source = sd_event_source_disable_unref(gc->source);
}

void gc_bury(struct gc *gc, struct gc_node *node, void (*free)(void *object),
	     void *object)
{
	if (node->free)
		return;
	*node = (struct gc_node){
		.next = gc->first,
		.free = free,
		.object = object,
	};
	gc->first = node;
	/* Cannot fail for a deferred source; if it did, gc_done() frees. */
	(void)sd_event_source_set_enabled(gc->source, SD_EVENT_ONESHOT);
}
