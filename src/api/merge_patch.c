/* SPDX-License-Identifier: Apache-2.0 */
#include "api/merge_patch.h"

#include "base/json.h"

/** struct merging - An object that is being written */
struct merging {
	struct json_writer *w;
	const struct json_object *target;
	const struct json_object *patch;
};

/* What the patch names is written by the patch, or not at all. */
static int on_kept(const char *key, struct json_object *value, void *userdata)
{
	const struct merging *m = userdata;

	if (!json_has(m->patch, key))
		json_write_value(m->w, key, value);
	return 0;
}

static int on_patched(const char *key, struct json_object *value,
		      void *userdata)
{
	const struct merging *m = userdata;

	if (json_kind_of(value) != JSON_NULL)
		merge_patch_write(m->w, key, json_member(m->target, key),
				  value);
	return 0;
}

/* As deep as the reader lets a patch be. */
void merge_patch_write(struct json_writer *w, const char *key,
		       const struct json_object *target,
		       const struct json_object *patch)
{
	struct merging m = { w, target, patch };

	if (json_kind_of(patch) != JSON_OBJECT) {
		json_write_value(w, key, patch);
		return;
	}
	json_write_object(w, key);
	(void)json_each_member(target, on_kept, &m);
	(void)json_each_member(patch, on_patched, &m);
	json_write_close(w);
}
