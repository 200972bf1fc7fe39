/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_CORE_OPTIONS_H
#define CORE_CORE_OPTIONS_H

/*
 * What may be said of a container wherever one is asked for: when it is made,
 * and where a tool brings its own. A part of core.h, whose rules hold here.
 */

#include "core/core.h"

struct json_object;

/** container_memory_tiers - Names of enum memory_tier, NULL at the end */
extern const char *const container_memory_tiers[MEMORY_TIER_COUNT + 1];

/**
 * struct container_options - memory_limit, file_ids and network_policy
 * @file_ids:	Borrowed from the JSON
 *
 * The network that is asked for can only be none, so there is nothing to keep.
 */
struct container_options {
	enum memory_tier memory;
	const char *file_ids[CORE_FILE_IDS_MAX];
	size_t file_count;
};

/**
 * container_options_read() - Read them from an object
 * @path:	Where it is in the request, for errors; NULL at the top
 */
int container_options_read(const struct json_object *object, const char *path,
			   struct container_options *ret, struct error *err);

/** container_options_apply() - Ask core for such a container; borrows them */
void container_options_apply(const struct container_options *options,
			     struct container_spec *spec);

#endif
