#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "vmd/child.h"
#include "vmd/scratch.h"

enum {
	TEMPLATE_NAME_MAX = 64,
};

/* Where e2fsprogs has it, whatever PATH says. */
static const char *const mke2fs_paths[] = {
	"/usr/sbin/mke2fs",
	"/sbin/mke2fs",
};

static const char *find_mke2fs(void)
{
	size_t i;

	for (i = 0; i < sizeof(mke2fs_paths) / sizeof(mke2fs_paths[0]); i++)
		if (access(mke2fs_paths[i], X_OK) == 0)
			return mke2fs_paths[i];
	return NULL;
}

/*
 * No journal: nobody mounts this file system after a crash. The inode tables
 * are holes, which read as zeros, so they count as initialised: the guest's
 * kernel then starts no thread that writes them out, and the file stays sparse.
 * Metadata lies together, so that a copy is a few extents.
 */
static int run_mke2fs(const char *program, int fd)
{
	_cleanup_close_ int null = -1;
	char path[32];
	char *const argv[] = {
		(char *)program, "-q", "-F", "-t", "ext4", "-b", "4096",
		"-m", "0", "-O", "^has_journal,^resize_inode", "-E",
		"assume_storage_prezeroed=1,packed_meta_blocks=1,nodiscard,"
		"root_owner=0:0",
		path, NULL
	};

	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (null < 0)
		return -errno;
	/* Its stdout is ours, and by this name it finds the file itself. */
	(void)snprintf(path, sizeof(path), "/proc/%d/fd/%d", getpid(), fd);
	return child_run(argv, null);
}

static int make_template(int dirfd, const char *name, uint64_t size,
			 struct error *err)
{
	const char *program = find_mke2fs();
	_cleanup_close_ int fd = -1;
	char temporary[TEMPLATE_NAME_MAX + 32];
	int r;

	if (!program)
		return error_set(err, ERR_HYPERVISOR,
				 "mke2fs is missing: install e2fsprogs");
	(void)snprintf(temporary, sizeof(temporary), ".%s.%d", name, gettid());
	(void)unlinkat(dirfd, temporary, 0);
	fd = openat(dirfd, temporary,
		    O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_set_errno(err, -errno,
				       "Cannot make a scratch disk template");
	r = ftruncate(fd, (off_t)size) < 0 ? -errno : run_mke2fs(program, fd);
	if (r > 0) {
		r = error_set(err, ERR_HYPERVISOR,
			      "mke2fs failed with status %d for a scratch "
			      "disk of %" PRIu64 " MiB", r, size >> 20);
	} else if (r == 0) {
		if (renameat(dirfd, temporary, dirfd, name) < 0)
			r = -errno;
	}
	if (r < 0) {
		(void)unlinkat(dirfd, temporary, 0);
		return error_set_errno(err, r,
				       "Cannot make a scratch disk template");
	}
	return 0;
}

int scratch_open_template(int dirfd, uint64_t size, struct error *err)
{
	char name[TEMPLATE_NAME_MAX];
	int fd, r;

	assert(size % SCRATCH_NONCE_BLOCK == 0);
	/* The version changes with what mke2fs is told. */
	(void)snprintf(name, sizeof(name), "ext4-1-%" PRIu64, size);
	fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT) {
		r = make_template(dirfd, name, size, err);
		if (r < 0)
			return r;
		fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC);
	}
	if (fd < 0)
		return error_set_errno(err, -errno,
				       "Cannot open a scratch disk template");
	return fd;
}

static int copy_range(int from, int to, off_t start, off_t end)
{
	off_t in = start, out = start;
	ssize_t n;

	while (in < end) {
		n = copy_file_range(from, &in, to, &out, (size_t)(end - in), 0);
		if (n < 0)
			return -errno;
		/* Shorter than it was: somebody is changing the template. */
		if (n == 0)
			return -EIO;
	}
	return 0;
}

static int copy_data(int from, int to, uint64_t size)
{
	off_t data = 0, hole;
	int r;

	for (;;) {
		data = lseek(from, data, SEEK_DATA);
		if (data < 0)
			return errno == ENXIO ? 0 : -errno;
		hole = lseek(from, data, SEEK_HOLE);
		if (hole < 0)
			return -errno;
		if ((uint64_t)hole > size)
			return -EIO;
		r = copy_range(from, to, data, hole);
		if (r < 0)
			return r;
		data = hole;
	}
}

static int write_nonce(int fd, uint64_t at,
		       const uint8_t nonce[VMD_NONCE_SIZE])
{
	uint8_t block[SCRATCH_NONCE_BLOCK] = {};
	ssize_t n;
	int r = 0;

	memcpy(block, SCRATCH_MAGIC, 8);
	block[8] = SCRATCH_VERSION;
	memcpy(block + 12, nonce, VMD_NONCE_SIZE);
	n = pwrite(fd, block, sizeof(block), (off_t)at);
	if (n != (ssize_t)sizeof(block))
		r = n < 0 ? -errno : -ENOSPC;
	explicit_bzero(block, sizeof(block));
	return r;
}

int scratch_make(int template_fd, uint64_t size, int dirfd, const char *name,
		 const uint8_t nonce[VMD_NONCE_SIZE])
{
	_cleanup_close_ int own = -1, fd = -1;
	char path[32];
	int r;

	/* Another file description, whose offset no other thread moves. */
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", template_fd);
	own = open(path, O_RDONLY | O_CLOEXEC);
	if (own < 0)
		return -errno;
	fd = openat(dirfd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	if (ioctl(fd, FICLONE, own) < 0) {
		r = copy_data(own, fd, size);
		if (r < 0)
			return r;
	}
	if (ftruncate(fd, (off_t)(size + SCRATCH_NONCE_BLOCK)) < 0)
		return -errno;
	return write_nonce(fd, size, nonce);
}
