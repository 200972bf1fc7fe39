/* SPDX-License-Identifier: Apache-2.0 */
#include "core/map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAP_BUCKETS_MIN 64

/* FNV-1a */
static uint32_t map_hash(const char *key)
{
	uint32_t hash = 2166136261u;

	for (; *key; key++)
		hash = (hash ^ (uint8_t)*key) * 16777619u;
	return hash;
}

static struct map_node **map_bucket(const struct map *map, uint32_t hash)
{
	return &map->buckets[hash & (map->bucket_count - 1)];
}

void map_done(struct map *map)
{
	free(map->buckets);
	*map = (struct map){ 0 };
}

static int map_grow(struct map *map)
{
	struct map grown = {
		.bucket_count = map->bucket_count ? 2 * map->bucket_count :
						    MAP_BUCKETS_MIN,
		.count = map->count,
	};
	size_t i;

	grown.buckets = calloc(grown.bucket_count, sizeof(*grown.buckets));
	if (!grown.buckets)
		return -ENOMEM;

	for (i = 0; i < map->bucket_count; i++) {
		while (map->buckets[i]) {
			struct map_node *node = map->buckets[i];
			struct map_node **to = map_bucket(&grown, node->hash);

			map->buckets[i] = node->next;
			node->next = *to;
			*to = node;
		}
	}
	free(map->buckets);
	*map = grown;
	return 0;
}

int map_put(struct map *map, struct map_node *node, const char *key,
	    void *object)
{
	struct map_node **bucket;

	/* A table that cannot grow gets slower, not wrong. */
	if (map->count >= map->bucket_count && map_grow(map) < 0 &&
	    !map->buckets)
		return -ENOMEM;

	*node = (struct map_node){
		.key = key,
		.object = object,
		.hash = map_hash(key),
	};
	bucket = map_bucket(map, node->hash);
	node->next = *bucket;
	*bucket = node;
	map->count++;
	return 0;
}

void map_remove(struct map *map, struct map_node *node)
{
	struct map_node **at;

	if (!node->object)
		return;
	for (at = map_bucket(map, node->hash); *at; at = &(*at)->next) {
		if (*at != node)
			continue;
		*at = node->next;
		map->count--;
		break;
	}
	*node = (struct map_node){ 0 };
}

void *map_get(const struct map *map, const char *key)
{
	uint32_t hash = map_hash(key);
	struct map_node *node;

	if (!map->buckets)
		return NULL;
	for (node = *map_bucket(map, hash); node; node = node->next)
		if (node->hash == hash && strcmp(node->key, key) == 0)
			return node->object;
	return NULL;
}

void map_each(const struct map *map, void (*each)(void *object, void *userdata),
	      void *userdata)
{
	struct map_node *node, *next;
	size_t i;

	for (i = 0; i < map->bucket_count; i++) {
		for (node = map->buckets[i]; node; node = next) {
			next = node->next;
			each(node->object, userdata);
		}
	}
}
