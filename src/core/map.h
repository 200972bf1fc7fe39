/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_MAP_H
#define CORE_MAP_H

/*
 * Objects by id, in constant time whatever their number.
 *
 * The node lives in the object, so putting one in fails only when the table
 * has to grow for the first time. Keys are ids that we drew at random:
 * nobody outside can choose them so that they collide.
 */

#include <stddef.h>
#include <stdint.h>

struct map_node {
	struct map_node *next;
	const char *key; /* lives in the object */
	void *object;
	uint32_t hash;
};

struct map {
	struct map_node **buckets;
	size_t bucket_count; /* a power of two, or 0 */
	size_t count;
};

/** map_done() - Forget everything; the objects are their owners' */
void map_done(struct map *map);

/**
 * map_put() - Put an object in
 * @key:	Its id, not in the map yet; lives as long as @node does
 *
 * Return: 0, or -ENOMEM
 */
int map_put(struct map *map, struct map_node *node, const char *key,
	    void *object);

/** map_remove() - Take an object out; nothing happens if it is not in */
void map_remove(struct map *map, struct map_node *node);

/** map_get() - The object with this id, or NULL */
void *map_get(const struct map *map, const char *key);

/**
 * map_each() - Call a function for every object, in no order
 *
 * @each may remove the object it is called for, and no other; it may not put.
 */
void map_each(const struct map *map, void (*each)(void *object, void *userdata),
	      void *userdata);

#endif
