/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UNIT_FAKE_CORE_IMPL_H
#define UNIT_FAKE_CORE_IMPL_H

/* Shared by fake_core*.c. */

#include "fake_core.h"

/** struct fake_later - A callback that comes in the next round of the loop */
struct fake_later {
	core_done_fn done;
	file_fn file;
	container_fn container;
	cfile_fn cfile;
	parts_fn parts;
	part_fn part;
	json_fn json;
	const char *json_text;
	exec_fn exec;
	core_image_fn image;
	definition_fn definition;
	conversation_fn conversation;
	struct conversation_view conversation_view;
	definition_version_fn definition_version;
	struct definition_view definition_view;
	struct definition_version_view version_view;
	struct error err;
	void *userdata;
	struct file_view file_view;
	struct parts_view parts_view;
	struct part_view part_view;
	struct cfile_view cfile_view;
	struct container_view container_view;
	struct exec_view exec_view;
};

/** fake_core_later() - Have one called, with what the caller puts into it */
struct fake_later *fake_core_later(struct core *core, void *userdata);

/** fake_core_fill_container() - The one container, called @name */
void fake_core_fill_container(const struct core *core,
			      struct container_view *view, const char *name);

/** fake_definitions_free() - End what fake_core_definitions.c keeps */
void fake_definitions_free(struct core *core);

/** fake_talks_free() - End what fake_core_talks.c keeps */
void fake_talks_free(struct core *core);

/** fake_core_find() - 0 for the one container there is, else as core says it */
int fake_core_find(const struct core *core, const char *id,
		   struct error *err);

#endif
