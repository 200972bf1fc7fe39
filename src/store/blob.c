/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fs.h"
#include "base/hex.h"
#include "store/blob_impl.h"

/* Whatever a crash left half-written goes. */
static int make_temp_dir(int dir)
{
	int r;

	r = fs_remove_tree(dir, BLOB_TEMP_DIR);
	if (r < 0)
		return r;
	return mkdirat(dir, BLOB_TEMP_DIR, 0700) < 0 ? -errno : 0;
}

static int open_folders(struct blobs *blobs, const char *path)
{
	int r;

	r = fs_mkdir_p(path, 0700);
	if (r < 0)
		return r;
	blobs->dir = fs_open_dir(AT_FDCWD, path);
	if (blobs->dir < 0)
		return blobs->dir;
	r = make_temp_dir(blobs->dir);
	if (r < 0)
		return r;
	blobs->temp_dir = fs_open_dir(blobs->dir, BLOB_TEMP_DIR);
	return blobs->temp_dir < 0 ? blobs->temp_dir : 0;
}

static void blobs_freep(struct blobs **blobs)
{
	blobs_free(*blobs);
}

int blobs_open(const struct blobs_config *config, struct blobs **ret,
	       struct error *err)
{
	_cleanup_(blobs_freep) struct blobs *blobs = calloc(1, sizeof(*blobs));
	int r;

	if (!blobs)
		return error_set_errno(err, -ENOMEM, "Cannot open the blobs");
	blobs->dir = -1;
	blobs->temp_dir = -1;
	blobs->free_floor_bytes = config->free_floor_bytes;
	/* Neither can fail. */
	(void)pthread_mutex_init(&blobs->lock, NULL);
	(void)pthread_mutex_init(&blobs->sniffer.lock, NULL);
	r = open_folders(blobs, config->dir);
	if (r < 0)
		return error_set_errno(err, r, "Cannot open the blobs in '%s'",
				       config->dir);
	r = worker_new(config->event, "blob", BLOB_THREADS, BLOB_WRITERS_MAX,
		       &blobs->worker);
	if (r < 0)
		return error_set_errno(err, r, "Cannot start the blob worker");
	*ret = take_ptr(blobs);
	return 0;
}

static void free_pins(struct blobs *blobs)
{
	struct blob_pin *pin, *next;
	size_t i;

	for (i = 0; i < BLOB_PIN_BUCKETS; i++)
		for (pin = blobs->pins[i]; pin; pin = next) {
			next = pin->next;
			free(pin);
		}
}

void blobs_free(struct blobs *blobs)
{
	if (!blobs)
		return;
	worker_free(blobs->worker);
	assert(blobs->writers == 0);
	blob_sniffer_done(&blobs->sniffer);
	free_pins(blobs);
	(void)pthread_mutex_destroy(&blobs->sniffer.lock);
	(void)pthread_mutex_destroy(&blobs->lock);
	close_fd(&blobs->temp_dir);
	close_fd(&blobs->dir);
	free(blobs);
}

void blob_path(const uint8_t sha256[HASH_SIZE], char ret_path[BLOB_PATH_SIZE])
{
	/* "ab/abcdef…" */
	hex_encode(sha256, HASH_SIZE, ret_path + 3);
	ret_path[0] = ret_path[3];
	ret_path[1] = ret_path[4];
	ret_path[2] = '/';
}

int blob_open(struct blobs *blobs, const uint8_t sha256[HASH_SIZE], int *ret_fd,
	      uint64_t *ret_bytes)
{
	char path[BLOB_PATH_SIZE];
	_cleanup_close_ int fd = -1;
	struct stat st;

	blob_path(sha256, path);
	fd = openat(blobs->dir, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	*ret_bytes = (uint64_t)st.st_size;
	*ret_fd = take_fd(fd);
	return 0;
}

int blobs_free_bytes(struct blobs *blobs, uint64_t *ret_bytes)
{
	struct statvfs fs;
	uint64_t available;

	if (fstatvfs(blobs->dir, &fs) < 0)
		return -errno;
	available = (uint64_t)fs.f_bavail * fs.f_frsize;
	*ret_bytes = available > blobs->free_floor_bytes ?
			     available - blobs->free_floor_bytes :
			     0;
	return 0;
}

bool blobs_have(struct blobs *blobs, const uint8_t sha256[HASH_SIZE])
{
	char path[BLOB_PATH_SIZE];

	blob_path(sha256, path);
	return faccessat(blobs->dir, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Digests are as good as random: their first bytes are a hash. */
static struct blob_pin **pin_find(struct blobs *blobs,
				  const uint8_t sha256[HASH_SIZE])
{
	size_t bucket = (sha256[0] | (size_t)sha256[1] << 8) % BLOB_PIN_BUCKETS;
	struct blob_pin **pin = &blobs->pins[bucket];

	while (*pin && memcmp((*pin)->sha256, sha256, HASH_SIZE) != 0)
		pin = &(*pin)->next;
	return pin;
}

int blobs_pin(struct blobs *blobs, const uint8_t sha256[HASH_SIZE])
{
	struct blob_pin **at, *pin;

	(void)pthread_mutex_lock(&blobs->lock);
	at = pin_find(blobs, sha256);
	pin = *at;
	if (pin && pin->count == 0)
		blobs->orphans--;
	if (!pin) {
		pin = calloc(1, sizeof(*pin));
		if (pin)
			memcpy(pin->sha256, sha256, HASH_SIZE);
		*at = pin;
	}
	if (pin)
		pin->count++;
	(void)pthread_mutex_unlock(&blobs->lock);
	return pin ? 0 : -ENOMEM;
}

/* With the lock held. */
static void pin_drop(struct blob_pin **at)
{
	struct blob_pin *pin = *at;

	*at = pin->next;
	free(pin);
}

void blobs_unpin(struct blobs *blobs, const uint8_t sha256[HASH_SIZE],
		 bool announced)
{
	struct blob_pin **at;

	(void)pthread_mutex_lock(&blobs->lock);
	at = pin_find(blobs, sha256);
	assert(*at && (*at)->count > 0);
	(*at)->count--;
	(*at)->announced |= announced;
	if ((*at)->count == 0) {
		if ((*at)->announced)
			pin_drop(at);
		else
			blobs->orphans++;
	}
	(void)pthread_mutex_unlock(&blobs->lock);
}

bool blobs_take_orphan(struct blobs *blobs, uint8_t ret_sha256[HASH_SIZE])
{
	struct blob_pin **at = NULL;
	bool found = false;
	size_t i;

	(void)pthread_mutex_lock(&blobs->lock);
	for (i = 0; !found && blobs->orphans > 0 && i < BLOB_PIN_BUCKETS; i++) {
		at = &blobs->pins[i];
		while (*at && (*at)->count > 0)
			at = &(*at)->next;
		found = *at;
	}
	if (found) {
		memcpy(ret_sha256, (*at)->sha256, HASH_SIZE);
		pin_drop(at);
		blobs->orphans--;
	}
	(void)pthread_mutex_unlock(&blobs->lock);
	return found;
}

int blobs_remove(struct blobs *blobs, const uint8_t sha256[HASH_SIZE])
{
	char path[BLOB_PATH_SIZE];
	struct blob_pin *pin;
	int r = 0;

	blob_path(sha256, path);
	/* The lock is kept until the file is gone: a writer of the same
	 * content pins before it renames, so it comes before or after. */
	(void)pthread_mutex_lock(&blobs->lock);
	pin = *pin_find(blobs, sha256);
	if (pin && pin->count > 0)
		r = -EBUSY;
	else if (unlinkat(blobs->dir, path, 0) < 0 && errno != ENOENT)
		r = -errno;
	(void)pthread_mutex_unlock(&blobs->lock);
	return r;
}

static int each_in_folder(struct blobs *blobs, const char *folder,
			  int (*each)(void *userdata,
				      const uint8_t sha256[HASH_SIZE]),
			  void *userdata)
{
	_cleanup_close_ int fd = fs_open_dir(blobs->dir, folder);
	_cleanup_(closedirp) DIR *dir = NULL;
	uint8_t sha256[HASH_SIZE];
	struct dirent *entry;
	int r;

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	dir = fdopendir(fd);
	if (!dir)
		return -errno;
	(void)take_fd(fd); /* now the stream's */
	while ((entry = readdir(dir))) {
		/* Files of another form are not ours to judge. */
		if (hex_decode(entry->d_name, sha256, HASH_SIZE) < 0)
			continue;
		r = each(userdata, sha256);
		if (r < 0)
			return r;
	}
	return 0;
}

int blobs_each(struct blobs *blobs,
	       int (*each)(void *userdata, const uint8_t sha256[HASH_SIZE]),
	       void *userdata)
{
	char folder[3];
	unsigned i;
	int r = 0;

	for (i = 0; r >= 0 && i < 256; i++) {
		(void)snprintf(folder, sizeof(folder), "%02x", i);
		r = each_in_folder(blobs, folder, each, userdata);
	}
	return r;
}
