/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "core/container.h"
#include "core/core_definition.h"
#include "core/core_priv.h"
#include "core/pool.h"
#include "vmd/vmd.h"
#include "vmd/vmd_proto.h"

/* Which pool a container is made in, and whether it is the one that is meant. */

bool core_image_is_pin(const char *image)
{
	const char *digits = strchr(image, '@');

	return digits && digits > image &&
	       strlen(digits + 1) == VMD_PIN_DIGITS &&
	       strspn(digits + 1, "0123456789abcdef") == VMD_PIN_DIGITS;
}

/* "NAME@DIGITS", as pools and toolboxes have it, of "NAME@sha256:…" */
static bool is_pinned(const char *pin, const char *image)
{
	static const char algorithm[] = "sha256:";
	size_t name = (size_t)(strchr(pin, '@') + 1 - pin);

	if (strncmp(pin, image, name) != 0)
		return false;
	image += name;
	if (strncmp(image, algorithm, strlen(algorithm)) != 0)
		return false;
	return strncmp(image + strlen(algorithm), pin + name,
		       VMD_PIN_DIGITS) == 0;
}

int container_pool_moved_on(const struct pool *pool, const char *image,
			    struct error *err)
{
	int r = error_set(err, ERR_NOT_FOUND,
			  "Pool '%s' runs image '%s', not '%s', which is asked "
			  "for",
			  pool->name, pool->image, image);

	error_set_param(err, "image");
	return r;
}

int container_pool_unserved(struct error *err)
{
	return error_set(err, ERR_HYPERVISOR,
			 "No container can be started now: the hypervisor "
			 "process is being started; /readyz says when it is "
			 "ready");
}

static int check_image(const struct pool *pool, const char *image,
		       struct error *err)
{
	if (!image || (core_image_is_pin(image) && is_pinned(image, pool->image)))
		return 0;
	return container_pool_moved_on(pool, image, err);
}

int core_pool_check(struct core *core, const char *name, const char *image,
		    struct error *err)
{
	const struct pool *pool;
	int r;

	name = name ? name : CORE_POOL_DEFAULT;
	pool = pool_find(core, name);
	if (pool && image && !pool->known)
		return container_pool_unserved(err);
	if (pool)
		return check_image(pool, image, err);
	r = error_set(err, ERR_NOT_FOUND, "There is no pool '%s'", name);
	error_set_param(err, "pool");
	return r;
}

static int check_served(const struct core *core, const struct pool *pool,
			struct error *err)
{
	int r = 0;

	if (!vmd_client_hello(core->vmd))
		r = container_pool_unserved(err);
	else if (!pool->known)
		r = error_set(err, ERR_HYPERVISOR,
			      "Pool '%s' is not known to "
			      "the hypervisor process",
			      pool->name);
	else if (pool->vmd.problem[0])
		r = error_set(err, ERR_CAPACITY,
			      "Pool '%s' cannot start "
			      "containers: %s",
			      pool->name, pool->vmd.problem);
	if (r < 0)
		error_set_reason(err, "capacity");
	return r;
}

int container_pool_find(struct core *core, const struct container_spec *spec,
			struct pool **ret, struct error *err)
{
	const char *name = spec->pool ? spec->pool : CORE_POOL_DEFAULT;
	struct pool *pool = pool_find(core, name);
	int r;

	if (!pool)
		return core_pool_check(core, name, NULL, err);
	r = check_served(core, pool, err);
	if (r >= 0)
		r = check_image(pool, spec->image, err);
	if (r >= 0)
		*ret = pool;
	return r;
}
