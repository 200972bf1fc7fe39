/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_GC_H
#define CORE_GC_H

/*
 * Nothing is freed inside a callback about it: whoever is finished is buried
 * here, and freed when the loop has unwound.
 */

#include <systemd/sd-event.h>

struct gc_node {
	struct gc_node *next;
	void (*free)(void *object); /* NULL as long as it lives */
	void *object;
};

struct gc {
	sd_event_source *source;
	struct gc_node *first;
};

/** gc_init() - Begin to collect on a loop; Return: 0 or negative errno */
int gc_init(struct gc *gc, sd_event *event);

/** gc_done() - Free what is left, and the collector's own parts */
void gc_done(struct gc *gc);

/**
 * gc_bury() - Free an object in the next iteration of the loop
 * @node:	Lives in the object; burying twice is once
 * @free:	Its end
 */
void gc_bury(struct gc *gc, struct gc_node *node, void (*free)(void *object),
	     void *object);

#endif
