/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hex.h"
#include "base/json.h"
#include "base/json_write.h"
#include "core/container.h"
#include "core/exec.h"
#include "core/pull.h"

/*
 * The files of an execution: what became artifacts and what was skipped, from
 * the pull, into its record, and back from there. In the record:
 *
 *	"artifacts":[{"id","path","path_b64","bytes","created_at","sha256",
 *		"changed_during_read"}…],
 *	"skipped":[{"path","path_b64","reason","bytes","limit_bytes","count"}…]
 */

static void skipped_done(struct exec_skipped *s)
{
	free((char *)s->path);
	free((char *)s->path_b64);
	*s = (struct exec_skipped){ .path = NULL };
}

void exec_files_free(struct exec *e)
{
	size_t i;

	for (i = 0; i < e->artifact_count; i++)
		data_path_done(&e->artifacts[i].path);
	for (i = 0; i < e->skipped_count; i++)
		skipped_done(&e->skipped[i]);
	free(e->artifacts);
	free(e->artifact_views);
	free(e->skipped);
}

static int exec_files_alloc(struct exec *e, size_t artifacts, size_t skipped)
{
	/* One more: no bytes would be no memory. */
	e->artifacts = calloc(artifacts + 1, sizeof(*e->artifacts));
	e->artifact_views = calloc(artifacts + 1, sizeof(*e->artifact_views));
	e->skipped = calloc(skipped + 1, sizeof(*e->skipped));
	if (e->artifacts && e->artifact_views && e->skipped)
		return 0;
	exec_files_free(e);
	e->artifacts = NULL;
	e->artifact_views = NULL;
	e->skipped = NULL;
	return -ENOMEM;
}

/* ----------------------------------------------------------- from the pull */

static void add_artifact(struct exec *e, const struct cfile_view *view,
			 struct data_path path)
{
	struct exec_artifact *a = &e->artifacts[e->artifact_count++];

	a->view = *view;
	a->path = path;
	a->view.path = path.text;
	a->view.path_b64 = path.b64;
}

static void take_artifact(void *userdata, struct pulled *file)
{
	struct exec *e = userdata;

	e->core->metrics.artifacts++;
	e->core->metrics.artifact_bytes += file->view.bytes;
	if (e->container)
		e->container->usage.bytes_out += file->view.bytes;
	/* Without memory an event is missing; the view has it. */
	(void)exec_add_part(e, EXEC_PART_ARTIFACT, e->artifact_count);
	add_artifact(e, &file->view, file->path);
	file->path = (struct data_path){ NULL, NULL };
}

/* Without memory for a name there is one less to tell of. */
static void take_skipped(void *userdata, const struct exec_skipped *skipped)
{
	struct exec *e = userdata;
	struct exec_skipped *s = &e->skipped[e->skipped_count];

	*s = *skipped;
	s->path = strdup(skipped->path);
	s->path_b64 = skipped->path_b64 ? strdup(skipped->path_b64) : NULL;
	if (s->path)
		e->skipped_count++;
	else
		skipped_done(s);
}

int exec_files_take(struct exec *e)
{
	size_t count = pull_count(e->pull);
	int r;

	r = exec_files_alloc(e, count, count + PULL_SKIPPED_MORE);
	if (r < 0)
		return r;
	pull_each(e->pull, take_artifact, e);
	pull_each_skipped(e->pull, take_skipped, e);
	return 0;
}

void exec_files_drop(struct exec *e)
{
	struct exec_skipped *all;
	size_t i;

	all = reallocarray(e->skipped, e->skipped_count + e->artifact_count + 1,
			   sizeof(*all));
	if (all)
		e->skipped = all;
	for (i = 0; i < e->artifact_count; i++) {
		const struct exec_artifact *a = &e->artifacts[i];
		const struct exec_skipped skipped = {
			.path = a->path.text,
			.path_b64 = a->path.b64,
			.reason = skip_reason_name(SKIP_HOST_STORAGE_FULL),
			.bytes = a->view.bytes,
		};

		if (all)
			take_skipped(e, &skipped);
		data_path_done(&e->artifacts[i].path);
	}
	e->artifact_count = 0;
}

uint64_t exec_files_skipped(const struct exec *e)
{
	uint64_t total = 0;
	size_t i;

	for (i = 0; i < e->skipped_count; i++)
		total += e->skipped[i].count ? e->skipped[i].count : 1;
	return total;
}

/* -------------------------------------------------------------- the record */

static void write_path(struct json_writer *w, const char *path,
		       const char *path_b64)
{
	json_write_string(w, "path", path);
	if (path_b64)
		json_write_string(w, "path_b64", path_b64);
}

static void write_artifact(struct json_writer *w, const struct cfile_view *v)
{
	char hex[2 * HASH_SIZE + 1];

	hex_encode(v->sha256, HASH_SIZE, hex);
	json_write_object(w, NULL);
	json_write_string(w, "id", v->id);
	write_path(w, v->path, v->path_b64);
	json_write_uint(w, "bytes", v->bytes);
	json_write_int(w, "created_at", v->created_at);
	json_write_string(w, "sha256", hex);
	if (v->changed_during_read)
		json_write_bool(w, "changed_during_read", true);
	json_write_close(w);
}

static void write_skipped(struct json_writer *w, const struct exec_skipped *s)
{
	json_write_object(w, NULL);
	write_path(w, s->path, s->path_b64);
	json_write_string(w, "reason", s->reason);
	json_write_uint(w, "bytes", s->bytes);
	json_write_uint(w, "limit_bytes", s->limit_bytes);
	json_write_uint(w, "count", s->count);
	json_write_close(w);
}

void exec_files_write(const struct exec *e, struct json_writer *w)
{
	size_t i;

	json_write_array(w, "artifacts");
	for (i = 0; i < e->artifact_count; i++)
		write_artifact(w, &e->artifacts[i].view);
	json_write_close(w);
	json_write_array(w, "skipped");
	for (i = 0; i < e->skipped_count; i++)
		write_skipped(w, &e->skipped[i]);
	json_write_close(w);
}

struct read_artifact {
	struct json_string id;
	struct json_string path;
	struct json_string path_b64;
	struct json_string sha256;
	int64_t bytes;
	int64_t created_at;
	bool changed_during_read;
};

static const struct json_field artifact_fields[] = {
	JSON_STRING_FIELD("id", struct read_artifact, id, .required = true,
			  .min = 1, .max = ID_MAX),
	JSON_STRING_FIELD("path", struct read_artifact, path, .required = true),
	JSON_STRING_FIELD("path_b64", struct read_artifact, path_b64),
	JSON_STRING_FIELD("sha256", struct read_artifact, sha256,
			  .required = true, .min = 2 * HASH_SIZE,
			  .max = 2 * HASH_SIZE),
	JSON_INT_FIELD("bytes", struct read_artifact, bytes),
	JSON_INT_FIELD("created_at", struct read_artifact, created_at),
	JSON_BOOL_FIELD("changed_during_read", struct read_artifact,
			changed_during_read),
};

static int copy_path(struct json_string text, struct json_string b64,
		     struct data_path *ret)
{
	_cleanup_(data_path_done) struct data_path path = { NULL, NULL };

	path.text = strdup(text.data);
	path.b64 = b64.data ? strdup(b64.data) : NULL;
	if (!path.text || !path.b64 != !b64.data)
		return -ENOMEM;
	*ret = path;
	path = (struct data_path){ NULL, NULL };
	return 0;
}

static int load_artifact(struct exec *e, const struct json_object *object)
{
	struct read_artifact read = { .bytes = 0 };
	struct cfile_view view;
	struct data_path path;
	int r;

	r = json_read_fields(object, "artifact", artifact_fields,
			     sizeof(artifact_fields) /
				     sizeof(artifact_fields[0]),
			     JSON_UNKNOWN_IGNORED, &read, NULL);
	if (r < 0)
		return r;
	view = (struct cfile_view){
		.bytes = (uint64_t)read.bytes,
		.created_at = read.created_at,
		.changed_during_read = read.changed_during_read,
	};
	strcpy(view.id, read.id.data);
	strcpy(view.container, e->container_id);
	r = hex_decode(read.sha256.data, view.sha256, HASH_SIZE);
	if (r >= 0)
		r = copy_path(read.path, read.path_b64, &path);
	if (r >= 0)
		add_artifact(e, &view, path);
	return r;
}

struct read_skipped {
	struct json_string path;
	struct json_string path_b64;
	struct json_string reason;
	int64_t bytes;
	int64_t limit_bytes;
	int64_t count;
};

static const struct json_field skipped_fields[] = {
	JSON_STRING_FIELD("path", struct read_skipped, path, .required = true),
	JSON_STRING_FIELD("path_b64", struct read_skipped, path_b64),
	JSON_STRING_FIELD("reason", struct read_skipped, reason,
			  .required = true),
	JSON_INT_FIELD("bytes", struct read_skipped, bytes),
	JSON_INT_FIELD("limit_bytes", struct read_skipped, limit_bytes),
	JSON_INT_FIELD("count", struct read_skipped, count),
};

static int load_skipped(struct exec *e, const struct json_object *object)
{
	struct read_skipped read = { .bytes = 0 };
	int r;

	r = json_read_fields(object, "skipped", skipped_fields,
			     sizeof(skipped_fields) / sizeof(skipped_fields[0]),
			     JSON_UNKNOWN_IGNORED, &read, NULL);
	if (r < 0)
		return r;
	take_skipped(e, &(struct exec_skipped){
				.path = read.path.data,
				.path_b64 = read.path_b64.data,
				.reason = skip_reason_name(
					skip_reason_parse(read.reason.data)),
				.bytes = (uint64_t)read.bytes,
				.limit_bytes = (uint64_t)read.limit_bytes,
				.count = (uint64_t)read.count,
			});
	return 0;
}

int exec_files_load(struct exec *e, const struct json_object *root)
{
	struct json_object *artifacts = json_member(root, "artifacts");
	struct json_object *skipped = json_member(root, "skipped");
	size_t i;
	int r;

	r = exec_files_alloc(e, json_array_size(artifacts),
			     json_array_size(skipped));
	for (i = 0; r >= 0 && i < json_array_size(artifacts); i++)
		r = load_artifact(e, json_array_at(artifacts, i));
	for (i = 0; r >= 0 && i < json_array_size(skipped); i++)
		r = load_skipped(e, json_array_at(skipped, i));
	return r;
}
