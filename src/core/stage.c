/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/name.h"
#include "core/container.h"
#include "core/file.h"

/*
 * The files that a create names: each becomes a file of the container at once,
 * and is put into the guest when that is there (placing.c).
 */

static bool staged_has(const struct container *c, const char *path)
{
	const struct staged *s;

	TAILQ_FOREACH (s, &c->staged, next)
		if (strcmp(s->path, path) == 0)
			return true;
	return false;
}

/* Two files of one name: the later one is told apart by its id. */
static void choose_path(const struct container *c,
			const struct store_file *file, char *ret, size_t size)
{
	size_t keep = NAME_FILE_MAX - strlen(file->id) - 1;
	const char *name = file->filename;
	size_t length = strlen(name);

	(void)snprintf(ret, size, "%s", name);
	if (!staged_has(c, ret))
		return;
	/* The end of a name says what it is. */
	if (length > keep) {
		name += length - keep;
		while (((unsigned char)*name & 0xc0) == 0x80)
			name++;
	}
	(void)snprintf(ret, size, "%s-%s", file->id, name);
}

static int stage_file(struct container *c, const struct store_file *file,
		      struct store_batch *batch)
{
	struct store_cfile row = {
		.bytes = file->bytes,
		.created_usec = c->created_usec,
	};
	char path[WIRE_PATH_MAX + 1];
	int r;

	choose_path(c, file, path, sizeof(path));
	r = id_new(ID_CONTAINER_FILE, row.id);
	if (r >= 0)
		r = staged_add(c, row.id, path, file->sha256, file->bytes);
	if (r < 0)
		return r;
	strcpy(row.container_id, c->id);
	strcpy(row.tenant, c->tenant->id);
	(void)snprintf(row.path, sizeof(row.path), "%s%s", CORE_DATA_DIR, path);
	strcpy(row.source, "user");
	strcpy(row.media_type, file->media_type);
	memcpy(row.sha256, file->sha256, sizeof(row.sha256));
	/* What fails is kept in the batch and told by its commit. */
	(void)store_batch_put_cfile(batch, &row);
	return 0;
}

int stage_files(struct container *c, const struct principal *who,
		const struct container_spec *spec, struct store_batch *batch,
		struct error *err)
{
	struct store_file file;
	size_t i;
	int r;

	for (i = 0; i < spec->file_count; i++) {
		r = file_find(c->core, who, spec->file_ids[i], &file, err);
		if (r < 0) {
			error_set_param(err, "file_ids");
			return r;
		}
		r = stage_file(c, &file, batch);
		if (r < 0)
			return error_set_errno(err, r, "Cannot take a file");
	}
	return 0;
}
