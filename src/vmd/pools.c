#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/id.h"
#include "base/name.h"
#include "vmd/pools.h"
#include "vmd/wheelhouse.h"

#define DISK_UNIT 4096

/* Between two tables of one process the generation counts up; from process to
 * process it jumps, so that a request for an old table never fits by accident. */
static int next_generation(uint32_t *ret_generation)
{
	static uint32_t generation;
	int r;

	while (generation == 0) {
		r = random_bytes(&generation, sizeof(generation));
		if (r < 0)
			return r;
	}
	*ret_generation = generation++;
	return 0;
}

static int load_wheelhouse(const struct settings *settings,
			   const char *section, struct pool *pool,
			   struct error *err)
{
	const char *path = settings_string(settings, section, "wheelhouse");

	if (path[0] == '\0')
		return 0;
	if ((size_t)snprintf(pool->wheelhouse, sizeof(pool->wheelhouse), "%s",
			     path) >= sizeof(pool->wheelhouse))
		return error_set(err, ERR_HYPERVISOR,
				 "the wheelhouse has too long a path");
	return wheelhouse_check(path, err);
}

/* ------------------------------------------------------------- what VMs have */

#define WISHED "pool.default"

/* What an image's recipe wishes, read and checked as settings of a pool are. */
static int load_wishes(const struct image *image, struct settings **ret_wishes,
		       struct error *err)
{
	const char *const wish[][2] = {
		{ "vcpus", image->vcpus },
		{ "memory", image->memory },
		{ "disk", image->disk },
	};
	_cleanup_(settings_freep) struct settings *wishes = NULL;
	char text[sizeof(WISHED) + 16 + IMAGE_WISH_MAX];
	size_t i;
	int r;

	r = settings_new(settings_table, settings_table_count, &wishes);
	if (r < 0)
		return error_set_errno(err, r, "Cannot read the pools");
	for (i = 0; i < sizeof(wish) / sizeof(wish[0]); i++) {
		if (wish[i][1][0] == '\0')
			continue;
		(void)snprintf(text, sizeof(text), WISHED ".%s=%s", wish[i][0],
			       wish[i][1]);
		r = settings_set(wishes, text, err);
		if (r < 0)
			return error_wrap(err, r,
					  "the recipe of image '%s' wishes what "
					  "no pool has", image->name);
	}
	*ret_wishes = take_ptr(wishes);
	return 0;
}

/**
 * struct source - Where the sizes of a pool's VMs are said
 * @settings:	What the operator says goes before what the image wishes, and that
 *		before the defaults
 * @section:	Of the pool
 * @wishes:	NULL: there is no image
 */
struct source {
	const struct settings *settings;
	const char *section;
	const struct settings *wishes;
};

static bool is_wished(const struct source *from, const char *key)
{
	return from->wishes &&
	       !settings_is_set(from->settings, from->section, key) &&
	       settings_is_set(from->wishes, WISHED, key);
}

static uint64_t bytes_of(const struct source *from, const char *key)
{
	if (is_wished(from, key))
		return settings_bytes(from->wishes, WISHED, key);
	return settings_bytes(from->settings, from->section, key);
}

static void load_sizes(const struct source *from, struct pool *pool)
{
	pool->vcpus = (uint32_t)(is_wished(from, "vcpus")
					 ? settings_uint(from->wishes, WISHED,
							 "vcpus")
					 : settings_uint(from->settings,
							 from->section,
							 "vcpus"));
	pool->memory_mib = (uint32_t)(bytes_of(from, "memory") >> 20);
	pool->disk_bytes = bytes_of(from, "disk") / DISK_UNIT * DISK_UNIT;
}

/* ------------------------------------------------------------------ one pool */

/* A pool is loaded with an image or a problem, never both: an accelerator is only
 * looked for where there is an image. */
static int load_image(const struct settings *settings, const char *section,
		      const char *state, struct pool *pool,
		      struct settings **ret_wishes, struct error *err)
{
	int r;

	r = load_wheelhouse(settings, section, pool, err);
	if (r >= 0)
		r = image_find(settings_string(settings, section, "image"),
			       state, &pool->image, err);
	if (r < 0)
		return r;
	r = load_wishes(&pool->image, ret_wishes, err);
	if (r < 0) {
		close_fd(&pool->image.hold);
		pool->image = (struct image){ .hold = -1 };
	}
	return r;
}

static void load_pool(const struct settings *settings, const char *name,
		      const char *state, struct pool *pool)
{
	_cleanup_(settings_freep) struct settings *wishes = NULL;
	struct error err = ERROR_INIT;
	char section[sizeof("pool.") + VMD_NAME_MAX];

	(void)snprintf(pool->name, sizeof(pool->name), "%s", name);
	(void)snprintf(section, sizeof(section), "pool.%s", pool->name);
	pool->image.hold = -1;
	if (load_image(settings, section, state, pool, &wishes, &err) < 0)
		(void)snprintf(pool->problem, sizeof(pool->problem), "%.*s",
			       (int)utf8_cut(err.message, strlen(err.message),
					     sizeof(pool->problem) - 1),
			       err.message);
	load_sizes(&(struct source){ settings, section, wishes }, pool);
}

int pools_load(const struct settings *settings, const char *state,
	       struct pools **ret_pools, struct error *err)
{
	_cleanup_(pools_freep) struct pools *pools = NULL;
	const char *name;
	int r;

	pools = calloc(1, sizeof(*pools));
	if (!pools)
		return error_set_errno(err, -ENOMEM, "Cannot read the pools");
	r = next_generation(&pools->generation);
	if (r < 0)
		return error_set_errno(err, r, "Cannot read the pools");
	while ((name = settings_instance(settings, "pool", pools->count))) {
		if (pools->count == VMD_POOLS_MAX ||
		    strlen(name) >= VMD_NAME_MAX)
			return error_set(err, ERR_BAD_REQUEST,
					 "there are more than %d pools, or "
					 "'%s' is too long a name for one",
					 VMD_POOLS_MAX, name);
		load_pool(settings, name, state, &pools->pool[pools->count++]);
	}
	*ret_pools = take_ptr(pools);
	return 0;
}

void pools_free(struct pools *pools)
{
	uint32_t i;

	for (i = 0; pools && i < pools->count; i++)
		close_fd(&pools->pool[i].image.hold);
	free(pools);
}

void pools_freep(struct pools **pools)
{
	pools_free(*pools);
}

const struct pool *pools_find(const struct pools *pools, uint32_t generation,
			      uint32_t index)
{
	if (generation != pools->generation || index >= pools->count)
		return NULL;
	return &pools->pool[index];
}

static void describe_pool(const struct pool *from, struct vmd_pool *to)
{
	memset(to, 0, sizeof(*to));
	strcpy(to->name, from->name);
	strcpy(to->image, from->image.name);
	strcpy(to->digest, from->image.digest);
	strcpy(to->problem, from->problem);
	to->accelerator = from->accelerator;
	to->vcpus = from->vcpus;
	to->memory_mib = from->memory_mib;
	to->disk_bytes = from->disk_bytes;
}

void pools_describe(const struct pools *pools, struct vmd_hello *hello)
{
	uint32_t i;

	hello->generation = pools->generation;
	hello->pool_count = pools->count;
	hello->accelerator = VMD_ACCELERATOR_NONE;
	for (i = 0; i < pools->count; i++) {
		const struct pool *pool = &pools->pool[i];

		describe_pool(pool, &hello->pools[i]);
		if (hello->accelerator == VMD_ACCELERATOR_NONE &&
		    pool->problem[0] == '\0')
			hello->accelerator = pool->accelerator;
	}
}
