/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/json_write.h"
#include "base/name.h"
#include "turn/context.h"

/*
 * The files that code is to have, and under which names.
 *
 * Two files may have one name, and code may have made one of that name itself.
 * None of them may be lost, so a later one gets a number, and the model is told
 * the name that there is. Which one that is, is known only when all has been
 * read: the container is that of the newest call. So a message has a gap where a
 * file is, and context_settle() fills them.
 *
 * A file that the container was given before keeps its name there, whatever
 * code has made of it since, and is not given again.
 */

#define DATA_DIR "/mnt/data/"

enum {
	NAMES_MAX = 1000, /* of one, that are told apart */
	SUFFIX_MAX = 32,  /* bytes; what is longer is not one */
};

void context_files_done(struct context *c)
{
	for (size_t i = 0; i < c->file_count; i++) {
		free(c->files[i].name);
		free(c->files[i].path);
		free(c->files[i].data);
	}
	free(c->files);
	free(c->gaps);
	c->files = NULL;
	c->gaps = NULL;
	c->file_count = c->gap_count = 0;
}

/* ------------------------------------------------------------------- taking them */

static int refuse_number(struct error *err)
{
	error_set(err, ERR_BAD_REQUEST,
		  "At most %d files can be given to the code interpreter",
		  CONTEXT_FILES_MAX);
	error_set_param(err, "input");
	return -EINVAL;
}

/* Return: the one of the same name and bytes, or NULL */
static struct context_file *find_file(const struct context *c,
				      const struct context_file *file)
{
	for (size_t i = 0; i < c->file_count; i++)
		if (strcmp(c->files[i].name, file->name) == 0 &&
		    memcmp(c->files[i].sha256, file->sha256,
			   sizeof(file->sha256)) == 0)
			return &c->files[i];
	return NULL;
}

static int add_file(struct context *c, struct context_file *file,
		    struct error *err)
{
	struct context_file *files;

	if (c->file_count == CONTEXT_FILES_MAX)
		return refuse_number(err);
	files = reallocarray(c->files, c->file_count + 1, sizeof(*files));
	if (!files)
		return -ENOMEM;
	c->files = files;
	files[c->file_count] = *file;
	files[c->file_count].name = strdup(file->name);
	if (!files[c->file_count].name)
		return -ENOMEM;
	file->data = NULL;
	c->file_count++;
	return 0;
}

/* Leaves the gap. A file's data is taken over if nothing like it is there. */
static int take_file(struct context *c, struct context_file *file,
		     struct buf *text, struct json_writer *w,
		     struct error *err)
{
	struct context_file *there = find_file(c, file);
	struct context_gap *gaps;
	int r;

	if (!there) {
		r = add_file(c, file, err);
		if (r < 0)
			return r;
		there = &c->files[c->file_count - 1];
	}
	gaps = reallocarray(c->gaps, c->gap_count + 1, sizeof(*gaps));
	if (!gaps)
		return -ENOMEM;
	c->gaps = gaps;
	json_write_raw(w, NULL, "{}", 2);
	gaps[c->gap_count++] = (struct context_gap){
		.item = c->count,
		.at = text->length - 2,
		.file = (size_t)(there - c->files),
	};
	return 0;
}

int context_take_upload(struct context *c, const struct file_view *file,
			struct buf *text, struct json_writer *w,
			struct error *err)
{
	struct context_file taken = {
		.name = (char *)(uintptr_t)file->filename,
		.bytes = file->bytes,
	};

	strcpy(taken.id, file->id);
	memcpy(taken.sha256, file->sha256, sizeof(taken.sha256));
	return take_file(c, &taken, text, w, err);
}

int context_add_uploads(struct context *c, char (*ids)[ID_SIZE], size_t count,
			struct error *err)
{
	_cleanup_(buf_done) struct buf text = context_begin(c);
	struct json_writer w = JSON_WRITER_INIT(&text);
	struct file_view file;
	size_t before = c->gap_count;
	int r = 0;

	json_write_object(&w, NULL);
	json_write_string(&w, "type", "message");
	json_write_string(&w, "role", "developer");
	json_write_array(&w, "content");
	for (size_t i = 0; i < count && r >= 0; i++)
		/* What has gone meanwhile cannot be given. */
		if (core_file_get(c->config.core, c->config.who, ids[i], &file,
				  NULL) >= 0)
			r = context_take_upload(c, &file, &text, &w, err);
	json_write_close(&w);
	json_write_close(&w);
	if (r >= 0)
		r = json_write_end(&w);
	if (r >= 0 && c->gap_count > before)
		r = context_add_item(c, &text, r);
	return context_failed(c, r, err);
}

/* "data:TYPE;base64,…": where the letters begin */
static const char *letters_of(const char *url)
{
	const char *comma = strchr(url, ',');

	return comma ? comma + 1 : "";
}

static int refuse_data(struct error *err)
{
	return error_refuse(err, "input", "invalid_value",
			    "Invalid 'file_data': what follows the comma is "
			    "not base64");
}

int context_take_data(struct context *c, const char *name, const char *url,
		      struct buf *text, struct json_writer *w,
		      struct error *err)
{
	const char *letters = letters_of(url);
	size_t room = strlen(letters) / 4 * 3;
	_cleanup_free_ uint8_t *data = malloc(room + 1);
	struct context_file file = { .name = (char *)(uintptr_t)name };
	ssize_t size;
	int r;

	if (!data)
		return -ENOMEM;
	size = base64_decode(letters, data, room);
	if (size < 0)
		return refuse_data(err);
	if ((size_t)size > CONTEXT_DATA_MAX - c->data_bytes)
		return -EMSGSIZE;
	r = core_digest(data, (size_t)size, file.sha256);
	if (r < 0)
		return r;
	file.bytes = (uint64_t)size;
	file.data = data;
	r = take_file(c, &file, text, w, err);
	/* It is the first of its kind, and has been taken over. */
	if (!file.data) {
		c->data_bytes += (size_t)size;
		(void)take_ptr(data);
	}
	return r;
}

/* --------------------------------------------------------------- naming them */

/* "table.csv", "table-2.csv", "table-3.csv" … */
static void number_path(const char *name, unsigned n,
			char ret[CONTEXT_PATH_SIZE])
{
	const char *dot = strrchr(name, '.');
	bool suffixed = dot && dot != name && strlen(dot) <= SUFFIX_MAX;
	const char *suffix = suffixed ? dot : "";
	size_t stem = strlen(name) - strlen(suffix);
	char number[16] = "";

	if (n > 1)
		(void)snprintf(number, sizeof(number), "-%u", n);
	stem = utf8_cut(name, stem,
			NAME_FILE_MAX - strlen(number) - strlen(suffix));
	(void)snprintf(ret, CONTEXT_PATH_SIZE, DATA_DIR "%.*s%s%s", (int)stem,
		       name, number, suffix);
}

static bool is_taken(const struct context *c, const char *path)
{
	for (size_t i = 0; i < c->file_count; i++)
		if (c->files[i].path && strcmp(c->files[i].path, path) == 0)
			return true;
	return false;
}

/* Whether something else is there: of code, or given and replaced. */
static bool is_there(const struct context *c, const char *container,
		     const char *path)
{
	struct cfile_view view;

	return container[0] &&
	       core_cfile_find(c->config.core, c->config.who, container, path,
			       &view, NULL) >= 0;
}

static int name_file(struct context *c, struct context_file *file,
		     const char *container)
{
	char path[CONTEXT_PATH_SIZE], free_path[CONTEXT_PATH_SIZE] = "";

	for (unsigned n = 1; n <= NAMES_MAX && !free_path[0]; n++) {
		number_path(file->name, n, path);
		if (is_taken(c, path))
			continue;
		file->given = container[0] &&
			      core_cfile_given(c->config.core, c->config.who,
					       container, path, file->sha256);
		if (file->given || !is_there(c, container, path))
			strcpy(free_path, path);
	}
	file->path = strdup(free_path[0] ? free_path : path);
	return file->path ? 0 : -ENOMEM;
}

/* ------------------------------------------------------------------ the gaps */

static int fill_gap(struct context *c, const struct context_gap *gap)
{
	const struct context_file *file = &c->files[gap->file];
	struct upstream_item *item = &c->items[gap->item];
	_cleanup_(buf_done) struct buf note = BUF_INIT(16 << 10);
	_cleanup_(buf_done) struct buf text = context_begin(c);
	struct json_writer w = JSON_WRITER_INIT(&text);
	int r;

	r = buf_printf(&note,
		       "[The user gave the file '%s' (%llu bytes). For code it "
		       "is at %s]", file->name, (unsigned long long)file->bytes,
		       file->path);
	if (r >= 0)
		r = buf_add(&text, item->json, gap->at);
	if (r < 0)
		return r;
	json_write_object(&w, NULL);
	json_write_string(&w, "type", "input_text");
	json_write_string(&w, "text", buf_str(&note));
	json_write_close(&w);
	r = json_write_end(&w);
	if (r >= 0)
		r = buf_add(&text, item->json + gap->at + 2,
			    item->size - gap->at - 2);
	return r < 0 ? r : context_replace_item(c, item, &text);
}

int context_settle(struct context *c, const char *container,
		   struct error *err)
{
	int r = 0;

	(void)snprintf(c->settled, sizeof(c->settled), "%s", container);
	for (size_t i = 0; i < c->file_count && r >= 0; i++)
		r = name_file(c, &c->files[i], container);
	/* From the last: what is behind a gap moves. */
	for (size_t i = c->gap_count; i > 0 && r >= 0; i--)
		r = fill_gap(c, &c->gaps[i - 1]);
	c->gap_count = 0;
	return context_failed(c, r, err);
}
