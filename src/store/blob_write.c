/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/failpoint.h"
#include "base/fs.h"
#include "store/blob_write.h"

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

static void undo(struct blob_write *w)
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
		blob_sniff(&w->blobs->sniffer, w->chunk, w->size, w->found);
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
	/* The first blobs of their folder, maybe on several threads at once: each
	 * sees to it that the folder is there for good. */
	if ((mkdirat(w->blobs->dir, folder, 0700) < 0 && errno != EEXIST) ||
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
	r = failpoint("blob-before-rename");
	if (r >= 0)
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

void blob_write_run(struct job *job)
{
	struct blob_write *w = JOB_OWNER(job, struct blob_write, job);
	int r = -ECANCELED;

	if (w->step != BLOB_WRITE_ABORT)
		r = write_chunk(w);
	if (r >= 0 && w->step == BLOB_WRITE_LAST)
		r = complete_write(w);
	/* Other names for a disk that is full. */
	if (r == -EDQUOT || r == -EFBIG)
		r = -ENOSPC;
	w->result = r;
	if (r < 0)
		undo(w);
}
