#ifndef VMD_POOLS_H
#define VMD_POOLS_H

#include <limits.h>

#include "base/error.h"
#include "base/settings.h"
#include "vmd/image.h"
#include "vmd/vmd_proto.h"

/*
 * The pool table: what cupolad may ask for, by index. cupolad never names an
 * image, a size or a path, so whoever takes it over can make only VMs that the
 * settings describe.
 */

/**
 * struct pool - What VMs of a pool are made of
 * @name:	From the settings
 * @image:	Found; not if @problem says why
 * @wheelhouse:	Path of the disk of wheels, or empty
 * @problem:	Why it can make no VM, or empty
 * @accelerator:	What its VMs get
 * @vcpus:	Per VM
 * @memory_mib:	Per VM
 * @disk_bytes:	Per VM, a multiple of 4096
 */
struct pool {
	char name[VMD_NAME_MAX];
	struct image image;
	char wheelhouse[PATH_MAX];
	char problem[VMD_MESSAGE_MAX];
	enum vmd_accelerator accelerator;
	uint32_t vcpus;
	uint32_t memory_mib;
	uint64_t disk_bytes;
};

/**
 * struct pools - The table
 * @generation:	Another number for each table, also across restarts
 * @count:	Of @pool
 */
struct pools {
	uint32_t generation;
	uint32_t count;
	struct pool pool[VMD_POOLS_MAX];
};

/**
 * pools_load() - Make the table from the settings and the images that are there
 * @state:	vmd's state directory
 * @ret_pools:	For pools_free(). No accelerator is decided yet
 * @err:	Only what makes the whole table unusable; a missing image is its
 *		pool's problem
 *
 * Return: 0 or negative errno
 */
int pools_load(const struct settings *settings, const char *state,
	       struct pools **ret_pools, struct error *err);

/** pools_free() - End a table, and what holds its images; takes NULL */
void pools_free(struct pools *pools);
void pools_freep(struct pools **pools);

/** pools_find() - A request's pool, or NULL if generation or index are wrong */
const struct pool *pools_find(const struct pools *pools, uint32_t generation,
			      uint32_t index);

/** pools_describe() - Fill in the table of a HELLO, and its accelerator */
void pools_describe(const struct pools *pools, struct vmd_hello *hello);

#endif
