/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Theory of operation: a writer has two buffers of one chunk. The loop fills
 * one while a blob thread writes and hashes the other; when the thread is
 * back they change places. So memory is constant, the order of bytes is given,
 * and a writer has at most one job in the queue. Everything in struct
 * blob_write belongs to the thread while the job is under way.
 */

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/blob_write.h"

/**
 * struct blob_writer - The loop's half
 * @filling:	The other buffer, @filled bytes of it in use
 * @busy:	The thread has the job
 * @wants_room:	An append was cut short
 * @finishing:	blob_writer_finish() was called
 * @failed:	Why no more is taken; done() may be still to come
 * @ended:	done() was called
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

static void writer_dispose(struct blob_writer *writer)
{
	if (writer->write.pinned)
		blobs_unpin(writer->blobs, writer->write.info.sha256, false);
	writer->blobs->writers--;
	free(writer->write.chunk);
	free(writer->filling);
	free(writer);
}

/* The queue has a place for each writer, so there is always room. */
static void submit(struct blob_writer *writer, enum blob_write_step step)
{
	struct blob_write *w = &writer->write;
	uint8_t *chunk = w->chunk;
	int r;

	w->step = step;
	w->chunk = writer->filling;
	w->size = step == BLOB_WRITE_ABORT ? 0 : writer->filled;
	r = worker_submit(writer->blobs->worker, &w->job);
	assert(r >= 0);
	(void)r;
	writer->filling = chunk;
	writer->filled = 0;
	writer->busy = true;
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
	if (writer->finishing)
		submit(writer, BLOB_WRITE_LAST);
	else if (writer->filled == BLOB_CHUNK_SIZE)
		submit(writer, BLOB_WRITE_MORE);
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
		if (writer->failed < 0)
			writer_end(writer, writer->failed);
		else if (w->result < 0 || w->step == BLOB_WRITE_LAST)
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

bool blob_writers_are_many(const struct blobs *blobs)
{
	return blobs->writers >= BLOB_WRITERS_MANY;
}

static void write_init(struct blob_write *w, struct blobs *blobs,
		       const struct blob_spec *spec)
{
	w->job.run = blob_write_run;
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

/*
 * A failure that is returned is told by done(), too, as soon as the thread is
 * back: if need be from an abort that is sent for this.
 */
static int writer_fail(struct blob_writer *writer, int r)
{
	writer->failed = r;
	if (!writer->busy)
		submit(writer, BLOB_WRITE_ABORT);
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
		if (writer->filled == BLOB_CHUNK_SIZE && !writer->busy)
			submit(writer, BLOB_WRITE_MORE);
	}
	return (ssize_t)taken;
}

int blob_writer_finish(struct blob_writer *writer)
{
	assert(!writer->finishing);
	if (writer->failed < 0)
		return writer->failed;
	if (writer->write.expected_bytes != BLOB_LENGTH_UNKNOWN &&
	    writer->write.expected_bytes != writer->taken)
		return writer_fail(writer, -EBADMSG);
	writer->finishing = true;
	if (!writer->busy)
		submit(writer, BLOB_WRITE_LAST);
	return 0;
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
		submit(writer, BLOB_WRITE_ABORT);
		return;
	}
	writer_dispose(writer);
}
