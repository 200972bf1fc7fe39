/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_CORE_DEFINITION_H
#define CORE_CORE_DEFINITION_H

/*
 * What clients define once and use by name, toolboxes and agents: a part of
 * core.h, whose rules hold here.
 *
 * A definition has a name within a project of its tenant and versions, which
 * never change. What a version says is the dialect's own text: core keeps it and
 * does not look into it.
 */

#include "core/core.h"

#define CORE_PROJECT_MAX 64
#define CORE_DEFINITION_NAME_MAX 63

/* Bytes of a version's text, and of what is kept beside the versions. */
#define CORE_DEFINITION_MAX (128 * 1024 - 1)
#define CORE_PROFILE_MAX (16 * 1024 - 1)

/* Versions that a tenant may have, of all definitions together. */
#define CORE_DEFINITION_VERSIONS_MAX 2000

/**
 * enum definition_kind - What is defined
 *
 *    TOOLBOX - The first version is the default, until another is promoted; the
 *    default cannot be deleted
 *
 *    AGENT - The newest version that is no draft is the default or, as long as
 *    there are only drafts, the newest of those. With its last version an agent
 *    goes, too
 */
enum definition_kind {
	DEFINITION_TOOLBOX,
	DEFINITION_AGENT,

	DEFINITION_KIND_COUNT,
};

/** definition_word() - As messages have it, as in "Agent" */
const char *definition_word(enum definition_kind kind);

/** definition_project_is_valid() - 1 to 64 letters, digits, '_' and '-' */
bool definition_project_is_valid(const char *project);

/** definition_name_is_valid() - 1 to 63 letters, digits and inner hyphens */
bool definition_name_is_valid(const char *name);

/**
 * definition_version_parse() - Read the number of a version
 *
 * Numbers count from 1 and are written in one way. Return: 0 or -EINVAL
 */
int definition_version_parse(const char *text, uint64_t *ret);

/** struct definition_name - Which one; valid, or it is none */
struct definition_name {
	enum definition_kind kind;
	const char *project;
	const char *name;
};

/**
 * struct definition_view - A definition
 * @profile:	What its dialect keeps beside the versions; "" at first
 */
struct definition_view {
	char id[ID_MAX + 1]; /* tbx_…, agt_… */
	const char *name;
	uint64_t default_version;
	bool disabled;
	const char *profile;
	int64_t created_at;
	int64_t updated_at;
};

struct definition_version_view {
	char id[ID_MAX + 1];            /* tbxv_…, agtv_… */
	char definition_id[ID_MAX + 1]; /* tbx_…, agt_… */
	const char *name;               /* the definition's */
	uint64_t version;
	bool draft;
	int64_t created_at;
	const char *text;
};

/** core_image_is_pin() - NAME@ and the first twelve digits of a digest */
bool core_image_is_pin(const char *image);

/**
 * core_pool_check() - Whether there is a pool of this name
 * @name:	NULL: CORE_POOL_DEFAULT
 * @image:	The pin that it has to run; NULL: any
 *
 * Return: 0, or ERR_NOT_FOUND
 */
int core_pool_check(struct core *core, const char *name, const char *image,
		    struct error *err);

typedef void (*definition_fn)(void *userdata,
			      const struct definition_view *definition,
			      const struct error *err);
typedef void (*definition_version_fn)(
	void *userdata, const struct definition_version_view *version,
	const struct error *err);

int core_definition_get(struct core *core, const struct principal *who,
			const struct definition_name *name,
			struct definition_view *ret, struct error *err);

/** core_definition_version_get() - @version 0: the default one */
int core_definition_version_get(struct core *core, const struct principal *who,
				const struct definition_name *name,
				uint64_t version,
				struct definition_version_view *ret,
				struct error *err);

/**
 * core_definition_list() - Those of a project
 * @of:		Kind and project; the name is left out
 * @each:	Must not call core
 */
int core_definition_list(struct core *core, const struct principal *who,
			 const struct definition_name *of,
			 const struct core_page *page,
			 void (*each)(void *userdata,
				      const struct definition_view *definition),
			 void *userdata, bool *ret_more, struct error *err);

/** core_definition_version_list() - @drafts: those, too */
int core_definition_version_list(
	struct core *core, const struct principal *who,
	const struct definition_name *name, bool drafts,
	const struct core_page *page,
	void (*each)(void *userdata,
		     const struct definition_version_view *version),
	void *userdata, bool *ret_more, struct error *err);

/*
 * Changes are made one after the other, each on what the one before left. So
 * they all answer later, also that there is nothing to change.
 */

/** enum definition_need - What has to be there before a version is added */
enum definition_need {
	DEFINITION_ANY,     /* the definition is made if need be */
	DEFINITION_MISSING, /* ERR_CONFLICT if it is there */
	DEFINITION_THERE,   /* ERR_NOT_FOUND if it is not */
};

/**
 * struct definition_spec - A version to be made
 * @text:	UTF-8, at most CORE_DEFINITION_MAX bytes; copied
 * @draft:	Agents: it is not to become the default
 * @same:	Whether two texts say the same: a version that says what the
 *		default one says is not made, and that one is the answer. NULL:
 *		always make it
 */
struct definition_spec {
	const char *text;
	bool draft;
	enum definition_need need;
	bool (*same)(const char *text, const char *other);
};

/**
 * core_definition_version_create() - Add a version
 *
 * Numbers count from 1 and are not used again.
 */
int core_definition_version_create(struct core *core,
				   const struct principal *who,
				   const struct definition_name *name,
				   const struct definition_spec *spec,
				   definition_version_fn done, void *userdata,
				   struct error *err);

/** core_definition_promote() - Make a version of a toolbox the default */
int core_definition_promote(struct core *core, const struct principal *who,
			    const struct definition_name *name,
			    uint64_t version, definition_fn done,
			    void *userdata, struct error *err);

/** struct definition_state - What of a definition itself may be changed */
struct definition_state {
	bool disabled;
	char profile[CORE_PROFILE_MAX + 1];
};

/**
 * definition_edit_fn - Change the state, or refuse to
 *
 * Return: 0 or a negative errno with @err filled in
 */
typedef int (*definition_edit_fn)(void *userdata,
				  struct definition_state *state,
				  struct error *err);

/**
 * core_definition_edit() - Change the state
 * @edit:	Called at most once, before @done and with the same @userdata,
 *		when this change has its turn; must not call core
 */
int core_definition_edit(struct core *core, const struct principal *who,
			 const struct definition_name *name,
			 definition_edit_fn edit, definition_fn done,
			 void *userdata, struct error *err);

/** core_definition_version_delete() - ERR_BAD_REQUEST if it has to stay */
int core_definition_version_delete(struct core *core,
				   const struct principal *who,
				   const struct definition_name *name,
				   uint64_t version, core_done_fn done,
				   void *userdata, struct error *err);

/** core_definition_delete() - With all versions */
int core_definition_delete(struct core *core, const struct principal *who,
			   const struct definition_name *name,
			   core_done_fn done, void *userdata,
			   struct error *err);

#endif
