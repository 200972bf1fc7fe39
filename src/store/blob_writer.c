/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Theory of operation: a writer has two buffers of one chunk. The loop fills
 * one while the blob thread writes and hashes the other; when the thread is
 * back they change places. So memory is constant, the order of bytes is given,
 * and a writer has at most one job in the queue. Everything in struct
 * blob_write belongs to the thread while the job is under way.
 *
 * The content is written under a temporary name. The last job compares length
 * and digest, syncs, pins the digest and renames, in this order: from the
 * rename on the removal of blobs can see the file, and the pin keeps it.
 */

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/failpoint.h"
#include "base/fs.h"
#include "store/blob_impl.h"

#define TEMP_NAME_SIZE 24

enum write_step {
	WRITE_MORE,
	WRITE_LAST,
	WRITE_ABORT,
};

/**
 * struct blob_write - The thread's half
 * @chunk:	Bytes to write, @size of them
 * @found:	libmagic's type, or ""
 * @pinned:	The blob is in place under a pin
 */
struct blob_write {
	struct job job;
	struct blobs *blobs;
	enum write_step step;
	uint8_t *chunk;
	size_t size;
	uint64_t written;
	uint64_t expected_bytes;
	bool check_sha256;
	uint8_t expected_sha256[HASH_SIZE];
	char name[256];
	char temp[TEMP_NAME_SIZE];
	int fd;
	gnutls_hash_hd_t hash;
	char found[MEDIA_TYPE_SIZE];
	bool pinned;
	struct blob_info info;
	int result;
};

/**
 * struct blob_writer - The loop's half
 * @filling:	The other buffer, @filled bytes of it in use
 * @busy:	The thread has the job
 * @wants_room:	An append was cut short
 * @finishing:	blob_writer_finish() was called
 * @ended:	done() was called, or a failure returned
 * @freed:	Goes as soon as the thread is back
 * @calling:	Inside a callback, which may free the writer
 */
struct blob_writer {
	struct blobs *blobs;
	struct blob_write write;
	uint8_t *filling;
	size_t filled;
	uint64_t taken;
	uint64_t max_bytes;
	void (*room)(void *userdata);
	void (*done)(void *userdata, int r, const struct blob_info *info);
	void *userdata;
	bool busy;
	bool wants_room;
	bool finishing;
	bool ended;
	bool freed;
	bool calling;
	int failed;
};

/* ------------------------------------------------------- the blob thread */

static int start_write(struct blob_write *w)
{
	w->fd = openat(w->blobs->temp_dir, w->temp,
		       O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (w->fd < 0)
		return -errno;
	if (gnutls_hash_init(&w->hash, GNUTLS_DIG_SHA256) < 0) {
		w->hash = NULL;
		return -ENOMEM;
	}
	return 0;
}

/* Leaves nothing behind but the result. */
static void undo_write(struct blob_write *w)
{
	if (w->hash)
		gnutls_hash_deinit(w->hash, NULL);
	w->hash = NULL;
	if (w->fd < 0)
		return;
	/* What stays is removed at the next start. */
	(void)unlinkat(w->blobs->temp_dir, w->temp, 0);
	close_fd(&w->fd);
}

static int check_floor(const struct blob_write *w)
{
	uint64_t free_bytes;
	int r;

	r = blobs_free_bytes(w->blobs, &free_bytes);
	if (r < 0)
		return r;
	return free_bytes < w->size ? -ENOSPC : 0;
}

static int write_all(int fd, const uint8_t *data, size_t size)
{
	while (size > 0) {
		ssize_t n = write(fd, data, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		data += n;
		size -= (size_t)n;
	}
	return 0;
}

static void sniff(struct blob_write *w)
{
	const char *found = blob_sniff(&w->blobs->sniffer, w->chunk, w->size);

	if (found && strlen(found) < sizeof(w->found))
		memcpy(w->found, found, strlen(found) + 1);
}

static int write_chunk(struct blob_write *w)
{
	int r;

	if (w->fd < 0) {
		r = start_write(w);
		if (r < 0)
			return r;
	}
	if (w->size == 0)
		return 0;
	if (w->written == 0)
		sniff(w);
	r = check_floor(w);
	if (r >= 0)
		r = write_all(w->fd, w->chunk, w->size);
	if (r < 0)
		return r;
	if (gnutls_hash(w->hash, w->chunk, w->size) < 0)
		return -EIO;
	w->written += w->size;
	return 0;
}

static int check_content(struct blob_write *w)
{
	gnutls_hash_deinit(w->hash, w->info.sha256);
	w->hash = NULL;
	w->info.bytes = w->written;
	if (w->expected_bytes != BLOB_LENGTH_UNKNOWN &&
	    w->expected_bytes != w->written)
		return -EBADMSG;
	if (w->check_sha256 &&
	    memcmp(w->expected_sha256, w->info.sha256, HASH_SIZE) != 0)
		return -EBADMSG;
	return 0;
}

/* An equal blob that is there already is replaced by its equal. */
static int rename_into_folder(struct blob_write *w, const char *path,
			      const char *folder)
{
	if (renameat(w->blobs->temp_dir, w->temp, w->blobs->dir, path) >= 0)
		return 0;
	if (errno != ENOENT)
		return -errno;
	/* The first blob of its folder. */
	if (mkdirat(w->blobs->dir, folder, 0700) < 0 ||
	    fsync(w->blobs->dir) < 0 ||
	    renameat(w->blobs->temp_dir, w->temp, w->blobs->dir, path) < 0)
		return -errno;
	return 0;
}

static int put_in_place(struct blob_write *w)
{
	char path[BLOB_PATH_SIZE], folder[3];
	int r;

	blob_path(w->info.sha256, path);
	(void)snprintf(folder, sizeof(folder), "%.2s", path);
	if (fsync(w->fd) < 0)
		return -errno;
	r = blobs_pin(w->blobs, w->info.sha256);
	if (r < 0)
		return r;
	w->pinned = true;
	r = rename_into_folder(w, path, folder);
	if (r < 0)
		return r;
	close_fd(&w->fd);
	r = failpoint("blob-after-rename");
	return r < 0 ? r : fs_sync_dir(w->blobs->dir, folder);
}

static int complete_write(struct blob_write *w)
{
	const char *type;
	int r;

	r = check_content(w);
	if (r < 0)
		return r;
	type = media_type_decide(w->name[0] != '\0' ? w->name : NULL,
				 w->found[0] != '\0' ? w->found : NULL);
	(void)snprintf(w->info.media_type, sizeof(w->info.media_type), "%s",
		       type);
	return put_in_place(w);
}

static void write_run(struct job *job)
{
	struct blob_write *w = JOB_OWNER(job, struct blob_write, job);
	int r = -ECANCELED;

	if (w->step != WRITE_ABORT)
		r = write_chunk(w);
	if (r >= 0 && w->step == WRITE_LAST)
		r = complete_write(w);
	/* Other names for a disk that is full. */
	if (r == -EDQUOT || r == -EFBIG)
		r = -ENOSPC;
	w->result = r;
	if (r < 0)
		undo_write(w);
}

/* -------------------------------------------------------------- the loop */

static void writer_dispose(struct blob_writer *writer)
{
	if (writer->write.pinned)
		blobs_unpin(writer->blobs, writer->write.info.sha256, false);
	writer->blobs->writers--;
	free(writer->write.chunk);
	free(writer->filling);
	free(writer);
}

static int submit(struct blob_writer *writer, enum write_step step)
{
	struct blob_write *w = &writer->write;
	uint8_t *chunk = w->chunk;
	int r;

	w->step = step;
	w->chunk = writer->filling;
	w->size = step == WRITE_ABORT ? 0 : writer->filled;
	r = worker_submit(writer->blobs->worker, &w->job);
	writer->filling = chunk;
	writer->filled = 0;
	writer->busy = r >= 0;
	return r;
}

static void writer_end(struct blob_writer *writer, int r)
{
	writer->ended = true;
	writer->failed = r < 0 ? r : 0;
	writer->done(writer->userdata, r, r < 0 ? NULL : &writer->write.info);
}

/* The thread is back and nothing has failed: give it more, ask for more. */
static void writer_go_on(struct blob_writer *writer)
{
	int r = 0;

	if (writer->filled == BLOB_CHUNK_SIZE && !writer->finishing)
		r = submit(writer, WRITE_MORE);
	else if (writer->finishing)
		r = submit(writer, WRITE_LAST);
	if (r < 0) {
		writer_end(writer, r);
		return;
	}
	if (writer->wants_room && !writer->finishing) {
		writer->wants_room = false;
		writer->room(writer->userdata);
	}
}

static void write_done(struct job *job)
{
	struct blob_write *w = JOB_OWNER(job, struct blob_write, job);
	struct blob_writer *writer = JOB_OWNER(w, struct blob_writer, write);

	writer->busy = false;
	writer->calling = true;
	if (!writer->freed && !writer->ended) {
		if (w->result < 0 || w->step == WRITE_LAST)
			writer_end(writer, w->result);
		else
			writer_go_on(writer);
	}
	writer->calling = false;
	if (writer->freed) {
		writer->freed = false;
		blob_writer_free(writer);
	}
}

static int check_spec(struct blobs *blobs, const struct blob_spec *spec)
{
	uint64_t free_bytes;
	int r;

	if (blobs->writers == BLOB_WRITERS_MAX)
		return -EAGAIN;
	if (spec->expected_bytes == BLOB_LENGTH_UNKNOWN)
		return 0;
	if (spec->expected_bytes > spec->max_bytes)
		return -EFBIG;
	r = blobs_free_bytes(blobs, &free_bytes);
	if (r < 0)
		return r;
	return free_bytes < spec->expected_bytes ? -ENOSPC : 0;
}

static void write_init(struct blob_write *w, struct blobs *blobs,
		       const struct blob_spec *spec)
{
	w->job.run = write_run;
	w->job.done = write_done;
	w->blobs = blobs;
	w->fd = -1;
	w->expected_bytes = spec->expected_bytes;
	if (spec->expected_sha256) {
		w->check_sha256 = true;
		memcpy(w->expected_sha256, spec->expected_sha256, HASH_SIZE);
	}
	/* Only its extension counts, so a name that is too long is none. */
	if (spec->name && strlen(spec->name) < sizeof(w->name))
		memcpy(w->name, spec->name, strlen(spec->name) + 1);
	(void)snprintf(w->temp, sizeof(w->temp), "%" PRIu64,
		       ++blobs->temp_number);
}

int blob_writer_new(struct blobs *blobs, const struct blob_spec *spec,
		    struct blob_writer **ret)
{
	struct blob_writer *writer;
	int r;

	r = check_spec(blobs, spec);
	if (r < 0)
		return r;
	writer = calloc(1, sizeof(*writer));
	if (!writer)
		return -ENOMEM;
	write_init(&writer->write, blobs, spec);
	writer->blobs = blobs;
	writer->max_bytes = spec->max_bytes;
	writer->room = spec->room;
	writer->done = spec->done;
	writer->userdata = spec->userdata;
	blobs->writers++;
	*ret = writer;
	return 0;
}

/* A failure that is returned: done() is not called any more. */
static int writer_fail(struct blob_writer *writer, int r)
{
	writer->ended = true;
	writer->failed = r;
	return r;
}

static int check_length(const struct blob_writer *writer, size_t size)
{
	uint64_t expected = writer->write.expected_bytes;

	if (size > writer->max_bytes - writer->taken)
		return -EFBIG;
	if (expected != BLOB_LENGTH_UNKNOWN && size > expected - writer->taken)
		return -EBADMSG;
	return 0;
}

/* Takes what fits into the buffer; buffers are allocated when needed. */
static ssize_t fill(struct blob_writer *writer, const void *data, size_t size)
{
	size_t room = BLOB_CHUNK_SIZE - writer->filled;

	if (!writer->filling) {
		writer->filling = malloc(BLOB_CHUNK_SIZE);
		if (!writer->filling)
			return -ENOMEM;
	}
	if (size > room)
		size = room;
	memcpy(writer->filling + writer->filled, data, size);
	writer->filled += size;
	writer->taken += size;
	return (ssize_t)size;
}

ssize_t blob_writer_append(struct blob_writer *writer, const void *data,
			   size_t size)
{
	size_t taken = 0;
	ssize_t n;
	int r;

	if (writer->failed < 0)
		return writer->failed;
	assert(!writer->finishing);
	r = check_length(writer, size);
	if (r < 0)
		return writer_fail(writer, r);
	while (taken < size) {
		if (writer->filled == BLOB_CHUNK_SIZE) {
			writer->wants_room = writer->room;
			break;
		}
		n = fill(writer, (const uint8_t *)data + taken, size - taken);
		if (n < 0)
			return writer_fail(writer, (int)n);
		taken += (size_t)n;
		if (writer->filled < BLOB_CHUNK_SIZE || writer->busy)
			continue;
		r = submit(writer, WRITE_MORE);
		if (r < 0)
			return writer_fail(writer, r);
	}
	return (ssize_t)taken;
}

int blob_writer_finish(struct blob_writer *writer)
{
	int r;

	assert(!writer->finishing);
	if (writer->failed < 0)
		return writer->failed;
	if (writer->write.expected_bytes != BLOB_LENGTH_UNKNOWN &&
	    writer->write.expected_bytes != writer->taken)
		return writer_fail(writer, -EBADMSG);
	writer->finishing = true;
	if (writer->busy)
		return 0;
	r = submit(writer, WRITE_LAST);
	return r < 0 ? writer_fail(writer, r) : 0;
}

void blob_writer_free(struct blob_writer *writer)
{
	if (!writer)
		return;
	if (writer->busy || writer->calling) {
		writer->freed = true;
		return;
	}
	/* A temporary file is closed and removed by the thread: freeing the
	 * space of a large one takes time. */
	if (writer->write.fd >= 0) {
		writer->freed = true;
		if (submit(writer, WRITE_ABORT) >= 0)
			return;
		undo_write(&writer->write);
	}
	writer_dispose(writer);
}
