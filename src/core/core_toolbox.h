/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_CORE_TOOLBOX_H
#define CORE_CORE_TOOLBOX_H

/*
 * Toolboxes: a part of core.h, whose rules hold here.
 *
 * A toolbox has a name within a project of its tenant, and versions, which
 * never change. What a version offers is the dialect's own text: core keeps it
 * and does not look into it.
 */

#include "core/core.h"

#define CORE_PROJECT_MAX 64
#define CORE_TOOLBOX_NAME_MAX 63

/* Bytes of a version's definition. */
#define CORE_DEFINITION_MAX (32 * 1024 - 1)

/* Versions of toolboxes that a tenant may have, all together. */
#define CORE_TOOLBOX_VERSIONS_MAX 2000

/** struct toolbox_name - Which toolbox; checked by the dialect */
struct toolbox_name {
	const char *project;
	const char *name;
};

struct toolbox_view {
	char id[ID_MAX + 1]; /* tbx_… */
	const char *name;
	uint64_t default_version;
	int64_t created_at;
	int64_t updated_at;
};

struct toolbox_version_view {
	char id[ID_MAX + 1];         /* tbxv_… */
	char toolbox_id[ID_MAX + 1]; /* tbx_… */
	const char *name;            /* the toolbox's */
	uint64_t version;
	int64_t created_at;
	const char *definition;
};

/** core_pool_check() - Whether there is a pool of this name; ERR_NOT_FOUND */
int core_pool_check(struct core *core, const char *name, struct error *err);

typedef void (*toolbox_fn)(void *userdata, const struct toolbox_view *toolbox,
			   const struct error *err);
typedef void (*toolbox_version_fn)(void *userdata,
				   const struct toolbox_version_view *version,
				   const struct error *err);

int core_toolbox_get(struct core *core, const struct principal *who,
		     const struct toolbox_name *name, struct toolbox_view *ret,
		     struct error *err);

/** core_toolbox_version_get() - @version 0: the default one */
int core_toolbox_version_get(struct core *core, const struct principal *who,
			     const struct toolbox_name *name, uint64_t version,
			     struct toolbox_version_view *ret,
			     struct error *err);

/** core_toolbox_list() - Those of a project */
int core_toolbox_list(struct core *core, const struct principal *who,
		      const char *project, const struct core_page *page,
		      void (*each)(void *userdata,
				   const struct toolbox_view *toolbox),
		      void *userdata, bool *ret_more, struct error *err);

int core_toolbox_version_list(
	struct core *core, const struct principal *who,
	const struct toolbox_name *name, const struct core_page *page,
	void (*each)(void *userdata,
		     const struct toolbox_version_view *version),
	void *userdata, bool *ret_more, struct error *err);

/*
 * Changes are made one after the other, each on what the one before left. So
 * they all answer later, also that there is nothing to change.
 */

/**
 * core_toolbox_version_create() - Add a version, and the toolbox if need be
 * @definition:	UTF-8, at most CORE_DEFINITION_MAX bytes; copied
 *
 * Numbers count from 1 and are not used again. The first one is the default.
 */
int core_toolbox_version_create(struct core *core, const struct principal *who,
				const struct toolbox_name *name,
				const char *definition, toolbox_version_fn done,
				void *userdata, struct error *err);

/** core_toolbox_promote() - Make a version the default */
int core_toolbox_promote(struct core *core, const struct principal *who,
			 const struct toolbox_name *name, uint64_t version,
			 toolbox_fn done, void *userdata, struct error *err);

/** core_toolbox_version_delete() - ERR_BAD_REQUEST for the default one */
int core_toolbox_version_delete(struct core *core, const struct principal *who,
				const struct toolbox_name *name,
				uint64_t version, core_done_fn done,
				void *userdata, struct error *err);

/** core_toolbox_delete() - With all versions */
int core_toolbox_delete(struct core *core, const struct principal *who,
			const struct toolbox_name *name, core_done_fn done,
			void *userdata, struct error *err);

#endif
