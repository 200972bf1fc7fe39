/* SPDX-License-Identifier: Apache-2.0 */
#include "core/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "core/core_priv.h"
#include "core/file.h"
#include "core/upload.h"
#include "store/blob.h"
#include "store/hash.h"

/*
 * Making one file of the parts of an upload.
 *
 * Their bytes are copied into a new blob, a piece at a time, so that the loop
 * is never held: read, hashed if the client said what it expects, and handed to
 * the blob writer, which may ask to wait. One batch then makes the file, notes
 * what the upload became and drops the parts.
 */

/* What is copied before the loop has its turn. */
#define PIECE (256 * 1024)

/**
 * struct assembly - An upload that is being completed
 * @part:	In the order of the file
 * @at:		The part that is being copied; @count when all are
 * @fd:		Of that part, or -1
 * @piece:	Was read and not handed over yet
 * @md5:	Of what was read; NULL: nobody asked
 */
struct assembly {
	TAILQ_ENTRY(assembly) next;
	struct gc_node buried;
	struct core *core;
	struct principal who;
	struct store_upload row;
	struct store_part *part;
	size_t count;
	size_t at;
	int fd;
	struct buf piece;
	struct core_upload *upload;
	struct hash_md5 *md5;
	uint8_t expected[HASH_MD5_SIZE];
	sd_event_source *turn;
	parts_fn done;
	void *userdata;
};

static void assembly_free(void *object)
{
	struct assembly *a = object;

	if (!a)
		return;
	sd_event_source_disable_unref(a->turn);
	core_upload_free(a->upload);
	hash_md5_free(a->md5);
	buf_done(&a->piece);
	close_fd(&a->fd);
	free(a->part);
	free(a);
}

static void assembly_freep(struct assembly **a)
{
	assembly_free(*a);
}

bool parts_are_assembled(const struct core *core, const char *upload_id)
{
	const struct assembly *a;

	TAILQ_FOREACH (a, &core->assemblies, next)
		if (strcmp(a->row.id, upload_id) == 0)
			return true;
	return false;
}

/* Its answer; the source that called may be its own. */
static void assembly_end(struct assembly *a, const struct parts_view *view,
			 const struct error *err)
{
	TAILQ_REMOVE(&a->core->assemblies, a, next);
	(void)sd_event_source_set_enabled(a->turn, SD_EVENT_OFF);
	a->done(a->userdata, view, err);
	gc_bury(&a->core->gc, &a->buried, assembly_free, a);
}

/* ------------------------------------------------------------------ the file */

/* The upload's row goes with the file's. */
static void add_row(void *userdata, const struct store_file *file,
		    struct store_batch *batch)
{
	struct assembly *a = userdata;

	strcpy(a->row.status, parts_status_name(PARTS_COMPLETED));
	strcpy(a->row.file_id, file->id);
	(void)store_batch_put_upload(batch, &a->row);
}

static void on_file(void *userdata, const struct file_view *file,
		    const struct error *err)
{
	struct assembly *a = userdata;
	struct parts_view view;

	parts_fill_view(a->core, &a->row, &view);
	view.file = file;
	assembly_end(a, err ? NULL : &view, err);
}

static int check_md5(struct assembly *a, struct error *err)
{
	uint8_t found[HASH_MD5_SIZE];

	if (!a->md5)
		return 0;
	hash_md5_get(a->md5, found);
	if (memcmp(found, a->expected, sizeof(found)) == 0)
		return 0;
	error_set_param(err, "md5");
	return error_set(err, ERR_BAD_REQUEST,
			 "'md5' is not the digest of these parts");
}

static int make_file(struct assembly *a, struct error *err)
{
	const struct file_spec spec = {
		.filename = a->row.filename,
		.purpose = a->row.purpose,
		.expires_after_sec = (int64_t)a->row.file_expires_sec,
	};
	int r;

	r = check_md5(a, err);
	if (r >= 0)
		r = file_create(a->core, &a->who, &spec, a->upload, add_row,
				on_file, a, err);
	if (r >= 0)
		(void)take_ptr(a->upload);
	return r;
}

/* ------------------------------------------------------------------ the copy */

static int open_part(struct assembly *a, struct error *err)
{
	uint64_t bytes;
	int r;

	if (a->fd >= 0)
		return 0;
	r = blob_open(a->core->blobs, a->part[a->at].sha256, &a->fd, &bytes);
	return r < 0 ? error_set_errno(err, r, "Cannot open a part") : 0;
}

/* Return: 1 if there is a piece, 0 at the end of the part */
static int read_piece(struct assembly *a, struct error *err)
{
	void *room;
	ssize_t n;
	int r;

	r = open_part(a, err);
	if (r < 0)
		return r;
	r = buf_reserve(&a->piece, PIECE, &room);
	if (r < 0)
		return error_set_errno(err, r, "Cannot read a part");
	n = read(a->fd, room, PIECE);
	if (n < 0)
		return errno == EINTR ? 1
				      : error_set_errno(err, -errno,
							"Cannot read a part");
	buf_commit(&a->piece, (size_t)n);
	if (n > 0 && a->md5)
		r = hash_md5_add(a->md5, room, (size_t)n);
	if (r < 0)
		return error_set_errno(err, r, "Cannot hash a part");
	return n > 0;
}

/* Return: 0 to go on in the next turn; -EAGAIN: on_room() will */
static int copy_piece(struct assembly *a, struct error *err)
{
	int r;

	if (a->piece.length == 0) {
		r = read_piece(a, err);
		if (r < 0)
			return r;
		if (r == 0) {
			close_fd(&a->fd);
			a->at++;
			return 0;
		}
	}
	r = core_upload_write(a->upload, a->piece.data, a->piece.length, err);
	if (r >= 0)
		buf_clear(&a->piece);
	return r;
}

static int on_turn(sd_event_source *source, void *userdata)
{
	struct assembly *a = userdata;
	struct error err = ERROR_INIT;
	bool whole = a->at == a->count;
	int r;

	r = whole ? make_file(a, &err) : copy_piece(a, &err);
	if (whole || error_is_set(&err) || r == -EAGAIN)
		(void)sd_event_source_set_enabled(source, SD_EVENT_OFF);
	if (error_is_set(&err))
		assembly_end(a, NULL, &err);
	return 0;
}

static void on_room(void *userdata)
{
	struct assembly *a = userdata;

	(void)sd_event_source_set_enabled(a->turn, SD_EVENT_ON);
}

/* ------------------------------------------------------------------ complete */

/* A part is a piece of the file, once: to name it twice is a slip. */
static bool is_named_before(const struct parts_choice *choice, size_t index)
{
	size_t i;

	for (i = 0; i < index; i++)
		if (strcmp(choice->part_ids[i], choice->part_ids[index]) == 0)
			return true;
	return false;
}

static int find_part(struct assembly *a, const struct parts_choice *choice,
		     size_t index, struct error *err)
{
	const char *id = choice->part_ids[index];
	int r = -ENOENT;

	if (is_named_before(choice, index)) {
		error_set_param(err, "part_ids[%zu]", index);
		error_set_reason(err, "invalid_value");
		return error_set(err, ERR_BAD_REQUEST,
				 "Part '%s' is named twice", id);
	}
	if (id_is(ID_PART, id))
		r = store_part_get(a->core->store, a->who.tenant, a->row.id, id,
				   &a->part[index]);
	if (r == -ENOENT) {
		error_set_param(err, "part_ids[%zu]", index);
		return error_set(err, ERR_BAD_REQUEST,
				 "Upload '%s' has no part '%s'", a->row.id, id);
	}
	return r < 0 ? error_set_errno(err, r, "Cannot read a part") : 0;
}

static int find_parts(struct assembly *a, const struct parts_choice *choice,
		      struct error *err)
{
	uint64_t bytes = 0;
	size_t i;
	int r;

	for (i = 0; i < choice->count; i++) {
		r = find_part(a, choice, i, err);
		if (r < 0)
			return r;
		bytes += a->part[i].bytes;
	}
	if (bytes == a->row.bytes)
		return 0;
	error_set_param(err, "part_ids");
	return error_set(err, ERR_BAD_REQUEST,
			 "The parts have %llu bytes, the upload was announced "
			 "with %llu",
			 (unsigned long long)bytes,
			 (unsigned long long)a->row.bytes);
}

static int assembly_new(struct core *core, const struct principal *who,
			const struct parts_choice *choice,
			struct assembly **ret, struct error *err)
{
	_cleanup_(assembly_freep) struct assembly *a = calloc(1, sizeof(*a));

	if (!a)
		return error_set_errno(err, -ENOMEM, "Cannot make a file");
	a->core = core;
	a->who = *who;
	a->fd = -1;
	a->count = choice->count;
	a->piece = BUF_INIT(PIECE);
	a->part = calloc(choice->count + 1, sizeof(*a->part));
	if (choice->md5) {
		memcpy(a->expected, choice->md5, sizeof(a->expected));
		a->md5 = hash_md5_new();
	}
	if (!a->part || (choice->md5 && !a->md5))
		return error_set_errno(err, -ENOMEM, "Cannot make a file");
	*ret = take_ptr(a);
	return 0;
}

static int start(struct assembly *a, struct error *err)
{
	int r;

	r = core_upload_new(a->core, &a->who, NULL, a->row.bytes, on_room, a,
			    &a->upload, err);
	if (r < 0)
		return r;
	r = sd_event_add_defer(a->core->event, &a->turn, on_turn, a);
	if (r >= 0)
		r = sd_event_source_set_description(a->turn, "assemble-parts");
	if (r >= 0)
		r = sd_event_source_set_enabled(a->turn, SD_EVENT_ON);
	return r < 0 ? error_set_errno(err, r, "Cannot make a file") : 0;
}

int core_parts_complete(struct core *core, const struct principal *who,
			const char *id, const struct parts_choice *choice,
			parts_fn done, void *userdata, struct error *err)
{
	_cleanup_(assembly_freep) struct assembly *a = NULL;
	int r;

	r = assembly_new(core, who, choice, &a, err);
	if (r >= 0)
		r = parts_find(core, who, id, &a->row, err);
	if (r >= 0)
		r = find_parts(a, choice, err);
	if (r >= 0)
		r = start(a, err);
	if (r < 0)
		return r;
	a->done = done;
	a->userdata = userdata;
	TAILQ_INSERT_TAIL(&core->assemblies, a, next);
	(void)take_ptr(a); /* assembly_end() buries it */
	return 0;
}

void parts_free_all(struct core *core)
{
	struct error err = ERROR_INIT;

	error_set(&err, ERR_CAPACITY, "The service stops, try again");
	while (!TAILQ_EMPTY(&core->assemblies)) {
		struct assembly *a = TAILQ_FIRST(&core->assemblies);

		/* One that is being made a file is the blob writer's. */
		if (a->upload)
			assembly_end(a, NULL, &err);
		else
			TAILQ_REMOVE(&core->assemblies, a, next);
	}
}
