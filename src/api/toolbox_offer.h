/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_TOOLBOX_OFFER_H
#define API_TOOLBOX_OFFER_H

/*
 * What a version of a toolbox offers, and to whom.
 *
 * Its definition is JSON, with members as the Foundry API has them. "tools" are
 * all "code_interpreter"; "policies" has these of ours, all optional:
 *
 *   allowed_keys, allowed_tenants	who may use its MCP endpoint; all that
 *					reach it, if neither is given
 *   pool				whose VMs its containers are
 *   image				the one that pool has to run, NAME@DIGITS
 *   timeout_s				limit of one call
 *   file_types				extensions, as in "csv", of the files
 *					that results link to
 *   max_artifact_bytes			larger files are not linked to
 *
 * The reader is strict where a mistake would open something.
 */

#include <stdbool.h>

#include "base/json.h"
#include "core/core.h"

enum {
	TOOLBOX_TOOLS_MAX = 16,
	TOOLBOX_TOOL_NAME_MAX = 128,
	TOOLBOX_LIST_MAX = 64,		/* of each list in the policies */
};

/* The only type of tool there is. */
#define TOOLBOX_TYPE "code_interpreter"

/**
 * struct toolbox_tool - One entry
 * @name:	As MCP shows it
 * @description: NULL: what is said of such tools
 * @container:	Id of the one it uses; NULL: it has its own
 * @options:	Of its own
 */
struct toolbox_tool {
	const char *name;
	const char *description;
	const char *container;
	struct container_options options;
};

/** struct toolbox_offer - Read from a definition, and borrowed from it */
struct toolbox_offer {
	struct toolbox_tool tool[TOOLBOX_TOOLS_MAX];
	size_t tools;
	const char *pool;		/* NULL: the default */
	const char *image;		/* a pin; NULL: any */
	int64_t timeout_s;		/* 0: none of its own */
	int64_t max_artifact_bytes;	/* 0: any */
	const struct json_object *file_types;	/* NULL: any */
	const struct json_object *keys;		/* NULL: any */
	const struct json_object *tenants;	/* NULL: any */
};

/** toolbox_offer_read() - Return: 0, or -EINVAL with the param at fault */
int toolbox_offer_read(const struct json_object *definition,
		       struct toolbox_offer *ret, struct error *err);

/** toolbox_offer_admits() - Whether somebody may use it */
bool toolbox_offer_admits(const struct toolbox_offer *offer,
			  const struct principal *who);

/** toolbox_offer_gives() - Whether a file may be linked to */
bool toolbox_offer_gives(const struct toolbox_offer *offer, const char *path,
			 uint64_t bytes);

/** toolbox_tool_name_is_valid() - 1 to 128 of A-Z a-z 0-9 _ - . */
bool toolbox_tool_name_is_valid(const char *name, size_t size);

#endif
